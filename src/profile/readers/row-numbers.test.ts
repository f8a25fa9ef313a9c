// Rows of a wide file get the numbers of their dispatches in whatever order somebody has sorted them, and each number once.
import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import type { Header } from './csv.ts';
import { RowNumbers } from './row-numbers.ts';

const NAMES = ['Dispatch_ID', 'GPU_ID', 'PID'];
const header = {
  names: NAMES,
  at: (...names: string[]) => NAMES.findIndex((name) => names.includes(name)),
} as unknown as Header;

/** The dispatch of each row, by its number in the file; undefined for rows that are left out. */
function dispatches(ids: readonly number[]): (number | undefined)[] {
  const found: (number | undefined)[] = [];
  const numbers: RowNumbers = new RowNumbers(header, (cells) => found.push(numbers.next(cells)));
  const findings: unknown[] = [];
  const recording = { report: (...finding: unknown[]) => findings.push(finding), wideFiles: new Map() };
  for (const id of ids) numbers.row([String(id), '0', '7']);
  numbers.end(recording as never, 'pmc_perf.csv', '');
  return found;
}

test('property: sorted, reversed or shuffled, with numbers that are missing', () => {
  const ids = fc.uniqueArray(fc.nat(3000), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(ids, (all) => {
      const least = Math.min(...all);
      const sorted = [...all].sort((a, b) => a - b);
      for (const order of [all, sorted, [...sorted].reverse()]) {
        expect(dispatches(order)).toEqual(order.map((id) => id - least));
      }
    }),
  );
});

test('a number that comes twice counts once, also far from the first time and where numbers are far apart', () => {
  expect(dispatches([3, 1, 2, 3, 1])).toEqual([2, 0, 1, undefined, undefined]);
  const many = Array.from({ length: 5000 }, (_, i) => 2 ** 20 * i);
  expect(dispatches([...many, many[4999], many[7]]).slice(-3)).toEqual([many[4999], undefined, undefined]);
});

test('rows below the lowest number of the first ones of a file in order are left out', () => {
  const ids = Array.from({ length: 100 }, (_, i) => 50 + i);
  expect(dispatches([...ids, 3]).slice(-2)).toEqual([99, undefined]);
});
