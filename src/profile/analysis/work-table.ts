// The pieces of work of a timeline in columns: of a million, each takes 24 bytes.
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

/** What many pieces of work are alike in. */
export interface WorkGroup {
  readonly kind: 'dispatch' | 'copy';
  readonly symbol: string;
  /** Key of the GPU, empty for copies. */
  readonly agent: string;
}

/** Work with known times, one row each. */
export class WorkTable {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Ids in `lanes`; work of one lane runs in order. */
  readonly lane: Int32Array;
  /** Indexes in `groups`. */
  readonly group: Int32Array;
  readonly lanes = new StringTable();
  readonly groups: WorkGroup[] = [];
  private readonly groupIds = new Map<string, number>();
  private used = 0;

  /** Room for `most` rows. */
  constructor(most: number) {
    this.start = new Float64Array(most);
    this.end = new Float64Array(most);
    this.lane = new Int32Array(most);
    this.group = new Int32Array(most);
  }

  /** The rows of `nodes`, in their order. */
  static of(nodes: readonly WorkNode[]): WorkTable {
    const table = new WorkTable(nodes.length);
    for (const { kind, symbol, agent = '', lane, start, end } of nodes) {
      table.push(table.groupId({ kind, symbol, agent }), table.lanes.id(lane), start, end);
    }
    return table;
  }

  get length(): number {
    return this.used;
  }

  /** Index of a group, which is new or known. */
  groupId({ kind, symbol, agent }: WorkGroup): number {
    const key = `${kind}\0${agent}\0${symbol}`;
    const found = this.groupIds.get(key);
    if (found !== undefined) return found;
    this.groupIds.set(key, this.groups.length);
    return this.addGroup({ kind, symbol, agent });
  }

  /** Index of a group that the caller knows to be new; `groupId` does not find it. */
  addGroup(group: WorkGroup): number {
    return this.groups.push(group) - 1;
  }

  /** Adds a row. */
  push(group: number, lane: number, start: number, end: number): void {
    this.start[this.used] = start;
    this.end[this.used] = end;
    this.lane[this.used] = lane;
    this.group[this.used++] = group;
  }

  groupOf(row: number): WorkGroup {
    return this.groups[this.group[row]];
  }

  duration(row: number): number {
    return this.end[row] - this.start[row];
  }
}
