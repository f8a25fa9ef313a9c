// exp2, log2, sine and cosine of turns as polynomials in f64, evaluated with plain multiplication and addition in a fixed order, so that
// every backend gets the same bits. Against the exact function the f32 result is within 1 ulp. Coefficients: Taylor and artanh series.
import { f64FromWords, f64HighWord, f64LowWord, pow2, rint } from '../../base/elements/formats.ts';

function factorial(n: number): number {
  return n < 2 ? 1 : n * factorial(n - 1);
}
const range = (n: number): number[] => Array.from({ length: n }, (_, k) => k);

/** 2^r on [-1/2, 1/2]: ln(2)^k / k!. */
export const EXP2 = range(12).map((k) => Math.LN2 ** k / factorial(k));
/** log2((1 + s) / (1 - s)) = s · Σ c_k s^2k: 2 / ((2k + 1) ln 2). */
export const LOG2 = range(9).map((k) => 2 / ((2 * k + 1) * Math.LN2));
/** sin(a) = a · Σ c_k a^2k and cos(a) = Σ c_k a^2k on [-π/4, π/4]. */
export const SIN = range(8).map((k) => (k % 2 === 0 ? 1 : -1) / factorial(2 * k + 1));
export const COS = range(8).map((k) => (k % 2 === 0 ? 1 : -1) / factorial(2 * k));
/** Exponents beyond this give zero or infinity in every format. */
export const EXP2_LIMIT = 1000;
/** High word of √½: mantissas are taken from [√½, √2). */
export const SQRT_HALF_HIGH = 0x3fe6a09e;
export const TWO_PI = 2 * Math.PI;

/** Horner's scheme from the highest coefficient down. */
function polynomial(coefficients: readonly number[], x: number): number {
  let sum = coefficients.at(-1) as number;
  for (let k = coefficients.length - 2; k >= 0; k--) sum = sum * x + (coefficients[k] as number);
  return sum;
}

/** 2^x. */
export function exp2(x: number): number {
  if (Number.isNaN(x)) return x;
  const limited = Math.min(Math.max(x, -EXP2_LIMIT), EXP2_LIMIT);
  const whole = rint(limited);
  return polynomial(EXP2, limited - whole) * pow2(whole);
}

/** log2(x) of a number that is no f64 denormal. */
export function log2(x: number): number {
  if (x === 0) return -Infinity;
  if (!(x > 0)) return NaN;
  if (x === Infinity) return x;
  const high = f64HighWord(x);
  const exponent = (high - SQRT_HALF_HIGH) >> 20;
  const mantissa = f64FromWords(f64LowWord(x), high - (exponent << 20));
  const s = (mantissa - 1) / (mantissa + 1);
  return exponent + s * polynomial(LOG2, s * s);
}

/** sin(2π(x + quarters/4)) for a finite x: exact at the quarter turns; a zero has the sign of x. */
function sineOfTurns(x: number, quarters: 0 | 1): number {
  const turn = x - rint(x);
  if (turn === 0 && quarters === 0) return x * 0;
  const quarter = rint(turn * 4);
  const angle = (turn - quarter * 0.25) * TWO_PI;
  const square = angle * angle;
  const q = quarter + quarters;
  const value = (q & 1) === 0 ? angle * polynomial(SIN, square) : polynomial(COS, square);
  return ((q & 2) === 0 ? value : -value) + 0;
}

/** sin(2πx). */
export function sinTurns(x: number): number {
  return Number.isFinite(x) ? sineOfTurns(x, 0) : NaN;
}
/** cos(2πx). */
export function cosTurns(x: number): number {
  return Number.isFinite(x) ? sineOfTurns(x, 1) : NaN;
}
