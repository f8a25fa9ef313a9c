// f64 arithmetic in the directed roundings: rounded to nearest, then one step where the sign of what was lost says so. Where that sign
// cannot be had in f64 (products out of range), and for v_div_fmas_f64, the host computes the lane exactly.
// Counterpart and source of the exact forms: isa/semantics/exact.ts. Errors of a fused multiply-add: Boldo & Muller, "Some functions
// computable with a fused-mac", ARITH 2005.
import type { Rounding } from '../../../base/elements/formats.ts';
import { directedProduct, directedSums } from './directed-lines.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { choosing, matrixFeatures } from './features.ts';
import { exactFmaIndex } from './math-exact.ts';
import { ldexp64 } from './math-exponent.ts';
import { Steps } from './math-steps.ts';
import { double, inEachDirection, type MathFunction, ROUNDING_NAMES, word } from './math-tools.ts';
import { type Directed, signZeroDown, stepFloat } from './rounding.ts';

/** Pushes the host's exact results for both lanes; `scale` is an i32 vector in a local, or none. */
function pushExact(fn: WasmFunction, module: WasmModule, rounding: Rounding, scale: number | undefined): void {
  for (const lane of [0, 1]) {
    for (const operand of [0, 1, 2]) fn.get(operand).lane('f64x2.extract_lane', lane);
    if (scale === undefined) fn.i32(0);
    else fn.get(scale).lane('i32x4.extract_lane', lane);
    fn.i32(rounding).call(exactFmaIndex(module));
    if (lane === 0) fn.op('f64x2.splat');
    else fn.lane('f64x2.replace_lane', 1);
  }
}

/** Products from this size on have errors that are numbers of f64. */
const LEAST_PRODUCT = 2 ** -960;

/** (a, b) -> a · b. Small products are made again with the smaller factor scaled, so that what they have too much shows. */
function smallProducts(module: WasmModule, rounding: Directed): WasmFunction {
  const name = `math.product.f64${ROUNDING_NAMES[rounding]}`;
  return module.helper(name, ['v128', 'v128'], ['v128'], (fn) => {
    const w = new Steps(fn);
    const [a, b] = [0, 1] as const;
    const far = { f64: 2 ** 600 };
    const p = w.result(a, b, 'mul');
    const isSmaller = w.keep(() => void fn.get(a).abs('f64x2').get(b).abs('f64x2').op('f64x2.lt'));
    const large = w.choose(b, a, () => void fn.get(isSmaller));
    const small = w.choose(a, b, () => void fn.get(isSmaller));
    const isTiny = w.keep(() => {
      fn.get(p).abs('f64x2');
      double(fn, 2 ** -400);
      fn.op('f64x2.lt');
    });
    const factor = w.choose(w.result(small, far, 'mul'), small, () => void fn.get(isTiny));
    const target = w.choose(w.result(p, far, 'mul'), p, () => void fn.get(isTiny));
    const excess = w.nmadd(factor, large, target);
    // A product of numbers that are not zero has vanished: it lacks everything.
    fn.get(p).neg('f64x2');
    double(fn, 1);
    fn.op('v128.or').get(excess).get(p);
    double(fn, 0);
    fn.op('f64x2.eq');
    for (const x of [a, b]) w.with(x, { f64: 0 }, 'ne');
    fn.op('v128.and').op('v128.and').op(choosing());
    stepFloat(fn, 'f64x2', rounding, p);
  });
}

function multiply(fn: WasmFunction, module: WasmModule, rounding: Directed, places: readonly number[]): void {
  const general = smallProducts(module, rounding);
  directedProduct(fn, 'f64x2', rounding, places, () => double(fn, LEAST_PRODUCT), general);
}

/** x + y and what it lacks. */
function twoSum(w: Steps, x: number, y: number): [sum: number, error: number] {
  const { fn } = w;
  const sum = w.result(x, y, 'add');
  const fromY = w.result(sum, x, 'sub');
  const error = w.keep(() => {
    fn.get(x);
    w.with(sum, fromY, 'sub');
    fn.op('f64x2.sub');
    w.with(y, fromY, 'sub');
    fn.op('f64x2.add');
  });
  return [sum, error];
}

/** An fma rounded to nearest, as locals: r, r − c rounded, and a number with the sign of what r has too much. */
interface Nearest {
  readonly r: number;
  readonly t: number;
  readonly excess: number;
}

/**
 * What the nearest r has too much is (r − c) − a·b. Its sign is that of fma(−a, b, t) + u, where t + u is r − c exactly: rounding keeps the
 * order, and where products do not vanish the sum is zero only where r is exact. For let t be in [2^e, 2^(e+1)) and u not zero, so that
 * ulp(r) ≤ 2 ulp(t), |a·b| > 2^(e−1), and t − a·b is a multiple of 2^(e−106). That is exact below 2^(e−53); to be rounded to −u above it would
 * take |u| = 2^(e−53) and an error of 2^(e−106), and so a·b = 2^e − 2^(e−53) − 2^(e−106), but there is no product between (2^53 − 1)² 2^(e−106)
 * and 2^e.
 */
function nearestFma(w: Steps, [a, b, c]: readonly [a: number, b: number, c: number]): Nearest {
  const { fn } = w;
  const r = w.madd(a, b, c);
  const t = w.result(r, c, 'sub');
  const back = w.result(r, t, 'sub');
  const excess = w.keep(() => {
    fn.get(a).get(b).get(t).op('f64x2.relaxed_nmadd');
    w.with(back, c, 'sub');
    fn.get(r);
    w.with(t, back, 'add');
    fn.op('f64x2.sub').op('f64x2.add').op('f64x2.add');
  });
  return { r, t, excess };
}

/** a·b + c, exact where the product is in range or zero; lanes with an infinity or a NaN have no error. */
function fma(fn: WasmFunction, module: WasmModule, rounding: Directed): void {
  if (!matrixFeatures().fused) {
    pushExact(fn, module, rounding, undefined);
    return;
  }
  const w = new Steps(fn);
  const [a, b, c] = [0, 1, 2] as const;
  const { r: result, t, excess } = nearestFma(w, [a, b, c]);
  // Mostly nothing is near an end of the range.
  fn.get(result).abs('f64x2');
  double(fn, 2 ** -900);
  fn.op('f64x2.ge').get(result).abs('f64x2');
  double(fn, 2 ** 960);
  fn.op('f64x2.lt').op('v128.and');
  w.with(t, { f64: 0 }, 'ne');
  fn.op('v128.and').op('i64x2.all_true').if().get(excess);
  stepFloat(fn, 'f64x2', rounding, result);
  fn.return().end();
  const p = w.result(a, b, 'mul');
  const minus = w.keep(() => void fn.get(p).neg('f64x2'));
  const [sum, rest] = twoSum(w, c, w.madd(a, b, minus));
  const [top, middle] = twoSum(w, p, sum);
  const finite = w.keep(() => {
    for (const [n, x] of [a, b, c].entries()) {
      fn.get(x).abs('f64x2');
      double(fn, Infinity);
      fn.op('f64x2.lt');
      if (n > 0) fn.op('v128.and');
    }
  });
  const size = w.keep(() => void fn.get(p).abs('f64x2'));
  const inRange = w.keep(() => {
    w.with(size, { f64: 2 ** -900 }, 'gt');
    w.with(size, { f64: 2 ** 1000 }, 'lt');
    fn.op('v128.and').get(c).abs('f64x2');
    double(fn, 2 ** 1000);
    fn.op('f64x2.lt').op('v128.and');
    for (const x of [a, b]) {
      w.with(x, { f64: 0 }, 'eq');
      fn.op('v128.or');
    }
    fn.get(finite).op('v128.not').op('v128.or');
  });
  if (rounding === 2) {
    const zero = w.keep(() => void fn.get(result));
    signZeroDown(fn, zero, p, c);
    fn.get(zero).get(result).get(finite).op(choosing()).set(result);
  }
  w.with(result, top, 'sub');
  fn.get(middle).op('f64x2.sub').get(rest).op('f64x2.sub').get(finite).op('v128.and');
  stepFloat(fn, 'f64x2', rounding, result);
  fn.set(result).get(inRange).op('i64x2.all_true').op('i32.eqz').if();
  pushExact(fn, module, rounding, undefined);
  fn.set(result).end().get(result);
}

/** (a·b + c) · 2^d, d an i32 of 128 at most: the scale is exact where there is none, and where the sum is in the middle of the range. */
function fmaScaled(fn: WasmFunction, module: WasmModule, rounding: Directed): void {
  const name = `math.fma.f64${ROUNDING_NAMES[rounding]}`;
  const unscaled = module.helper(name, ['v128', 'v128', 'v128'], ['v128'], (f) => fma(f, module, rounding));
  const w = new Steps(fn);
  const sum = w.keep(() => {
    for (const operand of [0, 1, 2]) fn.get(operand);
    fn.call(unscaled);
  });
  const d = w.keep(() => void fn.get(3).op('i64x2.extend_low_i32x4_s'));
  const size = w.keep(() => void fn.get(sum).abs('f64x2'));
  w.with(size, { f64: 2 ** -800 }, 'gt');
  w.with(size, { f64: 2 ** 800 }, 'lt');
  fn.op('v128.and').get(d).v128(0, 0, 0, 0).op('i64x2.eq').op('v128.or').op('i64x2.all_true').if();
  fn.get(d).v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl');
  fn.get(sum).op('f64x2.mul').return().end();
  pushExact(fn, module, rounding, 3);
}

/** High words: of the least size whose products and errors are no denormals, and of one that is far below overflow. */
const [LEAST, MOST] = [(1023 - 900) << 20, (1023 + 960) << 20];

/**
 * Pushes the low and the high words of a·b + c of a chunk. `operands` are locals: a, b and c of each half. Where products may have vanished, and
 * where the nearest result is near an end of the range, the functions `general` pushes are made for the chunk.
 */
export function pushDirectedFma(
  fn: WasmFunction,
  rounding: Directed,
  operands: readonly (readonly [a: number, b: number, c: number])[],
  general: (half: number) => void,
): void {
  const w = new Steps(fn);
  const halves = operands.map(([a, b, c]) => ({ a, b, c, ...nearestFma(w, [a, b, c]) }));
  const words = (push: (half: (typeof halves)[number]) => void, high: 0 | 1): void => {
    for (const half of halves) push(half);
    fn.shuffle32(high, 2 + high, 4 + high, 6 + high);
  };
  const isFar = w.keep(() => {
    words(({ r }) => fn.get(r), 1);
    word(fn, 0x7fffffff);
    fn.op('v128.and');
    word(fn, LEAST);
    fn.op('i32x4.sub');
    word(fn, MOST - LEAST);
    fn.op('i32x4.ge_u');
  });
  const isOther = w.keep(() => {
    words(({ t }) => fn.get(t), 1);
    fn.v128(0, 0, 0, 0).op('i32x4.eq').get(isFar).op('v128.or');
  });
  fn.get(isOther).anyLane().if('i32').get(isOther);
  words((half) => pushIsKnown(w, half), 0);
  words(({ r }) => w.with(r, { f64: 0 }, 'ne'), 0);
  fn.get(isFar).op('v128.and').op('v128.andnot').op('v128.andnot').anyLane();
  if (rounding === 2) for (const { a, b, c, r } of halves) signZeroDown(fn, r, w.result(a, b, 'mul'), c);
  fn.else().i32(0).end().if();
  for (const [half, { r }] of halves.entries()) {
    general(half);
    fn.set(r);
  }
  fn.else();
  for (const { r, excess } of halves) {
    fn.get(excess);
    stepFloat(fn, 'f64x2', rounding, r);
    fn.set(r);
  }
  fn.end();
  for (const high of [0, 1] as const) words(({ r }) => fn.get(r), high);
  w.release();
}

/** Pushes the lanes where nothing has vanished: what r has too much is not zero, or a·b is zero or large. */
function pushIsKnown(w: Steps, { a, b, excess }: Readonly<Record<'a' | 'b' | 'excess', number>>): void {
  const { fn } = w;
  w.with(excess, { f64: 0 }, 'ne');
  for (const x of [a, b]) {
    w.with(x, { f64: 0 }, 'eq');
    fn.op('v128.or');
  }
  w.with(a, b, 'mul');
  fn.abs('f64x2');
  double(fn, LEAST_PRODUCT);
  fn.op('f64x2.ge').op('v128.or');
}

/** (x, n) -> x · 2^n: what is lost shows when the result is scaled back. */
function inexactScaled(module: WasmModule, rounding: Directed): WasmFunction {
  const name = `math.scaled.f64${ROUNDING_NAMES[rounding]}`;
  return module.helper(name, ['v128', 'v128'], ['v128'], (fn) => {
    const w = new Steps(fn);
    const nearest = module.helper('math.ldexp.f64', ['v128', 'v128'], ['v128'], (f) => ldexp64(f, module, [0, 1]));
    const result = w.keep(() => void fn.get(0).get(1).call(nearest));
    const back = w.keep(() => {
      fn.get(1).v128(2200, 2200, 2200, 2200).op('i32x4.min_s').v128(-2200, -2200, -2200, -2200).op('i32x4.max_s');
      fn.op('i32x4.neg');
    });
    fn.get(result).get(back).call(nearest).get(0).op('f64x2.sub');
    stepFloat(fn, 'f64x2', rounding, result);
  });
}

/** x · 2^n: mostly that is exact. */
function ldexp(fn: WasmFunction, module: WasmModule, rounding: Directed, places: readonly number[]): void {
  const w = new Steps(fn);
  const [x, count] = places as readonly [number, number];
  const result = w.keep(() => ldexp64(fn, module, places));
  const size = w.keep(() => void fn.get(result).abs('f64x2'));
  w.with(size, { f64: 2 ** -1021 }, 'ge');
  w.with(size, { f64: Infinity }, 'lt');
  fn.op('v128.and');
  w.with(x, { f64: 0 }, 'eq');
  fn.op('v128.or').op('i64x2.all_true').op('i32.eqz').if();
  fn.get(x).get(count).call(inexactScaled(module, rounding)).set(result).end().get(result);
  w.release();
}

/** `add.f64.up` and the like. */
export const DIRECTED_DOUBLE: Record<string, MathFunction> = {
  ...directedSums('f64', 'f64x2'),
  ...inEachDirection('mul.f64', 2, multiply, true),
  ...inEachDirection('fma.f64', 3, fma),
  ...inEachDirection('fma_scaled.f64', 4, fmaScaled),
  ...inEachDirection('ldexp.f64', 2, ldexp, true),
  // Where the host has no fused multiply-add.
  'fma.f64': { parameters: 3, build: (fn, module) => pushExact(fn, module, 0, undefined) },
  'fma_scaled.f64.exact': { parameters: 4, build: (fn, module) => pushExact(fn, module, 0, 3) },
};
