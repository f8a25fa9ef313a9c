// The solver under every data flow analysis of a function: it carries states along control flow until nothing changes any more.
// An analysis says what a state is, how a block changes it, and how states of several paths join; liveness.ts is an example.
// Source: G. Kildall, "A Unified Approach to Global Program Optimization" (1973). States must form a lattice of finite height, and
// joins and transfers must be monotone: then the result is the same in whatever order blocks are looked at.
import { BlockQueue } from './block-queue.ts';
import type { BasicBlock, Program, ProgramFunction } from './types.ts';

/** What an analysis does with its states; states are changed in place. */
interface Flow<State> {
  copy(state: State): State;
  /** Takes a state through a block: forward from its start to its end, backward from its end to its start. */
  transfer(block: BasicBlock, state: State): void;
  /** Joins `other` into `state`; true when that changed `state`. */
  join(state: State, other: State): boolean;
}

export interface ForwardFlow<State> extends Flow<State> {
  /** The state where the function begins. */
  entry(): State;
}

export interface BackwardFlow<State> extends Flow<State> {
  /** What is behind a block besides its successors: callers, callees, places that are not known. */
  exit(block: BasicBlock): State;
  isSame(a: State, b: State): boolean;
}

/** Blocks to look at, each at most once at a time, in the order of the direction: loops then settle in few rounds. */
class WorkList {
  private readonly queue = new BlockQueue();
  private readonly waiting = new Set<number>();
  private readonly sign: 1 | -1;

  constructor(direction: 'forward' | 'backward') {
    this.sign = direction === 'forward' ? 1 : -1;
  }

  push(index: number): void {
    if (this.waiting.has(index)) return;
    this.waiting.add(index);
    this.queue.push(this.sign * index);
  }

  pop(): number | undefined {
    const next = this.queue.pop();
    if (next === undefined) return undefined;
    this.waiting.delete(this.sign * next);
    return this.sign * next;
  }
}

/** The states where the blocks begin that can be reached from the function's entries, by block index. */
export function solveForward<State>(
  program: Program,
  subject: ProgramFunction,
  flow: ForwardFlow<State>,
): Map<number, State> {
  const starts = new Map<number, State>(subject.entryBlocks.map((index) => [index, flow.entry()]));
  const work = new WorkList('forward');
  for (const index of subject.entryBlocks) work.push(index);
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    const block = program.blocks[index] as BasicBlock;
    const state = flow.copy(starts.get(index) as State);
    flow.transfer(block, state);
    const last = block.successors[block.successors.length - 1];
    for (const successor of block.successors) {
      const start = starts.get(successor);
      // Nobody else needs the state behind the last successor, which may have it as it is.
      if (start === undefined) starts.set(successor, successor === last ? state : flow.copy(state));
      else if (!flow.join(start, state)) continue;
      work.push(successor);
    }
  }
  return starts;
}

/** The states where the function's blocks end, by block index. */
export function solveBackward<State>(
  program: Program,
  subject: ProgramFunction,
  flow: BackwardFlow<State>,
): Map<number, State> {
  const starts = new Map<number, State>();
  const ends = new Map<number, State>();
  const own = new Set(subject.blocks);
  const work = new WorkList('backward');
  for (const index of subject.blocks) work.push(index);
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    const block = program.blocks[index] as BasicBlock;
    const state = flow.exit(block);
    for (const successor of block.successors) {
      const start = starts.get(successor);
      if (start !== undefined) flow.join(state, start);
    }
    ends.set(index, flow.copy(state));
    flow.transfer(block, state);
    const old = starts.get(index);
    if (old !== undefined && flow.isSame(old, state)) continue;
    starts.set(index, state);
    for (const predecessor of block.predecessors) if (own.has(predecessor)) work.push(predecessor);
  }
  return ends;
}
