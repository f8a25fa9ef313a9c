// A thread trace as the `ui_output_…` folder that rocprofv3 --att writes, for viewers of those and for our own reader (readers/att.ts).
// Source: rocprofiler-sdk source/lib/att-tool (code.cpp, wave.cpp, occupancy.cpp, filenames).
import { STATES, TOKEN_TYPES } from '../readers/att.ts';
import type { ThreadTrace, TraceWave } from '../records.ts';

const HEADER = 'ISA, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle';

/** The files of the folder by their names. Waves, SIMDs, slots as in `trace`; cycles. */
export function* attFolder(trace: ThreadTrace): Generator<readonly [name: string, text: string]> {
  const rows: (readonly (string | number)[])[] = [];
  const numbers: number[] = [];
  let kernel: string | undefined;
  for (const line of trace.lines) {
    if (line.kernel !== undefined && line.kernel !== kernel) {
      kernel = line.kernel;
      rows.push([`; ${kernel}`, rows.length, kernel, line.codeObject, line.address, 0, 0, 0, 0]);
    }
    numbers.push(rows.length);
    const { text, source, codeObject, address, hits, latency, stall, idle } = line;
    rows.push([text, rows.length, source, codeObject, address, hits, latency, stall, idle]);
  }
  yield ['code.json', JSON.stringify({ code: rows, version: '3.0.0', header: HEADER })];
  const waves = new Map<string, TraceWave>();
  /** By shader engine, SIMD, slot, number. */
  const names = new Tree();
  for (const wave of trace.waves) {
    const { shaderEngine, simd, slot, begin, end } = wave;
    const bySlot = names.at(shaderEngine).at(simd).at(slot);
    const number = bySlot.size;
    const name = `se${shaderEngine}_sm${simd}_sl${slot}_wv${number}.json`;
    bySlot.put(number, [name, begin, end]);
    waves.set(name, wave);
  }
  yield [
    'filenames.json',
    JSON.stringify({ wave_filenames: names, gfxip: 9, gfxv: 'vega', version: '3.0.0', counter_names: [] }),
  ];
  for (const [name, wave] of waves) yield [name, waveText(name, wave, numbers)];
  const events: Record<string, (readonly number[])[]> = {};
  for (const { time, shaderEngine, cu, simd, slot, start } of trace.occupancy) {
    events[shaderEngine] ??= [];
    events[shaderEngine].push([time, cu, simd, slot, start ? 1 : 0, 0]);
  }
  yield ['occupancy.json', JSON.stringify({ ...events, dispatches: { 0: trace.source }, version: '3.0.0' })];
}

/** Numbered branches that are made when they are asked for. */
class Tree {
  private readonly branches = new Map<number, Tree | readonly (string | number)[]>();

  get size(): number {
    return this.branches.size;
  }

  at(number: number): Tree {
    const found = this.branches.get(number);
    if (found instanceof Tree) return found;
    const made = new Tree();
    this.branches.set(number, made);
    return made;
  }

  put(number: number, leaf: readonly (string | number)[]): void {
    this.branches.set(number, leaf);
  }

  toJSON(): object {
    return Object.fromEntries(this.branches);
  }
}

function waveText(name: string, wave: TraceWave, numbers: readonly number[]): string {
  const { cu, id, simd, slot, begin, end } = wave;
  const instructions = wave.instructions.map(({ time, category, stall, duration, line }) => [
    time,
    Math.max(0, TOKEN_TYPES.indexOf(category)),
    stall,
    duration,
    numbers[line] ?? 0,
  ]);
  const timeline = wave.timeline.map(([state, cycles]) => [Math.max(0, STATES.indexOf(state)), cycles]);
  return JSON.stringify({
    name,
    duration: end - begin,
    wave: { cu, id, simd, slot, begin, end, instructions, timeline, waitcnt: [] },
  });
}
