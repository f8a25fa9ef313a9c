// 8-bit floats as SIMD code: decoding to f32 and encoding with rounding to nearest even. Counterpart: isa/semantics/formats.ts
// (decodeSmall, encodeSmall).
import {
  BF8_FNUZ,
  BF8_OCP,
  encodeSmall,
  FP8_FNUZ,
  FP8_OCP,
  largestOf,
  type SmallFormat,
} from '../../../base/elements/formats.ts';
import type { WasmFunction } from './emit.ts';
import type { MathFunction } from './math-tools.ts';
import { word } from './math-tools.ts';

/** Bytes -> f32. Denormals are a fraction of the smallest normal number, which is then taken away. */
function decode(fn: WasmFunction, { bias, fraction, specials }: SmallFormat): void {
  const m = fn.local('v128');
  const smallest = (128 - bias) << 23;
  fn.get(0);
  word(fn, 0x7f);
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
  fn.op('i32x4.lt_s').op('v128.bitselect').get(0).i32(24).op('i32x4.shl');
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or').set(m);
  if (specials === 'ieee') {
    fn.get(m);
    return;
  }
  word(fn, 0x7fc00000);
  fn.get(m).get(0);
  word(fn, specials === 'fn' ? 0x7f : 0xff);
  fn.op('v128.and');
  word(fn, specials === 'fn' ? 0x7f : 0x80);
  fn.op('i32x4.eq').op('v128.bitselect');
}

/** f32 -> bytes. */
function encode(fn: WasmFunction, format: SmallFormat, saturate: boolean): void {
  const { bias, fraction, specials } = format;
  const dropped = 23 - fraction;
  const largest = encodeSmall(format, largestOf(format));
  const overflow = encodeSmall(format, Infinity, 0, saturate);
  const [a, r, sign] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.get(0).op('f32x4.abs').set(a).get(0).i32(24).op('i32x4.shr_u');
  word(fn, 0x80);
  fn.op('v128.and').set(sign);
  // Normal: add half of the last place, ties by the kept bit, and rebias.
  fn.get(a).get(a).i32(dropped).op('i32x4.shr_u');
  word(fn, 1);
  fn.op('v128.and').op('i32x4.add');
  word(fn, 2 ** (dropped - 1) - 1);
  fn.op('i32x4.add').i32(dropped).op('i32x4.shr_u');
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
  fn.op('i32x4.ge_s').op('v128.bitselect').tee(r);
  if (specials === 'fnuz') {
    // Zero has no sign.
    fn.get(sign).get(r).v128(0, 0, 0, 0).op('i32x4.ne').op('v128.and').op('v128.or');
  } else fn.get(sign).op('v128.or');
  word(fn, overflow);
  if (specials !== 'fnuz' || saturate) fn.get(sign).op('v128.or');
  fn.get(r);
  word(fn, largest);
  fn.op('i32x4.le_s').op('v128.bitselect');
  word(fn, encodeSmall(format, NaN));
  fn.get(0).get(0).op('f32x4.eq').op('v128.bitselect');
}

const FORMATS: Record<string, SmallFormat> = {
  'fp8.ocp': FP8_OCP,
  'bf8.ocp': BF8_OCP,
  'fp8.fnuz': FP8_FNUZ,
  'bf8.fnuz': BF8_FNUZ,
};

/** `from_fp8.ocp`, `to_bf8.fnuz`, `to_bf8.fnuz.saturate` and the like. */
export const SMALL: Record<string, MathFunction> = Object.fromEntries(
  Object.entries(FORMATS).flatMap(([name, format]): [string, MathFunction][] => [
    [`from_${name}`, { parameters: 1, build: (fn) => decode(fn, format) }],
    [`to_${name}`, { parameters: 1, build: (fn) => encode(fn, format, false) }],
    [`to_${name}.saturate`, { parameters: 1, build: (fn) => encode(fn, format, true) }],
  ]),
);
