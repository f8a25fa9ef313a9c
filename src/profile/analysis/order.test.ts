// The order of rows is that of a stable sort, whatever runs they come in.

import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { inOrder } from './order.ts';

function expectStable(times: readonly number[]): void {
  const expected = times.map((_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
  expect([...inOrder(times.length, (a, b) => times[a] - times[b])]).toEqual(expected);
}

test('property: as a stable sort has it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 })), (runs) => {
      expectStable(runs.flatMap((run) => run.sort((a, b) => a - b)));
    }),
  );
});

test('property: of rows that are nearly in order, in no order, and in long runs', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 60, maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(delays, fc.constantFrom(0, 1, 7), (late, pace) => {
      expectStable(late.map((delay, i) => pace * i + delay));
      expectStable([...late.map((_, i) => i), ...late.map((delay) => delay), ...late.map((_, i) => 2 * i)]);
    }),
  );
});
