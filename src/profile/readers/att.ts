// Decoded thread traces: the `ui_output_…` folder of rocprofv3 --att (code.json with 10 or 13 columns, wave files, occupancy,
// perf counters) and its stats CSV. Source: rocprofiler-sdk source/lib/att-tool. On gfx9 latency = stall + issue.
import { WavesmithError } from '../../base/index.ts';
import type { OccupancyEvent, Recording, ThreadTrace, TraceLine, TraceWave } from '../recording.ts';
import { type ByteSource, baseName, dirName, type ProfileFile, readWhole } from '../source.ts';
import { readCsv } from './csv.ts';
import { badRow } from './rocprofv3-csv.ts';
import { number } from './values.ts';

const MAX_JSON = 256 << 20;
const MAX_WAVES = 256;
const MAX_OCCUPANCY = 1 << 20;

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

const CATEGORIES = [
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
const STATES = ['empty', 'idle', 'exec', 'wait', 'stall'];

type Json = unknown;

function parse(source: ByteSource): Json {
  const text = new TextDecoder().decode(readWhole(source, MAX_JSON));
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new WavesmithError('profile/bad-json', `${source.path} is not complete JSON: ${(error as Error).message}.`, {
      file: source.path,
      hint: 'The file is truncated or damaged; get a fresh copy.',
    });
  }
}

function member(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, Json>)[name];
}

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

/** Reads the rows of `code.json`, columns by header name. */
export function readCodeJson(source: ByteSource): {
  lines: TraceLine[];
  byNumber: Map<number, number>;
  sampled: boolean;
} {
  const root = parse(source);
  const rawHeader = member(root, 'header');
  const header =
    typeof rawHeader === 'string' ? rawHeader.split(',').map((name) => name.trim()) : cells(rawHeader).map(text);
  const at = (name: string) => header.findIndex((h) => h.toLowerCase() === name);
  const [isa, lineNumber, src, object, address, hit, latency, stall, idle, issued, stalled, reasons] = [
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
  ].map(at);
  const code = member(root, 'code');
  if (code === null) return { lines: [], byNumber: new Map(), sampled: false };
  if (!Array.isArray(code) || isa < 0 || hit < 0 || latency < 0)
    throw badShape(source.path, 'header or code is missing');
  const lines: TraceLine[] = [];
  const byNumber = new Map<number, number>();
  let kernel: string | undefined;
  for (const row of code) {
    const c = cells(row);
    const instruction = text(c[isa]);
    if (instruction.startsWith(';')) {
      kernel = text(c[src]) || instruction.replace(/^;\s*/, '');
      continue;
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
  }
  const sampled = lines.some((line) => (line.pcIssued ?? 0) + (line.pcStalled ?? 0) > 0);
  return { lines, byNumber, sampled };
}

function readWave(
  source: ByteSource,
  byNumber: ReadonlyMap<number, number>,
  shaderEngine: number,
): TraceWave | undefined {
  const wave = member(parse(source), 'wave');
  if (wave === undefined) return undefined;
  return {
    shaderEngine,
    cu: num(member(wave, 'cu')),
    simd: num(member(wave, 'simd')),
    slot: num(member(wave, 'slot')),
    id: num(member(wave, 'id')),
    begin: num(member(wave, 'begin')),
    end: num(member(wave, 'end')),
    instructions: cells(member(wave, 'instructions')).map((entry) => {
      const [time, category, stall, duration, line] = cells(entry).map(num);
      return {
        time,
        category: CATEGORIES[category] ?? `category ${category}`,
        stall,
        duration,
        line: byNumber.get(line) ?? -1,
      };
    }),
    timeline: cells(member(wave, 'timeline')).map((entry) => {
      const [state, duration] = cells(entry).map(num);
      return [STATES[state] ?? `state ${state}`, duration] as const;
    }),
  };
}

/** Reads one decoded trace folder, given the files in it. */
export function readAttFolder(files: readonly ProfileFile[], recording: Recording): void {
  const codeFile = files.find((file) => baseName(file.path) === 'code.json');
  if (codeFile === undefined) return;
  const code = codeFile.open(readCodeJson);
  const waves: TraceWave[] = [];
  const occupancy: OccupancyEvent[] = [];
  let omittedWaves = 0;
  let samples = 0;
  let names: string[] = [];
  for (const file of files) {
    const name = baseName(file.path);
    const wave = /^se(\d+)_sm\d+_sl\d+_wv\d+\.json$/.exec(name);
    if (wave !== null) {
      if (waves.length >= MAX_WAVES) omittedWaves++;
      else {
        const read = file.open((source) => readWave(source, code.byNumber, Number(wave[1])));
        if (read !== undefined) waves.push(read);
        else recording.report('att/bad-wave', file.path, 'The wave file has no wave.');
      }
    } else if (name === 'occupancy.json') {
      const root = file.open(parse);
      for (const [se, rows] of typeof root === 'object' && root !== null ? Object.entries(root) : []) {
        if (!/^\d+$/.test(se)) continue;
        for (const row of cells(rows)) {
          const [time, cu, simd, slot, start] = cells(row).map(num);
          if (occupancy.length < MAX_OCCUPANCY) {
            occupancy.push({ time, shaderEngine: Number(se), cu, simd, slot, start: start !== 0 });
          }
        }
      }
    } else if (/^se\d+_perfcounter\.json$/.test(name)) samples += cells(member(file.open(parse), 'data')).length;
    else if (name === 'filenames.json') names = cells(member(file.open(parse), 'counter_names')).map(text);
  }
  checkAccounting(code.lines, codeFile.path, recording);
  recording.traces.push({
    source: dirName(codeFile.path) || codeFile.path,
    kind: code.sampled && !code.lines.some((line) => line.hits > 0) ? 'pc-sampling' : 'att',
    lines: code.lines,
    waves,
    occupancy: occupancy.sort((a, b) => a.time - b.time),
    perfCounters: { names, samples },
    omittedWaves,
  });
}

/** Latency contains the stall; a line where it does not is reported. */
function checkAccounting(lines: readonly TraceLine[], file: string, recording: Recording): void {
  const wrong = lines.filter(
    (line) => line.stall > line.latency || line.latency < 0 || line.stall < 0 || line.idle < 0,
  );
  if (wrong.length > 0) {
    recording.report(
      'att/bad-cycles',
      file,
      `${wrong.length} lines stall longer than their latency or count below zero.`,
    );
  }
}

/** Reads `stats_ui_output_….csv`: the per-instruction sums without the waves. */
export function readAttStats(source: ByteSource, recording: Recording): void {
  const lines: TraceLine[] = [];
  readCsv(source, (h) => {
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
  });
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
