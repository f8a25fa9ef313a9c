// What each expression operator computes, on plain numbers. i32 values are signed JS integers, i64 values unsigned BigInts,
// floats JS numbers already rounded to their type. Transcendental operators: an f64 result, rounded to f32 and then to its type
// (transcendental.ts).

import {
  BF8_FNUZ,
  BF8_OCP,
  BF16,
  bitsFromF16,
  bitsFromF32,
  decodeSmall,
  encodeSmall,
  exponentOf,
  F16,
  FP8_FNUZ,
  FP8_OCP,
  f16FromBits,
  f32FromBits,
  f64FromWords,
  largestOf,
  pow2,
  type Rounding,
  rint,
  roundToF32,
  roundToPrecision,
  type SmallFormat,
} from '../../../base/elements/formats.ts';
import {
  addF64,
  addToOdd,
  composeF64,
  decompose,
  fmaF64,
  fmaScaledF64,
  fmaToOdd,
  mulF64,
  zeroSum,
} from '../../../isa/semantics/exact.ts';
import {
  cosTurns,
  exp2,
  log2,
  reciprocalRoot,
  sinTurns,
  type TranscendentalFormat,
} from '../../../isa/semantics/transcendental.ts';
import type { LaneEnv } from '../state/lane-env.ts';
import { divFixup, divScale, trigPreop } from './division.ts';
import { extremeBits } from './extremes.ts';

/** Up to four operands; most operators take three at most. */
export type NumberOperator = (a: number, b: number, c: number, env: LaneEnv, d: number) => number;
export type TestOperator = (a: number, b: number, c: number, env: LaneEnv) => boolean;

const toF16 = (x: number, rounding: Rounding): number => roundToPrecision(x, 10, -14, 15, rounding);
const toBf16 = (x: number, rounding: Rounding): number => roundToPrecision(x, 7, -126, 127, rounding);

/** a + b, of which one may be a product of f32, in f32. */
function sumF32(a: number, b: number, rounding: Rounding): number {
  const sum = addToOdd(a, b);
  return sum === 0 ? zeroSum(a, b, rounding) : roundToF32(sum, rounding);
}
/** a + b, of which one may be a product of f16, in f16. */
function sumF16(a: number, b: number, rounding: Rounding): number {
  const sum = addToOdd(a, b);
  return sum === 0 ? zeroSum(a, b, rounding) : toF16(sum, rounding);
}

interface FloatFamily {
  readonly round: (x: number, env: LaneEnv) => number;
  readonly add: NumberOperator;
  readonly mul: NumberOperator;
  readonly fma: NumberOperator;
  /** Exponent range and bits, for frexp, ldexp and division. */
  readonly format: 'f16' | 'bf16' | 'f32' | 'f64';
}

const f32: FloatFamily = {
  format: 'f32',
  round: (x, env) => roundToF32(x, env.round32),
  add: (a, b, _c, env) => (env.round32 === 0 ? Math.fround(a + b) : sumF32(a, b, env.round32)),
  mul: (a, b, _c, env) => roundToF32(a * b, env.round32),
  fma: (a, b, c, env) => sumF32(a * b, c, env.round32),
};
const f16: FloatFamily = {
  format: 'f16',
  round: (x, env) => toF16(x, env.round64),
  add: (a, b, _c, env) => sumF16(a, b, env.round64),
  mul: (a, b, _c, env) => toF16(a * b, env.round64),
  fma: (a, b, c, env) => sumF16(a * b, c, env.round64),
};
const bf16: FloatFamily = {
  format: 'bf16',
  round: (x) => toBf16(x, 0),
  add: (a, b) => toBf16(addToOdd(a, b), 0),
  mul: (a, b) => toBf16(a * b, 0),
  fma: (a, b, c) => toBf16(fmaToOdd(a, b, c), 0),
};
const f64: FloatFamily = {
  format: 'f64',
  round: (x) => x,
  add: (a, b, _c, env) => addF64(a, b, env.round64),
  mul: (a, b, _c, env) => mulF64(a, b, env.round64),
  fma: (a, b, c, env) => fmaF64(a, b, c, env.round64),
};

function minNum(a: number, b: number): number {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b);
}
function maxNum(a: number, b: number): number {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
}

function fract(x: number, family: FloatFamily, env: LaneEnv): number {
  if (!Number.isFinite(x)) return NaN;
  // A tiny negative number would round to 1.0; the result stays below 1.
  const below =
    family.format === 'f16' ? 0.99951171875 : family.format === 'f32' ? 0.9999999403953552 : 0.9999999999999999;
  // Its zeros are positive in every rounding.
  const whole = Math.floor(x);
  const rest = family.format === 'f64' && whole !== x ? addF64(x, -whole, env.round64) : family.round(x - whole, env);
  return Math.min(rest, below);
}

/** An f16 made of a number, as it is written: overflows and denormals as MODE has them. */
function writtenHalf(x: number, from: number, env: LaneEnv): number {
  if (env.saturate && Math.abs(x) > 65504 && Number.isFinite(from)) return x > 0 ? 65504 : -65504;
  return !env.denormalOut64 && Math.abs(x) < 2 ** -14 ? x * 0 : x;
}

function frexpMantissa(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const e = exponentOf(x) + 1;
  return e < -1000 ? x * 2 ** 200 * pow2(-e - 200) : x * 0.5 * pow2(-e + 1);
}

/** x·2^n with one rounding; n is any i32. */
function scaleBy(x: number, n: number, family: FloatFamily, env: LaneEnv): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const shift = Math.max(-2200, Math.min(2200, n));
  if (family.format !== 'f64') {
    // The product of a narrow number and a power of two is exact in f64 within these limits.
    const clamped = Math.max(-600, Math.min(600, shift));
    return family.round(x * pow2(clamped), env);
  }
  const [mantissa, exponent] = decompose(x);
  return composeF64(mantissa, exponent + shift, env.round64);
}

function floatOperators(family: FloatFamily): Record<string, NumberOperator> {
  const { round, format } = family;
  const unary =
    (f: (x: number) => number): NumberOperator =>
    (a, _b, _c, env) =>
      round(f(a), env);
  // The f32 result is to nearest in every mode.
  const transcendental =
    (f: (x: number, format: TranscendentalFormat) => number): NumberOperator =>
    (a, _b, _c, env) =>
      format === 'f32' ? f(a, 'f32') : round(f(a, 'f16'), env);
  /** V_SIN and V_COS of f32 are defined for |x| <= 256 turns; beyond, sine is 0 and cosine 1. */
  const isBeyondRange = (x: number): boolean => format === 'f32' && Math.abs(x) > 256 && Number.isFinite(x);
  return {
    add: family.add,
    sub: (a, b, c, env) => family.add(a, -b, c, env, 0),
    mul: family.mul,
    fma: family.fma,
    fma_scaled: (a, b, c, env, scale) => {
      if (format === 'f64') return fmaScaledF64(a, b, c, scale, env.round64);
      const sum = fmaToOdd(a, b, c);
      return sum === 0 ? zeroSum(a * b, c, env.round32) : round(sum * pow2(scale), env);
    },
    neg: (a) => -a,
    abs: (a) => Math.abs(a),
    min: minNum,
    max: maxNum,
    minimum: (a, b) => Math.min(a, b),
    maximum: (a, b) => Math.max(a, b),
    floor: (a) => Math.floor(a),
    ceil: (a) => Math.ceil(a),
    trunc: (a) => Math.trunc(a),
    rint: (a) => rint(a),
    fract: (a, _b, _c, env) => fract(a, family, env),
    rcp: unary((x) => 1 / x),
    rsq: format === 'f64' ? unary((x) => 1 / Math.sqrt(x)) : transcendental(reciprocalRoot),
    sqrt: unary(Math.sqrt),
    exp2: transcendental(exp2),
    log2: transcendental(log2),
    sin_turns: transcendental((x, narrow) => (isBeyondRange(x) ? 0 : sinTurns(x, narrow))),
    cos_turns: transcendental((x, narrow) => (isBeyondRange(x) ? 1 : cosTurns(x, narrow))),
    frexp_mant: frexpMantissa,
    frexp_exp: (a) => (a === 0 || !Number.isFinite(a) ? 0 : exponentOf(a) + 1),
    ldexp: (a, b, _c, env) => scaleBy(a, b, family, env),
    div_scale: (a, b, c) => {
      const { value } = divScale(a, b, c, format);
      return format === 'f32' ? Math.fround(value) : value;
    },
    div_fixup: (a, b, c) => divFixup(a, b, c, format),
    trig_preop: (a, b) => trigPreop(a, b),
    bits: format === 'f32' ? bitsFromF32 : (a) => (format === 'f16' ? bitsFromF16(a) : encodeSmall(BF16, a)),
    // Conversions into this type; the argument's type only matters to a typed backend.
    from_f16: (a, _b, _c, env) => round(a, env),
    from_bf16: (a, _b, _c, env) => round(a, env),
    from_f32: (a, _b, _c, env) => round(a, env),
    from_f64: (a, _b, _c, env) => round(a, env),
    from_f32_rtz: (a, _b, _c, env) => (format === 'f16' ? writtenHalf(toF16(a, 3), a, env) : toBf16(a, 3)),
    from_f32_rne: (a, _b, _c, env) => (format === 'f16' ? writtenHalf(toF16(a, 0), a, env) : toBf16(a, 0)),
    from_f32_sr: (a, seed, _c, env) =>
      format === 'f16' ? writtenHalf(stochastic(a, seed, F16, 23), a, env) : stochastic(a, seed, BF16, 23),
    from_i32_s: (a, _b, _c, env) => round(a, env),
    from_i32_u: (a, _b, _c, env) => round(a >>> 0, env),
    from_fp8: (a, _b, _c, env) => decodeSmall(fp8Format(env), a),
    from_bf8: (a, _b, _c, env) => decodeSmall(bf8Format(env), a),
  };
}

export function fp8Format(env: LaneEnv): SmallFormat {
  return env.ocp ? FP8_OCP : FP8_FNUZ;
}
export function bf8Format(env: LaneEnv): SmallFormat {
  return env.ocp ? BF8_OCP : BF8_FNUZ;
}

/** Rounds to a format by adding the seed's high bits below the last kept bit and truncating; the result is a number. */
export function stochastic(x: number, seed: number, format: SmallFormat, sourceFraction: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const dropped = sourceFraction - format.fraction;
  const fraction = (seed >>> (32 - dropped)) / 2 ** dropped;
  const quantum = pow2(Math.max(exponentOf(x), 1 - format.bias) - format.fraction);
  const magnitude = Math.floor(Math.abs(x) / quantum + fraction) * quantum;
  const limited =
    magnitude > largestOf(format) && Math.abs(x) <= largestOf(format) && format.specials !== 'ieee'
      ? largestOf(format)
      : magnitude;
  return x < 0 ? -limited : limited;
}

const NARROW: Record<string, (env: LaneEnv) => SmallFormat> = { fp8: fp8Format, bf8: bf8Format };

const I32: Record<string, NumberOperator> = {
  add: (a, b) => (a + b) | 0,
  sub: (a, b) => (a - b) | 0,
  mul: (a, b) => Math.imul(a, b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => ~a,
  neg: (a) => -a | 0,
  abs: (a) => (a < 0 ? -a | 0 : a),
  shl: (a, b) => a << b,
  shr_s: (a, b) => a >> b,
  shr_u: (a, b) => (a >>> b) | 0,
  mulhi_s: (a, b) => Number(BigInt.asIntN(32, (BigInt(a) * BigInt(b)) >> 32n)),
  mulhi_u: (a, b) => Number(BigInt.asIntN(32, (BigInt(a >>> 0) * BigInt(b >>> 0)) >> 32n)),
  min_s: (a, b) => Math.min(a, b),
  max_s: (a, b) => Math.max(a, b),
  min_u: (a, b) => (a >>> 0 < b >>> 0 ? a : b),
  max_u: (a, b) => (a >>> 0 > b >>> 0 ? a : b),
  clz: (a) => Math.clz32(a),
  ctz: (a) => (a === 0 ? 32 : 31 - Math.clz32(a & -a)),
  popcnt: (a) => popcount(a),
  bitrev: (a) => reverseBits(a),
  trunc_s: (a) => (Number.isNaN(a) ? 0 : Math.max(-2147483648, Math.min(2147483647, Math.trunc(a)))),
  trunc_u: (a) => (Number.isNaN(a) ? 0 : Math.max(0, Math.min(4294967295, Math.trunc(a))) | 0),
};
for (const name of ['fp8', 'bf8']) {
  const format = NARROW[name] as (env: LaneEnv) => SmallFormat;
  I32[`to_${name}`] = (a, _b, _c, env) => encodeSmall(format(env), a, 0, env.saturate);
  I32[`to_${name}_sr`] = (a, seed, _c, env) =>
    encodeSmall(format(env), stochastic(a, seed, format(env), 23), 0, env.saturate);
}

/** Number of one bits of a 32-bit integer. */
export function popcount(a: number): number {
  let x = a - ((a >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  x = (x + (x >>> 4)) & 0x0f0f0f0f;
  return Math.imul(x, 0x01010101) >>> 24;
}

export function reverseBits(a: number): number {
  let x = ((a >>> 1) & 0x55555555) | ((a & 0x55555555) << 1);
  x = ((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  x = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8);
  return (x >>> 16) | (x << 16);
}

/** The class number v_cmp_class tests, from raw bits: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0 … 9 +inf. */
function classOf(low: number, high: number, type: 'f16' | 'f32' | 'f64'): number {
  const fractionBits = type === 'f16' ? 10 : type === 'f32' ? 23 : 20;
  const word = type === 'f64' ? high : type === 'f16' ? low & 0xffff : low;
  const signBit = type === 'f16' ? 15 : 31;
  const negative = (word >>> signBit) & 1;
  const top = (1 << (signBit - fractionBits)) - 1;
  const exponent = (word >>> fractionBits) & top;
  const fraction = word & ((1 << fractionBits) - 1);
  const zero = fraction === 0 && (type !== 'f64' || low === 0);
  if (exponent === top) {
    if (zero) return negative ? 2 : 9;
    return (fraction >>> (fractionBits - 1)) & 1;
  }
  if (exponent > 0) return negative ? 3 : 8;
  return zero ? (negative ? 5 : 6) : negative ? 4 : 7;
}

/** Operators with number operands and a number result, by full name. */
export const NUMBER_OPERATORS: Record<string, NumberOperator> = {
  'f16.class_of': (low, high) => classOf(low, high, 'f16'),
  'f32.class_of': (low, high) => classOf(low, high, 'f32'),
  'f64.class_of': (low, high) => classOf(low, high, 'f64'),
};
for (const [name, f] of Object.entries(I32)) NUMBER_OPERATORS[`i32.${name}`] = f;
for (const family of [f16, bf16, f32, f64]) {
  for (const [name, f] of Object.entries(floatOperators(family))) NUMBER_OPERATORS[`${family.format}.${name}`] = f;
}

/** Operators with number operands and a boolean result. */
export const TEST_OPERATORS: Record<string, TestOperator> = {
  'i32.eq': (a, b) => a === b,
  'i32.ne': (a, b) => a !== b,
  'i32.lt_s': (a, b) => a < b,
  'i32.lt_u': (a, b) => a >>> 0 < b >>> 0,
};
for (const { format } of [f16, bf16, f32, f64]) {
  TEST_OPERATORS[`${format}.eq`] = (a, b) => a === b;
  TEST_OPERATORS[`${format}.ne`] = (a, b) => a !== b;
  TEST_OPERATORS[`${format}.lt`] = (a, b) => a < b;
  TEST_OPERATORS[`${format}.le`] = (a, b) => a <= b;
  TEST_OPERATORS[`${format}.is_nan`] = (a) => Number.isNaN(a);
  TEST_OPERATORS[`${format}.div_scale_flag`] = (a, b, c) => divScale(a, b, c, format).flag;
}

for (const name of ['f16', 'f32'] as const) {
  for (const [operator, larger] of [
    ['min_bits', false],
    ['max_bits', true],
  ] as const) {
    const f = extremeBits(name, larger);
    NUMBER_OPERATORS[`${name}.${operator}`] = (a, b, _c, env) =>
      Number(BigInt.asIntN(32, f(BigInt(a), BigInt(b), env)));
  }
}
NUMBER_OPERATORS['f16.from_bits'] = (a) => f16FromBits(a & 0xffff);
NUMBER_OPERATORS['f32.from_bits'] = (a) => f32FromBits(a);

const MASK = 0xffffffffffffffffn;
const signed = (a: bigint): bigint => BigInt.asIntN(64, a);
const below = (a: bigint, b: bigint): boolean => a < b;

/** i64 → i64 operators. */
export const BIG_OPERATORS: Record<string, (a: bigint, b: bigint, env: LaneEnv) => bigint> = {
  'f64.min_bits': extremeBits('f64', false),
  'f64.max_bits': extremeBits('f64', true),
  'i64.add': (a, b) => (a + b) & MASK,
  'i64.sub': (a, b) => (a - b) & MASK,
  'i64.mul': (a, b) => (a * b) & MASK,
  'i64.and': (a, b) => a & b,
  'i64.or': (a, b) => a | b,
  'i64.xor': (a, b) => a ^ b,
  'i64.not': (a) => a ^ MASK,
  'i64.neg': (a) => -a & MASK,
  'i64.min_s': (a, b) => (signed(a) < signed(b) ? a : b),
  'i64.max_s': (a, b) => (signed(a) > signed(b) ? a : b),
  'i64.min_u': (a, b) => (below(a, b) ? a : b),
  'i64.max_u': (a, b) => (below(b, a) ? a : b),
  'i64.bitrev': (a) =>
    (BigInt(reverseBits(Number(BigInt.asIntN(32, a))) >>> 0) << 32n) |
    BigInt(reverseBits(Number(BigInt.asIntN(32, a >> 32n))) >>> 0),
};
/** i64 shifts: the count is an i32, modulo 64. */
export const BIG_SHIFTS: Record<string, (a: bigint, count: bigint) => bigint> = {
  'i64.shl': (a, n) => (a << n) & MASK,
  'i64.shr_u': (a, n) => a >> n,
  'i64.shr_s': (a, n) => (signed(a) >> n) & MASK,
};
export const BIG_TESTS: Record<string, (a: bigint, b: bigint) => boolean> = {
  'i64.eq': (a, b) => a === b,
  'i64.ne': (a, b) => a !== b,
  'i64.lt_s': (a, b) => signed(a) < signed(b),
  'i64.lt_u': (a, b) => a < b,
};
const low32 = (a: bigint): number => Number(BigInt.asIntN(32, a));
const high32 = (a: bigint): number => Number(BigInt.asIntN(32, a >> 32n));
/** i64 → number operators. */
export const BIG_TO_NUMBER: Record<string, (a: bigint) => number> = {
  'i32.wrap': low32,
  'f64.from_bits': (a) => f64FromWords(low32(a), high32(a)),
  'i64.clz': (a) => (high32(a) === 0 ? 32 + Math.clz32(low32(a)) : Math.clz32(high32(a))),
  'i64.ctz': (a) => {
    const low = low32(a);
    if (low !== 0) return 31 - Math.clz32(low & -low);
    const top = high32(a);
    return top === 0 ? 64 : 63 - Math.clz32(top & -top);
  },
  'i64.popcnt': (a) => popcount(low32(a)) + popcount(high32(a)),
};
/** number → i64 operators. */
export const NUMBER_TO_BIG: Record<string, (a: number) => bigint> = {
  'i64.extend_s': (a) => BigInt.asUintN(64, BigInt(a)),
  'i64.extend_u': (a) => BigInt(a >>> 0),
};
