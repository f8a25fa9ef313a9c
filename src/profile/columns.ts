// Growable typed columns and a string table: how traces of millions of rows stay small in memory.

type Typed = Float64Array | Int32Array | Uint8Array;

/** A growable column of numbers backed by one typed array. */
export class Column<T extends Typed> {
  private data: T;
  private used = 0;
  private readonly make: (n: number) => T;

  constructor(make: (n: number) => T) {
    this.make = make;
    this.data = make(1024);
  }

  get length(): number {
    return this.used;
  }

  push(value: number): number {
    if (this.used === this.data.length) this.grow(this.used + 1);
    this.data[this.used] = value;
    return this.used++;
  }

  private grow(needed: number): void {
    const bigger = this.make(Math.max(needed, Math.ceil(this.data.length * 1.6)));
    bigger.set(this.data);
    this.data = bigger;
  }

  get(index: number): number {
    return this.data[index];
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }

  /** A view of the used part; do not keep it across `push`. */
  view(): T {
    return this.data.subarray(0, this.used) as T;
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

/** The first row of each id. Ids of a profiler count up, so most are kept in an array; those far beyond the others are in a map. */
export class RowsById {
  private near = new Int32Array(1024).fill(-1);
  private readonly far = new Map<number, number>();
  private count = 0;

  /** The row that has the id already; when there is none, `row` is kept. */
  add(id: number, row: number): number | undefined {
    this.count++;
    if (id >= this.near.length && id < 4 * this.count + 1024) this.grow(id);
    if (id >= 0 && id < this.near.length) {
      const found = this.near[id];
      if (found >= 0) return found;
      const early = this.far.get(id);
      if (early !== undefined) return early;
      this.near[id] = row;
      return undefined;
    }
    const found = this.far.get(id);
    if (found === undefined) this.far.set(id, row);
    return found;
  }

  /** The row that has the id. */
  find(id: number): number | undefined {
    const found = id >= 0 && id < this.near.length ? this.near[id] : -1;
    return found >= 0 ? found : this.far.get(id);
  }

  private grow(id: number): void {
    const bigger = new Int32Array(Math.ceil((id + 1) * 1.5)).fill(-1);
    bigger.set(this.near);
    this.near = bigger;
  }
}
