// 2^x of f32 in pairs of f32, four lanes at once, for hosts with a fused multiply-add. The result is that of the polynomial in f64
// (isa/semantics/transcendental.ts) wherever both lie on the same side of every rounding boundary, and that is asked: where the pair's
// sum plus and minus its error rounds to two f32, and near the ends of the range, the polynomial decides.
// Source: Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit", ACM TOMS 1991.
import type { WasmFunction } from './emit.ts';
import { single, word } from './math-tools.ts';

/** Adding it leaves the nearest integer in the low bits of an f32. */
const MAGIC = 1.5 * 2 ** 23;
/** Exponents from here on may give denormals or infinity. */
const LIMIT = 125;
/** More than the error of the pair, which is below 2^-33.3: of 2·10^7 random arguments the worst had 2^-34.2 of the result. */
const ERROR = 1.5 * 2 ** -33;
const { fround } = Math;

/** A number as the sum of two f32. */
const pairOf = (x: number): [number, number] => [fround(x), fround(x - fround(x))];

const bitsOf = (values: readonly number[]): [number, number, number, number] =>
  new Int32Array(Float32Array.from(values).buffer) as unknown as [number, number, number, number];

/** Quarter powers of two, in pairs. */
const QUARTERS = [0, 1, 2, 3].map((k) => pairOf(2 ** (k / 4)));
const [LN2_HIGH, LN2_LOW] = pairOf(Math.LN2);

/** Returns from the function of one parameter when the result is certain in all four lanes. */
export function returnCertainExp2(fn: WasmFunction): void {
  const keep = (push: () => void): number => {
    const local = fn.local('v128');
    push();
    fn.set(local);
    return local;
  };
  const madd = (a: number, b: number, c: number): number =>
    keep(() => void fn.get(a).get(b).get(c).op('f32x4.relaxed_madd'));
  const operate = (a: number, b: number, name: string): number => keep(() => void fn.get(a).get(b).op(`f32x4.${name}`));
  const constant = (value: number): number => keep(() => single(fn, value));
  /** a·b − product: what the rounded product has lost. */
  const lost = (a: number, b: number, product: number): number =>
    keep(() => void fn.get(a).get(b).get(product).op('f32x4.neg').op('f32x4.relaxed_madd'));

  fn.get(0).op('f32x4.abs');
  single(fn, LIMIT);
  fn.op('f32x4.lt').op('i32x4.all_true').if();
  // x = n/4 + r
  const shifted = keep(() => {
    fn.get(0);
    single(fn, 4);
    single(fn, MAGIC);
    fn.op('f32x4.relaxed_madd');
  });
  const r = keep(() => {
    fn.get(shifted);
    single(fn, MAGIC);
    fn.op('f32x4.sub');
    single(fn, -0.25);
    fn.get(0).op('f32x4.relaxed_madd');
  });
  // r·ln 2 = h + e
  const ln2 = constant(LN2_HIGH);
  const h = operate(r, ln2, 'mul');
  const e = madd(r, constant(LN2_LOW), lost(r, ln2, h));
  // e^h = 1 + h + h²/2 + q
  const square = operate(h, h, 'mul');
  const halfSquare = operate(square, constant(0.5), 'mul');
  let p = constant(1 / 720);
  for (const c of [1 / 120, 1 / 24, 1 / 6]) p = madd(p, h, constant(c));
  const cube = operate(square, h, 'mul');
  const u = operate(h, halfSquare, 'add');
  const small = keep(() => {
    fn.get(lost(h, h, square));
    single(fn, 0.5);
    fn.op('f32x4.mul').get(h).get(u).op('f32x4.sub').get(halfSquare).op('f32x4.add').op('f32x4.add');
  });
  const rest = madd(e, h, operate(madd(p, cube, small), e, 'add'));
  // The quarter power, by the low two bits of n.
  const index = keep(() => {
    fn.get(shifted);
    word(fn, 3);
    fn.op('v128.and');
    word(fn, 0x04040404);
    fn.op('i32x4.mul');
    word(fn, 0x03020100);
    fn.op('i32x4.add');
  });
  const [high, low] = [0, 1].map((part) =>
    keep(() => {
      fn.v128(...bitsOf(QUARTERS.map((pair) => pair[part] as number)));
      fn.get(index).op('i8x16.relaxed_swizzle');
    }),
  ) as [number, number];
  const product = operate(high, u, 'mul');
  const sum = operate(high, product, 'add');
  const tail = keep(() => {
    fn.get(high)
      .get(sum)
      .op('f32x4.sub')
      .get(product)
      .op('f32x4.add')
      .get(lost(high, u, product))
      .op('f32x4.add');
    fn.get(madd(low, u, madd(high, rest, low))).op('f32x4.add');
  });
  const [above, below] = ['add', 'sub'].map((name) =>
    keep(() => {
      fn.get(sum).get(tail);
      single(fn, ERROR);
      fn.op(`f32x4.${name}`).op('f32x4.add');
    }),
  ) as [number, number];
  fn.get(above).get(below).op('i32x4.eq').op('i32x4.all_true').if();
  fn.get(above).get(shifted).i32(21).op('i32x4.shl');
  word(fn, -0x800000);
  fn.op('v128.and').op('i32x4.add').return().end().end();
}
