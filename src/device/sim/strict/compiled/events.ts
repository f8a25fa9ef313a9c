// Compiled code takes events for the records of global memory, as RaceEvents does (race-events.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import {
  EVENT_BYTES,
  EVENT_EPOCH,
  EVENT_PC,
  EVENT_SHIFT,
  EVENT_STORE,
  EVENTS_AT,
  EVENTS_END,
  EVENTS_NEXT,
  EVENTS_RENUMBERED,
} from '../races/race-events.ts';
import { EVENTS_HEAD } from '../races/race-page.ts';
import {
  EVENT_SLOTS,
  SHADOW_ACTOR,
  SHADOW_ANNOUNCES,
  SHADOW_EPOCH,
  SHADOW_EVENTS,
  SHADOW_FIRST_EVENT,
  SHADOW_PAGES,
  SHADOW_RELEASES,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';

/** (the table's head, an event as its words) → the number of the event, 0 when the table is full. */
export function takeFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.event.take', ['i32', 'v128'], ['i32'], (fn) => {
    const [head, who] = [0, 1] as const;
    const event = fn.local('i32');
    fn.get(head).memory('i32.load', EVENTS_NEXT).tee(event).get(head).memory('i32.load', EVENTS_END);
    fn.op('i32.ge_u').if().i32(0).return().end();
    fn.get(head).get(event).i32(1).op('i32.add').memory('i32.store', EVENTS_NEXT);
    pushPlace(fn, head, event);
    fn.get(who).memory('v128.store').get(event);
  });
}

/** Leaves where an event is. */
function pushPlace(fn: WasmFunction, head: number, event: number): WasmFunction {
  return fn.get(event).i32(EVENT_BYTES).op('i32.mul').get(head).memory('i32.load', EVENTS_AT).op('i32.add');
}

/** (shadow, place in the image, for EVENT_STORE) → the number of the event that the wavefront accesses memory there now; 0 when the table is full. */
export function eventFunction(module: WasmModule): WasmFunction {
  const take = takeFunction(module);
  return module.helper('strict.event', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, pc, stores] = [0, 1, 2] as const;
    const [head, slot, event, who] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('v128')];
    pushHead(fn, shadow).set(head);
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).op('i32x4.splat');
    fn.get(pc).lane('i32x4.replace_lane', EVENT_PC);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).lane('i32x4.replace_lane', EVENT_EPOCH);
    fn.get(stores).lane('i32x4.replace_lane', EVENT_STORE).set(who);
    fn.get(pc)
      .i32(4 * (EVENT_SLOTS - 1))
      .op('i32.and')
      .get(shadow)
      .op('i32.add')
      .tee(slot);
    fn.memory('i32.load', SHADOW_EVENTS).set(event);
    // What the slot names may be another event by now, or none.
    pushPlace(fn, head, event).memory('v128.load').get(who).op('v128.xor').op('v128.any_true');
    code.if(() => {
      fn.get(slot).get(head).get(who).call(take).tee(event).memory('i32.store', SHADOW_EVENTS);
    });
    fn.get(event);
  });
}

/** Leaves how often the wavefront may have told other workgroups something (RegisterShadow.releases). */
export function pushReleases(fn: WasmFunction, shadow: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_STORES).get(shadow).memory('i32.load', SHADOW_ANNOUNCES).op('i32.and');
  return fn.get(shadow).memory('i32.load', SHADOW_RELEASES).op('i32.add');
}

/** Leaves the head of the table of events. */
export function pushHead(fn: WasmFunction, shadow: number): WasmFunction {
  return fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(EVENTS_HEAD).op('i32.add');
}

/**
 * Leaves a number that is above the words of records whose events are older than the wavefront: nothing of theirs is its own. 0 where that is not known by their
 * numbers.
 */
export function pushOlder(fn: WasmFunction, shadow: number): WasmFunction {
  fn.i32(0).get(shadow).memory('i32.load', SHADOW_FIRST_EVENT).i32(EVENT_SHIFT).op('i32.shl');
  return pushHead(fn, shadow).memory('i32.load', EVENTS_RENUMBERED).select();
}

/** Leaves where the events are. */
export function pushEvents(fn: WasmFunction, shadow: number): WasmFunction {
  return pushHead(fn, shadow).memory('i32.load', EVENTS_AT);
}

/** Leaves where the event is that a word of a record names; `events` is what pushEvents leaves. */
export function pushNamed(fn: WasmFunction, events: number, word: number): WasmFunction {
  fn.get(word)
    .i32(EVENT_SHIFT - Math.log2(EVENT_BYTES))
    .op('i32.shr_u');
  return fn.i32(-EVENT_BYTES).op('i32.and').get(events).op('i32.add');
}

/** As pushNamed, of the four words of a vector: leaves a vector. Event 0, which words of nobody name, is nobody's. */
export function pushNamedFour(fn: WasmFunction, events: number, words: number): WasmFunction {
  fn.get(words)
    .i32(EVENT_SHIFT - Math.log2(EVENT_BYTES))
    .op('i32x4.shr_u');
  fn.v128(-EVENT_BYTES, -EVENT_BYTES, -EVENT_BYTES, -EVENT_BYTES).op('v128.and');
  return fn.get(events).op('i32x4.splat').op('i32x4.add');
}

/** Leaves 1 when two actors (locals) are of one workgroup. */
export function pushIsSameGroup(fn: WasmFunction, a: number, b: number): WasmFunction {
  fn.get(a).i32(1).op('i32.sub').i32(4).op('i32.shr_u');
  return fn.get(b).i32(1).op('i32.sub').i32(4).op('i32.shr_u').op('i32.eq');
}
