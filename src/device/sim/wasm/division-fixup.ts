// v_div_fixup of four lanes, made of the operands' words as integers: nothing is decoded, and zeros, infinities and NaNs are as quick as other
// numbers. Counterparts: divFixup in interpreter/division.ts, the NaNs of isa/semantics/vector-float.ts.
import { type DivisionFormat, DivisionWords, pushHalfOf, type Words } from './division-words.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';

/** Pushes a word of the operands that are NaNs, made quiet, or otherwise of `result`: the numerator's first. */
function pushNaNs(
  w: DivisionWords,
  masks: readonly [number, number],
  words: readonly [number, number],
  result: number,
): void {
  const [ofB, ofC] = words;
  w.fn.get(ofC).get(ofB).get(result).get(masks[0]).op(choosing()).get(masks[1]).op(choosing());
}

/**
 * Sets the words of the result. There is no shorter way for ordinary numbers: of f64 it would take half as long, and all others half as long
 * again, because a branch keeps the host from overlapping instructions.
 */
function setResult(w: DivisionWords, result: Words): void {
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
export function divFixupBits(code: LaneWriter, format: DivisionFormat, half: number): void {
  const { low, high } = divFixupWords(code, format);
  if (low === undefined) code.fn.get(high);
  else pushHalfOf(code.fn, low, high, half);
}

/** The words of v_div_fixup in locals. */
export function divFixupWords(code: LaneWriter, format: DivisionFormat): Words {
  const known = code.kept.get('div_fixup') as readonly [number, number] | undefined;
  if (known !== undefined) return { low: known[0], high: known[1] };
  const result = { high: code.temporary(), low: format === 'f64' ? code.temporary() : undefined };
  const w = new DivisionWords(code, format);
  setResult(w, result);
  w.release();
  if (result.low !== undefined) code.kept.set('div_fixup', [result.low, result.high]);
  return result;
}
