// Waits in compiled code: what a wavefront's log of outstanding operations holds leaves it when a wait proves it complete, as WaitQueue
// does it (waits.ts). Operations that TypeScript has issued are its own business.
import { FLAT_LGKM, FLAT_VM } from '../../../../program/index.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import {
  FLAT_LEFT_SHIFT,
  LOG_BACK,
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PART_BYTES,
  LOG_PARTS,
  LOG_SLOT,
  LOG_SLOTS,
  LOGGED_BACK,
  LOGGED_FETCH,
  LOGGED_FLAT,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_STORE,
  LOGGED_VM,
  SHADOW_COMPLETE,
  SHADOW_FETCHES,
  SHADOW_FLIGHTS,
  SHADOW_FLIGHTS_DONE,
  SHADOW_LEFT,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_FLATS,
  SHADOW_LOGGED_VM,
  SHADOW_OVERLAPS,
  SHADOW_PENDING,
  SHADOW_STORES,
  SHADOW_TOTAL,
  SHADOW_WRITE_BACK,
} from '../registers/shadow-layout.ts';
import { noteWrittenBack } from './caches.ts';
import { arriveFunction, pushIsFull } from './sync.ts';

const PENDING_BYTES = SHADOW_TOTAL - SHADOW_PENDING;
if (PENDING_BYTES % 16 !== 0) throw new Error('the pending slots are laid out otherwise');

/**
 * Entries whose operations have left the log, from which on those of the others are moved up. Strict dispatches of a histogram, with atomics of
 * LDS and partial waits for loads: 0.89 ms with 8, 0.88 with 16, 0.86 with 32.
 */
const MOST_LEFT = 32;

/** (shadow, vmcnt, lgkmcnt) → 1 when a wait has been passed, 0 when TypeScript has to pass it. */
export function waitFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.wait', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, vm, lgkm] = [0, 1, 2] as const;
    const [logged, vms] = [fn.local('i32'), fn.local('i32')];
    const [others, flats] = [fn.local('i32'), fn.local('i32')];
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED).tee(logged);
    fn.get(shadow).memory('i32.load', SHADOW_TOTAL).op('i32.ne').if().i32(0).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_FETCHES).if();
    pushIsFull(fn, shadow).if().i32(0).return().end();
    fn.end();
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED_VM).set(vms);
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED_FLATS).set(flats);
    fn.get(logged).get(vms).op('i32.sub').get(shadow).memory('i32.load', SHADOW_LEFT).op('i32.sub');
    fn.get(flats).op('i32.sub').set(others);
    for (const [count, outstanding] of [
      [vm, vms],
      [lgkm, others],
    ] as const) {
      fn.get(count).op('i32.eqz').get(outstanding).op('i32.eqz').op('i32.or');
      if (count === lgkm) fn.op('i32.and');
    }
    // Flat operations are complete when both counters have been drained.
    fn.get(flats).op('i32.eqz').get(vm).get(lgkm).op('i32.or').op('i32.eqz').op('i32.or').op('i32.and');
    fn.if();
    fn.get(shadow).memory('i32.load', SHADOW_FETCHES).if();
    fn.get(shadow).call(arriveAllFunction(module)).end();
    fn.get(shadow).memory('i32.load', SHADOW_WRITE_BACK).if();
    noteWrittenBack(fn, shadow, () => fn.get(shadow).memory('i32.load', SHADOW_WRITE_BACK));
    fn.end();
    emptyLog(fn, shadow);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_STORES).memory('i32.store', SHADOW_COMPLETE);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_FLIGHTS).memory('i32.store', SHADOW_FLIGHTS_DONE);
    clearPending(fn, shadow);
    fn.i32(1).return().end();
    fn.get(vm).get(vms).op('i32.ge_u').get(lgkm).get(others).op('i32.ge_u').op('i32.and').op('i32.eqz');
    fn.get(flats).i32(0).op('i32.ne');
    pushDrains(fn, vm, lgkm).i32(0).op('i32.ne').op('i32.and').op('i32.or').if();
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

/** Leaves the counters that a wait drains, as a flat operation's entry has them. */
function pushDrains(fn: WasmFunction, vm: number, lgkm: number): WasmFunction {
  fn.get(vm)
    .op('i32.eqz')
    .i32(FLAT_VM << FLAT_LEFT_SHIFT)
    .op('i32.mul');
  return fn
    .get(lgkm)
    .op('i32.eqz')
    .i32(FLAT_LGKM << FLAT_LEFT_SHIFT)
    .op('i32.mul')
    .op('i32.or');
}

/** No operation is outstanding. */
function emptyLog(fn: WasmFunction, shadow: number): void {
  const counts = [
    SHADOW_LOGGED,
    SHADOW_LOGGED_VM,
    SHADOW_LOGGED_FLATS,
    SHADOW_TOTAL,
    SHADOW_LEFT,
    SHADOW_OVERLAPS,
  ] as const;
  for (const at of counts) {
    fn.get(shadow).i32(0).memory('i32.store', at);
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
    const local = (): number => fn.local('i32');
    const [log, entry, end, kind] = [local(), local(), local(), local()];
    const [dropVm, dropOthers, left, vms] = [local(), local(), local(), local()];
    const [stores, flights, flats, drains] = [local(), local(), local(), local()];
    const all = { fn, code, shadow, log, entry, end, kind };
    const isOf = (what: number): WasmFunction => fn.get(kind).i32(what).op('i32.and');
    const add = (local: number, by: 1 | -1): WasmFunction => fn.get(local).i32(by).op('i32.add').set(local);
    const countIf = (what: number, local: number): WasmFunction =>
      isOf(what).i32(0).op('i32.ne').get(local).op('i32.add').set(local);
    const field = (at: number): WasmFunction => fn.get(shadow).memory('i32.load', at);
    fn.get(shadow).i32(SHADOW_LOG).op('i32.add').tee(log);
    field(SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').op('i32.add').set(end);
    field(SHADOW_LOGGED_VM).tee(vms).get(vm).op('i32.sub').set(dropVm);
    field(SHADOW_LEFT).set(left);
    field(SHADOW_LOGGED_FLATS).set(flats);
    pushDrains(fn, vm, lgkm).set(drains);
    // How many others there are; but for a count of 0, scalar loads are none of them.
    field(SHADOW_LOGGED).get(vms).op('i32.sub').get(left).op('i32.sub').get(flats).op('i32.sub');
    fn.tee(dropOthers).get(lgkm).op('i32.gt_u');
    fn.get(lgkm).i32(0).op('i32.ne').op('i32.and');
    code.if(() => {
      fn.i32(0).set(dropOthers);
      eachEntry(all, () => countIf(LOGGED_LDS, dropOthers));
    });
    fn.get(dropOthers).get(lgkm).op('i32.sub').set(dropOthers);
    code.block((done) => {
      eachEntry(all, () => {
        const isWanted = (count: number): WasmFunction => fn.get(count).i32(0).op('i32.gt_s');
        isWanted(dropVm);
        isWanted(dropOthers).op('i32.or');
        fn.get(flats).i32(0).get(drains).select().op('i32.or').op('i32.eqz');
        code.brIf(done);
        code.block((next) => {
          fn.get(kind).op('i32.eqz');
          code.brIf(next);
          isOf(LOGGED_FLAT);
          code.if(
            () => {
              fn.get(kind).get(drains).i32(-1).op('i32.xor').op('i32.and').set(kind);
              fn.get(entry).get(kind).memory('i32.store', LOG_KIND);
              // What it writes to LDS is counted by lgkmcnt.
              fn.get(lgkm).op('i32.eqz');
              code.if(() => fn.get(entry).i32(0).memory('i32.store', LOG_PARTS));
              fn.get(kind)
                .i32((FLAT_VM | FLAT_LGKM) << FLAT_LEFT_SHIFT)
                .op('i32.and');
              code.brIf(next);
              add(flats, -1);
            },
            () => {
              isOf(LOGGED_VM);
              code.if(
                () => {
                  isWanted(dropVm).op('i32.eqz');
                  code.brIf(next);
                  add(dropVm, -1);
                  add(vms, -1);
                  countIf(LOGGED_STORE, stores);
                  countIf(LOGGED_FLIGHT, flights);
                },
                () => {
                  isWanted(dropOthers).op('i32.eqz');
                  fn.get(lgkm).i32(0).op('i32.ne');
                  isOf(LOGGED_LDS).op('i32.eqz').op('i32.and').op('i32.or');
                  code.brIf(next);
                  add(dropOthers, -1);
                },
              );
            },
          );
          isOf(LOGGED_FETCH);
          code.if(() => fn.get(shadow).get(entry).call(arriveFunction(module)));
          isOf(LOGGED_BACK);
          code.if(() => noteWrittenBack(fn, shadow, () => fn.get(entry).memory('i32.load', LOG_BACK)));
          fn.get(entry).i32(0).memory('i32.store', LOG_KIND);
          add(left, 1);
          eachSlot(all, (bit) => {
            bit();
            fn.i32(-1).op('i32.xor').op('i32.and');
          });
        });
      });
    });
    const put = (at: number, push: () => WasmFunction): void => {
      fn.get(shadow);
      push().memory('i32.store', at);
    };
    put(SHADOW_LOGGED_VM, () => fn.get(vms));
    put(SHADOW_LOGGED_FLATS, () => fn.get(flats));
    put(SHADOW_LEFT, () => fn.get(left));
    put(SHADOW_FLIGHTS_DONE, () => field(SHADOW_FLIGHTS_DONE).get(flights).op('i32.add'));
    put(SHADOW_COMPLETE, () => field(SHADOW_COMPLETE).get(stores).op('i32.add'));
    fn.get(vm).op('i32.eqz');
    code.if(() => put(SHADOW_COMPLETE, () => field(SHADOW_STORES)));
    fn.get(left);
    field(SHADOW_LOGGED).op('i32.eq');
    code.if(() => {
      emptyLog(fn, shadow);
      fn.return();
    });
    field(SHADOW_OVERLAPS);
    code.if(() => {
      clearPending(fn, shadow);
      eachEntry(all, () => {
        fn.get(kind);
        code.if(() =>
          eachSlot(all, (bit) => {
            bit();
            fn.op('i32.or');
          }),
        );
      });
    });
    fn.get(left).i32(MOST_LEFT).op('i32.ge_u');
    code.if(() => fn.get(shadow).call(moveUp(module)));
  });
}

/** (shadow): the values of all atomics of memory in the log have come back. */
function arriveAllFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.wait.arrive', ['i32'], [], (fn) => {
    const code = new Code(fn);
    const shadow = 0;
    const [log, entry, end, kind] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(shadow).i32(SHADOW_LOG).op('i32.add').tee(log);
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').op('i32.add').set(end);
    eachEntry({ fn, code, shadow, log, entry, end, kind }, () =>
      fn.get(shadow).get(entry).call(arriveFunction(module)),
    );
  });
}

/** The log as locals: its beginning, an entry, its end, what the entry is. */
interface LogLocals {
  readonly fn: WasmFunction;
  readonly code: Code;
  readonly shadow: number;
  readonly log: number;
  readonly entry: number;
  readonly end: number;
  readonly kind: number;
}

/** Runs `body` for each of the entries, of which there is one at least. */
function eachEntry({ fn, code, log, entry, end, kind }: LogLocals, body: () => void): void {
  fn.get(log).set(entry);
  code.loop((again) => {
    fn.get(entry).memory('i32.load', LOG_KIND).set(kind);
    body();
    fn.get(entry).i32(LOG_ENTRY_BYTES).op('i32.add').tee(entry).get(end).op('i32.lt_u');
    code.brIf(again);
  });
}

/** Changes the bits of the slots that the entry writes among those pending: `change` makes the next byte of the one on the stack. */
function eachSlot({ fn, code, shadow, entry }: LogLocals, change: (bit: () => void) => void): void {
  const [slot, slots, place] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
  fn.get(entry).memory('i32.load16_u', LOG_SLOTS).set(slots);
  fn.get(entry).memory('i32.load16_u', LOG_SLOT).set(slot);
  code.block((done) => {
    code.loop((more) => {
      fn.get(slots).op('i32.eqz');
      code.brIf(done);
      fn.get(slot).i32(3).op('i32.shr_u').get(shadow).op('i32.add').tee(place);
      fn.get(place).memory('i32.load8_u', SHADOW_PENDING);
      change(() => fn.i32(1).get(slot).i32(7).op('i32.and').op('i32.shl'));
      fn.memory('i32.store8', SHADOW_PENDING);
      fn.get(slot).i32(1).op('i32.add').set(slot);
      fn.get(slots).i32(1).op('i32.sub').set(slots);
      code.br(more);
    });
  });
  for (const one of [slot, slots, place]) fn.release('i32', one);
}

/** (shadow): entries whose operations have left the log make room for others. */
function moveUp(module: WasmModule): WasmFunction {
  return module.helper('strict.wait.move', ['i32'], [], (fn) => {
    const code = new Code(fn);
    const shadow = 0;
    const local = (): number => fn.local('i32');
    const [log, entry, end, kind, to] = [local(), local(), local(), local(), local()];
    fn.get(shadow).i32(SHADOW_LOG).op('i32.add').tee(log).tee(to);
    fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').op('i32.add').set(end);
    eachEntry({ fn, code, shadow, log, entry, end, kind }, () => {
      fn.get(kind);
      code.if(() => {
        fn.get(entry).get(to).op('i32.ne');
        code.if(() => {
          fn.get(to).get(entry).get(entry).memory('i32.load', LOG_PARTS).i32(LOG_PART_BYTES).op('i32.mul');
          // The number of an atomic, and LOG_BACK, are in place of a part.
          fn.i32(LOG_BACK + 4)
            .op('i32.add')
            .memoryCopy();
        });
        fn.get(to).i32(LOG_ENTRY_BYTES).op('i32.add').set(to);
      });
    });
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_LOGGED);
    fn.get(shadow).memory('i32.load', SHADOW_LEFT).op('i32.sub').tee(entry).memory('i32.store', SHADOW_LOGGED);
    fn.get(shadow).get(entry).memory('i32.store', SHADOW_TOTAL);
    fn.get(shadow).i32(0).memory('i32.store', SHADOW_LEFT);
  });
}
