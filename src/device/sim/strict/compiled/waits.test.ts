// Waits in compiled code take out of a wavefront's log what a wait proves complete: compared with a list of operations.

import { describe, expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { FLAT_LGKM, FLAT_VM } from '../../../../program/index.ts';
import { WasmModule } from '../../wasm/emit.ts';
import { RegisterShadow } from '../registers/registers.ts';
import {
  LOG_ENTRIES,
  LOGGED_FLAT,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_SCALAR,
  LOGGED_STORE,
  LOGGED_VM,
  SHADOW_BYTES,
} from '../registers/shadow-layout.ts';
import { FLAT_ISSUED } from '../registers/wave-shadow.ts';
import { waitFunction } from './waits.ts';

interface Operation {
  readonly kind: number;
  readonly first: number;
  readonly count: number;
  /** LDS addresses that it writes. */
  readonly lds: readonly number[];
  /** Of flat ones, the counters that have not been drained since. */
  readonly left?: number;
}

interface Wait {
  readonly vm: number;
  readonly lgkm: number;
}

/** Few slots, so that operations that write one slot are outstanding together now and then. */
const operation = fc
  .record({
    kind: fc.constantFrom(
      LOGGED_VM,
      LOGGED_VM,
      LOGGED_VM | LOGGED_STORE,
      LOGGED_VM | LOGGED_FLIGHT,
      LOGGED_LDS,
      LOGGED_LDS,
      LOGGED_SCALAR,
      FLAT_ISSUED,
      FLAT_ISSUED | LOGGED_STORE,
    ),
    first: fc.nat(90),
    count: fc.nat(9),
    lds: fc.array(fc.nat(1000), { maxLength: 4 }),
  })
  .map(({ kind, first, count, lds }): Operation => {
    const writes = (kind & (LOGGED_STORE | LOGGED_FLIGHT)) === 0;
    const writesLds = (kind & LOGGED_LDS) !== 0 || kind === (FLAT_ISSUED | LOGGED_STORE);
    const left = (kind & LOGGED_FLAT) !== 0 ? FLAT_VM | FLAT_LGKM : 0;
    return { kind, first, count: writes ? count : 0, lds: writesLds ? lds : [], left };
  });
const wait = fc.record({ vm: fc.constantFrom(0, 1, 3, 8, 20, 63), lgkm: fc.constantFrom(0, 1, 2, 5, 15) });
const steps = fc.array(fc.oneof({ weight: 4, arbitrary: operation }, { weight: 1, arbitrary: wait }), {
  maxLength: 150,
});

function compiledWait(): { readonly shadow: RegisterShadow; readonly pass: (one: Wait) => boolean } {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 2, maximum: 65536, shared: false });
  module.export('wait', waitFunction(module));
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 65536 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  expect(SHADOW_BYTES).toBeLessThan(memory.buffer.byteLength);
  const call = exports.wait as (shadow: number, vm: number, lgkm: number) => number;
  return { shadow: new RegisterShadow(memory.buffer, 0), pass: ({ vm, lgkm }) => call(0, vm, lgkm) === 1 };
}

const isFlat = ({ kind }: Operation): boolean => (kind & LOGGED_FLAT) !== 0;

/** What a wait leaves of the operations: the latest of each kind that comes back in order, all scalar loads or none, flat ones until both counters are drained. */
function leftAfter<T extends Operation>(all: readonly T[], { vm, lgkm }: Wait): T[] {
  const drained = (vm === 0 ? FLAT_VM : 0) | (lgkm === 0 ? FLAT_LGKM : 0);
  const flats = all
    .filter(isFlat)
    .map((one) => ({ ...one, left: (one.left ?? 0) & ~drained, lds: lgkm === 0 ? [] : one.lds }));
  const operations = all.filter((one) => !isFlat(one));
  const isVm = ({ kind }: T): boolean => (kind & LOGGED_VM) !== 0;
  const isLds = ({ kind }: T): boolean => (kind & LOGGED_LDS) !== 0;
  const others = operations.filter((one) => !isVm(one)).length;
  const kept = (of: (one: T) => boolean, count: number): T[] => {
    const all = operations.filter(of);
    return all.slice(Math.max(0, all.length - count));
  };
  const [vms, lds] = [kept(isVm, vm), kept(isLds, lgkm >= others ? others : lgkm)];
  const isLeft = (one: T): boolean => (isVm(one) ? vms.includes(one) : isLds(one) ? lds.includes(one) : lgkm > 0);
  return all.flatMap((one) => {
    if (!isFlat(one)) return isLeft(one) ? [one] : [];
    const flat = flats.shift() as T;
    return flat.left === 0 ? [] : [flat];
  });
}

describe('waits in compiled code', () => {
  it('leave in the log what a list of operations has', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { shadow, pass } = compiledWait();
        let listed: (Operation & { readonly pc: number })[] = [];
        const counts = { stores: 0, complete: 0, flights: 0 };
        all.forEach((step, n) => {
          if ('vm' in step) {
            expect(pass(step)).toBe(true);
            const stores = (): number => listed.filter(({ kind }) => kind === (LOGGED_VM | LOGGED_STORE)).length;
            const before = stores();
            listed = leftAfter(listed, step);
            counts.complete = step.vm === 0 ? counts.stores : counts.complete + before - stores();
          } else {
            const isLogged = shadow.tryLog(4 * n, step.kind, step.first, step.count, [Uint32Array.from(step.lds)]);
            if (isLogged) {
              listed.push({ ...step, pc: 4 * n });
              if ((step.kind & LOGGED_STORE) !== 0) counts.stores++;
              if ((step.kind & LOGGED_FLIGHT) !== 0) counts.flights++;
            } else expect(listed.length).toBeGreaterThan(LOG_ENTRIES / 2);
          }
          const of = (kind: number): number => listed.filter((one) => (one.kind & kind) !== 0).length;
          const inLds = listed.filter((one) => !isFlat(one) || ((one.left ?? 0) & FLAT_LGKM) !== 0);
          expect(shadow.loggedReads(() => true).map(({ pc }) => pc)).toEqual(inLds.map(({ pc }) => pc));
          expect(shadow.loggedVm).toBe(of(LOGGED_VM));
          expect(shadow.outstanding[0]).toBe(shadow.logged);
          expect(shadow.logged === 0).toBe(listed.length === 0);
          expect([...shadow.outstanding.subarray(2, 6)]).toEqual([
            counts.stores,
            counts.complete,
            counts.flights,
            counts.flights - of(LOGGED_FLIGHT),
          ]);
          for (let slot = 0; slot < 100; slot++) {
            const isWritten = listed.some(({ first, count }) => slot >= first && slot < first + count);
            expect(shadow.isPending([{ first: slot, count: 1 }]), `slot ${slot}`).toBe(isWritten);
          }
        });
        const taken = shadow.takeLog();
        expect(taken.map(({ pc }) => pc)).toEqual(listed.map(({ pc }) => pc));
        expect(taken.map(({ left }, n) => (isFlat(listed[n] as Operation) ? left : 0))).toEqual(
          listed.map(({ left }) => left),
        );
        expect(taken.map(({ lds }) => [...(lds[0]?.addresses ?? [])])).toEqual(listed.map(({ lds }) => lds));
        expect(shadow.outstanding[0]).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
