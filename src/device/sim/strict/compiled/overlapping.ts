// Compiled code notes a load of a whole wavefront at once whose elements overlap the same distance apart, as compilers load two neighbours of 16 bits as one
// dword: they are one run of bytes together.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { progressionFunction } from '../../wasm/memory/index.ts';
import { pageFunction } from './pages.ts';

const DWORD = 4;
const LANES = 64;

/** Leaves what lies between the first two lanes of a register (a local with its address). */
function pushStep(fn: WasmFunction, register: number): WasmFunction {
  return fn.get(register).memory('i32.load', DWORD).get(register).memory('i32.load').op('i32.sub');
}

/** Leaves 1 when the first two lanes of a register overlap, with elements of so many bytes. */
export function pushMayOverlap(fn: WasmFunction, register: number, bytes: number): WasmFunction {
  pushStep(fn, register).i32(1).op('i32.sub');
  return fn.i32(bytes - 1).op('i32.lt_u');
}

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → 1 when 64 lanes load elements of so many bytes at these offsets in wasm
 * memory that ascend in the equal steps of which pushMayOverlap has found the first, and are noted; 0 when they are to be looked at otherwise.
 */
export function overlappingFunction(module: WasmModule, bytes: number): WasmFunction {
  const progression = progressionFunction(module, false);
  const pages = pageFunction(module, 'load');
  return module.helper(`strict.overlapping.${bytes}`, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const step = fn.local('i32');
    pushStep(fn, register).set(step).get(register).get(step).call(progression);
    fn.op('i32.eqz').if().i32(0).return().end();
    fn.get(shadow).get(register).memory('i32.load').get(start).op('i32.add');
    fn.get(step)
      .i32(LANES - 1)
      .op('i32.mul')
      .i32(bytes)
      .op('i32.add');
    fn.get(pc).call(pages);
  });
}
