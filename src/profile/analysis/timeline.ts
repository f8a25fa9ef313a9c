// The critical path section of the document: totals, shares by symbol, and a timeline that is cut when there is too much.
import type { CriticalPathSection, TimelineEntry } from '../document.ts';
import { known, unknown } from '../measure.ts';
import { type Recording, Timing } from '../recording.ts';
import type { CriticalPath } from './critical-path.ts';
import type { WorkTable } from './work-table.ts';

const MAX_TIMELINE = 4000;
/** Pieces of the span, and lanes, of which the page draws how busy they are. */
const PIECES = 1000;
const MAX_LANES = 64;

/** The clock domains that have timed work, the one with most work first. */
export function timedDomains(r: Recording): number[] {
  const counts = new Map<number, number>();
  for (const table of [r.dispatches, r.copies]) {
    let [now, count] = [-1, 0];
    for (let row = 0; row < table.length; row++) {
      if (table.timing.get(row) !== Timing.KNOWN) continue;
      const domain = table.domain.get(row);
      if (domain !== now && count > 0) counts.set(now, (counts.get(now) ?? 0) + count);
      count = domain === now ? count + 1 : 1;
      now = domain;
    }
    if (count > 0) counts.set(now, (counts.get(now) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([domain]) => domain);
}

/** The name of a lane with its host before it, and its process behind it where it is not the first. */
function laneName(r: Recording, name: string, process: number): string {
  const host = r.hosts.get(process);
  return `${host === undefined ? '' : `${host}: `}${name}${process % (1 << 20) === 0 ? '' : ` (process ${process})`}`;
}

/** The lane of a dispatch, which `make` makes once of its name: of its queue, and of its host and process where there are several. */
export function dispatchLanes<T>(r: Recording, make: (name: string) => T): (row: number) => T {
  const d = r.dispatches;
  /** Of each process by queue. */
  const lanes = new Map<number, T[]>();
  let last = -1;
  let ofLast: T[] = [];
  return (row) => {
    const process = d.process.get(row);
    if (process !== last) {
      last = process;
      ofLast = lanes.get(process) ?? [];
      lanes.set(process, ofLast);
    }
    const queue = d.queue.get(row);
    ofLast[queue] ??= make(laneName(r, r.queues.get(queue), process));
    return ofLast[queue];
  };
}

/** The name of the lane of a copy: its host where there are several, its direction and stream. */
export function copyLane(r: Recording, row: number): string {
  const stream = r.copies.stream.get(row);
  const direction = r.directions.get(r.copies.direction.get(row));
  const host = r.hosts.get(r.copies.process.get(row));
  return `${host === undefined ? '' : `${host}: `}copy ${direction}${stream < 0 ? '' : ` stream ${r.streams.get(stream)}`}`;
}

/** The critical path section of the document. */
export function pathSection(r: Recording, work: WorkTable, path: CriticalPath | undefined): CriticalPathSection {
  if (path === undefined) {
    const why = unknown(
      r.dispatches.length + r.copies.length === 0
        ? 'no dispatches or copies were recorded'
        : 'no work has usable timestamps',
    );
    return {
      spanNs: why,
      lengthNs: why,
      busyNs: why,
      gapNs: why,
      overlapNs: why,
      nodes: 0,
      pathNodes: 0,
      edges: { queueOrder: 0, recorded: 0, inferred: 0 },
      symbols: [],
      density: [],
      timeline: [],
    };
  }
  return {
    spanNs: known(path.spanNs),
    lengthNs: known(path.lengthNs),
    busyNs: known(path.busyNs),
    gapNs: known(path.gapNs),
    overlapNs: known(path.overlapNs),
    nodes: work.length,
    pathNodes: path.path.length,
    edges: path.edges,
    symbols: path.symbols.most(1000),
    density: density(work),
    timeline: timeline(work, path, MAX_TIMELINE),
  };
}

/** How busy each lane is, by equal pieces of the span. */
function density(work: WorkTable): CriticalPathSection['density'] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < work.length; i++) {
    first = Math.min(first, work.start[i]);
    last = Math.max(last, work.end[i]);
  }
  const piece = (last - first) / PIECES;
  if (!(piece > 0)) return [];
  const lanes = new Map<number, Float64Array>();
  for (let i = 0; i < work.length; i++) {
    const lane = work.lane[i];
    let busy = lanes.get(lane);
    if (busy === undefined) {
      if (lanes.size >= MAX_LANES) continue;
      busy = new Float64Array(PIECES);
      lanes.set(lane, busy);
    }
    const from = (work.start[i] - first) / piece;
    const to = (work.end[i] - first) / piece;
    for (let at = Math.floor(from); at < Math.min(PIECES, to); at++)
      busy[at] += Math.min(to, at + 1) - Math.max(from, at);
  }
  return [...lanes].map(([lane, busy]) => ({
    lane: work.lanes.get(lane),
    busy: Array.from(busy, (share) => Math.min(255, Math.round(255 * share))),
  }));
}

/** The `limit` indexes below `n` with the largest weights, ascending; ties go to the lower index. O(n log limit), memory O(limit). */
export function largest(n: number, limit: number, weight: (index: number) => number): Int32Array {
  if (n <= limit) return Int32Array.from({ length: n }, (_, i) => i);
  if (limit <= 0) return new Int32Array(0);
  // A heap of those that are chosen so far, the first to go at its top: the lightest, of equal ones the last.
  const [weights, chosen] = [new Float64Array(limit), new Int32Array(limit)];
  const sink = (from: number, own: number, index: number, used: number): void => {
    let at = from;
    for (let below = 2 * at + 1; below < used; below = 2 * at + 1) {
      const right = below + 1;
      const takesRight =
        right < used &&
        (weights[right] < weights[below] || (weights[right] === weights[below] && chosen[right] > chosen[below]));
      const next = takesRight ? right : below;
      if (weights[next] > own || (weights[next] === own && chosen[next] < index)) break;
      [weights[at], chosen[at]] = [weights[next], chosen[next]];
      at = next;
    }
    [weights[at], chosen[at]] = [own, index];
  };
  for (let i = 0; i < limit; i++) [weights[i], chosen[i]] = [weight(i), i];
  for (let at = (limit >> 1) - 1; at >= 0; at--) sink(at, weights[at], chosen[at], limit);
  for (let i = limit; i < n; i++) {
    const own = weight(i);
    if (own > weights[0]) sink(0, own, i, limit);
  }
  return chosen.sort();
}

/** Up to `limit` nodes of the DAG in start order, longest and critical ones first to be kept. */
export function timeline(work: WorkTable, path: CriticalPath, limit: number): TimelineEntry[] {
  const critical = new Uint8Array(work.length);
  for (let p = 0; p < path.path.length; p++) critical[path.path[p]] = 1;
  const length = (i: number) => work.duration(i);
  // Critical work comes first, whatever its length.
  const chosen = largest(work.length, limit, (i) => length(i) + (critical[i] === 1 ? 2 ** 53 : 0));
  chosen.sort((a, b) => work.start[a] - work.start[b] || a - b);
  let first = Number.POSITIVE_INFINITY;
  for (let i = 0; i < work.length; i++) first = Math.min(first, work.start[i]);
  return Array.from(chosen, (i) => ({
    symbol: work.groupOf(i).symbol,
    kind: work.groupOf(i).kind,
    lane: work.lanes.get(work.lane[i]),
    start: work.start[i] - first,
    duration: length(i),
    critical: critical[i] === 1,
    slack: path.slack[i],
    after: path.laneFrom[i],
    inferredAfter: path.inferredFrom[i],
    node: i,
  }));
}
