// All work of a recording in few bytes, for the page: its timeline shows every dispatch when one looks close enough, also of a million.
import { type Recording, Timing } from '../recording.ts';
import type { CriticalPath } from './critical-path.ts';
import { inOrder } from './order.ts';
import { copyLane, dispatchLanes, timedDomains } from './timeline.ts';

/** Above this a page would be too large; then only the document's timeline is there. */
const MAX_PACKED = 2_000_000;

/** Dispatches, copies and API calls in the order of their starts. */
export interface PackedWork {
  readonly count: number;
  /** Start of the first one after the first dispatch or copy, in ns; negative where API calls are earlier. */
  readonly origin: number;
  readonly lanes: readonly { readonly name: string; readonly kind: 'dispatch' | 'copy' | 'call' }[];
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
    while (rest >= 128) {
      this.bytes[this.used++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.used++] = rest;
  }

  base64(): string {
    return Buffer.from(this.bytes.buffer, 0, this.used).toString('base64');
  }
}

/**
 * Packs the work of the recording's main clock; undefined where there is none, or too much. The nodes of the critical path are numbered as
 * they are read here: timed dispatches, then copies.
 */
export function packWork(r: Recording, path: CriticalPath | undefined): PackedWork | undefined {
  const [domain] = timedDomains(r);
  if (domain === undefined) return undefined;
  const { dispatches: d, copies: c, callSpans: a } = r;
  const names = {
    dispatch: new Map<string, number>(),
    copy: new Map<string, number>(),
    call: new Map<string, number>(),
  };
  const lanes: { name: string; kind: 'dispatch' | 'copy' | 'call' }[] = [];
  const laneId = (name: string, kind: 'dispatch' | 'copy' | 'call'): number => {
    const found = names[kind].get(name);
    if (found !== undefined) return found;
    names[kind].set(name, lanes.length);
    return lanes.push({ name, kind }) - 1;
  };
  const [kernels, directions] = [r.kernels.size, r.directions.size];
  const most = d.length + c.length + a.length;
  if (most > MAX_PACKED) return undefined;
  const [start, length] = [new Float64Array(most), new Float64Array(most)];
  const [lane, symbol] = [new Int32Array(most), new Int32Array(most)];
  let count = 0;
  const add = (from: number, to: number, own: number, name: number): void => {
    start[count] = from;
    length[count] = to - from;
    lane[count] = own;
    symbol[count++] = name;
  };
  const laneOf = dispatchLanes(r);
  for (let row = 0; row < d.length; row++) {
    if (d.timing.get(row) !== Timing.KNOWN || d.domain.get(row) !== domain) continue;
    add(d.start.get(row), d.end.get(row), laneId(laneOf(row), 'dispatch'), d.kernel.get(row));
  }
  for (let row = 0; row < c.length; row++) {
    if (c.timing.get(row) !== Timing.KNOWN || c.domain.get(row) !== domain) continue;
    add(c.start.get(row), c.end.get(row), laneId(copyLane(r, row), 'copy'), kernels + c.direction.get(row));
  }
  let first = Number.POSITIVE_INFINITY;
  for (let i = 0; i < count; i++) first = Math.min(first, start[i]);
  for (let row = 0; row < a.length; row++) {
    if (a.domain.get(row) !== domain) continue;
    const own = laneId(r.callNames.get(a.lane.get(row)), 'call');
    add(a.start.get(row), a.end.get(row), own, kernels + directions + a.name.get(row));
  }
  const critical = new Uint8Array(most);
  path?.path.forEach((node) => {
    critical[node] = 1;
  });
  const order = inOrder(count, (a, b) => start[a] - start[b] || a - b);
  const data = new Leb128();
  const origin = start[order[0]] - first;
  let before = start[order[0]];
  for (let at = 0; at < count; at++) {
    const i = order[at];
    const since = Math.max(0, Math.round(start[i] - before));
    before += since;
    data.push(lane[i]);
    data.push(2 * symbol[i] + critical[i]);
    data.push(since);
    data.push(Math.round(length[i]));
  }
  const symbols = [...r.kernels.values, ...r.directions.values, ...r.callNames.values];
  return { count, origin, lanes, symbols, omittedCalls: a.omitted, data: data.base64() };
}
