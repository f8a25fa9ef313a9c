// Scaled fused multiply-adds, fractions and conversions of f32 in every rounding: made in f64 exactly or rounded to odd, so that the rounding
// to f32 is the only one. Sums of f16. Directed sums and products of f32 are in math-directed-single.ts.
// Counterparts: interpreter/operators.ts, isa/semantics/exact.ts.
import type { WasmFunction } from './emit.ts';
import { matrixFeatures } from './features.ts';
import { makeOdd } from './half.ts';
import { allRoundings, double, eachHalf, type Finish, type MathFunction, makeOddDouble } from './math-tools.ts';
import { signZeroDown } from './rounding.ts';

type Promote = (parameter: number) => void;

/** Pushes the sum of the two f64 vectors that are pushed, rounded to odd; an exact zero has the sign of the rounding. */
function oddSum(fn: WasmFunction, finish: Finish, pushFirst: () => void, pushSecond: () => void): void {
  const [p, t, addend, sum] = [1, 2, 3, 4].map(() => fn.local('v128')) as [number, number, number, number];
  pushFirst();
  fn.set(p);
  pushSecond();
  fn.set(addend).get(p).get(addend).op('f64x2.add').set(sum);
  fn.get(sum).get(p).op('f64x2.sub').set(t);
  fn.get(p).get(sum).get(t).op('f64x2.sub').op('f64x2.sub').get(addend).get(t).op('f64x2.sub').op('f64x2.add');
  if (finish === 2) signZeroDown(fn, sum, p, addend);
  makeOddDouble(fn, sum);
  for (const local of [p, t, addend, sum]) fn.release('v128', local);
}

function product(fn: WasmFunction, promote: Promote): void {
  promote(0);
  promote(1);
  fn.op('f64x2.mul');
}

function fma(fn: WasmFunction, promote: Promote, finish: Finish): void {
  oddSum(
    fn,
    finish,
    () => product(fn, promote),
    () => promote(2),
  );
}

/** (a·b + c) · 2^d in any rounding, d an i32. */
export function exactFmaScaled(fn: WasmFunction, finish: Finish): void {
  const pushScaled = (promote: Promote, half: number): void => {
    fma(fn, promote, finish);
    fn.get(3).op(`i64x2.extend_${half === 0 ? 'low' : 'high'}_i32x4_s`);
    fn.v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl').op('f64x2.mul');
  };
  eachHalf(fn, pushScaled, finish);
}

/** The same to nearest: mostly there is no scale in any lane. */
function fmaScaledNearest(fn: WasmFunction): void {
  if (matrixFeatures().fused) {
    fn.get(3).op('v128.any_true').op('i32.eqz').if();
    fn.get(0).get(1).get(2).op('f32x4.relaxed_madd').return().end();
  }
  exactFmaScaled(fn, 0);
}

/** a ± b of f16 as f32, rounded to odd, or towards zero: what the sum has lost is an f32. */
function sumOfHalves(
  fn: WasmFunction,
  [a, given]: readonly number[],
  isDifference: boolean,
  finish: (fn: WasmFunction, sum: number) => void = makeOdd,
): void {
  const [b, s, t] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.get(given as number);
  if (isDifference) fn.neg('f32x4');
  fn.tee(b)
    .get(a as number)
    .op('f32x4.add')
    .tee(s)
    .get(a as number)
    .op('f32x4.sub')
    .set(t);
  fn.get(a as number)
    .get(s)
    .get(t)
    .op('f32x4.sub')
    .op('f32x4.sub')
    .get(b)
    .get(t)
    .op('f32x4.sub')
    .op('f32x4.add');
  finish(fn, s);
  for (const local of [b, s, t]) fn.release('v128', local);
}

/** Pushes the f32 sum of f16 values in a local rounded towards zero: the error, which is zero or at least 2^-24, is on the stack. */
function towardsZero(fn: WasmFunction, sum: number): void {
  // One step back where the error has the other sign.
  fn.get(sum).op('f32x4.mul').v128(0, 0, 0, 0).op('f32x4.lt').get(sum).op('i32x4.add');
}

/** The fraction, made in f64, is below 1; what would round to 1 becomes the largest f32 below. */
function fraction(fn: WasmFunction, promote: Promote): void {
  const x = fn.local('v128');
  promote(0);
  fn.tee(x).get(x).op('f64x2.floor').op('f64x2.sub');
  double(fn, 1 - 2 ** -24);
  fn.op('f64x2.min');
  fn.release('v128', x);
}

function fromInteger(fn: WasmFunction, half: number, sign: 's' | 'u'): void {
  fn.get(0);
  if (half === 1) fn.get(0).shuffle32(2, 3, 2, 3);
  fn.op(`f64x2.convert_low_i32x4_${sign}`);
}

function operator(
  name: string,
  parameters: number,
  body: (fn: WasmFunction, promote: Promote, half: number, finish: Finish) => void,
): Record<string, MathFunction> {
  return allRoundings(name, parameters, (fn, finish) =>
    eachHalf(fn, (promote, half) => body(fn, promote, half, finish), finish),
  );
}

export const ARITHMETIC: Record<string, MathFunction> = {
  'add.f16': { parameters: 2, inline: true, build: (fn, _module, places) => sumOfHalves(fn, places, false) },
  'sub.f16': { parameters: 2, inline: true, build: (fn, _module, places) => sumOfHalves(fn, places, true) },
  'add.f16.zero': {
    parameters: 2,
    inline: true,
    build: (fn, _module, places) => sumOfHalves(fn, places, false, towardsZero),
  },
  'sub.f16.zero': {
    parameters: 2,
    inline: true,
    build: (fn, _module, places) => sumOfHalves(fn, places, true, towardsZero),
  },
  'fma.f32': { parameters: 3, build: (fn) => eachHalf(fn, (promote) => fma(fn, promote, 0)) },
  'fma_scaled.f32': { parameters: 4, build: fmaScaledNearest },
  ...operator('fract', 1, fraction),
  ...operator('from_i32_s', 1, (fn, _promote, half) => fromInteger(fn, half, 's')),
  ...operator('from_i32_u', 1, (fn, _promote, half) => fromInteger(fn, half, 'u')),
};
