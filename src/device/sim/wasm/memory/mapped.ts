// Device memory that the limits table does not describe in one entry: allocations mapped outside the window, and elements that cross
// a page. The allocation last found by a wave's loads, and by its stores, is remembered in the wave block.
import { WAVE_MAPPED, WAVE_MAPPED_BYTES } from '../../state/layout.ts';
import type { DeviceMemory } from '../../state/memory.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';

// Fields of a record: address and bytes of the allocation, and what makes an address an offset in wasm memory.
const START = 0;
const SIZE = 8;
const DELTA = 16;

/** Index of the import `locate(wave, low, high, write)`: fills the wave's record with the allocation at an address, or returns 0. */
export function locateIndex(module: WasmModule): number {
  return module.importFunction('env', 'locate', ['i32', 'i32', 'i32', 'i32'], ['i32']);
}

/** (wave, address) -> offset in wasm memory of `bytes` live bytes, or 0 when one allocation does not hold them all. */
export function locateFunction(module: WasmModule, bytes: number, write: boolean): WasmFunction {
  const locate = locateIndex(module);
  return module.helper(`memory.locate.${bytes}.${write ? 'store' : 'load'}`, ['i32', 'i64'], ['i32'], (fn) => {
    const [wave, address] = [0, 1] as const;
    const at = WAVE_MAPPED + (write ? WAVE_MAPPED_BYTES : 0);
    /** Leaves 1 when the record holds the bytes. */
    const holds = (): void => {
      fn.get(address)
        .get(wave)
        .memory('i64.load', at + START)
        .op('i64.sub');
      fn.get(wave)
        .memory('i64.load', at + SIZE)
        .i64(BigInt(bytes))
        .op('i64.sub')
        .op('i64.le_u');
      fn.get(wave)
        .memory('i64.load', at + SIZE)
        .i64(BigInt(bytes))
        .op('i64.ge_u')
        .op('i32.and');
    };
    holds();
    fn.op('i32.eqz').if();
    fn.get(wave).get(address).op('i32.wrap_i64').get(address).i64(32n).op('i64.shr_u').op('i32.wrap_i64');
    fn.i32(write ? 1 : 0)
      .call(locate)
      .op('i32.eqz')
      .if();
    fn.i32(0).return().end();
    holds();
    fn.op('i32.eqz').if();
    fn.i32(0).return().end().end();
    fn.get(address)
      .get(wave)
      .memory('i64.load', at + DELTA)
      .op('i64.add')
      .op('i32.wrap_i64');
  });
}

/** The import `locate`. Memory that is partly read-only is not located for stores. */
export function locateImport(memory: DeviceMemory): (wave: number, low: number, high: number, write: number) => number {
  let words = new BigUint64Array(memory.wasm.buffer);
  return (wave, low, high, write) => {
    const region = memory.find((high >>> 0) * 4294967296 + (low >>> 0), 1);
    if (region === undefined || (write !== 0 && region.readOnlyRanges.length > 0)) return 0;
    if (words.buffer !== memory.wasm.buffer) words = new BigUint64Array(memory.wasm.buffer);
    const at = (wave + WAVE_MAPPED + (write !== 0 ? WAVE_MAPPED_BYTES : 0)) / 8;
    words[at] = BigInt(region.base);
    words[at + 1] = BigInt(region.size);
    words[at + 2] = BigInt.asUintN(64, BigInt(region.offset) - BigInt(region.base));
    return 1;
  };
}
