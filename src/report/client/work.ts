// All work of a recording, unpacked when the timeline first needs it: what lies in a window of time, one by one or as shares.
import type { PageData } from '../page-data.ts';

/** A piece of work. */
export interface WorkItem {
  readonly symbol: string;
  readonly kind: string;
  readonly lane: string;
  /** ns after the first dispatch or copy. */
  readonly start: number;
  readonly duration: number;
  readonly critical: boolean;
}

export interface WorkStore {
  readonly lanes: readonly string[];
  /** What runs in each lane: dispatch, copy or call. */
  readonly kinds: readonly string[];
  readonly omittedCalls: number;
  /** Of lanes whose later calls are only in the sums: where what is drawn ends, by lane. */
  readonly until: ReadonlyMap<string, number>;
  /** From the first start to the last end, in ns after the first dispatch or copy. */
  span(): readonly [number, number];
  /** The work of a window, undefined when it is more than `most` pieces. */
  within(from: number, to: number, most: number): WorkItem[] | undefined;
  /** The busy share of each piece of a window, by lane, of all work or of what is on the critical path. */
  busy(from: number, to: number, pieces: number, onlyCritical?: boolean): Map<string, Float64Array>;
}

/** Opens the packed work of a page, whose columns are in an element of their own; undefined when the page has none. */
export function openWork(packed: PageData['work']): WorkStore | undefined {
  if (packed === undefined || packed.count === 0) return undefined;
  const { count } = packed;
  interface Columns {
    readonly start: Float64Array;
    readonly duration: Float64Array;
    readonly lane: Uint16Array;
    readonly symbol: Int32Array;
    /** The latest end of all up to here: where a window begins is found by it. */
    readonly latest: Float64Array;
  }
  let unpacked: Columns | undefined;
  const columns = (): Columns => {
    if (unpacked !== undefined) return unpacked;
    const text = document.getElementById('bytes')?.textContent ?? '';
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    let at = 0;
    const next = (): number => {
      let value = 0;
      let scale = 1;
      for (;;) {
        const byte = bytes[at++];
        value += (byte & 127) * scale;
        if (byte < 128) return value;
        scale *= 128;
      }
    };
    const made: Columns = {
      start: new Float64Array(count),
      duration: new Float64Array(count),
      lane: new Uint16Array(count),
      symbol: new Int32Array(count),
      latest: new Float64Array(count),
    };
    let time = packed.origin;
    let latest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < count; i++) {
      made.lane[i] = next();
      made.symbol[i] = next();
      time += next();
      made.start[i] = time;
      made.duration[i] = next();
      latest = Math.max(latest, time + made.duration[i]);
      made.latest[i] = latest;
    }
    unpacked = made;
    return made;
  };
  /** The first piece that can end after `from`. */
  const firstOf = ({ latest }: Columns, from: number): number => {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (latest[middle] <= from) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    lanes: packed.lanes.map((lane) => lane.name),
    kinds: packed.lanes.map((lane) => lane.kind),
    omittedCalls: packed.omittedCalls,
    until: new Map(
      packed.lanes.flatMap((lane) => (lane.until === undefined ? [] : [[lane.name, lane.until] as const])),
    ),
    span() {
      const { start, latest } = columns();
      return [start[0], latest[count - 1]];
    },
    within(from, to, most) {
      const all = columns();
      const found: WorkItem[] = [];
      for (let i = firstOf(all, from); i < count && all.start[i] <= to; i++) {
        const [start, duration] = [all.start[i], all.duration[i]];
        if (start + duration < from) continue;
        if (found.length === most) return undefined;
        const lane = packed.lanes[all.lane[i]];
        found.push({
          symbol: packed.symbols[all.symbol[i] >> 1],
          kind: lane.kind,
          lane: lane.name,
          start,
          duration,
          critical: (all.symbol[i] & 1) === 1,
        });
      }
      return found;
    },
    busy(from, to, pieces, onlyCritical = false) {
      const all = columns();
      const each = (to - from) / pieces;
      const shares = packed.lanes.map(() => new Float64Array(pieces));
      for (let i = firstOf(all, from); i < count && all.start[i] <= to; i++) {
        if (onlyCritical && (all.symbol[i] & 1) === 0) continue;
        const begin = Math.max(0, (all.start[i] - from) / each);
        const end = Math.min(pieces, (all.start[i] + all.duration[i] - from) / each);
        const share = shares[all.lane[i]];
        for (let piece = Math.floor(begin); piece < end; piece++)
          share[piece] += Math.min(end, piece + 1) - Math.max(begin, piece);
      }
      return new Map(packed.lanes.map((lane, i) => [lane.name, shares[i]]));
    },
  };
}
