// v_div_scale of four lanes, decided by its operands' words as integers: a host takes long for quotients and products that are denormal.
// Counterpart: divScale in interpreter/division.ts.
import { type DivisionFormat, DivisionWords, pushHalfOf, type Words } from './division-words.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';

/** Distances of exponents as in the interpreter's Range, and bits of a fraction: in the words that have exponents, and in all. */
interface Scale {
  readonly farApart: number;
  readonly step: number;
  readonly tiny: number;
  readonly fractionBits: number;
  readonly places: number;
}
const SCALES = {
  f32: { farApart: 96, step: 64, tiny: 23, fractionBits: 23, places: 23 },
  f64: { farApart: 768, step: 128, tiny: 53, fractionBits: 20, places: 52 },
} as const satisfies Partial<Record<DivisionFormat, Scale>>;
export type ScaleFormat = keyof typeof SCALES;

class ScaleWords extends DivisionWords {
  readonly scale: Scale;

  constructor(code: LaneWriter, format: ScaleFormat) {
    super(code, format);
    this.scale = SCALES[format];
  }

  /** x op y of floats given by their words; only the high ones of `y` are not zero. */
  operate(x: Words, y: number, name: 'sub' | 'mul'): Words {
    const { fn } = this;
    const { low } = x;
    if (low === undefined) return { high: this.keep(() => void fn.get(x.high).get(y).op(`f32x4.${name}`)), low };
    const zero = this.keep(() => void fn.v128(0, 0, 0, 0));
    const halves = [0, 1].map((half) =>
      this.keep(() => {
        pushHalfOf(fn, low, x.high, half);
        pushHalfOf(fn, zero, y, half);
        fn.op(`f64x2.${name}`);
      }),
    ) as [number, number];
    return {
      low: this.keep(() => void fn.get(halves[0]).get(halves[1]).shuffle32(0, 2, 4, 6)),
      high: this.keep(() => void fn.get(halves[0]).get(halves[1]).shuffle32(1, 3, 5, 7)),
    };
  }

  /** The sizes of denormals times 2^step, by sums: of other numbers any. */
  denormalScaled({ high, low }: Words): Words {
    const { fn, layout, scale } = this;
    const power = this.keep(() => word(fn, (scale.step + 1) * layout.unit));
    const above = this.keep(() => {
      this.masked(high, layout.unit - 1);
      fn.get(power).op('v128.or');
    });
    return this.operate({ high: above, low }, power, 'sub');
  }

  /** Replaces the words of a number by others in the lanes of a mask. */
  replace(x: Words, by: Words, mask: number): void {
    const { fn } = this;
    fn.get(by.high).get(x.high).get(mask).op(choosing()).set(x.high);
    if (x.low === undefined) return;
    fn.get(by.low as number)
      .get(x.low)
      .get(mask)
      .op(choosing())
      .set(x.low);
  }

  /** The lanes that have the same bits. */
  same(x: Words, y: Words): number {
    const { fn } = this;
    return this.keep(() => {
      fn.get(x.high).get(y.high).op('i32x4.eq');
      if (x.low === undefined) return;
      fn.get(x.low)
        .get(y.low as number)
        .op('i32x4.eq')
        .op('v128.and');
    });
  }

  /** Pushes the lanes whose field is that of no ordinary number. */
  pushIsEnd(field: number): void {
    const { fn, layout } = this;
    fn.get(field);
    word(fn, layout.unit);
    fn.op('i32x4.sub');
    word(fn, layout.infinity - layout.unit);
    fn.op('i32x4.ge_u');
  }
}

/** Pushes the lanes whose quotient c / b is denormal or zero, c being no zero; by denormals there is none. */
function pushTinyQuotients(w: ScaleWords, fieldB: number, fieldC: number): void {
  const { fn, layout, scale } = w;
  const { unit, bias } = layout;
  const [, b, c] = w.operands as [Words, Words, Words];
  // Numerators in which fractions and exponents of denormals are as those of others.
  const numerator = {
    high: w.keep(() => void fn.get(c.high)),
    low: c.low === undefined ? undefined : w.keep(() => void fn.get(c.low as number)),
  };
  const exponentC = w.keep(() => void fn.get(fieldC).i32(scale.fractionBits).op('i32x4.shr_s'));
  const isDenormal = w.test(fieldC, 'eq', 0);
  fn.get(isDenormal).anyLane().if();
  const scaled = w.denormalScaled(c);
  w.replace(numerator, scaled, isDenormal);
  fn.get(scaled.high).i32(scale.fractionBits).op('i32x4.shr_s');
  word(fn, scale.step);
  fn.op('i32x4.sub').get(exponentC).get(isDenormal).op(choosing()).set(exponentC).end();
  const [ofB, ofC] = [b.high, numerator.high].map((high) => w.keep(() => w.masked(high, unit - 1))) as [number, number];
  const exponent = w.keep(() => {
    fn.get(exponentC).get(fieldB).i32(scale.fractionBits).op('i32x4.shr_s').op('i32x4.sub');
    // The numerator's fraction is below the denominator's: the quotient's exponent is one less than the distance of theirs.
    fn.get(ofC).get(ofB).op('i32x4.lt_s');
    if (b.low !== undefined) {
      fn.get(ofC).get(ofB).op('i32x4.eq').get(b.low);
      fn.get(numerator.low as number)
        .op('i32x4.gt_u')
        .op('v128.and')
        .op('v128.or');
    }
    fn.op('i32x4.add');
  });
  fn.get(exponent);
  word(fn, 1 - bias);
  fn.op('i32x4.lt_s');
  if (b.low !== undefined) {
    // The one quotient that is rounded up to a normal number: of all ones by a power of two.
    fn.get(exponent);
    word(fn, -bias);
    fn.op('i32x4.eq').get(ofB).get(b.low).op('v128.or').v128(0, 0, 0, 0).op('i32x4.eq').op('v128.and').get(ofC);
    word(fn, unit - 1);
    fn.op('i32x4.eq')
      .op('v128.and')
      .get(numerator.low as number);
    word(fn, -1);
    fn.op('i32x4.eq').op('v128.and').op('v128.andnot');
  }
  // By infinities and NaNs there is none.
  fn.get(w.test(fieldB, 'eq', layout.infinity)).op('v128.andnot');
}

/** What is known of denominators (B) and numerators (C). */
interface Facts {
  readonly orderB: number;
  readonly fieldB: number;
  readonly fieldC: number;
  readonly distance: number;
  /** There is no quotient. */
  readonly invalid: number;
}

function factsOf(w: ScaleWords): Facts {
  const { fn, layout } = w;
  const [, b, c] = w.operands as [Words, Words, Words];
  const [sizeB, sizeC] = [w.size(b), w.size(c)];
  const orderB = w.order(b, sizeB);
  const invalid = w.both('or', w.test(orderB, 'eq', 0), w.test(w.order(c, sizeC), 'eq', 0));
  const [fieldB, fieldC] = [sizeB, sizeC].map((size) => w.keep(() => w.masked(size, layout.infinity))) as [
    number,
    number,
  ];
  const distance = w.keep(() => void fn.get(fieldC).get(fieldB).op('i32x4.sub'));
  return { orderB, fieldB, fieldC, distance, invalid };
}

/** The field of the power of two that has the least reciprocal that is no denormal. */
const lastOf = ({ layout }: ScaleWords): number => (2 * layout.bias - 1) * layout.unit;

/** Pushes a mask that is not empty when some lane may be scaled: its quotient's exponent or one of its operands is near an end of the range. */
function pushMayScale(w: ScaleWords, { orderB, fieldC, distance, invalid }: Facts): void {
  const { fn, layout, scale } = w;
  const { unit, infinity, bias } = layout;
  const outside = (x: number, from: number, to: number): void => {
    fn.get(x);
    word(fn, from);
    fn.op('i32x4.sub');
    word(fn, (to - from) | 0);
    fn.op('i32x4.ge_u');
  };
  outside(orderB, unit, lastOf(w) + 1);
  // By infinities and NaNs nothing is scaled.
  fn.get(w.test(orderB, 'gt_s', infinity - 1)).op('v128.andnot');
  outside(distance, (2 - bias) * unit, scale.farApart * unit);
  fn.op('v128.or').get(fieldC);
  word(fn, (scale.tiny + 1) * unit);
  fn.op('i32x4.lt_s').op('v128.or').get(invalid).op('v128.andnot');
}

/** The lanes that are scaled up and down, and those that v_div_fmas has to scale back. */
interface Lanes {
  readonly up: number;
  readonly down: number;
  readonly flag: number;
}

function lanesOf(w: ScaleWords, { orderB, fieldB, fieldC, distance, invalid }: Facts): Lanes {
  const { fn, layout, scale } = w;
  const { unit, infinity, bias } = layout;
  const [a, b, c] = w.operands as [Words, Words, Words];
  const isFar = w.test(distance, 'gt_s', scale.farApart * unit - 1);
  const isLowB = w.test(fieldB, 'eq', 0);
  // Of numbers with denormal reciprocals.
  const reciprocal = w.keep(() => {
    fn.get(w.test(orderB, 'gt_s', lastOf(w)))
      .get(w.test(orderB, 'gt_s', infinity - 1))
      .op('v128.andnot');
  });
  const [isB, isC] = [w.same(a, b), w.same(a, c)];
  const quotient = w.keep(() => void fn.v128(0, 0, 0, 0));
  // Denormals have exponents below their field's, by the places of a fraction.
  fn.get(distance);
  word(fn, (2 - bias + scale.places) * unit);
  fn.op('i32x4.lt_s').get(invalid).op('v128.andnot').anyLane().if();
  pushTinyQuotients(w, fieldB, fieldC);
  fn.set(quotient).end();
  const up = w.keep(() => {
    fn.get(isB).get(isC);
    word(fn, (scale.tiny + 1) * unit);
    fn.get(fieldC).op('i32x4.gt_s').get(quotient).op(choosing());
    fn.get(reciprocal).op('v128.andnot').get(isLowB).op('v128.or').get(isFar).op(choosing());
    fn.get(invalid).op('v128.andnot');
  });
  const down = w.keep(() => {
    fn.get(reciprocal).get(quotient).get(isB).op('v128.andnot').op('v128.andnot').get(invalid).op('v128.andnot');
  });
  const flag = w.keep(() => {
    fn.get(isFar).get(quotient).op('v128.or').get(invalid).op('v128.andnot');
  });
  return { up, down, flag };
}

/** The first operand times a power of two whose exponent is that of 1 and `change`, where it or the product is no ordinary number. */
function product(w: ScaleWords, field: number, change: number, up: number): Words {
  const { fn, layout } = w;
  const [a] = w.operands as [Words];
  const isDenormal = w.test(field, 'eq', 0);
  // Denormals are zeros here, so that the host is not slow: scaled down they become such.
  const x = {
    high: w.keep(() => {
      fn.get(a.high).get(isDenormal);
      word(fn, layout.size);
      fn.op('v128.and').op('v128.andnot');
    }),
    low:
      a.low === undefined
        ? undefined
        : w.keep(
            () =>
              void fn
                .get(a.low as number)
                .get(isDenormal)
                .op('v128.andnot'),
          ),
  };
  const power = w.keep(() => {
    fn.get(change);
    word(fn, layout.bias * layout.unit);
    fn.op('i32x4.add');
  });
  const result = w.operate(x, power, 'mul');
  const scaled = w.denormalScaled(a);
  fn.get(scaled.high);
  w.masked(a.high, layout.sign);
  fn.op('v128.or').set(scaled.high);
  w.replace(result, scaled, w.both('and', isDenormal, up));
  return result;
}

/** Replaces the first operand in `result` where it is scaled. */
function scaleLanes(w: ScaleWords, result: Words, { up, down }: Lanes): void {
  const { fn, layout, scale } = w;
  const [a] = w.operands as [Words];
  const change = w.keep(() => {
    w.masked(up, scale.step * layout.unit);
    w.masked(down, -scale.step * layout.unit);
    fn.op('v128.or');
  });
  const field = w.keep(() => w.masked(a.high, layout.infinity));
  const isRare = w.keep(() => {
    w.pushIsEnd(w.keep(() => void fn.get(field).get(change).op('i32x4.add')));
    w.pushIsEnd(field);
    fn.op('v128.or')
      .get(w.both('or', up, down))
      .op('v128.and');
  });
  fn.get(a.high).get(change).op('i32x4.add').set(result.high);
  fn.get(isRare).anyLane().if();
  w.replace(result, product(w, field, change, up), isRare);
  fn.end();
}

/** The words of v_div_scale, and the mask of the lanes that v_div_fmas has to scale back, in locals. */
export function divScaleWords(
  code: LaneWriter,
  format: ScaleFormat,
): { readonly result: Words; readonly flag: number } {
  const known = code.kept.get('div_scale') as readonly [number, number, number?] | undefined;
  if (known !== undefined) return { flag: known[0], result: { high: known[1], low: known[2] } };
  const w = new ScaleWords(code, format);
  const { fn, layout } = w;
  const [a] = w.operands as [Words];
  const flag = code.temporary();
  const result = { high: code.temporary(), low: a.low === undefined ? undefined : code.temporary() };
  fn.get(a.high).set(result.high);
  if (result.low !== undefined) fn.get(a.low as number).set(result.low);
  fn.v128(0, 0, 0, 0).set(flag);
  const facts = factsOf(w);
  pushMayScale(w, facts);
  fn.anyLane().if();
  const lanes = lanesOf(w, facts);
  scaleLanes(w, result, lanes);
  fn.get(lanes.flag).set(flag).end();
  const { invalid } = facts;
  if (result.low === undefined) fn.get(result.high).get(invalid).op('v128.or').set(result.high);
  else setDefaultNaN(w, result, w.both('or', invalid, w.test(w.order(a, w.size(a)), 'gt_s', layout.infinity)));
  w.release();
  code.kept.set('div_scale', [flag, result.high, ...(result.low === undefined ? [] : [result.low])]);
  return { result, flag };
}

/** Sets the lanes of a mask to the default quiet NaN of f64. */
function setDefaultNaN({ fn, layout }: ScaleWords, result: Words, mask: number): void {
  fn.get(result.low as number)
    .get(mask)
    .op('v128.andnot')
    .set(result.low as number);
  fn.get(result.high).get(mask).op('v128.andnot').get(mask);
  word(fn, layout.infinity | (layout.unit / 2));
  fn.op('v128.and').op('v128.or').set(result.high);
}
