// A module of its own that puts the log of reads (read-log.ts) into the records of dwords: most dispatches never need it.
import { MAX_WASM_PAGES } from '../../state/layout.ts';
import { type WasmFunction, WasmModule } from '../../wasm/emit.ts';
import {
  HOLDS,
  HOLDS_READS,
  LOGGED,
  MANY_GROUPS,
  PAGE,
  PAGE_DETAILS,
  QUICK_UNWRITTEN,
  RECORD_BYTES,
} from '../races/race-details.ts';
import { FROZEN } from '../races/race-page.ts';
import { SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import { openFunction } from './details-open.ts';
import { FourPlaces } from './four.ts';
import { LogWalk } from './log-walk.ts';
import { pageFunction } from './pages.ts';
import { RECORD_SHIFT, setDetails } from './records.ts';
import { lanesFunction } from './scattered.ts';
import { takeFunction } from './take.ts';

/** Bytes of elements. */
const SIZES = [4, 8, 16, 1, 2, 12] as const;
const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;

/**
 * What takes a shadow (registers.ts) that only has the table of pages, and where the log begins and ends, as offsets in wasm memory. Returns where the
 * entries begin that are not in the records: the end of the log, or who reads where there is no room for records or events.
 */
export interface Unlog {
  /** All pages. */
  all(shadow: number, from: number, end: number): number;
  /** The page of that number, which has details; it leaves the log. Ends also where an element is of two pages. */
  take(shadow: number, from: number, end: number, index: number): number;
}

/** The code for a memory. */
export function unlogOf(memory: WebAssembly.Memory): Unlog {
  const shared = !(memory.buffer instanceof ArrayBuffer);
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: MAX_WASM_PAGES, shared });
  module.export('all', allFunction(module));
  module.export('take', takeFunction(module));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { host: { memory } });
  return exports as unknown as Unlog;
}

/** As Unlog.all. */
function allFunction(module: WasmModule): WasmFunction {
  const open = openFunction(module);
  const pages = pageFunction(module, 'load');
  const lanes = SIZES.map((size) => ({
    size,
    note: lanesFunction(module, 'load', size, 4),
    stay: stayFunction(module, size),
  }));
  return module.helper('strict.unlog.all', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const walk = new LogWalk(fn);
    const { code, shadow, pc, bytes, entry } = walk;
    const page = fn.local('i32');
    /** The page of the byte at so many behind an offset has records by dword. */
    const openPage = (n: number, behind: number): void => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGES);
      walk.pushWord(n).i32(behind).op('i32.add').i32(12).op('i32.shr_u').i32(2).op('i32.shl').op('i32.add');
      fn.memory('i32.load').tee(page);
      fn.memory('i32.load', 4 * PAGE_DETAILS)
        .i32(LOGGED)
        .op('i32.eq');
      code.if(() => {
        setDetails(fn, page, () => fn.i32(0));
        fn.get(shadow).get(page).call(open);
        walk.leaveUnless();
      });
    };
    const noteRun = (): void => {
      openPage(0, 0);
      fn.get(shadow);
      walk.pushWord(0);
      walk.pushWord(1);
      fn.get(pc).call(pages);
      walk.leaveUnless();
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
              // The last byte may be in the next page.
              if (size > 1) openPage(lane, size - 1);
            }
            fn.get(shadow);
            for (let lane = 0; lane < 4; lane++) walk.pushWord(lane);
            fn.get(pc).call(note);
            walk.leaveUnless();
            code.br(noted);
          });
        }
      });
    walk.write(noteRun, noteLanes);
  });
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
    const unaligned = Math.min(size, DWORD) - 1;
    if (unaligned > 0) {
      fn.get(all);
      splat(unaligned);
      fn.op('v128.and').op('v128.any_true').if().i32(0).return().end();
    }
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
    fn.op('v128.and').i32(RECORD_SHIFT).op('i32x4.shl').get(words);
    splat(~(HOLDS | QUICK_UNWRITTEN));
    fn.op('v128.and').op('i32x4.add').set(places);
    four.set(places);
    if (size <= DWORD) {
      four.gather(words, 0);
      fn.get(words);
    } else {
      four.each((at, lane) => {
        // Two dwords at a time, of three the last one twice.
        for (let dword = 0; dword < size / DWORD; dword += 2) {
          const isAlone = dword + 1 === size / DWORD;
          fn.get(at).memory(isAlone ? 'v128.load64_splat' : 'v128.load', RECORD_BYTES * dword);
          if (lane > 0 || dword > 0) fn.op('v128.and');
        }
      });
      // What writers' words have does not count.
      fn.v128(0, MANY_GROUPS, 0, MANY_GROUPS).op('v128.or');
    }
    splat(MANY_GROUPS);
    fn.op('v128.and').get(shadow).memory('i32.load', SHADOW_PAGES).i32(FROZEN).op('i32.add');
    fn.memory('v128.load32_splat').op('i32x4.eq').op('i32x4.all_true');
  });
}
