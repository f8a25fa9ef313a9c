// Compiled code looks at loads with device scope by which one lane waits for others: as long as nobody has stored to what it reads, and its workgroup has
// learnt nothing new, they find what the last one has found, at which TypeScript has looked (AccessChecks.notePoll).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { HOLDS, PAGE, PAGE_DETAILS, RECORD_BYTES } from '../races/race-details.ts';
import { EVENTS_RENUMBERED } from '../races/race-events.ts';
import { ENTRY_ADDRESSES, ENTRY_LANES, SYNC_CHANGES, SYNC_NEWS } from '../races/sync-log.ts';
import {
  POLL_AT,
  POLL_PC,
  POLL_SECOND,
  POLL_STATE,
  POLL_WORD,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_POLL,
  SHADOW_SYNC,
} from '../registers/registers.ts';
import { pushHead } from './events.ts';
import { RECORD_SHIFT, TO_WRITER } from './records.ts';

const PAGE_BYTES = 4 * PAGE;

/** (shadow, an entry of the log of atomics with the lanes of a load, place in the image) → 1 when the load finds what the last one has found, 0 when TypeScript has to look. */
export function pollFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.poll.${bytes}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, entry, pc] = [0, 1, 2] as const;
    const [at, page, cell] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const known = (field: number): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_POLL + field);
    known(POLL_PC).get(pc).i32(1).op('i32.add').op('i32.ne');
    leave();
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.popcnt').i64(1n).op('i64.ne');
    leave();
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl');
    fn.get(entry).op('i32.add').memory('i32.load', ENTRY_ADDRESSES).tee(at);
    known(POLL_AT).op('i32.ne');
    leave();
    pushHasLearnt(fn, shadow, SHADOW_POLL + POLL_STATE);
    leave();
    pushHead(fn, shadow).memory('i32.load', EVENTS_RENUMBERED);
    leave();
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page);
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add').memory('i32.load');
    fn.tee(page).op('i32.eqz');
    leave();
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .i32(~HOLDS)
      .op('i32.and')
      .tee(cell)
      .op('i32.eqz');
    leave();
    fn.get(at)
      .i32(PAGE_BYTES - 4)
      .op('i32.and')
      .i32(RECORD_SHIFT)
      .op('i32.shl')
      .get(cell)
      .op('i32.add')
      .tee(cell);
    fn.memory('i32.load', TO_WRITER);
    known(POLL_WORD).op('i32.eq');
    if (bytes === 8) {
      fn.get(cell).memory('i32.load', TO_WRITER + RECORD_BYTES);
      known(POLL_SECOND).op('i32.eq').op('i32.and');
    }
  });
}

/**
 * (shadow, an entry of the log of atomics with the lanes of a load, place in the image) → 1 when one lane looks at what it has looked at last, and 0 where it has
 * not: it is remembered that it has.
 */
export function isAgainFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.poll.again', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, entry, pc] = [0, 1, 2] as const;
    const at = fn.local('i32');
    const known = (field: number): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_POLL + field);
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.popcnt').i64(1n).op('i64.ne').if().i32(0).return().end();
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl');
    fn.get(entry).op('i32.add').memory('i32.load', ENTRY_ADDRESSES).set(at);
    known(POLL_PC).get(pc).i32(1).op('i32.add').op('i32.eq');
    known(POLL_AT).get(at).op('i32.eq').op('i32.and').if().i32(1).return().end();
    fn.get(shadow)
      .get(pc)
      .i32(1)
      .op('i32.add')
      .memory('i32.store', SHADOW_POLL + POLL_PC);
    fn.get(shadow)
      .get(at)
      .memory('i32.store', SHADOW_POLL + POLL_AT);
    fn.i32(0);
  });
}

/** Of the head of the log of atomics: SyncLog.state. */
export const STATE_FIELDS = [SYNC_NEWS, SYNC_CHANGES] as const;

/** Leaves 1 where somebody may have learnt something since the log of atomics was as two words of the shadow say (SyncLog.state). */
export function pushHasLearnt(fn: WasmFunction, shadow: number, state: number): WasmFunction {
  for (const [n, field] of STATE_FIELDS.entries()) {
    fn.get(shadow).memory('i32.load', SHADOW_SYNC).memory('i32.load', field);
    fn.get(shadow)
      .memory('i32.load', state + 4 * n)
      .op('i32.ne');
    if (n > 0) fn.op('i32.or');
  }
  return fn;
}
