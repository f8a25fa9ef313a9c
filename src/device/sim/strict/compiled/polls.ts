// Compiled code looks at loads with device scope by which one lane waits for others: as long as nobody has stored to what it reads, they find what the last one
// has found; where TypeScript has looked at that one (AccessChecks.notePoll), also only as long as the workgroup has learnt nothing new.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { HOLDS, LOGGED, PAGE, PAGE_DETAILS, RECORD_BYTES } from '../races/race-details.ts';
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
} from '../registers/shadow-layout.ts';
import { pushHead } from './events.ts';
import { RECORD_SHIFT, TO_WRITER } from './records.ts';
import { pushIsEarly } from './update-quads.ts';

const PAGE_BYTES = 4 * PAGE;

/**
 * In POLL_PC, where what has been found holds for all loads with device scope as long as the same ones have written the dwords last, whoever learns what: POLL_STATE is
 * SYNC_EARLY then. AccessChecks.notePoll has the place in the image there, and one.
 */
const OF_WRITERS = -1;
/** In POLL_SECOND: no word of a record. */
const NOT_LOOKED_AT = -1;

/** Of one lane's load of so many bytes, in a function of (shadow, an entry of the log of atomics with the lanes of the load). */
class Poll {
  readonly fn: WasmFunction;
  private readonly bytes: number;
  private readonly shadow = 0;
  private readonly entry = 1;
  /** Where the lane's bytes are in wasm memory. */
  readonly at: number;
  private readonly page: number;
  private readonly cell: number;
  private readonly leave: () => void;

  /** `leave` takes an i32, and leaves when it is not 0. */
  constructor(fn: WasmFunction, bytes: number, leave: () => void) {
    [this.fn, this.bytes, this.leave] = [fn, bytes, leave];
    [this.at, this.page, this.cell] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
  }

  known(field: number): WasmFunction {
    return this.fn.get(this.shadow).memory('i32.load', SHADOW_POLL + field);
  }

  put(field: number, push: () => WasmFunction): void {
    this.fn.get(this.shadow);
    push().memory('i32.store', SHADOW_POLL + field);
  }

  /** Sets `at`; leaves where not one lane loads. */
  find(): void {
    const { fn, entry, at } = this;
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.popcnt').i64(1n).op('i64.ne');
    this.leave();
    fn.get(entry).memory('i64.load', ENTRY_LANES).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl');
    fn.get(entry).op('i32.add').memory('i32.load', ENTRY_ADDRESSES).set(at);
  }

  /** Finds the records of the dwords; leaves where compiled code does not see them, or events have been given other numbers. */
  open(): void {
    const { fn, shadow, at, page, cell } = this;
    pushHead(fn, shadow).memory('i32.load', EVENTS_RENUMBERED);
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page);
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u').op('i32.or');
    this.leave();
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add').memory('i32.load');
    fn.tee(page).op('i32.eqz');
    this.leave();
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .i32(~HOLDS)
      .op('i32.and')
      .tee(cell)
      .i32(LOGGED)
      .op('i32.le_u');
    this.leave();
    fn.get(at)
      .i32(PAGE_BYTES - 4)
      .op('i32.and')
      .i32(RECORD_SHIFT)
      .op('i32.shl')
      .get(cell)
      .op('i32.add')
      .set(cell);
    if (this.bytes === 4) return;
    fn.get(at)
      .i32(PAGE_BYTES - 1)
      .op('i32.and')
      .i32(PAGE_BYTES - this.bytes)
      .op('i32.gt_u');
    this.leave();
  }

  /** Leaves the word of the writer of a dword. */
  writer(dword: number): WasmFunction {
    return this.fn.get(this.cell).memory('i32.load', TO_WRITER + dword * RECORD_BYTES);
  }
}

/** (shadow, an entry of the log of atomics with the lanes of a load, place in the image) → 1 when the load finds what the last such one has found, 0 when somebody has to look. */
export function pollFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.poll.${bytes}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const leave = (): void => {
      fn.if().i32(0).return().end();
    };
    const poll = new Poll(fn, bytes, leave);
    const pc = 2;
    const isOfWriters = fn.local('i32');
    poll.known(POLL_PC).i32(OF_WRITERS).op('i32.eq').tee(isOfWriters);
    poll.known(POLL_PC).get(pc).i32(1).op('i32.add').op('i32.eq').op('i32.or').op('i32.eqz');
    leave();
    poll.find();
    poll.known(POLL_AT).get(poll.at).op('i32.ne');
    leave();
    poll.known(POLL_STATE);
    pushIsEarly(fn, 0).op('i32.ne');
    pushHasLearnt(fn, 0, SHADOW_POLL + POLL_STATE);
    fn.get(isOfWriters).select();
    leave();
    poll.open();
    poll.writer(0);
    poll.known(POLL_WORD).op('i32.eq');
    if (bytes === 8) {
      poll.writer(1);
      poll.known(POLL_SECOND).op('i32.eq').op('i32.and');
    }
  });
}

/**
 * (shadow, an entry of the log of atomics with the lanes of a load): what the load finds has been written by nobody in the dispatch, by atomics, or
 * with device scope where nobody has told anything too early, and is looked at. Where one lane loads, the next one need not be as long as nobody else writes: it learns nothing more.
 */
export function notePolledFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.poll.note.${bytes}`, ['i32', 'i32'], [], (fn) => {
    const poll = new Poll(fn, bytes, () => {
      fn.if().return().end();
    });
    poll.put(POLL_PC, () => fn.i32(0));
    poll.find();
    poll.open();
    poll.put(POLL_PC, () => fn.i32(OF_WRITERS));
    poll.put(POLL_AT, () => fn.get(poll.at));
    poll.put(POLL_STATE, () => pushIsEarly(fn, 0));
    poll.put(POLL_WORD, () => poll.writer(0));
    poll.put(POLL_SECOND, () => (bytes === 8 ? poll.writer(1) : fn.i32(NOT_LOOKED_AT)));
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
