// Waits in compiled code: what a wavefront's log of outstanding operations holds leaves it when a wait proves it complete, as WaitQueue
// does it (waits.ts). Operations that TypeScript has issued are its own business.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import {
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PART,
  LOG_PART_BYTES,
  LOG_PARTS,
  LOG_SLOT,
  LOG_SLOTS,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_STORE,
  LOGGED_VM,
  SHADOW_COMPLETE,
  SHADOW_FLIGHTS,
  SHADOW_FLIGHTS_DONE,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_VM,
  SHADOW_PENDING,
  SHADOW_STORES,
  SHADOW_TOTAL,
} from './registers.ts';

const PENDING_BYTES = SHADOW_TOTAL - SHADOW_PENDING;
if (PENDING_BYTES % 16 !== 0) throw new Error('the pending slots are laid out otherwise');

/** (shadow, vmcnt, lgkmcnt) → 1 when a wait has been passed, 0 when TypeScript has to pass it. */
export function waitFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.wait', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, vm, lgkm] = [0, 1, 2] as const;
    const [logged, vms, others] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED).tee(logged);
    fn.get(shadow).memory('i32.load', SHADOW_TOTAL).op('i32.ne').if().i32(0).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED_VM).set(vms);
    fn.get(logged).get(vms).op('i32.sub').set(others);
    for (const [count, outstanding] of [
      [vm, vms],
      [lgkm, others],
    ] as const) {
      fn.get(count).op('i32.eqz').get(outstanding).op('i32.eqz').op('i32.or');
      if (count === lgkm) fn.op('i32.and');
    }
    fn.if();
    for (const at of [SHADOW_LOGGED, SHADOW_LOGGED_VM, SHADOW_TOTAL]) fn.get(shadow).i32(0).memory('i32.store', at);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_STORES).memory('i32.store', SHADOW_COMPLETE);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_FLIGHTS).memory('i32.store', SHADOW_FLIGHTS_DONE);
    clearPending(fn, shadow);
    fn.i32(1).return().end();
    fn.get(vm).get(vms).op('i32.ge_u').get(lgkm).get(others).op('i32.ge_u').op('i32.and').op('i32.eqz').if();
    fn.get(shadow).get(vm).get(lgkm).call(partialWait(module)).end();
    fn.i32(1);
  });
}

function clearPending(fn: WasmFunction, shadow: number): void {
  for (let at = 0; at < PENDING_BYTES; at += 16) {
    fn.get(shadow)
      .v128(0, 0, 0, 0)
      .memory('v128.store', SHADOW_PENDING + at);
  }
}

/**
 * (shadow, vmcnt, lgkmcnt): the oldest operations of each in-order kind leave the log until no more than the count is left. Scalar loads
 * come back in any order: only a count of 0 completes them.
 */
function partialWait(module: WasmModule): WasmFunction {
  return module.helper('strict.wait.partial', ['i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [shadow, vm, lgkm] = [0, 1, 2] as const;
    const [log, entry, end, to] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const [kind, dropVm, dropLds, vms] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const [stores, slot, slots, kept] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const flights = fn.local('i32');
    const each = (body: () => void): void => {
      fn.get(log).set(entry);
      code.loop((again) => {
        fn.get(entry).memory('i32.load', LOG_KIND).set(kind);
        body();
        fn.get(entry).i32(LOG_ENTRY_BYTES).op('i32.add').tee(entry).get(end).op('i32.lt_u');
        code.brIf(again);
      });
    };
    const isOf = (what: number): WasmFunction => fn.get(kind).i32(what).op('i32.and');
    const decrement = (local: number): WasmFunction => fn.get(local).i32(1).op('i32.sub').set(local);
    const increment = (local: number): WasmFunction => fn.get(local).i32(1).op('i32.add').set(local);
    fn.get(shadow).i32(SHADOW_LOG).op('i32.add').tee(log).tee(to);
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').op('i32.add').set(end);
    each(() => {
      isOf(LOGGED_LDS).i32(0).op('i32.ne').get(dropLds).op('i32.add').set(dropLds);
    });
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED_VM).tee(vms).get(vm).op('i32.sub').set(dropVm);
    fn.get(dropLds).get(lgkm).op('i32.sub').set(dropLds);
    clearPending(fn, shadow);
    each(() => {
      code.block((next) => {
        isOf(LOGGED_VM);
        code.if(
          () => {
            fn.get(dropVm).i32(0).op('i32.gt_s');
            code.if(() => {
              decrement(dropVm);
              decrement(vms);
              isOf(LOGGED_STORE).i32(0).op('i32.ne').get(stores).op('i32.add').set(stores);
              code.br(next);
            });
          },
          () => {
            fn.get(lgkm).op('i32.eqz');
            code.brIf(next);
            isOf(LOGGED_LDS).i32(0).op('i32.ne').get(dropLds).i32(0).op('i32.gt_s').op('i32.and');
            code.if(() => {
              decrement(dropLds);
              code.br(next);
            });
          },
        );
        isOf(LOGGED_FLIGHT).i32(0).op('i32.ne').get(flights).op('i32.add').set(flights);
        fn.get(entry).get(to).op('i32.ne');
        code.if(() => {
          fn.get(to).get(entry).get(entry).memory('i32.load', LOG_PARTS).i32(LOG_PART_BYTES).op('i32.mul');
          fn.i32(LOG_PART).op('i32.add').memoryCopy();
        });
        fn.get(to).memory('i32.load16_u', LOG_SLOTS).set(slots);
        fn.get(to).memory('i32.load16_u', LOG_SLOT).set(slot);
        code.block((done) => {
          code.loop((more) => {
            fn.get(slots).op('i32.eqz');
            code.brIf(done);
            fn.get(slot).i32(3).op('i32.shr_u').get(shadow).op('i32.add').tee(kind);
            fn.get(kind).memory('i32.load8_u', SHADOW_PENDING);
            fn.i32(1).get(slot).i32(7).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8', SHADOW_PENDING);
            increment(slot);
            decrement(slots);
            code.br(more);
          });
        });
        fn.get(to).i32(LOG_ENTRY_BYTES).op('i32.add').set(to);
        increment(kept);
      });
    });
    fn.get(shadow).get(kept).memory('i32.store', SHADOW_LOGGED);
    fn.get(shadow).get(kept).memory('i32.store', SHADOW_TOTAL);
    fn.get(shadow).get(vms).memory('i32.store', SHADOW_LOGGED_VM);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_FLIGHTS).get(flights).op('i32.sub');
    fn.memory('i32.store', SHADOW_FLIGHTS_DONE);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_COMPLETE).get(stores).op('i32.add');
    fn.memory('i32.store', SHADOW_COMPLETE);
    fn.get(vm).op('i32.eqz');
    code.if(() => {
      fn.get(shadow).get(shadow).memory('i32.load', SHADOW_STORES).memory('i32.store', SHADOW_COMPLETE);
    });
  });
}
