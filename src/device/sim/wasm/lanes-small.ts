// f16 and bf16 operators of lane expressions: f32 values that are rounded after every operator.
import type { Expr } from '../../../isa/semantics/index.ts';
import { choosing } from './features.ts';
import { fmaHalf, roundHalf, truncateHalf } from './half.ts';
import type { LaneWriter } from './lane-writer.ts';
import { common, TESTS, test32 } from './lanes-common.ts';
import { callMath } from './math.ts';
import { flushHalfValues, signZeroDown } from './rounding.ts';
import { NoCode } from './scalar.ts';

const splat4 = (word: number): [number, number, number, number] => [word, word, word, word];

/** f32 -> bf16 as f32, to nearest even. NaNs become the default quiet one. */
export function roundBrain(fn: LaneWriter['fn']): void {
  const x = fn.local('v128');
  fn.tee(x)
    .get(x)
    .i32(16)
    .op('i32x4.shr_u')
    .v128(...splat4(1))
    .op('v128.and')
    .op('i32x4.add');
  fn.v128(...splat4(0x7fff))
    .op('i32x4.add')
    .v128(...splat4(-0x10000))
    .op('v128.and');
  fn.v128(...splat4(0x7fc00000))
    .get(x)
    .get(x)
    .op('f32x4.eq')
    .op(choosing());
  fn.release('v128', x);
}

/** a ± b of f16 as f32 rounded to odd, where an exact zero is negative unless both terms are positive. */
function sumDown(code: LaneWriter, a: Expr, b: Expr, isDifference: boolean): void {
  const { fn } = code;
  const [x, y, sum] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  code.push(a);
  fn.set(x);
  code.push(b);
  if (isDifference) fn.neg('f32x4');
  fn.set(y).get(x).get(y);
  callMath(code, 'add.f16');
  fn.set(sum);
  signZeroDown(fn, sum, x, y, 'f32x4');
  fn.get(sum);
  for (const local of [x, y, sum]) fn.release('v128', local);
}

/** The f32 values on the stack made f16 values by `convert`, overflows and denormals as MODE has them. */
function writeHalf({ fn, mode }: LaneWriter, convert: () => void): void {
  const x = fn.local('v128');
  fn.tee(x);
  convert();
  if (mode.saturate) {
    const made = fn.local('v128');
    fn.tee(made).get(made);
    // The largest numbers, ±65504, where the operand is not infinite.
    fn.v128(...splat4(0x477fe000)).op('f32x4.min');
    fn.v128(...splat4(0xc77fe000 | 0))
      .op('f32x4.max')
      .get(x)
      .abs('f32x4');
    fn.v128(...splat4(0x7f800000))
      .op('f32x4.eq')
      .op(choosing());
    fn.release('v128', made);
  }
  if (!mode.out64) flushHalfValues(fn);
  fn.release('v128', x);
}

export const HALF = 'f16';
export const BRAIN = 'bf16';

/**
 * f16 and bf16: computed in f32, then rounded. To nearest, adding, multiplying, dividing and roots may round twice: f32 has enough bits.
 * In other roundings they are rounded to odd first.
 */
export function small(
  code: LaneWriter,
  name: string,
  e: Expr,
  format: typeof HALF | typeof BRAIN,
  round: (fn: LaneWriter['fn']) => void,
): void {
  const { fn } = code;
  const [a, b, c] = e.args as [Expr, Expr, Expr];
  if (TESTS.has(name)) {
    test32(code, name, e);
    return;
  }
  switch (name) {
    case 'fract': {
      const x = fn.local('v128');
      code.push(a);
      fn.tee(x).get(x).op('f32x4.floor').op('f32x4.sub');
      fn.release('v128', x);
      // The largest below 1, 0.99951171875, goes first: rounding keeps the order, and the difference is exact.
      fn.v128(...splat4(0x3f7fe000)).op('f32x4.min');
      round(fn);
      return;
    }
    case 'fma':
      if (format !== HALF) throw new NoCode('fma of bf16');
      code.push(a);
      code.push(b);
      code.push(c);
      fmaHalf(fn, code.mode.round64);
      round(fn);
      return;
    case 'from_f32':
      code.push(a);
      round(fn);
      return;
    case 'from_f32_rne':
      code.push(a);
      if (format === HALF) writeHalf(code, () => roundHalf(fn));
      else round(fn);
      return;
    case 'from_f32_sr':
      code.push(a);
      if (format === HALF)
        writeHalf(code, () => {
          code.push(b);
          callMath(code, `${name}.${format}`);
        });
      else {
        code.push(b);
        callMath(code, `${name}.${format}`);
      }
      return;
    case 'from_f32_rtz':
      code.push(a);
      if (format !== HALF) throw new NoCode('truncated bf16');
      truncateHalf(fn);
      if (!code.mode.out64) flushHalfValues(fn);
      return;
    case 'from_i32_s':
    case 'from_i32_u':
      code.push(a);
      fn.op(`f32x4.convert_i32x4_${name.slice(-1)}`);
      round(fn);
      return;
    case 'from_f16':
    case 'from_bf16':
      code.push(a);
      round(fn);
      return;
  }
  const directed = format === HALF && code.mode.round64 !== 0 && /^(add|sub|rcp|sqrt)$/.test(name);
  if (!directed && common(code, 'f32x4', name, e, 0)) {
    if (/^(add|sub|mul|rcp|sqrt)$/.test(name)) round(fn);
    return;
  }
  if (format === HALF && code.mode.round64 === 2 && (name === 'add' || name === 'sub')) {
    sumDown(code, a, b, name === 'sub');
    round(fn);
    return;
  }
  for (const argument of e.args) code.push(argument);
  const isTruncated = directed && code.mode.round64 === 3 && (name === 'add' || name === 'sub');
  callMath(code, `${name}.${format}${isTruncated ? '.zero' : ''}`);
  if (e.type === 'f16') round(fn);
}
