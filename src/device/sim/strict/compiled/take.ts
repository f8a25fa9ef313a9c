// Compiled code takes the reads of one page out of the log (read-log.ts), and puts them into the page's details.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { PAGE } from '../races/race-details.ts';
import { LOG_RUN } from '../races/read-log.ts';
import { LogWalk } from './log-walk.ts';
import { pageFunction } from './pages.ts';

const PAGE_BYTES = 4 * PAGE;
const PAGE_SHIFT = Math.log2(PAGE_BYTES);
const LANES = [0, 1, 2, 3] as const;

/**
 * As Unlog.take. What is taken out of an entry of lanes becomes the element of another lane, which is there twice then; an entry without others becomes a
 * run of no bytes.
 */
export function takeFunction(module: WasmModule): WasmFunction {
  const pages = pageFunction(module, 'load');
  return module.helper('strict.unlog.take', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const index = 3;
    const walk = new LogWalk(fn);
    const { code, shadow, at, pc, bytes, entry } = walk;
    const [places, isTaken, kept, bits] = [fn.local('v128'), fn.local('v128'), fn.local('i32'), fn.local('i32')];
    /** Leaves all ones for elements of which a byte, so many behind the first, is of the page. */
    const pushIsThere = (push: () => void): WasmFunction => {
      fn.get(entry);
      push();
      fn.op('i32x4.splat').op('i32x4.add').i32(PAGE_SHIFT).op('i32x4.shr_u');
      return fn.get(index).op('i32x4.splat').op('i32x4.eq');
    };
    const run = (): void => {
      walk.pushWord(0).i32(PAGE_SHIFT).op('i32.shr_u').get(index).op('i32.eq');
      code.if(() => {
        fn.get(shadow);
        walk.pushWord(0);
        walk.pushWord(1);
        fn.get(pc).call(pages);
        walk.leaveUnless();
        fn.get(at).i32(0).memory('i32.store', 4);
      });
    };
    const lanes = (): void => {
      pushIsThere(() => fn.i32(0)).set(isTaken);
      pushIsThere(() => fn.get(bytes).i32(1).op('i32.sub')).set(places);
      // Elements of two pages.
      fn.get(isTaken).get(places).op('v128.xor').op('v128.any_true').op('i32.eqz');
      walk.leaveUnless();
      fn.get(isTaken).op('i32x4.bitmask').tee(bits);
      code.if(() => {
        for (const lane of LANES) {
          fn.get(bits)
            .i32(1 << lane)
            .op('i32.and');
          code.if(() => {
            fn.get(shadow);
            walk.pushWord(lane);
            fn.get(bytes).get(pc).call(pages);
            walk.leaveUnless();
          });
        }
        fn.get(at);
        fn.get(bits).i32(15).op('i32.eq').if('v128').v128(0, 0, 0, LOG_RUN).else();
        // One that stays.
        for (const lane of LANES) {
          fn.get(bits)
            .i32(1 << lane)
            .op('i32.and')
            .op('i32.eqz');
          code.if(() => walk.pushWord(lane).set(kept));
        }
        fn.get(kept).op('i32x4.splat').get(entry).get(isTaken).op('v128.bitselect').end().memory('v128.store');
      });
    };
    walk.write(run, lanes);
  });
}
