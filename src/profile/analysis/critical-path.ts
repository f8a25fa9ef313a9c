// The critical path over dispatches and memory copies: a DAG whose edges are queue order (recorded) and, across queues,
// the latest work that ended before a start (inferred from timestamps and marked so). O(n log n).
// Slack and overlap follow the usual critical path method (Kelley and Walker, 1959).

import { inOrder } from './order.ts';
import { type WorkGroup, type WorkNode, WorkTable } from './work-table.ts';

export interface PathOptions {
  /** An inferred edge needs a gap of at most this; the rest is host time. */
  readonly maxGapNs?: number;
  /** For each node its stream, counted from 0, -1 for none: work of one stream runs in order, whatever its lane. A recorded dependency. */
  readonly streams?: Int32Array;
  /** Further recorded dependencies (barrier packets, signals) as pairs of node indexes. */
  readonly recorded?: readonly (readonly [number, number])[];
}

export interface SymbolShare {
  readonly symbol: string;
  /** Key of the GPU, empty for copies: a kernel on two GPUs is two. */
  readonly agent: string;
  readonly kind: 'dispatch' | 'copy';
  readonly count: number;
  readonly totalNs: number;
  /** Time of this symbol on the critical path. */
  readonly criticalNs: number;
  readonly onPath: number;
  /** Least slack of any of its nodes. */
  readonly minSlackNs: number;
  /** Upper bound of the end-to-end gain if every node of this symbol took half its time. */
  readonly gainIfTwiceAsFastNs: number;
}

export interface CriticalPath {
  /** First start to last end. */
  readonly spanNs: number;
  /** Length of the longest chain of dependent work; never longer than the span. */
  readonly lengthNs: number;
  /** Sum of all work. */
  readonly busyNs: number;
  /** Time when nothing ran. */
  readonly gapNs: number;
  /** The longest time at a stretch when nothing ran. */
  readonly longestGapNs: number;
  /** Time in which at least two pieces of work overlapped. */
  readonly overlapNs: number;
  readonly path: Int32Array;
  readonly slack: Float64Array;
  readonly edges: { readonly queueOrder: number; readonly recorded: number; readonly inferred: number };
  /** For each node its inferred predecessor, -1 for none. */
  readonly inferredFrom: Int32Array;
  /** For each node its predecessor in the same lane, -1 for none. */
  readonly laneFrom: Int32Array;
  readonly symbols: SymbolShares;
}

/** Longest path, slack of every node and shares by symbol. Nodes may come in any order. */
export function criticalPath(nodes: readonly WorkNode[], options: PathOptions = {}): CriticalPath {
  return longestPath(WorkTable.of(nodes), options);
}

/** `criticalPath` of work in columns. */
export function longestPath(work: WorkTable, options: PathOptions = {}): CriticalPath {
  const n = work.length;
  const { start: starts, end: ends, lane: lanes } = work;
  const order = inOrder(n, (a, b) => starts[a] - starts[b] || ends[a] - ends[b] || a - b);
  const byEnd = inOrder(n, (a, b) => ends[a] - ends[b] || starts[a] - starts[b] || a - b);
  const maxGap = options.maxGapNs ?? Number.POSITIVE_INFINITY;

  const laneFrom = new Int32Array(n).fill(-1);
  const inferredFrom = new Int32Array(n).fill(-1);
  const streamFrom = new Int32Array(options.streams === undefined ? 0 : n).fill(-1);
  /** By stream, which count up from 0. */
  const lastInStream: number[] = [];
  let recorded = 0;
  let queueOrder = 0;
  let inferred = 0;
  const lastInLane = new Int32Array(work.lanes.size).fill(-1);
  // Latest-ending finished node per lane, kept as the best and the best of another lane.
  let best = -1;
  let bestOther = -1;
  let finished = 0;
  for (let i = 0; i < n; i++) {
    const b = order[i];
    const start = starts[b];
    const lane = lanes[b];
    while (finished < n && ends[byEnd[finished]] <= start) {
      const a = byEnd[finished++];
      if (a === b) continue;
      if (best >= 0 && lanes[best] !== lanes[a]) bestOther = best;
      best = a;
    }
    if (lastInLane[lane] >= 0) {
      laneFrom[b] = lastInLane[lane];
      queueOrder++;
    }
    lastInLane[lane] = b;
    const stream = options.streams?.[b] ?? -1;
    if (stream >= 0) {
      const a = lastInStream[stream];
      lastInStream[stream] = b;
      if (a !== undefined && lanes[a] !== lane && ends[a] <= start) {
        streamFrom[b] = a;
        recorded++;
      }
    }
    const from = best >= 0 && lanes[best] === lane ? bestOther : best;
    if (from >= 0 && from !== b && start - ends[from] <= maxGap) {
      inferredFrom[b] = from;
      inferred++;
    }
  }
  const recordedTo = new Map<number, number[]>();
  for (const [a, b] of options.recorded ?? []) {
    if (a < 0 || b < 0 || a >= n || b >= n || ends[a] > starts[b]) continue;
    const list = recordedTo.get(b) ?? [];
    list.push(a);
    recordedTo.set(b, list);
    recorded++;
  }

  // Dependents never start before their predecessors end or start (queue order), so start order is topological.
  const position = new Int32Array(recordedTo.size === 0 ? 0 : n);
  for (let i = 0; i < position.length; i++) position[order[i]] = i;
  /** Calls `use` with each recorded dependency of a piece of work. */
  const recordedBefore = (b: number, use: (a: number, b: number) => void): void => {
    for (const a of recordedTo.get(b) ?? []) if (position[a] < position[b]) use(a, b);
  };
  const earliest = new Float64Array(n);
  const via = new Int32Array(n).fill(-1);
  const startAfter = (a: number, b: number): void => {
    const finish = earliest[a] + weight(work, a, b);
    if (finish > earliest[b] || (finish === earliest[b] && via[b] < 0)) {
      earliest[b] = finish;
      via[b] = a;
    }
  };
  let last = -1;
  let lengthNs = 0;
  for (let i = 0; i < n; i++) {
    const b = order[i];
    if (laneFrom[b] >= 0) startAfter(laneFrom[b], b);
    if (inferredFrom[b] >= 0) startAfter(inferredFrom[b], b);
    if (streamFrom.length > 0 && streamFrom[b] >= 0) startAfter(streamFrom[b], b);
    if (recordedTo.size > 0) recordedBefore(b, startAfter);
    const finish = earliest[b] + (ends[b] - starts[b]);
    if (last >= 0 && finish <= lengthNs) continue;
    last = b;
    lengthNs = finish;
  }
  const latest = new Float64Array(n).fill(lengthNs);
  const startBefore = (a: number, b: number): void => {
    latest[a] = Math.min(latest[a], latest[b] + (ends[a] - starts[a]) - weight(work, a, b));
  };
  for (let i = n - 1; i >= 0; i--) {
    const b = order[i];
    latest[b] = Math.min(latest[b], lengthNs) - (ends[b] - starts[b]);
    if (laneFrom[b] >= 0) startBefore(laneFrom[b], b);
    if (inferredFrom[b] >= 0) startBefore(inferredFrom[b], b);
    if (streamFrom.length > 0 && streamFrom[b] >= 0) startBefore(streamFrom[b], b);
    if (recordedTo.size > 0) recordedBefore(b, startBefore);
  }
  // A million nodes: the slack takes the place of the latest starts.
  const slack = latest;
  for (let i = 0; i < n; i++) slack[i] = Math.max(0, latest[i] - earliest[i]);
  let links = 0;
  for (let i = last; i >= 0; i = via[i]) links++;
  const path = new Int32Array(links);
  for (let i = last; i >= 0; i = via[i]) path[--links] = i;

  return {
    ...spans(work, order),
    lengthNs,
    path,
    slack,
    edges: { queueOrder, recorded, inferred },
    inferredFrom,
    laneFrom,
    symbols: shares(work, path, slack, via),
  };
}

/**
 * How much of `a` must pass before `b` may start. Work of one lane that overlaps (a queue runs two dispatches at once)
 * only orders the starts.
 */
function weight(work: WorkTable, a: number, b: number): number {
  return Math.min(work.end[a], work.start[b]) - work.start[a];
}

function spans(work: WorkTable, order: Int32Array) {
  let spanEnd = Number.NEGATIVE_INFINITY;
  let busyNs = 0;
  let gapNs = 0;
  let longestGapNs = 0;
  for (let at = 0; at < order.length; at++) {
    const start = work.start[order[at]];
    const end = work.end[order[at]];
    busyNs += end - start;
    if (spanEnd !== Number.NEGATIVE_INFINITY && start > spanEnd) {
      gapNs += start - spanEnd;
      longestGapNs = Math.max(longestGapNs, start - spanEnd);
    }
    spanEnd = Math.max(spanEnd, end);
  }
  const spanNs = order.length === 0 ? 0 : spanEnd - work.start[order[0]];
  let overlapNs = 0;
  let one = Number.NEGATIVE_INFINITY;
  let two = Number.NEGATIVE_INFINITY;
  // `one` is the furthest end so far, `two` the furthest end covered twice.
  for (let at = 0; at < order.length; at++) {
    const start = work.start[order[at]];
    const end = work.end[order[at]];
    const until = Math.min(end, one);
    const from = Math.max(start, two);
    if (until > from) {
      overlapNs += until - from;
      two = until;
    }
    one = Math.max(one, end);
  }
  return { spanNs, busyNs, gapNs, longestGapNs, overlapNs };
}

/** The sums of each group in columns: of 200,000 kernels objects take 60 MB. */
function shares(work: WorkTable, path: Int32Array, slack: Float64Array, via: Int32Array): SymbolShares {
  const sums = new SymbolShares(work.groups);
  const { counts, totals, critical, onPath, minSlack } = sums;
  for (let i = 0; i < work.length; i++) {
    const group = work.group[i];
    counts[group]++;
    totals[group] += work.end[i] - work.start[i];
    if (slack[i] < minSlack[group]) minSlack[group] = slack[i];
  }
  for (let p = 0; p < path.length; p++) {
    const i = path[p];
    const next = p + 1 < path.length ? path[p + 1] : -1;
    critical[work.group[i]] += next >= 0 && via[next] === i ? weight(work, i, next) : work.duration(i);
    onPath[work.group[i]]++;
  }
  return sums;
}

/** What the work of each symbol takes in all and on the critical path. */
export class SymbolShares {
  readonly counts: Int32Array;
  readonly totals: Float64Array;
  readonly critical: Float64Array;
  readonly onPath: Int32Array;
  readonly minSlack: Float64Array;
  private readonly groups: readonly WorkGroup[];

  constructor(groups: readonly WorkGroup[]) {
    this.groups = groups;
    this.counts = new Int32Array(groups.length);
    this.onPath = new Int32Array(groups.length);
    this.totals = new Float64Array(groups.length);
    this.critical = new Float64Array(groups.length);
    this.minSlack = new Float64Array(groups.length).fill(Number.POSITIVE_INFINITY);
  }

  /** The shares of one group, by its index in the table of work. */
  of(group: number): SymbolShare {
    const criticalNs = this.critical[group];
    return {
      ...this.groups[group],
      count: this.counts[group],
      totalNs: this.totals[group],
      criticalNs,
      onPath: this.onPath[group],
      minSlackNs: this.minSlack[group],
      // Shortening every node of a symbol shortens no path by more than half of what that path spends in it.
      gainIfTwiceAsFastNs: criticalNs / 2,
    };
  }

  /** Those of the groups of dispatches that `isWanted`. */
  *dispatches(isWanted: (group: WorkGroup) => boolean): Generator<SymbolShare> {
    for (let group = 0; group < this.groups.length; group++) {
      if (this.groups[group].kind === 'dispatch' && isWanted(this.groups[group])) yield this.of(group);
    }
  }

  /** At most `limit` of those with most time on the critical path, of equal ones those with most time in all. */
  most(limit: number): SymbolShare[] {
    const order = Int32Array.from(this.groups, (_, group) => group);
    order.sort((a, b) => this.critical[b] - this.critical[a] || this.totals[b] - this.totals[a] || a - b);
    return Array.from(order.subarray(0, limit), (group) => this.of(group));
  }
}
