// v_div_fixup of four lanes, made of the operands' words as integers: nothing is decoded, and zeros, infinities and NaNs are as quick as other
// numbers. Counterparts: divFixup in interpreter/division.ts, the NaNs of isa/semantics/vector-float.ts.
import { source } from '../../../isa/semantics/index.ts';
import type { WasmFunction } from './emit.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';
import { flushDenormals } from './rounding.ts';

/** A format by the words that have its exponents. */
interface Layout {
  readonly sign: number;
  readonly size: number;
  /** The exponent of infinities, and its lowest bit. */
  readonly infinity: number;
  readonly unit: number;
  /** By so much a numerator's exponent is below the denominator's when the quotient is zero; f16 asks for no distance. */
  readonly underflow: number | undefined;
}
const LAYOUTS = {
  f16: { sign: 0x8000, size: 0x7fff, infinity: 0x7c00, unit: 0x400, underflow: undefined },
  f32: { sign: -0x80000000, size: 0x7fffffff, infinity: 0x7f800000, unit: 0x800000, underflow: -150 },
  f64: { sign: -0x80000000, size: 0x7fffffff, infinity: 0x7ff00000, unit: 0x100000, underflow: -1075 },
} as const satisfies Record<string, Layout>;
export type FixupFormat = keyof typeof LAYOUTS;

/** An operand's words in locals; only f64 has low ones. */
interface Words {
  readonly high: number;
  readonly low: number | undefined;
}

/** What the writers below share. */
class Fixup {
  readonly fn: WasmFunction;
  readonly layout: Layout;
  readonly operands: readonly Words[];
  private readonly locals: number[] = [];

  constructor(code: LaneWriter, format: FixupFormat) {
    this.fn = code.fn;
    this.layout = LAYOUTS[format];
    const keepsDenormals = format === 'f32' ? code.mode.in32 : code.mode.in64;
    this.operands = [0, 1, 2].map((n) => {
      if (format !== 'f64') {
        const high = this.keep(() => {
          code.push(source('i32', n));
          if (!keepsDenormals) flushDenormals(this.fn, format);
        });
        return { high, low: undefined };
      }
      const [low, high] = [0, 1].map((part) => this.keep(() => code.push(source('i32', n, part)))) as [number, number];
      if (!keepsDenormals) this.flush(low, high);
      return { high, low };
    });
  }

  /** A local set by `push`. */
  keep(push: () => void): number {
    const local = this.fn.local('v128');
    this.locals.push(local);
    push();
    this.fn.set(local);
    return local;
  }

  release(): void {
    for (const local of this.locals) this.fn.release('v128', local);
  }

  /** Makes the denormals of f64 words zeros of their sign. */
  private flush(low: number, high: number): void {
    const { fn, layout } = this;
    const isLow = this.keep(() => {
      this.masked(high, layout.infinity);
      fn.v128(0, 0, 0, 0).op('i32x4.eq');
    });
    fn.get(low).get(isLow).op('v128.andnot').set(low).get(high).get(isLow);
    word(fn, layout.size);
    fn.op('v128.and').op('v128.andnot').set(high);
  }

  /** Pushes x & bits. */
  masked(x: number, bits: number): void {
    this.fn.get(x);
    word(this.fn, bits);
    this.fn.op('v128.and');
  }

  /** The sizes of an operand's words with exponents. */
  size({ high }: Words): number {
    return this.keep(() => this.masked(high, this.layout.size));
  }

  /** Sizes in the order of those of the whole number, and equal to that of infinity or zero where the number is: a bit of the low words is added. */
  order({ low }: Words, size: number): number {
    if (low === undefined) return size;
    return this.keep(() => {
      this.fn.get(size).get(low);
      word(this.fn, 1);
      this.fn.op('i32x4.min_u').op('v128.or');
    });
  }

  /** x op bits, as a mask. */
  test(x: number, name: 'eq' | 'gt_s', bits: number): number {
    return this.keep(() => {
      this.fn.get(x);
      word(this.fn, bits);
      this.fn.op(`i32x4.${name}`);
    });
  }

  both(name: 'and' | 'or', a: number, b: number): number {
    return this.keep(() => void this.fn.get(a).get(b).op(`v128.${name}`));
  }
}

/** Pushes a word of the operands that are NaNs, made quiet, or otherwise of `result`: the numerator's first. */
function pushNaNs(w: Fixup, masks: readonly [number, number], words: readonly [number, number], result: number): void {
  const [ofB, ofC] = words;
  w.fn.get(ofC).get(ofB).get(result).get(masks[0]).op('v128.bitselect').get(masks[1]).op('v128.bitselect');
}

/**
 * Sets the words of the result. There is no shorter way for ordinary numbers: of f64 it would take half as long, and all others half as long
 * again, because a branch keeps the host from overlapping instructions.
 */
function setResult(w: Fixup, result: Words): void {
  const { fn, layout } = w;
  const { infinity, unit, underflow } = layout;
  const quiet = unit / 2;
  const [a, b, c] = w.operands as [Words, Words, Words];
  const sizes = w.operands.map((x) => w.size(x));
  const [orderA, orderB, orderC] = [a, b, c].map((x, n) => w.order(x, sizes[n] as number)) as [number, number, number];
  const [nanA, nanB, nanC] = [orderA, orderB, orderC].map((x) => w.test(x, 'gt_s', infinity)) as [
    number,
    number,
    number,
  ];
  const [zeroB, zeroC] = [orderB, orderC].map((x) => w.test(x, 'eq', 0)) as [number, number];
  const [infiniteB, infiniteC] = [orderB, orderC].map((x) => w.test(x, 'eq', infinity)) as [number, number];
  const toZero = w.both('or', infiniteB, zeroC);
  const toInfinity = w.both('or', infiniteC, zeroB);
  const isReplaced = w.keep(() => {
    fn.get(toZero).get(toInfinity).op('v128.or');
    if (underflow === undefined) return;
    w.masked(sizes[2] as number, infinity);
    w.masked(sizes[1] as number, infinity);
    fn.op('i32x4.sub');
    word(fn, underflow * unit);
    // What had become a NaN on the way had overflowed.
    fn.op('i32x4.lt_s').get(nanA).op('v128.andnot').op('v128.or');
  });
  fn.get(sizes[0] as number);
  word(fn, infinity);
  fn.op('i32x4.min_s').get(isReplaced).op('v128.andnot');
  w.masked(toInfinity, infinity);
  fn.op('v128.or').get(b.high).get(c.high).op('v128.xor');
  word(fn, layout.sign);
  fn.op('v128.and').op('v128.or');
  fn.get(toZero).get(toInfinity).op('v128.and');
  word(fn, layout.sign | infinity | quiet);
  fn.op('v128.and').op('v128.or').set(result.high);
  const quieted = [b, c].map(({ high }) =>
    w.keep(() => {
      fn.get(high);
      word(fn, quiet);
      fn.op('v128.or');
    }),
  ) as [number, number];
  pushNaNs(w, [nanB, nanC], quieted, result.high);
  fn.set(result.high);
  if (result.low === undefined) return;
  fn.get(a.low as number)
    .get(isReplaced)
    .get(nanA)
    .op('v128.or')
    .op('v128.andnot')
    .set(result.low);
  pushNaNs(w, [nanB, nanC], [b.low as number, c.low as number], result.low);
  fn.set(result.low);
}

/** Pushes the bits of v_div_fixup, of f64 those of two lanes. */
export function divFixupBits(code: LaneWriter, format: FixupFormat, half: number): void {
  const { fn } = code;
  const [low, high] = divFixupWords(code, format);
  if (low === undefined) {
    fn.get(high);
    return;
  }
  fn.get(low).get(high);
  if (half === 0) fn.shuffle32(0, 4, 1, 5);
  else fn.shuffle32(2, 6, 3, 7);
}

/** The words of v_div_fixup in locals. */
export function divFixupWords(code: LaneWriter, format: FixupFormat): readonly [low: number | undefined, high: number] {
  const known = code.kept.get('div_fixup');
  if (known !== undefined) return known as [number, number];
  const result = { high: code.temporary(), low: format === 'f64' ? code.temporary() : undefined };
  const w = new Fixup(code, format);
  setResult(w, result);
  w.release();
  if (result.low !== undefined) code.kept.set('div_fixup', [result.low, result.high]);
  return [result.low, result.high];
}
