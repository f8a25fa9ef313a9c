// Where code may be put in: whether SCC is read later, and whether registers are addressed through M0.
import { type CodeInstruction, type FurtherReads, type Program, Slot } from '../program/index.ts';

const INDEX_ON = 's_set_gpr_idx_on';
const INDEX_OFF = 's_set_gpr_idx_off';

function touches(ranges: CodeInstruction['effects']['uses'] | undefined, slot: number): boolean {
  return ranges?.some((r) => r.first <= slot && slot < r.first + r.count) ?? false;
}

/** Facts about points, for all blocks of a program at once. */
export class PointFlags {
  private readonly program: Program;
  private readonly reads: FurtherReads | undefined;
  private readonly sccIn: boolean[];
  private readonly indexedIn: boolean[];

  /** `reads`: what points read, besides the code itself. */
  constructor(program: Program, reads?: FurtherReads) {
    this.program = program;
    this.reads = reads;
    this.sccIn = this.solveScc();
    this.indexedIn = this.solveIndexed();
  }

  /** Whether SCC may be read behind a place: before the instruction with an index of a block. */
  isSccLive(block: number, index: number): boolean {
    const { end, exit, successors } = this.program.blocks[block] ?? { end: 0, exit: 'end', successors: [] };
    if (touches(this.reads?.after.get(index - 1), Slot.SCC)) return true;
    const known = this.firstUse(index, end);
    if (known !== undefined) return known;
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

  /** Whether SCC is read before it is written from one instruction to another; undefined when it is neither. */
  private firstUse(from: number, end: number): boolean | undefined {
    for (let i = from; i < end; i++) {
      const { effects } = this.program.instructions[i] as CodeInstruction;
      if (touches(this.reads?.before.get(i), Slot.SCC) || touches(effects.uses, Slot.SCC)) return true;
      if (touches(effects.defs, Slot.SCC)) return false;
      if (touches(this.reads?.after.get(i), Slot.SCC)) return true;
    }
    return undefined;
  }

  private solveScc(): boolean[] {
    const { blocks } = this.program;
    const known = blocks.map((block) => {
      const own = this.firstUse(block.first, block.end);
      if (own !== undefined) return own;
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
