// exp2, log2, sine and cosine of turns and the reciprocal root as f32 operations in a fixed order, most of them fused multiply-adds, so
// that every backend gets the same bits. f32 results are within 0.9 ulp of the function and exact where the function is (hardware: 1
// ulp); those for f16 are f32 numbers within 2^-17 of it, to be rounded once more.
// Coefficients: the least largest relative error on the interval (Lawson's algorithm in 40 digits), rounded to f32 from the lowest up,
// the others fitted again each time.
import { bitsFromF32, f32FromBits, rint } from '../../base/elements/formats.ts';
import { fmaToOdd } from './exact.ts';

/** The formats that have these functions. */
export type TranscendentalFormat = 'f32' | 'f16';

/** (2^r − 1) / r on [-½, ½]: 2^r within 2^-28.3, for f16 within 2^-18.4. */
export const EXP2 = {
  f32: [
    0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.00961849931627512, 0.0013390970416367054,
    0.0001532927853986621,
  ],
  f16: [0.6931241750717163, 0.2402409166097641, 0.0559065155684948, 0.009583168663084507],
} as const;
/** log2(1 + f) on [√½ − 1, √2 − 1]: f·LOG2_E + f·(f·rest + LOG2_E_LOW), `rest` within 2^-27.7 of the result; for f16 f·p, within 2^-19.8. */
export const LOG2 = {
  f32: [
    -0.7213473320007324, 0.4808981716632843, -0.36069849133491516, 0.28857386112213135, -0.2395787239074707,
    0.20444060862064362, -0.19120953977108002, 0.18731872737407684, -0.11107098311185837,
  ],
  f16: [
    1.442696452140808, -0.7213634848594666, 0.4806262254714966, -0.35937559604644775, 0.29571399092674255,
    -0.2692842185497284, 0.17151711881160736,
  ],
} as const;
/** log2(e) as two f32. */
export const LOG2_E = 1.4426950216293335;
export const LOG2_E_LOW = 1.925963033500011e-8;
/** sin(2πv) / v − TURN in powers of v² on [0, ⅛], within 2^-28.1; for f16 sin(2πv) / v on [0, ¼], within 2^-25. */
export const SIN = {
  f32: [-1.951946728695475e-7, -41.3416633605957, 81.59268951416016, -75.40755462646484],
  f16: [6.2831854820251465, -41.34176254272461, 81.60823059082031, -76.71649932861328, 40.77927780151367],
} as const;
/** (cos(2πv) − 1) / v² in powers of v² on [0, ⅛], within 2^-31. */
export const COS = [-19.739208221435547, 64.93914794921875, -85.4244155883789, 58.61138916015625] as const;
/** 2π in f32. */
export const TURN = 6.2831854820251465;
/** Arguments of exp2 of f16 are limited to these: results are rounded to zero and beyond its largest number. */
export const EXP2_LIMITS_F16 = [-100, 100] as const;
/** Bits of √½ in f32: mantissas are taken from [√½, √2). */
export const SQRT_HALF_BITS = 0x3f3504f0;

/** a·b + c of f32 with one rounding. */
const fma = (a: number, b: number, c: number): number => Math.fround(fmaToOdd(a, b, c));
const { fround } = Math;

/** The largest power of two below n. */
export const splitOf = (n: number): number => 2 ** (Math.ceil(Math.log2(n)) - 1);

/** Σ c_k x^k: the two lowest coefficients by Horner's scheme, which rounds least, the others by Estrin's, which waits least. */
function polynomial(coefficients: readonly number[], x: number): number {
  const powers = [x];
  const rest = (from: number, count: number): number => {
    if (count === 1) return fround(coefficients[from] as number);
    const low = splitOf(count);
    for (let n = powers.length; 2 ** n <= low; n++) powers.push(fround((powers[n - 1] as number) ** 2));
    return fma(rest(from + low, count - low), powers[Math.log2(low)] as number, rest(from, low));
  };
  const second = fma(rest(2, coefficients.length - 2), x, fround(coefficients[1] as number));
  return fma(second, x, fround(coefficients[0] as number));
}

/** 2^x. Of f32 nothing below the normal numbers; denormals are as near to 0 as makes no difference. */
export function exp2(x: number, format: TranscendentalFormat): number {
  if (Number.isNaN(x)) return x;
  const [low, high] = format === 'f16' ? EXP2_LIMITS_F16 : [-126, 128];
  if (format === 'f32' ? x < low : x === -Infinity) return 0;
  // Beyond the largest number in every rounding.
  if (x === Infinity) return x;
  const limited = Math.min(Math.max(x, low), high);
  const whole = rint(limited);
  const r = fround(limited - whole);
  return fround(fma(r, polynomial(EXP2[format], r), 1) * 2 ** whole);
}

/** log2(x), of f32 denormals as of zeros. */
export function log2(x: number, format: TranscendentalFormat): number {
  if (Math.abs(x) < 2 ** -126) return -Infinity;
  if (!(x > 0)) return NaN;
  if (x === Infinity) return x;
  const bits = bitsFromF32(x);
  const exponent = (bits - SQRT_HALF_BITS) >> 23;
  const f = f32FromBits(bits - (exponent << 23)) - 1;
  const p = polynomial(LOG2[format], f);
  if (format === 'f16') return fma(f, p, exponent);
  const high = fround(f * fround(LOG2_E));
  const low = fma(f, fma(f, p, fround(LOG2_E_LOW)), fma(f, fround(LOG2_E), -high));
  const sum = fround(exponent + high);
  return fround(sum + fround(low + fround(high - fround(sum - exponent))));
}

/** The size of the part of a turn that is left, in [0, ½]. */
const turnOf = (x: number): number => Math.abs(fround(x - rint(x)));

/** sin(2πv) of v in [0, ¼], in f32, or cos(2πv). */
function quarter(v: number, isCosine: boolean): number {
  const rest = fround(0.25 - v);
  const a = Math.min(v, rest);
  const z = fround(a * a);
  if (v > 0.125 !== isCosine) return fma(polynomial(COS, z), z, 1);
  return fma(a, fround(TURN), fround(a * polynomial(SIN.f32, z)));
}
const sine16 = (v: number): number => Math.min(1, fround(v * polynomial(SIN.f16, fround(v * v))));

/** sin(2πx). A zero has the sign of x. */
export function sinTurns(x: number, format: TranscendentalFormat): number {
  if (!Number.isFinite(x)) return NaN;
  const size = turnOf(x);
  const folded = Math.min(size, fround(0.5 - size));
  const isNegative = folded === 0 ? x < 0 || Object.is(x, -0) : x - rint(x) < 0;
  const sine = format === 'f16' ? sine16(folded) : quarter(folded, false);
  return isNegative ? -sine : sine;
}
/** cos(2πx). A zero is positive. */
export function cosTurns(x: number, format: TranscendentalFormat): number {
  if (!Number.isFinite(x)) return NaN;
  const size = turnOf(x);
  if (format === 'f16') return sine16(fround(0.25 - size));
  const cosine = quarter(Math.min(size, fround(0.5 - size)), true);
  return size > 0.25 ? -cosine : cosine;
}

/** 1/√x: of f32 one step of Newton's method from the f32 result of a root and a division. */
export function reciprocalRoot(x: number, format: TranscendentalFormat): number {
  const estimate = fround(1 / fround(Math.sqrt(x)));
  if (format === 'f16') return estimate;
  const root = fround(x * estimate);
  const error = fma(fma(x, estimate, -root), estimate, fma(root, estimate, -1));
  const result = fma(fround(estimate * -0.5), error, estimate);
  return Number.isNaN(result) ? estimate : result;
}
