// Room `profile/export`: profiles in other tools' formats: a timeline for Perfetto, profiles for speedscope.
// Begin with either file; they are independent.
//
// Timelines in the Trace Event JSON format that Perfetto and chrome://tracing open. Source: "Trace Event Format" document.
import { type Recording, Timing } from '../recording.ts';
import { inStartOrder, Lanes } from './lanes.ts';

/** Characters of a piece of text: longer ones are expensive garbage. */
const PIECE = 1 << 16;

interface Lane {
  readonly pid: number;
  readonly tid: number;
}

/** The trace as pieces of text, so that a million dispatches need no million-element string. */
export function* perfettoTrace(recording: Recording): Generator<string> {
  yield '{"displayTimeUnit":"ns","traceEvents":[\n';
  yield metadata('process_name', 1, 0, 'GPU dispatches and copies');
  const lanes = new Map<string, Lane>();
  const headers: string[] = [];
  const lane = (pid: number, name: string): Lane => {
    let found = lanes.get(`${pid} ${name}`);
    if (found === undefined) {
      found = { pid, tid: lanes.size + 1 };
      lanes.set(`${pid} ${name}`, found);
      headers.push(`,\n${metadata('thread_name', pid, found.tid, name)}`);
    }
    return found;
  };
  const first = firstStart(recording);
  let batch = '';
  const queues = new Map<string, Lanes>();
  /** The lane of a piece of work: a queue's first one has its name. */
  const place = (pid: number, name: string, start: number, end: number): Lane => {
    const key = `${pid} ${name}`;
    let lanes = queues.get(key);
    if (lanes === undefined) {
      lanes = new Lanes();
      queues.set(key, lanes);
    }
    const number = lanes.place(start, end);
    return lane(pid, number === 0 ? name : `${name} (overlapping ${number})`);
  };
  const d = recording.dispatches;
  const names = recording.kernels.values.map((name) => JSON.stringify(name));
  for (const row of timedRows(d)) {
    const start = d.start.get(row);
    const end = d.end.get(row);
    const { pid, tid } = place(1, recording.queues.get(d.queue.get(row)), start, end);
    batch += `,\n{"ph":"X","cat":"dispatch","name":${names[d.kernel.get(row)]},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)},"args":{"dispatch":${d.dispatchId.get(row)}}}`;
    if (batch.length > PIECE) {
      yield headers.splice(0).join('') + batch;
      batch = '';
    }
  }
  const c = recording.copies;
  for (const row of timedRows(c)) {
    const direction = recording.directions.get(c.direction.get(row));
    const [start, end] = [c.start.get(row), c.end.get(row)];
    const { pid, tid } = place(1, `copy ${direction}`, start, end);
    batch += `,\n{"ph":"X","cat":"copy","name":${JSON.stringify(direction)},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)}}`;
    if (batch.length > PIECE) {
      yield headers.splice(0).join('') + batch;
      batch = '';
    }
  }
  yield headers.splice(0).join('') + batch;
  yield* waveEvents(recording, place, headers);
  yield '\n]}\n';
}

/** Thread traces: one process per trace, threads for the waves and for the instructions of a slot; a cycle is shown as a microsecond. */
function* waveEvents(
  recording: Recording,
  place: (pid: number, name: string, start: number, end: number) => Lane,
  headers: string[],
): Generator<string> {
  let process = 2;
  for (const trace of recording.traces) {
    if (trace.waves.length === 0) continue;
    const pid = process++;
    let text = `,\n${metadata('process_name', pid, 0, `${trace.source} (1 µs = 1 cycle)`)}`;
    for (const wave of [...trace.waves].sort((a, b) => a.begin - b.begin)) {
      const slot = `SE ${wave.shaderEngine} CU ${wave.cu} SIMD ${wave.simd} slot ${wave.slot}`;
      const { tid } = place(pid, slot, wave.begin, wave.end);
      text += headers.splice(0).join('');
      text += `,\n{"ph":"X","cat":"wave","name":"wave ${wave.id}","pid":${pid},"tid":${tid},"ts":${wave.begin},"dur":${wave.end - wave.begin}}`;
      for (const i of [...wave.instructions].sort((a, b) => a.time - b.time)) {
        const line = trace.lines[i.line];
        const name = JSON.stringify(line?.text ?? i.category);
        const own = place(pid, `${slot} instructions`, i.time, i.time + i.duration).tid;
        text += headers.splice(0).join('');
        text += `,\n{"ph":"X","cat":${JSON.stringify(i.category)},"name":${name},"pid":${pid},"tid":${own},"ts":${i.time},"dur":${i.duration},"args":{"stall":${i.stall}}}`;
      }
      yield text;
      text = '';
    }
    yield text;
  }
}

/** The rows whose times are known, by start. */
export function timedRows(table: Recording['dispatches'] | Recording['copies']): Int32Array {
  const timing = table.timing.view();
  const rows = new Int32Array(timing.reduce((n, state) => n + (state === Timing.KNOWN ? 1 : 0), 0));
  let used = 0;
  for (let row = 0; row < timing.length; row++) if (timing[row] === Timing.KNOWN) rows[used++] = row;
  const start = table.start.view();
  return inStartOrder(rows, (row) => start[row]);
}

function metadata(name: string, pid: number, tid: number, value: string): string {
  return `{"ph":"M","name":"${name}","pid":${pid},"tid":${tid},"args":{"name":${JSON.stringify(value)}}}`;
}

function micro(ns: number): string {
  return (ns / 1000).toFixed(3);
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
