// Decoded thread traces: the `ui_output_…` folder of rocprofv3 --att (code.json with 10 or 13 columns, wave files, wave states,
// occupancy, perf counters, other SIMDs, source copies) and its stats CSV, streamed. Source: rocprofiler-sdk source/lib/att-tool,
// rocprof-compute-viewer (wave states). On gfx9 latency = stall + issue.
import { WavesmithError } from '../../base/index.ts';
import { f64 } from '../columns.ts';
import type { Recording } from '../recording.ts';
import type {
  OccupancyEvent,
  OtherSimdSum,
  ThreadTrace,
  TraceLine,
  TraceWave,
  WaveInstruction,
  WaveStates,
} from '../records.ts';
import { type ByteSource, baseName, dirName, type ProfileFile } from '../source.ts';
import { readSourceCopies } from './att-sources.ts';
import { readCsv } from './csv.ts';
import { type Json, streamJson } from './json-stream.ts';
import { badRow, textProblems } from './row-problems.ts';
import { kernelName, number } from './values.ts';

const MAX_WAVES = 256;
/** Instructions and states of all waves together that are kept one by one. */
const MAX_WAVE_ENTRIES = 1 << 19;
const MAX_OCCUPANCY = 1 << 19;
/** Points of one wave state; the rest of a longer recording is left out and reported. */
const MAX_STATE_POINTS = 1 << 20;
/** Points that are kept of them. */
const SHOWN_STATE_POINTS = 2000;

/** Stall reasons of PC sampling in the order of `rocprofiler_pc_sampling_instruction_not_issued_reason_t`. */
export const STALL_REASONS = [
  'NONE',
  'NO_INSTRUCTION_AVAILABLE',
  'ALU_DEPENDENCY',
  'WAITCNT',
  'INTERNAL_INSTRUCTION',
  'BARRIER_WAIT',
  'ARBITER_NOT_WIN',
  'ARBITER_WIN_EX_STALL',
  'OTHER_WAIT',
  'SLEEP_WAIT',
] as const;

/** Types of tokens, by number. */
export const TOKEN_TYPES = [
  'none',
  'SMEM',
  'SALU',
  'VMEM',
  'FLAT',
  'LDS',
  'VALU',
  'JUMP',
  'NEXT',
  'IMMED',
  'context',
  'MSG',
  'BVH',
];
/** States of a wave, by number. */
export const STATES = ['empty', 'idle', 'exec', 'wait', 'stall'];

function cells(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function num(value: Json): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function text(value: Json): string {
  return typeof value === 'string' ? value : '';
}

function badShape(file: string, why: string): WavesmithError {
  return new WavesmithError('att/bad-code', `${file} is not the code of a thread trace: ${why}.`, {
    file,
    hint: 'Give the ui_output folder that rocprofv3 --att wrote.',
  });
}

const COLUMNS = [
  'isa',
  'linenumber',
  'source',
  'codeobj',
  'vaddr',
  'hit',
  'latency',
  'stall',
  'idle',
  'pc_issued',
  'pc_stalled',
  'stall_reasons',
] as const;

/** The columns of `code.json`: the header is one text or a list, before or after the code. */
function codeColumns(source: ByteSource): number[] {
  let header: readonly string[] = [];
  streamJson(source, ['$.header'], (_path, value) => {
    header = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : cells(value).map(text);
  });
  return COLUMNS.map((name) => header.findIndex((h) => h.toLowerCase() === name));
}

/** Reads the rows of `code.json`, columns by header name. */
export function readCodeJson(source: ByteSource): {
  lines: TraceLine[];
  byNumber: Map<number, number>;
  sampled: boolean;
} {
  const [isa, lineNumber, src, object, address, hit, latency, stall, idle, issued, stalled, reasons] =
    codeColumns(source);
  const lines: TraceLine[] = [];
  const byNumber = new Map<number, number>();
  let kernel: string | undefined;
  let code: Json;
  const known = isa >= 0 && hit >= 0 && latency >= 0;
  streamJson(source, ['$.code', '$.code.*'], (path, row) => {
    if (path.length === 2) {
      code = row;
      return;
    }
    if (!known) throw badShape(source.path, 'header or code is missing');
    const c = cells(row);
    const instruction = text(c[isa]);
    if (instruction.startsWith(';')) {
      kernel = kernelName(text(c[src]) || instruction.replace(/^;\s*/, ''));
      return;
    }
    byNumber.set(num(c[lineNumber]), lines.length);
    lines.push({
      text: instruction,
      source: text(c[src]),
      codeObject: num(c[object]),
      address: num(c[address]),
      hits: num(c[hit]),
      latency: num(c[latency]),
      stall: num(c[stall]),
      idle: num(c[idle]),
      pcIssued: issued < 0 ? undefined : num(c[issued]),
      pcStalled: stalled < 0 ? undefined : num(c[stalled]),
      stallReasons: reasons < 0 ? undefined : cells(c[reasons]).map(num),
      kernel,
    });
  });
  // `null` when no wave ran where the trace was taken.
  if (code !== null && (!Array.isArray(code) || !known)) throw badShape(source.path, 'header or code is missing');
  const sampled = lines.some((line) => (line.pcIssued ?? 0) + (line.pcStalled ?? 0) > 0);
  return { lines, byNumber, sampled };
}

/** What is left to keep of wave entries, over all waves of a folder. */
interface Room {
  left: number;
  cut: boolean;
}

function readWave(
  source: ByteSource,
  byNumber: ReadonlyMap<number, number>,
  shaderEngine: number,
  room: Room,
): TraceWave | undefined {
  const fields = new Map<string, number>();
  const instructions: WaveInstruction[] = [];
  const timeline: (readonly [string, number])[] = [];
  let isWave = false;
  const keep = (): boolean => {
    if (room.left > 0) room.left--;
    else room.cut = true;
    return !room.cut;
  };
  const lists = ['$.wave.instructions.*', '$.wave.timeline.*', '$.wave.waitcnt.*'];
  streamJson(source, ['$.wave.*', ...lists], (path, value) => {
    const [, , name] = path;
    isWave = true;
    if (path.length === 3) {
      if (typeof value === 'number') fields.set(String(name), num(value));
    } else if (name === 'instructions' && keep()) {
      const [time, category, stall, duration, line] = cells(value).map(num);
      const named = TOKEN_TYPES[category] ?? `category ${category}`;
      instructions.push({ time, category: named, stall, duration, line: byNumber.get(line) ?? -1 });
    } else if (name === 'timeline' && keep()) {
      const [state, duration] = cells(value).map(num);
      timeline.push([STATES[state] ?? `state ${state}`, duration]);
    }
  });
  if (!isWave) return undefined;
  const field = (name: string): number => fields.get(name) ?? 0;
  return {
    shaderEngine,
    cu: field('cu'),
    simd: field('simd'),
    slot: field('slot'),
    id: field('id'),
    begin: field('begin'),
    end: field('end'),
    instructions,
    timeline,
  };
}

/** How the times of a wave contradict each other; undefined when they do not. A wave's instructions come in order, within its life if that is told. */
function damageOf({ begin, end, instructions }: TraceWave): string | undefined {
  const isTold = begin !== 0 || end !== 0;
  if (end < begin) return `ends (${end}) before it begins (${begin})`;
  let before = begin;
  for (const { time } of instructions) {
    if (time < before) return `has an instruction at ${time} behind one at ${before}`;
    if (isTold && time > end) return `has an instruction at ${time}, and ends at ${end}`;
    before = time;
  }
  return undefined;
}

/** Says which instructions of a wave stall for longer than they take, or are of lines that the code does not have. */
function checkInstructions({ instructions }: TraceWave, file: string, recording: Recording): void {
  const wrong = instructions.filter(({ stall, duration }) => stall < 0 || stall > duration).length;
  if (wrong > 0) {
    recording.report('att/bad-cycles', file, `${wrong} instructions of the wave stall for longer than they take.`);
  }
  const unknown = instructions.filter(({ line }) => line < 0).length;
  if (unknown > 0) {
    recording.report(
      'att/unknown-lines',
      file,
      `${unknown} instructions of the wave are of lines that code.json lacks.`,
    );
  }
}

/** Reads `wstates<n>.json`: how many waves are in one state over time. */
function readWaveStates(source: ByteSource, index: number, recording: Recording): WaveStates {
  const [times, counts] = [f64(), f64()];
  let name = '';
  streamJson(source, ['$.name', '$.time.*', '$.state.*'], (path, value) => {
    if (path[1] === 'name') name = text(value);
    else {
      const column = path[1] === 'time' ? times : counts;
      if (column.length < MAX_STATE_POINTS) column.push(num(value));
    }
  });
  if (times.length !== counts.length || times.length >= MAX_STATE_POINTS) {
    const what = times.length >= MAX_STATE_POINTS ? 'is longer than what is read' : 'has times without states';
    recording.report('att/bad-states', source.path, `The recording of wave states ${what}.`);
  }
  const n = Math.min(times.length, counts.length);
  const step = Math.max(1, Math.ceil(n / SHOWN_STATE_POINTS));
  const points: (readonly [number, number])[] = [];
  for (let i = 0; i < n; i += step) points.push([times.get(i), counts.get(i)]);
  return { state: STATES[index] ?? (name || `state ${index}`), points };
}

/** Whether a file starts like the instructions of another SIMD, which thread traces of gfx10 and later have. */
export function isOtherSimd(start: string): boolean {
  return /^\s*\{\s*"type"\s*:\s*"OTHER_SIMD_INSTRUCTIONS"/.test(start);
}

/** Adds the instructions of another SIMD, by category. */
function readOtherSimd(source: ByteSource, sums: Map<string, OtherSimdSum>): void {
  streamJson(source, ['$.instructions.*'], (_path, value) => {
    const [, cycles, category] = cells(value).map(num);
    const name = TOKEN_TYPES[category] ?? `category ${category}`;
    const sum = sums.get(name) ?? { category: name, instructions: 0, cycles: 0 };
    sums.set(name, { category: name, instructions: sum.instructions + 1, cycles: sum.cycles + cycles });
  });
}

function isOtherSimdFile(file: ProfileFile): boolean {
  return file.open((source) => isOtherSimd(new TextDecoder().decode(source.read(0, 256))));
}

/** Whether a file starts like the code of a trace, whatever its name. */
export function isAttCode(start: string): boolean {
  if (/^\s*\{\s*"code"\s*:\s*(?:null\b|\[\s*\[\s*"|\[\s*$)/.test(start)) return true;
  return /^\s*\{\s*"(?:header|version)"\s*:/.test(start) && /"header"\s*:\s*(?:\[\s*)?"ISA\b/.test(start);
}

/** Reads one decoded trace folder, given its code and all files in it. */
export function readAttFolder(codeFile: ProfileFile, files: readonly ProfileFile[], recording: Recording): void {
  const code = codeFile.open(readCodeJson);
  const waves: TraceWave[] = [];
  const occupancy: OccupancyEvent[] = [];
  const waveStates: WaveStates[] = [];
  const otherSimd = new Map<string, OtherSimdSum>();
  const room: Room = { left: MAX_WAVE_ENTRIES, cut: false };
  let omittedWaves = 0;
  let samples = 0;
  let names: string[] = [];
  for (const file of files) {
    const name = baseName(file.path);
    const wave = /^se(\d+)_sm\d+_sl\d+_wv\d+\.json$/.exec(name);
    const states = /^wstates(\d+)\.json$/.exec(name);
    if (wave !== null) {
      if (waves.length >= MAX_WAVES || room.cut) omittedWaves++;
      else {
        const read = file.open((source) => readWave(source, code.byNumber, Number(wave[1]), room));
        const damage = read === undefined ? 'has no wave' : damageOf(read);
        if (read === undefined || damage !== undefined) {
          recording.report('att/bad-wave', file.path, `The wave file ${damage}.`);
        } else {
          waves.push(read);
          checkInstructions(read, file.path, recording);
        }
      }
    } else if (states !== null) {
      waveStates.push(file.open((source) => readWaveStates(source, Number(states[1]), recording)));
    } else if (name === 'occupancy.json') file.open((source) => readOccupancy(source, occupancy));
    else if (/^se\d+_perfcounter\.json$/.test(name)) {
      file.open((source) => streamJson(source, ['$.data.*'], () => samples++));
    } else if (name === 'filenames.json') {
      file.open((source) =>
        streamJson(source, ['$.counter_names'], (_path, value) => {
          names = cells(value).map(text);
        }),
      );
    } else if (name.endsWith('.json') && file !== codeFile && isOtherSimdFile(file)) {
      file.open((source) => readOtherSimd(source, otherSimd));
    }
  }
  if (room.cut) {
    const message = `Only ${MAX_WAVE_ENTRIES} instructions and states of waves are kept one by one; the sums have all.`;
    recording.report('att/cut', codeFile.path, message);
  }
  checkAccounting(code.lines, codeFile.path, recording);
  recording.traces.push({
    source: dirName(codeFile.path) || codeFile.path,
    kind: code.sampled && !code.lines.some((line) => line.hits > 0) ? 'pc-sampling' : 'att',
    lines: readSourceCopies(code.lines, files, recording),
    waves,
    occupancy: occupancy.sort((a, b) => a.time - b.time),
    perfCounters: { names, samples },
    omittedWaves,
    waveStates,
    otherSimd: [...otherSimd.values()],
  });
}

function readOccupancy(source: ByteSource, occupancy: OccupancyEvent[]): void {
  streamJson(source, ['$.*.*'], (path, value) => {
    const se = String(path[1]);
    if (!/^\d+$/.test(se) || occupancy.length >= MAX_OCCUPANCY) return;
    const [time, cu, simd, slot, start] = cells(value).map(num);
    occupancy.push({ time, shaderEngine: Number(se), cu, simd, slot, start: start !== 0 });
  });
}

/** Latency contains the stall, and is at least a cycle an execution; a line where it is not is reported. */
function checkAccounting(lines: readonly TraceLine[], file: string, recording: Recording): void {
  const wrong = lines.filter(
    ({ stall, latency, idle, hits }) =>
      stall > latency || latency < 0 || stall < 0 || idle < 0 || (latency > 0 && latency < hits),
  );
  if (wrong.length > 0) {
    recording.report(
      'att/bad-cycles',
      file,
      `${wrong.length} lines stall longer than their latency, take less than a cycle an execution, or count below zero.`,
    );
  }
}

/** Reads `stats_ui_output_….csv`: the per-instruction sums without the waves. */
export function readAttStats(source: ByteSource, recording: Recording): void {
  const lines: TraceLine[] = [];
  readCsv(
    source,
    (h) => {
      const at = ['Codeobj', 'Vaddr', 'Instruction', 'Source', 'Idle', 'Latency', 'Stall'].map((name) => h.at(name));
      const hits = h.at('Hitcount', 'Hit');
      return (row) => {
        const value = (index: number) => (index < 0 ? 0 : (number(row[index]) ?? Number.NaN));
        const [latency, stall, idle, hit] = [value(at[5]), value(at[6]), value(at[4]), value(hits)];
        if (row.length !== h.names.length || Number.isNaN(latency + stall + idle + hit)) {
          return badRow(recording, source.path, 'a cell is not a number');
        }
        const vaddr = row[at[1]] ?? '';
        lines.push({
          text: row[at[2]] ?? '',
          source: at[3] < 0 ? '' : row[at[3]],
          codeObject: at[0] < 0 ? 0 : (number(row[at[0]]) ?? 0),
          address: /^0x[0-9a-fA-F]{1,13}$/.test(vaddr) ? Number.parseInt(vaddr, 16) : (number(vaddr) ?? 0),
          hits: hit,
          latency,
          stall,
          idle,
          pcIssued: undefined,
          pcStalled: undefined,
          stallReasons: undefined,
          kernel: undefined,
        });
      };
    },
    textProblems(source.path, recording),
  );
  checkAccounting(lines, source.path, recording);
  const trace: ThreadTrace = {
    source: source.path,
    kind: 'att-stats',
    lines,
    waves: [],
    occupancy: [],
    perfCounters: { names: [], samples: 0 },
    omittedWaves: 0,
  };
  recording.traces.push(trace);
}
