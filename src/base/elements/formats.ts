// Floating-point formats: bit patterns to numbers and back, for every format CDNA computes in or converts to.
// Sources: IEEE 754-2019; OCP 8-bit Floating Point Specification 1.0; OCP Microscaling Formats 1.0; AMD CDNA3 ISA §"FP8 and BF8" (FNUZ).

/** Rounding of MODE.fp_round: to nearest even, towards +inf, towards -inf, towards zero. */
export type Rounding = 0 | 1 | 2 | 3;
export const NEAREST_EVEN = 0;
export const TOWARD_ZERO = 3;

/** How a small format spends its codes beyond finite values. */
type Specials = 'ieee' | 'fn' | 'fnuz' | 'finite';

/** A binary format of at most 16 bits. */
export interface SmallFormat {
  readonly bits: number;
  /** Fraction bits. */
  readonly fraction: number;
  readonly bias: number;
  /**
   * `ieee`: infinities and NaNs in the top exponent; `fn`: one NaN per sign (all ones), no infinity;
   * `fnuz`: NaN is the code of -0, no infinity; `finite`: neither.
   */
  readonly specials: Specials;
}

export const F16: SmallFormat = { bits: 16, fraction: 10, bias: 15, specials: 'ieee' };
export const BF16: SmallFormat = { bits: 16, fraction: 7, bias: 127, specials: 'ieee' };
export const FP8_FNUZ: SmallFormat = { bits: 8, fraction: 3, bias: 8, specials: 'fnuz' };
export const BF8_FNUZ: SmallFormat = { bits: 8, fraction: 2, bias: 16, specials: 'fnuz' };
export const FP8_OCP: SmallFormat = { bits: 8, fraction: 3, bias: 7, specials: 'fn' };
export const BF8_OCP: SmallFormat = { bits: 8, fraction: 2, bias: 15, specials: 'ieee' };
export const FP6: SmallFormat = { bits: 6, fraction: 3, bias: 1, specials: 'finite' };
export const BF6: SmallFormat = { bits: 6, fraction: 2, bias: 3, specials: 'finite' };
export const FP4: SmallFormat = { bits: 4, fraction: 1, bias: 1, specials: 'finite' };

const f32View = new Float32Array(1);
const i32View = new Int32Array(f32View.buffer);
const f64View = new Float64Array(1);
const i32Pair = new Int32Array(f64View.buffer);
const i64View = new BigInt64Array(f64View.buffer);

/** The f32 with this bit pattern. */
export function f32FromBits(bits: number): number {
  i32View[0] = bits;
  return f32View[0] as number;
}
/** The bit pattern of an f32 as a signed 32-bit integer. NaNs become the default quiet NaN: numbers carry no payload. */
export function bitsFromF32(value: number): number {
  if (Number.isNaN(value)) return 0x7fc00000;
  f32View[0] = value;
  return i32View[0] as number;
}
/** The f64 whose low and high words these are. */
export function f64FromWords(low: number, high: number): number {
  i32Pair[0] = low;
  i32Pair[1] = high;
  return f64View[0] as number;
}
/** Words of an f64; a NaN is the default quiet NaN. */
export function f64LowWord(value: number): number {
  if (Number.isNaN(value)) return 0;
  f64View[0] = value;
  return i32Pair[0] as number;
}
export function f64HighWord(value: number): number {
  if (Number.isNaN(value)) return 0x7ff80000;
  f64View[0] = value;
  return i32Pair[1] as number;
}
export function bitsFromF64(value: number): bigint {
  f64View[0] = value;
  return i64View[0] as bigint;
}
export function f64FromBits(bits: bigint): number {
  i64View[0] = BigInt.asIntN(64, bits);
  return f64View[0] as number;
}

/** floor(log2(|x|)) of a finite non-zero number; for f64 denormals their true exponent. */
export function exponentOf(x: number): number {
  f64View[0] = x;
  const field = ((i32Pair[1] as number) >>> 20) & 0x7ff;
  if (field !== 0) return field - 1023;
  return exponentOf(x * 2 ** 64) - 64;
}

const POWERS = Float64Array.from({ length: 2098 }, (_, n) => 2 ** (n - 1074));

/** 2^n exactly, for n from -1074 to 1023. */
export function pow2(n: number): number {
  return POWERS[n + 1074] as number;
}

/** Rounds to an integer in one of the four modes. Exact for |x| < 2^52. */
export function roundInteger(x: number, rounding: Rounding): number {
  if (rounding === 1) return Math.ceil(x);
  if (rounding === 2) return Math.floor(x);
  if (rounding === 3) return Math.trunc(x);
  return rint(x);
}

/** Rounds to the nearest integer, ties to even, keeping the sign of zero. */
export function rint(x: number): number {
  if (!(Math.abs(x) < 4503599627370496)) return x;
  const f = Math.floor(x);
  const d = x - f;
  const r = d < 0.5 ? f : d > 0.5 ? f + 1 : f % 2 === 0 ? f : f + 1;
  return r === 0 && (x < 0 || Object.is(x, -0)) ? -0 : r;
}

/**
 * Rounds to a binary format with `fraction` fraction bits and normal exponents from `emin` to `emax`, denormals kept.
 * Beyond the largest finite value the result is infinite or, in a mode that rounds back, the largest finite value.
 */
export function roundToPrecision(x: number, fraction: number, emin: number, emax: number, rounding: Rounding): number {
  if (x === 0 || x - x !== 0) return x;
  const quantum = pow2(Math.max(exponentOf(x), emin) - fraction);
  const rounded = roundInteger(x / quantum, rounding) * quantum;
  const largest = (2 - pow2(-fraction)) * pow2(emax);
  if (Math.abs(rounded) <= largest) return rounded === 0 && x < 0 ? -0 : rounded;
  const towardsZero = rounding === 3 || (rounding === 1 && x < 0) || (rounding === 2 && x > 0);
  return x < 0 ? (towardsZero ? -largest : -Infinity) : towardsZero ? largest : Infinity;
}

/** Rounds a number (exact, or rounded to odd in f64) to f32. */
export function roundToF32(x: number, rounding: Rounding): number {
  return rounding === NEAREST_EVEN ? Math.fround(x) : roundToPrecision(x, 23, -126, 127, rounding);
}

/** Decodes the low `format.bits` bits. */
export function decodeSmall(format: SmallFormat, code: number): number {
  const { bits, fraction, bias, specials } = format;
  const sign = (code >>> (bits - 1)) & 1 ? -1 : 1;
  const exponentBits = bits - 1 - fraction;
  const exponent = (code >>> fraction) & ((1 << exponentBits) - 1);
  const mantissa = code & ((1 << fraction) - 1);
  const top = (1 << exponentBits) - 1;
  if (specials === 'ieee' && exponent === top) return mantissa === 0 ? sign * Infinity : NaN;
  if (specials === 'fn' && exponent === top && mantissa === (1 << fraction) - 1) return NaN;
  if (specials === 'fnuz' && sign < 0 && exponent === 0 && mantissa === 0) return NaN;
  if (exponent === 0) return sign * mantissa * pow2(1 - bias - fraction);
  return sign * (mantissa + (1 << fraction)) * pow2(exponent - bias - fraction);
}

/** The largest finite value of a format. */
export function largestOf(format: SmallFormat): number {
  const { bits, fraction, bias, specials } = format;
  const top = (1 << (bits - 1 - fraction)) - 1;
  if (specials === 'ieee') return (2 - pow2(-fraction)) * pow2(top - 1 - bias);
  const mantissa = (1 << fraction) - (specials === 'fn' ? 2 : 1);
  return (mantissa + (1 << fraction)) * pow2(top - bias - fraction);
}

/**
 * Encodes a number (exact, or rounded to odd). `saturate` clamps overflow and infinities to the largest finite value
 * (MODE.fp16_ovfl); otherwise overflow is an infinity where the format has one, else its NaN. `finite` formats always saturate.
 */
export function encodeSmall(
  format: SmallFormat,
  x: number,
  rounding: Rounding = NEAREST_EVEN,
  saturate = false,
): number {
  const { bits, fraction, bias, specials } = format;
  const signBit = x < 0 || Object.is(x, -0) ? 1 << (bits - 1) : 0;
  const top = (1 << (bits - 1 - fraction)) - 1;
  const nan =
    specials === 'ieee'
      ? (top << fraction) | (1 << (fraction - 1))
      : specials === 'fnuz'
        ? 1 << (bits - 1)
        : specials === 'fn'
          ? (1 << (bits - 1)) - 1
          : largestCode(format);
  if (Number.isNaN(x)) return nan;
  const largest = largestOf(format);
  let magnitude = Math.abs(x);
  if (magnitude !== Infinity && magnitude !== 0) {
    const signed = rounding === 0 || rounding === 3 ? rounding : (rounding === 1) === signBit > 0 ? 3 : 1;
    const quantum = pow2(Math.max(exponentOf(magnitude), 1 - bias) - fraction);
    magnitude = roundInteger(magnitude / quantum, signed) * quantum;
    if (magnitude > largest && signed === 3) magnitude = largest;
  }
  if (magnitude > largest) {
    if (saturate || specials === 'finite') return signBit | largestCode(format);
    if (specials === 'ieee') return signBit | (top << fraction);
    return specials === 'fn' ? signBit | nan : nan;
  }
  if (magnitude === 0) return specials === 'fnuz' ? 0 : signBit;
  const exponent = Math.max(exponentOf(magnitude), 1 - bias);
  const scaled = magnitude * pow2(fraction - exponent);
  // A denormal has scaled < 2^fraction and biased exponent 1 here, which the subtraction turns into exponent field 0.
  return signBit | (((exponent + bias) << fraction) + (scaled - (1 << fraction)));
}

function largestCode(format: SmallFormat): number {
  const all = (1 << (format.bits - 1)) - 1;
  if (format.specials === 'ieee') return ((all >> format.fraction) << format.fraction) - 1;
  return format.specials === 'fn' ? all - 1 : all;
}

let f16Values: Float64Array | undefined;

function makeF16Values(): Float64Array {
  f16Values = Float64Array.from({ length: 65536 }, (_, code) => decodeSmall(F16, code));
  return f16Values;
}

/** The number of an f16 bit pattern (low 16 bits). */
export function f16FromBits(bits: number): number {
  return (f16Values ?? makeF16Values())[bits & 0xffff] as number;
}
/** The f16 bit pattern of an exact (or rounded to odd) number. */
export function bitsFromF16(value: number, rounding: Rounding = NEAREST_EVEN): number {
  return encodeSmall(F16, value, rounding);
}
/** The number of a bf16 bit pattern (low 16 bits). */
export function bf16FromBits(bits: number): number {
  return f32FromBits(bits << 16);
}
