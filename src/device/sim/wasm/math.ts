// Functions of compiled modules for operators that take more than a few instructions, one a module and operator. f32 operators take and
// give four lanes, f64 operators two. Counterparts: interpreter/operators.ts, interpreter/division.ts, isa/semantics/transcendental.ts.
import type { WasmFunction, WasmModule } from './emit.ts';
import { DIVISION } from './math-division.ts';
import { EXPONENT } from './math-exponent.ts';
import { FUSED_DOUBLE } from './math-fused.ts';
import { PERMUTE } from './math-permute.ts';
import { SMALL } from './math-small.ts';
import { eachHalf, type MathFunction, makeOddDouble } from './math-tools.ts';
import { TRANSCENDENTAL } from './math-transcendental.ts';
import { NoCode } from './scalar.ts';

/** a·b + c of four f32 in f64, rounded to odd (two results a half: in `sum`). */
function oddSum(fn: WasmFunction, promote: (local: number) => void, sum: number): void {
  const [p, t, addend] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  promote(0);
  promote(1);
  fn.op('f64x2.mul').set(p);
  promote(2);
  fn.set(addend).get(p).get(addend).op('f64x2.add').set(sum);
  fn.get(sum).get(p).op('f64x2.sub').set(t);
  fn.get(p).get(sum).get(t).op('f64x2.sub').op('f64x2.sub').get(addend).get(t).op('f64x2.sub').op('f64x2.add');
  makeOddDouble(fn, sum);
  for (const local of [p, t, addend]) fn.release('v128', local);
}

const FUSED: Record<string, MathFunction> = {
  fma32: {
    parameters: 3,
    build: (fn) => eachHalf(fn, (promote) => oddSum(fn, promote, fn.local('v128'))),
  },
  // (a·b + c) · 2^d, d an i32.
  'fma_scaled.f32': {
    parameters: 4,
    build: (fn) =>
      eachHalf(fn, (promote, half) => {
        oddSum(fn, promote, fn.local('v128'));
        fn.get(3).op(`i64x2.extend_${half === 0 ? 'low' : 'high'}_i32x4_s`);
        fn.v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl').op('f64x2.mul');
      }),
  },
};

const FUNCTIONS: Record<string, MathFunction> = {
  ...FUSED,
  ...FUSED_DOUBLE,
  ...PERMUTE,
  ...TRANSCENDENTAL,
  ...EXPONENT,
  ...DIVISION,
  ...SMALL,
};

/** Calls the function of an operator; its arguments are on the stack. */
export function callMath(code: { readonly fn: WasmFunction; readonly module: WasmModule }, name: string): void {
  const known = FUNCTIONS[name];
  if (known === undefined) throw new NoCode(name);
  const parameters = Array.from({ length: known.parameters }, () => 'v128' as const);
  code.fn.call(code.module.helper(`math.${name}`, parameters, ['v128'], known.build));
}
