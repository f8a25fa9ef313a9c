// Which instructions a run tool looks at: workgroups, waves, program counters.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugLines } from '../../../codeobject/index.ts';
import { LANES } from '../state/wave.ts';
import type { CodeSymbols } from './symbols.ts';

/** Inclusive bounds. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Undefined fields match everything. */
export interface TraceFilter {
  /** Per dimension x, y, z; missing dimensions match everything. */
  readonly workgroup?: readonly Range[] | undefined;
  /** Position of the wave in its workgroup. */
  readonly wave?: Range | undefined;
  /** Code addresses; the last one of each range is included. */
  readonly pc?: readonly Range[] | undefined;
}

const MAX = 2 ** 32 - 1;

function parseRange(text: string, what: string): Range {
  const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || last < first || last > MAX) {
    throw new WavesmithError('run/bad-filter', `'${text}' is not a ${what}: N or FIRST-LAST.`);
  }
  return { first, last };
}

/** `X`, `X,Y`, `X,Y,Z`, each a number, a range `FIRST-LAST` or `*`. */
export function parseWorkgroupFilter(text: string): readonly Range[] {
  const parts = text.split(',');
  if (parts.length > 3) {
    throw new WavesmithError('run/bad-filter', `'${text}' has more than the three dimensions of a workgroup id.`);
  }
  return parts.map((part) => (part.trim() === '*' ? { first: 0, last: MAX } : parseRange(part, 'workgroup')));
}

/** `N` or `FIRST-LAST`. */
export function parseWaveFilter(text: string): Range {
  return parseRange(text, 'wave');
}

/** What names places of a filter. */
export interface FilterNames {
  readonly symbols: CodeSymbols;
  readonly lines: DebugLines | undefined;
}

/**
 * `PLACE` or `FIRST..LAST` with places as `CodeSymbols.resolve` reads them, or FILE:LINE: all instructions that were made from that line, or the next one
 * that has some. A single label with a size is its whole function.
 */
export function parsePcFilter(text: string, names: FilterNames): readonly Range[] {
  const at = text.indexOf('..');
  if (at < 0) return rangesOf(text, names);
  const first = Math.min(...rangesOf(text.slice(0, at), names).map((range) => range.first));
  const end = rangesOf(text.slice(at + 2), names);
  // A label ends a range with its first instruction.
  const isLine = LINE.test(text.slice(at + 2));
  const last = isLine ? Math.max(...end.map((range) => range.last)) : (end[0] as Range).first;
  if (last < first) {
    throw new WavesmithError('run/bad-filter', `'${text}' ends before it begins.`);
  }
  return [{ first, last }];
}

const LINE = /^\s*(.+):(\d{1,7})\s*$/;

function rangesOf(text: string, { symbols, lines }: FilterNames): readonly Range[] {
  const [, file, line] = LINE.exec(text) ?? [];
  if (file !== undefined) return lineRanges(file, Number(line), { symbols, lines });
  const symbol = symbols.symbols.find((s) => s.name === text.trim());
  if (symbol !== undefined && symbol.size > 0) {
    return [{ first: symbol.address, last: symbol.address + symbol.size - 1 }];
  }
  const pc = symbols.resolve(text);
  return [{ first: pc, last: pc }];
}

/** Instructions begin at multiples of it. */
const WORD = 4;

function lineRanges(file: string, wanted: number, { symbols, lines }: FilterNames): readonly Range[] {
  const found = lines?.addresses(file, wanted);
  const own = found?.addresses[0] === undefined ? undefined : lines?.at(found.addresses[0]);
  if (own === undefined) throw noSuchLine(file, wanted, lines);
  const ranges: { first: number; last: number }[] = [];
  for (let at = symbols.first; at < symbols.end; at += WORD) {
    const line = lines?.at(at);
    if (line?.line !== own.line || line.file !== own.file) continue;
    const before = ranges.at(-1);
    if (before?.last === at - 1) before.last = at + WORD - 1;
    else ranges.push({ first: at, last: at + WORD - 1 });
  }
  return ranges;
}

/** Nothing was made from a line of the source. */
export function noSuchLine(file: string, line: number | string, lines: DebugLines | undefined): WavesmithError {
  const files = lines?.files() ?? [];
  return new WavesmithError('run/no-such-place', `No instruction was made from ${file}:${line}.`, {
    hint:
      files.length === 0
        ? 'The code object has no debug information: compile with -g.'
        : `Source files: ${files.slice(0, 8).join(', ')}.`,
  });
}

/** Refuses a filter that no wave of a dispatch can pass. */
export function checkFilter(
  { workgroup = [], wave }: TraceFilter,
  grid: readonly number[],
  block: readonly number[],
): void {
  for (const [i, range] of workgroup.entries()) {
    if (range.first < (grid[i] as number)) continue;
    throw new WavesmithError(
      'run/bad-filter',
      `The grid of ${grid.join('×')} workgroups has none with ${'xyz'[i]} = ${range.first}.`,
    );
  }
  const waves = Math.ceil(block.reduce((product, n) => product * n, 1) / LANES);
  if (wave !== undefined && wave.first >= waves) {
    throw new WavesmithError(
      'run/bad-filter',
      `A workgroup has ${waves} wave${waves === 1 ? '' : 's'}, and none is ${wave.first}.`,
    );
  }
}

const inside = (range: Range | undefined, value: number): boolean =>
  range === undefined || (value >= range.first && value <= range.last);

/** Whether a filter takes instructions of a wave. */
export function matchesWave(filter: TraceFilter, workgroup: readonly [number, number, number], wave: number): boolean {
  return (
    inside(filter.wave, wave) &&
    (filter.workgroup === undefined || filter.workgroup.every((range, i) => inside(range, workgroup[i] as number)))
  );
}

/** Whether a filter takes the instruction at an address. */
export function matchesPc({ pc }: TraceFilter, address: number): boolean {
  return pc === undefined || pc.some((range) => inside(range, address));
}

/** Whether a filter takes an instruction. */
export function matches(
  filter: TraceFilter,
  workgroup: readonly [number, number, number],
  wave: number,
  pc: number,
): boolean {
  return matchesPc(filter, pc) && matchesWave(filter, workgroup, wave);
}
