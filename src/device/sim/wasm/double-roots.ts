// v_sqrt_f64 and v_rsq_f64 where the host's multiply-add rounds once: of four lanes the host's divider takes two, and multiply-adds the others at
// the same time. Measured (Zen 4, 64 lanes): 52 ns instead of 82, and 73 instead of 123. What counts is how long the steps in a row are: with all
// lanes by multiply-adds, or with f32 estimates of the divider, both are slower than the divider alone.
//
// How the fused steps round, errors in units of 2^-53: g is √x and h is ½/√x within 1.12e-8. The step that both take leaves half of their
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

/** High word of the number that less half of an operand's bits is ½/√x, so that 2x times its square is in [0.75, 0.84375]. */
const ESTIMATE = 0x5fdc0000;

/** The product of both is 1/√2u on [0.75, 0.84375], within 1.12e-8 of it: the quartic by Remez' algorithm, as quadratics. */
const FACTORS = [
  [4 * 0.450353261757, 8 * -0.227777153374, 16 * 0.033713260522],
  [4.332406091635 / 4, -1.438644284735 / 2],
] as const;

/** Pushes the roots of two f64 in a local, or the reciprocals of these, by the host's divider. */
function pushByDivider(fn: WasmFunction, x: number, isReciprocal: boolean): void {
  if (isReciprocal) double(fn, 1);
  fn.get(x).op('f64x2.sqrt');
  if (isReciprocal) fn.op('f64x2.div');
}

type Constants = ReturnType<typeof constantsOf>;

/** The constants of the fused steps in locals. */
function constantsOf(w: Steps) {
  const constant = (value: number): number => w.keep(() => double(w.fn, value));
  const [[a0, a1, a2], [b0, b1]] = FACTORS;
  return {
    estimate: w.keep(() => void w.fn.v128(0, ESTIMATE, 0, ESTIMATE)),
    a: [constant(a0), constant(a1), constant(a2)],
    b: [constant(b0), constant(b1)],
    half: constant(0.5),
  } as const;
}

/** The roots or their reciprocals by multiply-adds, of numbers in range. */
function fused(w: Steps, x: number, { estimate, a, b, half }: Constants, isReciprocal: boolean): number {
  const { fn } = w;
  const twice = w.result(x, x, 'add');
  const inverse = w.keep(() => void fn.get(estimate).get(x).i32(1).op('i64x2.shr_u').op('i64x2.sub'));
  const root = w.result(twice, inverse, 'mul');
  const u = w.result(root, inverse, 'mul');
  const first = w.madd(w.madd(a[2], u, a[1]), u, a[0]);
  const second = w.madd(w.result(u, b[1], 'add'), u, b[0]);
  const factor = w.result(first, second, 'mul');
  const g = w.result(root, factor, 'mul');
  const h = w.result(inverse, factor, 'mul');
  const r = w.nmadd(g, h, half);
  const nearRoot = w.madd(g, r, g);
  const nearHalf = w.madd(h, r, h);
  const s = w.madd(w.nmadd(nearRoot, nearRoot, x), nearHalf, nearRoot);
  if (!isReciprocal) return s;
  const y = w.result(nearHalf, nearHalf, 'add');
  const one = w.keep(() => double(fn, 1));
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
  const byDivider = (x: number): number => w.keep(() => pushByDivider(fn, x, isReciprocal));
  const result = { low: code.temporary(), high: code.temporary() };
  const setWords = (first: number, second: number): void => {
    fn.get(first).get(second).shuffle32(0, 2, 4, 6).set(result.low);
    fn.get(first).get(second).shuffle32(1, 3, 5, 7).set(result.high);
  };
  const constants = constantsOf(w);
  // The high word as f32 is negative or below when the number is, and a NaN from 2^1017 on.
  fn.get(high);
  word(fn, LEAST);
  fn.op('f32x4.ge').op('i32x4.bitmask').i32(15).op('i32.ne').if();
  const [first, second] = halves.map((x) =>
    w.keep(() => {
      fn.get(byDivider(x));
      canonicalDouble(fn);
    }),
  ) as [number, number];
  useFor(fn, first, Object.values(constants).flat());
  setWords(first, second);
  fn.else();
  setWords(byDivider(halves[0]), fused(w, halves[1], constants, isReciprocal));
  fn.end();
  w.release();
  operand.release();
  return result;
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
