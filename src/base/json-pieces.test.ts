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

test('long lists are not one piece, wherever they are', () => {
  const numbers = Array.from({ length: 9000 }, (_, i) => i);
  const nested = Array.from({ length: 5000 }, (_, i) =>
    i % 3 === 0 ? { i, of: [i] } : i % 3 === 1 ? `a\n${i}` : null,
  );
  const value = { work: { numbers, nested }, exact: numbers.slice(0, 4096) };
  for (const indent of [0, 1, 2]) {
    expect(joined(value, indent)).toBe(JSON.stringify(value, null, indent));
    expect(Math.max(...[...jsonPieces(value, indent)].map((piece) => piece.length))).toBeLessThan(300_000);
  }
});
