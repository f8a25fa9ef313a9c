// Profiles in speedscope's file format: one evented profile per queue, one weighted profile per thread trace.
// Source: https://www.speedscope.app/file-format-schema.json.

import { heat } from '../analysis/trace-features.ts';
import type { Recording } from '../recording.ts';
import { Lanes } from './lanes.ts';
import { firstStart, timedRows } from './perfetto.ts';

/** Dispatches that are one piece of text. */
const PIECE = 4096;

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
  yield `],"shared":{"frames":[${frames.join(',')}]}}\n`;
}

/** The profiles of the queues, piece by piece; returns how many there are. */
function* queueProfiles(recording: Recording, frame: (text: string) => number): Generator<string, number> {
  const d = recording.dispatches;
  let count = 0;
  const first = firstStart(recording);
  const queues = new Map<number, number[]>();
  for (const row of timedRows(d)) {
    const rows = queues.get(d.queue.get(row)) ?? [];
    rows.push(row);
    queues.set(d.queue.get(row), rows);
  }
  for (const [queue, rows] of queues) {
    const free = new Lanes();
    const lanes: { end: number; readonly rows: number[]; readonly start: number }[] = [];
    for (const row of rows) {
      const [start, end] = [d.start.get(row) - first, d.end.get(row) - first];
      const number = free.place(start, end);
      lanes[number] ??= { end: 0, rows: [], start };
      const lane = lanes[number];
      lane.rows.push(row);
      lane.end = end;
    }
    for (const [i, lane] of lanes.entries()) {
      const title = JSON.stringify(`${recording.queues.get(queue)}${i > 0 ? ` (overlapping ${i})` : ''}`);
      yield `${count++ > 0 ? ',' : ''}{"type":"evented","name":${title},"unit":"nanoseconds","startValue":${lane.start},"endValue":${lane.end},"events":[`;
      for (let at = 0; at < lane.rows.length; at += PIECE) {
        const events = lane.rows.slice(at, at + PIECE).map((row) => {
          const id = frame(recording.kernels.get(d.kernel.get(row)));
          return `{"type":"O","frame":${id},"at":${d.start.get(row) - first}},{"type":"C","frame":${id},"at":${d.end.get(row) - first}}`;
        });
        yield (at > 0 ? ',' : '') + events.join(',');
      }
      yield ']}';
    }
  }
  return count;
}
