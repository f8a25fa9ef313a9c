// Calls of what compiled code has the host compute because vector code cannot (host-math.ts): a fused multiply-add of any operands and rounding, and
// the table of v_trig_preop_f64 in the device's memory.
import type { Expr } from '../../../isa/semantics/index.ts';
import { TRIG_EXPONENT, TRIG_LARGE } from '../interpreter/division.ts';
import { TRIG_READY, TRIG_TABLE } from '../state/layout.ts';
import type { WasmModule } from './emit.ts';
import { LARGE_PLACE, LAST_SHIFT } from './host-math.ts';
import type { LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';

/** Index of the import `fmaExactly(a, b, c, scale, rounding)`: (a·b + c) · 2^scale with one rounding. */
export function exactFmaIndex(module: WasmModule): number {
  return module.importFunction('env', 'fmaExactly', ['f64', 'f64', 'f64', 'i32', 'i32'], ['f64']);
}

/** Index of the import `fillTrigTable()`. */
export function trigTableIndex(module: WasmModule): number {
  return module.importFunction('env', 'fillTrigTable', [], []);
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
