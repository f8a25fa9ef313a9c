// Ratios of medians and their intervals, from times that are known.
import { expect, test } from 'vitest';
import { isMeasuredFaster, type Measurement, speedupOf } from './measure.ts';

const times = (centre: number, spread: number): number[] =>
  Array.from({ length: 15 }, (_, n) => centre + (((n * 7) % 15) - 7) * spread);

test('a speedup without noise has an interval without width; noise widens it, the same with the same seed', () => {
  expect(speedupOf(times(20, 0), times(10, 0), 1)).toEqual({
    baseline: 20,
    candidate: 10,
    speedup: 2,
    interval: [2, 2],
  });
  const noisy = speedupOf(times(20, 0.2), times(10, 0.1).reverse(), 1);
  expect(noisy.interval[0]).toBeLessThan(noisy.speedup);
  expect(noisy.interval[1]).toBeGreaterThan(noisy.speedup);
  expect(speedupOf(times(20, 0.2), times(10, 0.1).reverse(), 1)).toEqual(noisy);
});

test('faster is what passes 2% at the lower bound, is no loss when cold, and leaves the same bytes', () => {
  const of = (speedup: number, low: number) => ({
    baseline: speedup,
    candidate: 1,
    speedup,
    interval: [low, 9] as const,
  });
  const measured = (cold: number, low: number, differing = 0): Measurement => ({
    device: 'rocm:gfx942',
    rounds: 15,
    cold: of(cold, 0.9),
    warm: of(1.1, low),
    differing,
  });
  expect(isMeasuredFaster(measured(1, 1.03))).toBe(true);
  expect(isMeasuredFaster(measured(1, 1.01))).toBe(false);
  expect(isMeasuredFaster(measured(0.9, 1.03))).toBe(false);
  expect(isMeasuredFaster(measured(1, 1.03, 4))).toBe(false);
});
