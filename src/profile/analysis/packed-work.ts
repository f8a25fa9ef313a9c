// All work of a recording in few bytes, for the page: its timeline shows every dispatch when one looks close enough, also of a million.
import { type Recording, Timing } from '../recording.ts';
import { inOrder } from './order.ts';
import { copyLane, dispatchLanes, timedDomains } from './timeline.ts';

/** Above this a page would be too large; then only the document's timeline is there. */
const MAX_PACKED = 2_000_000;

/** A lane of the timeline. */
export interface PackedLane {
  readonly name: string;
  readonly kind: 'dispatch' | 'copy' | 'call';
  /** Where calls of it were not kept: the last end of those that were, in ns after the first dispatch or copy. */
  until?: number;
}

/** Dispatches, copies and API calls in the order of their starts. */
export interface PackedWork {
  readonly count: number;
  /** Start of the first one after the first dispatch or copy, in ns; negative where API calls are earlier. */
  readonly origin: number;
  readonly lanes: readonly PackedLane[];
  readonly symbols: readonly string[];
  /** API calls that were not kept one by one. */
  readonly omittedCalls: number;
  /** Base64 of numbers in LEB128: lane, twice the symbol (and one on the critical path), ns since the start of the one before, duration in ns; for each. */
  readonly data: string;
}

/** Numbers of seven bits a byte, the lowest first; the highest bit says that another byte follows. */
class Leb128 {
  private bytes = new Uint8Array(1 << 16);
  private used = 0;

  push(value: number): void {
    if (this.used + 10 > this.bytes.length) {
      const bigger = new Uint8Array(this.bytes.length * 2);
      bigger.set(this.bytes);
      this.bytes = bigger;
    }
    let rest = value;
    while (rest >= 2 ** 31) {
      this.bytes[this.used++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    let small = rest | 0;
    for (; small >= 128; small >>= 7) this.bytes[this.used++] = (small & 127) | 128;
    this.bytes[this.used++] = small;
  }

  base64(): string {
    return Buffer.from(this.bytes.buffer, 0, this.used).toString('base64');
  }
}

/**
 * Packs the work of the recording's main clock; undefined where there is none, or too much. The nodes of the critical path are numbered as
 * they are read here: timed dispatches, then copies; `onPath` has the numbers of those on the path.
 */
export function packWork(r: Recording, onPath: Int32Array | undefined): PackedWork | undefined {
  const [domain] = timedDomains(r);
  if (domain === undefined) return undefined;
  const { dispatches: d, copies: c, callSpans: a } = r;
  const names = {
    dispatch: new Map<string, number>(),
    copy: new Map<string, number>(),
    call: new Map<string, number>(),
  };
  const lanes: PackedLane[] = [];
  const laneId = (name: string, kind: 'dispatch' | 'copy' | 'call'): number => {
    const found = names[kind].get(name);
    if (found !== undefined) return found;
    names[kind].set(name, lanes.length);
    return lanes.push({ name, kind }) - 1;
  };
  const [kernels, directions] = [r.kernels.size, r.directions.size];
  const most = d.length + c.length + a.length;
  if (most > MAX_PACKED) return undefined;
  /** Rows of dispatches, of copies, of calls; and where the first two end. */
  const rows = new Int32Array(most);
  let count = 0;
  const laneOf = dispatchLanes(r, (name) => laneId(name, 'dispatch'));
  const isShown = (table: typeof d | typeof c, row: number): boolean =>
    table.timing.get(row) === Timing.KNOWN && table.domain.get(row) === domain;
  for (let row = 0; row < d.length; row++) if (isShown(d, row)) rows[count++] = row;
  const dispatches = count;
  for (let row = 0; row < c.length; row++) if (isShown(c, row)) rows[count++] = row;
  const works = count;
  for (let row = 0; row < a.length; row++) if (a.domain.get(row) === domain) rows[count++] = row;
  const [starts, ends] = (['start', 'end'] as const).map((name) => [d, c, a].map((table) => table[name].view()));
  const at = (columns: readonly Float64Array[], i: number): number =>
    columns[i < dispatches ? 0 : i < works ? 1 : 2][rows[i]];
  const start = (i: number): number => at(starts, i);
  const lane = (i: number): number => {
    if (i < dispatches) return laneOf(rows[i]);
    if (i < works) return laneId(copyLane(r, rows[i]), 'copy');
    return laneId(r.callNames.get(a.lane.get(rows[i])), 'call');
  };
  const symbol = (i: number): number => {
    if (i < dispatches) return d.kernel.get(rows[i]);
    return i < works ? kernels + c.direction.get(rows[i]) : kernels + directions + a.name.get(rows[i]);
  };
  // Lanes are numbered as they come in the tables.
  const laneIds = new Int32Array(count);
  for (let i = 0; i < count; i++) laneIds[i] = lane(i);
  let first = Number.POSITIVE_INFINITY;
  for (let i = 0; i < works; i++) first = Math.min(first, start(i));
  for (const id of a.cutLanes) {
    const cut = lanes[names.call.get(r.callNames.get(id)) ?? -1];
    if (cut === undefined) continue;
    for (let i = works; i < count; i++) {
      if (a.lane.get(rows[i]) === id) cut.until = Math.max(cut.until ?? -Infinity, a.end.get(rows[i]) - first);
    }
  }
  const critical = new Uint8Array(works);
  onPath?.forEach((node) => {
    critical[node] = 1;
  });
  const order = inOrder(count, (a, b) => start(a) - start(b) || a - b);
  const data = new Leb128();
  const origin = start(order[0]) - first;
  let before = start(order[0]);
  for (let n = 0; n < count; n++) {
    const i = order[n];
    const since = Math.max(0, Math.round(start(i) - before));
    before += since;
    data.push(laneIds[i]);
    data.push(2 * symbol(i) + (critical[i] ?? 0));
    data.push(since);
    data.push(Math.round(at(ends, i) - start(i)));
  }
  const symbols = [...r.kernels.values, ...r.directions.values, ...r.callNames.values];
  return { count, origin, lanes, symbols, omittedCalls: a.omitted, data: data.base64() };
}
