// Loads from memory into LDS in compiled code: where their lanes write is noted in the shadow of LDS and in the table of such loads
// (compiled/flights.ts), so that nobody reads it too early.
import { WAVE_LDS_BYTES } from '../../state/layout.ts';
import { EXEC, M0 } from '../../state/wave.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LDS_FLIGHT, LDS_LATE, LDS_ORDER, LDS_WRITTEN } from '../lds/lds.ts';
import {
  PART_ADDRESSES,
  PART_RUN,
  SHADOW_DROPS,
  SHADOW_FLIGHTS,
  SHADOW_LDS,
  SHADOW_LDS_TAG,
} from '../registers/shadow-layout.ts';
import { flightFunction } from './flights.ts';
import { ldsFunction } from './lds.ts';
import { orderFunction } from './order.ts';
import { noteOrderedFunction, orderedFunction } from './ordered.ts';

/** (shadow, LDS address, bytes): the load that the log gets next is that which writes there last. */
function enterFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.flights.enter', ['i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [shadow, at, bytes] = [0, 1, 2] as const;
    const [entry, end] = [fn.local('i32'), fn.local('i32')];
    fn.get(shadow).memory('i32.load', SHADOW_FLIGHTS).i32(1).op('i32.add').i32(4).op('i32.shl');
    fn.get(shadow)
      .memory('i32.load', SHADOW_LDS_TAG)
      .i32(255)
      .op('i32.and')
      .i32(1)
      .op('i32.sub')
      .op('i32.or')
      .set(entry);
    fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_FLIGHT).get(at).op('i32.add').tee(at);
    fn.get(bytes).op('i32.add').set(end);
    code.loop((again) => {
      fn.get(end).get(at).op('i32.sub').i32(16).op('i32.ge_u');
      code.if(
        () => {
          fn.get(at).get(entry).op('i32x4.splat').memory('v128.store');
          fn.get(at).i32(16).op('i32.add').set(at);
        },
        () => {
          fn.get(at).get(entry).memory('i32.store');
          fn.get(at).i32(4).op('i32.add').set(at);
        },
      );
      fn.get(at).get(end).op('i32.lt_u');
      code.brIf(again);
    });
  });
}

/** (shadow, LDS address, bytes, place in the image) → 1 when a load may write whole dwords there and is noted, 0 when TypeScript has to look. */
function noteFunction(module: WasmModule): WasmFunction {
  const [note, isFree] = [ldsFunction(module, true, true), flightFunction(module, true)];
  const enter = enterFunction(module);
  return module.helper('strict.flights.note', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
    fn.get(at).i32(3).op('i32.and').if().i32(0).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_LATE).if();
    fn.get(shadow).get(at).get(bytes).call(isFree).op('i32.eqz').if().i32(0).return().end().end();
    fn.get(shadow).get(at).get(bytes).get(pc).call(note).op('i32.eqz').if().i32(0).return().end();
    fn.get(shadow).get(at).get(bytes).call(enter).i32(1);
  });
}

/** Sets `start` to where lane 0 writes; returns 0 where not all lanes are within LDS. */
function pushStart(fn: WasmFunction, wave: number, offset: number, step: number, start: number): void {
  fn.get(wave)
    .memory('i32.load', 4 * M0)
    .tee(start)
    .get(wave)
    .memory('i32.load', WAVE_LDS_BYTES)
    .op('i32.gt_u');
  fn.get(start).get(offset).op('i32.add').tee(start).get(step).i32(6).op('i32.shl').op('i32.add');
  fn.get(wave).memory('i32.load', WAVE_LDS_BYTES).op('i32.gt_u').op('i32.or').if().i32(0).return().end();
}

/**
 * (shadow, wave, place in the image, offset, a part of the log) → the same where wavefronts may hand over data through LDS without a barrier: the clocks say whether what
 * others have done there comes before it. All lanes are active, and none is dropped.
 */
function orderedLoadFunction(module: WasmModule, step: number): WasmFunction {
  const look = {
    access: 'store',
    bytes: step,
    isPoll: false,
    isOnlyLoad: false,
    takes: false,
    isFlight: true,
  } as const;
  const functions = [orderedFunction(module, look), noteOrderedFunction(module, look)] as const;
  const [enter, order] = [enterFunction(module), orderFunction(module, 'flight', step)];
  const parameters = Array.from({ length: 5 }, () => 'i32' as const);
  return module.helper(`strict.flights.ordered.${step}`, parameters, ['i32'], (fn) => {
    const [shadow, wave, pc, offset, part] = [0, 1, 2, 3, 4] as const;
    const [start, size] = [fn.local('i32'), fn.local('i32')];
    const [isRight, note] = functions;
    fn.i32(step).set(size);
    pushStart(fn, wave, offset, size, start);
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .i64(-1n)
      .op('i64.ne');
    fn.get(shadow).memory('i64.load', SHADOW_DROPS).i64(0n).op('i64.ne').op('i32.or');
    fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_ORDER).op('i32.eqz').op('i32.or');
    fn.if().i32(0).return().end();
    fn.get(part).i64(-1n).memory('i64.store').get(part).i32(1).memory('i32.store', PART_RUN);
    fn.get(part).get(start).memory('i32.store', PART_ADDRESSES);
    fn.get(shadow).get(part).call(isRight).op('i32.eqz').if().i32(0).return().end();
    fn.get(shadow).get(part).get(pc).call(note).get(shadow).get(part).call(order);
    fn.get(shadow)
      .get(start)
      .i32(64 * step)
      .call(enter)
      .i32(1);
  });
}

/**
 * (shadow, wave, place in the image, offset, bytes of a lane) → 1 when what a load into LDS writes for the active lanes that its buffer does
 * not drop is noted, 0 when TypeScript has to look. Lane after lane follows from M0 plus the offset on.
 */
function loadFunction(module: WasmModule): WasmFunction {
  const note = noteFunction(module);
  const parameters = Array.from({ length: 5 }, () => 'i32' as const);
  return module.helper('strict.flights.lanes', parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, wave, pc, offset, step] = [0, 1, 2, 3, 4] as const;
    const [start, first, count] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const [lanes, dropped] = [fn.local('i64'), fn.local('i64')];
    pushStart(fn, wave, offset, step, start);
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .get(shadow)
      .memory('i64.load', SHADOW_DROPS)
      .tee(dropped);
    fn.i64(-1n).op('i64.xor').op('i64.and').set(lanes);
    code.block((done) => {
      code.loop((again) => {
        fn.get(lanes).op('i64.eqz');
        code.brIf(done);
        // A run of lanes.
        fn.get(lanes).op('i64.ctz').op('i32.wrap_i64').set(first);
        fn.get(lanes).get(first).op('i64.extend_i32_u').op('i64.shr_u').i64(-1n).op('i64.xor').op('i64.ctz');
        fn.op('i32.wrap_i64').set(count);
        fn.get(shadow).get(start).get(first).get(step).op('i32.mul').op('i32.add').get(count).get(step).op('i32.mul');
        fn.get(pc).call(note).op('i32.eqz').if().i32(0).return().end();
        // All 64 lanes cannot be shifted out.
        fn.get(lanes).i64(-2n).get(first).get(count).op('i32.add').i32(1).op('i32.sub').op('i64.extend_i32_u');
        fn.op('i64.shl').op('i64.and').set(lanes);
        code.br(again);
      });
    });
    // What a buffer's bounds drop arrives as zeros, if at all: nobody waits for it.
    code.block((done) => {
      code.loop((again) => {
        fn.get(dropped).op('i64.eqz');
        code.brIf(done);
        fn.get(dropped).op('i64.ctz').op('i32.wrap_i64').get(step).op('i32.mul').get(start).op('i32.add').set(first);
        fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_WRITTEN);
        fn.get(first).i32(3).op('i32.shr_u').op('i32.add').tee(count).get(count).memory('i32.load8_u');
        fn.i32(15).get(first).i32(4).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8');
        fn.get(dropped).get(dropped).i64(1n).op('i64.sub').op('i64.and').set(dropped);
        code.br(again);
      });
    });
    fn.i32(1);
  });
}

/**
 * Leaves 1 when what a load into LDS writes there is noted, 0 when TypeScript has to look. The load is the next that the log gets. `pushPart` leaves where a part of its entry
 * is, in kernels whose wavefronts may hand over data through LDS without a barrier.
 */
export function emitFlight(
  { fn, module, wave, pc }: FunctionContext,
  shadow: number,
  offset: number,
  step: number,
  pushPart: (() => WasmFunction) | undefined,
): void {
  fn.get(shadow).get(wave).i32(pc).i32(offset);
  if (pushPart === undefined) fn.i32(step).call(loadFunction(module));
  else pushPart().call(orderedLoadFunction(module, step));
}
