// Compiled code looks at the bits of written bytes (global.ts) of four lanes whose elements do not follow each other, where the quick table says that
// not all bytes of their pages were written before the dispatch.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { PAGE } from '../races/race-details.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';
import { SHADOW_PAGES } from '../registers/shadow-layout.ts';

const PAGE_BYTES = 4 * PAGE;
/** Lanes. */
const FOUR = [0, 1, 2, 3] as const;

/** (shadow, offsets in wasm memory of four elements) → 1 when all their bytes have been written. Their pages have records, each is in one page. */
export function areWrittenFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.written.ask.${bytes}`, ['i32', 'v128'], ['i32'], (fn) => {
    eachOf(fn, (at, bits) => {
      fn.get(bits).memory('i32.load').get(at).i32(7).op('i32.and').op('i32.shr_u');
      fn.i32((1 << bytes) - 1)
        .op('i32.and')
        .i32((1 << bytes) - 1)
        .op('i32.ne')
        .if()
        .i32(0)
        .return()
        .end();
    });
    fn.i32(1);
  });
}

/**
 * (shadow, offsets in wasm memory of four elements): all their bytes are written from now on. Their pages have records, each is in one dword, or in whole dwords
 * of one page.
 */
export function setWrittenFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.written.set.${bytes}`, ['i32', 'v128'], [], (fn) => {
    const [load, store] = bytes <= 4 ? (['i32.load8_u', 'i32.store8'] as const) : (['i32.load', 'i32.store'] as const);
    eachOf(fn, (at, bits) => {
      fn.get(bits).get(bits).memory(load);
      fn.i32((1 << bytes) - 1)
        .get(at)
        .i32(7)
        .op('i32.and')
        .op('i32.shl')
        .op('i32.or')
        .memory(store);
    });
  });
}

/** (where bits are, the number of the first one, how many) → 1 when all of them are set. */
export function allWrittenFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.written.all', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [bits, first, count] = [0, 1, 2] as const;
    const part = fn.local('i32');
    code.block((done) => {
      code.loop((again) => {
        fn.get(count).op('i32.eqz');
        code.brIf(done);
        // As many as there are in the byte, or 64 from its first one on.
        fn.get(first).i32(7).op('i32.and').op('i32.eqz').get(count).i32(64).op('i32.ge_u').op('i32.and');
        code.if(
          () => {
            fn.get(first).i32(3).op('i32.shr_u').get(bits).op('i32.add').memory('i64.load').i64(-1n).op('i64.ne');
            fn.if().i32(0).return().end();
            fn.i32(64).set(part);
          },
          () => {
            fn.i32(8).get(first).i32(7).op('i32.and').op('i32.sub').tee(part).get(count);
            fn.get(part).get(count).op('i32.lt_u').select().set(part);
            fn.get(first).i32(3).op('i32.shr_u').get(bits).op('i32.add').memory('i32.load8_u');
            fn.get(first).i32(7).op('i32.and').op('i32.shr_u').i32(-1).op('i32.xor');
            fn.i32(1).get(part).op('i32.shl').i32(1).op('i32.sub').op('i32.and').if().i32(0).return().end();
          },
        );
        fn.get(first).get(part).op('i32.add').set(first);
        fn.get(count).get(part).op('i32.sub').set(count);
        code.br(again);
      });
    });
    fn.i32(1);
  });
}

/** Does `write` for each lane whose page has bits: `at` is the lane's offset, `bits` the place of the byte with its bits. */
function eachOf(fn: WasmFunction, write: (at: number, bits: number) => void): void {
  const [shadow, offsets] = [0, 1] as const;
  const code = new Code(fn);
  const [table, at, bits, known] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
  fn.get(shadow).memory('i32.load', SHADOW_PAGES).set(table);
  const extract = (lane: number): WasmFunction => fn.get(offsets).lane('i32x4.extract_lane', lane).set(at);
  /** Leaves where the bits of the page at `at` begin, 0 where it has none. */
  const pushBits = (): WasmFunction => {
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').i32(2).op('i32.shl').get(table).op('i32.add');
    return fn.memory('i32.load').memory('i32.load', 4 * PAGE_WRITTEN);
  };
  /** `bits` is where those of the page begin. */
  const one = (): void => {
    fn.get(at)
      .i32(PAGE_BYTES - 1)
      .op('i32.and')
      .i32(3)
      .op('i32.shr_u')
      .get(bits)
      .op('i32.add')
      .set(bits);
    write(at, bits);
  };
  fn.get(offsets).get(offsets).shuffle32(0, 0, 0, 0).get(offsets).op('v128.xor');
  fn.i32(Math.log2(PAGE_BYTES)).op('i32x4.shr_u').op('v128.any_true');
  code.if(
    () => {
      for (const lane of FOUR) {
        extract(lane);
        pushBits().tee(bits);
        code.if(one);
      }
    },
    () => {
      extract(0);
      pushBits().tee(known);
      code.if(() => {
        for (const lane of FOUR) {
          extract(lane);
          fn.get(known).set(bits);
          one();
        }
      });
    },
  );
}
