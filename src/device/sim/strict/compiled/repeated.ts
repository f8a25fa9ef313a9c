// Compiled code looks at stores of what others store at the same place: another wavefront without any order, where memory stays as it is, or another lane. Nobody can tell which
// of them it was. Flags that say that something has changed, and marks of what has been visited, are mostly set so.
import type { StoreOperation } from '../../../../isa/semantics/index.ts';
import { VGPR_BYTES } from '../../state/layout.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import type { StrictPlan } from '../plan.ts';
import { BYTES, LOGGED, PAGE, PAGE_DETAILS, RECORD_BYTES } from '../races/race-details.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';
import { ENTRY_ADDRESSES, ENTRY_LANES, REPEATED_SLOTS, SYNC_REPEATED } from '../races/sync-log.ts';
import { SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import { agreeFunction } from './agreement.ts';
import { CellWriter, pushIsNoted } from './cell-writer.ts';
import type { AccessCode, Circumstances } from './circumstances.ts';
import { openFunction } from './details-open.ts';
import { eventFunction } from './events.ts';
import { FourPlaces } from './four.ts';
import { pushMasks, storePartsFunction } from './global-parts.ts';
import { dataPlace } from './lanes.ts';
import { pushCell, TO_WRITER } from './records.ts';
import { Span } from './spans.ts';

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;

/** Whether a store may be looked at so. `drops`: a buffer's bounds may drop lanes of it. */
export function mayRepeat(plan: StrictPlan, { isSynchronising }: Circumstances, drops: boolean): boolean {
  const { access, operation } = plan;
  if (operation?.kind !== 'store' || access?.space !== 'global' || access.isScalar) return false;
  return !isSynchronising && !drops && operation.pairStride === undefined && dataPlace(plan, 0) !== 0;
}

/**
 * As EmitLooks, of a store that mayRepeat: `look` looks at it as long as its instruction has not been found to store so (SyncLog.setRepeated). `emitEntry`
 * gives a local with where its lanes are (keepLanes), undefined where there is no code for its addresses.
 */
export function emitRepeated(
  { fn, module, wave, pc }: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: StoreOperation,
  { pushPlace }: Circumstances,
  moved: number,
  emitEntry: () => number | undefined,
  look: () => AccessCode,
): AccessCode {
  const mark = fn.size;
  fn.block().block();
  const place = fn.local('i32');
  fn.i32(pc).set(place);
  pushIsRepeated(fn, shadow, place).if();
  fn.release('i32', place);
  const entry = emitEntry();
  if (entry !== undefined) {
    fn.get(shadow).get(entry).get(wave).i32(dataPlace(plan, 0)).op('i32.add');
    pushPlace();
    const result = fn.local('i32');
    fn.call(repeatedFunction(module, operation)).tee(result).if();
    fn.get(result).i32(IS_THERE).op('i32.eq').set(moved).br(3).end();
    for (const local of [result, entry]) fn.release('i32', local);
  }
  fn.end();
  const code = entry === undefined ? 'none' : look();
  fn.br(1).end().br(1).end();
  if (code === 'none') fn.truncate(mark);
  return code;
}

const PARAMETERS = ['i32', 'i32', 'i32', 'i32'] as const;

/** Leaves 1 where the store at a place of the image (a local) is known to be such a one (SyncLog.setRepeated). */
export const pushIsRepeated = (fn: WasmFunction, shadow: number, place: number): WasmFunction =>
  pushIsNoted(fn, shadow, place, SYNC_REPEATED, REPEATED_SLOTS);

/** What repeatedFunction leaves where memory has all the data already, and where the store is to be executed. */
const IS_THERE = 1;
const IS_NEW = 2;

/**
 * (shadow, an entry with lanes of a store, where the register with their data is, the store's place as its event has it) → IS_THERE or IS_NEW when nobody is in the way, nor two lanes are in
 * that of each other: the store is noted. 0 where it is to be looked at otherwise.
 */
function repeatedFunction(module: WasmModule, { bytes, half }: StoreOperation): WasmFunction {
  const isHigh = half === 'high';
  const [holds, agree] = [holdsFunction(module, bytes, isHigh), agreeFunction(module, bytes, isHigh)];
  const [noteAll, noteEach] = [noteFunction(module, bytes, isHigh, false), noteFunction(module, bytes, isHigh, true)];
  return module.helper(`strict.repeated.${bytes}${half ?? ''}`, PARAMETERS, ['i32'], (fn) => {
    const [shadow, entry, data, pc] = [0, 1, 2, 3] as const;
    const code = new Code(fn);
    const note = (of: WasmFunction): WasmFunction => fn.get(shadow).get(entry).get(data).get(pc).call(of);
    // Nothing is noted before all is known to be the same.
    fn.get(entry).get(data).call(holds);
    code.if(() => note(noteAll).return());
    fn.get(entry).i32(ENTRY_ADDRESSES).op('i32.add').get(data).get(entry).memory('i64.load', ENTRY_LANES);
    fn.call(agree).op('i32.eqz').if().i32(0).return().end();
    fn.i32(IS_NEW).i32(0);
    note(noteEach).select();
  });
}

/** The lanes of an entry, four at a time. */
class LanesByFour {
  private readonly code: Code;
  private readonly left: number;
  /** Sixteen times the number of the four lanes; four times that of the one. */
  readonly lane: number;
  /** Where the lane's element is in wasm memory, and where those of four lanes are. */
  readonly at: number;
  readonly all: number;

  constructor(code: Code) {
    this.code = code;
    const { fn } = code;
    [this.left, this.lane, this.at, this.all] = [fn.local('i64'), fn.local('i32'), fn.local('i32'), fn.local('v128')];
  }

  /** Does `four` for four lanes that are all in the entry, which goes to its label where it has looked at them, and `one` for each of the others. */
  each(entry: number, four: (done: Label) => void, one: () => void): void {
    const { code, left, lane, at, all } = this;
    const { fn } = code;
    const quad = fn.local('i32');
    const bits = fn.local('i32');
    fn.get(entry).memory('i64.load', ENTRY_LANES).set(left);
    fn.i32(0).set(quad);
    code.block((end) => {
      code.loop((next) => {
        fn.get(left).op('i64.eqz');
        code.brIf(end);
        fn.get(left).op('i32.wrap_i64').i32(15).op('i32.and').set(bits);
        code.block((done) => {
          fn.get(bits).i32(15).op('i32.eq');
          code.if(() => {
            fn.get(quad).tee(lane).get(entry).op('i32.add').memory('v128.load', ENTRY_ADDRESSES).set(all);
            four(done);
          });
          code.loop((again) => {
            fn.get(bits).op('i32.eqz');
            code.brIf(done);
            fn.get(bits).op('i32.ctz').i32(2).op('i32.shl').get(quad).op('i32.add').tee(lane);
            fn.get(entry).op('i32.add').memory('i32.load', ENTRY_ADDRESSES).set(at);
            fn.get(bits).get(bits).i32(1).op('i32.sub').op('i32.and').set(bits);
            one();
            code.br(again);
          });
        });
        fn.get(left).i64(4n).op('i64.shr_u').set(left);
        fn.get(quad).i32(16).op('i32.add').set(quad);
        code.br(next);
      });
    });
    fn.release('i32', quad);
    fn.release('i32', bits);
  }
}

/** (an entry with lanes of a store, where the register with their data is) → 1 when memory has their data. */
function holdsFunction(module: WasmModule, bytes: number, isHigh: boolean): WasmFunction {
  return module.helper(`strict.repeated.holds.${bytes}${isHigh ? '.high' : ''}`, ['i32', 'i32'], ['i32'], (fn) => {
    const [entry, data] = [0, 1] as const;
    const code = new Code(fn);
    const lanes = new LanesByFour(code);
    const { lane, at, all } = lanes;
    const places = new FourPlaces(fn);
    const [found, differ] = [fn.local('v128'), fn.local('v128')];
    const four = (done: Label): void => {
      if (bytes < DWORD) return;
      places.set(all);
      fn.get(lane).get(data).op('i32.add').set(at);
      for (let part = 0; part < bytes / DWORD; part++) {
        places.gather(found, DWORD * part);
        fn.get(at)
          .memory('v128.load', VGPR_BYTES * part)
          .get(found)
          .op('v128.xor');
        if (part > 0) fn.get(differ).op('v128.or');
        fn.set(differ);
      }
      fn.get(differ).op('v128.any_true').if().i32(0).return().end();
      code.br(done);
    };
    lanes.each(entry, four, () => {
      fn.get(lane).get(data).op('i32.add').set(lane);
      pushDiffers(fn, at, lane, bytes, isHigh).if().i32(0).return().end();
    });
    fn.i32(1);
  });
}

/** Leaves 0 when the element at `at` in wasm memory has the data of the lane whose place in the register is in a local. */
function pushDiffers(fn: WasmFunction, at: number, lane: number, bytes: number, isHigh: boolean): WasmFunction {
  const load = bytes === 1 ? 'i32.load8_u' : bytes === 2 ? 'i32.load16_u' : 'i32.load';
  for (let part = 0; part < Math.max(1, bytes / DWORD); part++) {
    fn.get(at).memory(load, DWORD * part);
    fn.get(lane).memory(load, VGPR_BYTES * part + (isHigh ? 2 : 0));
    fn.op('i32.ne');
    if (part > 0) fn.op('i32.or');
  }
  return fn;
}

/**
 * (shadow, an entry with lanes of a store, where the register with their data is, the store's place as its event has it) → 1 when the store is noted, 0 where that is for others to do. Memory has the
 * data already, but where `mayChange`.
 */
function noteFunction(module: WasmModule, bytes: number, isHigh: boolean, mayChange: boolean): WasmFunction {
  const open = openFunction(module);
  const name = `strict.repeated.note.${bytes}${mayChange ? `.each${isHigh ? '.high' : ''}` : ''}`;
  return module.helper(name, PARAMETERS, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, entry, data, pc] = [0, 1, 2, 3] as const;
    const local = (): number => fn.local('i32');
    const lanes = new LanesByFour(code);
    const { lane, at, all } = lanes;
    const [actor, epoch, events, frozen, known, mine] = [local(), local(), local(), local(), local(), local()] as const;
    const [knownReads, page, cell, mask, written] = [local(), local(), local(), local(), local()] as const;
    const [last, end, isNew] = [local(), local(), local()] as const;
    const [readers, writers] = [fn.local('v128'), fn.local('v128')] as const;
    const places = new FourPlaces(fn);
    const span = new Span(code, module, shadow, pc, bytes, true);
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const locals = { shadow, at, pc, actor, epoch, events, frozen, knownReads, known, mine, page, cell, mask, written };
    const writer = new CellWriter(code, module, locals, leave, 1);
    writer.begin(true, eventFunction(module));
    fn.i32(-1).set(last);
    /** Sets `page` to the record of the page of `at`, and `written`. */
    const findPage = (): void => {
      fn.get(at).get(last).op('i32.xor').i32(-PAGE_BYTES).op('i32.and').get(last).i32(-1).op('i32.eq').op('i32.or');
      code.if(() => {
        const count = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT);
        fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page);
        count().op('i32.ge_u');
        leave();
        fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
        fn.memory('i32.load').tee(page).op('i32.eqz');
        leave();
        fn.get(page)
          .memory('i32.load', 4 * PAGE_DETAILS)
          .tee(cell)
          .i32(LOGGED)
          .op('i32.eq');
        leave();
        fn.get(cell).op('i32.eqz');
        code.if(() => {
          fn.get(shadow).get(page).call(open).op('i32.eqz');
          leave();
        });
        fn.get(page)
          .memory('i32.load', 4 * PAGE_WRITTEN)
          .set(written);
      });
      fn.get(at).set(last);
    };
    const four = (done: Label): void => {
      if (mayChange) return;
      span.note(all, {
        details: (origin) => {
          Span.pushRecords(fn, all, origin).set(readers);
          if (bytes < DWORD) {
            fn.get(shadow).get(readers);
            pushMasks(fn, all, bytes).get(mine).op('i32x4.splat').v128(0, 0, 0, 0);
            fn.call(storePartsFunction(module, false, true));
            code.brIf(done);
            return;
          }
          places.set(readers);
          const dwords = Array.from({ length: bytes / DWORD }, (_, n) => n * RECORD_BYTES);
          for (const [n, offset] of dwords.entries()) {
            places.gather(readers, offset);
            fn.get(readers);
            if (n > 0) fn.get(writers).op('v128.or');
            fn.set(writers);
          }
          fn.get(writers).op('v128.any_true').op('i32.eqz');
          code.if(() => {
            fn.get(mine).i32(BYTES).op('i32.or').op('i32x4.splat').set(writers);
            for (const offset of dwords) places.put(writers, offset + TO_WRITER);
            code.br(done);
          });
        },
      });
    };
    lanes.each(entry, four, () => {
      code.block((next) => {
        // Flags are at one place for all lanes.
        fn.get(at).get(last).op('i32.eq');
        code.brIf(next);
        // Elements that go on in another dword, or on another page.
        fn.get(at)
          .i32(Math.min(bytes, DWORD) - 1)
          .op('i32.and');
        fn.get(at)
          .i32(PAGE_BYTES - 1)
          .op('i32.and')
          .i32(PAGE_BYTES - bytes)
          .op('i32.gt_u')
          .op('i32.or');
        leave();
        findPage();
        fn.get(at).i32(bytes).op('i32.add').set(end);
        if (mayChange) {
          fn.get(lane).get(data).op('i32.add').set(lane);
          pushDiffers(fn, at, lane, bytes, isHigh).set(isNew);
        }
        if (bytes >= DWORD) fn.i32(BYTES).set(mask);
        else {
          fn.i32((1 << bytes) - 1)
            .get(at)
            .i32(DWORD - 1)
            .op('i32.and')
            .op('i32.shl')
            .set(mask);
        }
        code.loop((again) => {
          pushCell(fn, page, at).set(cell);
          fn.get(isNew);
          code.if(
            () => writer.noteWrite(false),
            () => writer.noteUnchanged(),
          );
          fn.get(at).i32(DWORD).op('i32.add').tee(at).get(end).op('i32.lt_u');
          code.brIf(again);
        });
      });
    });
    fn.i32(1);
  });
}
