import { describe, expect, it } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { align } from './align.ts';

function lcsLength(a: readonly number[], b: readonly number[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    b.forEach((y, j) => {
      next.push(x === y ? row[j] + 1 : Math.max(row[j + 1], next[j]));
    });
    row = next;
  }
  return row[b.length];
}

describe('align', () => {
  it('should pair a longest common subsequence', () => {
    const sequence = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 60 });
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        const { toA, toB } = align(Int32Array.from(a), Int32Array.from(b));
        let previous = -1;
        let pairs = 0;
        toB.forEach((j, i) => {
          if (j < 0) return;
          expect(j).toBeGreaterThan(previous);
          expect(b[j]).toBe(a[i]);
          expect(toA[j]).toBe(i);
          previous = j;
          pairs++;
        });
        expect(pairs).toBe(lcsLength(a, b));
        expect([...toA].filter((i) => i >= 0).length).toBe(pairs);
      }),
      { numRuns: 2000 },
    );
  });

  it('should take time linear in the length when nothing fits', () => {
    const a = Int32Array.from({ length: 100_000 }, (_, i) => i);
    const b = Int32Array.from({ length: 100_000 }, (_, i) => (i * 77_777) % 100_000);
    const { toB } = align(a, b);
    let previous = -1;
    for (const j of toB) {
      if (j < 0) continue;
      expect(j).toBeGreaterThan(previous);
      previous = j;
    }
    expect(previous).toBeGreaterThan(0);
  });
});
