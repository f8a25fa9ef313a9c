// A set-associative cache of lines with least-recently-used or random replacement. A line is filled by sectors; it remembers when the last one asked
// for arrives.

export class Cache {
  private readonly sets: number;
  private readonly ways: number;
  private readonly tags: Int32Array;
  private readonly used: Int32Array;
  private readonly arrival: Float64Array;
  /** Sectors that are there, and from bit 4 on those that were changed. */
  private readonly sectors: Uint8Array;
  private readonly isRandom: boolean;
  private clock = 0;
  private seed = 1;
  /** Where the last `find` or `insert` ended. */
  private at = 0;

  /** `lines` in sets of `ways`; `isRandom`: any line of a set may go, by a fixed sequence. */
  constructor(lines: number, ways: number, isRandom = false) {
    this.isRandom = isRandom;
    this.ways = Math.min(ways, Math.max(1, lines));
    this.sets = Math.max(1, Math.round(lines / this.ways));
    const size = this.sets * this.ways;
    this.tags = new Int32Array(size).fill(-1);
    this.used = new Int32Array(size);
    this.arrival = new Float64Array(size);
    this.sectors = new Uint8Array(size);
  }

  /** Whether the line is there; it is the most recently used one of its set then. */
  find(line: number, hashed: boolean): boolean {
    const { ways, tags } = this;
    const first = this.setOf(line, hashed) * ways;
    for (let at = first; at < first + ways; at++) {
      if (tags[at] === line) {
        this.used[at] = ++this.clock;
        this.at = at;
        return true;
      }
    }
    this.at = first;
    return false;
  }

  /** When the data of the line found is there. */
  get ready(): number {
    return this.arrival[this.at] as number;
  }

  /** Whether the line found has a sector. */
  has(sector: number): boolean {
    return ((this.sectors[this.at] as number) & (1 << sector)) !== 0;
  }

  /** A sector of the line found has been asked for and arrives at `ready`. */
  fill(sector: number, ready: number): void {
    this.sectors[this.at] = (this.sectors[this.at] as number) | (1 << sector);
    if (ready > (this.arrival[this.at] as number)) this.arrival[this.at] = ready;
  }

  /** Marks a sector of the line found as there and changed; whether it was changed already. */
  change(sector: number): boolean {
    const bits = this.sectors[this.at] as number;
    this.sectors[this.at] = bits | (0x11 << sector);
    return (bits & (0x10 << sector)) !== 0;
  }

  /** Puts in a line that `find` has just not found, without any sector. */
  insert(line: number): void {
    const { ways, tags, used } = this;
    const first = this.at;
    let oldest = first;
    for (let at = first; at < first + ways; at++) {
      if (tags[at] === -1) {
        oldest = at;
        break;
      }
      if ((used[at] as number) < (used[oldest] as number)) oldest = at;
    }
    if (this.isRandom && tags[oldest] !== -1) {
      this.seed = (Math.imul(this.seed, 1103515245) + 12345) >>> 0;
      oldest = first + ((this.seed >>> 8) % ways);
    }
    tags[oldest] = line;
    used[oldest] = ++this.clock;
    this.arrival[oldest] = 0;
    this.sectors[oldest] = 0;
    this.at = oldest;
  }

  private setOf(line: number, hashed: boolean): number {
    let mixed = line;
    if (hashed) {
      mixed ^= mixed >>> 16;
      mixed ^= mixed >>> 8;
      mixed ^= mixed >>> 4;
      if (this.sets <= 4) mixed ^= mixed >>> 2;
    }
    return (mixed >>> 0) % this.sets;
  }
}
