// Operands of the steps of a division (v_div_scale, v_div_fixup) as words of four lanes: what happens is decided by exponents and fractions as
// integers, so that no kind of number takes a host longer than others.
import { source } from '../../../isa/semantics/index.ts';
import type { WasmFunction } from './emit.ts';
import { KeptLocals } from './kept-locals.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';
import { flushDenormals } from './rounding.ts';

/** A format by the words that have its exponents. */
export interface Layout {
  readonly sign: number;
  readonly size: number;
  /** The exponent of infinities, and its lowest bit. */
  readonly infinity: number;
  readonly unit: number;
  readonly bias: number;
  /** By so much a numerator's exponent is below the denominator's when the quotient is zero; f16 asks for no distance. */
  readonly underflow: number | undefined;
}
const LAYOUTS = {
  f16: { sign: 0x8000, size: 0x7fff, infinity: 0x7c00, unit: 0x400, bias: 15, underflow: undefined },
  f32: { sign: -0x80000000, size: 0x7fffffff, infinity: 0x7f800000, unit: 0x800000, bias: 127, underflow: -150 },
  f64: { sign: -0x80000000, size: 0x7fffffff, infinity: 0x7ff00000, unit: 0x100000, bias: 1023, underflow: -1075 },
} as const satisfies Record<string, Layout>;
export type DivisionFormat = keyof typeof LAYOUTS;

/** An operand's words in locals; only f64 has low ones. */
export interface Words {
  readonly high: number;
  readonly low: number | undefined;
}

/** Writer of masks and words of three operands. Its locals are given back by `release`. */
export class DivisionWords extends KeptLocals {
  readonly layout: Layout;
  readonly operands: readonly Words[];

  /** Of the first `count` operands. */
  constructor(code: LaneWriter, format: DivisionFormat, count = 3) {
    super(code.fn);
    this.layout = LAYOUTS[format];
    const keepsDenormals = format === 'f32' ? code.mode.in32 : code.mode.in64;
    this.operands = Array.from({ length: count }, (_, n) => {
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

/** Pushes a half of 64-bit lanes of their words. */
export function pushHalfOf(fn: WasmFunction, low: number, high: number, half: number): void {
  fn.get(low).get(high);
  if (half === 0) fn.shuffle32(0, 4, 1, 5);
  else fn.shuffle32(2, 6, 3, 7);
}
