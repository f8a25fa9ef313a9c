// exp2, log2, sine, cosine and reciprocal root of four f32 lanes: the operations of isa/semantics/transcendental.ts in the same order.
// Hosts whose multiply-add rounds twice compute it by a function.
import {
  COS,
  EXP2,
  EXP2_LIMITS_F16,
  LOG2,
  LOG2_E,
  LOG2_E_LOW,
  SIN,
  SQRT_HALF_BITS,
  splitOf,
  type TranscendentalFormat,
  TURN,
} from '../../../isa/semantics/transcendental.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { choosing, matrixFeatures } from './features.ts';
import { ARITHMETIC } from './math-arithmetic.ts';
import { callFunction, type MathFunction, single, word } from './math-tools.ts';

/** Adding it leaves the nearest integer in the low bits of an f32. */
const MAGIC = 1.5 * 2 ** 23;

/** The function where the host has no such instruction. */
const FMA = 'fma.f32';

/** The function that is written, its module, and the format whose results it makes. */
interface Target {
  readonly fn: WasmFunction;
  readonly module: WasmModule;
  readonly format: TranscendentalFormat;
  /** Denormals of f32 are zeros for sine and cosine; other operators take them for zeros anyway. */
  readonly flushes: boolean;
}

/** a·b + c of the stack, rounded once. */
function fma(to: Target): void {
  if (matrixFeatures().fused) to.fn.op('f32x4.relaxed_madd');
  else callFunction(to, FMA, ARITHMETIC[FMA] as MathFunction);
}

/** Takes locals for `body` and gives them back. */
function withLocals(fn: WasmFunction, count: number, body: (...locals: number[]) => void): void {
  const locals = Array.from({ length: count }, () => fn.local('v128'));
  body(...locals);
  for (const local of locals) fn.release('v128', local);
}

/** Pushes Σ c_k x^k of the f32 vector in a local: the two lowest coefficients by Horner's scheme, the others by Estrin's. */
function polynomial(to: Target, coefficients: readonly number[], x: number): void {
  const { fn } = to;
  const count = coefficients.length - 2;
  const powers = [x];
  for (let n = 1; 2 ** n < count; n++) {
    const [before, power] = [powers[n - 1] as number, fn.local('v128')];
    fn.get(before).get(before).op('f32x4.mul').set(power);
    powers.push(power);
  }
  const rest = (from: number, length: number): void => {
    if (length === 1) {
      single(fn, coefficients[from] as number);
      return;
    }
    const low = splitOf(length);
    rest(from + low, length - low);
    fn.get(powers[Math.log2(low)] as number);
    rest(from, low);
    fma(to);
  };
  rest(2, count);
  for (const k of [1, 0]) {
    fn.get(x);
    single(fn, coefficients[k] as number);
    fma(to);
  }
  for (const power of powers.slice(1)) fn.release('v128', power);
}

function exp2(to: Target): void {
  const { fn, format } = to;
  withLocals(fn, 3, (...locals) => {
    const [x, r, shifted] = locals as [number, number, number];
    fn.set(x);
    if (format === 'f16') {
      fn.get(x);
      single(fn, EXP2_LIMITS_F16[0]);
      fn.op('f32x4.pmax');
      single(fn, EXP2_LIMITS_F16[1]);
    } else {
      // The scale of -127 makes 1 a zero.
      single(fn, -127);
      fn.get(x).get(x);
      single(fn, -126);
      fn.op('f32x4.lt').op(choosing());
      single(fn, 128);
    }
    fn.op('f32x4.pmin').tee(r);
    single(fn, MAGIC);
    fn.op('f32x4.add').set(shifted);
    fn.get(r).get(shifted);
    single(fn, MAGIC);
    fn.op('f32x4.sub').op('f32x4.sub').tee(r);
    polynomial(to, EXP2[format], r);
    single(fn, 1);
    fma(to);
    // × 2^n
    fn.get(shifted).i32(23).op('i32x4.shl').op('i32x4.add');
    // NaNs of f16 have no bits that the shift leaves, and stay NaNs, which rounding to f16 makes the default one.
    if (format === 'f16') return;
    single(fn, NaN);
    fn.get(x).get(x).op('f32x4.eq').op(choosing());
  });
}

/** Pushes the lanes of a local that are zero, denormal, negative, infinite or no number. */
function pushSpecial(fn: WasmFunction, x: number): void {
  fn.get(x);
  word(fn, 0x00800000);
  fn.op('i32x4.sub');
  word(fn, 0x7f000000);
  fn.op('i32x4.ge_u');
}

function log2(to: Target): void {
  const { fn, format } = to;
  withLocals(fn, 5, (...locals) => {
    const [x, e, f, high, sum] = locals as [number, number, number, number, number];
    fn.tee(x);
    word(fn, SQRT_HALF_BITS);
    fn.op('i32x4.sub').i32(23).op('i32x4.shr_s').set(e);
    fn.get(x).get(e).i32(23).op('i32x4.shl').op('i32x4.sub');
    single(fn, 1);
    fn.op('f32x4.sub').set(f);
    fn.get(e).op('f32x4.convert_i32x4_s').set(e);
    if (format === 'f16') {
      fn.get(f);
      polynomial(to, LOG2.f16, f);
      fn.get(e);
      fma(to);
    } else {
      // The sum of the exponent and the high product, then what both have lost.
      fn.get(f);
      single(fn, LOG2_E);
      fn.op('f32x4.mul').tee(high).get(e).op('f32x4.add').tee(sum);
      fn.get(f).get(f);
      polynomial(to, LOG2.f32, f);
      single(fn, LOG2_E_LOW);
      fma(to);
      fn.get(f);
      single(fn, LOG2_E);
      fn.get(high).neg('f32x4');
      fma(to);
      fma(to);
      fn.get(high).get(sum).get(e).op('f32x4.sub').op('f32x4.sub').op('f32x4.add').op('f32x4.add');
    }
    const result = f;
    fn.set(result);
    pushSpecial(fn, x);
    if (format === 'f16') {
      fn.tee(e).anyLane().if();
      // Infinity and NaNs stay, and numbers below zero get all bits, which is a NaN; zero: -infinity.
      fn.get(x).get(x).v128(0, 0, 0, 0).op('f32x4.lt').op('v128.or').get(result).get(e).op(choosing());
      single(fn, -Infinity);
      fn.get(x).v128(0, 0, 0, 0).op('f32x4.eq').op('v128.and').op('v128.or');
      fn.set(result).end().get(result);
      return;
    }
    fn.tee(e).anyLane().if();
    // Infinity stays; zero, and denormals, which are taken for it: -infinity; others: NaN.
    fn.get(x);
    single(fn, -Infinity);
    single(fn, NaN);
    fn.get(x).abs('f32x4');
    word(fn, 0x00800000);
    fn.op('i32x4.lt_s').op(choosing()).get(x);
    single(fn, Infinity);
    fn.op('i32x4.eq').op(choosing()).get(result).get(e).op(choosing()).set(result).end().get(result);
  });
}

/** Pushes the lanes of a local that are beyond 256 turns: there the f32 sine is 0 and the cosine 1, of infinities and NaNs there is none. */
function pushBeyond(fn: WasmFunction, x: number): void {
  // As integers NaNs are beyond, too.
  fn.get(x).abs('f32x4');
  single(fn, 256);
  fn.op('i32x4.gt_s');
}

/** Puts the value beyond 256 turns, or NaN, into such lanes of the result. */
function limit(fn: WasmFunction, x: number, result: number, beyond: number): void {
  single(fn, beyond);
  single(fn, NaN);
  fn.get(x).abs('f32x4');
  single(fn, Infinity);
  fn.op('f32x4.lt').op(choosing()).get(result);
  pushBeyond(fn, x);
  fn.op(choosing()).set(result);
}

/** Pushes sin(2πv) or cos(2πv) of v in [0, ¼], in f32. */
function quarter(to: Target, v: number, isCosine: boolean): void {
  const { fn } = to;
  withLocals(fn, 2, (...locals) => {
    const [a, z] = locals as [number, number];
    single(fn, 0.25);
    fn.get(v).op('f32x4.sub').get(v).op('f32x4.pmin').tee(a).get(a).op('f32x4.mul').set(z);
    const sine = (): void => {
      fn.get(a);
      single(fn, TURN);
      fn.get(a);
      polynomial(to, SIN.f32, z);
      fn.op('f32x4.mul');
      fma(to);
    };
    const cosine = (): void => {
      polynomial(to, COS, z);
      fn.get(z);
      single(fn, 1);
      fma(to);
    };
    // Beyond an eighth the other one of the rest.
    if (isCosine) sine();
    cosine();
    if (!isCosine) sine();
    fn.get(v);
    single(fn, 0.125);
    fn.op('f32x4.gt').op(choosing());
  });
}

/** Pushes sin(2πv) of v in [-¼, ¼], for f16. */
function sine16(to: Target, v: number): void {
  const { fn } = to;
  withLocals(fn, 1, (z) => {
    fn.get(v)
      .get(v)
      .op('f32x4.mul')
      .set(z as number)
      .get(v);
    polynomial(to, SIN.f16, z as number);
    fn.op('f32x4.mul');
    single(fn, 1);
    fn.op('f32x4.pmin');
  });
}

/** Pushes ½ turn less the size in a local where that is smaller. */
function fold(fn: WasmFunction, size: number): void {
  single(fn, 0.5);
  fn.get(size).op('f32x4.sub').get(size).op('f32x4.pmin');
}

/** Makes denormals in a local with sizes of what is left of turns zeros: of numbers that are none something else is left. */
function flushSize({ fn, flushes }: Target, size: number): void {
  if (!flushes) return;
  fn.get(size).get(size);
  word(fn, 0x007fffff);
  fn.op('i32x4.gt_s').op('v128.and').set(size);
}

function sine(to: Target): void {
  const { fn, format } = to;
  if (format === 'f16') {
    smallSine(to);
    return;
  }
  withLocals(fn, 3, (...locals) => {
    const [x, turn, v] = locals as [number, number, number];
    fn.tee(x).get(x).op('f32x4.nearest').op('f32x4.sub').tee(turn);
    fn.abs('f32x4').set(v);
    flushSize(to, v);
    fold(fn, v);
    fn.set(v);
    quarter(to, v, false);
    const zeros = (): void => void fn.get(v).v128(0, 0, 0, 0).op('f32x4.eq');
    fn.get(turn);
    addSign(fn);
    fn.set(turn);
    zeros();
    pushBeyond(fn, x);
    fn.op('v128.or').anyLane().if();
    // A zero has the sign of the argument.
    fn.get(x);
    word(fn, -0x80000000);
    fn.op('v128.and').get(turn);
    zeros();
    fn.op(choosing()).set(turn);
    limit(fn, x, turn, 0);
    fn.end().get(turn);
  });
}

/** The sine for f16: of half a turn less the size's fraction, which is never a negative zero, so that zeros have the sign of the argument. */
function smallSine(to: Target): void {
  const { fn } = to;
  withLocals(fn, 3, (...locals) => {
    const [x, rest, v] = locals as [number, number, number];
    fn.tee(x).abs('f32x4').set(rest);
    single(fn, 0.5);
    fn.get(rest).get(rest).op('f32x4.floor').op('f32x4.sub').op('f32x4.sub');
    fn.tee(rest).abs('f32x4').set(v);
    fold(fn, v);
    fn.set(v);
    sine16(to, v);
    fn.get(rest).get(x).op('v128.xor');
    addSign(fn);
  });
}

/** Gives the sizes on the stack the signs of the values above them. */
function addSign(fn: WasmFunction): void {
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or');
}

function cosine(to: Target): void {
  const { fn, format } = to;
  withLocals(fn, 3, (...locals) => {
    const [x, turn, v] = locals as [number, number, number];
    fn.tee(x).get(x).op('f32x4.nearest').op('f32x4.sub').abs('f32x4').set(turn);
    if (format === 'f16') {
      single(fn, 0.25);
      fn.get(turn).op('f32x4.sub').set(v);
      sine16(to, v);
      return;
    }
    flushSize(to, turn);
    fold(fn, turn);
    fn.set(v);
    quarter(to, v, true);
    fn.get(turn);
    single(fn, 0.25);
    fn.op('f32x4.gt');
    word(fn, -0x80000000);
    fn.op('v128.and').op('v128.xor').set(turn);
    pushBeyond(fn, x);
    fn.anyLane().if();
    limit(fn, x, turn, 1);
    fn.end().get(turn);
  });
}

function reciprocalRoot(to: Target): void {
  const { fn, format } = to;
  withLocals(fn, 3, (...locals) => {
    const [x, estimate, root] = locals as [number, number, number];
    fn.set(x);
    single(fn, 1);
    fn.get(x).op('f32x4.sqrt').op('f32x4.div');
    if (format === 'f16') return;
    fn.tee(estimate);
    single(fn, -0.5);
    fn.op('f32x4.mul');
    fn.get(x).get(estimate).get(x).get(estimate).op('f32x4.mul').tee(root).neg('f32x4');
    fma(to);
    fn.get(estimate).get(root).get(estimate);
    single(fn, -1);
    fma(to);
    fma(to);
    fn.get(estimate);
    fma(to);
    // The estimates of zeros and infinities have no step.
    fn.tee(root).get(estimate).get(root).get(root).op('f32x4.eq').op(choosing());
  });
}

const WRITERS: Readonly<Record<string, (to: Target) => void>> = {
  exp2,
  log2,
  sin_turns: sine,
  cos_turns: cosine,
  rsq: reciprocalRoot,
};
export const TRANSCENDENTAL_NAMES: ReadonlySet<string> = new Set(Object.keys(WRITERS));

/**
 * Writes `exp2.f32` and the like, four lanes for the four on the stack. f16 are f32 that are f16, and the result is to be rounded to it. `flushes`:
 * denormals of f32, which are on the stack as they are, count as zeros.
 */
export function transcendental(
  { fn, module }: Pick<Target, 'fn' | 'module'>,
  name: string,
  format: TranscendentalFormat,
  flushes = false,
): void {
  (WRITERS[name] as (to: Target) => void)({ fn, module, format, flushes });
}
