// A hash table from two words to a number, for the encodings of instructions: open addressing over typed arrays.

const EMPTY = -1;
const INITIAL_SLOTS = 1 << 12;

/** Maps pairs of words to numbers that are not negative. */
export class PairTable {
  /** What a pair has that was not set. */
  static readonly NONE = EMPTY;

  private first = new Uint32Array(INITIAL_SLOTS);
  private second = new Uint32Array(INITIAL_SLOTS);
  private values = new Int32Array(INITIAL_SLOTS).fill(EMPTY);
  private mask = INITIAL_SLOTS - 1;
  private used = 0;

  /** The number of a pair of unsigned words. */
  get(a: number, b: number): number {
    let slot = hash(a, b) & this.mask;
    while (this.values[slot] !== EMPTY) {
      if (this.first[slot] === a && this.second[slot] === b) return this.values[slot];
      slot = (slot + 1) & this.mask;
    }
    return EMPTY;
  }

  /** Sets the number of a pair that has none. */
  set(a: number, b: number, value: number): void {
    if (this.used * 2 > this.mask) this.grow();
    this.insert(a, b, value);
    this.used++;
  }

  private insert(a: number, b: number, value: number): void {
    let slot = hash(a, b) & this.mask;
    while (this.values[slot] !== EMPTY) slot = (slot + 1) & this.mask;
    this.first[slot] = a;
    this.second[slot] = b;
    this.values[slot] = value;
  }

  private grow(): void {
    const { first, second, values } = this;
    const size = values.length * 2;
    this.first = new Uint32Array(size);
    this.second = new Uint32Array(size);
    this.values = new Int32Array(size).fill(EMPTY);
    this.mask = size - 1;
    for (let slot = 0; slot < values.length; slot++) {
      if (values[slot] !== EMPTY) this.insert(first[slot], second[slot], values[slot]);
    }
  }
}

function hash(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  h ^= h >>> 15;
  return Math.imul(h, 0x2c1b3c6d) ^ (h >>> 13);
}
