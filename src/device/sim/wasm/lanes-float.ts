// Floating-point operators of lane expressions in SIMD: to nearest even f32 and f64 natively, in other roundings by functions (math.ts);
// f16 and bf16 as f32 values that are rounded after every operator. What is left out has no code and goes to the interpreter.
// Counterpart: interpreter/operators.ts.
import type { Expr } from '../../../isa/semantics/index.ts';
import { divisionStep } from './division-steps.ts';
import type { WasmFunction } from './emit.ts';
import { extremeBits } from './extremes.ts';
import { choosing, matrixFeatures } from './features.ts';
import { decodeHalf, encodeHalf, roundHalf } from './half.ts';
import { KeptLocals } from './kept-locals.ts';
import type { LaneWriter } from './lane-writer.ts';
import { common, TESTS, test32 } from './lanes-common.ts';
import { BRAIN, HALF, roundBrain, small } from './lanes-small.ts';
import { pushExponents } from './mantissas.ts';
import { callMath } from './math.ts';
import { trigPreop } from './math-exact.ts';
import { ROUNDING_NAMES, roundDoubles, upper } from './math-tools.ts';
import { TRANSCENDENTAL_NAMES, transcendental } from './math-transcendental.ts';
import { canonicalDouble, type Directed } from './rounding.ts';
import { NoCode } from './scalar.ts';

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
  if (/^(from|to)_(fp8|bf8)(_sr)?$/.test(name)) {
    smallest(code, name, e);
    return;
  }
  if (name === 'min_bits' || name === 'max_bits') {
    extremeBits(code, prefix as 'f16' | 'f32' | 'f64', name.slice(0, 3), e, half);
    return;
  }
  if (name === 'from_bits') {
    code.push(e.args[0] as Expr, half);
    if (prefix === 'f16') decodeHalf(code.fn);
    return;
  }
  if (TRANSCENDENTAL_NAMES.has(name) && prefix !== 'f64') {
    if (prefix === 'f32' && name.endsWith('_turns')) code.pushWithDenormals(e.args[0] as Expr);
    else code.push(e.args[0] as Expr);
    if (name === 'exp2' && prefix === 'f16' && code.mode.round64 !== 0) exactPowers(code);
    else transcendental(code, name, prefix as 'f32' | 'f16', !code.mode.in32);
    if (prefix === 'f16' && e !== code.encoded) roundHalf(code.fn, code.mode.round64);
    return;
  }
  switch (prefix) {
    case 'f32':
      if (code.mode.round32 !== 0 && rounds(name)) directedSingle(code, name, code.mode.round32, e);
      else single(code, name, e);
      return;
    case 'f64':
      if (code.mode.round64 !== 0 && /^(add|sub|mul|fma|fma_scaled|ldexp)$/.test(name)) {
        if (name === 'mul' && !matrixFeatures().fused) throw new NoCode('directed product');
        operate(code, `${name}.f64${ROUNDING_NAMES[code.mode.round64]}`, e, half);
      } else double(code, name, e, half);
      return;
    case 'f16': {
      const rounding = code.mode.round64;
      // The encoding of an instruction's result rounds.
      const round = e === code.encoded ? () => {} : (fn: LaneWriter['fn']) => roundHalf(fn, rounding);
      small(code, name, e, HALF, round);
      return;
    }
    case 'bf16':
      small(code, name, e, BRAIN, roundBrain);
      return;
  }
  throw new NoCode(`${prefix}.${name}`);
}

/** Conversions from and to 8-bit floats. */
function smallest(code: LaneWriter, name: string, e: Expr): void {
  const standard = code.mode.ocp ? 'ocp' : 'fnuz';
  const plain = name.replace('_sr', '');
  for (const argument of e.args) code.push(argument);
  const saturate = plain.startsWith('to_') && code.mode.saturate ? '.saturate' : '';
  const conversion = plain === name ? plain : plain.replace('to', 'stochastic');
  callMath(code, `${conversion}.${standard}${saturate}`);
}

/** Operators of f32 whose result depends on the rounding mode. */
function rounds(name: string): boolean {
  return !/^(neg|abs|frexp_mant|frexp_exp|div_scale|div_scale_flag|min|max|minimum|maximum|floor|ceil|trunc|rint|eq|ne|lt|le|is_nan|class_of|from_f16|from_bf16)$/.test(
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
    canonicalDouble(code.fn);
  }
}

function single(code: LaneWriter, name: string, e: Expr): void {
  const { fn } = code;
  const [a, b, c] = e.args as [Expr, Expr, Expr];
  if (divisionStep(code, 'f32', name, e, 0)) return;
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
      else callMath(code, 'fma.f32');
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

/** An operator of f32 in a rounding other than to nearest. */
function directedSingle(code: LaneWriter, name: string, rounding: Directed, e: Expr): void {
  const [a, b] = e.args as [Expr, Expr];
  if (name === 'from_f64') {
    const w = new KeptLocals(code.fn);
    const doubles = [0, 1].map((half) => w.keep(() => code.push(a, half)));
    roundDoubles(w, rounding, doubles);
    w.release();
    return;
  }
  if (name === 'mul' && a.op === 'f32.from_f16' && b.op === 'f32.from_f16') {
    // Products of f16 are f32.
    single(code, name, e);
    return;
  }
  for (const argument of e.args) code.push(argument);
  callMath(code, `${name}.f32${ROUNDING_NAMES[rounding]}`);
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
  if (name === 'fract' && code.mode.round64 !== 0) {
    directedFraction(code, a, half, code.mode.round64);
    return;
  }
  if (common(code, 'f64x2', name, e, half)) return;
  switch (name) {
    case 'fma':
      if (!matrixFeatures().fused) {
        operate(code, 'fma.f64', e, half);
        return;
      }
      code.push(a, half);
      code.push(b, half);
      code.push(c, half);
      fn.op('f64x2.relaxed_madd');
      return;
    case 'div_scale':
    case 'div_scale_flag':
      divisionStep(code, 'f64', name, e, half);
      return;
    case 'fma_scaled':
      if (matrixFeatures().fused) divisionStep(code, 'f64', name, e, half);
      else operate(code, 'fma_scaled.f64.exact', e, half);
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
      pushExponents(code);
      return;
    case 'trig_preop':
      trigPreop(code, e, half);
      return;
    default:
      operate(code, `${name}.f64`, e, half);
  }
}

/** x - floor(x) in a direction, below 1. Its zeros are positive. */
function directedFraction(code: LaneWriter, a: Expr, half: number, rounding: Directed): void {
  const { fn } = code;
  const x = fn.local('v128');
  code.push(a, half);
  fn.tee(x).get(x).op('f64x2.floor').neg('f64x2');
  fn.release('v128', x);
  callMath(code, `add.f64${ROUNDING_NAMES[rounding]}`);
  fn.abs('f64x2').v128(-1, 0x3fefffff, -1, 0x3fefffff).op('f64x2.min');
}

/** The powers of f16 where infinities and zeros are not what rounding makes of large and small numbers. */
function exactPowers(code: LaneWriter): void {
  const { fn } = code;
  const x = fn.local('v128');
  const zero = (): WasmFunction => fn.v128(0, 0, 0, 0);
  fn.set(x);
  zero();
  fn.get(x).op('f32x4.pmax').get(x);
  transcendental(code, 'exp2', 'f16');
  fn.get(x).abs('f32x4').v128(0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000).op('f32x4.eq').op(choosing());
  fn.release('v128', x);
}

/** Calls a function of f64 operands with those of an expression. */
function operate(code: LaneWriter, name: string, e: Expr, half: number): void {
  for (const argument of e.args) {
    code.push(argument, half);
    if (argument.type === 'i32') upper(code.fn, half);
  }
  callMath(code, name);
}
