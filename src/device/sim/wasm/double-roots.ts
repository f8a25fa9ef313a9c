// v_sqrt_f64 and v_rsq_f64 where the host's multiply-add rounds once: of four lanes the host's divider takes two, and multiply-adds the others at
// the same time. Measured (Zen 4, 64 lanes): 52 ns instead of 82, and 72 instead of 123. What counts is how long the steps in a row are: with all
// lanes by multiply-adds, or with f32 estimates of the divider, both are slower than the divider alone.
//
// How the fused steps round, errors in units of 2^-53: g is √x and h is ½/√x within 1.1e-8. The step that both take leaves half of their
// difference in rounding (1.5), what it lacks (1.5 r², 1.7) and its own rounding (1), 4.2 at most. One more step of g is then off by 31
// units of 2^-106, so that it is rounded as √x is, unless √x is that near to the middle between two numbers. The step of y = 2h to 1/s, where s is
// that root, begins 5.2 off and is made with the square of what is left; rounding that leaves 11 units of 2^-106. The test goes through all
// operands that are so near to a middle; the last digits of FACTORS are chosen so that all of them are right, too.
import { DivisionWords, pushHalfOf, type Words } from './division-words.ts';
import type { WasmFunction } from './emit.ts';
import type { LaneWriter } from './lane-writer.ts';
import { Steps } from './math-steps.ts';
import { double, word } from './math-tools.ts';
import { canonicalDouble } from './rounding.ts';

/** High word of 2^-960, below which steps have denormals. */
const LEAST = (1023 - 960) << 20;

/** The lowest bit of an exponent in a high word. */
const EXPONENT = 1 << 20;

/** High word of the number that less half of an operand's bits is ½/√x, so that 2x times its square is in [0.7627, 0.8582]. */
const ESTIMATE = 0x5fdc3411;

/**
 * (½u + a1)u + a0 and (u + b1)u + b0, whose product is 1/√2u there, within 1.1e-8 of it: the quartic by Remez' algorithm, as quadratics. ESTIMATE is
 * such that the first has ½, which is a constant of the next step, too: V8 has too few registers for one more.
 */
const FACTORS = {
  a: [1.727061989165, -1.71779837013],
  b: [1.120246553277, -0.731554405129],
} as const;

type Constants = ReturnType<typeof constantsOf>;

/** The constants of the fused steps in locals. */
function constantsOf(w: Steps) {
  const constant = (value: number): number => w.keep(() => double(w.fn, value));
  const estimate = (high: number): number => w.keep(() => void w.fn.v128(0, high, 0, high));
  const [a0, a1] = FACTORS.a;
  const [b0, b1] = FACTORS.b;
  return {
    estimate: estimate(ESTIMATE),
    twice: estimate(ESTIMATE + EXPONENT),
    a: [constant(a0), constant(a1)],
    b: [constant(b0), constant(b1)],
    half: constant(0.5),
  } as const;
}

/** A root in a local, and half of its reciprocal as near as the step before it is. */
interface Root {
  readonly s: number;
  readonly nearHalf: number;
}

/** The roots by multiply-adds, of numbers in range. */
function fusedRoot(w: Steps, x: number, { estimate, twice, a, b, half }: Constants): Root {
  const { fn } = w;
  const bits = w.keep(() => void fn.get(x).i32(1).op('i64x2.shr_u'));
  const less = (from: number): number => w.keep(() => void fn.get(from).get(bits).op('i64x2.sub'));
  const inverse = less(estimate);
  const root = w.result(x, less(twice), 'mul');
  const u = w.result(root, inverse, 'mul');
  const first = w.madd(w.madd(half, u, a[1]), u, a[0]);
  const second = w.madd(w.result(u, b[1], 'add'), u, b[0]);
  const factor = w.result(first, second, 'mul');
  const g = w.result(root, factor, 'mul');
  const h = w.result(inverse, factor, 'mul');
  const r = w.nmadd(g, h, half);
  const nearRoot = w.madd(g, r, g);
  const nearHalf = w.madd(h, r, h);
  return { s: w.madd(w.nmadd(nearRoot, nearRoot, x), nearHalf, nearRoot), nearHalf };
}

/** The reciprocals of such roots. */
function fusedReciprocal(w: Steps, { s, nearHalf }: Root, one: number): number {
  const y = w.result(nearHalf, nearHalf, 'add');
  const e = w.nmadd(s, y, one);
  return w.madd(y, w.madd(e, e, e), y);
}

/** The words of √x of an instruction's f64, or of 1 / √x, each rounded to nearest. */
export function rootWords(code: LaneWriter, isReciprocal: boolean): Words {
  const { fn } = code;
  const operand = new DivisionWords(code, 'f64', 1);
  const [{ low, high }] = operand.operands as [Words];
  const w = new Steps(fn);
  const halves = [0, 1].map((half) => w.keep(() => pushHalfOf(fn, low as number, high, half))) as [number, number];
  const hostRoot = (x: number): number => w.keep(() => void fn.get(x).op('f64x2.sqrt'));
  const result = { low: code.temporary(), high: code.temporary() };
  const setWords = (first: number, second: number): void => {
    fn.get(first).get(second).shuffle32(0, 2, 4, 6).set(result.low);
    fn.get(first).get(second).shuffle32(1, 3, 5, 7).set(result.high);
  };
  const constants = constantsOf(w);
  const one = isReciprocal ? w.keep(() => double(fn, 1)) : undefined;
  // The high word as f32 is negative or below when the number is, and a NaN from 2^1017 on.
  fn.get(high);
  word(fn, LEAST);
  fn.op('f32x4.ge').op('i32x4.bitmask').i32(15).op('i32.ne').if();
  const [first, second] = halves.map((x) =>
    w.keep(() => {
      const s = hostRoot(x);
      if (isReciprocal) pushHostReciprocal(w, s, constants.half);
      else fn.get(s);
      canonicalDouble(fn);
    }),
  ) as [number, number];
  useFor(fn, first, [...Object.values(constants).flat(), ...(one === undefined ? [] : [one])]);
  setWords(first, second);
  fn.else();
  const host = hostRoot(halves[0]);
  const root = fusedRoot(w, halves[1], constants);
  if (one === undefined) setWords(host, root.s);
  else setWords(w.result(one, host, 'div'), fusedReciprocal(w, root, one));
  fn.end();
  w.release();
  operand.release();
  return result;
}

/**
 * Pushes 1/s as twice ½/s, which is exact: a root's reciprocal is neither denormal nor too large. A division that both ways of a branch have
 * V8 would place before it, where it waits for the root in the place of other steps. Measured: 73.5 ns instead of 75.3.
 */
function pushHostReciprocal(w: Steps, s: number, half: number): void {
  const y = w.result(half, s, 'div');
  w.with(y, y, 'add');
}

/**
 * Uses constants for a value in a local, which stays as it is. V8 loads them before the branch and keeps them in registers when both ways use them;
 * otherwise each instruction loads them again on its way. Measured: 56 ns instead of 63, and 77 instead of 82.
 */
function useFor(fn: WasmFunction, value: number, constants: readonly number[]): void {
  fn.v128(0, 0, 0, 0);
  for (const constant of constants) fn.get(constant).op('v128.xor');
  fn.v128(0, 0, 0, 0).op('v128.and').get(value).op('v128.xor').set(value);
}
