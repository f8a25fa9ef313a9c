// What compiled code has the host compute because vector code cannot: a fused multiply-add of any operands and rounding, and the bits of
// 2/π for v_trig_preop_f64, most of which are in a table of the device's memory.
import { f64HighWord, type Rounding } from '../../../base/elements/formats.ts';
import { fmaScaledF64 } from '../../../isa/semantics/exact.ts';
import { DIGITS, TRIG_EXPONENT, trigPreop, twoOverPiDigits } from '../interpreter/division.ts';
import { TRIG_DIGITS, TRIG_READY, TRIG_TABLE } from '../state/layout.ts';
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

/** Zeros behind the digits of 2/π, for what is read past them. */
const ZEROS = 64;

/** The import `trigPreop`: fills the tables, so that it is not asked again for a segment of small numbers, and never for large ones. */
export function trigPreopImport(memory: DeviceMemory): (x: number, segment: number) => number {
  const { buffer } = memory.wasm;
  const table = new Float64Array(buffer, TRIG_TABLE, 32);
  const digits = new Uint8Array(buffer, TRIG_DIGITS, TRIG_READY - TRIG_DIGITS);
  const ready = new Int32Array(buffer, TRIG_READY, 1);
  return (x, segment) => {
    if (Atomics.load(ready, 0) === 0) {
      let rest = twoOverPiDigits() << BigInt(ZEROS);
      for (let n = 0; rest !== 0n; n++, rest >>= 8n) digits[n] = Number(rest & 0xffn);
      Atomics.store(ready, 0, 1);
    }
    const value = trigPreop(x, segment);
    if (exponentField(x) <= TRIG_EXPONENT) table[segment & 31] = value;
    return value;
  };
}

const exponentField = (x: number): number => (f64HighWord(x) >>> 20) & 0x7ff;

/** Pushes 2^n of the i32 in a local. */
function power(fn: WasmFunction, n: number): void {
  fn.get(n).i32(1023).op('i32.add').op('i64.extend_i32_s').i64(52n).op('i64.shl').op('f64.reinterpret_i64');
}

/** Pushes 53 digits of 2/π behind the first `shift`, an i32 in a local, and scales them; `field` is the operand's exponent field. */
function trigDigits(fn: WasmFunction, shift: number, field: number): void {
  const [place, scale, first] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
  const width = 53;
  fn.get(shift).i32(DIGITS).get(shift).i32(DIGITS).op('i32.lt_s').select().set(shift);
  fn.i32(DIGITS + ZEROS - width)
    .get(shift)
    .op('i32.sub')
    .tee(place)
    .i32(3)
    .op('i32.shr_u')
    .memory('i64.load', TRIG_DIGITS);
  fn.get(place).i32(7).op('i32.and').op('i64.extend_i32_u').op('i64.shr_u');
  fn.i64((1n << BigInt(width)) - 1n)
    .op('i64.and')
    .op('f64.convert_i64_u');
  fn.i32(128)
    .i32(0)
    .get(field)
    .i32(1968)
    .op('i32.ge_u')
    .select()
    .i32(width)
    .op('i32.sub')
    .get(shift)
    .op('i32.sub')
    .tee(scale);
  // In two steps, of which only the second can round.
  fn.i32(-1000).get(scale).i32(-1000).op('i32.gt_s').select().set(first);
  power(fn, first);
  fn.op('f64.mul').get(scale).get(first).op('i32.sub').set(scale);
  power(fn, scale);
  fn.op('f64.mul');
  for (const local of [place, scale, first]) fn.release('i32', local);
}

/** Two f64 and segments in the low two i32. */
function trigPreopLanes(fn: WasmFunction, module: WasmModule): void {
  const [field, shift, result] = [fn.local('i32'), fn.local('i32'), fn.local('v128')];
  const segment = (lane: number): WasmFunction => fn.get(1).lane('i32x4.extract_lane', lane);
  for (const lane of [0, 1]) {
    if (lane === 1) fn.get(result);
    fn.i32(0).memory('i32.atomic.load', TRIG_READY).if('f64');
    fn.get(0)
      .lane('i32x4.extract_lane', 2 * lane + 1)
      .i32(20)
      .op('i32.shr_u')
      .i32(0x7ff)
      .op('i32.and')
      .tee(field)
      .i32(TRIG_EXPONENT)
      .op('i32.sub')
      .tee(shift)
      .i32(0)
      .get(shift)
      .i32(0)
      .op('i32.gt_s')
      .select();
    segment(lane).i32(31).op('i32.and').i32(53).op('i32.mul').op('i32.add').set(shift);
    trigDigits(fn, shift, field);
    fn.else().get(0).lane('f64x2.extract_lane', lane);
    segment(lane).call(trigPreopIndex(module)).end();
    if (lane === 0) fn.op('f64x2.splat').set(result);
    else fn.lane('f64x2.replace_lane', 1);
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
