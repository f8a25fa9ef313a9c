// Where code may be put in: whether SCC is read later, and whether registers are addressed through M0.
import { type CodeInstruction, type Program, Slot } from '../program/index.ts';

const INDEX_ON = 's_set_gpr_idx_on';
const INDEX_OFF = 's_set_gpr_idx_off';

function touches(ranges: CodeInstruction['effects']['uses'], slot: number): boolean {
  return ranges.some((r) => r.first <= slot && slot < r.first + r.count);
}

/** Facts about points, for all blocks of a program at once. */
export class PointFlags {
  private readonly program: Program;
  private readonly sccIn: boolean[];
  private readonly indexedIn: boolean[];

  constructor(program: Program) {
    this.program = program;
    this.sccIn = this.solveScc();
    this.indexedIn = this.solveIndexed();
  }

  /** Whether SCC may be read behind a place: before the instruction with an index of a block. */
  isSccLive(block: number, index: number): boolean {
    const { end, exit, successors } = this.program.blocks[block] ?? { end: 0, exit: 'end', successors: [] };
    for (let i = index; i < end; i++) {
      const { effects } = this.program.instructions[i] as CodeInstruction;
      if (touches(effects.uses, Slot.SCC)) return true;
      if (touches(effects.defs, Slot.SCC)) return false;
    }
    if (exit === 'call' || exit === 'return' || exit === 'unresolved') return true;
    return successors.some((s) => this.sccIn[s] === true);
  }

  /** Whether vector instructions before an instruction of a block address registers through M0. */
  isIndexed(block: number, index: number): boolean {
    let on = this.indexedIn[block] === true;
    for (let i = this.program.blocks[block]?.first ?? index; i < index; i++) {
      const { operation } = (this.program.instructions[i] as CodeInstruction).instruction.row;
      if (operation === INDEX_ON) on = true;
      else if (operation === INDEX_OFF) on = false;
    }
    return on;
  }

  private solveScc(): boolean[] {
    const { blocks, instructions } = this.program;
    const known = blocks.map((block) => {
      for (let i = block.first; i < block.end; i++) {
        const { effects } = instructions[i] as CodeInstruction;
        if (touches(effects.uses, Slot.SCC)) return true;
        if (touches(effects.defs, Slot.SCC)) return false;
      }
      return block.exit === 'call' || block.exit === 'return' || block.exit === 'unresolved' ? true : undefined;
    });
    const live = known.map((value) => value === true);
    const work = blocks.filter((b) => live[b.index]).map((b) => b.index);
    while (work.length > 0) {
      for (const before of blocks[work.pop() as number]?.predecessors ?? []) {
        if (live[before] || known[before] !== undefined) continue;
        live[before] = true;
        work.push(before);
      }
    }
    return live;
  }

  private solveIndexed(): boolean[] {
    const { blocks, instructions } = this.program;
    const out = blocks.map((block) => {
      let state: boolean | undefined;
      for (let i = block.first; i < block.end; i++) {
        const { operation } = (instructions[i] as CodeInstruction).instruction.row;
        if (operation === INDEX_ON) state = true;
        else if (operation === INDEX_OFF) state = false;
      }
      return state;
    });
    const on = blocks.map(() => false);
    const work = blocks.filter((b) => out[b.index] === true).map((b) => b.index);
    while (work.length > 0) {
      for (const next of blocks[work.pop() as number]?.successors ?? []) {
        if (on[next]) continue;
        on[next] = true;
        if (out[next] === undefined) work.push(next);
      }
    }
    return on;
  }
}
