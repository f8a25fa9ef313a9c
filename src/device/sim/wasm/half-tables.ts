// The transcendental operators of f16 whose code takes long: 2^16 results each, in the device's memory. The first lanes of a device that need one
// have its table made by the code that computes four results at a time (math-transcendental.ts): 3 to 6 ms on a loaded machine, before V8 has optimised it.
import type { Expr } from '../../../isa/semantics/index.ts';
import { HALF_TABLE_BYTES, HALF_TABLES, HALF_TABLES_READY } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { decodeHalf, encodeHalf } from './half.ts';
import type { LaneCode } from './lanes.ts';
import { word } from './math-tools.ts';
import { transcendental } from './math-transcendental.ts';
import { Code } from './memory/code.ts';
import { flushDenormals } from './rounding.ts';

/** By operator, in the order of the tables. */
const TABLED = ['log2', 'sin_turns', 'cos_turns'];
const DWORD = 4;
const RESULTS = 2 ** 16;

/** Makes the table of an operator: results rounded to nearest, in the order of the operand's bits. */
function fillFunction(module: WasmModule, number: number): WasmFunction {
  const name = TABLED[number] as string;
  return module.helper(`half.table.${name}`, [], [], (fn) => {
    const code = new Code(fn);
    const [at, bits] = [fn.local('i32'), fn.local('v128')];
    fn.v128(0, 1, 2, 3).set(bits);
    code.loop((again) => {
      fn.get(at).get(bits);
      decodeHalf(fn);
      transcendental({ fn, module }, name, 'f16');
      encodeHalf(fn);
      fn.v128(0, 0, 0, 0).op('i16x8.narrow_i32x4_u');
      fn.memoryLane('v128.store64_lane', 0, HALF_TABLES + number * HALF_TABLE_BYTES);
      fn.get(bits);
      word(fn, 4);
      fn.op('i32x4.add').set(bits);
      fn.get(at).i32(8).op('i32.add').tee(at).i32(HALF_TABLE_BYTES).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(0)
      .i32(1)
      .memory('i32.atomic.store', HALF_TABLES_READY + DWORD * number);
  });
}

/**
 * Pushes the bits of an f16 result, rounded to nearest and with its denormals, when it is in a table and its operand is a source; else pushes
 * nothing and returns false.
 */
export function pushTabled(code: LaneCode, e: Expr): boolean {
  const number = TABLED.indexOf(e.op.slice('f16.'.length));
  const [operand] = e.args;
  if (e.type !== 'f16' || number < 0 || operand?.op !== 'source' || operand.type !== 'f16') return false;
  const { fn, module, mode } = code;
  fn.i32(0)
    .memory('i32.atomic.load', HALF_TABLES_READY + DWORD * number)
    .op('i32.eqz');
  fn.if().call(fillFunction(module, number)).end();
  const places = code.temporary();
  code.push({ ...operand, type: 'i32' });
  if (!mode.in64 && code.denormals !== 'keep') flushDenormals(fn, 'f16');
  word(fn, RESULTS - 1);
  fn.op('v128.and').i32(1).op('i32x4.shl').set(places);
  const table = HALF_TABLES + number * HALF_TABLE_BYTES;
  for (const lane of [3, 2, 1, 0]) fn.get(places).lane('i32x4.extract_lane', lane);
  fn.v128(0, 0, 0, 0);
  for (const lane of [0, 1, 2, 3]) fn.memoryLane('v128.load16_lane', 2 * lane, table);
  return true;
}
