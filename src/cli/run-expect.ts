// `wavesmith run --expect N=FILE`: buffers after the run are compared with files, and the run ends with a verdict.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import { type BufferAfter, canReadAs, elementCount, type RunFinding, readNpy } from '../device/index.ts';
import {
  type Comparison,
  compareElements,
  comparisonLines,
  type Objection,
  type Verdict,
  verdictLine,
  verdictOf,
} from '../verdict/index.ts';
import { readInput } from './support.ts';
import { addJudgeOptions, type JudgeFlags, judgeOptions } from './verdict-options.ts';

export interface ExpectOptions extends JudgeFlags {
  /** With `none` findings of the strict mode do not fail the run. */
  readonly failOn?: string;
  readonly expect: readonly string[];
}

/** Adds the flags. */
export function addExpectOptions(command: Command): void {
  command.option(
    '--expect <n=file>',
    'compare buffer argument N (from 0) with a .npy file, or with the bytes of another file; exit code 1 when it differs; repeatable',
    (value: string, all: string[]) => [...all, value],
    [],
  );
  addJudgeOptions(command);
}

/** What a buffer should hold. */
export interface Expectation {
  readonly argument: number;
  readonly path: string;
  readonly file: Uint8Array;
}

/** Reads the files of `--expect`; `count` is the number of arguments. Judging flags without it are `cli/usage`. */
export function readExpectations(options: ExpectOptions, count: number): Expectation[] {
  const { exact, tolerance, changedShare } = options;
  if (options.expect.length === 0 && (exact ?? tolerance ?? changedShare) !== undefined) {
    throw new WavesmithError('cli/usage', '--exact, --tolerance and --changed-share judge what --expect compares.', {
      hint: 'Add --expect N=FILE.',
    });
  }
  return options.expect.map((text) => {
    const match = /^(\d{1,4})=(.+)$/.exec(text);
    const [, digits, path] = match ?? [];
    if (path === undefined || Number(digits) >= count) {
      throw new WavesmithError('cli/usage', `--expect ${text} is not N=FILE with N from 0 to ${count - 1}.`);
    }
    return { argument: Number(digits), path, file: readInput(path) };
  });
}

/** The verdict about a run, with its comparisons. */
export interface ExpectResult extends Verdict {
  readonly expected: readonly { readonly argument: number; readonly path: string; readonly comparison: Comparison }[];
}

/** Compares what the run left; undefined when nothing was expected. Errors of the strict mode are objections. */
export function judgeExpectations(
  expectations: readonly Expectation[],
  buffers: readonly BufferAfter[],
  findings: readonly RunFinding[],
  options: ExpectOptions,
): ExpectResult | undefined {
  if (expectations.length === 0) return undefined;
  const { exact, ...how } = judgeOptions(options);
  const expected = expectations.map((expectation) => {
    const { argument, path } = expectation;
    const array = buffers.find((b) => b.argument === argument)?.array;
    if (array === undefined) {
      throw new WavesmithError('cli/usage', `--expect ${argument}=${path}: argument ${argument} is a scalar.`);
    }
    const bytes = expectedBytes(expectation, array);
    return {
      argument,
      path,
      comparison: compareElements(bytes, array.bytes, array.type, { shape: array.shape, ...how }),
    };
  });
  const objections = findings
    .filter((f) => f.severity === 'error')
    .map(({ rule, kernel, place, message }): Objection => {
      const at = place.pc === undefined ? '' : `pc 0x${place.pc.toString(16)}`;
      return { by: 'strict', rule, kernel, place: at, message };
    });
  return {
    ...verdictOf({
      comparisons: expected.map((e) => e.comparison),
      objections,
      exact,
      force: options.failOn === 'none',
    }),
    expected,
  };
}

function expectedBytes({ argument, path, file }: Expectation, array: BufferAfter['array']): Uint8Array {
  if (!path.endsWith('.npy')) return file;
  const stored = readNpy(file, path);
  if (canReadAs(stored.type, array.type) && elementCount(stored.shape) === elementCount(array.shape))
    return stored.bytes;
  throw new WavesmithError(
    'launch/wrong-file',
    `'${path}' holds ${stored.type}[${stored.shape.join(',')}], argument ${argument} is ${array.type}[${array.shape.join(',')}].`,
    { file: path },
  );
}

/** The comparisons and the verdict as text. */
export function expectReport(result: ExpectResult | undefined): string {
  if (result === undefined) return '';
  const lines = result.expected.flatMap(({ argument, path, comparison }) =>
    comparisonLines(`  argument ${argument} beside ${path}`, comparison),
  );
  return `${[...lines, verdictLine(result, `${result.expected.length} buffer(s) beside what was expected`)].join('\n')}\n`;
}
