// Lanes for timelines: work that overlaps in one queue goes to further lanes, because viewers draw what nests and drop what only overlaps.
import { inOrder } from '../analysis/order.ts';

/** The lanes of one queue. Work must be placed in order of its start. */
export class Lanes {
  /** A heap of the lanes by the end of their last work, and by their number where ends are equal. */
  private readonly heap: { end: number; readonly lane: number }[] = [];
  private count = 0;

  /** The lane of work from `start` to `end`: one that is free, else a new one; 0 is the first. */
  place(start: number, end: number): number {
    const [first] = this.heap;
    if (first === undefined || first.end > start) {
      const lane = this.count++;
      this.heap.push({ end, lane });
      this.up(this.heap.length - 1);
      return lane;
    }
    first.end = end;
    this.down();
    return first.lane;
  }

  private isBefore(a: number, b: number): boolean {
    const [x, y] = [this.heap[a], this.heap[b]];
    return x.end < y.end || (x.end === y.end && x.lane < y.lane);
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b], this.heap[a]];
  }

  private up(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!this.isBefore(at, above)) return;
      this.swap(at, above);
      at = above;
    }
  }

  private down(): void {
    for (let at = 0; ; ) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < this.heap.length && this.isBefore(below, least)) least = below;
      }
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }
}

/** The rows of a table from the first start on. */
export function inStartOrder(rows: Int32Array, start: (row: number) => number): Int32Array {
  if (rows.every((row, i) => i === 0 || start(rows[i - 1]) <= start(row))) return rows;
  return inOrder(rows.length, (a, b) => start(rows[a]) - start(rows[b]) || rows[a] - rows[b]).map((i) => rows[i]);
}

/** Lanes that are looked at for one in which a piece of work nests; beyond them work only follows. */
const NESTING = 16;

/** The lanes of a thread, whose calls nest. Calls must be placed in order of their start, of equal starts the longest first. */
export class NestingLanes {
  /** The ends of the calls that are open, of each lane. */
  private readonly open: number[][] = [];
  private readonly others = new Lanes();

  /** The lane of a call from `start` to `end`: the first one in which it nests or follows; 0 is the first. */
  place(start: number, end: number): number {
    for (let lane = 0; lane < NESTING; lane++) {
      const ends = this.open[lane] ?? [];
      this.open[lane] = ends;
      while (ends.length > 0 && ends[ends.length - 1] <= start) ends.pop();
      if (ends.length > 0 && ends[ends.length - 1] < end) continue;
      ends.push(end);
      return lane;
    }
    return NESTING + this.others.place(start, end);
  }
}
