// v_div_scale as SIMD code of four lanes. What happens is decided by exponents and fractions as integers: a host takes long for
// quotients and products that are denormal. Counterpart: interpreter/division.ts.
import type { WasmFunction } from './emit.ts';
import type { MathFunction } from './math-tools.ts';

export type DivisionFormat = 'f32' | 'f64';

/** A format by the words that have its exponents; exponents are of the values, fields are biased. */
interface Layout {
  readonly vector: 'f32x4' | 'f64x2';
  readonly halves: readonly number[];
  /** Bits of a fraction in the words that have exponents, and in all. */
  readonly fractionBits: number;
  readonly places: number;
  readonly bias: number;
  readonly farApart: number;
  readonly step: number;
  readonly tiny: number;
}
const LAYOUTS: Readonly<Record<DivisionFormat, Layout>> = {
  f32: {
    vector: 'f32x4',
    halves: [0],
    fractionBits: 23,
    places: 23,
    bias: 127,
    farApart: 96,
    step: 64,
    tiny: 23,
  },
  f64: {
    vector: 'f64x2',
    halves: [0, 1],
    fractionBits: 20,
    places: 52,
    bias: 1023,
    farApart: 768,
    step: 128,
    tiny: 53,
  },
};

/** Writer of masks and numbers of a format. Its locals are given back by `release`. */
class Writer {
  readonly fn: WasmFunction;
  readonly format: Layout;
  /** Words by which exponents differ, of their field's lowest bit, and of the whole field. */
  readonly unit: number;
  readonly exponent: number;
  private readonly locals: number[] = [];
  constructor(fn: WasmFunction, format: DivisionFormat) {
    this.fn = fn;
    this.format = LAYOUTS[format];
    this.unit = 2 ** this.format.fractionBits;
    this.exponent = this.top * this.unit;
  }
  /** The field of infinities. */
  get top(): number {
    return 2 * this.format.bias + 1;
  }
  local(): number {
    const local = this.fn.local('v128');
    this.locals.push(local);
    return local;
  }
  release(): void {
    for (const local of this.locals) this.fn.release('v128', local);
  }
  /** A local set by `push`. */
  keep(push: () => void): number {
    const local = this.local();
    push();
    this.fn.set(local);
    return local;
  }
  word(value: number): void {
    this.fn.v128(value, value, value, value);
  }
  /** Pushes a word in the lanes that have exponents, and another in the rest (the low words of f64). */
  pair(value: number, low: number): void {
    if (this.format.vector === 'f32x4') this.word(value);
    else this.fn.v128(low, value, low, value);
  }
  /** Pushes the number 2^n in the format. */
  power(n: number): void {
    this.pair((this.format.bias + n) * this.unit, 0);
  }
  op(name: string): void {
    this.fn.op(`${this.format.vector}.${name}`);
  }
  /** The words with the exponents of a number given by its halves. */
  high(x: readonly number[]): number {
    const [first, second] = x as [number, number?];
    if (second === undefined) return first;
    return this.keep(() => void this.fn.get(first).get(second).shuffle32(1, 3, 5, 7));
  }
  /** The other words, which f32 has not. */
  low(x: readonly number[]): number | undefined {
    const [first, second] = x as [number, number?];
    if (second === undefined) return undefined;
    return this.keep(() => void this.fn.get(first).get(second).shuffle32(0, 2, 4, 6));
  }
  /** The exponent fields, where they lie, of such words. */
  fields(high: number): number {
    return this.keep(() => {
      this.fn.get(high);
      this.word(this.exponent);
      this.fn.op('v128.and');
    });
  }
  /** Pushes the lanes of a half of a mask of four lanes. */
  mask(four: number, half: number): void {
    this.fn.get(four);
    if (this.format.vector === 'f32x4') return;
    this.fn.get(four);
    if (half === 0) this.fn.shuffle32(0, 0, 1, 1);
    else this.fn.shuffle32(2, 2, 3, 3);
  }
  /** Pushes a mask of four lanes of what `push` pushes for halves. */
  four(push: (half: number) => void): void {
    for (const half of this.format.halves) push(half);
    if (this.format.halves.length > 1) this.fn.shuffle32(0, 2, 4, 6);
  }
}

type Halves = readonly number[];

/** Pushes, by half, the lanes that are zero. */
function pushZeros(w: Writer, x: Halves, half: number): void {
  w.fn.get(x[half] as number).v128(0, 0, 0, 0);
  w.op('eq');
}

/** Locals that outlive the writer, with the lanes that are zero by half. */
function zeroMasks(w: Writer, x: Halves): readonly number[] {
  return w.format.halves.map((half) => {
    const local = w.fn.local('v128');
    pushZeros(w, x, half);
    w.fn.set(local);
    return local;
  });
}

/**
 * For the code in line: pushes a mask that is not empty when some lane is scaled, its quotient's exponent or one of its operands being near
 * an end of the range. Zero numerators count for none; returns the locals with their masks by half.
 */
export function pushNeedsScale(fn: WasmFunction, format: DivisionFormat, b: Halves, c: Halves): readonly number[] {
  const w = new Writer(fn, format);
  const { unit, top } = w;
  const { farApart, bias, tiny } = w.format;
  const [fb, fc] = [w.fields(w.high(b)), w.fields(w.high(c))];
  const zeros = zeroMasks(w, c);
  // A denominator is no denormal, and its reciprocal none.
  fn.get(fb);
  w.word(unit);
  fn.op('i32x4.sub');
  w.word((top - 3) * unit);
  fn.op('i32x4.ge_u');
  fn.get(fc).get(fb).op('i32x4.sub');
  const least = 2 - bias;
  w.word(least * unit);
  fn.op('i32x4.sub');
  w.word(((farApart - least) * unit) | 0);
  fn.op('i32x4.ge_u').get(fc);
  w.word((tiny + 1) * unit);
  fn.op('i32x4.lt_s').op('v128.or');
  w.four((half) => void fn.get(zeros[half] as number));
  fn.op('v128.andnot').op('v128.or');
  w.release();
  return zeros;
}

/** The locals of an operand, of which each has as many as the format has halves. */
const operand = (w: Writer, n: number): Halves => w.format.halves.map((half) => n * w.format.halves.length + half);

/** Pushes the sizes of denormals, zeros too, times 2^step, by sums: of other numbers any. */
function pushDenormalScaled(w: Writer, x: number): void {
  const { fn, format } = w;
  const field = format.step + 1;
  fn.get(x);
  w.pair(w.unit - 1, -1);
  fn.op('v128.and');
  w.power(field - format.bias);
  fn.op('v128.or');
  w.power(field - format.bias);
  w.op('sub');
}

/**
 * Sets the words of numerators to those of numbers in which fractions and exponents of denormals are as those of others: times 2^step. Returns
 * the exponents with their signs, in lowest bits.
 */
function normalizedExponents(w: Writer, c: Halves, words: Words): number {
  const { fn, format } = w;
  const isDenormal = w.keep(() => void fn.get(words.field).v128(0, 0, 0, 0).op('i32x4.eq'));
  const exponent = w.keep(() => void fn.get(words.field).i32(format.fractionBits).op('i32x4.shr_s'));
  fn.get(isDenormal).op('v128.any_true').if();
  const scaled = format.halves.map((half) => w.keep(() => pushDenormalScaled(w, c[half] as number)));
  const select = (to: number, push: () => void): void => {
    push();
    fn.get(to).get(isDenormal).op('v128.bitselect').set(to);
  };
  const of = wordsOf(w, scaled);
  select(words.high, () => void fn.get(of.high));
  if (words.low !== undefined) select(words.low, () => void fn.get(of.low as number));
  select(exponent, () => {
    fn.get(of.field).i32(format.fractionBits).op('i32x4.shr_s');
    w.word(format.step);
    fn.op('i32x4.sub');
  });
  fn.end();
  return exponent;
}

/** Pushes the lanes whose quotient c / b is denormal or zero, b being no denormal and c no zero. The words of c are changed. */
function pushTinyQuotients(w: Writer, b: Words, c: Halves, words: Words): void {
  const { fn, unit, format } = w;
  const exponentC = normalizedExponents(w, c, words);
  const fraction = (high: number): number =>
    w.keep(() => {
      fn.get(high);
      w.word(unit - 1);
      fn.op('v128.and');
    });
  const [ofB, ofC] = [fraction(b.high), fraction(words.high)];
  const exponent = w.keep(() => {
    fn.get(exponentC).get(b.field).i32(format.fractionBits).op('i32x4.shr_s').op('i32x4.sub');
    // The numerator's fraction is below the denominator's: the quotient's exponent is one less than the distance of theirs.
    fn.get(ofC).get(ofB).op('i32x4.lt_s');
    if (b.low !== undefined) {
      fn.get(ofC).get(ofB).op('i32x4.eq').get(b.low);
      fn.get(words.low as number)
        .op('i32x4.gt_u')
        .op('v128.and')
        .op('v128.or');
    }
    fn.op('i32x4.add');
  });
  fn.get(exponent);
  w.word(1 - format.bias);
  fn.op('i32x4.lt_s');
  if (b.low !== undefined) {
    // The one quotient that is rounded up to a normal number: of all ones by a power of two.
    fn.get(exponent);
    w.word(-format.bias);
    fn.op('i32x4.eq').get(ofB).get(b.low).op('v128.or').v128(0, 0, 0, 0).op('i32x4.eq').op('v128.and').get(ofC);
    w.word(unit - 1);
    fn.op('i32x4.eq')
      .op('v128.and')
      .get(words.low as number);
    w.word(-1);
    fn.op('i32x4.eq').op('v128.and').op('v128.andnot');
  }
  // By infinities and NaNs there is none.
  fn.get(b.field);
  w.word(w.exponent);
  fn.op('i32x4.eq').op('v128.andnot');
}

/** The words of an operand. */
interface Words {
  readonly high: number;
  readonly low: number | undefined;
  readonly field: number;
}

function wordsOf(w: Writer, x: Halves): Words {
  const high = w.high(x);
  return { high, low: w.low(x), field: w.fields(high) };
}

/** Pushes the lanes that have the same bits. */
function pushSame(w: Writer, x: Words, y: Words): void {
  w.fn.get(x.high).get(y.high).op('i32x4.eq');
  if (x.low !== undefined) {
    w.fn
      .get(x.low)
      .get(y.low as number)
      .op('i32x4.eq')
      .op('v128.and');
  }
}

/** Pushes the lanes whose reciprocal is denormal: larger than the power of two that has the least normal one, and no infinity or NaN. */
function pushTinyReciprocals(w: Writer, b: Words): void {
  const { fn, format, unit } = w;
  const size = w.keep(() => {
    fn.get(b.high);
    w.word(0x7fffffff);
    fn.op('v128.and');
  });
  const last = (2 * format.bias - 1) * unit;
  fn.get(size);
  w.word(last);
  fn.op('i32x4.gt_s');
  if (b.low !== undefined) {
    fn.get(size);
    w.word(last);
    fn.op('i32x4.eq').get(b.low).v128(0, 0, 0, 0).op('i32x4.ne').op('v128.and').op('v128.or');
  }
  w.word(w.exponent);
  fn.get(size).op('i32x4.gt_s').op('v128.and');
}

/** The halves of v_div_scale of any operands, and the mask that asks v_div_fmas to scale back. */
function divScale(fn: WasmFunction, format: DivisionFormat): void {
  const w = new Writer(fn, format);
  const { step, farApart, tiny, bias, places } = w.format;
  const [a, b, c] = [0, 1, 2].map((n) => operand(w, n)) as [Halves, Halves, Halves];
  const [ofA, ofB, ofC] = [a, b, c].map((x) => wordsOf(w, x)) as [Words, Words, Words];
  const distance = w.keep(() => void fn.get(ofC.field).get(ofB.field).op('i32x4.sub'));
  const isFar = w.keep(() => {
    fn.get(distance);
    w.word(farApart * w.unit - 1);
    fn.op('i32x4.gt_s');
  });
  const isLowB = w.keep(() => void fn.get(ofB.field).v128(0, 0, 0, 0).op('i32x4.eq'));
  const reciprocal = w.keep(() => pushTinyReciprocals(w, ofB));
  const [isB, isC] = [ofB, ofC].map((x) => w.keep(() => pushSame(w, ofA, x))) as [number, number];
  const quotient = w.keep(() => void fn.v128(0, 0, 0, 0));
  // Denormals have exponents below their field's, by the places of a fraction.
  fn.get(distance);
  w.word((2 - bias + places) * w.unit);
  fn.op('i32x4.lt_s').op('v128.any_true').if();
  pushTinyQuotients(w, ofB, c, ofC);
  fn.set(quotient).end();
  const up = w.keep(() => {
    fn.get(isB).get(isC);
    w.word((tiny + 1) * w.unit);
    fn.get(ofC.field).op('i32x4.gt_s').get(quotient).op('v128.bitselect');
    fn.get(reciprocal).op('v128.andnot').get(isLowB).op('v128.or').get(isFar).op('v128.bitselect');
  });
  const down = w.keep(() => void fn.get(reciprocal).get(quotient).get(isB).op('v128.andnot').op('v128.andnot'));
  const results = w.format.halves.map((half) => w.keep(() => void fn.get(a[half] as number)));
  /** Scales the lanes of a mask. What a lane does not need is taken from zero, so that it is no denormal. */
  const scale = (mask: number, push: (x: number, half: number) => void): void => {
    fn.get(mask).op('v128.any_true').if();
    for (const half of w.format.halves) {
      const result = results[half] as number;
      push(a[half] as number, half);
      fn.get(result);
      w.mask(mask, half);
      fn.op('v128.bitselect').set(result);
    }
    fn.end();
  };
  scale(up, (x, half) => {
    const isLow = w.keep(() => {
      fn.get(ofA.field).v128(0, 0, 0, 0).op('i32x4.eq');
    });
    pushDenormalScaled(w, x);
    fn.get(x);
    w.pair(-0x80000000, 0);
    fn.op('v128.and').op('v128.or').get(x);
    w.mask(isLow, half);
    fn.op('v128.andnot');
    w.power(step);
    w.op('mul');
    w.mask(isLow, half);
    fn.op('v128.bitselect');
  });
  scale(down, (x, half) => {
    fn.get(x);
    w.mask(down, half);
    fn.op('v128.and');
    w.power(-step);
    w.op('mul');
  });
  const invalid = w.keep(() => {
    w.four((half) => {
      pushZeros(w, b, half);
      pushZeros(w, c, half);
      fn.op('v128.or');
    });
  });
  for (const half of w.format.halves) {
    fn.get(results[half] as number);
    w.mask(invalid, half);
    fn.op('v128.or');
  }
  fn.get(isFar).get(quotient).get(isLowB).op('v128.andnot').op('v128.or').get(invalid).op('v128.andnot');
}

const functionOf = (format: DivisionFormat, build: typeof divScale, more: number): MathFunction => ({
  parameters: 3 * LAYOUTS[format].halves.length,
  results: LAYOUTS[format].halves.length + more,
  build: (fn) => build(fn, format),
});

/** Operands are the denominator or numerator, denominator and numerator, of f64 the halves of each. */
export const DIVISION: Record<string, MathFunction> = {
  'div_scale.f32': functionOf('f32', divScale, 1),
  'div_scale.f64': functionOf('f64', divScale, 1),
};
