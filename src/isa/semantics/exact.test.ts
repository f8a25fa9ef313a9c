import { describe, expect, it } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { bitsFromF64, f64FromBits, type Rounding, rint, roundToF32 } from '../../base/elements/formats.ts';
import { addToOdd, composeF64, decompose, fmaF64, fmaScaledF64, fmaToOdd, mulF64 } from './exact.ts';

/** Any finite f64, by bits. */
const anyF64 = fc
  .bigInt({ min: 0n, max: (1n << 64n) - 1n })
  .map((bits) => f64FromBits(bits))
  .filter((x) => Number.isFinite(x));
const anyF32 = anyF64.map(Math.fround).filter((x) => Number.isFinite(x));
const moderate = fc.double({ min: -1e30, max: 1e30, noNaN: true });

/** The exact sum of products as a rational, rounded by the integer code of composeF64. */
function exactFma(a: number, b: number, c: number, rounding: Rounding): number {
  const [ma, ea] = decompose(a);
  const [mb, eb] = decompose(b);
  const [mc, ec] = decompose(c);
  const e = Math.min(ea + eb, ec);
  return composeF64(((ma * mb) << BigInt(ea + eb - e)) + (mc << BigInt(ec - e)), e, rounding);
}

describe('exact arithmetic', () => {
  it('should decompose and compose any number', () => {
    fc.assert(fc.property(anyF64, (x) => Object.is(composeF64(...decompose(x), 0), x === 0 ? 0 : x)));
  });
  it('should round products like the hardware under every mode', () => {
    fc.assert(
      fc.property(moderate, moderate, (a, b) => {
        expect(mulF64(a, b, 1)).toBeGreaterThanOrEqual(mulF64(a, b, 2));
        expect([mulF64(a, b, 1), mulF64(a, b, 2)]).toContain(a * b);
        expect(Math.abs(mulF64(a, b, 3))).toBeLessThanOrEqual(Math.abs(a * b));
      }),
    );
  });
  it('should fuse f64 multiply-add', () => {
    fc.assert(
      fc.property(anyF64, anyF64, anyF64, (a, b, c) => {
        const expected = exactFma(a, b, c, 0);
        if (expected !== 0) expect(fmaF64(a, b, c)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(moderate, moderate, (a, b) => {
        // The rounding error of a product is exactly representable.
        const expected = exactFma(a, b, -(a * b), 0);
        expect(fmaF64(a, b, -(a * b)) + 0).toBe(expected + 0);
      }),
      { numRuns: 2000 },
    );
  });
  it('should fuse f32 multiply-add through round to odd', () => {
    fc.assert(
      fc.property(anyF32, anyF32, anyF32, (a, b, c) => {
        for (const rounding of [0, 1, 2, 3] as const) {
          const [ma, ea] = decompose(a);
          const [mb, eb] = decompose(b);
          const [mc, ec] = decompose(c);
          const e = Math.min(ea + eb, ec);
          const m = ((ma * mb) << BigInt(ea + eb - e)) + (mc << BigInt(ec - e));
          if (m === 0n) continue;
          expect(roundToF32(fmaToOdd(a, b, c), rounding)).toBe(roundRational(m, e, rounding));
        }
      }),
      { numRuns: 1000 },
    );
  });
  it('should scale before the one rounding', () => {
    fc.assert(
      fc.property(moderate, moderate, moderate, (a, b, c) => {
        const value = fmaF64(a, b, c);
        if (value !== 0 && Math.abs(value) > 1e-200) expect(fmaScaledF64(a, b, c, -64, 0)).toBe(value * 2 ** -64);
      }),
    );
  });
  it('should make inexact sums odd', () => {
    fc.assert(
      fc.property(moderate, moderate, (a, b) => {
        const s = addToOdd(a, b);
        const exact = s === a + b && s - a === b && s - b === a;
        if (!exact) expect(Number(bitsFromF64(s) & 1n) === 1 || exactSumIs(a, b, s)).toBe(true);
      }),
    );
  });
  it('should round halves to even', () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5].map(rint)).toEqual([0, 2, 2, -0, -2]);
  });
});

function exactSumIs(a: number, b: number, s: number): boolean {
  const [ma, ea] = decompose(a);
  const [mb, eb] = decompose(b);
  const [ms, es] = decompose(s);
  const e = Math.min(ea, eb, es);
  return (ma << BigInt(ea - e)) + (mb << BigInt(eb - e)) === ms << BigInt(es - e);
}

/** m·2^e rounded to f32 with integers only. */
function roundRational(m: bigint, e: number, rounding: Rounding): number {
  const negative = m < 0n;
  const magnitude = negative ? -m : m;
  const length = magnitude.toString(2).length;
  const quantum = Math.max(length + e - 24, -149);
  const shift = quantum - e;
  if (shift <= 0) return Math.fround(Number(m) * 2 ** e);
  const kept = magnitude >> BigInt(shift);
  const rest = magnitude - (kept << BigInt(shift));
  const half = 1n << BigInt(shift - 1);
  const up =
    rounding === 0
      ? rest > half || (rest === half && (kept & 1n) === 1n)
      : rest !== 0n && ((rounding === 1 && !negative) || (rounding === 2 && negative));
  const value = Number(kept + (up ? 1n : 0n)) * 2 ** quantum;
  const largest = (2 - 2 ** -23) * 2 ** 127;
  const toZero = rounding === 3 || (rounding === 1 && negative) || (rounding === 2 && !negative);
  const limited = value > largest ? (toZero ? largest : Number.POSITIVE_INFINITY) : value;
  return negative ? -limited : limited;
}
