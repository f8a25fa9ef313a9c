import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { jsonPieces } from './json-pieces.ts';

const joined = (value: unknown, indent?: number): string => [...jsonPieces(value, indent)].join('');

test('pieces of JSON make the text of JSON.stringify', () => {
  const list = Array.from({ length: 40 }, (_, i) => ({ i, text: `a\n"${i}`, none: undefined, list: [i, [], {}] }));
  const value = { list, empty: [], object: {}, nothing: null, none: undefined, few: [1, 2], deep: { list } };
  for (const indent of [0, 1, 2]) expect(joined(value, indent)).toBe(JSON.stringify(value, null, indent));
  expect([...jsonPieces(value, 1)].length).toBeGreaterThan(40);
});

test('of any value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 2), (value, indent) => {
      expect(joined(value, indent)).toBe(JSON.stringify(value, null, indent));
    }),
  );
});
