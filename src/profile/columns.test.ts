// Columns and rows by id hold what was put into them, whether it counts up, stays the same or does neither.

import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { largest } from './analysis/timeline.ts';
import { f64, NumbersTable, RowsById } from './columns.ts';

/** Numbers that begin with a run: equal ones or ones that count up, then anything. */
const values = fc
  .tuple(
    fc.integer(),
    fc.integer({ min: -3, max: 3 }),
    fc.nat(40),
    fc.array(fc.oneof(fc.nat(9), fc.double()), { maxLength: 20 }),
  )
  .map(([first, step, run, rest]) => [...Array.from({ length: run }, (_, i) => first + i * step), ...rest]);

test('a column gives back what was pushed', () => {
  fc.assert(
    fc.property(values, fc.nat(60), (pushed, looked) => {
      const column = f64();
      for (const [i, value] of pushed.entries()) {
        expect(column.push(value)).toBe(i);
        // Looking at it in between changes nothing.
        if (i === looked) column.view();
      }
      expect(column.length).toBe(pushed.length);
      // Zeros have no sign in a column.
      const plain = (list: Iterable<number>) => Array.from(list, (value) => (value === 0 ? 0 : value));
      expect(plain(pushed.map((_, i) => column.get(i)))).toEqual(plain(pushed));
      expect(plain(column.view())).toEqual(plain(pushed));
    }),
  );
});

test('a column of hundreds of thousands of values', () => {
  const column = f64();
  for (let i = 0; i < 300_000; i++) column.push(i < 100_000 ? i : i % 1000);
  expect([column.get(99_999), column.get(100_000), column.get(299_999), column.length]).toEqual([
    99_999, 0, 999, 300_000,
  ]);
});

test('the first row of an id is the one that counts', () => {
  const ids = fc.oneof(fc.nat(30), fc.nat(5000), fc.integer({ min: 2 ** 40, max: 2 ** 40 + 3 }));
  const sequence = fc
    .tuple(fc.nat(100), fc.nat(50), fc.array(ids, { maxLength: 60 }))
    .map(([from, run, rest]) => [...Array.from({ length: run }, (_, i) => from + i), ...rest]);
  fc.assert(
    fc.property(sequence, fc.nat(9), (added, base) => {
      const [rows, expected] = [new RowsById(), new Map<number, number>()];
      added.forEach((id, i) => {
        expect(rows.add(id, base + i)).toBe(expected.get(id));
        if (!expected.has(id)) expected.set(id, base + i);
      });
      for (const id of [...added, 0, 7, 4999, 2 ** 40 + 1]) expect(rows.find(id)).toBe(expected.get(id));
    }),
  );
});

test('the largest, ascending; of equal ones the first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 60 }), fc.nat(20), (weights, limit) => {
      const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a] || a - b);
      expect([...largest(weights.length, limit, (i) => weights[i])]).toEqual(
        order.slice(0, limit).sort((a, b) => a - b),
      );
    }),
  );
});

test('lists of numbers have one id each, whatever their size and sign', () => {
  const table = new NumbersTable(3);
  const lists = Array.from({ length: 5000 }, (_, i) => [i % 50, -1, 2 ** 32 * (i % 100) + (i >> 3)]);
  const ids = lists.map((list) => table.id(list));
  const byText = new Map<string, number>();
  lists.forEach((list, i) => {
    const known = byText.get(list.join()) ?? byText.size;
    byText.set(list.join(), known);
    expect(ids[i]).toBe(known);
    expect([...table.get(known)]).toEqual(list);
  });
  expect(table.size).toBe(byText.size);
});
