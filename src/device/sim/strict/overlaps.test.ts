// Lanes of one store whose elements of several dwords overlap without having the same address: strides that are too short, and places where values say.
import { expect, test } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../tests/support/strict.ts';

const LANES = 64;
/** By store: bytes of an element, and of what its addresses are multiples of. */
const STORES = {
  'global_store_dwordx2 v3, v[8:9], s[4:5]': 8,
  'global_store_dwordx3 v3, v[8:10], s[4:5]': 12,
  'global_store_dwordx4 v3, v[8:11], s[4:5]': 16,
  'ds_write_b64 v3, v[8:9]': 8,
  'ds_write_b128 v3, v[8:11]': 16,
  'ds_write2_b32 v3, v8, v9 offset0:4 offset1:5': 8,
  'ds_write2_b64 v3, v[8:9], v[10:11] offset0:2 offset1:3': 16,
  'ds_write2_b64 v3, v[8:9], v[10:11] offset0:2 offset1:7': 8,
} as const;

/** Each lane stores its own number in all dwords, to dword `(factor × lane + lane / row × step) mod 4096` of the buffer or of LDS; lanes from `active` on are off. */
const kernel = (store: string, factor: number, row: number, step: number, active: bigint): string => `
v_and_b32_e32 v0, 0x3ff, v0
v_mul_u32_u24_e32 v3, ${factor}, v0
v_lshrrev_b32_e32 v4, ${row}, v0
v_mul_u32_u24_e32 v4, ${step}, v4
v_add_u32_e32 v3, v3, v4
v_and_b32_e32 v3, 0xfff, v3
v_lshlrev_b32_e32 v3, 2, v3
v_add_u32_e32 v8, 1, v0
v_mov_b32_e32 v9, v8
v_mov_b32_e32 v10, v8
v_mov_b32_e32 v11, v8
s_mov_b32 exec_lo, 0x${(active & 0xffffffffn).toString(16)}
s_mov_b32 exec_hi, 0x${(active >> 32n).toString(16)}
s_nop 0
${store}
s_waitcnt vmcnt(0) lgkmcnt(0)`;

test('are found by both engines wherever they are', async () => {
  const found = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(STORES) as (keyof typeof STORES)[])),
      fc.integer({ min: 1, max: 80 }),
      fc.nat(5),
      fc.nat(300),
      fc.oneof(fc.constant((1n << 64n) - 1n), fc.bigInt(0n, (1n << 64n) - 1n)),
      async (store, factor, row, step, active) => {
        const length = STORES[store] / 4;
        const at = Array.from({ length: LANES }, (_, lane) => (factor * lane + (lane >> row) * step) & 0xfff);
        const lanes = at.filter((_, lane) => ((active >> BigInt(lane)) & 1n) !== 0n);
        const overlap = lanes.some((a, n) => lanes.some((b, k) => k !== n && Math.abs(a - b) < length));
        found.add(overlap);
        for (const engine of ['interpreter', 'compiled'] as const) {
          const findings = await strictFindings(kernel(store, factor, row, step, active), {
            target: 'gfx90a',
            engine,
            block: [LANES, 1, 1],
            bufferBytes: 20480,
            lds: 20480,
          });
          expect([engine, ...findings.map(({ rule }) => rule)]).toEqual([engine, ...(overlap ? ['races/lanes'] : [])]);
        }
      },
    ),
    { numRuns: 60 },
  );
  expect([...found].sort()).toEqual([false, true]);
});
