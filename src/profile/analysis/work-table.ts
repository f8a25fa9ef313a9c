// The pieces of work of a timeline in columns: a million of them take 30 bytes each.
import { StringTable } from '../columns.ts';

/** One piece of work with known times. */
export interface WorkNode {
  readonly kind: 'dispatch' | 'copy';
  /** Kernel or copy direction. */
  readonly symbol: string;
  /** Key of the GPU, empty for copies. */
  readonly agent?: string;
  /** Work with the same lane runs in order. */
  readonly lane: string;
  /** Nanoseconds. */
  readonly start: number;
  readonly end: number;
}

/** Work with known times, one row each. */
export class WorkTable {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Ids in `lanes`; work of one lane runs in order. */
  readonly lane: Int32Array;
  /** Ids in `symbols` and `agents`. */
  readonly symbol: Int32Array;
  readonly agent: Int32Array;
  /** 1 for copies, 0 for dispatches. */
  readonly copy: Uint8Array;
  readonly lanes = new StringTable();
  readonly symbols = new StringTable();
  readonly agents = new StringTable();
  private used = 0;

  /** Room for `most` rows. */
  constructor(most: number) {
    this.start = new Float64Array(most);
    this.end = new Float64Array(most);
    this.lane = new Int32Array(most);
    this.symbol = new Int32Array(most);
    this.agent = new Int32Array(most);
    this.copy = new Uint8Array(most);
  }

  /** The rows of `nodes`, in their order. */
  static of(nodes: readonly WorkNode[]): WorkTable {
    const table = new WorkTable(nodes.length);
    for (const node of nodes) table.push(node);
    return table;
  }

  get length(): number {
    return this.used;
  }

  push({ kind, symbol, agent = '', lane, start, end }: WorkNode): void {
    this.start[this.used] = start;
    this.end[this.used] = end;
    this.lane[this.used] = this.lanes.id(lane);
    this.symbol[this.used] = this.symbols.id(symbol);
    this.agent[this.used] = this.agents.id(agent);
    this.copy[this.used++] = kind === 'copy' ? 1 : 0;
  }

  kindOf(row: number): 'dispatch' | 'copy' {
    return this.copy[row] === 1 ? 'copy' : 'dispatch';
  }

  duration(row: number): number {
    return this.end[row] - this.start[row];
  }
}
