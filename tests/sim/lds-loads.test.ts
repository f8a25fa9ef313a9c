// Loads from memory into LDS land late on hardware: waves that still read the old data at the same point of the program see it.
import { expect, test } from 'vitest';
import { createDevice, type SimDispatchRequest } from '../../src/device/index.ts';
import { kernelObject } from '../support/kernel-source.ts';

// Two waves: each writes its numbers to LDS, reads the other's after the barrier, and then at once loads zeros over all of it.
const CODE = `s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
ds_write_b32 v1, v0
v_xor_b32_e32 v3, 0x100, v1
v_mov_b32_e32 v4, 0
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v2, v3
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, 0
s_nop 0
global_load_lds_dword v4, s[2:3]
s_mov_b32 m0, 0x100
s_nop 0
global_load_lds_dword v4, s[2:3]
s_waitcnt vmcnt(0)
global_store_dword v1, v2, s[2:3] offset:256`;

/** What the kernel leaves in memory. */
async function run(code: string, options: Partial<SimDispatchRequest>): Promise<number[]> {
  const { bytes } = kernelObject({ code, descriptor: { group_segment_fixed_size: 512 } });
  const device = await createDevice('sim', { target: 'gfx942' });
  const buffer = device.alloc(256 + 512);
  const kernel = device.load(bytes).kernel('k');
  await device.dispatch({ kernel, grid: [1, 1, 1], block: [128, 1, 1], args: [buffer], ...options });
  return [...new Uint32Array(device.read(buffer, 256).buffer)];
}

const EXPECTED = Array.from({ length: 128 }, (_, i) => i ^ 64);

test.each(['interpreter', 'compiled'] as const)('waves catch up before a load into LDS (%s)', async (engine) => {
  expect(await run(CODE, { engine })).toEqual(EXPECTED);
});

test.each(['interpreter', 'compiled'] as const)('in shuffled orders they may come too late (%s)', async (engine) => {
  const right = CODE.replace('s_mov_b32 m0, 0\n', 's_barrier\ns_mov_b32 m0, 0\n');
  const seeds = Array.from({ length: 12 }, (_, n) => n + 1);
  const all = (code: string) => Promise.all(seeds.map((seed) => run(code, { engine, order: { seed } })));
  for (const got of await all(right)) expect(got).toEqual(EXPECTED);
  const late = (await all(CODE)).filter((got) => got.some((value, i) => value !== EXPECTED[i]));
  expect(late.length).toBeGreaterThan(0);
  expect(late.length).toBeLessThan(seeds.length);
});

/** The first wave loads three times into the second one's place and then into its own, which the second one still has to read. */
const AHEAD = `s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v2, v0
v_mov_b32_e32 v4, 0
v_readfirstlane_b32 s4, v0
ds_write_b32 v1, v0
s_waitcnt lgkmcnt(0)
s_barrier
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 reads
s_mov_b32 m0, 0x100
${'global_load_lds_dword v4, s[2:3]\ns_waitcnt vmcnt(0)\n'.repeat(3)}HANDED_BACK
s_mov_b32 m0, 0
s_nop 0
global_load_lds_dword v4, s[2:3]
s_waitcnt vmcnt(0)
s_branch stores
reads:
v_xor_b32_e32 v3, 0x100, v1
ds_read_b32 v2, v3
s_waitcnt lgkmcnt(0)
HANDED_BACK
stores:
global_store_dword v1, v2, s[2:3] offset:256`;

test.each(['interpreter', 'compiled'] as const)('a wave may be several loads ahead (%s)', async (engine) => {
  const expected = Array.from({ length: 128 }, (_, i) => i % 64);
  const [right, wrong] = ['s_barrier', 's_nop 0'].map((text) => AHEAD.replaceAll('HANDED_BACK', text)) as [
    string,
    string,
  ];
  const seeds = Array.from({ length: 48 }, (_, n) => n + 1);
  expect(await run(wrong, { engine })).toEqual(expected);
  for (const seed of seeds) expect(await run(right, { engine, order: { seed } })).toEqual(expected);
  const all = await Promise.all(seeds.map((seed) => run(wrong, { engine, order: { seed } })));
  expect(all.filter((got) => got.slice(64).every((value) => value === 0)).length).toBeGreaterThan(0);
});
