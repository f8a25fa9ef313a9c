// Floating-point operators of lane expressions in SIMD, rounding to nearest even: f32 and f64 natively, f16 and bf16 as f32 values that
// are rounded after every operator. What is left out has no code and goes to the interpreter. Counterpart: interpreter/operators.ts.
import type { Expr } from '../../../isa/semantics/index.ts';
import { extremeBits } from './extremes.ts';
import { matrixFeatures } from './features.ts';
import { decodeHalf, encodeHalf, fmaHalf, roundHalf, truncateHalf } from './half.ts';
import type { LaneWriter } from './lane-writer.ts';
import { callMath } from './math.ts';
import { NoCode } from './scalar.ts';

const splat4 = (word: number): [number, number, number, number] => [word, word, word, word];
const CANONICAL64: [number, number, number, number] = [0, 0x7ff80000, 0, 0x7ff80000];

/** Writes the operator `prefix.name` of expression `e`. `prefix` is the format it works in, `e.type` that of its result. */
export function floatOperator(code: LaneWriter, prefix: string, name: string, e: Expr, half: number): void {
  if (name === 'bits') {
    bits(code, prefix, e, half);
    return;
  }
  if (name === 'class_of') {
    // The words as they are: the low one first, of which narrow formats have only that.
    const [low, high] = e.args as [Expr, Expr];
    code.push(prefix === 'f64' ? high : low);
    code.push(low);
    callMath(code, `class_of.${prefix}`);
    return;
  }
  if (/^(from|to)_(fp8|bf8)$/.test(name)) {
    const [a] = e.args as [Expr];
    code.push(a);
    const saturate = name.startsWith('to_') && code.mode.saturate ? '.saturate' : '';
    callMath(code, `${name}.${code.mode.ocp ? 'ocp' : 'fnuz'}${saturate}`);
    return;
  }
  if (name === 'min_bits' || name === 'max_bits') {
    if (prefix !== 'f32' && !code.mode.denormals64) throw new NoCode('denormal mode');
    extremeBits(code, prefix as 'f16' | 'f32' | 'f64', name.slice(0, 3), e, half);
    return;
  }
  if (name === 'from_bits') {
    code.push(e.args[0] as Expr, half);
    if (prefix === 'f16') decodeHalf(code.fn);
    return;
  }
  switch (prefix) {
    case 'f32':
      if (!code.mode.nearest32 && rounds(name)) throw new NoCode('rounding mode');
      single(code, name, e);
      return;
    case 'f64':
      if (!code.mode.nearest64 || !code.mode.denormals64) throw new NoCode('rounding or denormal mode');
      double(code, name, e, half);
      return;
    case 'f16':
      if (!code.mode.nearest64 || !code.mode.denormals64) throw new NoCode('rounding or denormal mode');
      // The encoding of an instruction's result rounds.
      small(code, name, e, roundHalf, e === code.encoded ? () => {} : roundHalf);
      return;
    case 'bf16':
      small(code, name, e, roundBrain, roundBrain);
      return;
  }
  throw new NoCode(`${prefix}.${name}`);
}

/** Operators whose result does not depend on the rounding mode. */
function rounds(name: string): boolean {
  return !/^(neg|abs|frexp_mant|frexp_exp|div_scale_flag|div_fixup|min|max|minimum|maximum|floor|ceil|trunc|rint|eq|ne|lt|le|is_nan|class_of|from_f16|from_bf16)$/.test(
    name,
  );
}

function bits(code: LaneWriter, prefix: string, e: Expr, half: number): void {
  const { fn } = code;
  const [a] = e.args as [Expr];
  if (prefix === 'f32') code.pushCanonical(a);
  else if (prefix === 'f16') {
    code.push(a);
    encodeHalf(fn);
  } else if (prefix === 'bf16') {
    code.pushCanonical(a);
    fn.i32(16).op('i32x4.shr_u');
  } else {
    code.push(a, half);
    canonicalDouble(code);
  }
}

/** Replaces NaNs on the stack (f64x2) by the default quiet one. */
export function canonicalDouble({ fn }: Pick<LaneWriter, 'fn'>): void {
  const x = fn.local('v128');
  fn.tee(x)
    .v128(...CANONICAL64)
    .get(x)
    .get(x)
    .op('f64x2.eq')
    .op('v128.bitselect');
  fn.release('v128', x);
}

/** f32 -> bf16 as f32, to nearest even. NaNs become the default quiet one. */
function roundBrain(fn: LaneWriter['fn']): void {
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
    .op('v128.bitselect');
  fn.release('v128', x);
}

/** min or max where a NaN loses; both operands are on the stack. */
export function minMax(fn: LaneWriter['fn'], type: 'f32x4' | 'f64x2', name: string): void {
  const [a, b] = [fn.local('v128'), fn.local('v128')];
  fn.set(b).set(a);
  fn.get(b).get(a).get(a).get(b).op(`${type}.${name}`);
  fn.get(b).get(b).op(`${type}.ne`).op('v128.bitselect');
  fn.get(a).get(a).op(`${type}.ne`).op('v128.bitselect');
  fn.release('v128', a);
  fn.release('v128', b);
}

/** Tests and operators that f32 and f64 vectors share: true when written. */
function common(code: LaneWriter, type: 'f32x4' | 'f64x2', name: string, e: Expr, half: number): boolean {
  const { fn } = code;
  const [a, b] = e.args as [Expr, Expr];
  switch (name) {
    case 'add':
    case 'sub':
    case 'mul':
      code.push(a, half);
      code.push(b, half);
      fn.op(`${type}.${name}`);
      return true;
    case 'minimum':
    case 'maximum':
      code.push(a, half);
      code.push(b, half);
      fn.op(`${type}.${name.slice(0, 3)}`);
      return true;
    case 'min':
    case 'max':
      code.push(a, half);
      code.push(b, half);
      minMax(fn, type, name);
      return true;
    case 'neg':
    case 'abs':
    case 'floor':
    case 'ceil':
    case 'trunc':
    case 'sqrt':
      code.push(a, half);
      fn.op(`${type}.${name}`);
      return true;
    case 'rint':
      code.push(a, half);
      fn.op(`${type}.nearest`);
      return true;
    case 'rcp':
      if (type === 'f32x4') fn.v128(...splat4(0x3f800000));
      else fn.v128(0, 0x3ff00000, 0, 0x3ff00000);
      code.push(a, half);
      fn.op(`${type}.div`);
      return true;
    case 'fract': {
      const x = fn.local('v128');
      code.push(a, half);
      fn.tee(x).get(x).op(`${type}.floor`).op(`${type}.sub`);
      if (type === 'f32x4') fn.v128(...splat4(0x3f7fffff));
      else fn.v128(-1, 0x3fefffff, -1, 0x3fefffff);
      fn.op(`${type}.min`);
      fn.release('v128', x);
      return true;
    }
  }
  return false;
}

const TESTS = new Set(['eq', 'ne', 'lt', 'le', 'is_nan']);

/** A comparison of f32 values (f16 and bf16 too). */
function test32(code: LaneWriter, name: string, e: Expr): void {
  const [a, b] = e.args as [Expr, Expr];
  code.push(a);
  if (name === 'is_nan') {
    const x = code.fn.local('v128');
    code.fn.tee(x).get(x).op('f32x4.ne');
    code.fn.release('v128', x);
    return;
  }
  code.push(b);
  code.fn.op(`f32x4.${name}`);
}

function single(code: LaneWriter, name: string, e: Expr): void {
  const { fn } = code;
  const [a, b, c] = e.args as [Expr, Expr, Expr];
  if (TESTS.has(name)) {
    test32(code, name, e);
    return;
  }
  if (common(code, 'f32x4', name, e, 0)) return;
  switch (name) {
    case 'fma':
      code.push(a);
      code.push(b);
      code.push(c);
      if (matrixFeatures().fused) fn.op('f32x4.relaxed_madd');
      else callMath(code, 'fma32');
      return;
    case 'from_f16':
    case 'from_bf16':
      code.push(a);
      return;
    case 'from_f64':
      for (const h of [0, 1]) {
        code.push(a, h);
        fn.op('f32x4.demote_f64x2_zero');
      }
      fn.shuffle32(0, 1, 4, 5);
      return;
    case 'from_i32_s':
    case 'from_i32_u':
      code.push(a);
      fn.op(`f32x4.convert_i32x4_${name.slice(-1)}`);
      return;
    default:
      for (const argument of e.args) code.push(argument);
      callMath(code, `${name}.f32`);
  }
}

function double(code: LaneWriter, name: string, e: Expr, half: number): void {
  const { fn } = code;
  const [a, b, c] = e.args as [Expr, Expr, Expr];
  if (TESTS.has(name)) {
    code.joinLow((h) => {
      code.push(a, h);
      code.push(name === 'is_nan' ? a : b, h);
      fn.op(name === 'is_nan' ? 'f64x2.ne' : `f64x2.${name}`);
    });
    return;
  }
  if (common(code, 'f64x2', name, e, half)) return;
  switch (name) {
    case 'fma':
      if (!matrixFeatures().fused) throw new NoCode('fma of f64');
      code.push(a, half);
      code.push(b, half);
      code.push(c, half);
      fn.op('f64x2.relaxed_madd');
      return;
    case 'fma_scaled':
      if (!matrixFeatures().fused) throw new NoCode('fma of f64');
      operate(code, name, e, half);
      return;
    case 'rsq':
      fn.v128(0, 0x3ff00000, 0, 0x3ff00000);
      code.push(a, half);
      fn.op('f64x2.sqrt').op('f64x2.div');
      return;
    case 'from_f32':
    case 'from_f16':
    case 'from_bf16':
      code.push(a);
      upper(fn, half);
      fn.op('f64x2.promote_low_f32x4');
      return;
    case 'from_i32_s':
    case 'from_i32_u':
      code.push(a);
      upper(fn, half);
      fn.op(`f64x2.convert_low_i32x4_${name.slice(-1)}`);
      return;
    case 'frexp_exp':
    case 'div_scale_flag':
      code.joinLow((h) => {
        for (const argument of e.args) code.push(argument, h);
        callMath(code, `${name}.f64`);
      });
      return;
    default:
      operate(code, name, e, half);
  }
}

/** Calls the function of an operator of f64. */
function operate(code: LaneWriter, name: string, e: Expr, half: number): void {
  for (const argument of e.args) {
    code.push(argument, half);
    if (argument.type === 'i32') upper(code.fn, half);
  }
  callMath(code, `${name}.f64`);
}

/** Moves the chosen half of the vector on the stack into its low half. */
export function upper(fn: LaneWriter['fn'], half: number): void {
  if (half === 0) return;
  const x = fn.local('v128');
  fn.tee(x).get(x).shuffle32(2, 3, 2, 3);
  fn.release('v128', x);
}

/** f16 and bf16: computed in f32, then rounded. Adding, multiplying, dividing and roots may round twice: f32 has enough bits. */
function small(
  code: LaneWriter,
  name: string,
  e: Expr,
  format: (fn: LaneWriter['fn']) => void,
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
      roundHalf(fn);
      // 0.99951171875
      fn.v128(...splat4(0x3f7fe000)).op('f32x4.min');
      return;
    }
    case 'fma':
      if (format !== roundHalf) throw new NoCode('fma of bf16');
      code.push(a);
      code.push(b);
      code.push(c);
      fmaHalf(fn);
      round(fn);
      return;
    case 'from_f32':
    case 'from_f32_rne':
      code.push(a);
      round(fn);
      return;
    case 'from_f32_rtz':
      code.push(a);
      if (format === roundHalf) truncateHalf(fn);
      else throw new NoCode('truncated bf16');
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
  if (common(code, 'f32x4', name, e, 0)) {
    if (/^(add|sub|mul|rcp|sqrt)$/.test(name)) round(fn);
    return;
  }
  for (const argument of e.args) code.push(argument);
  callMath(code, `${name}.${format === roundHalf ? 'f16' : 'bf16'}`);
  if (e.type === 'f16') round(fn);
}
