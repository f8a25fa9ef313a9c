// A module of its own that puts the log of reads (read-log.ts) into the records of dwords: most dispatches never need it.
import { MAX_WASM_PAGES } from '../state/layout.ts';
import { type WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import { openFunction, setDetails } from './compiled-details.ts';
import { FourPlaces } from './compiled-four.ts';
import { pageFunction } from './compiled-pages.ts';
import { lanesFunction } from './compiled-scattered.ts';
import { HOLDS, HOLDS_READS, LOGGED, MANY_GROUPS, PAGE, PAGE_DETAILS, QUICK_UNWRITTEN } from './race-details.ts';
import { FROZEN } from './race-page.ts';
import { LOG_ENTRY, LOG_RUN, MOST_ELEMENT } from './read-log.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGE_COUNT, SHADOW_PAGES } from './registers.ts';

/** Bytes of elements. */
const SIZES = [4, 8, 16, 1, 2, 12] as const;
const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;
/** Of an entry, the word that says what it is. */
const LAST = 3;

/**
 * Takes a shadow (registers.ts) that only has the table of pages, and where the log begins and ends, as offsets in wasm memory. Returns where the
 * entries begin that are not in the records: the end of the log, or who reads where there is no room for records or events.
 */
export type Unlog = (shadow: number, from: number, end: number) => number;

/** What does that for a memory. */
export function unlogOf(memory: WebAssembly.Memory): Unlog {
  const shared = !(memory.buffer instanceof ArrayBuffer);
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: MAX_WASM_PAGES, shared });
  const open = openFunction(module);
  const pages = pageFunction(module, 'load');
  const lanes = SIZES.map((size) => ({
    size,
    note: lanesFunction(module, 'load', size, 4),
    stay: stayFunction(module, size),
  }));
  const unlog = module.helper('strict.unlog', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, end] = [0, 1, 2] as const;
    const local = (): number => fn.local('i32');
    const [reader, pc, bytes, page] = [local(), local(), local(), local()];
    const entry = fn.local('v128');
    const pushWord = (n: number): void => {
      fn.get(entry).lane('i32x4.extract_lane', n);
    };
    /** Leaves the function when the i32 on the stack is 0. */
    const leave = (): void => {
      fn.op('i32.eqz').if().get(reader).return().end();
    };
    /** The page of the byte at so many behind an offset has records by dword. */
    const openPage = (n: number, behind: number): void => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGES);
      pushWord(n);
      fn.i32(behind)
        .op('i32.add')
        .i32(12)
        .op('i32.shr_u')
        .i32(2)
        .op('i32.shl')
        .op('i32.add')
        .memory('i32.load')
        .tee(page);
      fn.memory('i32.load', 4 * PAGE_DETAILS)
        .i32(LOGGED)
        .op('i32.eq');
      code.if(() => {
        setDetails(fn, page, () => fn.i32(0));
        fn.get(shadow).get(page).call(open);
        leave();
      });
    };
    const begin = (): void => {
      fn.get(at).set(reader);
      pushWord(0);
      fn.set(pc);
      pushWord(LAST);
      fn.set(bytes);
      for (const [n, word] of [
        [1, SHADOW_ACTOR],
        [2, SHADOW_EPOCH],
      ] as const) {
        fn.get(shadow);
        pushWord(n);
        fn.memory('i32.store', word);
      }
    };
    const noteLanes = (): void =>
      code.block((noted) => {
        for (const { size, note, stay } of lanes) {
          fn.get(bytes).i32(size).op('i32.eq');
          code.if(() => {
            fn.get(shadow).get(entry).call(stay);
            code.brIf(noted);
            for (let lane = 0; lane < 4; lane++) {
              openPage(lane, 0);
              // Dwords and parts of them are in one page.
              if (size > 4) openPage(lane, size - 1);
            }
            fn.get(shadow);
            for (let lane = 0; lane < 4; lane++) pushWord(lane);
            fn.get(pc).call(note);
            leave();
            code.br(noted);
          });
        }
      });
    code.block((done) => {
      code.loop((again) => {
        fn.get(at).get(end).op('i32.ge_u');
        code.brIf(done);
        fn.get(at).memory('v128.load').set(entry);
        pushWord(LAST);
        fn.i32(LOG_RUN).op('i32.eq');
        code.if(
          () => {
            openPage(0, 0);
            fn.get(shadow);
            pushWord(0);
            pushWord(1);
            fn.get(pc).call(pages);
            leave();
          },
          () => {
            pushWord(LAST);
            fn.i32(MOST_ELEMENT).op('i32.le_u');
            code.if(begin, noteLanes);
          },
        );
        fn.get(at).i32(LOG_ENTRY).op('i32.add').set(at);
        code.br(again);
      });
    });
    fn.get(end);
  });
  module.export('unlog', unlog);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { host: { memory } });
  return exports.unlog as unknown as Unlog;
}

/**
 * (shadow, offsets in wasm memory of four elements) → 1 when each is in one page that has details, by which the readers of all its dwords stay as they are
 * (frozenReader).
 */
function stayFunction(module: WasmModule, size: number): WasmFunction {
  return module.helper(`strict.unlog.stay.${size}`, ['i32', 'v128'], ['i32'], (fn) => {
    const [shadow, all] = [0, 1] as const;
    const [quick, places, words] = [fn.local('i32'), fn.local('v128'), fn.local('v128')];
    const splat = (word: number): WasmFunction => fn.v128(word, word, word, word);
    const four = new FourPlaces(fn);
    if (size > DWORD) {
      fn.get(all);
      splat(PAGE_BYTES - 1);
      fn.op('v128.and');
      splat(PAGE_BYTES - size);
      fn.op('i32x4.gt_u').op('v128.any_true').if().i32(0).return().end();
    }
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).i32(2).op('i32.shl');
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add').set(quick);
    fn.get(all).i32(Math.log2(PAGE_BYTES)).op('i32x4.shr_u').i32(2).op('i32x4.shl');
    fn.get(quick).op('i32x4.splat').op('i32x4.add').set(places);
    four.set(places);
    four.gather(words, 0);
    fn.get(words);
    splat(HOLDS_READS);
    fn.op('v128.and').op('i32x4.all_true').op('i32.eqz').if().i32(0).return().end();
    fn.get(all);
    splat(PAGE_BYTES - DWORD);
    fn.op('v128.and').get(words);
    splat(~(HOLDS | QUICK_UNWRITTEN));
    fn.op('v128.and').op('i32x4.add').set(places);
    four.set(places);
    if (size <= DWORD) {
      four.gather(words, 0);
      fn.get(words);
    } else {
      four.each((at, lane) => {
        fn.get(at).memory(size === 2 * DWORD ? 'v128.load64_splat' : 'v128.load');
        if (lane > 0) fn.op('v128.and');
      });
      // A fourth dword of three counts as one that stays.
      if (size === 3 * DWORD) fn.v128(0, 0, 0, MANY_GROUPS).op('v128.or');
    }
    splat(MANY_GROUPS);
    fn.op('v128.and').get(shadow).memory('i32.load', SHADOW_PAGES).i32(FROZEN).op('i32.add');
    fn.memory('v128.load32_splat').op('i32x4.eq').op('i32x4.all_true');
  });
}
