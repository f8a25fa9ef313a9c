// f32 arithmetic in the directed roundings, in line. Counterparts: interpreter/operators.ts, isa/semantics/exact.ts. The f64 ones are in math-directed.ts.
import { directedProduct, directedSums } from './directed-lines.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { matrixFeatures } from './features.ts';
import { KeptLocals } from './kept-locals.ts';
import { exactFmaScaled } from './math-arithmetic.ts';
import { exactRoot } from './math-roots.ts';
import {
  inEachDirection,
  type MathFunction,
  promote,
  ROUNDING_NAMES,
  roundDoubles,
  single,
  word,
} from './math-tools.ts';
import { type Directed, stepFloat } from './rounding.ts';

/** Products from this size on have errors that are numbers of f32. */
const LEAST_PRODUCT = 2 ** -100;

type Places = readonly number[];

/** Pushes the products of two lanes as f64. */
function pushProduct(fn: WasmFunction, a: number, b: number, half: number): void {
  promote(fn, a, half);
  promote(fn, b, half);
  fn.op('f64x2.mul');
}

/** (a, b) -> a · b, by way of f64. */
function exactProducts(module: WasmModule, rounding: Directed): WasmFunction {
  const name = `math.product.f32${ROUNDING_NAMES[rounding]}`;
  return module.helper(name, ['v128', 'v128'], ['v128'], (fn) => {
    const w = new KeptLocals(fn);
    const products = [0, 1].map((half) => w.keep(() => pushProduct(fn, 0, 1, half)));
    roundDoubles(w, rounding, products);
  });
}

/** a · b. Small products are made in f64, as all are where the host has no fused multiply-add. */
function multiply(fn: WasmFunction, module: WasmModule, rounding: Directed, places: Places): void {
  const general = exactProducts(module, rounding);
  if (matrixFeatures().fused) {
    directedProduct(fn, 'f32x4', rounding, places, () => single(fn, LEAST_PRODUCT), general);
    return;
  }
  for (const place of places) fn.get(place);
  fn.call(general);
}

/**
 * (a, b, c, mask) -> the lanes of the mask in which a·b + c, rounded to f64, is on the wrong side of the exact sum.
 */
function wrongSums(module: WasmModule, rounding: 1 | 3): WasmFunction {
  const name = `math.fma.wrong${ROUNDING_NAMES[rounding]}`;
  return module.helper(name, ['v128', 'v128', 'v128', 'v128'], ['v128'], (fn) => {
    const [a, b, c, mask] = [0, 1, 2, 3] as const;
    const w = new KeptLocals(fn);
    for (const half of [0, 1]) {
      const p = w.keep(() => pushProduct(fn, a, b, half));
      const q = w.keep(() => promote(fn, c, half));
      const sum = w.keep(() => void fn.get(p).get(q).op('f64x2.add'));
      // What it has too much, as in `directedSum`.
      fn.get(sum).get(p).op('f64x2.sub').get(q).op('f64x2.sub');
      fn.get(sum).get(q).op('f64x2.sub').get(p).op('f64x2.sub').op('f64x2.add');
      if (rounding === 3) fn.get(sum).v128(0, -0x80000000, 0, -0x80000000).op('v128.and').op('v128.xor');
      fn.v128(0, 0, 0, 0).op(rounding === 3 ? 'f64x2.gt' : 'f64x2.lt');
    }
    fn.shuffle32(0, 2, 4, 6).get(mask).op('v128.and');
  });
}

/** Bits of an f64 that an f32 does not have. */
const REST = 0x1fffffff;
/** High words of the least f64 that is a normal f32, and of the least above all of them. */
const [LEAST, MOST] = [(1023 - 126) << 20, (1023 + 128) << 20];

/** Pushes a·b + c of two lanes as f64: the product is exact. */
function pushSum(fn: WasmFunction, [a, b, c]: Places, half: number): void {
  const { relaxed } = matrixFeatures();
  promote(fn, a, half);
  promote(fn, b, half);
  if (!relaxed) fn.op('f64x2.mul');
  promote(fn, c, half);
  fn.op(relaxed ? 'f64x2.relaxed_madd' : 'f64x2.add');
}

/**
 * a·b + c up or towards zero: the f64 sum, cut to f32. Sums that are no normal f32 are rounded like others; only one that is an f32 to begin with can be
 * on the other side of that than the exact one.
 */
function fma(fn: WasmFunction, module: WasmModule, rounding: 1 | 3, places: Places): void {
  const w = new KeptLocals(fn);
  const sums = [0, 1].map((half) => w.keep(() => pushSum(fn, places, half)));
  const size = w.keep(() => {
    for (const sum of sums) fn.get(sum);
    fn.shuffle32(1, 3, 5, 7);
    word(fn, 0x7fffffff);
    fn.op('v128.and');
  });
  const wrong = w.keep(() => {
    for (const sum of sums) fn.get(sum);
    fn.shuffle32(0, 2, 4, 6);
    word(fn, REST);
    fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.eq');
  });
  fn.get(size);
  word(fn, LEAST);
  fn.op('i32x4.sub');
  word(fn, MOST - LEAST);
  fn.op('i32x4.ge_u').get(wrong).op('v128.or').anyLane().if('v128').get(wrong);
  // Zeros and infinities are exact.
  fn.get(size).v128(0, 0, 0, 0).op('i32x4.gt_s').op('v128.and');
  word(fn, 0x7ff00000);
  fn.get(size).op('i32x4.gt_s').op('v128.and').tee(wrong).anyLane().if('v128');
  for (const place of places) fn.get(place);
  fn.get(wrong).call(wrongSums(module, rounding)).else().v128(0, 0, 0, 0).end().set(wrong);
  roundDoubles(w, rounding, sums, wrong);
  fn.else();
  for (const sum of sums) {
    fn.get(sum).v128(~REST, -1, ~REST, -1).op('v128.and').op('f32x4.demote_f64x2_zero');
  }
  fn.shuffle32(0, 1, 4, 5);
  if (rounding === 1) {
    // None of them is exact: positive ones are one more.
    const cut = w.keep(() => {});
    fn.get(cut).get(cut);
    word(fn, -1);
    fn.op('i32x4.gt_s').op('i32x4.sub');
  }
  fn.end();
  w.release();
}

/** a·b + c down: the opposite of that of -a and -c up. Exact zeros are positive in it. */
function fmaDown(fn: WasmFunction, module: WasmModule, [a, b, c]: Places): void {
  const w = new KeptLocals(fn);
  const [minusA, minusC] = [a, c].map((x) => w.keep(() => void fn.get(x).neg('f32x4'))) as [number, number];
  fma(fn, module, 1, [minusA, b, minusC]);
  fn.neg('f32x4');
  w.release();
}

/** a·b + c. */
function directedFma(fn: WasmFunction, module: WasmModule, rounding: Directed, places: Places): void {
  if (rounding === 2) fmaDown(fn, module, places);
  else fma(fn, module, rounding, places);
}

/** (a·b + c) · 2^d, d an i32: mostly there is no scale in any lane. */
function fmaScaled(fn: WasmFunction, module: WasmModule, rounding: Directed): void {
  fn.get(3).op('v128.any_true').op('i32.eqz').if();
  directedFma(fn, module, rounding, [0, 1, 2]);
  fn.return().end();
  exactFmaScaled(fn, rounding);
}

/** The root s of x: s² − x has the sign of what s has too much, but may vanish for small x. */
function root(fn: WasmFunction, rounding: Directed): void {
  const x = 0;
  if (matrixFeatures().fused) {
    const w = new KeptLocals(fn);
    fn.get(x).v128(0, 0, 0, 0).op('f32x4.gt').get(x);
    single(fn, LEAST_PRODUCT);
    fn.op('f32x4.lt').op('v128.and').op('v128.any_true').op('i32.eqz').if();
    const s = w.keep(() => void fn.get(x).op('f32x4.sqrt'));
    fn.get(s).get(s).get(x).neg('f32x4').op('f32x4.relaxed_madd');
    stepFloat(fn, 'f32x4', rounding, s);
    fn.return().end();
  }
  exactRoot(fn, rounding);
}

/** `add.f32.up` and the like. */
export const DIRECTED_SINGLE: Record<string, MathFunction> = {
  ...directedSums('f32', 'f32x4'),
  ...inEachDirection('mul.f32', 2, multiply, true),
  ...inEachDirection('fma.f32', 3, directedFma, true),
  ...inEachDirection('fma_scaled.f32', 4, fmaScaled),
  ...inEachDirection('sqrt.f32', 1, (fn, _module, rounding) => root(fn, rounding)),
};
