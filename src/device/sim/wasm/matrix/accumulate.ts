// The accumulator step of truncating sums: adds the cut sum of a group of products to four elements of D with the two cuts and the one
// rounding of CDNA3. Source: interpreter/matrix-math.ts (`accumulate`).
import type { WasmFunction } from '../emit.ts';
import type { Constants } from './scratch.ts';

/**
 * Emits d = d + sum on v128 locals. `sums` are i32 in units of 2^(e - 24), `fields` their exponents e plus the biases of both formats: one
 * of each, or two for even and odd k.
 */
export type Accumulate = (d: number, sums: readonly number[], fields: readonly number[]) => void;

/** Unit exponents below this many, biased by 127, are left to the reference: results could be denormal. */
const LOWEST_UNIT = 25;

/**
 * FP8 and BF8: sums of even and odd k, whose products lie far from both ends of f32. Everything is counted in units of 2^(u - 24),
 * u = max(e, e_c - 8): c cut to that unit is c cut as the rule says (it has no bits below the larger cut), and so is the sum.
 */
export function groupedAccumulator(
  f: WasmFunction,
  k: Constants,
  o: { readonly biasSum: number; readonly bad: number },
): Accumulate {
  const v128 = (): number => f.local('v128');
  const zero = k.word(0);
  const bias = k.word(o.biasSum - 127);
  const n255 = k.word(255);
  const n1 = k.word(1);
  const n8 = k.word(8);
  const n512 = k.word(-512);
  const lowest = k.word(LOWEST_UNIT);
  const tiny = k.word(LOWEST_UNIT + 8);
  const unitBias = k.word(24);
  const cBias = k.word(2 * 127 + 24);
  const powerBias = k.word(1023);
  const n25 = k.word(25);
  const borrow = k.words(0x1fffff, 0, 0x1fffff, 0);
  const keep = k.words(~0x1fffff, -1, ~0x1fffff, -1);
  const [edot, ec, unit, c, low, high] = Array.from({ length: 6 }, v128) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const parityScales = [v128(), v128()];
  const halves = [v128(), v128()];
  const upper = (value: number, h: number): void => {
    f.get(value);
    if (h === 1) f.get(value).shuffle32(2, 3, 2, 3);
  };
  /** Sets `into` to 2^x as the high words of f64, from the difference of exponents on the stack. */
  const power = (into: number): void => {
    f.get(n512).op('i32x4.max_s').get(powerBias).op('i32x4.add').i32(20).op('i32x4.shl').set(into);
  };
  /** Multiplies the f64 pair on the stack by the powers of lanes 2h, 2h + 1 and cuts towards minus infinity. */
  const cut = (scale: number, h: number): void => {
    f.get(zero).get(scale);
    if (h === 0) f.shuffle32(0, 4, 1, 5);
    else f.shuffle32(2, 6, 3, 7);
    f.op('f64x2.mul').op('f64x2.floor');
  };
  return (d, sums, fields) => {
    const [first, second] = fields as [number, number];
    f.get(first).get(second).op('i32x4.max_s').get(bias).op('i32x4.sub').set(edot);
    f.get(d).i32(23).op('i32x4.shr_u').get(n255).op('v128.and').get(n1).op('i32x4.max_s').tee(ec);
    f.get(n8).op('i32x4.sub').get(edot).op('i32x4.max_s').set(unit);
    f.get(unit).get(lowest).op('i32x4.max_s').set(unit);
    // A C far below the products counts as exactly 0.
    f.get(d).get(ec).get(edot).get(n25).op('i32x4.sub').op('i32x4.lt_s').op('v128.andnot');
    f.get(cBias).get(unit).op('i32x4.sub').i32(23).op('i32x4.shl').op('f32x4.mul').op('f32x4.floor').set(c);
    for (let h = 0; h < 2; h++) {
      for (const [p, sum] of sums.entries()) {
        upper(sum, h);
        f.op('f64x2.convert_low_i32x4_s');
        if (h === 0) {
          f.get(fields[p] as number)
            .get(bias)
            .op('i32x4.sub')
            .get(edot)
            .op('i32x4.sub');
          power(parityScales[p] as number);
        }
        cut(parityScales[p] as number, h);
        if (p === 1) f.op('f64x2.add');
      }
      f.set(halves[h] as number);
    }
    // The sum has bits below the unit only where C is more than eight binades larger.
    f.get(unit).get(edot).op('i32x4.eq').op('i32x4.all_true').op('i32.eqz').if();
    // Without products a tiny C is left to the reference.
    f.get(ec).get(tiny).op('i32x4.lt_s').get(edot).get(lowest).op('i32x4.lt_s').op('v128.and');
    f.get(d).op('v128.and').get(o.bad).op('v128.or').set(o.bad);
    f.get(edot).get(unit).op('i32x4.sub');
    power(low);
    for (let h = 0; h < 2; h++) {
      f.get(halves[h] as number);
      cut(low, h);
      f.set(halves[h] as number);
    }
    f.end();
    for (let h = 0; h < 2; h++) {
      upper(c, h);
      f.op('f64x2.promote_low_f32x4')
        .get(halves[h] as number)
        .op('f64x2.add')
        .set(high);
      // Cut to 32 bits towards minus infinity: magnitudes of negative sums grow.
      f.get(high).get(zero).op('f64x2.lt').get(borrow).op('v128.and').get(high).op('i64x2.add').get(keep);
      f.op('v128.and')
        .op('f32x4.demote_f64x2_zero')
        .set(h === 0 ? low : high);
    }
    // No result is denormal, so the unit can be put back after rounding.
    f.get(low).get(high).shuffle32(0, 1, 4, 5);
    f.get(unit).get(unitBias).op('i32x4.sub').i32(23).op('i32x4.shl').op('f32x4.mul').set(d);
  };
}

/** f16, bf16 and xf32: one sum. */
export function plainAccumulator(
  f: WasmFunction,
  k: Constants,
  o: { readonly biasSum: number; readonly wide: boolean; readonly bad: number },
): Accumulate {
  const v128 = (): number => f.local('v128');
  const zero = k.word(0);
  const bias = k.word(o.biasSum);
  const [edot, e, tScale, cScale, outScale, t, s, low, high] = Array.from({ length: 9 }, v128) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const n255 = k.word(255);
  const n1 = k.word(1);
  const n127 = k.word(127);
  const n512 = k.word(-512);
  const tBias = k.word(8 + 1023);
  const cBias = k.word(24 + 1023);
  const outBias = k.word(1023 - 32);
  const smallest = k.word(-126);
  const n256 = k.f64(256);
  const borrow = k.words(0x1fffff, 0, 0x1fffff, 0);
  const keep = k.words(~0x1fffff, -1, ~0x1fffff, -1);

  /** Pushes the f64 powers of two of lanes 2h, 2h + 1, whose exponent fields (shifted to bit 20) are in `field`. */
  const powers = (field: number, h: number): void => {
    f.get(zero).get(field);
    if (h === 0) f.shuffle32(0, 4, 1, 5);
    else f.shuffle32(2, 6, 3, 7);
  };
  const upper = (value: number, h: number): void => {
    f.get(value);
    if (h === 1) f.get(value).shuffle32(2, 3, 2, 3);
  };
  return (d, sums, fields) => {
    f.get(fields[0] as number)
      .get(bias)
      .op('i32x4.sub')
      .set(edot);
    f.get(d).i32(23).op('i32x4.shr_u').get(n255).op('v128.and').get(n1).op('i32x4.max_s').get(n127).op('i32x4.sub');
    f.get(edot).op('i32x4.max_s').set(e);
    f.get(edot).get(e).op('i32x4.sub').get(n512).op('i32x4.max_s').get(tBias).op('i32x4.add').i32(20).op('i32x4.shl');
    f.set(tScale);
    f.get(cBias).get(e).op('i32x4.sub').i32(20).op('i32x4.shl').set(cScale);
    f.get(e).get(outBias).op('i32x4.add').i32(20).op('i32x4.shl').set(outScale);
    if (o.wide) {
      // The smallest scale has one bit less below it: left to the reference.
      f.get(e).get(smallest).op('i32x4.eq');
      f.get(sums[0] as number)
        .get(zero)
        .op('i32x4.ne')
        .op('v128.and')
        .get(o.bad)
        .op('v128.or')
        .set(o.bad);
    }
    for (let h = 0; h < 2; h++) {
      upper(sums[0] as number, h);
      f.op('f64x2.convert_low_i32x4_s');
      powers(tScale, h);
      f.op('f64x2.mul').op('f64x2.floor').set(t);
      upper(d, h);
      f.op('f64x2.promote_low_f32x4');
      powers(cScale, h);
      f.op('f64x2.mul').op('f64x2.floor').get(n256).op('f64x2.mul').get(t).op('f64x2.add').set(s);
      // Cut to 32 bits towards minus infinity: magnitudes of negative sums grow.
      f.get(s).get(zero).op('f64x2.lt').get(borrow).op('v128.and').get(s).op('i64x2.add').get(keep).op('v128.and');
      powers(outScale, h);
      f.op('f64x2.mul').op('f32x4.demote_f64x2_zero');
      if (h === 0) f.set(low);
      else {
        f.set(high);
        f.get(low).get(high).shuffle32(0, 1, 4, 5).set(d);
      }
    }
  };
}
