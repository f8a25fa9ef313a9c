// Compiled code notes stores of parts of dwords of LDS lane by lane, where nothing is outstanding: nobody else has touched the bytes since the last barrier, or they stay what they are.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LDS_HIGH, LDS_LOW, LDS_READER, LDS_WRITER, LDS_WRITER_PC, LDS_WRITTEN } from '../lds/lds.ts';
import { SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { pushMayFly } from './flights.ts';
import { beginLds } from './lds.ts';

/**
 * (shadow, where the LDS begins in wasm memory, addresses there of four lanes, bits of those that count, 4 × the first lane, address of the data register, place in the image) → 1 when their
 * elements of 1 or 2 bytes are all right and noted; 0 where more is to be looked at: nothing wrong has been noted then.
 */
export function ldsPartsFunction(module: WasmModule, bytes: 1 | 2, isHigh: boolean): WasmFunction {
  const name = `strict.lds.lanes.parts.${bytes}${isHigh ? '.high' : ''}`;
  return module.helper(name, ['i32', 'i32', 'v128', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, base, addresses, bits, first, data, pc] = [0, 1, 2, 3, 4, 5, 6] as const;
    const local = (): number => fn.local('i32');
    const [head, mine, address, at, tag, low, high] = [local(), local(), local(), local(), local(), local(), local()];
    const [writers, readers, written, places] = [local(), local(), local(), local()] as const;
    const [load, store] =
      bytes === 1 ? (['i32.load8_u', 'i32.store8'] as const) : (['i32.load16_u', 'i32.store16'] as const);
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    beginLds(fn, shadow, head);
    pushMayFly(fn, shadow, head).op('i32.or').get(data).op('i32.eqz').op('i32.or');
    leave();
    fn.get(shadow)
      .memory('i32.load', SHADOW_LDS_TAG)
      .i32(2 ** (8 * bytes) - 1)
      .op('i32.and')
      .set(mine);
    for (const [which, place] of [
      [LDS_WRITER, writers],
      [LDS_READER, readers],
      [LDS_WRITTEN, written],
      [LDS_WRITER_PC, places],
    ] as const)
      fn.get(head).memory('i32.load', which).set(place);
    fn.get(head).memory('i32.load', LDS_LOW).set(low).get(head).memory('i32.load', LDS_HIGH).set(high);
    /** Leaves 1 when somebody else has a tag there. */
    const pushIsForeign = (tags: number): WasmFunction => {
      fn.get(tags).get(at).op('i32.add').memory(load).tee(tag).get(mine).op('i32.ne');
      return fn.get(tag).i32(0).op('i32.ne').op('i32.and');
    };
    for (let lane = 0; lane < 4; lane++) {
      fn.get(bits)
        .i32(1 << lane)
        .op('i32.and');
      code.if(() => {
        fn.get(addresses).lane('i32x4.extract_lane', lane).tee(address).get(base).op('i32.sub').tee(at);
        fn.i32(bytes - 1).op('i32.and');
        leave();
        pushIsForeign(writers);
        pushIsForeign(readers).op('i32.or');
        code.if(() => {
          fn.get(address).memory(load).get(data).get(first).op('i32.add');
          fn.memory(load, 4 * lane + (isHigh ? 2 : 0)).op('i32.ne');
          leave();
        });
        fn.get(writers).get(at).op('i32.add').get(mine).memory(store);
        fn.get(places).get(at).i32(-4).op('i32.and').op('i32.add').get(pc).memory('i32.store');
        fn.get(written).get(at).i32(3).op('i32.shr_u').op('i32.add').tee(tag).get(tag).memory('i32.load8_u');
        fn.i32(2 ** bytes - 1)
          .get(at)
          .i32(7)
          .op('i32.and')
          .op('i32.shl')
          .op('i32.or')
          .memory('i32.store8');
        fn.get(at).get(low).get(at).get(low).op('i32.lt_u').select().set(low);
        fn.get(at).i32(bytes).op('i32.add').tee(at).get(high).get(at).get(high).op('i32.gt_u').select().set(high);
      });
    }
    fn.get(head).get(low).memory('i32.store', LDS_LOW).get(head).get(high).memory('i32.store', LDS_HIGH);
    fn.i32(1);
  });
}
