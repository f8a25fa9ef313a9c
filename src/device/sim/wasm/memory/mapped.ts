// Device memory that the limits table does not describe in one entry: allocations mapped outside the window, memory beyond it, and elements
// that cross a page. The address table of the thread names what was found last (state/address-table.ts); the device fills it.
import { ENTRIES, ENTRY_BYTES, ENTRY_DELTA, ENTRY_SIZE, ENTRY_START } from '../../state/address-table.ts';
import { NAMED } from '../../state/frames.ts';
import { FRAME, WAVE_ADDRESS_TABLE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';

/**
 * Index of the import `locate(low, high, write, bytes)`: 0 when there is no such memory, 1 when the address table names it now, or else where
 * `bytes` of it may be read or written once, before anything else is located. `bytes` 0 is what must be done in place: atomics.
 */
export function locateIndex(module: WasmModule): number {
  return module.importFunction('env', 'locate', ['i32', 'i32', 'i32', 'i32'], ['i32']);
}

/** (wave, address, bytes) -> offset in wasm memory of that many live bytes, or 0 when nothing that the table can name holds them all. */
export function locateFunction(module: WasmModule, write: boolean, inPlace = false): WasmFunction {
  const locate = locateIndex(module);
  const name = `memory.locate.${write ? 'store' : 'load'}${inPlace ? '.place' : ''}`;
  return module.helper(name, ['i32', 'i64', 'i32'], ['i32'], (fn) => {
    const [wave, address, bytes] = [0, 1, 2] as const;
    const half = ENTRIES / 2;
    const first = write ? half * ENTRY_BYTES : 0;
    const entry = fn.local('i32');
    const need = fn.local('i64');
    const size = fn.local('i64');
    const found = fn.local('i32');
    /** Leaves 1 when the entry holds the bytes. */
    const holds = (): void => {
      fn.get(entry)
        .memory('i64.load', first + ENTRY_SIZE)
        .get(need)
        .op('i64.sub')
        .set(size);
      fn.get(size).i64(0n).op('i64.ge_s');
      fn.get(address)
        .get(entry)
        .memory('i64.load', first + ENTRY_START)
        .op('i64.sub');
      fn.get(size).op('i64.le_u').op('i32.and');
    };
    fn.get(bytes).op('i64.extend_i32_u').set(need);
    fn.get(address)
      .i64(BigInt(Math.log2(FRAME)))
      .op('i64.shr_u')
      .op('i32.wrap_i64');
    fn.i32(half - 1)
      .op('i32.and')
      .i32(ENTRY_BYTES)
      .op('i32.mul');
    fn.get(wave).memory('i32.load', WAVE_ADDRESS_TABLE).op('i32.add').set(entry);
    holds();
    fn.op('i32.eqz').if();
    fn.get(address).op('i32.wrap_i64').get(address).i64(32n).op('i64.shr_u').op('i32.wrap_i64');
    fn.i32(write ? 1 : 0);
    if (inPlace) fn.i32(0);
    else fn.get(bytes);
    fn.call(locate).tee(found).i32(NAMED).op('i32.ne').if();
    fn.get(found).return().end();
    holds();
    fn.op('i32.eqz').if();
    fn.i32(0).return().end().end();
    fn.get(address)
      .op('i32.wrap_i64')
      .get(entry)
      .memory('i32.load', first + ENTRY_DELTA)
      .op('i32.add');
  });
}

/**
 * Index of the import `moveLanes(wave, register, wide, low, high, data, words)`: 1 when it has done a load or store (`words` negative) of the
 * active lanes, at the addresses in a register or a pair of them plus a 64-bit constant.
 */
export function moveLanesIndex(module: WasmModule): number {
  return module.importFunction('env', 'moveLanes', ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32']);
}
