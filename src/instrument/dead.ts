// Registers that are free at one place only: nothing reads them later, in no lane, and nothing that is outstanding will write them.
import { type CheckContext, outstandingAtBlocks, replayBlock, stepThrough } from '../check/index.ts';
import type { WaitState } from '../check/rules/waits-state.ts';
import {
  type BasicBlock,
  type FurtherReads,
  hasSlot,
  type Liveness,
  livenessOf,
  type Program,
  type ProgramFunction,
  SLOT_WORDS,
  Slot,
} from '../program/index.ts';
import type { Point } from './points.ts';
import type { ProbeKernel } from './view.ts';

/** Matrix instructions write late: what they write is not free before they are done. */
const MATRIX = /^v_s?mfmac?_/;

/** By the index of an instruction. */
interface BlockFacts {
  readonly block: BasicBlock;
  readonly subject: ProgramFunction;
  readonly live: ReadonlyMap<number, { readonly before: Uint32Array; readonly after: Uint32Array }>;
  /** Registers that something outstanding reads or writes, before the instruction. */
  readonly outstanding: ReadonlyMap<number, Uint32Array>;
}

/** Free registers by place, computed where they are asked for. */
export class DeadRegisters {
  private readonly program: Program;
  readonly reads: FurtherReads;
  private readonly indexes = new Set<number>();
  private last: BlockFacts | undefined;
  private readonly liveness = new Map<ProgramFunction, Liveness>();
  private readonly matrix = new Map<ProgramFunction, boolean>();

  /** `points`: where it will be asked for; `reads`: what points read, which no other point may overwrite. */
  constructor(program: Program, points: readonly Pick<Point, 'pc'>[], reads: FurtherReads) {
    this.program = program;
    for (const { pc } of points) this.indexes.add(program.at(pc)?.index ?? -1);
    this.reads = reads;
  }

  /** Whether the function has matrix instructions, for whose results a probe must wait before it uses a dead register. */
  hasMatrix({ subject }: ProbeKernel): boolean {
    let known = this.matrix.get(subject);
    if (known === undefined) {
      known = subject.blocks.some((index) => {
        const block = this.program.blocks[index];
        return this.program.instructions
          .slice(block?.first ?? 0, block?.end ?? 0)
          .some((c) => MATRIX.test(c.instruction.row.operation));
      });
      this.matrix.set(subject, known);
    }
    return known;
  }

  /** SGPRs and VGPRs below these counts that are dead on one side of an instruction, and whether VCC is. */
  at(
    kernel: ProbeKernel,
    pc: number,
    side: Point['side'],
    sgprs: number,
    vgprs: number,
  ): { sgprs: number[]; vgprs: number[]; isVccFree: boolean } {
    const code = this.program.at(pc);
    const block = this.program.blockAt(pc);
    const none = { sgprs: [], vgprs: [], isVccFree: false };
    if (code === undefined || block === undefined) return none;
    if (this.last?.block !== block || this.last.subject !== kernel.subject)
      this.last = this.blockFacts(kernel.subject, block);
    const { live, outstanding } = this.last;
    const { before, after } = live.get(code.index) ?? {};
    const busy = outstanding.get(side === 'before' || side === 'replace' ? code.index : code.index + 1);
    if (before === undefined || after === undefined || busy === undefined) return none;
    const set = side === 'before' || side === 'replace' ? before : after;
    const more = side === 'replace' ? after : set;
    const taken = set.map((word, i) => word | (more[i] as number) | (busy[i] as number));
    const isDead = (slot: number): boolean => !hasSlot(taken, slot);
    const list = (count: number, base: number): number[] => {
      const out: number[] = [];
      for (let n = 0; n < count; n++) if (isDead(base + n)) out.push(n);
      return out;
    };
    return {
      sgprs: list(sgprs, 0),
      vgprs: list(vgprs, Slot.VGPR0),
      isVccFree: isDead(Slot.VCC) && isDead(Slot.VCC + 1),
    };
  }

  /** What is live and outstanding at the points of a block, in one pass each way. */
  private blockFacts(subject: ProgramFunction, block: BasicBlock): BlockFacts {
    const { program, indexes } = this;
    const live = new Map<number, { readonly before: Uint32Array; readonly after: Uint32Array }>();
    const outstanding = new Map<number, Uint32Array>();
    const facts = { block, subject, live, outstanding };
    this.livenessOf(subject).walk(block, ({ index }, before, after) => {
      if (indexes.has(index)) live.set(index, { before: before.slice(), after: after.slice() });
    });
    const context: CheckContext = {
      target: program.target,
      codeObject: program.codeObject,
      program,
      subject,
      kernel: subject.kernel,
      baseline: undefined,
    };
    const input = outstandingAtBlocks(context).get(block.index);
    if (input === undefined) return facts;
    const note = (index: number, state: WaitState): void => {
      const busy = new Uint32Array(SLOT_WORDS);
      state.addTouched(busy);
      outstanding.set(index, busy);
    };
    stepThrough(context, block, input, ({ index }, state) => {
      if (indexes.has(index) || indexes.has(index - 1)) note(index, state);
    });
    if (indexes.has(block.end - 1)) note(block.end, replayBlock(context, block, input, block.end));
    return facts;
  }

  private livenessOf(subject: ProgramFunction): Liveness {
    let known = this.liveness.get(subject);
    if (known === undefined) {
      known = livenessOf(this.program, subject, this.reads);
      this.liveness.set(subject, known);
    }
    return known;
  }
}
