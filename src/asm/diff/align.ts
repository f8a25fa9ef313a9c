// Alignment of two sequences by longest common subsequence: Myers' linear-space algorithm over interned elements.
// Source: E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). Beyond MAX_COST edits in one step the
// split is the furthest point reached instead of the best one, so that unrelated inputs cost time linear in their length.

const MAX_COST = 1024;

/** Pairs of equal elements, ascending in both sequences. */
export interface Alignment {
  /** Index in `b` of the partner of each element of `a`, or -1. */
  readonly toB: Int32Array;
  /** Index in `a` of the partner of each element of `b`, or -1. */
  readonly toA: Int32Array;
}

/** Aligns two sequences of numbers; equal numbers are equal elements. */
export function align(a: Int32Array, b: Int32Array): Alignment {
  // An element that the other side does not have at all is in no common subsequence.
  const inA = new Set(a);
  const inB = new Set(b);
  const keptA = indexesOf(a, inB);
  const keptB = indexesOf(b, inA);
  const inner = new Aligner(
    keptA.map((i) => a[i]),
    keptB.map((j) => b[j]),
  ).run();
  const toB = new Int32Array(a.length).fill(-1);
  const toA = new Int32Array(b.length).fill(-1);
  inner.toB.forEach((j, i) => {
    if (j < 0) return;
    toB[keptA[i]] = keptB[j];
    toA[keptB[j]] = keptA[i];
  });
  return { toB, toA };
}

function indexesOf(sequence: Int32Array, wanted: ReadonlySet<number>): Int32Array {
  const indexes = new Int32Array(sequence.length);
  let count = 0;
  sequence.forEach((element, i) => {
    if (wanted.has(element)) indexes[count++] = i;
  });
  return indexes.slice(0, count);
}

/** Interns keys, so that sequences of texts can be aligned as numbers. */
export class Interner {
  private readonly ids = new Map<string, number>();

  id(key: string): number {
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.ids.size;
      this.ids.set(key, id);
    }
    return id;
  }
}

interface Box {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

class Aligner {
  private readonly a: Int32Array;
  private readonly b: Int32Array;
  private readonly toB: Int32Array;
  private readonly toA: Int32Array;
  /** Furthest x on each diagonal from the start, and smallest x from the end. */
  private readonly forward: Int32Array;
  private readonly backward: Int32Array;
  private readonly origin: number;

  constructor(a: Int32Array, b: Int32Array) {
    this.a = a;
    this.b = b;
    this.toB = new Int32Array(a.length).fill(-1);
    this.toA = new Int32Array(b.length).fill(-1);
    const size = a.length + b.length + 3;
    this.forward = new Int32Array(size);
    this.backward = new Int32Array(size);
    this.origin = b.length + 1;
  }

  run(): Alignment {
    const { a, b } = this;
    const work: Box[] = [{ aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }];
    for (let box = work.pop(); box !== undefined; box = work.pop()) {
      while (box.aStart < box.aEnd && box.bStart < box.bEnd && a[box.aStart] === b[box.bStart]) {
        this.pair(box.aStart++, box.bStart++);
      }
      while (box.aStart < box.aEnd && box.bStart < box.bEnd && a[box.aEnd - 1] === b[box.bEnd - 1]) {
        this.pair(--box.aEnd, --box.bEnd);
      }
      if (box.aStart === box.aEnd || box.bStart === box.bEnd) continue;
      const { x, y } = this.split(box);
      work.push({ aStart: box.aStart, aEnd: x, bStart: box.bStart, bEnd: y });
      work.push({ aStart: x, aEnd: box.aEnd, bStart: y, bEnd: box.bEnd });
    }
    return { toB: this.toB, toA: this.toA };
  }

  private pair(i: number, j: number): void {
    this.toB[i] = j;
    this.toA[j] = i;
  }

  /**
   * A point on a shortest edit path through the box, found by searching from both ends. The box starts and ends with
   * different elements, so the point is never a corner that would leave the box as it is.
   */
  private split(box: Box): { x: number; y: number } {
    const { a, b, forward, backward, origin } = this;
    const { aStart, aEnd, bStart, bEnd } = box;
    const minDiagonal = aStart - bEnd;
    const maxDiagonal = aEnd - bStart;
    const forwardMid = aStart - bStart;
    const backwardMid = aEnd - bEnd;
    const isOdd = ((forwardMid - backwardMid) & 1) !== 0;
    let forwardMin = forwardMid;
    let forwardMax = forwardMid;
    let backwardMin = backwardMid;
    let backwardMax = backwardMid;
    forward[origin + forwardMid] = aStart;
    backward[origin + backwardMid] = aEnd;
    for (let cost = 1; ; cost++) {
      // Diagonals outside the box stay unreachable.
      if (forwardMin > minDiagonal) forward[origin + --forwardMin - 1] = -1;
      else forwardMin++;
      if (forwardMax < maxDiagonal) forward[origin + ++forwardMax + 1] = -1;
      else forwardMax--;
      for (let d = forwardMax; d >= forwardMin; d -= 2) {
        const down = forward[origin + d + 1];
        const right = forward[origin + d - 1];
        let x = right >= down ? right + 1 : down;
        let y = x - d;
        while (x < aEnd && y < bEnd && a[x] === b[y]) {
          x++;
          y++;
        }
        forward[origin + d] = x;
        if (isOdd && backwardMin <= d && d <= backwardMax && backward[origin + d] <= x) return { x, y };
      }
      if (backwardMin > minDiagonal) backward[origin + --backwardMin - 1] = 0x7fffffff;
      else backwardMin++;
      if (backwardMax < maxDiagonal) backward[origin + ++backwardMax + 1] = 0x7fffffff;
      else backwardMax--;
      for (let d = backwardMax; d >= backwardMin; d -= 2) {
        const up = backward[origin + d - 1];
        const left = backward[origin + d + 1];
        let x = up < left ? up : left - 1;
        let y = x - d;
        while (x > aStart && y > bStart && a[x - 1] === b[y - 1]) {
          x--;
          y--;
        }
        backward[origin + d] = x;
        if (!isOdd && forwardMin <= d && d <= forwardMax && x <= forward[origin + d]) return { x, y };
      }
      if (cost >= MAX_COST) return this.furthest(box, forwardMin, forwardMax, backwardMin, backwardMax);
    }
  }

  /** The point with the most progress from either end. */
  private furthest(
    { aStart, aEnd, bStart, bEnd }: Box,
    forwardMin: number,
    forwardMax: number,
    backwardMin: number,
    backwardMax: number,
  ): { x: number; y: number } {
    const { forward, backward, origin } = this;
    let best = -1;
    let point = { x: aStart, y: bStart };
    for (let d = forwardMax; d >= forwardMin; d -= 2) {
      const x = Math.min(forward[origin + d], aEnd);
      const y = x - d;
      const progress = x - aStart + (y - bStart);
      if (y >= bStart && y <= bEnd && progress > best) {
        best = progress;
        point = { x, y };
      }
    }
    for (let d = backwardMax; d >= backwardMin; d -= 2) {
      const x = Math.max(backward[origin + d], aStart);
      const y = x - d;
      const progress = aEnd - x + (bEnd - y);
      if (y >= bStart && y <= bEnd && progress > best) {
        best = progress;
        point = { x, y };
      }
    }
    return point;
  }
}
