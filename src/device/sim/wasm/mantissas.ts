// v_frexp_mant and v_frexp_exp of f32 and f64, made of the operands' words as integers: zeros, infinities and NaNs are as quick as other numbers, and
// denormals of f64 have steps of their own. Counterparts: frexpMantissa and frexpExponent in interpreter/operators.ts.
import { DivisionWords, pushHalfOf, type Words } from './division-words.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { double, word } from './math-tools.ts';

/** High word of the fraction of an f64, and the places of a fraction. */
const FRACTION = 0xfffff;
const PLACES = 52;
/** The exponent of the lowest bit of denormals. */
const LEAST = -1074;

/** The first operand, and what it is made of. */
interface Parts {
  readonly w: DivisionWords;
  readonly x: Words;
  readonly size: number;
  /** The lanes that are no zero, infinity or NaN. */
  readonly isOrdinary: number;
}

function partsOf(code: LaneWriter, format: 'f32' | 'f64'): Parts {
  const w = new DivisionWords(code, format, 1);
  const [x] = w.operands as [Words];
  const size = w.size(x);
  const order = w.order(x, size);
  const isOrdinary = w.keep(() => {
    w.fn.get(order);
    word(w.fn, 1);
    w.fn.op('i32x4.sub');
    word(w.fn, w.layout.infinity - 1);
    w.fn.op('i32x4.lt_u');
  });
  return { w, x, size, isOrdinary };
}

/** Writes `change` for chunks with denormals: it is given their lanes, and the words of the same f64 as if their lowest bit was 1. */
function whereDenormal({ w, x, size, isOrdinary }: Parts, change: (isDenormal: number, normal: Words) => void): void {
  const { fn } = w;
  const isDenormal = w.keep(() => {
    fn.get(size);
    word(fn, w.layout.unit);
    fn.op('i32x4.lt_s').get(isOrdinary).op('v128.and');
  });
  fn.get(isDenormal).anyLane().if();
  const halves = [0, 1].map((half) =>
    w.keep(() => {
      // As digits of 2^52, which is taken away.
      pushHalfOf(fn, x.low as number, size, half);
      double(fn, 2 ** PLACES);
      fn.op('v128.or');
      double(fn, 2 ** PLACES);
      fn.op('f64x2.sub');
    }),
  ) as [number, number];
  const low = w.keep(() => void fn.get(halves[0]).get(halves[1]).shuffle32(0, 2, 4, 6));
  const high = w.keep(() => void fn.get(halves[0]).get(halves[1]).shuffle32(1, 3, 5, 7));
  change(isDenormal, { low, high });
  fn.end();
}

/** The words of the mantissas in [1/2, 1) of f64 in locals; zeros, infinities and NaNs stay. */
export function mantissaWords(code: LaneWriter): Words {
  const known = code.kept.get('frexp_mant') as readonly [number, number] | undefined;
  if (known !== undefined) return { low: known[0], high: known[1] };
  const { fn } = code;
  const result = { low: code.temporary(), high: code.temporary() };
  const parts = partsOf(code, 'f64');
  const { w, x, isOrdinary } = parts;
  const { sign, unit, bias } = w.layout;
  w.masked(x.high, sign | FRACTION);
  word(fn, (bias - 1) * unit);
  fn.op('v128.or').get(x.high).get(isOrdinary).op(choosing()).set(result.high);
  fn.get(x.low as number).set(result.low);
  if (code.mode.in64)
    whereDenormal(parts, (isDenormal, normal) => {
      fn.get(normal.low as number)
        .get(result.low)
        .get(isDenormal)
        .op(choosing())
        .set(result.low);
      w.masked(normal.high, FRACTION);
      w.masked(result.high, ~FRACTION);
      fn.op('v128.or').get(result.high).get(isDenormal).op(choosing()).set(result.high);
    });
  w.release();
  code.kept.set('frexp_mant', [result.low, result.high]);
  return result;
}

/** Pushes the bits of the mantissas in [1/2, 1) of f32; zeros, infinities and NaNs stay. */
export function pushMantissas(code: LaneWriter): void {
  const { fn } = code;
  const { w, x, size, isOrdinary } = partsOf(code, 'f32');
  const { sign, unit, bias } = w.layout;
  if (code.mode.in32) {
    // Denormals are integers, whose digits the conversion moves up.
    fn.get(size).op('f32x4.convert_i32x4_s').get(size).get(size);
    word(fn, unit);
    fn.op('i32x4.lt_s').op(choosing());
    word(fn, unit - 1);
    fn.op('v128.and');
    w.masked(x.high, sign);
    fn.op('v128.or');
  } else w.masked(x.high, sign | (unit - 1));
  word(fn, (bias - 1) * unit);
  fn.op('v128.or').get(x.high).get(isOrdinary).op(choosing());
  w.release();
}

/** Pushes the exponents of f64 that belong to `mantissaWords`; 0 for zeros, infinities and NaNs. */
export function pushExponents(code: LaneWriter): void {
  const { fn } = code;
  const parts = partsOf(code, 'f64');
  const { w, size, isOrdinary } = parts;
  const { bias } = w.layout;
  const push = (high: number, less: number): void => {
    fn.get(high)
      .i32(PLACES - 32)
      .op('i32x4.shr_u');
    word(fn, less);
    fn.op('i32x4.sub');
  };
  const result = w.keep(() => {
    push(size, bias - 1);
    fn.get(isOrdinary).op('v128.and');
  });
  if (code.mode.in64)
    whereDenormal(parts, (isDenormal, normal) => {
      push(normal.high, bias - 1 - LEAST);
      fn.get(result).get(isDenormal).op(choosing()).set(result);
    });
  fn.get(result);
  w.release();
}
