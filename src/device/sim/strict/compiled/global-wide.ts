// Records of dwords (race-details.ts) of elements of several dwords: most are accessed as a whole, and their dwords have the same words then.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { RECORD_BYTES } from '../races/race-details.ts';
import { FourPlaces } from './four.ts';

const DWORD = 4;

/** Where the records of an element of so many bytes are to be read or written 16 bytes at a time: of three dwords those of the middle one twice. */
const placesOf = (bytes: number): readonly number[] =>
  bytes === 8 ? [0] : bytes === 12 ? [0, RECORD_BYTES] : [0, 2 * RECORD_BYTES];

/** (where the records of the first dwords of four elements are) → 1 when all dwords of each have the same words. */
export function areUniformFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.uniform.${bytes / DWORD}`, ['v128'], ['i32'], (fn) => {
    const four = new FourPlaces(fn);
    const first = fn.local('v128');
    four.set(0);
    four.each((at, lane) => {
      fn.get(at).memory('v128.load64_splat').set(first);
      for (const [n, place] of placesOf(bytes).entries()) {
        fn.get(at).memory('v128.load', place).get(first).op('v128.xor');
        if (lane > 0 || n > 0) fn.op('v128.or');
      }
    });
    fn.op('v128.any_true').op('i32.eqz');
  });
}

/** (where the records of the first dwords of four elements are, words): all dwords of each have its word, at so many bytes behind that of their readers. */
export function putWideFunction(module: WasmModule, bytes: number, offset: number): WasmFunction {
  return module.helper(`strict.wide.${bytes / DWORD}.${offset}`, ['v128', 'v128'], [], (fn) => {
    const [places, words] = [0, 1] as const;
    const four = new FourPlaces(fn);
    const next = fn.local('v128');
    four.set(places);
    four.each((at, lane) => {
      fn.get(words).get(words).shuffle32(lane, lane, lane, lane).get(at).memory('v128.load64_splat');
      if (offset === 0) fn.v128(-1, 0, -1, 0);
      else fn.v128(0, -1, 0, -1);
      fn.op('v128.bitselect').set(next);
      for (const place of placesOf(bytes)) fn.get(at).get(next).memory('v128.store', place);
    });
  });
}
