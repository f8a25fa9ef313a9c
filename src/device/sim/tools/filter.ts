// Which instructions a run tool looks at: workgroups, waves, program counters.
import { WavesmithError } from '../../../base/index.ts';
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
  /** Code addresses; the last one is included. */
  readonly pc?: Range | undefined;
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

/**
 * `PLACE` or `FIRST..LAST` with places as `CodeSymbols.resolve` reads them. A single label with a size is its whole function.
 */
export function parsePcFilter(text: string, symbols: CodeSymbols): Range {
  const at = text.indexOf('..');
  if (at < 0) {
    const symbol = symbols.symbols.find((s) => s.name === text.trim());
    if (symbol !== undefined && symbol.size > 0) {
      return { first: symbol.address, last: symbol.address + symbol.size - 1 };
    }
    const pc = symbols.resolve(text);
    return { first: pc, last: pc };
  }
  const first = symbols.resolve(text.slice(0, at));
  const last = symbols.resolve(text.slice(at + 2));
  if (last < first) {
    throw new WavesmithError('run/bad-filter', `'${text}' ends before it begins.`);
  }
  return { first, last };
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
  return inside(pc, address);
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
