// Results that are register bits, made from the operands' bits: without decoding f16, and with NaNs in code of their own. What they mean
// is their expressions in isa/semantics/vector-float.ts, by which the writers below are found.
import { type Expr, semanticsOf, source } from '../../../isa/semantics/index.ts';
import { divFixupBits, divFixupWords } from './division-fixup.ts';
import { divScaleWords } from './division-scale.ts';
import { type DivisionFormat, pushHalfOf } from './division-words.ts';
import { rootWords } from './double-roots.ts';
import { choosing, matrixFeatures } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { mantissaWords, pushMantissas } from './mantissas.ts';
import { word } from './math-tools.ts';
import { flushDenormals } from './rounding.ts';

/** What a form asks of the code it is written into. */
export interface BitWriter extends LaneWriter {
  /** Pushes `other`, and where `condition` holds, the value for NaNs. */
  selectForNan(pushCondition: () => void, forNan: Expr, pushOther: () => void): void;
}

type Form = (code: BitWriter, e: Expr, half: number) => void;

/** Sets locals to the bits of the first `count` operands, f16 in the low half of each lane. */
function operands(code: BitWriter, count: number, format: 'f16' | 'f32'): number[] {
  const { fn, mode } = code;
  return Array.from({ length: count }, (_, n) => {
    code.push(source('i32', n));
    if (!(format === 'f16' ? mode.in64 : mode.in32)) flushDenormals(fn, format);
    const local = fn.local('v128');
    fn.set(local);
    return local;
  });
}

/** Pushes the larger of two floats; of two zeros the negative one only if both are. */
function pushMaximum({ fn }: BitWriter, a: number, b: number): void {
  fn.get(a).get(b).op('f32x4.pmax').get(b).get(a).op('f32x4.pmax').op('v128.and');
}

/**
 * The median. f16 are compared in the high halves, where they have the order of f32 of the same bits. Of zeros with a third operand above
 * them it is their maximum, with one below them the later zero, and of three the maximum of the last two: minima take their first operand
 * of two zeros.
 */
const median =
  (format: 'f16' | 'f32'): Form =>
  (code, e) => {
    const { fn } = code;
    const locals = operands(code, 3, format);
    if (format === 'f16') for (const x of locals) fn.get(x).i32(16).op('i32x4.shl').set(x);
    const [a, b, c] = locals as [number, number, number];
    const [low, middle] = [fn.local('v128'), fn.local('v128')];
    code.selectForNan(
      () => {
        if (format === 'f32') {
          for (const x of locals) fn.get(x).get(x).op('f32x4.ne');
          fn.op('v128.or').op('v128.or');
          return;
        }
        for (const [n, x] of locals.entries()) {
          fn.get(x);
          word(fn, 0x7fffffff);
          fn.op('v128.and');
          if (n > 0) fn.op('i32x4.max_s');
        }
        word(fn, 0x7c000000);
        fn.op('i32x4.gt_s');
      },
      e.args[1] as Expr,
      () => {
        fn.get(b).get(a).op('f32x4.pmin').set(low).get(c);
        pushMaximum(code, a, b);
        fn.op('f32x4.pmin').set(middle);
        pushMaximum(code, middle, low);
        if (format === 'f16') fn.i32(16).op('i32x4.shr_u');
      },
    );
    for (const local of [...locals, low, middle]) fn.release('v128', local);
  };

/** The mantissa in [1/2, 1): the fraction, which denormals get by being converted as integers. Zeros, infinities and NaNs stay. */
const halfMantissa: Form = (code) => {
  const { fn } = code;
  const [x] = operands(code, 1, 'f16') as [number];
  const size = fn.local('v128');
  fn.get(x);
  word(fn, 0x7fff);
  fn.op('v128.and').tee(size).op('f32x4.convert_i32x4_s').i32(13).op('i32x4.shr_u').get(x).get(size);
  word(fn, 0x400);
  fn.op('i32x4.lt_s').op(choosing());
  word(fn, 0x3ff);
  fn.op('v128.and');
  word(fn, 0x3800);
  fn.op('v128.or').get(x);
  word(fn, 0x8000);
  fn.op('v128.and').op('v128.or').get(x).get(size);
  word(fn, 1);
  fn.op('i32x4.sub');
  word(fn, 0x7bff);
  fn.op('i32x4.lt_u').op(choosing());
  word(fn, 0xffff);
  fn.op('v128.and');
  for (const local of [x, size]) fn.release('v128', local);
};

const fixup =
  (format: DivisionFormat): Form =>
  (code, _e, half) =>
    divFixupBits(code, format, half);

const doubleMantissa: Form = (code, _e, half) => {
  const { low, high } = mantissaWords(code);
  pushHalfOf(code.fn, low as number, high, half);
};

/** The result of an operation. */
function resultOf(name: string): Expr {
  const operation = semanticsOf(name);
  const result = operation?.kind === 'vector' ? operation.result[0] : undefined;
  if (result === undefined) throw new Error(`${name} has no result`);
  return result;
}

/** The bits of an operation's result. */
function bitsOf(name: string): Expr {
  const [bits] = resultOf(name).args;
  if (bits === undefined) throw new Error(`${name} has no bits for its result`);
  return bits;
}

/** By the expression of the bits. */
const FORMS: ReadonlyMap<Expr, Form> = new Map(
  (
    [
      ['v_med3_f16', median('f16')],
      ['v_med3_f32', median('f32')],
      ['v_frexp_mant_f16', halfMantissa],
      ['v_frexp_mant_f32', pushMantissas],
      ['v_frexp_mant_f64', doubleMantissa],
      ['v_div_fixup_f16', fixup('f16')],
      ['v_div_fixup_legacy_f16', fixup('f16')],
      ['v_div_fixup_f32', fixup('f32')],
      ['v_div_fixup_f64', fixup('f64')],
    ] as const
  ).map(([name, form]) => [bitsOf(name), form]),
);

const FIXUP_DOUBLE = bitsOf('v_div_fixup_f64');
const MANTISSA_DOUBLE = bitsOf('v_frexp_mant_f64');
const [ROOT_DOUBLE, RECIPROCAL_ROOT_DOUBLE] = ['v_sqrt_f64', 'v_rsq_f64'].map(resultOf);

/** Pushes the low and the high words of four 64-bit values whose code makes words, not halves, and no NaN that is not as it is to be; whether it does. */
export function pushWords(code: BitWriter, e: Expr): boolean {
  let words: { readonly low: number | undefined; readonly high: number };
  if (e === FIXUP_DOUBLE) words = divFixupWords(code, 'f64');
  else if (e === MANTISSA_DOUBLE) words = mantissaWords(code);
  else if (e === ROOT_DOUBLE || e === RECIPROCAL_ROOT_DOUBLE) {
    if (!matrixFeatures().fused) return false;
    words = rootWords(code, e === RECIPROCAL_ROOT_DOUBLE);
  } else if (e.op === 'f64.div_scale') words = divScaleWords(code, 'f64').result;
  else return false;
  code.fn.get(words.low as number).get(words.high);
  return true;
}

/** The writer of an expression, if it has one. */
export const bitForm = (e: Expr): Form | undefined => FORMS.get(e);
