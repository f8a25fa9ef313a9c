// Lays code out again: the original bytes between two cuts stay together, and inserted code, alignment and islands go to the cuts.
// A cut has, in this order: code that runs after the instruction before it; an island pool; alignment; the place that branches to the
// address arrive at; code that runs before the instruction; the instruction.

/** One jump of a pool. */
export interface Island {
  /** What it is a hop to: an old address that branches arrive at. */
  readonly target: number;
}

/** Jumps in the middle of code, behind a jump over them. */
export interface IslandPool {
  readonly islands: Island[];
}

/** A place where something may be put in, and the original bytes from there to the next cut. */
export interface Cut {
  readonly old: number;
  /** Original bytes up to here follow, `replacement` in their place when there is one. */
  end: number;
  after: readonly Uint8Array[];
  before: readonly Uint8Array[];
  replacement: readonly Uint8Array[] | undefined;
  /** Address must be congruent to the original one modulo this; 1: any address will do. */
  align: number;
  /** Bytes of filler directly before `old`, which may grow and shrink with the alignment. */
  filler: number;
  /** Bytes at the end of the range that are the next cut's filler. */
  tail: number;
  /** The word that alignment is filled with. */
  fillWord: number;
  /** A cut that this one stands exactly so many bytes behind, by their places for branches. */
  fixed: { readonly base: Cut; readonly distance: number } | undefined;
  pool: IslandPool | undefined;
  /** Results: where `after` begins, the pool, the place that branches arrive at, the instruction, and where its bytes end. */
  newStart: number;
  newPool: number;
  newPlace: number;
  newAt: number;
  newEnd: number;
}

/** A cut with nothing in it. */
export function plainCut(old: number): Cut {
  return {
    old,
    end: old,
    after: [],
    before: [],
    replacement: undefined,
    align: 1,
    filler: 0,
    tail: 0,
    fillWord: 0xbf800000,
    fixed: undefined,
    pool: undefined,
    newStart: 0,
    newPool: 0,
    newPlace: 0,
    newAt: 0,
    newEnd: 0,
  };
}

/** Bytes of a jump over a pool, and of each island in it. */
const JUMP = 4;

/** Bytes of code in several parts. */
export function sizeOf(parts: readonly Uint8Array[]): number {
  let size = 0;
  for (const part of parts) size += part.length;
  return size;
}

/** Bytes of a cut's islands with the jump over them; 0 without islands. */
export function poolSize({ pool }: Cut): number {
  return pool === undefined || pool.islands.length === 0 ? 0 : JUMP * (1 + pool.islands.length);
}

/**
 * Gives every cut its new places, the first at `start`. `order` is the order in which the cuts stand. Returns where the code ends.
 * A cut whose fixed distance is exceeded gets what is left over as `onOverflow`.
 */
export function placeCuts(order: readonly Cut[], start: number, onOverflow: (cut: Cut, bytes: number) => void): number {
  let at = start;
  for (const cut of order) {
    cut.newStart = at;
    at += sizeOf(cut.after);
    cut.newPool = at;
    at = aligned(cut, at + poolSize(cut) + cut.filler);
    if (cut.fixed !== undefined) {
      const wanted = cut.fixed.base.newPlace + cut.fixed.distance;
      const least = cut.newPool + poolSize(cut);
      if (wanted < least) onOverflow(cut, least - wanted);
      at = Math.max(wanted, least);
    }
    cut.newPlace = at;
    at += sizeOf(cut.before);
    cut.newAt = at;
    at += cut.replacement === undefined ? cut.end - cut.old - cut.tail : sizeOf(cut.replacement);
    cut.newEnd = at;
  }
  return at;
}

function aligned({ old, align }: Cut, at: number): number {
  const excess = (at - old) % align;
  return excess === 0 ? at : at + (excess < 0 ? -excess : align - excess);
}

/** Writes the laid-out code; branches and address fields still have their original values. */
export function writeCuts(
  order: readonly Cut[],
  original: (from: number, to: number) => Uint8Array,
  start: number,
  size: number,
): Uint8Array {
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  const put = (parts: readonly Uint8Array[], at: number): void => {
    let to = at - start;
    for (const part of parts) {
      out.set(part, to);
      to += part.length;
    }
  };
  for (const cut of order) {
    put(cut.after, cut.newStart);
    for (let at = cut.newPool + poolSize(cut); at < cut.newPlace; at += 4)
      view.setUint32(at - start, cut.fillWord, true);
    put(cut.before, cut.newPlace);
    if (cut.replacement !== undefined) put(cut.replacement, cut.newAt);
    else out.set(original(cut.old, cut.old + (cut.newEnd - cut.newAt)), cut.newAt - start);
  }
  return out;
}

/** Finds new addresses of old ones. */
export class Places {
  private readonly cuts: readonly Cut[];

  /** `cuts` by old address. */
  constructor(cuts: readonly Cut[]) {
    this.cuts = cuts;
  }

  private cutAt(old: number): Cut | undefined {
    let low = 0;
    let high = this.cuts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.cuts[middle] as Cut).old <= old) low = middle + 1;
      else high = middle;
    }
    const cut = this.cuts[low - 1];
    return cut !== undefined && old <= cut.end ? cut : undefined;
  }

  /** Where a branch to an address arrives. */
  place(old: number): number | undefined {
    const cut = this.cutAt(old);
    if (cut === undefined) return undefined;
    return cut.old === old ? cut.newPlace : this.inside(cut, old);
  }

  /** Where the instruction (or data) of an address is. */
  at(old: number): number | undefined {
    const cut = this.cutAt(old);
    return cut && this.inside(cut, old);
  }

  /** The end of what ends at an address: before what is put in for the one that begins there. */
  end(old: number): number | undefined {
    const cut = this.cutAt(old);
    if (cut === undefined) return undefined;
    return cut.old === old ? cut.newPool : this.inside(cut, old);
  }

  private inside(cut: Cut, old: number): number {
    return Math.min(cut.newAt + (old - cut.old), cut.newEnd);
  }
}
