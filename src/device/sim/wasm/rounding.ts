// Rounding towards zero, up and down, and zeros instead of denormals, as SIMD code: a value rounded to nearest takes one step where the
// exact value, or one rounded to odd, lies on the wrong side of it. Counterparts: roundToPrecision in base/elements/formats.ts,
// isa/semantics/exact.ts.
import type { Rounding } from '../../../base/elements/formats.ts';
import type { WasmFunction } from './emit.ts';
import { choosing } from './features.ts';

/** Rounding of MODE other than to nearest: 1 up, 2 down, 3 towards zero. */
export type Directed = Exclude<Rounding, 0>;

/** Vectors of floats. */
export type FloatVector = 'f32x4' | 'f64x2';

const ONE64: [number, number, number, number] = [1, 0, 1, 0];
const SIGN32: [number, number, number, number] = [-0x80000000, -0x80000000, -0x80000000, -0x80000000];
const SIGN64: [number, number, number, number] = [0, -0x80000000, 0, -0x80000000];

/** Whether a nearest value (pushed first) is on the wrong side of the exact one, as a mask. */
export function pushWrongSide(
  fn: WasmFunction,
  type: FloatVector,
  rounding: Directed,
  nearest: number,
  exact: number,
): void {
  const size = (x: number): void => {
    fn.get(x);
    if (rounding === 3) fn.abs(type);
  };
  size(nearest);
  size(exact);
  fn.op(`${type}.${rounding === 1 ? 'lt' : 'gt'}`);
}

/** Pushes what the i32 of a float gets where `wrong` is set; `signs` has the floats' signs in the highest bits. */
export function pushStep(fn: WasmFunction, rounding: Directed, signs: number, wrong: number): void {
  if (rounding === 3) {
    fn.get(wrong);
    return;
  }
  // ±1: away from zero when the sign is that of the direction.
  fn.get(signs).i32(31).op('i32x4.shr_s').v128(1, 1, 1, 1).op('v128.or');
  if (rounding === 2) fn.op('i32x4.neg');
  fn.get(wrong).op('v128.and');
}

/** Pushes the floats of a local, rounded to nearest, rounded in a direction: the stack has numbers with the sign of what they have too much. */
export function stepFloat(fn: WasmFunction, type: FloatVector, rounding: Directed, nearest: number): void {
  const integer = type === 'f32x4' ? 'i32x4' : 'i64x2';
  if (rounding === 3) {
    // One less where the signs are the same.
    fn.get(nearest)
      .v128(...(type === 'f32x4' ? SIGN32 : SIGN64))
      .op('v128.and')
      .op('v128.xor');
    fn.v128(0, 0, 0, 0).op(`${type}.gt`).get(nearest).op(`${integer}.add`);
    return;
  }
  const wrong = fn.local('v128');
  fn.v128(0, 0, 0, 0)
    .op(`${type}.${rounding === 1 ? 'lt' : 'gt'}`)
    .set(wrong)
    .get(nearest);
  // ±1: away from zero when the sign is that of the direction. Hosts have no shift of 64 bits that keeps the sign.
  fn.get(nearest);
  if (type === 'f32x4') fn.i32(31).op('i32x4.shr_s').v128(1, 1, 1, 1);
  else
    fn.v128(0, 0, 0, 0)
      .op('i64x2.lt_s')
      .v128(...ONE64);
  fn.op('v128.or')
    .get(wrong)
    .op('v128.and')
    .op(`${integer}.${rounding === 1 ? 'add' : 'sub'}`);
  fn.release('v128', wrong);
}

/**
 * f16 bits in a local, rounded to nearest, of the f32 values in `exact`; `decoded` has their values. Pushes the bits rounded in a
 * direction.
 */
export function stepHalf(fn: WasmFunction, rounding: Directed, bits: number, decoded: number, exact: number): void {
  const wrong = fn.local('v128');
  pushWrongSide(fn, 'f32x4', rounding, decoded, exact);
  fn.set(wrong).get(bits);
  pushStep(fn, rounding, exact, wrong);
  fn.op('i32x4.add');
  fn.release('v128', wrong);
}

/** The signs of the two 64-bit lanes on the stack as masks. Shifting words is an instruction of the host, shifting 64 bits is not. */
export function pushSigns(fn: WasmFunction): void {
  const x = fn.local('v128');
  fn.tee(x).get(x).shuffle32(1, 1, 3, 3).i32(31).op('i32x4.shr_s');
  fn.release('v128', x);
}

/**
 * Gives exact zeros in a local the sign of rounding down: negative unless both terms, with the signs of `a` and `b`, are positive. All
 * are f64, or f32.
 */
export function signZeroDown(fn: WasmFunction, sum: number, a: number, b: number, type: FloatVector = 'f64x2'): void {
  fn.get(sum).get(a).get(b).op('v128.or');
  if (type === 'f64x2') fn.v128(...SIGN64);
  else fn.v128(...SIGN32);
  fn.op('v128.and').get(sum).v128(0, 0, 0, 0).op(`${type}.eq`).op('v128.and').op('v128.or').set(sum);
}

/** Formats with denormals: f16 in the low half of 32-bit lanes, or in the high half. */
export type DenormalFormat = 'f16' | 'high f16' | 'f32' | 'f64';
const EXPONENTS: Record<DenormalFormat, readonly [exponent: number, sign: number]> = {
  f16: [0x7c00, 0x8000],
  'high f16': [0x7c000000, -0x80000000],
  f32: [0x7f800000, -0x80000000],
  f64: [0x7ff00000, -0x80000000],
};

/** Replaces denormal bits on the stack by zeros of their sign, or by positive ones (which all zeros become then). */
export function flushDenormals(fn: WasmFunction, format: DenormalFormat, sign = true): void {
  const x = fn.local('v128');
  const [exponent, signBit] = EXPONENTS[format];
  const isDouble = format === 'f64';
  const word = (value: number): void => void fn.v128(isDouble ? 0 : value, value, isDouble ? 0 : value, value);
  fn.tee(x).get(x);
  word(exponent);
  fn.op('v128.and')
    .v128(0, 0, 0, 0)
    .op(isDouble ? 'i64x2.eq' : 'i32x4.eq');
  if (sign) {
    if (isDouble) fn.v128(-1, 0x7fffffff, -1, 0x7fffffff);
    else word(~signBit);
    fn.op('v128.and');
  }
  fn.op('v128.andnot');
  fn.release('v128', x);
}

/** Replaces f32 values on the stack that are denormals of f16 by zeros of their sign. */
export function flushHalfValues(fn: WasmFunction): void {
  const x = fn.local('v128');
  fn.tee(x).get(x).abs('f32x4');
  fn.v128(0x38800000, 0x38800000, 0x38800000, 0x38800000).op('f32x4.lt');
  fn.v128(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff).op('v128.and').op('v128.andnot');
  fn.release('v128', x);
}

/** Pushes the f32 values of a local with every NaN the default quiet one. */
export function canonical(fn: WasmFunction, local: number): void {
  fn.get(local).v128(0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000);
  fn.get(local).get(local).op('f32x4.eq').op(choosing());
}

/** Replaces f64 NaNs on the stack by the default quiet one. */
export function canonicalDouble(fn: WasmFunction): void {
  const x = fn.local('v128');
  fn.tee(x).v128(0, 0x7ff80000, 0, 0x7ff80000).get(x).get(x).op('f64x2.eq').op(choosing());
  fn.release('v128', x);
}
