import { describe, expect, it, test } from 'vitest';
import { compareElements } from './compare.ts';
import { comparisonLines } from './text.ts';
import { type Evidence, exitCodeOf, type Objection, verdictLine, verdictOf } from './verdict.ts';

const f32 = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const same = compareElements(f32(1, 2), f32(1, 2), 'f32');
const rounded = compareElements(f32(1, 2), f32(1, 2.00001), 'f32');
const wrong = compareElements(f32(1, 2), f32(1, 3), 'f32');
const empty = compareElements(f32(), f32(), 'f32');
const objection: Objection = {
  by: 'checker',
  rule: 'waits/read-before-return',
  kernel: 'k',
  place: 'asm/k.s:41',
  message: 'v2 is read before it has returned.',
};

test.each<[string, Evidence, string, boolean]>([
  ['equal bits', { comparisons: [same, same] }, 'equal', true],
  ['rounding', { comparisons: [same, rounded] }, 'within-tolerance', true],
  ['rounding with --exact', { comparisons: [same, rounded], exact: true }, 'different', false],
  ['a wrong element', { comparisons: [same, rounded, wrong] }, 'different', false],
  ['no outputs', { comparisons: [] }, 'nothing-compared', false],
  ['outputs of no elements', { comparisons: [empty] }, 'nothing-compared', false],
  ['an output of no elements beside another', { comparisons: [empty, same] }, 'equal', true],
  ['nothing was written', { comparisons: [same], nothing: 'Neither wrote.' }, 'nothing-compared', false],
  ['nothing was written, but it differs', { comparisons: [wrong], nothing: 'Neither wrote.' }, 'different', false],
  ['a fault', { comparisons: [], failures: ['It faulted.'] }, 'different', false],
  ['reads of unwritten memory', { comparisons: [same], differences: ['It reads.'] }, 'different', false],
  ['an edited kernel that did not run', { comparisons: [same], notLaunched: ['k'] }, 'not-launched', false],
  ['that, and no output', { comparisons: [], notLaunched: ['k'] }, 'not-launched', false],
  ['that, and a difference', { comparisons: [wrong], notLaunched: ['k'] }, 'different', false],
  ['an edit that is not built', { comparisons: [same], notBuilt: ['asm/k.s'] }, 'not-built', false],
  ['an objection', { comparisons: [same], objections: [objection] }, 'equal', false],
  ['a forced objection', { comparisons: [same], objections: [objection], force: true }, 'equal', true],
  ['a difference cannot be forced', { comparisons: [wrong], force: true }, 'different', false],
])('%s', (_name, evidence, kind, ok) => {
  const verdict = verdictOf(evidence);
  expect(verdict).toMatchObject({ verdict: kind, ok });
  expect(exitCodeOf(verdict)).toBe(ok ? 0 : 1);
});

describe('the verdict line', () => {
  const line = (evidence: Evidence): string => verdictLine(verdictOf(evidence), '1 dispatch(es), seed 1');
  it('should name the scale that float comparisons used', () => {
    expect(line({ comparisons: [same] })).toBe('EQUAL: 1 dispatch(es), seed 1');
    expect(line({ comparisons: [rounded] })).toBe(
      'EQUAL WITHIN TOLERANCE: 1 dispatch(es), seed 1; relative to the median magnitude of all 2 elements',
    );
    expect(line({ comparisons: [wrong] })).toBe('DIFFERENT: 1 dispatch(es), seed 1');
  });
  it('should give reasons', () => {
    expect(line({ comparisons: [same], notLaunched: ['k ran nowhere.'] })).toBe(
      'EDITED KERNEL NOT LAUNCHED: 1 dispatch(es), seed 1; k ran nowhere',
    );
    expect(line({ comparisons: [] })).toBe('NOTHING COMPARED: 1 dispatch(es), seed 1; There is no output');
  });
  it('should carry every objecting rule, forced or not', () => {
    const strict: Objection = { ...objection, by: 'strict', rule: 'waits/vmcnt', place: '' };
    for (const force of [false, true]) {
      expect(line({ comparisons: [same], objections: [objection, objection, strict], force })).toBe(
        'EQUAL, BUT waits/read-before-return at asm/k.s:41 (checker), waits/vmcnt (strict) and 1 more: 1 dispatch(es), seed 1',
      );
    }
  });
});

describe('a result of NaN alone', () => {
  const nan = f32(Number.NaN, Number.NaN);
  it('should be equal, and the line should say that it hides changes', () => {
    const verdict = verdictOf({
      comparisons: [compareElements(nan, nan, 'f32'), compareElements(f32(1, 2), f32(1, 2), 'f32')],
    });
    expect(verdict.ok).toBe(true);
    expect(verdictLine(verdict, '2 results')).toBe(
      'EQUAL: 2 results; every element of 1 result is NaN on both sides, which hides changes',
    );
  });
  it('should not be said of a result with a number, or of none', () => {
    for (const one of [f32(Number.NaN, 1), new Uint8Array(0)]) {
      expect(verdictOf({ comparisons: [compareElements(one, one, 'f32')] }).remarks).toEqual([]);
    }
  });
});

describe('lines of a comparison', () => {
  const lines = (a: Uint8Array, b: Uint8Array, type: string): string[] =>
    comparisonLines('output 0', compareElements(a, b, type));
  it('should say what differs, with exact integers and both parts of complex numbers', () => {
    const i64 = (x: bigint): Uint8Array => new Uint8Array(BigInt64Array.of(x).buffer);
    expect(lines(i64(2n ** 60n), i64(2n ** 60n + 1n), 'i64')).toEqual([
      'output 0: 1 of 1 differ (largest difference 1; element 0: 1152921504606846976 → 1152921504606846977)',
    ]);
    expect(lines(f32(1, 2), f32(1, -2), 'complex<f32>')).toEqual([
      'output 0: 1 outside the complex<f32> tolerance 0.0001 of the median magnitude of all 1 elements ' +
        '(largest difference 4, relative 1.7889; element 0: 1+2i → 1-2i)',
      '    1 of 1 changed by more than half of their size, 0 may',
    ]);
    expect(lines(f32(1, 2), f32(1, 2), 'f32')).toEqual(['output 0: identical']);
    expect(lines(f32(Number.NaN, Number.NaN), f32(Number.NaN, Number.NaN), 'f32')).toEqual([
      'output 0: identical (every element is NaN on both sides)',
    ]);
    expect(lines(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 4), 'f16')).toEqual([
      'output 0: 1 of 1 bytes behind the last whole element differ',
    ]);
  });
  it('should say when only the share of changed elements is too large', () => {
    const big = Float32Array.from({ length: 2000 }, (_, i) => (i % 4 === 0 ? 1e-6 : 1));
    const none = big.map((x) => (x < 1e-3 ? 0 : x));
    const [line, ...more] = lines(new Uint8Array(big.buffer), new Uint8Array(none.buffer), 'f32');
    expect(more).toEqual([]);
    expect(line).toMatch(/^output 0: 500 of 2000 changed by more than half of their size, 2 may \(largest difference/);
  });
});
