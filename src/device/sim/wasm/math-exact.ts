// What compiled code has the host compute because vector code cannot: a fused multiply-add of any operands and rounding, and the table of
// v_trig_preop_f64 in the device's memory.
import type { Rounding } from '../../../base/elements/formats.ts';
import { fmaScaledF64 } from '../../../isa/semantics/exact.ts';
import type { Expr } from '../../../isa/semantics/index.ts';
import { DIGITS, TRIG_EXPONENT, TRIG_LARGE, trigDigits } from '../interpreter/division.ts';
import { TRIG_READY, TRIG_TABLE } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { WasmModule } from './emit.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';

/** Index of the import `fmaExactly(a, b, c, scale, rounding)`: (a·b + c) · 2^scale with one rounding. */
export function exactFmaIndex(module: WasmModule): number {
  return module.importFunction('env', 'fmaExactly', ['f64', 'f64', 'f64', 'i32', 'i32'], ['f64']);
}

/** The import `fmaExactly`. */
export function fmaExactly(a: number, b: number, c: number, scale: number, rounding: number): number {
  return fmaScaledF64(a, b, c, scale, rounding as Rounding);
}

/** Index of the import `fillTrigTable()`. */
export function trigTableIndex(module: WasmModule): number {
  return module.importFunction('env', 'fillTrigTable', [], []);
}

/** Past the last digit of 2/π there are zeros: shifts end here. */
const LAST_SHIFT = DIGITS;
/** The least shift of a large operand. */
const LARGE_SHIFT = TRIG_LARGE - TRIG_EXPONENT;
/** By so much the place of a large operand's result is behind that of another one with its shift. */
const LARGE_PLACE = LAST_SHIFT + 1 - LARGE_SHIFT;

/** The import `fillTrigTable`: all results of v_trig_preop_f64, by shift those of operands that are not large, then of others. */
export function fillTrigTable(memory: DeviceMemory): () => void {
  const { buffer } = memory.wasm;
  return () => {
    const table = new Float64Array(buffer, TRIG_TABLE, LAST_SHIFT + 1 + LARGE_PLACE);
    for (let shift = 0; shift <= LAST_SHIFT; shift++) {
      table[shift] = trigDigits(shift, false);
      if (shift >= LARGE_SHIFT) table[LARGE_PLACE + shift] = trigDigits(shift, true);
    }
    Atomics.store(new Int32Array(buffer, TRIG_READY, 1), 0, 1);
  };
}

/** Sets a local to the bytes from the table's beginning to the results of four lanes. `high`: the operands' high words; segments are on the stack. */
function trigPlaces({ fn, module }: LaneWriter, high: number, places: number): void {
  const field = fn.local('v128');
  fn.i32(0).memory('i32.atomic.load', TRIG_READY).op('i32.eqz').if().call(trigTableIndex(module)).end();
  word(fn, 31);
  fn.op('v128.and');
  word(fn, 53);
  fn.op('i32x4.mul').get(high).i32(20).op('i32x4.shr_u');
  word(fn, 0x7ff);
  fn.op('v128.and').tee(field);
  word(fn, TRIG_EXPONENT);
  fn.op('i32x4.sub').v128(0, 0, 0, 0).op('i32x4.max_s').op('i32x4.add');
  word(fn, LAST_SHIFT);
  fn.op('i32x4.min_s').get(field);
  word(fn, TRIG_LARGE - 1);
  fn.op('i32x4.gt_s');
  word(fn, LARGE_PLACE);
  fn.op('v128.and').op('i32x4.add').i32(3).op('i32x4.shl').set(places);
  fn.release('v128', field);
}

/** Pushes v_trig_preop_f64 of two of the lanes: loads from the table. */
export function trigPreop(code: LaneWriter, { args }: Expr, half: number): void {
  const { fn } = code;
  let places = code.kept.get('trig_preop')?.[0];
  if (places === undefined) {
    const [x, segment] = args as [Expr, Expr];
    places = code.temporary();
    code.push(x, 0);
    code.push(x, 1);
    fn.shuffle32(1, 3, 5, 7).set(places);
    code.push(segment);
    trigPlaces(code, places, places);
    code.kept.set('trig_preop', [places]);
  }
  const place = (lane: number): void => void fn.get(places).lane('i32x4.extract_lane', 2 * half + lane);
  place(1);
  place(0);
  fn.memory('v128.load64_splat', TRIG_TABLE, 3).memoryLane('v128.load64_lane', 1, TRIG_TABLE);
}
