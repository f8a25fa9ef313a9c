// Compiled code asks whether what a record names has been found to come before what the wavefront does (races/found-orders.ts): data that workgroups hand over to
// each other by flags or locks.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import {
  FOUND_ACTOR,
  FOUND_BYTES,
  FOUND_EPOCH,
  FOUND_FOR_LOADS,
  FOUND_FOR_STORES,
  FOUND_GROUP,
  FOUND_PLACES,
  FOUND_RELEASES,
  FOUND_STRIDE,
  FOUND_WAVE_STRIDE,
} from '../races/found-orders.ts';
import { BYTES, MANY_WAVES, MARKS } from '../races/race-details.ts';
import { EVENT_ACTOR, EVENT_EPOCH, EVENT_STORE } from '../races/race-events.ts';
import { SYNC_FOUND } from '../races/sync-log.ts';
import { SHADOW_ACTOR, SHADOW_SYNC } from '../registers/shadow-layout.ts';

/** (shadow, an actor) → where the entry of the wavefront's workgroup and the actor is; 0 where there is none. */
function entryFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.found.entry', ['i32', 'i32'], ['i32'], (fn) => {
    const [shadow, actor] = [0, 1] as const;
    const [at, group] = [fn.local('i32'), fn.local('i32')];
    fn.get(shadow).memory('i32.load', SHADOW_SYNC).memory('i32.load', SYNC_FOUND).tee(at).op('i32.eqz');
    fn.if().i32(0).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).i32(1).op('i32.sub').i32(4).op('i32.shr_u').tee(group);
    fn.i32(FOUND_STRIDE).op('i32.mul');
    const other = (): WasmFunction => fn.get(actor).i32(1).op('i32.sub');
    other().i32(2).op('i32.shr_s').i32(~3).op('i32.and').op('i32.add');
    other().i32(3).op('i32.and').op('i32.add');
    other().i32(2).op('i32.shr_u').i32(3).op('i32.and').i32(FOUND_WAVE_STRIDE).op('i32.mul').op('i32.add');
    fn.i32(FOUND_PLACES - 1)
      .op('i32.and')
      .i32(FOUND_BYTES)
      .op('i32.mul')
      .get(at)
      .op('i32.add')
      .set(at);
    fn.get(at).i32(0);
    fn.get(at).memory('i32.load', FOUND_GROUP).get(group).i32(1).op('i32.add').op('i32.eq');
    fn.get(at).memory('i32.load', FOUND_ACTOR).get(actor).op('i32.eq').op('i32.and').select();
  });
}

/**
 * (shadow, where an event is, the word of a record that names it) → 1 when it is of another workgroup and has been found to come before what the wavefront does: a
 * store or an atomic before its load, a plain store before its store, a read before its store.
 */
export function foundFunction(module: WasmModule, what: 'for loads' | 'for stores' | 'reads'): WasmFunction {
  const entry = entryFunction(module);
  return module.helper(`strict.found.${what.replace(' ', '.')}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, event, word] = [0, 1, 2] as const;
    const at = fn.local('i32');
    fn.get(shadow)
      .get(event)
      .memory('i32.load', 4 * EVENT_ACTOR)
      .call(entry)
      .tee(at)
      .op('i32.eqz');
    fn.if().i32(0).return().end();
    const pushNumber = (): WasmFunction => fn.get(event).memory('i32.load', 4 * EVENT_STORE);
    const pushEpoch = (): WasmFunction => fn.get(event).memory('i32.load', 4 * EVENT_EPOCH);
    if (what === 'reads') {
      pushEpoch().get(at).memory('i32.load', FOUND_EPOCH).op('i32.lt_u');
      pushEpoch().get(at).memory('i32.load', FOUND_EPOCH).op('i32.eq');
      pushNumber().get(at).memory('i32.load', FOUND_RELEASES).op('i32.lt_u').op('i32.and');
      fn.get(word).i32(MANY_WAVES).op('i32.and').op('i32.eqz').op('i32.and').op('i32.or');
      return;
    }
    pushNumber()
      .get(at)
      .memory('i32.load', what === 'for loads' ? FOUND_FOR_LOADS : FOUND_FOR_STORES)
      .op('i32.lt_u');
    if (what === 'for loads') return;
    fn.get(word)
      .i32(MARKS & ~BYTES)
      .op('i32.and')
      .op('i32.eqz')
      .op('i32.and');
  });
}

/** (shadow) → 1 when the wavefront's workgroup has learnt something of others (Synchronisation.isActive). */
export function hasLearntFunction(module: WasmModule): WasmFunction {
  const entry = entryFunction(module);
  return module.helper('strict.found.active', ['i32'], ['i32'], (fn) => {
    const at = fn.local('i32');
    fn.get(0).i32(0).call(entry).tee(at).op('i32.eqz').if().i32(0).return().end();
    fn.get(at).memory('i32.load', FOUND_FOR_LOADS);
  });
}
