// Profiles in speedscope's file format: one evented profile per queue, one weighted profile per thread trace.
// Source: https://www.speedscope.app/file-format-schema.json.

import { heat } from '../analysis/trace-features.ts';
import type { Recording } from '../recording.ts';
import { Lanes } from './lanes.ts';
import { firstStart, timedRows } from './perfetto.ts';

/** Dispatches that are one piece of text: pieces of 100 kB and more are expensive garbage. */
const PIECE = 400;

/** The speedscope file as pieces of text. Work that overlaps in one queue goes to further lanes of that queue. */
export function* speedscopeFile(recording: Recording, name: string): Generator<string> {
  const frames: string[] = [];
  const ids = new Map<string, number>();
  const frame = (text: string): number => {
    let id = ids.get(text);
    if (id === undefined) {
      id = frames.length;
      ids.set(text, id);
      frames.push(JSON.stringify({ name: text }));
    }
    return id;
  };
  yield `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":${JSON.stringify(name)},"exporter":"wavesmith","activeProfileIndex":0,"profiles":[`;
  let count = yield* queueProfiles(recording, frame);
  for (const trace of recording.traces) {
    const hot = trace.lines.filter((line) => heat(line) > 0);
    if (hot.length === 0) continue;
    const samples = hot.map((line) => [frame(line.kernel ?? trace.source), frame(line.text)]);
    const weights = hot.map(heat);
    const total = weights.reduce((a, b) => a + b, 0);
    yield (count++ > 0 ? ',' : '') +
      JSON.stringify({
        type: 'sampled',
        name: `${trace.source} (${trace.kind})`,
        unit: 'none',
        startValue: 0,
        endValue: total,
        samples,
        weights,
      });
  }
  yield '],"shared":{"frames":[';
  for (const [id, text] of frames.entries()) yield id > 0 ? `,${text}` : text;
  yield ']}}\n';
}

/** One profile: a queue, or the work of it that overlaps with other work of it. */
interface QueueLane {
  readonly title: string;
  readonly start: number;
  end: number;
  count: number;
}

/** The profiles of the queues, piece by piece; returns how many there are. */
function* queueProfiles(recording: Recording, frame: (text: string) => number): Generator<string, number> {
  const d = recording.dispatches;
  const first = firstStart(recording);
  const rows = timedRows(d);
  const laneOf = new Int32Array(rows.length);
  const lanes: QueueLane[] = [];
  const queues = new Map<number, { readonly free: Lanes; readonly lanes: number[] }>();
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const start = d.start.get(row) - first;
    const end = d.end.get(row) - first;
    const queue = queues.get(d.queue.get(row)) ?? { free: new Lanes(), lanes: [] };
    queues.set(d.queue.get(row), queue);
    const number = queue.free.place(start, end);
    if (queue.lanes[number] === undefined) {
      queue.lanes[number] = lanes.length;
      const overlap = number > 0 ? ` (overlapping ${number})` : '';
      lanes.push({ title: `${recording.queues.get(d.queue.get(row))}${overlap}`, start, end, count: 0 });
    }
    laneOf[i] = queue.lanes[number];
    const lane = lanes[laneOf[i]];
    lane.end = end;
    lane.count++;
  }
  const byLane = sortedByLane(rows, laneOf, lanes);
  // The lanes of a queue follow each other.
  const order = [...queues.values()].flatMap((queue) => queue.lanes);
  for (const [i, number] of order.entries()) {
    const lane = lanes[number];
    const own = byLane[number];
    yield `${i > 0 ? ',' : ''}{"type":"evented","name":${JSON.stringify(lane.title)},"unit":"nanoseconds","startValue":${lane.start},"endValue":${lane.end},"events":[`;
    for (let at = 0; at < own.length; at += PIECE) {
      let text = '';
      for (const row of own.subarray(at, at + PIECE)) {
        const id = frame(recording.kernels.get(d.kernel.get(row)));
        text += `,{"type":"O","frame":${id},"at":${d.start.get(row) - first}},{"type":"C","frame":${id},"at":${d.end.get(row) - first}}`;
      }
      yield at > 0 ? text : text.slice(1);
    }
    yield ']}';
  }
  return order.length;
}

/** The rows of each lane in their order, as parts of one array. */
function sortedByLane(rows: Int32Array, laneOf: Int32Array, lanes: readonly QueueLane[]): Int32Array[] {
  const all = new Int32Array(rows.length);
  const ends = new Int32Array(lanes.length);
  for (let i = 1; i < lanes.length; i++) ends[i] = ends[i - 1] + lanes[i - 1].count;
  for (let i = 0; i < rows.length; i++) all[ends[laneOf[i]]++] = rows[i];
  return lanes.map(({ count }, i) => all.subarray(ends[i] - count, ends[i]));
}
