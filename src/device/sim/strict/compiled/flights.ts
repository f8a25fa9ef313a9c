// Loads from memory into LDS in compiled code: whether bytes of LDS are still to be written by one (lds.ts has the table). An entry of the
// table is the number of the load among those of its wavefront, from 1 on, times 16, plus the wavefront.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LDS_FLIGHT, LDS_LATE, LDS_MARKS } from '../lds/lds.ts';
import { SHADOW_FLIGHTS, SHADOW_FLIGHTS_DONE, SHADOW_LDS, SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';

/** Leaves 1 when a load into LDS may be in flight as a wavefront sees it: one of its own, or one that was at the last barrier. */
export function pushMayFly(fn: WasmFunction, shadow: number, head: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_FLIGHTS).get(shadow).memory('i32.load', SHADOW_FLIGHTS_DONE).op('i32.ne');
  return fn.get(head).memory('i32.load', LDS_LATE).op('i32.or');
}

/**
 * (shadow, LDS address, bytes) → 1 when no load may still be to write the bytes. `isLoad`: a load into LDS asks, which comes behind those
 * of its own wavefront.
 */
export function flightFunction(module: WasmModule, isLoad: boolean): WasmFunction {
  return module.helper(`strict.flights${isLoad ? '.load' : ''}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, bytes] = [0, 1, 2] as const;
    const [head, end, entry, last, wave] = [0, 1, 2, 3, 4].map(() => fn.local('i32')) as [
      number,
      number,
      number,
      number,
      number,
    ];
    fn.get(shadow).memory('i32.load', SHADOW_LDS).set(head);
    fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).i32(255).op('i32.and').i32(1).op('i32.sub').set(wave);
    fn.get(head).memory('i32.load', LDS_FLIGHT).get(at).op('i32.add').tee(end).get(bytes).op('i32.add').set(end);
    fn.get(head).memory('i32.load', LDS_FLIGHT).get(at).i32(-4).op('i32.and').op('i32.add').set(at);
    code.loop((again) => {
      fn.get(at).memory('i32.load').tee(entry).get(last).op('i32.ne');
      code.if(() => {
        fn.get(entry).set(last);
        fn.get(entry).i32(4).op('i32.shr_u');
        // The number of the last load of that wavefront that is known to have come back.
        if (isLoad) fn.i32(-1);
        else fn.get(shadow).memory('i32.load', SHADOW_FLIGHTS_DONE);
        fn.get(head).get(entry).i32(15).op('i32.and').i32(2).op('i32.shl').op('i32.add').memory('i32.load', LDS_MARKS);
        fn.get(entry).i32(15).op('i32.and').get(wave).op('i32.eq').select().op('i32.gt_u');
        fn.if().i32(0).return().end();
      });
      fn.get(at).i32(4).op('i32.add').tee(at).get(end).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(1);
  });
}
