import { expect, test } from 'vitest';
import { findStrayWrites, type WrittenAllocation } from './module-memory.ts';

/** An allocation of which the given bytes were written. */
function allocation(bytes: number, ...written: readonly number[]): WrittenAllocation {
  const mask = new Uint8Array(Math.ceil(bytes / 8));
  for (const at of written) mask[at >> 3] |= 1 << (at & 7);
  return { bytes, written: mask };
}

test('a byte is stray when the modified side wrote it in any run and the baseline in none', () => {
  const result = findStrayWrites({
    baseline: [
      [allocation(16, 0, 1), allocation(20)],
      [allocation(16, 2), allocation(20)],
    ],
    modified: [
      [allocation(16, 0, 1, 2), allocation(20, 17)],
      [allocation(16), allocation(20, 19)],
    ],
  });
  expect(result).toEqual({
    allocations: 2,
    bytes: 36,
    untouched: 33,
    stray: 2,
    first: { allocation: 1, offset: 17, size: 20 },
  });
});

test('bytes that only the baseline wrote are no stray writes', () => {
  const full = allocation(8, 0, 1, 2, 3, 4, 5, 6, 7);
  expect(findStrayWrites({ baseline: [[full]], modified: [[allocation(8)]] })).toMatchObject({
    untouched: 0,
    stray: 0,
    first: null,
  });
});

test('a strict device ends an allocation with its last byte, another with its page', () => {
  const runs = [[allocation(100, 5)], [allocation(4096, 5)]];
  const beyond = [[allocation(100, 5)], [allocation(4096, 5, 4000)]];
  expect(findStrayWrites({ baseline: runs, modified: runs })).toMatchObject({ stray: 0, untouched: 99 });
  expect(findStrayWrites({ baseline: runs, modified: beyond })).toMatchObject({ stray: 1, first: { offset: 4000 } });
});

test.each([
  ['number', [allocation(8)], [allocation(8), allocation(8)]],
  ['size', [allocation(8)], [allocation(9000)]],
])('sides that allocated another %s cannot be compared', (_, a, b) => {
  expect(findStrayWrites({ baseline: [a], modified: [b] })).toMatchObject({ stray: null, first: null });
});
