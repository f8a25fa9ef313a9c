import { expect, test } from 'vitest';
import type { Pattern } from '../base/index.ts';
import { FreshMemory } from './fresh-memory.ts';

const SIZE = 1_200_000;

/** What one run finds written after `write`. */
function writtenAfter(pattern: Pattern, write: (bytes: Uint8Array) => void): readonly number[] {
  const memory = new FreshMemory({ pattern, seed: 7 });
  const bytes = new Uint8Array(SIZE);
  memory.begin(0x1000, bytes);
  write(bytes);
  memory.end(0x1000, () => bytes);
  const written = memory.ended[0]?.written ?? new Uint8Array(0);
  return Array.from({ length: SIZE }, (_, n) => n).filter((n) => ((written[n >> 3] as number) >> (n & 7)) & 1);
}

test.each(['noise', 'inverse', 'zeros'] as const)('nothing is written in what nobody touched: %s', (pattern) => {
  expect(writtenAfter(pattern, () => {})).toEqual([]);
});

test('every byte value that is written shows in one of two runs, also behind the period of the pattern', () => {
  const places = [0, 1, 4097, 1_048_572, 1_048_573, SIZE - 1];
  for (const value of [0, 0x5a, 0xa5, 0xff]) {
    const write = (bytes: Uint8Array): void => {
      for (const at of places) bytes[at] = value;
    };
    const seen = new Set([...writtenAfter('noise', write), ...writtenAfter('inverse', write)]);
    expect([...seen].sort((a, b) => a - b)).toEqual(places);
  }
});

test('allocations are listed in the order in which they began; addresses that did not begin are ignored', () => {
  const memory = new FreshMemory({ pattern: 'noise', seed: 1 });
  const [a, b] = [new Uint8Array(8), new Uint8Array(16)];
  memory.begin(1, a);
  memory.begin(2, b);
  memory.end(3, () => a);
  memory.end(2, () => b);
  memory.end(1, () => a);
  memory.end(1, () => a);
  expect(memory.ended.map((m) => [m.order, m.bytes])).toEqual([
    [0, 8],
    [1, 16],
  ]);
});
