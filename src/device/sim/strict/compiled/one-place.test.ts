// A load that all of its lanes make at one place is looked at as one of them; any other one keeps its lanes.
import { expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { LANES } from '../../state/layout.ts';
import { WasmModule } from '../../wasm/emit.ts';
import { ENTRY_ADDRESSES, ENTRY_LANES } from '../races/sync-log.ts';
import { onePlaceFunction } from './sync-lanes.ts';

const ENTRY = 1024;

const lanesLeft = (() => {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 2, maximum: 65536, shared: false });
  module.export('one', onePlaceFunction(module));
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 65536 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const call = exports.one as (entry: number) => void;
  const lanes = new BigUint64Array(memory.buffer, ENTRY + ENTRY_LANES, 1);
  const words = new Int32Array(memory.buffer, ENTRY + ENTRY_ADDRESSES, LANES);
  return (addresses: readonly number[], active: bigint): bigint => {
    lanes[0] = active;
    words.set(addresses);
    call(ENTRY);
    expect([...words]).toEqual(addresses);
    return lanes[0] as bigint;
  };
})();

function expected(addresses: readonly number[], active: bigint): bigint {
  const at = addresses.flatMap((address, lane) => ((active >> BigInt(lane)) & 1n ? [{ address, lane }] : []));
  const isOne = at.every(({ address }) => address === at[0]?.address);
  return isOne && at[0] !== undefined ? 1n << BigInt(at[0].lane) : active;
}

/** Lanes that are not active have any address: mostly that of the others, too. */
const PLACES = fc.record({
  base: fc.constantFrom(0, 4, 0x7ffffffc, -4),
  others: fc.array(fc.record({ lane: fc.nat(LANES - 1), by: fc.constantFrom(0, 4, -4, 1 << 31) }), { maxLength: 4 }),
});
const ACTIVE = fc.oneof(
  fc.constantFrom(0n, 1n, 1n << 63n, (1n << 64n) - 1n, 0xffffffffn, 0xffffffffn << 32n),
  fc.nat(LANES - 1).map((lane) => ((1n << 64n) - 1n) ^ (1n << BigInt(lane))),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);

it('one lane is left where all active ones look at one place', () => {
  const seen = { one: 0, more: 0 };
  fc.assert(
    fc.property(PLACES, ACTIVE, ({ base, others }, active) => {
      const addresses = Array.from<number>({ length: LANES }).fill(base);
      for (const { lane, by } of others) addresses[lane] = (base + by) | 0;
      const wanted = expected(addresses, active);
      if (wanted === active) seen.more++;
      else seen.one++;
      expect(lanesLeft(addresses, active)).toBe(wanted);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
  expect(Math.min(seen.one, seen.more)).toBeGreaterThan(50);
});

it.each(Array.from({ length: LANES }, (_, lane) => lane))('lane %i counts when it is active, and only then', (lane) => {
  const addresses = Array.from({ length: LANES }, (_, n) => (n === lane ? 8 : 4));
  const all = (1n << 64n) - 1n;
  const without = all ^ (1n << BigInt(lane));
  expect(lanesLeft(addresses, all)).toBe(all);
  expect(lanesLeft(addresses, without)).toBe(lane === 0 ? 2n : 1n);
});
