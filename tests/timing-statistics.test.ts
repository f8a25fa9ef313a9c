// The figures of `npm run bench timing`, on numbers that can be checked by hand.
import { describe, expect, it } from 'vitest';
import { errorFactor, geometricMean, geometricSigma, slopeError, spearman, wmape } from '../bench/timing/statistics.ts';

const pairs = (...values: [measured: number, modelled: number][]) =>
  values.map(([measured, modelled]) => ({ measured, modelled }));

describe('statistics of the clock', () => {
  it('should weigh errors by milliseconds', () => {
    expect(wmape(pairs([10, 12], [1, 3]))).toBeCloseTo(4 / 11);
  });
  it('should tell a constant factor from scatter', () => {
    const twice = pairs([1, 2], [10, 20], [100, 200]);
    expect([geometricSigma(twice), geometricMean(twice), errorFactor(twice)]).toEqual(
      [1, 2, 2].map((v) => expect.closeTo(v)),
    );
    expect(geometricSigma(pairs([1, 2], [1, 0.5]))).toBeCloseTo(2);
  });
  it('should rank, with equal values between their places', () => {
    expect(spearman(pairs([1, 5], [2, 7], [3, 100]))).toBeCloseTo(1);
    expect(spearman(pairs([1, 3], [2, 2], [3, 1]))).toBeCloseTo(-1);
    expect(spearman(pairs([1, 1], [1, 2], [2, 3]))).toBeCloseTo(Math.sqrt(3) / 2);
  });
  it('should compare slopes over size, and only of three sizes', () => {
    const line = (slope: number, start: number) =>
      [1, 2, 4].map((size) => ({ size, measured: 5 + 2 * size, modelled: start + slope * size }));
    expect(slopeError(line(2, 50))).toBeCloseTo(0);
    expect(slopeError(line(3, 0))).toBeCloseTo(0.5);
    expect(slopeError(line(3, 0).slice(1))).toBeUndefined();
  });
});
