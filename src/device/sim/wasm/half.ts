// f16 as f32 values in SIMD code: exact decoding, encoding in any rounding, rounding to odd.
// Source: IEEE 754-2019 binary16; rounding to odd makes a second rounding correct (Boldo & Melquiond 2008).
import type { Rounding } from '../../../base/elements/formats.ts';
import type { WasmFunction } from './emit.ts';
import { choosing } from './features.ts';
import { signZeroDown, stepHalf } from './rounding.ts';

const splat = (word: number): [number, number, number, number] => [word, word, word, word];

/** f16 bits in the low half of each lane (the high half is ignored) -> their f32 values. */
export function decodeHalf(fn: WasmFunction): void {
  fn.i32(16).op('i32x4.shl');
  decodeHighHalf(fn);
}

/** f16 bits in the high half of each lane (the low half is ignored) -> their f32 values. */
export function decodeHighHalf(fn: WasmFunction): void {
  const [m, exponent] = [fn.local('v128'), fn.local('v128')];
  // Sign, exponent and fraction where f32 has them: that number is 2^112 too small, unless it is infinite or a NaN.
  fn.i32(3)
    .op('i32x4.shr_s')
    .v128(...splat(-0x70002000))
    .op('v128.and')
    .tee(m)
    .v128(...splat(0x0f800000))
    .op('v128.and')
    .tee(exponent);
  // Denormals would be those of f32, for which hosts take long. A negative zero passes for one.
  fn.v128(0, 0, 0, 0).op('i32x4.eq').get(m).op('v128.and').op('v128.any_true').if('v128');
  decodeWithDenormals(fn, m, exponent);
  fn.else().get(m);
  fn.v128(...splat((112 + 127) << 23)).op('f32x4.mul');
  fn.end();
  fn.get(exponent)
    .v128(...splat(0x0f800000))
    .op('i32x4.eq')
    .v128(...splat(0x7f800000))
    .op('v128.and')
    .op('v128.or');
  fn.release('v128', m);
  fn.release('v128', exponent);
}

/** The same where all are normal numbers or zeros. */
export function decodeOrdinary(fn: WasmFunction): void {
  fn.i32(3)
    .op('i32x4.shr_s')
    .v128(...splat(-0x70002000))
    .op('v128.and')
    .v128(...splat((112 + 127) << 23))
    .op('f32x4.mul');
}

/** Gives what is on the stack the signs of f32 values in a local. */
function joinSign(fn: WasmFunction, x: number): void {
  fn.get(x)
    .v128(...splat(-0x80000000))
    .op('v128.and')
    .op('v128.or');
}

/** Pushes the values of such numbers in a local, where denormals are integers that count the smallest of them. */
function decodeWithDenormals(fn: WasmFunction, m: number, exponent: number): void {
  const isDenormal = fn.local('v128');
  fn.get(m).get(exponent).v128(0, 0, 0, 0).op('i32x4.eq').tee(isDenormal).op('v128.andnot');
  fn.v128(...splat((112 + 127) << 23)).op('f32x4.mul');
  fn.get(m)
    .v128(...splat(0x7fffffff))
    .op('v128.and')
    .get(isDenormal)
    .op('v128.and')
    .op('f32x4.convert_i32x4_s')
    .v128(...splat((127 - 24 - 13) << 23))
    .op('f32x4.mul')
    .op('v128.or');
  joinSign(fn, m);
  fn.release('v128', isDenormal);
}

/** f32 values (exact or rounded to odd) -> f16 bits; NaNs become the default quiet one. */
export function encodeHalf(fn: WasmFunction, rounding: Rounding = 0): void {
  if (rounding === 0) {
    encodeNearest(fn);
    return;
  }
  if (rounding === 3) {
    encodeTruncated(fn);
    return;
  }
  const [x, bits, decoded] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.tee(x);
  encodeNearest(fn);
  fn.tee(bits);
  decodeHalf(fn);
  fn.set(decoded);
  stepHalf(fn, rounding, bits, decoded, x);
  for (const local of [x, bits, decoded]) fn.release('v128', local);
}

/**
 * Sizes on the stack, which end at 65536, become their sum with 2^13 times the power of two below them (½ for denormals): its fraction is
 * then rounded to nearest even where that of the f16 is. The power has 0x800 in its fraction, for `packSum`, and is kept in `power`.
 */
function addPower(fn: WasmFunction, power: number): void {
  const size = power;
  fn.tee(size)
    .get(size)
    .v128(...splat(0x7f800000))
    .op('v128.and')
    .v128(...splat(113 << 23))
    .op('i32x4.max_s')
    .v128(...splat((13 << 23) + 0x800))
    .op('i32x4.add')
    .tee(power)
    .op('f32x4.add');
}

/** Such sums on the stack -> sizes of f16: the exponent, moved down, and the fraction add up to them. NaNs are above all sums. */
function packSum(fn: WasmFunction): void {
  const sum = fn.local('v128');
  fn.v128(...splat(0x4e000e00))
    .op('i32x4.min_u')
    .tee(sum)
    .get(sum)
    .i32(13)
    .op('i32x4.shr_u')
    .op('i32x4.add')
    .v128(...splat(0x7fff))
    .op('v128.and');
  fn.release('v128', sum);
}

/** Puts the signs of f32 values in a local above the sizes of f16 on the stack; NaNs get none. */
function addSigns(fn: WasmFunction, x: number): void {
  fn.get(x)
    .get(x)
    .get(x)
    .op('f32x4.eq')
    .op('v128.and')
    .i32(16)
    .op('i32x4.shr_u')
    .v128(...splat(0x8000))
    .op('v128.and')
    .op('v128.or');
}

/** f32 values -> f16 bits, rounded towards zero. */
function encodeTruncated(fn: WasmFunction): void {
  const [x, a, size, power, sum] = [1, 2, 3, 4, 5].map(() => fn.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  fn.tee(x)
    .v128(...splat(0x7fffffff))
    .op('v128.and')
    .tee(a)
    .v128(...splat(0x477fffff))
    .op('f32x4.pmin')
    .tee(size);
  addPower(fn, power);
  // One less where it was rounded up.
  fn.tee(sum).get(sum).get(power).op('f32x4.sub').get(size).op('f32x4.gt').op('i32x4.add');
  packSum(fn);
  // Infinity is one above the largest number.
  fn.get(a)
    .v128(...splat(0x7f800000))
    .op('i32x4.eq')
    .op('i32x4.sub');
  addSigns(fn, x);
  for (const local of [x, a, size, power, sum]) fn.release('v128', local);
}

/** f32 values -> f16 bits, rounded to nearest even. */
function encodeNearest(fn: WasmFunction): void {
  const x = fn.local('v128');
  fn.tee(x)
    .v128(...splat(0x7fffffff))
    .op('v128.and');
  encodeSize(fn);
  addSigns(fn, x);
  fn.release('v128', x);
}

/** f32 values that are not negative -> f16 bits, rounded to nearest even. */
export function encodeSize(fn: WasmFunction): void {
  const power = fn.local('v128');
  fn.v128(...splat(0x47800000)).op('f32x4.pmin');
  addPower(fn, power);
  packSum(fn);
  fn.release('v128', power);
}

/** f32 values (exact or rounded to odd) -> the f16 values they round to, as f32. */
export function roundHalf(fn: WasmFunction, rounding: Rounding = 0): void {
  if (rounding !== 0) {
    encodeHalf(fn, rounding);
    decodeHalf(fn);
    return;
  }
  const [x, power] = [fn.local('v128'), fn.local('v128')];
  // One and a half times 2^13 times the power of two below the size: the sum has as many places as f16, whichever sign is added.
  fn.tee(x)
    .get(x)
    .v128(...splat(0x7f800000))
    .op('v128.and')
    .v128(...splat(113 << 23))
    .op('i32x4.max_s')
    .v128(...splat(143 << 23))
    .op('i32x4.min_s')
    .v128(...splat((13 << 23) + 0x400000))
    .op('i32x4.add')
    .tee(power)
    .op('f32x4.add')
    .get(power)
    .op('f32x4.sub');
  // From 65520 on the size is 65536 now, or more, which is infinite.
  fn.v128(...splat((112 + 127) << 23))
    .op('f32x4.mul')
    .v128(...splat((127 - 112) << 23))
    .op('f32x4.mul');
  // Zeros keep their sign.
  joinSign(fn, x);
  fn.release('v128', x);
  fn.release('v128', power);
}

/** f32 values -> the f16 value not above them in size, as f32. */
export function truncateHalf(fn: WasmFunction): void {
  const x = fn.local('v128');
  const a = fn.local('v128');
  fn.tee(x).abs('f32x4').set(a);
  // Normal: drop 13 bits. Denormal: whole multiples of 2^-24.
  fn.get(a)
    .v128(...splat(~0x1fff))
    .op('v128.and');
  fn.get(a)
    .v128(...splat(0x4b800000))
    .op('f32x4.mul')
    .op('f32x4.trunc')
    .v128(...splat(0x33800000))
    .op('f32x4.mul');
  fn.get(a)
    .v128(...splat(0x38800000))
    .op('i32x4.ge_s')
    .op(choosing());
  // Finite values end at 65504; infinities and NaNs stay.
  fn.v128(...splat(0x477fe000)).op('f32x4.pmin');
  fn.get(a);
  fn.get(a)
    .v128(...splat(0x7f800000))
    .op('i32x4.lt_s')
    .op(choosing());
  joinSign(fn, x);
  fn.release('v128', x);
  fn.release('v128', a);
}

/**
 * Rounds to odd: `sum` holds a rounded sum, the stack its error (f32 or any sign-carrying value; 0 is exact). An inexact sum with an
 * even last bit becomes its odd neighbour on the error's side.
 */
export function makeOdd(fn: WasmFunction, sum: number): void {
  const [error, inexact] = [fn.local('v128'), fn.local('v128')];
  fn.tee(error).abs('f32x4').v128(0, 0, 0, 0).op('f32x4.gt').set(inexact);
  // One less where it was rounded away from zero, and then the last bit.
  fn.get(sum).get(error).get(sum).op('v128.xor').i32(31).op('i32x4.shr_s').get(inexact).op('v128.and').op('i32x4.add');
  fn.get(inexact).i32(31).op('i32x4.shr_u').op('v128.or');
  fn.release('v128', inexact);
  fn.release('v128', error);
}

/**
 * a·b + c with f16 values, as f32 that round to f16 as the exact sum does: the product is exact in f32. Rounding twice goes wrong only
 * where the sum seems to be in the middle of two f16, or to be one; then it is rounded to odd. Roundings other than to nearest ask
 * whether it is one, too.
 */
export function fmaHalf(fn: WasmFunction, rounding: Rounding): void {
  const [p, c, s, t] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.set(c).op('f32x4.mul').tee(p).get(c).op('f32x4.add').tee(s);
  fn.v128(...splat(0xfff))
    .op('v128.and')
    .v128(0, 0, 0, 0)
    .op('i32x4.eq')
    .anyLane()
    .if();
  fn.get(s).get(p).op('f32x4.sub').set(t);
  fn.get(p).get(s).get(t).op('f32x4.sub').op('f32x4.sub').get(c).get(t).op('f32x4.sub').op('f32x4.add');
  makeOdd(fn, s);
  fn.set(s).end();
  if (rounding === 2) signZeroDown(fn, s, p, c, 'f32x4');
  fn.get(s);
  for (const local of [p, c, s, t]) fn.release('v128', local);
}
