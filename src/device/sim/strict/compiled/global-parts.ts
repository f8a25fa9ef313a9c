// Compiled code notes four lanes at a time that access parts of dwords of global memory where values say: several wavefronts may have bytes of one dword.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { BYTES, MANY_GROUPS_SHIFT, MANY_WAVES, MARKS } from '../races/race-details.ts';
import { FourPlaces } from './four.ts';
import { FourRecords } from './global-before.ts';
import { TO_WRITER } from './records.ts';

/** The bytes of an element by the place of its first one in a dword; elements do not go on in the next one. */
const MASKS = (bytes: number): number => (bytes === 1 ? 0x08040201 : 0x000c0003);

/** Leaves the bytes of the dwords that elements of so many bytes at the offsets in a vector have. */
export function pushMasks(fn: WasmFunction, offsets: number, bytes: number): WasmFunction {
  fn.v128(MASKS(bytes), 0, 0, 0).get(offsets).v128(3, 3, 3, 3);
  return fn.op('v128.and').op('i8x16.swizzle').v128(BYTES, BYTES, BYTES, BYTES).op('v128.and');
}

/** Leaves the words of records that have some of the bytes, 0 for the others. */
export function pushTouched(fn: WasmFunction, words: number, masks: number): WasmFunction {
  return fn.get(words).get(words).get(masks).op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op('v128.and');
}

/** Leaves all ones for words of a vector that are also in the lane behind, or in the one behind that: where no two are the same, none are. */
function pushShared(fn: WasmFunction, words: number): WasmFunction {
  fn.get(words).get(words).get(words).shuffle32(1, 2, 3, 0).op('i32x4.eq');
  return fn.get(words).get(words).get(words).shuffle32(2, 3, 0, 1).op('i32x4.eq').op('v128.or');
}

/**
 * (shadow, where the readers' words of the dwords of four elements are, their bytes, the event of the store as it is in a word of a record, what pushOlder leaves,
 * in all lanes) → 1 when nobody has to do with the elements, or all that has comes before the store, and the store is noted; 0 when nothing is. With `seesLanes` also 0 when two elements
 * are the same. Of a store that `leavesMemory` as it is, who has stored before does not matter.
 */
export function storePartsFunction(module: WasmModule, seesLanes: boolean, leavesMemory = false): WasmFunction {
  const name = `strict.parts${seesLanes ? '' : leavesMemory ? '.unchanged' : '.some'}`;
  return module.helper(name, ['i32', 'v128', 'v128', 'v128', 'v128'], ['i32'], (fn) => {
    const [places, masks, mine, older] = [1, 2, 3, 4] as const;
    const vector = (): number => fn.local('v128');
    const [readers, writers, touched] = [vector(), vector(), vector()] as const;
    const four = new FourPlaces(fn);
    const records = new FourRecords(fn);
    const isShared = fn.local('i32');
    pushShared(fn, places).op('v128.any_true').set(isShared);
    if (seesLanes) {
      fn.get(isShared).if();
      for (const vector of [places, masks]) {
        fn.get(vector).get(vector).get(vector).shuffle32(1, 2, 3, 0).op('i32x4.eq');
        if (vector === masks) fn.op('v128.and');
      }
      for (const vector of [places, masks]) {
        fn.get(vector).get(vector).get(vector).shuffle32(2, 3, 0, 1).op('i32x4.eq');
        if (vector === masks) fn.op('v128.and');
      }
      fn.op('v128.or').op('v128.any_true').if().i32(0).return().end().end();
    }
    /** Leaves where a writer does not come before the store. */
    const leaveUnlessBehind = (): void => {
      // Marks are only looked for where there is one, or one of the bytes.
      fn.get(masks);
      records.splat(MARKS & ~BYTES);
      fn.op('v128.or').get(writers).op('v128.and').op('v128.any_true').if();
      fn.get(writers);
      records.splat(MARKS & ~BYTES);
      fn.op('v128.and').op('v128.any_true').if().i32(0).return().end();
      pushTouched(fn, writers, masks).set(touched);
      records.pushIsNobody(touched);
      records.pushIsBefore(touched);
      // Another lane of the same store.
      fn.get(touched).get(mine).op('v128.xor');
      records.splat(MARKS);
      fn.op('i32x4.gt_u').op('v128.and').op('v128.or');
      records.leaveUnlessAll();
      fn.end();
    };
    four.set(places);
    four.gatherPairs(readers, writers);
    fn.get(readers).op('v128.any_true').if();
    fn.get(readers).i32(MANY_GROUPS_SHIFT).op('i32x4.shr_u').get(masks).op('v128.and');
    fn.op('v128.any_true').if().i32(0).return().end();
    pushTouched(fn, readers, masks).tee(touched).op('v128.any_true').if();
    records.pushIsNobody(touched);
    records.pushIsBefore(touched);
    records.pushLacks(touched, MANY_WAVES).get(records.now).op('v128.not').op('v128.or').op('v128.and').op('v128.or');
    records.leaveUnlessAll();
    fn.end().end();
    fn.get(writers).op('v128.any_true').if();
    // Lanes beside each other mostly find what their wavefront has written; where values say, they do not.
    fn.get(isShared).if('i32');
    records.pushIsOneOwn(writers, mine).else().i32(0).end().if();
    // What it has written of a dword stays its own.
    fn.get(writers);
    records.splat(BYTES);
    fn.op('v128.and').get(masks).op('v128.or').set(masks).else();
    if (!leavesMemory) leaveUnlessBehind();
    // What another wavefront has written of a dword is no longer its own.
    fn.get(older).get(writers).op('i32x4.gt_u').op('i32x4.all_true').op('i32.eqz').if();
    records.pushIsOwn(writers).get(writers).op('v128.and');
    records.splat(BYTES);
    fn.op('v128.and').get(masks).op('v128.or').set(masks);
    fn.end().end().end();
    fn.get(masks).get(mine).op('v128.or').set(masks);
    joinParts(fn, places, masks, () => fn.get(isShared));
    four.put(masks, TO_WRITER);
    fn.i32(1);
  });
}

/** (where the readers' words of four dwords are, words): they have these words, at so many bytes behind that of their readers. */
export function putPartsFunction(module: WasmModule, offset: number): WasmFunction {
  return module.helper(`strict.parts.put.${offset}`, ['v128', 'v128'], [], (fn) => {
    const [places, words] = [0, 1] as const;
    const four = new FourPlaces(fn);
    four.set(places);
    joinParts(fn, places, words, () => pushShared(fn, places).op('v128.any_true'));
    four.put(words, offset);
  });
}

/** Of lanes at one place the words come together, which have the same event: `pushIsShared` leaves whether there are some. */
function joinParts(fn: WasmFunction, places: number, words: number, pushIsShared: () => WasmFunction): void {
  const turn = (vector: number, by: number): WasmFunction => {
    const lanes = [0, 1, 2, 3].map((lane) => (lane + by) & 3) as [number, number, number, number];
    return fn
      .get(vector)
      .get(vector)
      .shuffle32(...lanes);
  };
  pushIsShared().if();
  fn.get(words);
  for (const by of [1, 2, 3]) {
    turn(places, by).get(places).op('i32x4.eq');
    turn(words, by).op('v128.and').op('v128.or');
  }
  fn.set(words).end();
}
