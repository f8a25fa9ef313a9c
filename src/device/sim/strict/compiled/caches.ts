// Compiled code looks at write-backs and invalidations of caches: a write-back is done when what is outstanding is, and its wavefront knows so from then on
// (WaveShadow.writeBack); an invalidation goes into the log of atomics (sync-log.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import {
  ENTRY_ACTOR,
  ENTRY_BYTES,
  ENTRY_INVALIDATE,
  ENTRY_KIND,
  SYNC_END,
  SYNC_IS_KEPT,
  SYNC_NEXT,
} from '../races/sync-log.ts';
import {
  HAS_FETCHED,
  HAS_MET,
  LOG_BACK,
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOGGED_BACK,
  LOGGED_VM,
  SHADOW_ACTOR,
  SHADOW_ANNOUNCES,
  SHADOW_INVALIDATED,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_VM,
  SHADOW_MET,
  SHADOW_SETTLED,
  SHADOW_STORES,
  SHADOW_SYNC,
  SHADOW_TOTAL,
  SHADOW_WRITE_BACK,
  SHADOW_WRITTEN_BACK,
} from '../registers/shadow-layout.ts';
import { pushHasLearnt, STATE_FIELDS } from './polls.ts';

/** A write-back is done: `push` leaves SHADOW_WRITE_BACK of it. */
export function noteWrittenBack(fn: WasmFunction, shadow: number, push: () => WasmFunction): void {
  const back = fn.local('i32');
  push();
  fn.set(back).get(shadow).get(back).memory('i32.store', SHADOW_WRITTEN_BACK);
  // The wavefront may know more than at the last barrier.
  fn.get(shadow).i32(-1).memory('i32.store', SHADOW_SETTLED);
  fn.get(shadow).memory('i32.load', SHADOW_WRITE_BACK).get(back).op('i32.eq').if();
  fn.get(shadow).i32(0).memory('i32.store', SHADOW_WRITE_BACK).end();
  fn.release('i32', back);
}

/** (shadow) → 1 when a write-back has been noted, 0 when TypeScript has to look. */
export function writeBackFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.caches.write', ['i32'], ['i32'], (fn) => {
    const shadow = 0;
    const [entry, back, kind] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const field = (at: number): WasmFunction => fn.get(shadow).memory('i32.load', at);
    field(SHADOW_TOTAL);
    field(SHADOW_LOGGED).op('i32.ne');
    field(SHADOW_ANNOUNCES).op('i32.or').if().i32(0).return().end();
    field(SHADOW_STORES).i32(1).op('i32.add').set(back);
    field(SHADOW_LOGGED_VM).op('i32.eqz').if();
    noteWrittenBack(fn, shadow, () => fn.get(back));
    fn.i32(1).return().end();
    field(SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add').set(entry);
    // The last one of vector memory.
    fn.loop();
    fn.get(entry).i32(LOG_ENTRY_BYTES).op('i32.sub').tee(entry);
    fn.memory('i32.load', SHADOW_LOG + LOG_KIND)
      .tee(kind)
      .i32(LOGGED_VM)
      .op('i32.and')
      .op('i32.eqz')
      .brIf(0);
    fn.end();
    fn.get(entry)
      .get(kind)
      .i32(LOGGED_BACK)
      .op('i32.or')
      .memory('i32.store', SHADOW_LOG + LOG_KIND);
    fn.get(entry)
      .get(back)
      .memory('i32.store', SHADOW_LOG + LOG_BACK);
    fn.get(shadow).get(back).memory('i32.store', SHADOW_WRITE_BACK);
    fn.i32(1);
  });
}

/** Leaves 1 where an invalidation is to be looked at (SHADOW_MET). */
function pushMayBeHandedOver(fn: WasmFunction, shadow: number): WasmFunction {
  return fn
    .get(shadow)
    .memory('i32.load', SHADOW_MET)
    .i32(HAS_MET | HAS_FETCHED)
    .op('i32.eq');
}

/**
 * Writes that an invalidation of caches is looked at, by `look` where compiled code does not do it; `waits`: the wavefront waits for others before it accesses memory, so that
 * what it knows is found there (waits-behind.ts).
 */
export function emitInvalidation(
  fn: WasmFunction,
  module: WasmModule,
  shadow: number,
  waits: boolean,
  look: () => void,
): void {
  pushHasLearnt(fn, shadow, SHADOW_INVALIDATED);
  if (!waits) pushMayBeHandedOver(fn, shadow).op('i32.or');
  fn.if();
  if (!waits) pushMayBeHandedOver(fn, shadow).if('i32').i32(0).else();
  fn.get(shadow).call(invalidateFunction(module));
  if (!waits) fn.end();
  fn.op('i32.eqz').if();
  look();
  fn.end().end();
}

/** (shadow) → 1 when an invalidation of caches is in the log of atomics, 0 when TypeScript has to look. */
function invalidateFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.caches.invalidate', ['i32'], ['i32'], (fn) => {
    const shadow = 0;
    const [head, entry] = [fn.local('i32'), fn.local('i32')];
    fn.get(shadow).memory('i32.load', SHADOW_SYNC).tee(head).memory('i32.load', SYNC_IS_KEPT).op('i32.eqz');
    fn.get(head).memory('i32.load', SYNC_NEXT).tee(entry).i32(ENTRY_BYTES).op('i32.add');
    fn.get(head).memory('i32.load', SYNC_END).op('i32.gt_u').op('i32.or').if().i32(0).return().end();
    fn.get(entry).i32(ENTRY_INVALIDATE).memory('i32.store', ENTRY_KIND);
    fn.get(entry).get(shadow).memory('i32.load', SHADOW_ACTOR).memory('i32.store', ENTRY_ACTOR);
    fn.get(head).get(entry).i32(ENTRY_BYTES).op('i32.add').memory('i32.store', SYNC_NEXT);
    for (const [n, at] of STATE_FIELDS.entries())
      fn.get(shadow)
        .get(head)
        .memory('i32.load', at)
        .memory('i32.store', SHADOW_INVALIDATED + 4 * n);
    fn.i32(1);
  });
}
