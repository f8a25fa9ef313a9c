// Post-dominators and control dependence of the blocks of a function: what always comes after a branch, and what only one side runs.
// Source: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
import type { BasicBlock, Program, ProgramFunction } from './types.ts';

/** The common exit behind every block that ends the function. */
const EXIT = -1;

/** Answers which blocks run only depending on a branch. */
export class ControlDependence {
  private readonly program: Program;
  private readonly next = new Map<number, number>();
  /** Position in the order in which blocks are left; the exit is last. */
  private readonly rank = new Map<number, number>();

  constructor(program: Program, subject: ProgramFunction) {
    this.program = program;
    const order = this.reverseOrder(subject);
    for (const [i, block] of order.entries()) this.rank.set(block, order.length - i);
    this.rank.set(EXIT, order.length + 1);
    this.next.set(EXIT, EXIT);
    for (let changed = true; changed; ) {
      changed = false;
      for (const block of order) {
        let meet: number | undefined;
        for (const successor of this.successors(block)) {
          if (!this.next.has(successor)) continue;
          meet = meet === undefined ? successor : this.meet(meet, successor);
        }
        if (meet === undefined || this.next.get(block) === meet) continue;
        this.next.set(block, meet);
        changed = true;
      }
    }
  }

  private successors(block: number): readonly number[] {
    const { successors } = this.program.blocks[block] as BasicBlock;
    return successors.length === 0 ? [EXIT] : successors;
  }

  /** Blocks from the ends of the function to its entry: the reverse post-order of the reversed graph. */
  private reverseOrder(subject: ProgramFunction): number[] {
    const own = new Set(subject.blocks);
    const seen = new Set<number>();
    const post: number[] = [];
    const walk = (start: number): void => {
      const stack: { block: number; at: number }[] = [{ block: start, at: 0 }];
      seen.add(start);
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        const { predecessors } = this.program.blocks[top.block] as BasicBlock;
        const predecessor = predecessors[top.at++];
        if (predecessor === undefined) {
          post.push(top.block);
          stack.pop();
        } else if (own.has(predecessor) && !seen.has(predecessor)) {
          seen.add(predecessor);
          stack.push({ block: predecessor, at: 0 });
        }
      }
    };
    for (const block of subject.blocks) {
      if ((this.program.blocks[block] as BasicBlock).successors.length === 0) walk(block);
    }
    return post.reverse();
  }

  private meet(a: number, b: number): number {
    let [x, y] = [a, b];
    while (x !== y) {
      while (this.rankOf(x) < this.rankOf(y)) x = this.next.get(x) ?? EXIT;
      while (this.rankOf(y) < this.rankOf(x)) y = this.next.get(y) ?? EXIT;
    }
    return x;
  }

  private rankOf(block: number): number {
    return this.rank.get(block) ?? 0;
  }

  /** The blocks that run or not depending on which way a block ends, in no order. */
  dependentOn(block: number): Set<number> {
    const found = new Set<number>();
    const stop = this.next.get(block);
    if (stop === undefined) return found;
    for (const successor of this.successors(block)) {
      for (
        let at: number | undefined = successor;
        at !== undefined && at !== stop && at !== EXIT;
        at = this.next.get(at)
      ) {
        if (found.has(at)) break;
        found.add(at);
      }
    }
    return found;
  }
}
