// Functions of compiled modules for operators that take more than a few instructions: fused multiply-add without hardware, and the
// transcendental operators.
import type { WasmFunction, WasmModule } from './emit.ts';
import { NoCode } from './scalar.ts';

type Builder = (fn: WasmFunction, module: WasmModule) => void;

/** a·b + c of four f32 in f64, rounded to odd and then to f32: one rounding in effect. */
const fma32: Builder = (fn) => {
  const [a, b, c] = [0, 1, 2] as const;
  const [p, s, t, sum] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
  for (const half of [0, 1]) {
    const promote = (local: number): void => {
      fn.get(local);
      if (half === 1) fn.get(local).shuffle32(2, 3, 2, 3);
      fn.op('f64x2.promote_low_f32x4');
    };
    promote(a);
    promote(b);
    fn.op('f64x2.mul').set(p);
    promote(c);
    fn.set(sum).get(p).get(sum).op('f64x2.add').set(s);
    fn.get(s).get(p).op('f64x2.sub').set(t);
    fn.get(p).get(s).get(t).op('f64x2.sub').op('f64x2.sub').get(sum).get(t).op('f64x2.sub').op('f64x2.add');
    makeOddDouble(fn, s);
    fn.op('f32x4.demote_f64x2_zero');
  }
  fn.shuffle32(0, 1, 4, 5);
};

/** As makeOdd, for f64. */
export function makeOddDouble(fn: WasmFunction, sum: number): void {
  const error = fn.local('v128');
  const one: [number, number, number, number] = [1, 0, 1, 0];
  fn.set(error).get(sum);
  fn.get(error)
    .get(sum)
    .op('v128.xor')
    .i32(63)
    .op('i64x2.shr_s')
    .v128(...one)
    .op('v128.or');
  fn.get(error).v128(0, 0, 0, 0).op('f64x2.lt').get(error).v128(0, 0, 0, 0).op('f64x2.gt').op('v128.or').op('v128.and');
  fn.get(sum)
    .v128(...one)
    .op('v128.and')
    .v128(...one)
    .op('i64x2.sub')
    .op('v128.and')
    .op('i64x2.add');
  fn.release('v128', error);
}

const BUILDERS: Record<string, { arguments: number; build: Builder }> = { fma32: { arguments: 3, build: fma32 } };

/** Calls the function of an operator; its arguments are on the stack. */
export function callMath(code: { readonly fn: WasmFunction; readonly module: WasmModule }, name: string): void {
  const known = BUILDERS[name];
  if (known === undefined) throw new NoCode(name);
  const { module } = code;
  const helper = module.helper(
    `math.${name}`,
    Array.from({ length: known.arguments }, () => 'v128' as const),
    ['v128'],
    (fn) => known.build(fn, module),
  );
  code.fn.call(helper);
}
