// Parts of memory that were stored to, against a plain set.
import { expect, test } from 'vitest';
import { randomNumbers } from '../../../base/index.ts';
import { LINE, WrittenLines } from './written-lines.ts';

test('the parts are the lines that were added, and no other', () => {
  const random = randomNumbers(5);
  const below = (n: number): number => Math.floor(random() * n);
  for (let round = 0; round < 50; round++) {
    const written = new WrittenLines();
    const lines = new Set<number>();
    for (let n = below(60); n > 0; n--) {
      const line = below(round % 2 === 0 ? 40 : 2000) + (below(4) === 0 ? 2 ** 24 : 0);
      lines.add(line);
      written.add(line);
    }
    const first = below(300) + (below(3) === 0 ? 2 ** 24 : 0);
    const size = 1 + below(700 * LINE);
    const bytes = new Set<number>();
    written.forParts(first * LINE, size, (from, to) => {
      expect(from).toBeLessThan(to);
      expect(to).toBeLessThanOrEqual(first * LINE + size);
      for (let at = from; at < to; at += LINE) bytes.add(at / LINE);
      expect(from % LINE).toBe(0);
    });
    const last = Math.floor((first * LINE + size - 1) / LINE);
    expect(bytes).toEqual(new Set([...lines].filter((line) => line >= first && line <= last)));
  }
  const all = new WrittenLines();
  all.addAll();
  const parts: [number, number][] = [];
  all.forParts(512, 1000, (from, to) => parts.push([from, to]));
  expect(parts).toEqual([[512, 1512]]);
});
