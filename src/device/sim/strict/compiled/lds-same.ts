// Stores to LDS of what is there already: compilers let several wavefronts store the same values, which no order can change (Triton does
// where a layout repeats data). Compiled code compares the data with LDS when another wavefront has touched the bytes.
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { ldsSameFunction } from './lds.ts';

const VGPR_BYTES = 4 * LANES;

/** What a store moves: bytes of a lane, and whether they are of the upper half of its register. */
export interface Stored {
  readonly bytes: number;
  readonly isHigh: boolean;
}

/**
 * (shadow, address of the data register or 0, 4 × the first lane, its first piece, lanes, their pieces, place of the first byte, of the LDS, place in the image) → 1 when lanes
 * that follow each other store what LDS holds, and that is noted; 0 when TypeScript has to look.
 */
export function sameFunction(module: WasmModule, { bytes, isHigh }: Stored): WasmFunction {
  const size = Math.min(4, bytes);
  const name = `strict.lds.same.${bytes}${isHigh ? '.high' : ''}`;
  const parameters = Array.from({ length: 9 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, data, lane, piece, lanes, pieces, at, base, pc] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
    const left = fn.local('i32');
    const step = (local: number, by: number): WasmFunction => fn.get(local).i32(by).op('i32.add').set(local);
    fn.get(data).op('i32.eqz').if().i32(0).return().end();
    fn.get(data).get(lane).op('i32.add').get(piece).i32(VGPR_BYTES).op('i32.mul').op('i32.add').set(lane);
    code.loop((nextLane) => {
      fn.get(lane).set(data).get(pieces).set(left);
      code.loop((nextPiece) => {
        fn.get(data).memory(size === 4 ? 'i32.load' : size === 2 ? 'i32.load16_u' : 'i32.load8_u', isHigh ? 2 : 0);
        fn.get(at).memory(size === 4 ? 'i32.load' : size === 2 ? 'i32.load16_u' : 'i32.load8_u');
        fn.op('i32.ne').if().i32(0).return().end();
        fn.get(shadow).get(at).get(base).op('i32.sub').i32(size).get(pc).call(ldsSameFunction(module));
        fn.op('i32.eqz').if().i32(0).return().end();
        step(data, VGPR_BYTES);
        step(at, size);
        step(left, -1).get(left);
        code.brIf(nextPiece);
      });
      step(lane, 4);
      step(lanes, -1).get(lanes);
      code.brIf(nextLane);
    });
    fn.i32(1);
  });
}
