// Growable typed columns and a string table: how traces of millions of rows stay small in memory.

type Typed = Float64Array | Int32Array | Uint8Array;

/** From this many values on, an array grows to four times its length: pages of memory that nothing was written to cost nothing, copies do. */
const LARGE = 1 << 16;

/**
 * A growable column of numbers. Of most recordings many columns hold one number throughout, or one that counts up: a column is two numbers as
 * long as each value is the first one and as many steps as its index, then one typed array.
 */
export class Column<T extends Typed> {
  private data: T | undefined;
  private first = 0;
  private step = 0;
  private used = 0;
  private readonly make: (n: number) => T;

  constructor(make: (n: number) => T) {
    this.make = make;
  }

  get length(): number {
    return this.used;
  }

  push(value: number): number {
    if (this.data !== undefined) {
      if (this.used === this.data.length) this.grow(this.data);
      this.data[this.used] = value;
      return this.used++;
    }
    if (this.used === 0) this.first = value;
    else if (this.used === 1 && Number.isFinite(value - this.first)) this.step = value - this.first;
    if (this.first + this.used * this.step === value) return this.used++;
    this.unfold()[this.used] = value;
    return this.used++;
  }

  /** The values so far in an array of their own, which has room for more where values come, not where one is replaced. */
  private unfold(room = this.used < LARGE ? 1024 + 2 * this.used : 4 * this.used): T {
    const made = this.make(room);
    for (let i = 0; i < this.used; i++) made[i] = this.first + i * this.step;
    this.data = made;
    return made;
  }

  private grow(old: T): void {
    const bigger = this.make(Math.max(1024, old.length * (old.length < LARGE ? 2 : 4)));
    bigger.set(old);
    this.data = bigger;
  }

  get(index: number): number {
    return this.data === undefined ? this.first + index * this.step : this.data[index];
  }

  /** Replaces a value that is there. */
  set(index: number, value: number): void {
    if (this.data === undefined && this.first + index * this.step === value) return;
    (this.data ?? this.unfold(this.used))[index] = value;
  }

  /** A view of the used part; do not keep it across `push`. */
  view(): T {
    return (this.data ?? this.unfold(this.used)).subarray(0, this.used) as T;
  }
}

export const f64 = () => new Column((n) => new Float64Array(n));
export const i32 = () => new Column((n) => new Int32Array(n));
export const u8 = () => new Column((n) => new Uint8Array(n));

/** Distinct strings with dense ids, in order of first use. */
export class StringTable {
  readonly values: string[] = [];
  private readonly ids = new Map<string, number>();

  id(value: string): number {
    const found = this.ids.get(value);
    if (found !== undefined) return found;
    const id = this.values.length;
    this.values.push(value);
    this.ids.set(value, id);
    return id;
  }

  find(value: string): number | undefined {
    return this.ids.get(value);
  }

  get(id: number): string {
    return this.values[id] ?? '';
  }

  get size(): number {
    return this.values.length;
  }
}

/** Distinct lists of numbers with dense ids, in order of first use; all have the same length. */
export class NumbersTable {
  /** How many there are. */
  size = 0;
  private readonly width: number;
  private data: Float64Array;
  /** Ids from 1 on, by a hash of the numbers; 0 for none. */
  private slots = new Int32Array(1 << 6);

  constructor(width: number) {
    this.width = width;
    this.data = new Float64Array(width << 5);
  }

  id(numbers: ArrayLike<number>): number {
    const mask = this.slots.length - 1;
    let slot = hashOf(numbers, 0, this.width) & mask;
    for (; this.slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.has(this.slots[slot] - 1, numbers)) return this.slots[slot] - 1;
    }
    const id = this.size++;
    this.slots[slot] = id + 1;
    if (this.size * this.width > this.data.length) {
      const bigger = new Float64Array(2 * this.data.length);
      bigger.set(this.data);
      this.data = bigger;
    }
    this.data.set(numbers, id * this.width);
    if (2 * this.size > this.slots.length) this.grow();
    return id;
  }

  get(id: number): Float64Array {
    return this.data.subarray(id * this.width, (id + 1) * this.width);
  }

  private has(id: number, numbers: ArrayLike<number>): boolean {
    const first = id * this.width;
    for (let i = 0; i < this.width; i++) if (this.data[first + i] !== numbers[i]) return false;
    return true;
  }

  private grow(): void {
    this.slots = new Int32Array(4 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let id = 0; id < this.size; id++) {
      let slot = hashOf(this.data, id * this.width, this.width) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = id + 1;
    }
  }
}

function hashOf(numbers: ArrayLike<number>, first: number, count: number): number {
  let hash = 0;
  for (let i = first; i < first + count; i++) {
    const high = Math.floor(numbers[i] / 2 ** 32);
    hash = Math.imul(hash ^ numbers[i] ^ Math.imul(high, 0x9e3779b1), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash;
}

/**
 * The first row of each id. Ids of a profiler count up with the rows, which takes no memory; of the others most are kept in an array, and those
 * far beyond them in a map.
 */
export class RowsById {
  /** Ids from `from` on are of rows from `base` on, `run` of them. */
  private from = 0;
  private base = 0;
  private run = 0;
  private near = new Int32Array(0);
  private readonly far = new Map<number, number>();
  private count = 0;
  private least = Number.POSITIVE_INFINITY;
  private most = Number.NEGATIVE_INFINITY;

  /** The least and the most of the ids, and how many there are. */
  get extent(): { readonly least: number; readonly most: number; readonly count: number } {
    const { least, most, count } = this;
    return { least, most, count };
  }

  /** The row that has the id already; when there is none, `row` is kept. */
  add(id: number, row: number): number | undefined {
    const found = this.find(id);
    if (found !== undefined) return found;
    this.count++;
    if (id < this.least) this.least = id;
    if (id > this.most) this.most = id;
    if (this.run === 0) [this.from, this.base] = [id, row];
    if (id === this.from + this.run && row === this.base + this.run) {
      this.run++;
      return undefined;
    }
    if (id >= this.near.length && id < 4 * this.count + 1024) this.grow(id);
    if (id >= 0 && id < this.near.length) this.near[id] = row;
    else this.far.set(id, row);
    return undefined;
  }

  /** The row that has the id. */
  find(id: number): number | undefined {
    const at = id - this.from;
    if (at >= 0 && at < this.run) return Number.isInteger(at) ? this.base + at : this.far.get(id);
    const found = id >= 0 && id < this.near.length ? this.near[id] : -1;
    return found >= 0 ? found : this.far.get(id);
  }

  private grow(id: number): void {
    const bigger = new Int32Array(Math.ceil((id + 1) * 1.5) + 1024).fill(-1);
    bigger.set(this.near);
    this.near = bigger;
  }
}
