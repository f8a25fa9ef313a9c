import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { KeyIndex } from './key-index.ts';

test('the places of a key are those at which it is, from any one on, while keys are taken in', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1, maxLength: 40 }),
      // More than the first tables have room for.
      fc.array(fc.nat(6000), { minLength: 1, maxLength: 6 }),
      fc.nat(1000),
      (some, steps, first) => {
        const index = new KeyIndex();
        const keys = Int32Array.from({ length: 40_000 }, (_, n) => some[(n * n) % some.length] as number);
        let count = 0;
        for (const step of steps) {
          count += step;
          index.follow(keys, count);
          for (const key of [...some.slice(0, 3), 12_345]) {
            const places: number[] = [];
            for (let n = count - 1; n >= first; n--) if (keys[n] === key) places.push(n);
            expect(index.placesOf(keys, key, first)).toEqual(places);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});
