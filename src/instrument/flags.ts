// Where code may be put in: whether SCC is read later, and whether registers are addressed through M0.
import { type CodeInstruction, type FurtherReads, type Program, Slot } from '../program/index.ts';

const INDEX_ON = 's_set_gpr_idx_on';
const INDEX_OFF = 's_set_gpr_idx_off';
const INDEX_MODE = 's_set_gpr_idx_mode';

/** Which operands vector instructions address through M0: the mode as assembly text, or that it is not known. */
export type Indexing = { readonly mode: string } | 'unknown';

function touches(ranges: CodeInstruction['effects']['uses'] | undefined, slot: number): boolean {
  return ranges?.some((r) => r.first <= slot && slot < r.first + r.count) ?? false;
}

/** Facts about points, for all blocks of a program at once. */
export class PointFlags {
  private readonly program: Program;
  private readonly reads: FurtherReads | undefined;
  private readonly sccIn: boolean[];
  private readonly hasIndexing: boolean;
  /** At the start of each block; undefined where nothing is addressed through M0. */
  private readonly indexedIn: readonly (Indexing | undefined)[];

  /** `reads`: what points read, besides the code itself. */
  constructor(program: Program, reads?: FurtherReads) {
    this.program = program;
    this.reads = reads;
    this.sccIn = this.solveScc();
    this.hasIndexing = program.instructions.some(({ instruction }) => instruction.row.operation === INDEX_ON);
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

  /** How vector instructions before an instruction of a block address registers through M0; undefined when they do not. */
  indexingAt(block: number, index: number): Indexing | undefined {
    if (!this.hasIndexing) return undefined;
    let state = this.indexedIn[block];
    for (let i = this.program.blocks[block]?.first ?? index; i < index; i++) state = this.indexingAfter(i, state);
    return state;
  }

  private indexingAfter(index: number, before: Indexing | undefined): Indexing | undefined {
    const { instruction, effects, pc } = this.program.instructions[index] as CodeInstruction;
    const { operation } = instruction.row;
    if (operation === INDEX_OFF) return undefined;
    if (operation === INDEX_ON || (operation === INDEX_MODE && before !== undefined)) {
      const mode = /gpr_idx\([^)]*\)/.exec(this.program.text(pc))?.[0];
      return mode === undefined ? 'unknown' : { mode };
    }
    // M0 has the mode too; `s_set_gpr_idx_idx` writes another part of it.
    if (before !== undefined && operation !== 's_set_gpr_idx_idx' && touches(effects.defs, Slot.M0)) return 'unknown';
    return before;
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

  private solveIndexed(): (Indexing | undefined)[] {
    const { blocks } = this.program;
    const on: (Indexing | undefined)[] = blocks.map(() => undefined);
    if (!this.hasIndexing) return on;
    // Whether a way with indexing off leads to a block: entries are such ways.
    const isPlain = blocks.map(({ predecessors }) => predecessors.length === 0);
    for (const { entry } of this.program.functions) {
      const block = this.program.blockAt(entry);
      if (block !== undefined) isPlain[block.index] = true;
    }
    const work = blocks.map((block) => block.index);
    while (work.length > 0) {
      const index = work.pop() as number;
      const block = blocks[index];
      if (block === undefined) continue;
      const way = (before: Indexing | undefined): Indexing | undefined => {
        let state = before;
        for (let i = block.first; i < block.end; i++) state = this.indexingAfter(i, state);
        return state;
      };
      const outs = [...(on[index] === undefined ? [] : [way(on[index])]), ...(isPlain[index] ? [way(undefined)] : [])];
      for (const next of block.successors) {
        for (const out of outs) {
          const isKnown = out === undefined ? isPlain[next] : isSame(on[next], out) || on[next] === 'unknown';
          if (isKnown) continue;
          if (out === undefined) isPlain[next] = true;
          else on[next] = on[next] === undefined ? out : 'unknown';
          work.push(next);
        }
      }
    }
    return on.map((state, i) => (state !== undefined && isPlain[i] ? 'unknown' : state));
  }
}

function isSame(a: Indexing | undefined, b: Indexing): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && a.mode === b.mode);
}
