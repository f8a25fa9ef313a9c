// Compiled code finds that no two lanes of a store have the same address where these are those of a tile: rows of lanes that ascend in equal steps, and begin equally far from
// each other, such as the columns of a padded tile.
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { splat4 } from '../../wasm/lanes.ts';
import { Code } from '../../wasm/memory/code.ts';

const DWORD = 4;
/** Lanes of a row. */
const LEAST_ROW = 8;

/** (address of a register) → 1 when its words, of all lanes, are rows of 8, 16 or 32 lanes as said above, and no two are the same. */
export function rowsApartFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.rows.apart', ['i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const register = 0;
    const [step, row, next, distance, left] = [0, 1, 2, 3, 4].map(() => fn.local('i32')) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const [steps, fails] = [fn.local('v128'), fn.local('v128')] as const;
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const word = (lane: number): WasmFunction => fn.get(register).memory('i32.load', DWORD * lane);
    const isRowEnd = (lane: number): WasmFunction => {
      word(lane);
      return word(lane - 1)
        .op('i32.sub')
        .get(step)
        .op('i32.ne');
    };
    word(1);
    word(0).op('i32.sub').tee(step).i32(1).op('i32.lt_s');
    leave();
    fn.i32(LEAST_ROW)
      .i32(2 * LEAST_ROW)
      .i32(4 * LEAST_ROW);
    isRowEnd(2 * LEAST_ROW).select();
    isRowEnd(LEAST_ROW).select().set(row);
    fn.get(step).op('i32x4.splat').set(steps);
    for (let lane = 0; lane < LANES; lane += 4) {
      const at = Math.min(lane, LANES - 5);
      fn.get(register)
        .memory('v128.load', DWORD * at + DWORD)
        .get(register)
        .memory('v128.load', DWORD * at);
      fn.op('i32x4.sub').get(steps).op('v128.xor');
      // The step from the last of these four lanes to the next one may be one to the next row.
      const end = at + 4;
      if (end % LEAST_ROW === 0) {
        fn.v128(-1, -1, -1, 0).v128(...splat4(-1));
        fn.i32(end).get(row).op('i32.rem_u').op('i32.eqz').op('i32x4.splat').v128(0, 0, 0, 0);
        fn.op('i32x4.ne').op('v128.bitselect').op('v128.and');
      }
      if (lane > 0) fn.get(fails).op('v128.or');
      fn.set(fails);
    }
    fn.get(fails).op('v128.any_true');
    leave();
    // All rows begin as far behind the one before as the second does.
    const pushFirst = (of: number): WasmFunction =>
      fn.get(of).i32(2).op('i32.shl').get(register).op('i32.add').memory('i32.load');
    pushFirst(row);
    word(0).op('i32.sub').set(distance);
    fn.get(row).set(next);
    code.loop((again) => {
      pushFirst(next);
      fn.get(next).get(row).op('i32.div_u').get(distance).op('i32.mul');
      word(0).op('i32.add').op('i32.ne');
      leave();
      fn.get(next).get(row).op('i32.add').tee(next).i32(LANES).op('i32.lt_u');
      code.brIf(again);
    });
    // Two rows meet where one begins at a lane of the other.
    fn.get(distance).i32(0).get(distance).op('i32.sub').get(distance).i32(0).op('i32.gt_s').select().set(distance);
    fn.i32(LANES).get(row).op('i32.div_u').i32(1).op('i32.sub').set(left);
    fn.get(distance).set(next);
    code.loop((again) => {
      fn.get(next).get(step).op('i32.rem_u').op('i32.eqz');
      fn.get(next).get(step).op('i32.div_u').get(row).op('i32.lt_u').op('i32.and');
      leave();
      fn.get(next).get(distance).op('i32.add').set(next);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.i32(1);
  });
}
