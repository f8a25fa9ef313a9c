// f16 as f32 values in SIMD code: exact decoding, encoding in any rounding, rounding to odd.
// Source: IEEE 754-2019 binary16; rounding to odd makes a second rounding correct (Boldo & Melquiond 2008).
import type { Rounding } from '../../../base/elements/formats.ts';
import type { WasmFunction } from './emit.ts';
import { choosing, matrixFeatures } from './features.ts';
import { signZeroDown, stepHalf } from './rounding.ts';

const splat = (word: number): [number, number, number, number] => [word, word, word, word];

/** Twice the size of f16 in the place of f32, as words: the smallest denormal, and its distance from the smallest normal number. */
const LEAST_DENORMAL = 2 << 13;
const LEAST_NORMAL = (1 << 24) - LEAST_DENORMAL - 0x80000000;

/** f16 bits in the low half of each lane (the high half is ignored) -> their f32 values. */
export function decodeHalf(fn: WasmFunction): void {
  fn.i32(16).op('i32x4.shl');
  decodeHighHalf(fn);
}

/** f16 bits in the high half of each lane (the low half is ignored) -> their f32 values. */
export function decodeHighHalf(fn: WasmFunction): void {
  const [m, size] = [fn.local('v128'), fn.local('v128')];
  // Sign, exponent and fraction where f32 has them: that number is 2^112 too small, unless it is infinite or a NaN.
  moveHighHalf(fn);
  fn.set(m);
  // Denormals would be those of f32, for which hosts take long. Less the least denormal, twice the sizes are below all others, and zero is above.
  fn.v128(...splat(LEAST_NORMAL))
    .get(m)
    .get(m)
    .op('i32x4.add')
    .tee(size)
    .v128(...splat(-0x80000000 - LEAST_DENORMAL))
    .op('i32x4.add')
    .op('i32x4.gt_s')
    .anyLane()
    .if('v128');
  decodeWithDenormals(fn, m, size);
  fn.else().get(m);
  fn.v128(...splat((112 + 127) << 23)).op('f32x4.mul');
  fn.end();
  fn.get(size)
    .v128(...splat((31 << 24) - 1))
    .op('i32x4.gt_s')
    .v128(...splat(0x7f800000))
    .op('v128.and')
    .op('v128.or');
  fn.release('v128', m);
  fn.release('v128', size);
}

/** f16 bits in the high half of each lane on the stack -> f32 with their sign, exponent and fraction. */
function moveHighHalf(fn: WasmFunction): void {
  fn.i32(3)
    .op('i32x4.shr_s')
    .v128(...splat(-0x70002000))
    .op('v128.and');
}

/** The same where all are normal numbers or zeros. */
export function decodeOrdinary(fn: WasmFunction): void {
  moveHighHalf(fn);
  fn.v128(...splat((112 + 127) << 23)).op('f32x4.mul');
}

/** Gives what is on the stack the signs of f32 values in a local. */
function joinSign(fn: WasmFunction, x: number): void {
  fn.get(x)
    .v128(...splat(-0x80000000))
    .op('v128.and')
    .op('v128.or');
}

/** Pushes the values of such numbers in a local, given twice their sizes; denormals are integers that count the smallest of them. */
function decodeWithDenormals(fn: WasmFunction, m: number, size: number): void {
  const isNormal = fn.local('v128');
  fn.get(size)
    .v128(...splat((1 << 24) - 1))
    .op('i32x4.gt_s')
    .set(isNormal);
  fn.get(m)
    .get(isNormal)
    .op('v128.and')
    .v128(...splat((112 + 127) << 23))
    .op('f32x4.mul');
  fn.get(size)
    .get(isNormal)
    .op('v128.andnot')
    .op('f32x4.convert_i32x4_s')
    .v128(...splat((127 - 24 - 14) << 23))
    .op('f32x4.mul')
    .op('v128.or');
  joinSign(fn, m);
  fn.release('v128', isNormal);
}

/** What is above the bits of f16 in a word: nothing, or anything. */
export type Above = 'zero' | 'anything';

/** f32 values (exact or rounded to odd) -> f16 bits; NaNs become the default quiet one. */
export function encodeHalf(fn: WasmFunction, rounding: Rounding = 0, above: Above = 'zero'): void {
  if (rounding === 0) {
    encodeNearest(fn, above);
    return;
  }
  if (rounding === 3) {
    encodeTruncated(fn, above);
    return;
  }
  const [x, bits, decoded] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.tee(x);
  encodeNearest(fn, 'zero');
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

/** Such sums on the stack -> sizes of f16 in 16 bits: the exponent, moved down, and the fraction add up to them. NaNs are above all sums. */
function packSum(fn: WasmFunction, above: Above): void {
  const sum = fn.local('v128');
  fn.v128(...splat(0x4e000e00))
    .op('i32x4.min_u')
    .tee(sum)
    .get(sum)
    .i32(13)
    .op('i32x4.shr_u')
    .op('i32x4.add');
  if (above === 'zero') fn.v128(...splat(0x7fff)).op('v128.and');
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

/**
 * f32 values -> f16 bits, rounded towards zero. `isMultiple`: numbers are multiples of the least f16, so that only those with too many bits
 * for f16 are rounded.
 */
export function encodeTruncated(fn: WasmFunction, above: Above, isMultiple = false): void {
  const [x, a, size, power, sum] = [1, 2, 3, 4, 5].map(() => fn.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (isMultiple) fn.v128(...splat(~0x1fff)).op('v128.and');
  fn.tee(x)
    .v128(...splat(0x7fffffff))
    .op('v128.and')
    .tee(a)
    .v128(...splat(isMultiple ? 0x477fe000 : 0x477fffff))
    .op('f32x4.pmin')
    .tee(size);
  addPower(fn, power);
  // One less where it was rounded up.
  if (!isMultiple) fn.tee(sum).get(sum).get(power).op('f32x4.sub').get(size).op('f32x4.gt').op('i32x4.add');
  packSum(fn, above);
  // Infinity is one above the largest number.
  fn.get(a)
    .v128(...splat(0x7f800000))
    .op('i32x4.eq')
    .op('i32x4.sub');
  addSigns(fn, x);
  for (const local of [x, a, size, power, sum]) fn.release('v128', local);
}

/** f32 values -> f16 bits, rounded to nearest even. */
function encodeNearest(fn: WasmFunction, above: Above): void {
  const x = fn.local('v128');
  fn.tee(x)
    .v128(...splat(0x7fffffff))
    .op('v128.and');
  encodeSize(fn, above);
  addSigns(fn, x);
  fn.release('v128', x);
}

/** f32 values that are not negative -> f16 bits, rounded to nearest even. */
export function encodeSize(fn: WasmFunction, above: Above = 'zero'): void {
  const power = fn.local('v128');
  fn.v128(...splat(0x47800000)).op('f32x4.pmin');
  addPower(fn, power);
  packSum(fn, above);
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
 * where the sum seems to be in the middle of two f16, or to be one, and is neither; then it is rounded to odd. Roundings other than to
 * nearest ask whether it is one, too.
 */
export function fmaHalf(fn: WasmFunction, rounding: Rounding): void {
  const [a, b, c, p, s, rest] = Array.from({ length: 6 }, () => fn.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  fn.set(c).set(b).set(a);
  // It makes no difference whether the host rounds the product.
  if (matrixFeatures().relaxed) fn.get(a).get(b).get(c).op('f32x4.relaxed_madd').tee(s);
  else fn.get(a).get(b).op('f32x4.mul').get(c).op('f32x4.add').tee(s);
  fn.v128(...splat(0xfff))
    .op('v128.and')
    .v128(0, 0, 0, 0)
    .op('i32x4.eq')
    .anyLane()
    .if();
  // The sum is exact where either term is what it has more than the other: taking the larger away is exact (Dekker 1971). Infinite
  // sums give NaNs here, which are not above zero.
  fn.get(a).get(b).op('f32x4.mul').set(p);
  fn.get(s).get(p).op('f32x4.sub').tee(rest).get(c).op('f32x4.sub');
  fn.get(s).get(c).op('f32x4.sub').get(p).op('f32x4.sub').op('v128.or').abs('f32x4');
  fn.v128(0, 0, 0, 0).op('f32x4.gt').anyLane().if();
  fn.get(p).get(s).get(rest).op('f32x4.sub').op('f32x4.sub').get(c).get(rest).op('f32x4.sub').op('f32x4.add');
  makeOdd(fn, s);
  fn.set(s).end().end();
  if (rounding === 2) {
    fn.get(a).get(b).op('f32x4.mul').set(p);
    signZeroDown(fn, s, p, c, 'f32x4');
  }
  fn.get(s);
  for (const local of [a, b, c, p, s, rest]) fn.release('v128', local);
}
