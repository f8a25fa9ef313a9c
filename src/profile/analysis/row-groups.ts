// Dispatches by kernel and agent: their rows, their launches and what their times sum to, all from one look at each row in its order.
import { known, type Measure, unknown } from '../measure.ts';
import { type Recording, TIMING_REASONS, Timing } from '../recording.ts';
import type { MetricTable } from './metrics.ts';

/** How long the calls of a kernel took. */
export interface Durations {
  readonly timed: number;
  readonly totalNs: Measure;
  readonly meanNs: Measure;
  readonly minNs: Measure;
  readonly maxNs: Measure;
  readonly variation: Measure;
}

/** The dispatches of every kernel on every agent, in the order in which the recording has them. */
export class RowGroups {
  private readonly rows: Int32Array;
  private readonly configs: Int32Array;
  private readonly ends: readonly number[];
  private readonly times: GroupTimes;

  constructor(r: Recording, table: MetricTable) {
    const { groupOf, ends } = groupsOf(r, table);
    const d = r.dispatches;
    this.ends = ends;
    this.times = new GroupTimes(ends.length);
    this.rows = new Int32Array(d.length);
    this.configs = new Int32Array(d.length);
    const next = Int32Array.from(ends, (_, group) => this.start(group));
    for (let row = 0; row < d.length; row++) {
      const group = groupOf[row];
      const at = next[group]++;
      this.rows[at] = row;
      this.configs[at] = d.config.get(row);
      const timing = d.timing.get(row);
      if (timing === Timing.KNOWN) this.times.add(group, d.end.get(row) - d.start.get(row));
      else this.times.state[group] = timing;
    }
  }

  get length(): number {
    return this.ends.length;
  }

  /** The rows of a group: a view that is made at each call, as a hundred thousand of them are 20 MB. */
  of(group: number): Int32Array {
    return this.rows.subarray(this.start(group), this.ends[group]);
  }

  /** The ids of the launch configurations of those rows. */
  configsOf(group: number): Int32Array {
    return this.configs.subarray(this.start(group), this.ends[group]);
  }

  /** How many rows a group has. */
  size(group: number): number {
    return this.ends[group] - this.start(group);
  }

  /** The known time of a group, -1 where no row has one. */
  totalNs(group: number): number {
    return this.times.timed[group] === 0 ? -1 : this.times.total[group];
  }

  /** How long the dispatches of a group took. */
  durations(group: number): Durations {
    return this.times.durations(group);
  }

  /** What the rows of a group add up to, without a view. */
  sum(group: number, of: (row: number) => number): number {
    let sum = 0;
    for (let at = this.start(group); at < this.ends[group]; at++) sum += of(this.rows[at]);
    return sum;
  }

  private start(group: number): number {
    return group === 0 ? 0 : this.ends[group - 1];
  }
}

/** The group of each row, and where each group ends. */
function groupsOf(r: Recording, table: MetricTable): { readonly groupOf: Int32Array; readonly ends: number[] } {
  const d = r.dispatches;
  // Files may call one agent differently: `Agent 4`, `4`, or nothing where there is one GPU.
  const agents = table.agentIds();
  const stride = r.agentKeys.size + 1;
  const ids = new Map<number, number>();
  /** The group of the last dispatch of each kernel, which the next one is in as a rule; and the agents of groups. */
  const lastOf = new Int32Array(r.kernels.size).fill(-1);
  const agentOf: number[] = [];
  const groupOf = new Int32Array(d.length);
  const ends: number[] = [];
  for (let row = 0; row < d.length; row++) {
    const kernel = d.kernel.get(row);
    const agent = agents[d.agent.get(row)];
    let group = lastOf[kernel];
    if (group < 0 || agentOf[group] !== agent) {
      const key = kernel * stride + agent;
      group = ids.get(key) ?? -1;
      if (group < 0) {
        group = ends.push(0) - 1;
        agentOf.push(agent);
        ids.set(key, group);
      }
      lastOf[kernel] = group;
    }
    groupOf[row] = group;
    ends[group]++;
  }
  for (let group = 1; group < ends.length; group++) ends[group] += ends[group - 1];
  return { groupOf, ends };
}

/** What the known times of each group sum to. */
class GroupTimes {
  readonly timed: Int32Array;
  readonly total: Float64Array;
  /** Why the last time that is not known is not. */
  readonly state: Uint8Array;
  private readonly squares: Float64Array;
  private readonly least: Float64Array;
  private readonly most: Float64Array;

  constructor(groups: number) {
    this.timed = new Int32Array(groups);
    this.total = new Float64Array(groups);
    this.squares = new Float64Array(groups);
    this.least = new Float64Array(groups).fill(Number.POSITIVE_INFINITY);
    this.most = new Float64Array(groups);
    this.state = new Uint8Array(groups).fill(Timing.ABSENT);
  }

  add(group: number, ns: number): void {
    this.timed[group]++;
    this.total[group] += ns;
    this.squares[group] += ns * ns;
    if (ns < this.least[group]) this.least[group] = ns;
    if (ns > this.most[group]) this.most[group] = ns;
  }

  durations(group: number): Durations {
    const timed = this.timed[group];
    if (timed === 0) {
      const why = unknown(TIMING_REASONS[this.state[group]] ?? 'no timestamps');
      return { timed, totalNs: why, meanNs: why, minNs: why, maxNs: why, variation: why };
    }
    const total = this.total[group];
    const mean = total / timed;
    const spread = Math.sqrt(Math.max(0, this.squares[group] / timed - mean * mean));
    return {
      timed,
      totalNs: known(total),
      meanNs: known(mean),
      minNs: known(this.least[group]),
      maxNs: known(this.most[group]),
      variation: mean > 0 ? known(spread / mean) : unknown('the mean duration is zero'),
    };
  }
}
