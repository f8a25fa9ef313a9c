// Free space of a virtual GPU's memory: best fit over a sorted list of holes, neighbours joined when space comes back.

interface Hole {
  start: number;
  end: number;
}

export class Heap {
  private readonly holes: Hole[];
  /** Start of each taken span, with its end. */
  private readonly taken = new Map<number, number>();

  constructor(start: number, end: number) {
    this.holes = [{ start, end }];
  }

  /** Takes `size` bytes at a multiple of `alignment` (a power of two) from the smallest hole they fit; undefined when there is none. */
  take(size: number, alignment: number): number | undefined {
    let best = -1;
    let bestSize = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.holes.length; i++) {
      const { start, end } = this.holes[i] as Hole;
      if (end - start < bestSize && Math.ceil(start / alignment) * alignment + size <= end) {
        best = i;
        bestSize = end - start;
      }
    }
    if (best < 0) return undefined;
    const at = Math.ceil((this.holes[best] as Hole).start / alignment) * alignment;
    this.cut(best, at, at + size);
    return at;
  }

  /** Takes exactly these bytes; false when some are taken already. */
  takeAt(at: number, size: number): boolean {
    const hole = this.holes.findIndex((h) => h.start <= at && at + size <= h.end);
    if (hole < 0) return false;
    this.cut(hole, at, at + size);
    return true;
  }

  private cut(index: number, from: number, to: number): void {
    const { start, end } = this.holes[index] as Hole;
    const left: Hole[] = start < from ? [{ start, end: from }] : [];
    if (to < end) left.push({ start: to, end });
    this.holes.splice(index, 1, ...left);
    this.taken.set(from, to);
  }

  /** Gives a span back by its start. */
  give(start: number): void {
    const end = this.taken.get(start);
    if (end === undefined) throw new RangeError(`nothing was taken at ${start}`);
    this.taken.delete(start);
    let at = this.holes.findIndex((h) => h.start > start);
    if (at < 0) at = this.holes.length;
    const before = this.holes[at - 1];
    const after = this.holes[at];
    if (before?.end === start) {
      before.end = end;
      if (after?.start === end) {
        before.end = after.end;
        this.holes.splice(at, 1);
      }
    } else if (after?.start === end) after.start = start;
    else this.holes.splice(at, 0, { start, end });
  }

  /** Bytes in the largest hole. */
  get largest(): number {
    return this.holes.reduce((most, h) => Math.max(most, h.end - h.start), 0);
  }
}
