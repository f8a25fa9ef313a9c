// Room `profile/export`: profiles in other tools' formats: a timeline for Perfetto, profiles for speedscope.
// Begin with either file; they are independent.
//
// Timelines in the Trace Event JSON format that Perfetto and chrome://tracing open. Source: "Trace Event Format" document.
import { type Recording, Timing } from '../recording.ts';

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
  const d = recording.dispatches;
  const names = recording.kernels.values.map((name) => JSON.stringify(name));
  for (let row = 0; row < d.length; row++) {
    if (d.timing.get(row) !== Timing.KNOWN) continue;
    const { pid, tid } = lane(1, recording.queues.get(d.queue.get(row)));
    const [start, end] = [d.start.get(row), d.end.get(row)];
    batch += `,\n{"ph":"X","cat":"dispatch","name":${names[d.kernel.get(row)]},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)},"args":{"dispatch":${d.dispatchId.get(row)}}}`;
    if (batch.length > 1 << 18) {
      yield headers.splice(0).join('') + batch;
      batch = '';
    }
  }
  const c = recording.copies;
  for (let row = 0; row < c.length; row++) {
    if (c.timing.get(row) !== Timing.KNOWN) continue;
    const direction = recording.directions.get(c.direction.get(row));
    const { pid, tid } = lane(1, `copy ${direction}`);
    const [start, end] = [c.start.get(row), c.end.get(row)];
    batch += `,\n{"ph":"X","cat":"copy","name":${JSON.stringify(direction)},"pid":${pid},"tid":${tid},"ts":${micro(start - first)},"dur":${micro(end - start)}}`;
  }
  yield headers.splice(0).join('') + batch;
  yield* waveEvents(recording, lane, headers);
  yield '\n]}\n';
}

/** Thread traces: one process per trace, one thread per wave slot; a cycle is shown as a microsecond. */
function* waveEvents(
  recording: Recording,
  lane: (pid: number, name: string) => Lane,
  headers: string[],
): Generator<string> {
  let process = 2;
  for (const trace of recording.traces) {
    if (trace.waves.length === 0) continue;
    const pid = process++;
    let text = `,\n${metadata('process_name', pid, 0, `${trace.source} (1 µs = 1 cycle)`)}`;
    for (const wave of trace.waves) {
      const { tid } = lane(pid, `SE ${wave.shaderEngine} CU ${wave.cu} SIMD ${wave.simd} slot ${wave.slot}`);
      text += headers.splice(0).join('');
      text += `,\n{"ph":"X","cat":"wave","name":"wave ${wave.id}","pid":${pid},"tid":${tid},"ts":${wave.begin},"dur":${wave.end - wave.begin}}`;
      for (const i of wave.instructions) {
        const line = trace.lines[i.line];
        const name = JSON.stringify(line?.text ?? i.category);
        text += `,\n{"ph":"X","cat":${JSON.stringify(i.category)},"name":${name},"pid":${pid},"tid":${tid},"ts":${i.time},"dur":${i.duration},"args":{"stall":${i.stall}}}`;
      }
      yield text;
      text = '';
    }
    yield text;
  }
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
