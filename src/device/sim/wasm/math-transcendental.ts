// exp2, log2, sine, cosine and reciprocal root as SIMD code: the operations of isa/semantics/transcendental.ts in the same order.
import { COS, EXP2, EXP2_LIMIT, LOG2, SIN, SQRT_HALF_HIGH, TWO_PI } from '../../../isa/semantics/transcendental.ts';
import type { WasmFunction } from './emit.ts';
import { matrixFeatures } from './features.ts';
import { returnCertainExp2 } from './math-exp2.ts';
import type { MathFunction } from './math-tools.ts';
import { allRoundings, double, eachHalf, type Finish, polynomial, single } from './math-tools.ts';

type Body = (fn: WasmFunction, x: number) => void;

const exp2: Body = (fn, x) => {
  const [n, r] = [fn.local('v128'), fn.local('v128')];
  fn.get(x);
  double(fn, -EXP2_LIMIT);
  fn.op('f64x2.max');
  double(fn, EXP2_LIMIT);
  fn.op('f64x2.min').tee(r).op('f64x2.nearest').set(n);
  fn.get(r).get(n).op('f64x2.sub').set(r);
  polynomial(fn, EXP2, r);
  // 2^n: adding 1.5 · 2^52 leaves n in the low bits.
  fn.get(n);
  double(fn, 6755399441055744);
  fn.op('f64x2.add').v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl').op('f64x2.mul');
  fn.release('v128', n);
  fn.release('v128', r);
};

const log2: Body = (fn, x) => {
  const [e, m, s] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.get(x).v128(0, SQRT_HALF_HIGH, 0, SQRT_HALF_HIGH).op('i64x2.sub').i32(52).op('i64x2.shr_s').set(e);
  fn.get(x).get(e).i32(52).op('i64x2.shl').op('i64x2.sub').set(m);
  fn.get(m);
  double(fn, 1);
  fn.op('f64x2.sub').get(m);
  double(fn, 1);
  fn.op('f64x2.add').op('f64x2.div').set(s);
  fn.get(s).get(s).op('f64x2.mul').set(m);
  fn.get(e).get(e).shuffle32(0, 2, 0, 2).op('f64x2.convert_low_i32x4_s');
  fn.get(s);
  polynomial(fn, LOG2, m);
  fn.op('f64x2.mul').op('f64x2.add');
  // Infinity stays; below zero and NaN: NaN; zero: -infinity.
  fn.get(x).get(x);
  double(fn, Infinity);
  fn.op('f64x2.lt').op('v128.bitselect');
  double(fn, NaN);
  fn.get(x).v128(0, 0, 0, 0).op('f64x2.ge').op('v128.bitselect');
  double(fn, -Infinity);
  fn.get(x).v128(0, 0, 0, 0).op('f64x2.ne').op('v128.bitselect');
  for (const local of [e, m, s]) fn.release('v128', local);
};

const sine =
  (quarters: 0 | 1): Body =>
  (fn, x) => {
    const [turn, q, a, z] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
    fn.get(x).get(x).op('f64x2.nearest').op('f64x2.sub').tee(turn);
    double(fn, 4);
    fn.op('f64x2.mul').op('f64x2.nearest').set(q);
    fn.get(turn).get(q);
    double(fn, 0.25);
    fn.op('f64x2.mul').op('f64x2.sub');
    double(fn, TWO_PI);
    fn.op('f64x2.mul').tee(a).get(a).op('f64x2.mul').set(z);
    // The quarter's number in the low bits.
    fn.get(q);
    double(fn, 6755399441055744 + quarters);
    fn.op('f64x2.add').set(q);
    fn.get(a);
    polynomial(fn, SIN, z);
    fn.op('f64x2.mul');
    polynomial(fn, COS, z);
    // All ones where the lowest bit is 0; then the sign from the next bit.
    fn.get(q).v128(1, 0, 1, 0).op('v128.and').v128(1, 0, 1, 0).op('i64x2.sub').op('v128.bitselect');
    fn.get(q).i32(62).op('i64x2.shl').v128(0, -0x80000000, 0, -0x80000000).op('v128.and').op('v128.xor');
    double(fn, 0);
    fn.op('f64x2.add');
    if (quarters === 0) {
      fn.get(x);
      double(fn, 0);
      fn.op('f64x2.mul').get(turn);
      double(fn, 0);
      fn.op('f64x2.ne').op('v128.bitselect');
    }
    for (const local of [turn, q, a, z]) fn.release('v128', local);
  };

const rsq: Body = (fn, x) => {
  double(fn, 1);
  fn.get(x).op('f64x2.sqrt').op('f64x2.div');
};

const rcp: Body = (fn, x) => {
  double(fn, 1);
  fn.get(x).op('f64x2.div');
};

const sqrt: Body = (fn, x) => void fn.get(x).op('f64x2.sqrt');

function function64(fn: WasmFunction, body: Body, finish: Finish): void {
  const x = fn.local('v128');
  eachHalf(
    fn,
    (promote) => {
      promote(0);
      fn.set(x);
      body(fn, x);
    },
    finish,
  );
}

/** Beyond 256 turns the f32 sine is 0 and the cosine 1. */
function limited(fn: WasmFunction, quarters: 0 | 1, finish: Finish): void {
  function64(fn, sine(quarters), finish);
  // f16 has no such range.
  if (finish === 'odd') return;
  single(fn, quarters);
  fn.get(0).op('f32x4.abs');
  single(fn, 256);
  fn.op('f32x4.gt').get(0).op('f32x4.abs');
  single(fn, Infinity);
  fn.op('f32x4.lt').op('v128.and').op('v128.not').op('v128.bitselect');
}

const functions = (name: string, body: Body): Record<string, MathFunction> =>
  allRoundings(name, 1, (fn, finish) => function64(fn, body, finish));

export const TRANSCENDENTAL: Record<string, MathFunction> = {
  ...functions('exp2', exp2),
  'exp2.f32': {
    parameters: 1,
    build: (fn) => {
      if (matrixFeatures().fused) returnCertainExp2(fn);
      function64(fn, exp2, 0);
    },
  },
  ...functions('log2', log2),
  ...functions('rcp', rcp),
  ...functions('rsq', rsq),
  ...functions('sqrt', sqrt),
  ...allRoundings('sin_turns', 1, (fn, finish) => limited(fn, 0, finish)),
  ...allRoundings('cos_turns', 1, (fn, finish) => limited(fn, 1, finish)),
};
