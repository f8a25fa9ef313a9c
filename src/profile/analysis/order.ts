// Orders of rows by their times. Recordings are nearly in order, or a few runs that are (dispatches, then copies): short blocks are sorted by
// insertion and merged, and of two blocks only what overlaps is looked at.

type Compare = (a: number, b: number) => number;

/** Rows that are sorted by insertion, which looks at each of them twice where they are nearly in order. */
const BLOCK = 16;

/** The indexes 0 to n-1 in order; those that compare as equal stay as they were. Time is O(n log n), and O(n) where they are nearly in order. */
export function inOrder(n: number, compare: Compare): Int32Array {
  const order = new Int32Array(n);
  for (let from = 0; from < n; from += BLOCK) insert(order, from, Math.min(n, from + BLOCK), compare);
  const merger = new Merger(order, compare);
  for (let size = BLOCK; size < n; size *= 2) {
    for (let from = 0; from + size < n; from += 2 * size) {
      merger.merge(from, from + size, Math.min(n, from + 2 * size));
    }
  }
  return order;
}

/** Puts the indexes from `from` to `to` in order. */
function insert(order: Int32Array, from: number, to: number, compare: Compare): void {
  for (let i = from; i < to; i++) {
    let at = i;
    for (; at > from && compare(order[at - 1], i) > 0; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/** Merges parts of an array that follow each other and are in order. */
class Merger {
  private readonly order: Int32Array;
  private readonly compare: Compare;
  private spare = new Int32Array(0);

  constructor(order: Int32Array, compare: Compare) {
    this.order = order;
    this.compare = compare;
  }

  merge(from: number, middle: number, to: number): void {
    const { order, compare } = this;
    if (compare(order[middle - 1], order[middle]) <= 0) return;
    const first = this.firstAbove(from, middle, order[middle]);
    const end = this.endBelow(middle, to, order[middle - 1]);
    const count = middle - first;
    if (this.spare.length < count) this.spare = new Int32Array(Math.min(order.length, 2 * count));
    const { spare } = this;
    spare.set(order.subarray(first, middle));
    let [a, b, into] = [0, middle, first];
    while (a < count && b < end) order[into++] = compare(spare[a], order[b]) <= 0 ? spare[a++] : order[b++];
    while (a < count) order[into++] = spare[a++];
  }

  /** The first place from `from` to `to` that has something above `index`; what is before it stays. The last one has. */
  private firstAbove(from: number, to: number, index: number): number {
    const { order, compare } = this;
    let [low, high] = [from, to - 1];
    for (let step = 1; high - step > from; step *= 2) {
      if (compare(order[high - step], index) <= 0) {
        low = high - step + 1;
        break;
      }
      high -= step;
    }
    while (low < high) {
      const half = (low + high) >> 1;
      if (compare(order[half], index) <= 0) low = half + 1;
      else high = half;
    }
    return high;
  }

  /** The place from `from` to `to` behind all that is below `index`; the first one is. */
  private endBelow(from: number, to: number, index: number): number {
    const { order, compare } = this;
    let [low, high] = [from + 1, to];
    for (let step = 1; low + step < to; step *= 2) {
      if (compare(index, order[low + step - 1]) <= 0) {
        high = low + step - 1;
        break;
      }
      low += step;
    }
    while (low < high) {
      const half = (low + high) >> 1;
      if (compare(index, order[half]) <= 0) high = half;
      else low = half + 1;
    }
    return low;
  }
}
