// Counter values of dispatches, one column each.
import { StringTable } from './columns.ts';

/** One counter over the dispatch rows; NaN where it was not collected. */
export interface CounterColumn {
  readonly name: string;
  readonly sum: Float64Array;
  readonly rows: number;
}

class CounterBuilder {
  sum = new Float64Array(64).fill(Number.NaN);
  file = new Int32Array(64).fill(-1);
  rows = 0;
  /** Values beyond the first that were added up, where there are any. */
  more: Int32Array | undefined;

  ensure(row: number): void {
    if (row < this.sum.length) return;
    const size = Math.max(row + 1, Math.ceil(this.sum.length * 1.6));
    const grow = <T extends Float64Array | Int32Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    this.sum = grow(this.sum, new Float64Array(size).fill(Number.NaN));
    this.file = grow(this.file, new Int32Array(size).fill(-1));
  }

  addedUp(row: number): void {
    if (this.more === undefined || row >= this.more.length) {
      const bigger = new Int32Array(this.sum.length);
      bigger.set(this.more ?? []);
      this.more = bigger;
    }
    this.more[row]++;
  }
}

/** Counter values by name and dispatch row. */
export class CounterStore {
  private readonly columns = new Map<string, CounterBuilder>();
  private readonly files = new StringTable();

  /**
   * Adds one value. Values from further files (other passes) do not replace the first. Several values from one file add up where the format
   * lists instances of a counter; where it does not, a second one is 'twice'. Returns 'conflict' when a value is left out that differs from
   * the first by more than 1%.
   */
  add(
    name: string,
    row: number,
    value: number,
    file: string,
    instances: 'instances' | 'sums' = 'instances',
  ): 'stored' | 'conflict' | 'kept' | 'twice' {
    let column = this.columns.get(name);
    if (column === undefined) {
      column = new CounterBuilder();
      this.columns.set(name, column);
    }
    column.ensure(row);
    const fileId = this.files.id(file);
    const old = column.sum[row];
    if (Number.isNaN(old)) {
      column.sum[row] = value;
      column.file[row] = fileId;
      column.rows++;
      return 'stored';
    }
    const isSameFile = column.file[row] === fileId;
    if (!isSameFile || instances === 'sums') {
      const differs = Math.abs(old - value) > 0.01 * Math.max(Math.abs(old), Math.abs(value));
      return differs ? 'conflict' : isSameFile ? 'twice' : 'kept';
    }
    column.sum[row] = old + value;
    column.addedUp(row);
    return 'stored';
  }

  /** Whether a dispatch has a value of a counter, and from that file. */
  isOfFile(name: string, row: number, file: string): boolean {
    const column = this.columns.get(name);
    return column !== undefined && row < column.file.length && column.file[row] === this.files.id(file);
  }

  get names(): string[] {
    return [...this.columns.keys()].sort();
  }

  get size(): number {
    return this.columns.size;
  }

  /** Counters of which the dispatches from `firstRow` on have unlike numbers of values on one agent, the least and the most of them. */
  uneven(
    firstRow: number,
    agentOf: (row: number) => number,
  ): { readonly name: string; readonly least: number; readonly most: number }[] {
    const found: { name: string; least: number; most: number }[] = [];
    for (const [name, { sum, more }] of this.columns) {
      if (more === undefined) continue;
      const first = new Map<number, number>();
      for (let row = firstRow; row < sum.length; row++) {
        if (Number.isNaN(sum[row])) continue;
        const count = 1 + (more[row] ?? 0);
        const other = first.get(agentOf(row));
        if (other === undefined) first.set(agentOf(row), count);
        else if (other !== count) {
          found.push({ name, least: Math.min(count, other), most: Math.max(count, other) });
          break;
        }
      }
    }
    return found;
  }

  column(name: string): CounterColumn | undefined {
    const c = this.columns.get(name);
    return c && { name, sum: c.sum, rows: c.rows };
  }
}
