// Microbenchmarks on the model beside published figures; docs/timing-accuracy.md has the whole table.
import { describe, expect, it } from 'vitest';
import { matrixRows, mi300xRows } from '../bench/timing/micro.ts';
import { PAIRS, pairTimes } from '../bench/timing/pairs.ts';

describe('microbenchmarks', () => {
  it('should give every matrix shape the passes of the matrix instruction calculator', () => {
    const rows = matrixRows();
    expect(rows.length).toBeGreaterThan(45);
    for (const { what, chip, measured, modelled } of rows) {
      expect(Math.abs(modelled / measured - 1), `${what} on ${chip}`).toBeLessThan(0.015);
    }
  });
  it('should come near what was measured on MI300X', async () => {
    // The whole table is made by the benchmark; FMA loops and copies of 64 MB are further off.
    const rows = await mi300xRows(/chase, 16 KB|packed f32 FMAs as/);
    for (const { what, measured, modelled } of rows) {
      if (!what.includes('copy of 64')) expect(Math.abs(modelled / measured - 1), what).toBeLessThan(0.12);
    }
    expect(rows.length).toBeGreaterThan(8);
  });
  it('should put variants in the order that is known', async () => {
    const times = await pairTimes(
      'mi300x',
      PAIRS.filter((_, n) => n % 14 === 1),
    );
    expect(PAIRS.length).toBeGreaterThanOrEqual(40);
    const seen = times.filter((p) => Math.abs(p.slow / p.fast - 1) >= 0.05);
    const wrong = seen.filter((p) => p.slow < p.fast);
    expect(seen.length).toBe(3);
    expect(wrong.length / seen.length).toBeLessThanOrEqual(0.1);
  });
});
