// exp2, log2, sine and cosine of turns and the reciprocal root: an f64 result within 2^-34 of the function, made of plain f64 operations
// in a fixed order and rounded once to f32, so that every backend gets the same bits. f16 results are rounded from the f32 ones.
// Coefficients: the least largest relative error on the interval (Remez's algorithm in 40 digits).
import { f64FromWords, f64HighWord, f64LowWord, pow2, rint } from '../../base/elements/formats.ts';

/** (2^r − 1) / r on [-½, ½], within 2^-34.3 of 2^r. */
export const EXP2 = [
  0.6931471807045329, 0.2402265106654087, 0.05550410365952723, 0.009618038134403423, 0.0013333935088508313,
  0.0001546675573740497, 1.5196149743674464e-5,
] as const;
/** log2((1 + s) / (1 − s)) / s in powers of s², for (1 + s) / (1 − s) in [√½, √2), within 2^-37.8. */
export const LOG2 = [
  2.8853900817901406, 0.9617966732843503, 0.5770835944521374, 0.41167221829441747, 0.3407383551050965,
] as const;
/** sin(2πv) / v in powers of v², on [-¼, ¼], within 2^-35.5. */
export const SIN = [
  6.2831853070467005, -41.34170209693179, 81.60522369052167, -76.70417026164766, 42.00779721492071, -14.381390820124171,
] as const;
/** Arguments of exp2 are limited to these: of f32, the result is below the normal numbers, or infinite. */
export const EXP2_LIMITS = { f32: [-126.5, 128], f16: [-100, 100] } as const;
/** High word of √½: mantissas are taken from [√½, √2). */
export const SQRT_HALF_HIGH = 0x3fe6a09e;

/** Horner's scheme from the highest coefficient down. */
function polynomial(coefficients: readonly number[], x: number): number {
  let sum = coefficients.at(-1) as number;
  for (let k = coefficients.length - 2; k >= 0; k--) sum = sum * x + (coefficients[k] as number);
  return sum;
}

/** 2^x of an f32 or f16, limited to what its format can tell from zero and infinity: 0 below the normal numbers of f32. */
export function exp2(x: number, format: keyof typeof EXP2_LIMITS): number {
  if (Number.isNaN(x)) return x;
  const [low, high] = EXP2_LIMITS[format];
  const limited = Math.min(Math.max(x, low), high);
  const whole = rint(limited);
  const r = limited - whole;
  const power = (r * polynomial(EXP2, r) + 1) * pow2(whole);
  return power < 2 ** -126 ? 0 : power;
}

/** log2(x) of a number that is no f32 denormal. */
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

/** The part of a turn that is left, in [-½, ½]. */
const turnOf = (x: number): number => x - rint(x);
const sineOf = (v: number): number => v * polynomial(SIN, v * v);

/** sin(2πx). A zero has the sign of x. */
export function sinTurns(x: number): number {
  if (!Number.isFinite(x)) return NaN;
  const turn = turnOf(x);
  const size = Math.abs(turn);
  const folded = Math.min(size, 0.5 - size);
  const isNegative = folded === 0 ? x < 0 || Object.is(x, -0) : turn < 0;
  return isNegative ? -sineOf(folded) : sineOf(folded);
}
/** cos(2πx). A zero is positive. */
export function cosTurns(x: number): number {
  return Number.isFinite(x) ? sineOf(0.25 - Math.abs(turnOf(x))) : NaN;
}

/** 1/√x of an f32 or f16: one step of Newton's method from the f32 result of a root and a division, the step itself in f32. */
export function reciprocalRoot(x: number): number {
  const estimate = Math.fround(1 / Math.fround(Math.sqrt(x)));
  const error = Math.fround(1 - x * estimate * estimate);
  const step = Math.fround(estimate * 0.5) * error;
  return Number.isNaN(step) ? estimate : estimate + Math.fround(step);
}
