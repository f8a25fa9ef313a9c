// Compiled code notes four lanes at a time that store parts of dwords of global memory where values say, in pages whose details (race-details.ts) have
// no readers: several wavefronts may have bytes of one dword.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { TO_WRITER } from './compiled-details.ts';
import { pushEvents, pushNamedFour } from './compiled-events.ts';
import { FourPlaces } from './compiled-four.ts';
import { BYTES, MARKS } from './race-details.ts';
import { EVENT_ACTOR } from './race-events.ts';
import { SHADOW_ACTOR } from './registers.ts';

/** The bytes of an element by the place of its first one in a dword; elements do not go on in the next one. */
const MASKS = (bytes: number): number => (bytes === 1 ? 0x08040201 : 0x000c0003);

/**
 * (shadow, offsets in wasm memory of four elements that are no two the same, where the readers' words of their dwords are, the event of the store as it
 * is in a word of a record) → 1 when nobody has stored to the elements, and the store is noted; 0 when nothing is.
 */
export function storePartsFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.parts.${bytes}`, ['i32', 'v128', 'v128', 'v128'], ['i32'], (fn) => {
    const [shadow, offsets, places, mine] = [0, 1, 2, 3] as const;
    const vector = (): number => fn.local('v128');
    const [masks, words, named, next] = [vector(), vector(), vector(), vector()] as const;
    const [four, events] = [new FourPlaces(fn), fn.local('i32')];
    const splat = (n: number): WasmFunction => fn.v128(n, n, n, n);
    fn.v128(MASKS(bytes), 0, 0, 0).get(offsets);
    splat(3);
    fn.op('v128.and').op('i8x16.swizzle');
    splat(BYTES);
    fn.op('v128.and').set(masks);
    four.set(places);
    four.gather(words, TO_WRITER);
    fn.get(words).get(masks);
    splat(MARKS & ~BYTES);
    fn.op('v128.or').op('v128.and').op('v128.any_true').if().i32(0).return().end();
    // What another wavefront has written of a dword is no longer its own.
    fn.get(words).op('v128.any_true').if();
    pushEvents(fn, shadow).set(events);
    pushNamedFour(fn, events, words).set(named);
    four.set(named);
    four.gather(next, 4 * EVENT_ACTOR);
    fn.get(next).get(shadow).memory('v128.load32_splat', SHADOW_ACTOR).op('i32x4.eq');
    splat(BYTES);
    fn.op('v128.and').get(words).op('v128.and').get(masks).op('v128.or').set(masks);
    four.set(places);
    fn.end();
    fn.get(masks).get(mine).op('v128.or').set(next);
    four.put(next, TO_WRITER);
    // Lanes of one dword have stored each its own bytes.
    fn.get(places).get(places).get(places).shuffle32(1, 2, 3, 0).op('i32x4.eq');
    fn.get(places).get(places).get(places).shuffle32(2, 3, 0, 1).op('i32x4.eq').op('v128.or').op('v128.any_true').if();
    four.each((place, lane) => {
      fn.get(place).get(place).memory('i32.load', TO_WRITER);
      fn.get(next).lane('i32x4.extract_lane', lane).op('i32.or').memory('i32.store', TO_WRITER);
    });
    fn.end();
    fn.i32(1);
  });
}
