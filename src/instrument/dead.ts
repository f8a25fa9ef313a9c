// Registers that are free at one place only: nothing reads them later, in no lane, and nothing that is outstanding will write them.
import { type CheckContext, outstandingAtBlocks, replayBlock } from '../check/index.ts';
import {
  type FurtherReads,
  hasSlot,
  type Liveness,
  livenessOf,
  type Program,
  type ProgramFunction,
  Slot,
} from '../program/index.ts';
import type { ProbeKernel } from './select.ts';

/** Matrix instructions write late: what they write is not free before they are done. */
const MATRIX = /^v_s?mfmac?_/;

/** Free registers by place, computed where they are asked for. */
export class DeadRegisters {
  private readonly program: Program;
  readonly reads: FurtherReads;
  private readonly liveness = new Map<ProgramFunction, Liveness>();
  private readonly matrix = new Map<ProgramFunction, boolean>();

  /** `reads`: what points read, which no other point may overwrite. */
  constructor(program: Program, reads: FurtherReads) {
    this.program = program;
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
    side: 'before' | 'after' | 'taken',
    sgprs: number,
    vgprs: number,
  ): { sgprs: number[]; vgprs: number[]; isVccFree: boolean } {
    const { program } = this;
    const { subject } = kernel;
    const code = program.at(pc);
    const block = program.blockAt(pc);
    const none = { sgprs: [], vgprs: [], isVccFree: false };
    if (code === undefined || block === undefined) return none;
    const live = this.livenessOf(subject);
    const set = side === 'before' ? live.before(code) : live.after(code);
    const context: CheckContext = {
      target: program.target,
      codeObject: program.codeObject,
      program,
      subject,
      kernel: subject.kernel,
      baseline: undefined,
    };
    const input = outstandingAtBlocks(context).get(block.index);
    if (input === undefined) return none;
    const state = replayBlock(context, block, input, side === 'before' ? code.index : code.index + 1);
    const isDead = (slot: number): boolean => !hasSlot(set, slot) && !state.touches([{ first: slot, count: 1 }]);
    const list = (count: number, base: number): number[] =>
      Array.from({ length: count }, (_, n) => n).filter((n) => isDead(base + n));
    return {
      sgprs: list(sgprs, 0),
      vgprs: list(vgprs, Slot.VGPR0),
      isVccFree: isDead(Slot.VCC) && isDead(Slot.VCC + 1),
    };
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
