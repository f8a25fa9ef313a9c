// Compiled code finds pages in a row of which the same is to be done: the reads of all are logged (read-log.ts), or need not be noted, or their details
// (race-details.ts) lie in a row, too. A load or store finds such a span from time to time, so that its lanes are not asked for their pages.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import {
  DETAILS_SIZE,
  HOLDS,
  HOLDS_READS,
  HOLDS_STORES,
  LOGGED,
  MANY_GROUPS,
  PAGE,
  QUICK_UNWRITTEN,
  RECORD_BYTES,
} from '../races/race-details.ts';
import { FROZEN, LOAD_SPANS, PAGE_WRITTEN, SPAN_BYTES, SPANS, STORE_SPANS } from '../races/race-page.ts';
import { SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;
const PAGE_SHIFT = Math.log2(PAGE_BYTES);
/** Bytes of records for one byte of memory. */
const FACTOR = RECORD_BYTES / DWORD;

// An entry: the first byte in wasm memory, the bytes (0 for none), how often pages are looked for one by one before a span is looked for again, and:
export const SPAN_SIZE = 4;
const SPAN_PATIENCE = 8;
/** 0 where reads are logged, SPAN_FROZEN, or SPAN_DETAILS and where the record of a dword at offset 0 would be, which is a multiple of RECORD_BYTES. */
export const SPAN_KIND = 12;
/** Nothing of the reads is to be noted: all dwords' readers stay as they are (frozenReader). */
const SPAN_FROZEN = 2;
/** All bytes are written, and the pages' details have stores, for loads also reads. */
export const SPAN_DETAILS = 1;
/** Quads of an access outside its span before it looks for another one: looking costs some quads for each page of the span. */
const LEAST_PATIENCE = 32;
/** The same for each page whose details are looked through: they are 256 loads. */
const FROZEN_PATIENCE = 256;

/** What is to be done with elements in a span; each goes elsewhere at its end. `details` finds where the record of offset 0 would be in a local. */
export interface InSpan {
  readonly frozen?: () => void;
  readonly logged?: () => void;
  readonly details: (origin: number) => void;
}

/** The span of a load or store; its locals are of the function being written. */
export class Span {
  private readonly code: Code;
  private readonly module: WasmModule;
  private readonly shadow: number;
  private readonly pc: number;
  private readonly bytes: number;
  private readonly isWrite: boolean;
  /** The entry; 0 before it is asked for: the lanes of most accesses follow each other. */
  private readonly entry: number;
  /** The first byte of the span, and in how many bytes behind it an element may begin, in all lanes. */
  private readonly first: number;
  private readonly room: number;
  private readonly kind: number;

  /** In front of all quads, of lanes of so many bytes. */
  constructor(code: Code, module: WasmModule, shadow: number, pc: number, bytes: number, isWrite: boolean) {
    [this.code, this.module, this.shadow, this.pc] = [code, module, shadow, pc];
    [this.bytes, this.isWrite] = [bytes, isWrite];
    [this.entry, this.first, this.room] = [code.local('i32'), code.local('v128'), code.local('v128')];
    this.kind = code.local('i32');
    code.fn.i32(0).set(this.entry);
  }

  private begin(): void {
    const { shadow, pc } = this;
    pushSpanEntry(this.code.fn, shadow, pc, this.isWrite).set(this.entry);
    this.read();
  }

  private read(): void {
    const { fn } = this.code;
    const beyond = this.bytes - 1;
    fn.get(this.entry).memory('v128.load32_splat').set(this.first);
    // Nothing is in a span of no pages.
    fn.get(this.entry).memory('v128.load32_splat', SPAN_SIZE).v128(beyond, beyond, beyond, beyond);
    fn.op('i32x4.sub').v128(0, 0, 0, 0).op('i32x4.max_s').set(this.room);
    fn.get(this.entry).memory('i32.load', SPAN_KIND).set(this.kind);
  }

  /** Does the elements at the offsets in a vector as their span says, or falls through. `begin` is written where the first quad is looked at. */
  note(all: number, inSpan: InSpan, begin?: () => void): void {
    const { code, first, room, entry, shadow, bytes, kind } = this;
    const { fn } = code;
    const unaligned = Math.min(bytes, DWORD) - 1;
    fn.get(entry).op('i32.eqz');
    code.if(() => {
      begin?.();
      this.begin();
    });
    code.block((otherwise) => {
      fn.get(all).get(first).op('i32x4.sub').get(room).op('i32x4.ge_u').op('v128.any_true').op('i32.eqz');
      code.if(() => {
        const { logged, frozen } = inSpan;
        fn.get(kind).i32(SPAN_DETAILS).op('i32.and');
        code.if(() => {
          // Records are of dwords.
          if (unaligned > 0) {
            fn.get(all).v128(unaligned, unaligned, unaligned, unaligned).op('v128.and').op('v128.any_true');
            code.brIf(otherwise);
          }
          inSpan.details(kind);
        });
        if (frozen !== undefined) {
          fn.get(kind);
          code.if(frozen);
        }
        if (logged === undefined) code.br(otherwise);
        else logged();
      });
      fn.get(entry).memory('i32.load', SPAN_PATIENCE);
      code.if(
        () =>
          fn
            .get(entry)
            .get(entry)
            .memory('i32.load', SPAN_PATIENCE)
            .i32(1)
            .op('i32.sub')
            .memory('i32.store', SPAN_PATIENCE),
        () => {
          fn.get(shadow).get(entry).get(all).lane('i32x4.extract_lane', 0);
          fn.call(spanFunction(this.module, this.isWrite));
          this.read();
        },
      );
    });
  }

  /** A local with where the record of offset 0 would be, in a span with details. */
  static origin(code: Code, kind: number): number {
    const origin = code.local('i32');
    code.fn.get(kind).i32(SPAN_DETAILS).op('i32.sub').set(origin);
    return origin;
  }

  /** Leaves the places of the records of the dwords at the offsets in a vector, in a span with details. */
  static pushRecords(fn: WasmFunction, all: number, kind: number): WasmFunction {
    fn.get(all).v128(-DWORD, -DWORD, -DWORD, -DWORD).op('v128.and').i32(Math.log2(FACTOR)).op('i32x4.shl');
    return fn.get(kind).i32(SPAN_DETAILS).op('i32.sub').op('i32x4.splat').op('i32x4.add');
  }
}

/** Leaves where the entry of a load or store is. */
export function pushSpanEntry(fn: WasmFunction, shadow: number, pc: number, isWrite: boolean): WasmFunction {
  // Places in the image are multiples of 4.
  fn.get(pc)
    .i32(Math.log2(SPAN_BYTES) - 2)
    .op('i32.shl')
    .i32(SPAN_BYTES * (SPANS - 1))
    .op('i32.and');
  fn.get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add');
  return fn.i32(isWrite ? STORE_SPANS : LOAD_SPANS).op('i32.add');
}

/**
 * (shadow, entry, offset in wasm memory): the entry becomes the pages in a row around the one of the offset of which all bytes were written before the dispatch,
 * and whose details are in use and lie in a row; for loads also those that are logged; of another page that is logged the bytes around the offset that have
 * been written, by eights; where details say of all dwords that their readers stay, the pages in a row of which that is so; none where there are none.
 */
function spanFunction(module: WasmModule, isWrite: boolean): WasmFunction {
  return module.helper(`strict.span.${isWrite ? 'store' : 'load'}`, ['i32', 'i32', 'i32'], [], (fn) => {
    const [shadow, entry, offset] = [0, 1, 2] as const;
    const code = new Code(fn);
    const [count, quick, low, high] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const [word, origin] = [fn.local('i32'), fn.local('i32')];
    const pushQuick = (page: number): WasmFunction =>
      fn.get(page).i32(2).op('i32.shl').get(quick).op('i32.add').memory('i32.load');
    const pushIsLogged = (page: number): WasmFunction => pushQuick(page).i32(LOGGED).op('i32.eq');
    const pushIsFrozen = (page: number): WasmFunction => {
      fn.get(shadow);
      return pushQuick(page).call(frozenFunction(module));
    };
    // Of pages without stores the readers may come to stay.
    const side = isWrite ? HOLDS_STORES : HOLDS;
    /** Leaves where the record of offset 0 would be by the details that `word` says a page has. */
    const pushOrigin = (page: number): WasmFunction =>
      fn.get(word).i32(-RECORD_BYTES).op('i32.and').get(page).i32(DETAILS_SIZE).op('i32.mul').op('i32.sub');
    /** Sets `word` to that of a page, and leaves 1 where its details are in use. */
    const pushHasDetails = (page: number): WasmFunction =>
      pushQuick(page)
        .tee(word)
        .i32(side | QUICK_UNWRITTEN)
        .op('i32.and')
        .i32(side)
        .op('i32.eq');
    /** The span is the pages from `low` to `high`. */
    const setSpan = (patience: number): void => {
      fn.get(entry).get(low).i32(PAGE_SHIFT).op('i32.shl').memory('i32.store');
      fn.get(high).get(low).op('i32.sub').i32(1).op('i32.add').set(high);
      fn.get(entry).get(high).i32(PAGE_SHIFT).op('i32.shl').memory('i32.store', SPAN_SIZE);
      fn.get(entry)
        .get(high)
        .i32(patience)
        .op('i32.mul')
        .i32(LEAST_PATIENCE)
        .op('i32.add')
        .memory('i32.store', SPAN_PATIENCE);
    };
    /** Moves a local on as long as what `push` leaves of it is not 0. */
    const walk: Walk = (page, step, pushIsEnd, push) =>
      code.block((done) => {
        code.loop((next) => {
          pushIsEnd();
          code.brIf(done);
          fn.get(page).i32(step).op('i32.add').set(page);
          push(page);
          code.brIf(next);
          fn.get(page).i32(step).op('i32.sub').set(page);
        });
      });
    /** Moves `low` and `high` as far as what `push` leaves of a page is not 0. */
    const walkBoth = (push: (page: number) => void): void => {
      walk(low, -1, () => fn.get(low).op('i32.eqz'), push);
      walk(high, 1, () => fn.get(high).i32(1).op('i32.add').get(count).op('i32.ge_u'), push);
    };
    const setKind = (push: () => void): void => {
      fn.get(entry);
      push();
      fn.memory('i32.store', SPAN_KIND);
    };
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).tee(count).i32(2).op('i32.shl');
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add').set(quick);
    fn.get(entry).i32(0).memory('i32.store', SPAN_SIZE);
    fn.get(entry).i32(LEAST_PATIENCE).memory('i32.store', SPAN_PATIENCE);
    setKind(() => fn.i32(0));
    fn.get(offset).i32(PAGE_SHIFT).op('i32.shr_u').tee(low).tee(high).get(count).op('i32.ge_u');
    fn.if().return().end();
    if (!isWrite) {
      pushIsLogged(low);
      code.if(() => {
        walkBoth(pushIsLogged);
        setSpan(1);
        fn.return();
      });
      pushQuick(low)
        .i32(LOGGED | QUICK_UNWRITTEN)
        .op('i32.eq');
      code.if(() => {
        setWrittenRun(code, { shadow, entry, offset }, walk);
        fn.return();
      });
      pushQuick(low).i32(HOLDS).op('i32.and').i32(HOLDS_READS).op('i32.eq');
      code.if(() => {
        fn.get(entry).i32(FROZEN_PATIENCE).memory('i32.store', SPAN_PATIENCE);
        pushIsFrozen(low).op('i32.eqz').if().return().end();
        walkBoth(pushIsFrozen);
        setSpan(FROZEN_PATIENCE);
        setKind(() => fn.i32(SPAN_FROZEN));
        fn.return();
      });
    }
    pushHasDetails(low);
    code.if(() => {
      pushOrigin(low).set(origin);
      walkBoth((page) => {
        pushHasDetails(page);
        pushOrigin(page).get(origin).op('i32.eq').op('i32.and');
      });
      setSpan(1);
      setKind(() => fn.get(origin).i32(SPAN_DETAILS).op('i32.add'));
    });
  });
}

/**
 * (shadow, a page's word of the quick table) → 1 when nobody has stored to the page, all its bytes were written before the dispatch, and the readers of all its
 * dwords stay.
 */
function frozenFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.log.frozen', ['i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, details] = [0, 1] as const;
    const end = fn.local('i32');
    const marks = (): WasmFunction => fn.v128(MANY_GROUPS, MANY_GROUPS, MANY_GROUPS, MANY_GROUPS);
    // Where they never stay, the value is none of words.
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(FROZEN).op('i32.add').memory('i32.load').i32(MANY_GROUPS);
    fn.op('i32.ne')
      .get(details)
      .i32(HOLDS | QUICK_UNWRITTEN)
      .op('i32.and')
      .i32(HOLDS_READS)
      .op('i32.ne')
      .op('i32.or');
    fn.if().i32(0).return().end();
    fn.get(details).i32(HOLDS_READS).op('i32.sub').tee(details).i32(DETAILS_SIZE).op('i32.add').set(end);
    code.loop((again) => {
      for (let at = 0; at < 64; at += 16) {
        fn.get(details).memory('v128.load', at);
        if (at > 0) fn.op('v128.and');
      }
      // What writers' words have does not count.
      fn.v128(0, MANY_GROUPS, 0, MANY_GROUPS).op('v128.or');
      marks().op('v128.and');
      marks().op('i32x4.eq').op('i32x4.all_true').op('i32.eqz').if().i32(0).return().end();
      fn.get(details).i32(64).op('i32.add').tee(details).get(end).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/** (a local, its step, leaves 1 at the end, leaves 0 where the local may not be). */
type Walk = (local: number, step: number, pushIsEnd: () => void, push: (local: number) => void) => void;

/** The span of an entry becomes the written bytes around an offset in its page, by eights. */
function setWrittenRun(
  code: Code,
  { shadow, entry, offset }: { readonly shadow: number; readonly entry: number; readonly offset: number },
  walk: Walk,
): void {
  const { fn } = code;
  const last = PAGE_BYTES / 8 - 1;
  const [page, bits, low, high] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const pushIsWritten = (eight: number): WasmFunction =>
    fn.get(bits).get(eight).op('i32.add').memory('i32.load8_u').i32(255).op('i32.eq');
  fn.get(offset).i32(PAGE_SHIFT).op('i32.shr_u').set(page);
  fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add').memory('i32.load');
  fn.memory('i32.load', 4 * PAGE_WRITTEN).set(bits);
  fn.get(offset).i32(3).op('i32.shr_u').i32(last).op('i32.and').tee(low).set(high);
  pushIsWritten(low);
  code.if(() => {
    walk(low, -1, () => fn.get(low).op('i32.eqz'), pushIsWritten);
    walk(high, 1, () => fn.get(high).i32(last).op('i32.eq'), pushIsWritten);
    fn.get(entry).get(page).i32(PAGE_SHIFT).op('i32.shl').get(low).i32(3).op('i32.shl').op('i32.add');
    fn.memory('i32.store');
    fn.get(high).get(low).op('i32.sub').set(high);
    fn.get(entry).get(high).i32(1).op('i32.add').i32(3).op('i32.shl').memory('i32.store', SPAN_SIZE);
    fn.get(entry).get(high).i32(LEAST_PATIENCE).op('i32.add').memory('i32.store', SPAN_PATIENCE);
  });
}
