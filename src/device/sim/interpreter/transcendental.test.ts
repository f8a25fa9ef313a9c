// The polynomials against Math: their f32 results are within 1 ulp, exact where the function is.
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../../../base/index.ts';
import * as functions from '../../../isa/semantics/transcendental.ts';

const [exp2, log2, sinTurns, cosTurns, reciprocalRoot] = [
  functions.exp2,
  functions.log2,
  functions.sinTurns,
  functions.cosTurns,
  functions.reciprocalRoot,
].map((f) => (x: number) => f(x, 'f32')) as [F32, F32, F32, F32, F32];

type F32 = (x: number) => number;
/** Distance of two f32 in units of the last place of the second. */
function ulps(x: number, exact: number): number {
  const place = 2 ** (Math.max(-126, Math.floor(Math.log2(Math.abs(exact)))) - 23);
  return Math.abs(Math.fround(x) - exact) / place;
}

describe('polynomials', () => {
  const random = randomNumbers(3);
  const samples = Array.from({ length: 20_000 }, () => Math.fround(random() - 0.5));

  it('should be within 0.9 ulp of f32', () => {
    let worst = 0;
    const note = (x: number, exact: number): void => {
      if (exact !== 0) worst = Math.max(worst, ulps(x, exact));
    };
    for (const s of samples) {
      note(exp2(Math.fround(240 * s)), 2 ** Math.fround(240 * s));
      const positive = Math.fround(Math.exp(160 * s));
      note(log2(positive), Math.log2(positive));
      note(reciprocalRoot(positive), 1 / Math.sqrt(positive));
      const nearOne = Math.fround(1 + s / 64);
      note(log2(nearOne), Math.log1p(nearOne - 1) / Math.LN2);
      note(sinTurns(s), Math.sin(2 * Math.PI * s));
      if (Math.abs(Math.abs(s) - 0.25) > 1e-3) note(cosTurns(s), Math.cos(2 * Math.PI * s));
    }
    expect(worst).toBeLessThan(0.9);
  });

  it('should be exact where the function is', () => {
    expect([-126, -1, 0, 1, 3, 127].map(exp2)).toEqual([-126, -1, 0, 1, 3, 127].map((n) => 2 ** n));
    expect([0.25, 1, 2, 2 ** 100].map(log2)).toEqual([-2, 0, 1, 100]);
    const rounded = (f: (x: number) => number, ...xs: number[]): number[] => xs.map((x) => Math.fround(f(x)));
    expect(rounded(sinTurns, 0.25, 0.5, 0.75, 1, -0.25, -0, -0.5, -2)).toEqual([1, 0, -1, 0, -1, -0, -0, -0]);
    expect(rounded(cosTurns, 0, 0.25, 0.5, 0.75, -0.5)).toEqual([1, 0, -1, 0, -1]);
    expect(rounded(reciprocalRoot, 1, 4, 0.25, 2 ** -126, 0, -0, Infinity, -1)).toEqual([
      1,
      0.5,
      2,
      2 ** 63,
      Infinity,
      -Infinity,
      0,
      Number.NaN,
    ]);
    // The instruction flushes denormals.
    expect(exp2(-Infinity)).toBeLessThan(2 ** -126);
    expect([Math.fround(exp2(Infinity)), log2(0), log2(-1), log2(Infinity), sinTurns(Infinity)]).toEqual([
      Infinity,
      -Infinity,
      Number.NaN,
      Infinity,
      Number.NaN,
    ]);
  });
});
