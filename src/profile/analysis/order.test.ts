// The order of rows is that of a stable sort, whatever runs they come in.

import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { inOrder } from './order.ts';

test('property: as a stable sort has it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 })), (runs) => {
      const times = runs.flatMap((run) => run.sort((a, b) => a - b));
      const expected = times.map((_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
      expect([...inOrder(times.length, (a, b) => times[a] - times[b])]).toEqual(expected);
    }),
  );
});
