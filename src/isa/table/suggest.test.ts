// Edit distance by insertions and deletions, against the plain dynamic programme.

import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { closeMatches, editDistance } from './suggest.ts';

/** Length of the longest common subsequence gives the distance without replacements. */
function plainDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      rows[i][j] = a[i - 1] === b[j - 1] ? rows[i - 1][j - 1] + 1 : Math.max(rows[i - 1][j], rows[i][j - 1]);
    }
  }
  return a.length + b.length - 2 * rows[a.length][b.length];
}

test('the banded distance is the plain one up to the limit', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '_', '3'), maxLength: 9 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, limit) => {
      expect(editDistance(a, b, limit)).toBe(Math.min(limit + 1, plainDistance(a, b)));
    }),
    { numRuns: 3000 },
  );
});

test('long words grow the tables', () => {
  const long = 'x'.repeat(500);
  expect(editDistance(long, `${long}yy`)).toBe(2);
});

test('close matches are sorted', () => {
  expect(closeMatches('v_ad', ['v_sub', 'v_mad', 'v_add', 'v_max'])).toEqual(['v_add', 'v_mad']);
});
