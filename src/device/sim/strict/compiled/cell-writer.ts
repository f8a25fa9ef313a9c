// Notes one access in the records of a dword, or of four that have the same, as RaceDetails does (race-details.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import type { Code } from '../../wasm/memory/code.ts';
import {
  ATOMIC_WRITE,
  BYTES,
  HOLDS_READS,
  HOLDS_STORES,
  MANY_GROUPS,
  MANY_GROUPS_SHIFT,
  MANY_UPDATE_GROUPS,
  MANY_UPDATE_WAVES,
  MANY_WAVES,
  MARKS,
  PAGE,
  PAGE_DETAILS,
  STORED,
  UPDATE,
} from '../races/race-details.ts';
import {
  EVENT_ACTOR,
  EVENT_EPOCH,
  EVENT_PC,
  EVENT_SHIFT,
  EVENTS_KNOWN,
  EVENTS_KNOWN_READS,
} from '../races/race-events.ts';
import { FROZEN } from '../races/race-page.ts';
import { AHEAD_SLOTS, STORED_BYTES, STORED_SLOTS, SYNC_AHEAD, SYNC_STORED } from '../races/sync-log.ts';
import {
  HAS_LOOKED_AHEAD,
  SHADOW_ACTOR,
  SHADOW_AHEAD,
  SHADOW_EPOCH,
  SHADOW_PAGES,
  SHADOW_STORES,
  SHADOW_SYNC,
} from '../registers/shadow-layout.ts';
import { fourReadsFunction, fourStoresFunction } from './details-four.ts';
import { pushEvents, pushHead, pushIsSameGroup, pushNamed, pushReleases } from './events.ts';
import { foundFunction, hasLearntFunction } from './found.ts';
import { type GlobalAccess, setDetails, TO_WRITER } from './records.ts';

const DWORD = 4;

/** Leaves 1 where a place of the image (a local) is in a table of so many places in the head of the log (sync-log.ts). */
export function pushIsNoted(
  fn: WasmFunction,
  shadow: number,
  place: number,
  table: number,
  slots: number,
): WasmFunction {
  fn.get(place)
    .i32(4 * (slots - 1))
    .op('i32.and');
  fn.get(shadow).memory('i32.load', SHADOW_SYNC).op('i32.add').memory('i32.load', table);
  return fn.get(place).op('i32.eq');
}

/** Leaves 1 where the load at a place of the image (a local) is known to be one that may look ahead of atomics (SyncLog.setAhead). */
export const pushMayLookAhead = (fn: WasmFunction, shadow: number, place: number): WasmFunction =>
  pushIsNoted(fn, shadow, place, SYNC_AHEAD, AHEAD_SLOTS);

/** Where the parts of an access are, as locals: `at` the first byte, `mask` a nibble, `written` the bits of the page's written bytes or 0. */
export interface CellLocals {
  readonly shadow: number;
  readonly actor: number;
  readonly epoch: number;
  readonly pc: number;
  /** Where the events are. */
  readonly events: number;
  /** What a reader's word has of MANY_GROUPS where the word stays as it is (frozenReader). */
  readonly frozen: number;
  /** EVENTS_KNOWN_READS and EVENTS_KNOWN of race-events.ts. */
  readonly knownReads: number;
  readonly known: number;
  /** The event of the access as it is in a word of a record; 0 before `begin`. */
  readonly mine: number;
  readonly page: number;
  readonly at: number;
  readonly cell: number;
  readonly mask: number;
  readonly written: number;
}

/**
 * Notes an access in the records of one dword, or of four that have the same. `leave` takes an i32, and leaves when it is not 0: TypeScript has
 * to look.
 */
export class CellWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly module: WasmModule;
  private readonly locals: CellLocals;
  private readonly leave: () => void;
  private readonly dwords: 1 | 4;
  /** The words of the dword. */
  private readonly writer: number;
  private readonly reader: number;
  /** The event of one of them, its actor and its epoch. */
  private readonly event: number;
  private readonly other: number;
  private readonly when: number;
  private readonly marks: number;

  constructor(code: Code, module: WasmModule, locals: CellLocals, leave: () => void, dwords: 1 | 4) {
    this.fn = code.fn;
    this.module = module;
    this.code = code;
    this.locals = locals;
    this.leave = leave;
    this.dwords = dwords;
    const local = (): number => code.fn.local('i32');
    [this.writer, this.reader, this.event] = [local(), local(), local()];
    [this.other, this.when, this.marks] = [local(), local(), local()];
  }

  /** Sets the locals that are the same for all dwords: `actor`, `epoch`, `events`, `frozen`, `knownReads`, `known` and `mine`. */
  begin(isWrite: boolean, event: WasmFunction): void {
    const { fn } = this;
    const { shadow, pc, actor, epoch, events, frozen, knownReads, known, mine } = this.locals;
    fn.get(shadow).get(pc);
    if (isWrite) fn.get(shadow).memory('i32.load', SHADOW_STORES);
    else pushReleases(fn, shadow);
    fn.call(event).i32(EVENT_SHIFT).op('i32.shl').tee(mine).op('i32.eqz');
    this.leave();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    pushEvents(fn, shadow).set(events);
    pushHead(fn, shadow).memory('i32.load', EVENTS_KNOWN).set(known);
    pushHead(fn, shadow).memory('i32.load', EVENTS_KNOWN_READS).set(knownReads);
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(FROZEN).op('i32.add').memory('i32.load').set(frozen);
  }

  /** Leaves 1 when four dwords have the same words. */
  pushIsUniform(): WasmFunction {
    const { fn } = this;
    const { cell } = this.locals;
    const words = fn.local('v128');
    fn.get(cell).memory('v128.load64_splat').set(words);
    for (const offset of [0, 16]) fn.get(cell).memory('v128.load', offset).get(words).op('v128.xor');
    fn.release('v128', words);
    return fn.op('v128.or').op('v128.any_true').op('i32.eqz');
  }

  /** Sets `event`, `other` and `when` to the event that a word names. */
  private setEvent(word: number): void {
    const { fn, event, other, when } = this;
    pushNamed(fn, this.locals.events, word).tee(event);
    fn.memory('i32.load', 4 * EVENT_ACTOR).set(other);
    fn.get(event)
      .memory('i32.load', 4 * EVENT_EPOCH)
      .set(when);
  }

  /** Leaves 1 when the event, which a word names, is somebody else's, not before a barrier of the workgroup and not handed over to it. */
  private pushIsForeign(word: number): WasmFunction {
    const { fn, other, when } = this;
    const { actor, epoch, knownReads, known } = this.locals;
    fn.get(other).get(actor).op('i32.ne');
    pushIsSameGroup(fn, other, actor).op('i32.eqz');
    fn.get(when).get(epoch).op('i32.eq').op('i32.or').op('i32.and');
    fn.get(word)
      .get(word === this.reader ? knownReads : known)
      .op('i32.ge_u');
    // What has been handed over says nothing of what atomics have changed.
    if (word === this.writer) fn.get(word).i32(UPDATE).op('i32.and').i32(0).op('i32.ne').op('i32.or');
    return fn.op('i32.and');
  }

  /** Leaves 1 when a word has bytes of the access. */
  private pushTouches(word: number): WasmFunction {
    return this.fn.get(word).get(this.locals.mask).op('i32.and').i32(0).op('i32.ne');
  }

  /** Leaves 1 when a word names another event than that of the access. */
  private pushIsOther(word: number): WasmFunction {
    return this.fn.get(word).get(this.locals.mine).op('i32.xor').i32(MARKS).op('i32.gt_u');
  }

  note(kind: GlobalAccess): void {
    if (kind === 'store') this.noteWrite();
    else this.noteRead(kind === 'scalar');
  }

  /** Stores a word of the dwords from `cell` + `offset` on. */
  private put(offset: number, push: () => void): void {
    const { fn, dwords } = this;
    const { cell } = this.locals;
    if (dwords === 1) {
      fn.get(cell);
      push();
      fn.memory('i32.store', offset);
      return;
    }
    const words = fn.local('v128');
    push();
    fn.op('i32x4.splat').get(cell).memory('v128.load64_splat');
    if (offset === 0) fn.v128(-1, 0, -1, 0);
    else fn.v128(0, -1, 0, -1);
    fn.op('v128.bitselect').set(words);
    for (const at of [0, 16]) fn.get(cell).get(words).memory('v128.store', at);
    fn.release('v128', words);
  }

  /** The page's details have readers, or writers. */
  hold(side: number): void {
    const { fn, code } = this;
    const { page } = this.locals;
    this.pushHolds(side).op('i32.eqz');
    code.if(() => {
      setDetails(fn, page, () =>
        fn
          .get(page)
          .memory('i32.load', 4 * PAGE_DETAILS)
          .i32(side)
          .op('i32.or'),
      );
    });
  }

  /** Leaves whether the page's details have readers, or writers. */
  private pushHolds(side: number): WasmFunction {
    return this.fn
      .get(this.locals.page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .i32(side)
      .op('i32.and');
  }

  /** Leaves 1 when four dwords that have different words are noted; 0 when each is to be looked at. */
  noteMixed(module: WasmModule, kind: 'load' | 'store'): void {
    const { fn } = this;
    const { shadow, cell, mine, frozen } = this.locals;
    fn.get(shadow).get(cell).get(mine);
    if (kind === 'load') fn.get(frozen).call(fourReadsFunction(module));
    else fn.call(fourStoresFunction(module));
    fn.if('i32');
    if (kind === 'load') this.leaveUnwritten();
    else this.noteWritten();
    this.hold(kind === 'load' ? HOLDS_READS : HOLDS_STORES);
    fn.i32(1).else().i32(0).end();
  }

  private noteRead(isScalar: boolean): void {
    const { fn, code, writer, other } = this;
    const { cell, shadow } = this.locals;
    this.pushHolds(HOLDS_STORES);
    code.if(() => {
      fn.get(cell).memory('i32.load', TO_WRITER).tee(writer);
      // The scalar cache does not see what vector instructions store.
      if (isScalar) this.leave();
      else
        code.if(() => {
          // What atomics are changing may be read where one can follow: there is something to learn of what has not been handed over.
          fn.get(writer).i32(UPDATE).op('i32.and').i32(0);
          fn.get(shadow).memory('i32.load', SHADOW_AHEAD).select();
          code.if(
            () => {
              this.setEvent(writer);
              this.pushIsForeign(writer);
              this.pushTouches(writer).op('i32.and');
              this.pushFound('for loads', writer).op('i32.eqz').op('i32.and');
              code.if(() => fn.get(shadow).i32(HAS_LOOKED_AHEAD).memory('i32.store', SHADOW_AHEAD));
            },
            () => {
              this.setEvent(writer);
              // That the own workgroup was the last one to change it by an atomic says nothing of others in front of it, but where all has been handed over.
              fn.get(writer).i32(MANY_UPDATE_GROUPS).op('i32.and').if('i32');
              pushIsSameGroup(fn, other, this.locals.actor);
              fn.get(writer).get(this.locals.known).op('i32.ge_u').op('i32.and').else().i32(0).end();
              this.leave();
              this.pushIsForeign(writer);
              this.pushTouches(writer).op('i32.and');
              code.if(() => this.leaveUnlessFound('for loads', writer));
            },
          );
        });
    });
    this.leaveUnwritten();
    this.putReader();
    this.hold(HOLDS_READS);
  }

  /** The access becomes the last reader. */
  putReader(): void {
    const { fn, code, reader } = this;
    const { cell, mask, mine, frozen } = this.locals;
    fn.get(cell).memory('i32.load').tee(reader).i32(MANY_GROUPS).op('i32.and').get(frozen).op('i32.ne');
    code.if(() =>
      this.put(0, () => {
        fn.get(reader).op('i32.eqz').if('i32').get(mine).else();
        this.pushIsOther(reader).if('i32');
        this.pushNextReader();
        fn.else().get(reader).end().end();
        fn.get(mask).op('i32.or');
      }),
    );
  }

  /** Leaves the reader's word, without the bytes of the access, where another event is in it: as RaceDetails.marksOfRead. */
  private pushNextReader(): void {
    const { fn, code, reader, other, when, marks } = this;
    const { actor, epoch, mask, mine } = this.locals;
    this.setEvent(reader);
    fn.get(reader).i32(MARKS).op('i32.and').set(marks);
    fn.get(other).get(actor).op('i32.ne').get(when).get(epoch).op('i32.ne').op('i32.or');
    code.if(() => {
      fn.get(marks).i32(~MANY_WAVES).op('i32.and').set(marks);
      pushIsSameGroup(fn, other, actor);
      code.if(
        () => {
          fn.get(when).get(epoch).op('i32.eq');
          code.if(() => fn.get(marks).i32(MANY_WAVES).op('i32.or').set(marks));
        },
        () => {
          fn.get(marks).get(mask).op('i32.and').i32(MANY_GROUPS_SHIFT).op('i32.shl').get(marks).op('i32.or').set(marks);
        },
      );
      // The bytes that another one has read are its own no longer.
      fn.get(marks).get(marks).i32(~BYTES).op('i32.and').get(other).get(actor).op('i32.eq').select().set(marks);
    });
    fn.get(marks).get(mine).op('i32.or');
  }

  /** Leaves unless `event`, which a word names, has been found to come before. */
  private leaveUnlessFound(what: Parameters<typeof foundFunction>[1], word: number): void {
    this.pushFound(what, word).op('i32.eqz');
    this.leave();
  }

  /** Leaves whether `event`, which a word names, has been found to come before. */
  private pushFound(what: Parameters<typeof foundFunction>[1], word: number): WasmFunction {
    const { fn, module, event } = this;
    return fn.get(this.locals.shadow).get(event).get(word).call(foundFunction(module, what));
  }

  /** Leaves where an access has read the bytes that nothing puts before a store of them. */
  private passReaders(): void {
    const { fn, code, reader, when } = this;
    const { shadow, cell, mask, epoch, knownReads } = this.locals;
    this.pushHolds(HOLDS_READS);
    code.if(() => {
      fn.get(cell).memory('i32.load').tee(reader);
      code.if(() => {
        this.setEvent(reader);
        this.pushIsForeign(reader);
        fn.get(reader).i32(MANY_WAVES).op('i32.and').i32(0).get(when).get(epoch).op('i32.eq').select().op('i32.or');
        fn.i32(0);
        this.pushTouches(reader).select();
        code.if(
          () => this.leaveUnlessFound('reads', reader),
          () => {
            // Others have read before the last one: they have handed it over, too, and workgroups that learn from others are taken to have learnt of it.
            fn.get(reader).i32(MANY_GROUPS_SHIFT).op('i32.shr_u').get(mask).op('i32.and').i32(0);
            fn.get(reader).get(knownReads).op('i32.ge_u').select();
            code.if(() => {
              fn.get(shadow).call(hasLearntFunction(this.module)).op('i32.eqz');
              this.leave();
            });
          },
        );
      });
    });
  }

  /**
   * Notes a store that leaves memory as it is: who has stored the same before is not asked. Nor is who has read it since, where nothing puts that store in order with this one (as in
   * GlobalRaces.touch), and nobody learns of others.
   */
  noteUnchanged(): void {
    const { fn, code, writer, marks } = this;
    const isExcused = fn.local('i32');
    fn.i32(0).set(marks).i32(0).set(isExcused);
    fn.get(this.locals.cell).memory('i32.load', TO_WRITER).tee(writer);
    code.if(() => {
      this.setEvent(writer);
      this.keepOwnBytes();
      this.pushIsForeign(writer);
      this.pushTouches(writer).op('i32.and');
      fn.get(this.locals.shadow).call(hasLearntFunction(this.module)).op('i32.eqz').op('i32.and');
      // Another lane of the store has had the bytes.
      this.pushIsOther(writer).op('i32.eqz').get(writer).get(this.locals.mask).op('i32.and').get(this.locals.mask);
      fn.op('i32.eq').op('i32.and').op('i32.or').set(isExcused);
    });
    fn.get(isExcused).op('i32.eqz');
    code.if(() => this.passReaders());
    fn.release('i32', isExcused);
    this.putStore();
  }

  /** `seesLanes`: leaves where another lane of the same store has had one of the bytes. */
  noteWrite(seesLanes = true): void {
    const { fn, code, writer, when, marks } = this;
    const { cell, mask, epoch } = this.locals;
    this.passReaders();
    fn.i32(0).set(marks);
    fn.get(cell).memory('i32.load', TO_WRITER).tee(writer);
    code.if(() => {
      this.setEvent(writer);
      this.pushIsForeign(writer);
      this.pushTouches(writer).op('i32.and');
      code.if(() => this.leaveUnlessFound('for stores', writer));
      // Atomics of the workgroup come before a barrier, if they are not of this interval; of others nothing is known here.
      fn.get(writer)
        .i32(MARKS & ~BYTES)
        .i32(MANY_UPDATE_GROUPS);
      fn.get(when).get(epoch).op('i32.eq').select().op('i32.and');
      if (seesLanes) {
        // Another lane of the same access has stored to the bytes (compiled/lanes.ts).
        this.pushIsOther(writer).op('i32.eqz').get(writer).get(mask).op('i32.and').i32(0).op('i32.ne').op('i32.and');
        fn.op('i32.or');
      }
      this.leave();
      this.keepOwnBytes();
    });
    this.putStore();
  }

  /** What another wavefront has written of the dword is no longer its own. */
  private keepOwnBytes(): void {
    const { fn, writer, other, marks } = this;
    fn.get(writer).i32(BYTES).op('i32.and').i32(0);
    fn.get(other).get(this.locals.actor).op('i32.eq').select().set(marks);
  }

  private putStore(): void {
    const { mask, mine } = this.locals;
    this.put(TO_WRITER, () => this.fn.get(this.marks).get(mask).op('i32.or').get(mine).op('i32.or'));
    this.hold(HOLDS_STORES);
    this.noteWritten();
  }

  /**
   * Notes atomics, of whole dwords that are all written; of `attempt`s, which leave memory as it is, only that nothing is wrong. Whether a reader may look
   * ahead of them is for TypeScript to say, the first time.
   */
  noteUpdate(kind: 'update' | 'attempt' = 'update'): void {
    const { fn, code, writer, reader, event, other, when, marks } = this;
    const { cell, mine, actor, epoch } = this.locals;
    this.leaveUnwritten();
    this.pushHolds(HOLDS_READS);
    code.if(() => {
      fn.get(cell).memory('i32.load').tee(reader).i32(BYTES).op('i32.and');
      code.if(() => {
        this.setEvent(reader);
        fn.get(other).get(actor).op('i32.ne').get(reader).i32(MANY_WAVES).op('i32.and').op('i32.or').i32(0);
        pushIsSameGroup(fn, other, actor).op('i32.eqz').get(when).get(epoch).op('i32.eq').op('i32.or').select();
        code.if(() => {
          fn.get(event)
            .memory('i32.load', 4 * EVENT_PC)
            .set(when);
          pushMayLookAhead(fn, this.locals.shadow, when).op('i32.eqz');
          this.leave();
        });
      });
    });
    if (kind === 'attempt') {
      this.noteAttempt();
      return;
    }
    code.block((kept) => {
      fn.i32(0).set(marks);
      fn.get(cell).memory('i32.load', TO_WRITER).tee(writer);
      code.if(() => {
        this.setEvent(writer);
        fn.get(writer).i32(ATOMIC_WRITE).op('i32.and').op('i32.eqz');
        code.if(
          () => {
            fn.get(when).get(epoch).op('i32.eq');
            code.if(() => {
              // A store of the wavefront itself stays (GlobalShadow.write); of others it is for TypeScript.
              fn.get(other).get(actor).op('i32.ne');
              this.leave();
              code.br(kept);
            });
            pushIsSameGroup(fn, other, actor).op('i32.eqz');
            this.leave();
            this.noteStored();
            fn.i32(STORED).set(marks);
          },
          () => {
            this.pushMarksOfUpdate();
            fn.set(marks);
          },
        );
      });
      this.put(TO_WRITER, () => {
        fn.get(marks)
          .get(mine)
          .op('i32.or')
          .i32(BYTES | ATOMIC_WRITE | UPDATE)
          .op('i32.or');
      });
      this.hold(HOLDS_STORES);
    });
  }

  /** The store that `event` is comes before the workgroup's atomics (SyncLog.noteStored). */
  private noteStored(): void {
    const { fn, event, dwords } = this;
    const { at, shadow } = this.locals;
    for (let n = 0; n < dwords; n++) {
      fn.get(at)
        .i32(DWORD * n)
        .op('i32.add')
        .i32(2)
        .op('i32.shr_u')
        .i32(STORED_SLOTS - 1)
        .op('i32.and');
      fn.i32(STORED_BYTES).op('i32.mul').get(shadow).memory('i32.load', SHADOW_SYNC).op('i32.add');
      fn.get(at)
        .i32(DWORD * n)
        .op('i32.add')
        .op('i64.extend_i32_u');
      fn.get(event)
        .memory('i32.load', 4 * EVENT_PC)
        .op('i64.extend_i32_u')
        .i64(32n)
        .op('i64.shl')
        .op('i64.or');
      fn.memory('i64.store', SYNC_STORED);
    }
  }

  /** Leaves the function where an atomic that leaves memory as it is meets a store that may not come before it. */
  private noteAttempt(): void {
    const { fn, code, writer, other } = this;
    const { cell, actor } = this.locals;
    fn.get(cell).memory('i32.load', TO_WRITER).tee(writer);
    code.if(() => {
      this.setEvent(writer);
      pushIsSameGroup(fn, other, actor).op('i32.eqz').i32(0).get(writer).i32(STORED).op('i32.and').select();
      this.pushIsForeign(writer);
      fn.get(writer).i32(ATOMIC_WRITE).op('i32.and').select();
      this.leave();
    });
  }

  /** Leaves the marks of an update behind atomics: as RaceDetails.updaters, and what GlobalShadow.stored has said. */
  private pushMarksOfUpdate(): void {
    const { fn, code, writer, other, when } = this;
    const { actor, epoch } = this.locals;
    fn.get(writer).i32(STORED).op('i32.and');
    code.if(() => {
      pushIsSameGroup(fn, other, actor).op('i32.eqz');
      this.leave();
    });
    // Those whom the word names no longer.
    fn.i32(MANY_UPDATE_WAVES).get(writer).i32(MANY_UPDATE_WAVES).op('i32.and');
    fn.get(other).get(actor).op('i32.ne').select().i32(0).get(when).get(epoch).op('i32.eq').select();
    fn.get(writer).i32(MANY_UPDATE_GROUPS).op('i32.and').op('i32.or').i32(MANY_UPDATE_GROUPS);
    pushIsSameGroup(fn, other, actor).select().i32(0).get(writer).i32(UPDATE).op('i32.and').select();
    fn.get(writer).i32(STORED).op('i32.and').op('i32.or');
  }

  /** Leaves where the bits of the first dword's written bytes are. */
  pushBitsPlace(): WasmFunction {
    const { fn } = this;
    const { at, written } = this.locals;
    fn.get(at)
      .i32(DWORD * PAGE - 1)
      .op('i32.and');
    return fn.i32(3).op('i32.shr_u').get(written).op('i32.add');
  }

  /** Leaves the function when bytes have not been written. */
  private leaveUnwritten(): void {
    const { fn, code, dwords } = this;
    const { mask, at, written } = this.locals;
    fn.get(written);
    code.if(() => {
      this.pushBitsPlace();
      if (dwords === 4) fn.memory('i32.load16_u').i32(0xffff).op('i32.ne');
      else {
        fn.memory('i32.load8_u').get(at).i32(4).op('i32.and').op('i32.shr_u').get(mask).op('i32.and');
        fn.get(mask).op('i32.ne');
      }
      this.leave();
    });
  }

  /** Bytes are written from now on. */
  private noteWritten(): void {
    const { fn, code, dwords } = this;
    const { mask, at, written } = this.locals;
    fn.get(written);
    code.if(() => {
      this.pushBitsPlace();
      if (dwords === 4) {
        fn.i32(0xffff).memory('i32.store16');
        return;
      }
      this.pushBitsPlace().memory('i32.load8_u');
      fn.get(mask).get(at).i32(4).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8');
    });
  }
}
