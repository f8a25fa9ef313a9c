// Room `profile/export`: profiles in other tools' formats: a timeline for Perfetto, profiles for speedscope.
// Begin with either file; they are independent.
//
// Timelines in the Trace Event JSON format that Perfetto and chrome://tracing open. Source: "Trace Event Format" document, and what
// trace_processor makes of it (src/trace_processor/importers/json): it drops slices that overlap in a lane without nesting, and all that is
// before 0.
import type { CounterTrack } from '../analysis/counter-tracks.ts';
import { inOrder } from '../analysis/order.ts';
import { copyLane, dispatchLanes, timedDomains } from '../analysis/timeline.ts';
import { RowsById } from '../columns.ts';
import { type Recording, Timing } from '../recording.ts';
import { inStartOrder, Lanes, NestingLanes } from './lanes.ts';

/** Characters of a piece of text: longer ones are expensive garbage. */
const PIECE = 1 << 16;

/** The lanes of a queue or thread, and the numbers that those have which were used. */
interface PlacedLanes {
  readonly pid: number;
  readonly name: string;
  readonly lanes: Lanes | NestingLanes;
  readonly tids: number[];
}

/** Lanes of all processes of the trace, and the text that is not written yet. */
class Writer {
  private readonly tids = new Map<string, number>();
  /** By process and name. */
  private readonly lanes: Map<string, PlacedLanes>[] = [];
  private pids = 0;
  private text = '';

  /** Adds a process of the trace; returns its number. */
  process(name: string): number {
    const pid = ++this.pids;
    this.metadata('process_name', pid, 0, name);
    return pid;
  }

  private metadata(kind: string, pid: number, tid: number, name: string): void {
    this.add(`{"ph":"M","name":"${kind}","pid":${pid},"tid":${tid},"args":{"name":${JSON.stringify(name)}}}`);
  }

  /** The lane for a piece of work: the first one of a queue or thread has its name. */
  place(pid: number, name: string, start: number, end: number, nests = false): number {
    return this.placeIn(this.lanesOf(pid, name, nests), start, end);
  }

  /** The lanes of a queue or thread. */
  lanesOf(pid: number, name: string, nests = false): PlacedLanes {
    this.lanes[pid] ??= new Map();
    let placed = this.lanes[pid].get(name);
    if (placed === undefined) {
      placed = { pid, name, lanes: nests ? new NestingLanes() : new Lanes(), tids: [] };
      this.lanes[pid].set(name, placed);
    }
    return placed;
  }

  /** The lane of these for a piece of work. */
  placeIn({ pid, name, lanes, tids }: PlacedLanes, start: number, end: number): number {
    const number = lanes.place(start, end);
    tids[number] ??= this.tid(pid, number === 0 ? name : `${name} (overlapping ${number})`);
    return tids[number];
  }

  /** The number of a lane, which is named when it is new. */
  private tid(pid: number, lane: string): number {
    const found = this.tids.get(`${pid} ${lane}`);
    if (found !== undefined) return found;
    const tid = this.tids.size + 1;
    this.tids.set(`${pid} ${lane}`, tid);
    this.metadata('thread_name', pid, tid, lane);
    return tid;
  }

  add(event: string): void {
    this.text += `,\n${event}`;
  }

  /** Whether there is enough text to be written. */
  get isFull(): boolean {
    return this.text.length > PIECE;
  }

  /** The text since the last time. */
  take(): string {
    // Only the first event has none before it.
    const text = this.begun ? this.text : this.text.slice(1);
    this.begun ||= text !== '';
    this.text = '';
    return text;
  }
  private begun = false;
}

/** The trace as pieces of text, so that a million dispatches need no million-element string. `tracks` are those of the main clock. */
export function* perfettoTrace(recording: Recording, tracks: readonly CounterTrack[] = []): Generator<string> {
  yield '{"displayTimeUnit":"ns","traceEvents":[';
  const out = new Writer();
  const domains = timedDomains(recording);
  const a = recording.callSpans;
  for (let row = 0; row < a.length; row++) if (!domains.includes(a.domain.get(row))) domains.push(a.domain.get(row));
  for (const [i, domain] of domains.entries()) {
    const clock = domains.length > 1 ? ` (${recording.domains.get(domain)}, a clock of its own)` : '';
    yield* clockEvents(recording, domain, clock, out, i === 0 ? tracks : []);
  }
  yield* waveEvents(recording, out);
  yield out.take();
  yield '\n]}\n';
}

/** All that was timed by one clock: calls, dispatches, copies, counters. */
function* clockEvents(
  recording: Recording,
  domain: number,
  clock: string,
  out: Writer,
  tracks: readonly CounterTrack[],
): Generator<string> {
  const { dispatches: d, copies: c, callSpans: a } = recording;
  const work = { dispatches: timedRows(d, domain), copies: timedRows(c, domain) };
  const calls = callRows(recording, domain);
  const begins = [
    ...(work.dispatches.length > 0 ? [d.start.get(work.dispatches[0])] : []),
    ...(work.copies.length > 0 ? [c.start.get(work.copies[0])] : []),
  ];
  const firstWork = Math.min(...begins);
  const first = Math.min(firstWork, calls.length > 0 ? a.start.get(calls[0]) : Number.POSITIVE_INFINITY);
  const flows = new Flows(recording, calls, work);
  if (calls.length > 0) {
    const pid = out.process(`API calls and markers${clock}`);
    const names = recording.callNames.values.map((name) => JSON.stringify(name));
    const laneOfCall = callLanes(recording);
    for (const row of calls) {
      const [start, end] = [a.start.get(row), a.end.get(row)];
      const tid = out.place(pid, laneOfCall(row), start, end, true);
      const name = names[a.name.get(row)];
      const flow = flows.isSource(row) ? `,"bind_id":${row + 1},"flow_out":true` : '';
      out.add(
        `{"ph":"X","cat":"call","name":${name},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)}${flow}}`,
      );
      if (out.isFull) yield out.take();
    }
  }
  if (begins.length === 0) return;
  const pid = out.process(`GPU dispatches and copies${clock}`);
  const names = recording.kernels.values.map((name) => JSON.stringify(name));
  const laneOf = dispatchLanes(recording, (name) => out.lanesOf(pid, name));
  for (const row of work.dispatches) {
    const [start, end] = [d.start.get(row), d.end.get(row)];
    const tid = out.placeIn(laneOf(row), start, end);
    out.add(
      `{"ph":"X","cat":"dispatch","name":${names[d.kernel.get(row)]},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)}${flows.into(d, row)},"args":{"dispatch":${d.dispatchId.get(row)}}}`,
    );
    if (out.isFull) yield out.take();
  }
  for (const row of work.copies) {
    const [start, end] = [c.start.get(row), c.end.get(row)];
    const tid = out.place(pid, copyLane(recording, row), start, end);
    const name = JSON.stringify(recording.directions.get(c.direction.get(row)));
    const bytes = c.bytes.get(row) < 0 ? '' : `,"args":{"bytes":${c.bytes.get(row)}}`;
    out.add(
      `{"ph":"X","cat":"copy","name":${name},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)}${flows.into(c, row)}${bytes}}`,
    );
    if (out.isFull) yield out.take();
  }
  for (const track of tracks) {
    const name = JSON.stringify(`${track.name} (${track.unit}), 0 where nothing was counted`);
    for (const [at, value] of steps(track)) {
      out.add(
        `{"ph":"C","name":${name},"pid":${pid},"ts":${micro(at + firstWork - first)},"args":{"value":${JSON.stringify(value)}}}`,
      );
      if (out.isFull) yield out.take();
    }
  }
}

/** The calls of a clock from the first start on; of equal starts the longest first, in which the others nest. */
function callRows(recording: Recording, domain: number): Int32Array {
  const a = recording.callSpans;
  const rows = Int32Array.from({ length: a.length }, (_, row) => row).filter((row) => a.domain.get(row) === domain);
  const [start, end] = [a.start.view(), a.end.view()];
  const order = inOrder(rows.length, (x, y) => {
    const [i, j] = [rows[x], rows[y]];
    return start[i] - start[j] || end[j] - end[i] || i - j;
  });
  return order.map((i) => rows[i]);
}

/** The names of the lanes of calls: the API, and the thread and process that made the call. Each is made once. */
function callLanes({ callSpans: a, callNames }: Recording): (row: number) => string {
  /** By process, thread and API. */
  const lanes = new Map<number, Map<number, string[]>>();
  return (row) => {
    const [lane, thread, process] = [a.lane.get(row), a.thread.get(row), a.process.get(row)];
    const ofProcess = lanes.get(process) ?? new Map<number, string[]>();
    if (ofProcess.size === 0) lanes.set(process, ofProcess);
    const ofThread = ofProcess.get(thread) ?? [];
    if (ofThread.length === 0) ofProcess.set(thread, ofThread);
    ofThread[lane] ??=
      `${callNames.get(lane)}${thread < 0 ? '' : ` thread ${thread}`}${process % (1 << 20) === 0 ? '' : ` (process ${process})`}`;
    return ofThread[lane];
  };
}

/** Which dispatches and copies which call launched, as far as numbers of both tell; those that begin before their call are left out. */
class Flows {
  private readonly recording: Recording;
  /** Rows of calls by their numbers, of each process. */
  private readonly calls = new Map<number, RowsById>();
  private readonly sources: Uint8Array;

  constructor(recording: Recording, calls: Int32Array, work: { dispatches: Int32Array; copies: Int32Array }) {
    this.recording = recording;
    const a = recording.callSpans;
    this.sources = new Uint8Array(a.length);
    if (calls.length === 0) return;
    for (const row of [...calls].sort((x, y) => x - y)) {
      const [process, number] = [a.process.get(row), a.correlation.get(row)];
      if (number <= 0) continue;
      const ofProcess = this.calls.get(process) ?? new RowsById();
      this.calls.set(process, ofProcess);
      ofProcess.add(number, row);
    }
    const { dispatches, copies } = recording;
    for (const [table, rows] of [[dispatches, work.dispatches] as const, [copies, work.copies] as const]) {
      for (const row of rows) {
        const call = this.callOf(table, row);
        if (call !== undefined) this.sources[call] = 1;
      }
    }
  }

  /** Whether a call launched anything. */
  isSource(call: number): boolean {
    return this.sources[call] === 1;
  }

  /** The end of an event, which ties it to its call. */
  into(table: Recording['dispatches'] | Recording['copies'], row: number): string {
    const call = this.callOf(table, row);
    return call === undefined ? '' : `,"bind_id":${call + 1},"flow_in":true`;
  }

  private callOf(table: Recording['dispatches'] | Recording['copies'], row: number): number | undefined {
    if (this.calls.size === 0) return undefined;
    const number = table.correlation.get(row);
    if (!(number > 0)) return undefined;
    const call = this.calls.get(table.process.get(row))?.find(number);
    if (call === undefined) return undefined;
    return this.recording.callSpans.start.get(call) <= table.start.get(row) ? call : undefined;
  }
}

/** A track as the values from a time on: where pieces overlap, that of the one which began last; 0 where there is none. */
function steps(track: CounterTrack): (readonly [at: number, value: number])[] {
  const found: (readonly [number, number])[] = [];
  const put = (at: number, value: number): void => {
    if (found.at(-1)?.[0] === at) found.pop();
    if (found.at(-1)?.[1] !== value) found.push([at, value]);
  };
  /** Those that have begun, the last at the end; a piece that ends before one below it is open as long as that one is drawn over. */
  const open: (readonly [end: number, value: number])[] = [];
  const closeUntil = (time: number): void => {
    for (let top = open.at(-1); top !== undefined && top[0] <= time; top = open.at(-1)) {
      open.pop();
      while (open.length > 0 && (open.at(-1) as readonly [number, number])[0] <= top[0]) open.pop();
      put(top[0], open.at(-1)?.[1] ?? 0);
    }
  };
  for (const [start, end, value] of track.points) {
    closeUntil(start);
    open.push([end, value]);
    put(start, value);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return found;
}

/** Thread traces: one process per trace, threads for the waves and for the instructions of a slot; a cycle is shown as a microsecond. */
function* waveEvents(recording: Recording, out: Writer): Generator<string> {
  for (const trace of recording.traces) {
    if (trace.waves.length === 0) continue;
    const pid = out.process(`${trace.source} (1 µs = 1 cycle)`);
    for (const wave of [...trace.waves].sort((a, b) => a.begin - b.begin)) {
      const slot = `SE ${wave.shaderEngine} CU ${wave.cu} SIMD ${wave.simd} slot ${wave.slot}`;
      const tid = out.place(pid, slot, wave.begin, wave.end);
      out.add(
        `{"ph":"X","cat":"wave","name":"wave ${wave.id}","pid":${pid},"tid":${tid},"ts":${wave.begin},"dur":${wave.end - wave.begin}}`,
      );
      for (const i of [...wave.instructions].sort((a, b) => a.time - b.time)) {
        const line = trace.lines[i.line];
        const name = JSON.stringify(line?.text ?? i.category);
        const own = out.place(pid, `${slot} instructions`, i.time, i.time + i.duration);
        out.add(
          `{"ph":"X","cat":${JSON.stringify(i.category)},"name":${name},"pid":${pid},"tid":${own},"ts":${i.time},"dur":${i.duration},"args":{"stall":${i.stall}}}`,
        );
      }
      if (out.isFull) yield out.take();
    }
  }
}

/** The rows whose times are known, of one clock or of all, by start. */
export function timedRows(table: Recording['dispatches'] | Recording['copies'], domain?: number): Int32Array {
  const timing = table.timing.view();
  const isTaken = (row: number): boolean =>
    timing[row] === Timing.KNOWN && (domain === undefined || table.domain.get(row) === domain);
  let used = 0;
  for (let row = 0; row < timing.length; row++) if (isTaken(row)) used++;
  const rows = new Int32Array(used);
  used = 0;
  for (let row = 0; row < timing.length; row++) if (isTaken(row)) rows[used++] = row;
  const start = table.start.view();
  return inStartOrder(rows, (row) => start[row]);
}

const double = new Float64Array(1);
const bits = new Uint32Array(double.buffer);
/** Which half of a double has the lowest bits: the mantissa of 1 is 0. */
double[0] = 1;
const LOW = bits[0] === 0 ? 0 : 1;
/** Three digits behind the point of each number of ns; a number of µs below a thousandth of `EXACT` has those of its ns. */
const THOUSANDTHS = Array.from({ length: 1000 }, (_, ns) => String(ns).padStart(3, '0'));
const EXACT = 1e15;

/**
 * Nanoseconds as microseconds. Readers that cut a thousand times the number off, as older Perfettos do, must come to the same: where the
 * nearest number falls short of it the next one is written.
 */
function micro(ns: number): string {
  const near = ns / 1000;
  if (Math.trunc(near * 1000) === ns || !Number.isInteger(ns)) {
    if (!(ns >= 0 && ns < EXACT && Number.isInteger(ns))) return near.toFixed(3);
    const whole = Math.floor(near);
    return `${whole}.${THOUSANDTHS[ns - 1000 * whole]}`;
  }
  double[0] = near;
  if (++bits[LOW] === 0) bits[1 - LOW]++;
  return String(double[0]);
}

/** The earliest start of any work with known times, 0 when there is none. */
export function firstStart(recording: Recording): number {
  let first = Number.POSITIVE_INFINITY;
  for (const table of [recording.dispatches, recording.copies]) {
    for (let row = 0; row < table.length; row++) {
      if (table.timing.get(row) === Timing.KNOWN) first = Math.min(first, table.start.get(row));
    }
  }
  return Number.isFinite(first) ? first : 0;
}
