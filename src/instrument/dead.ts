// Registers that are free at one place only: nothing reads them later, in no lane, and nothing that is outstanding will write them.
import { type CheckContext, outstandingAtBlocks, replayBlock } from '../check/index.ts';
import { hasSlot, type Liveness, livenessOf, type Program, type ProgramFunction, Slot } from '../program/index.ts';
import type { ProbeKernel } from './select.ts';

/** Matrix instructions write late: what they write is not free before they are done. */
const MATRIX = /^v_s?mfmac?_/;

/** Free registers by place, computed where they are asked for. */
export class DeadRegisters {
  private readonly program: Program;
  private readonly liveness = new Map<ProgramFunction, Liveness>();
  private readonly matrix = new Map<ProgramFunction, boolean>();

  constructor(program: Program) {
    this.program = program;
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

  /**
   * SGPRs and VGPRs below these counts that are dead on one side of an instruction. Behind a branch that is taken nothing is known.
   */
  at(
    kernel: ProbeKernel,
    pc: number,
    side: 'before' | 'after' | 'taken',
    sgprs: number,
    vgprs: number,
  ): { sgprs: number[]; vgprs: number[] } {
    const { program } = this;
    const { subject } = kernel;
    const code = program.at(pc);
    const block = program.blockAt(pc);
    const target = program.target;
    if (code === undefined || block === undefined || side === 'taken') return { sgprs: [], vgprs: [] };
    const live = this.livenessOf(subject);
    const set = side === 'before' ? live.before(code) : live.after(code);
    const context: CheckContext = {
      target,
      codeObject: program.codeObject,
      program,
      subject,
      kernel: subject.kernel,
      baseline: undefined,
    };
    const input = outstandingAtBlocks(context).get(block.index);
    if (input === undefined) return { sgprs: [], vgprs: [] };
    const state = replayBlock(context, block, input, side === 'before' ? code.index : code.index + 1);
    const isDead = (slot: number): boolean => !hasSlot(set, slot) && !state.touches([{ first: slot, count: 1 }]);
    const out = { sgprs: [] as number[], vgprs: [] as number[] };
    for (let n = 0; n < sgprs; n++) if (isDead(n)) out.sgprs.push(n);
    for (let n = 0; n < vgprs; n++) if (isDead(Slot.VGPR0 + n)) out.vgprs.push(n);
    return out;
  }

  private livenessOf(subject: ProgramFunction): Liveness {
    let known = this.liveness.get(subject);
    if (known === undefined) {
      known = livenessOf(this.program, subject);
      this.liveness.set(subject, known);
    }
    return known;
  }
}
