// What compiled code has the host compute because vector code cannot: a fused multiply-add of any operands and rounding, and the bits of
// 2/π for v_trig_preop_f64, most of which are in a table of the device's memory.
import { f64HighWord, type Rounding } from '../../../base/elements/formats.ts';
import { fmaScaledF64 } from '../../../isa/semantics/exact.ts';
import { TRIG_EXPONENT, trigPreop } from '../interpreter/division.ts';
import { TRIG_TABLE } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { callFunction, type MathFunction } from './math-tools.ts';

/** Index of the import `fmaExactly(a, b, c, scale, rounding)`: (a·b + c) · 2^scale with one rounding. */
export function exactFmaIndex(module: WasmModule): number {
  return module.importFunction('env', 'fmaExactly', ['f64', 'f64', 'f64', 'i32', 'i32'], ['f64']);
}

/** The import `fmaExactly`. */
export function fmaExactly(a: number, b: number, c: number, scale: number, rounding: number): number {
  return fmaScaledF64(a, b, c, scale, rounding as Rounding);
}

/** Index of the import `trigPreop(x, segment)`. */
export function trigPreopIndex(module: WasmModule): number {
  return module.importFunction('env', 'trigPreop', ['f64', 'i32'], ['f64']);
}

/** The import `trigPreop`: fills the table where it may be asked again, and remembers the others. */
export function trigPreopImport(memory: DeviceMemory): (x: number, segment: number) => number {
  const table = new Float64Array(memory.wasm.buffer, TRIG_TABLE, 32);
  const known = new Map<number, number>();
  return (x, segment) => {
    const exponent = Math.max(TRIG_EXPONENT, exponentField(x));
    const key = exponent * 32 + (segment & 31);
    let value = known.get(key);
    if (value === undefined) {
      value = trigPreop(x, segment);
      known.set(key, value);
      if (exponent === TRIG_EXPONENT) table[segment & 31] = value;
    }
    return value;
  };
}

const exponentField = (x: number): number => (f64HighWord(x) >>> 20) & 0x7ff;

/** Two f64 and segments in the low two i32. */
function trigPreopLanes(fn: WasmFunction, module: WasmModule): void {
  const [at, value, result] = [fn.local('i32'), fn.local('f64'), fn.local('v128')];
  for (const lane of [0, 1]) {
    fn.f64(0).set(value);
    fn.get(0)
      .lane('i64x2.extract_lane', lane)
      .i64(52n)
      .op('i64.shr_u')
      .op('i32.wrap_i64')
      .i32(0x7ff)
      .op('i32.and')
      .i32(TRIG_EXPONENT)
      .op('i32.le_u')
      .if();
    fn.get(1).lane('i32x4.extract_lane', lane).i32(31).op('i32.and').i32(3).op('i32.shl').tee(at);
    fn.memory('f64.load', TRIG_TABLE, 3).set(value).end();
    fn.get(value).f64(0).op('f64.eq').if();
    fn.get(0).lane('f64x2.extract_lane', lane).get(1).lane('i32x4.extract_lane', lane);
    fn.call(trigPreopIndex(module)).set(value).end();
    if (lane === 0) fn.get(value).op('f64x2.splat').set(result);
    else fn.get(result).get(value).lane('f64x2.replace_lane', 1);
  }
}

/** The same: a load from the table where both lanes have one segment, as where it is a constant, and it is there already. */
function trigPreopFast(fn: WasmFunction, module: WasmModule, [x, segments]: readonly number[]): void {
  const value = fn.local('v128');
  const segment = (lane: number): WasmFunction => fn.get(segments as number).lane('i32x4.extract_lane', lane);
  segment(0).i32(31).op('i32.and').i32(3).op('i32.shl').memory('v128.load64_splat', TRIG_TABLE, 3).set(value);
  fn.get(x as number)
    .v128(0, 0x7ff00000, 0, 0x7ff00000)
    .op('v128.and');
  fn.v128(0, TRIG_EXPONENT << 20, 0, TRIG_EXPONENT << 20)
    .op('i32x4.gt_s')
    .op('v128.any_true');
  segment(0);
  segment(1).op('i32.xor').op('i32.or').get(value).op('i64x2.all_true').op('i32.eqz').op('i32.or').if();
  fn.get(x as number).get(segments as number);
  callFunction({ fn, module }, 'trig_preop.f64.lanes', { parameters: 2, build: trigPreopLanes });
  fn.set(value).end().get(value);
}

export const HOST_FUNCTIONS: Record<string, MathFunction> = {
  'trig_preop.f64': { parameters: 2, inline: true, build: trigPreopFast },
};
