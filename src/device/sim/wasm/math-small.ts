// Floats of 8, 6 and 4 bits as SIMD code: decoding to f32 and encoding with rounding to nearest even; stochastic rounding to them, f16 and bf16.
// Counterparts: base/elements/formats.ts (decodeSmall, encodeSmall), interpreter/operators.ts (stochastic).
import {
  BF6,
  BF8_FNUZ,
  BF8_OCP,
  BF16,
  encodeSmall,
  F16,
  FP4,
  FP6,
  FP8_FNUZ,
  FP8_OCP,
  largestOf,
  type SmallFormat,
} from '../../../base/elements/formats.ts';
import type { WasmFunction } from './emit.ts';
import { choosing } from './features.ts';
import type { MathFunction } from './math-tools.ts';
import { single, word } from './math-tools.ts';

/** Bytes -> f32. Denormals are a fraction of the smallest normal number, which is then taken away. */
function decode(fn: WasmFunction, code: number, { bits, bias, fraction, specials }: SmallFormat): void {
  const m = fn.local('v128');
  const smallest = (128 - bias) << 23;
  fn.get(code);
  word(fn, 2 ** (bits - 1) - 1);
  fn.op('v128.and')
    .i32(23 - fraction)
    .op('i32x4.shl')
    .set(m);
  fn.get(m);
  word(fn, smallest);
  fn.op('v128.or');
  word(fn, smallest);
  fn.op('f32x4.sub').get(m);
  word(fn, (127 - bias) << 23);
  fn.op('i32x4.add');
  if (specials === 'ieee') {
    fn.get(m);
    word(fn, 0x0f7fffff);
    fn.op('i32x4.gt_s');
    word(fn, 112 << 23);
    fn.op('v128.and').op('i32x4.add');
  }
  fn.get(m);
  word(fn, 0x00800000);
  fn.op('i32x4.lt_s')
    .op(choosing())
    .get(code)
    .i32(32 - bits)
    .op('i32x4.shl');
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or').set(m);
  if (specials === 'ieee' || specials === 'finite') {
    fn.get(m);
    return;
  }
  word(fn, 0x7fc00000);
  fn.get(m).get(code);
  word(fn, specials === 'fn' ? 0x7f : 0xff);
  fn.op('v128.and');
  word(fn, specials === 'fn' ? 0x7f : 0x80);
  fn.op('i32x4.eq').op(choosing());
}

/** f32 -> bytes. `rounded` is a local with their sizes as numbers of the format, if it is known; of infinities and NaNs anything as large. */
function encode(fn: WasmFunction, x: number, format: SmallFormat, saturate: boolean, rounded?: number): void {
  const { bits, bias, fraction, specials } = format;
  const dropped = 23 - fraction;
  const largest = encodeSmall(format, largestOf(format));
  const overflow = encodeSmall(format, Infinity, 0, saturate);
  const [a, r, sign] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  if (rounded === undefined) fn.get(x).abs('f32x4').set(a);
  else fn.get(rounded).set(a);
  fn.get(x)
    .i32(32 - bits)
    .op('i32x4.shr_u');
  word(fn, 2 ** (bits - 1));
  fn.op('v128.and').set(sign);
  // Normal: add half of the last place, ties by the kept bit, and rebias.
  fn.get(a);
  if (rounded === undefined) {
    fn.get(a).i32(dropped).op('i32x4.shr_u');
    word(fn, 1);
    fn.op('v128.and').op('i32x4.add');
    word(fn, 2 ** (dropped - 1) - 1);
    fn.op('i32x4.add');
  }
  fn.i32(dropped).op('i32x4.shr_u');
  word(fn, (127 - bias) << fraction);
  fn.op('i32x4.sub');
  // Denormal: adding a number whose last place is the quantum rounds to it.
  const magic = (127 + 1 - bias - fraction + 23) << 23;
  fn.get(a);
  word(fn, magic);
  fn.op('f32x4.add');
  word(fn, magic);
  fn.op('i32x4.sub').get(a);
  word(fn, (128 - bias) << 23);
  fn.op('i32x4.ge_s').op(choosing()).tee(r);
  if (specials === 'fnuz') {
    // Zero has no sign.
    fn.get(sign).get(r).v128(0, 0, 0, 0).op('i32x4.ne').op('v128.and').op('v128.or');
  } else fn.get(sign).op('v128.or');
  word(fn, overflow);
  if (specials !== 'fnuz' || saturate) fn.get(sign).op('v128.or');
  fn.get(r);
  word(fn, largest);
  fn.op('i32x4.le_s').op(choosing());
  word(fn, encodeSmall(format, NaN));
  fn.get(x).get(x).op('f32x4.eq').op(choosing());
}

/**
 * f32 and seeds -> the sizes of the values of a format below or above: the seed's high bits are added below the last kept bit, as many as the
 * fraction of the source (23 bits of f32) has more. In the range of normal numbers that is a sum of bits. Infinities and NaNs are larger than
 * any number.
 */
function stochasticSize(
  fn: WasmFunction,
  x: number,
  seeds: number,
  format: SmallFormat,
  sourceFraction = 23,
): readonly [value: number, size: number] {
  const { bias, fraction, specials } = format;
  const dropped = 23 - fraction;
  const [size, seed, value] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.get(x).abs('f32x4').set(size);
  fn.get(seeds)
    .i32(32 - (sourceFraction - fraction))
    .op('i32x4.shr_u');
  if (sourceFraction < 23) fn.i32(23 - sourceFraction).op('i32x4.shl');
  fn.set(seed);
  fn.get(size).get(seed).op('i32x4.add');
  word(fn, -(2 ** dropped));
  fn.op('v128.and').set(value);
  // The denormals of bf16 are those of f32.
  if (bias < 127) {
    const isSmall = fn.local('v128');
    fn.get(size);
    single(fn, 2 ** (1 - bias));
    fn.op('f32x4.lt').tee(isSmall).anyLane().if();
    stochasticDenormal(fn, format, size, seed);
    fn.get(value).get(isSmall).op(choosing()).set(value).end();
  }
  if (specials !== 'ieee') {
    const largest = largestOf(format);
    single(fn, largest);
    fn.get(value).get(size);
    single(fn, largest);
    fn.op('f32x4.le').get(value);
    single(fn, largest);
    fn.op('f32x4.gt').op('v128.and').op(choosing()).set(value);
  }
  fn.release('v128', seed);
  return [value, size];
}

/** The same as f32 with the signs; infinities and NaNs stay. */
function stochastic(fn: WasmFunction, x: number, seeds: number, format: SmallFormat): void {
  const [value, size] = stochasticSize(fn, x, seeds, format);
  fn.get(value).get(size).get(size);
  word(fn, 0x7f800000);
  fn.op('i32x4.lt_s').op(choosing()).get(x);
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or');
  fn.release('v128', value);
  fn.release('v128', size);
}

/** f32 and seeds -> bytes. */
function encodeStochastic(
  fn: WasmFunction,
  x: number,
  seeds: number,
  format: SmallFormat,
  saturate: boolean,
  sourceFraction: number,
): void {
  const [value, size] = stochasticSize(fn, x, seeds, format, sourceFraction);
  encode(fn, x, format, saturate, value);
  fn.release('v128', value);
  fn.release('v128', size);
}

/** Pushes sizes below the normal numbers as multiples of the smallest one: one more where the seed makes their fraction 1. */
function stochasticDenormal(fn: WasmFunction, { bias, fraction }: SmallFormat, size: number, seed: number): void {
  const dropped = 23 - fraction;
  const quantum = 2 ** (1 - bias - fraction);
  const [scaled, whole] = [fn.local('v128'), fn.local('v128')];
  // Denormals of f32, for which hosts take long, are less than any seed can make one of.
  fn.get(size).get(size);
  word(fn, 0x007fffff);
  fn.op('i32x4.gt_s').op('v128.and');
  single(fn, 1 / quantum);
  fn.op('f32x4.mul').tee(scaled).op('f32x4.floor').tee(whole).get(scaled).get(whole).op('f32x4.sub');
  word(fn, 2 ** dropped);
  fn.get(seed).op('i32x4.sub').op('f32x4.convert_i32x4_s');
  single(fn, 2 ** -dropped);
  fn.op('f32x4.mul').op('f32x4.ge');
  single(fn, 1);
  fn.op('v128.and').op('f32x4.add');
  single(fn, quantum);
  fn.op('f32x4.mul');
  fn.release('v128', scaled);
  fn.release('v128', whole);
}

const FORMATS: Record<string, SmallFormat> = {
  'fp8.ocp': FP8_OCP,
  'bf8.ocp': BF8_OCP,
  'fp8.fnuz': FP8_FNUZ,
  'bf8.fnuz': BF8_FNUZ,
  'fp6.ocp': FP6,
  'bf6.ocp': BF6,
  'fp4.ocp': FP4,
};

const ofOne = (build: (fn: WasmFunction, x: number) => void): MathFunction => ({
  parameters: 1,
  inline: true,
  build: (fn, _module, [x]) => build(fn, x as number),
});

const stochasticTo = (format: SmallFormat): MathFunction => ({
  parameters: 2,
  inline: true,
  build: (fn, _module, [x, seeds]) => stochastic(fn, x as number, seeds as number, format),
});

const bytesTo = (format: SmallFormat, saturate: boolean, sourceFraction = 23): MathFunction => ({
  parameters: 2,
  inline: true,
  build: (fn, _module, [x, seeds]) =>
    encodeStochastic(fn, x as number, seeds as number, format, saturate, sourceFraction),
});

/** `from_fp8.ocp`, `to_bf8.fnuz`, `to_bf8.fnuz.saturate`, `stochastic_fp8.ocp` (to bytes) and the like. */
export const SMALL: Record<string, MathFunction> = Object.fromEntries([
  ['from_f32_sr.f16', stochasticTo(F16)],
  ['from_f32_sr.bf16', stochasticTo(BF16)],
  ...Object.entries(FORMATS).flatMap(([name, format]): [string, MathFunction][] => [
    [`stochastic_${name}`, bytesTo(format, false)],
    [`stochastic_${name}.saturate`, bytesTo(format, true)],
    [`stochastic_${name}.saturate.f16`, bytesTo(format, true, F16.fraction)],
    [`stochastic_${name}.saturate.bf16`, bytesTo(format, true, BF16.fraction)],
    [`from_${name}`, ofOne((fn, code) => decode(fn, code, format))],
    [`to_${name}`, ofOne((fn, x) => encode(fn, x, format, false))],
    [`to_${name}.saturate`, ofOne((fn, x) => encode(fn, x, format, true))],
  ]),
]);
