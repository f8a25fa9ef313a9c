// f32 arithmetic in the directed roundings, in line. Counterparts: interpreter/operators.ts, isa/semantics/exact.ts. The f64 ones are in math-directed.ts.
import { directedProduct, directedSums } from './directed-lines.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { matrixFeatures } from './features.ts';
import { KeptLocals } from './kept-locals.ts';
import { inEachDirection, type MathFunction, ROUNDING_NAMES, single, word } from './math-tools.ts';
import { type Directed, pushStep, pushWrongSide } from './rounding.ts';

/** Products from this size on have errors that are numbers of f32. */
const LEAST_PRODUCT = 2 ** -100;

type Places = readonly number[];

/** Pushes two lanes of an f32 vector as f64. */
function promote(fn: WasmFunction, x: number, half: number): void {
  fn.get(x);
  if (half === 1) fn.get(x).shuffle32(2, 3, 2, 3);
  fn.op('f64x2.promote_low_f32x4');
}

/** Pushes the products of two lanes as f64. */
function pushProduct(fn: WasmFunction, a: number, b: number, half: number): void {
  promote(fn, a, half);
  promote(fn, b, half);
  fn.op('f64x2.mul');
}

/**
 * Pushes two f64 vectors in locals (exact, or on the right side of every f32) as f32, rounded in a direction. `wrong`: lanes that are wrong
 * anyway.
 */
function roundDoubles(w: KeptLocals, rounding: Directed, doubles: readonly number[], wrong?: number): void {
  const { fn } = w;
  const halves = doubles.map((x) => w.keep(() => void fn.get(x).op('f32x4.demote_f64x2_zero')));
  const rounded = w.keep(() => {
    for (const half of halves) fn.get(half);
    fn.shuffle32(0, 1, 4, 5);
  });
  const isWrong = w.keep(() => {
    for (const [half, x] of doubles.entries()) {
      const back = w.keep(() => promote(fn, halves[half] as number, 0));
      pushWrongSide(fn, 'f64x2', rounding, back, x);
    }
    fn.shuffle32(0, 2, 4, 6);
    if (wrong !== undefined) fn.get(wrong).op('v128.or');
  });
  fn.get(rounded);
  pushStep(fn, rounding, rounded, isWrong);
  fn.op('i32x4.add');
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

/**
 * a·b + c up or towards zero: the f64 sum, rounded to f32. Only a sum that is an f32 to begin with can be on the other side of that than the
 * exact one.
 */
function fma(fn: WasmFunction, module: WasmModule, rounding: 1 | 3, [a, b, c]: Places): void {
  const w = new KeptLocals(fn);
  const sums = [0, 1].map((half) =>
    w.keep(() => {
      pushProduct(fn, a, b, half);
      promote(fn, c, half);
      fn.op('f64x2.add');
    }),
  );
  const wrong = w.keep(() => {
    for (const sum of sums) fn.get(sum);
    fn.shuffle32(0, 2, 4, 6);
    word(fn, 0x1fffffff);
    fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.eq');
  });
  fn.get(wrong).anyLane().if('v128').get(wrong);
  // Zeros and infinities are exact.
  const size = w.keep(() => {
    for (const sum of sums) fn.get(sum);
    fn.shuffle32(1, 3, 5, 7);
    word(fn, 0x7fffffff);
    fn.op('v128.and');
  });
  fn.get(size).v128(0, 0, 0, 0).op('i32x4.gt_s').op('v128.and');
  word(fn, 0x7ff00000);
  fn.get(size).op('i32x4.gt_s').op('v128.and').tee(wrong).anyLane().if('v128');
  fn.get(a).get(b).get(c).get(wrong).call(wrongSums(module, rounding));
  fn.else().v128(0, 0, 0, 0).end().else().get(wrong).end().set(wrong);
  roundDoubles(w, rounding, sums, wrong);
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

/** `add.f32.up` and the like. */
export const DIRECTED_SINGLE: Record<string, MathFunction> = {
  ...directedSums('f32', 'f32x4'),
  ...inEachDirection('mul.f32', 2, multiply, true),
  ...inEachDirection(
    'fma.f32',
    3,
    (fn, module, rounding, places) => {
      if (rounding === 2) fmaDown(fn, module, places);
      else fma(fn, module, rounding, places);
    },
    true,
  ),
};
