// Lanes at flat addresses: scratch, LDS and global memory in one instruction, each checked as that space is.
import { expect, it } from 'vitest';
import { strictFindings } from '../../../../tests/support/strict.ts';

const WAIT = 's_waitcnt vmcnt(0) lgkmcnt(0)';
/**
 * v[4:5]: an address for each lane, `n` bytes behind four times the lane: of LDS for lanes below 16, of scratch (4 bytes on, for all the same) for
 * those below 32, of the buffer for the others. v8 has the number of the lane.
 */
const addresses = (n: number): string => `v_lshrrev_b32_e32 v8, 2, v1
s_mov_b64 s[8:9], src_shared_base
s_mov_b64 s[10:11], src_private_base
v_add_u32_e32 v6, ${n}, v1
v_add_co_u32_e32 v4, vcc, s4, v6
v_mov_b32_e32 v5, s5
v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
v_mov_b32_e32 v7, s9
v_mov_b32_e32 v9, s11
v_mov_b32_e32 v10, ${4 + n}
v_cmp_gt_u32_e32 vcc, 32, v8
v_cndmask_b32_e32 v4, v4, v10, vcc
v_cndmask_b32_e32 v5, v5, v9, vcc
v_cmp_gt_u32_e32 vcc, 16, v8
v_cndmask_b32_e32 v4, v4, v6, vcc
v_cndmask_b32_e32 v5, v5, v7, vcc`;
const STORE = `flat_store_dword v[4:5], v8\n${WAIT}`;
const LOAD = `flat_load_dword v11, v[4:5]\n${WAIT}`;
const USE = `v_add_u32_e32 v11, 1, v11\nglobal_store_dword v1, v11, s[4:5] offset:512\n${WAIT}`;

it.each([
  ['what has been stored comes back', [addresses(0), STORE, LOAD, USE], []],
  ['LDS and scratch that nothing has written', [addresses(0), LOAD, USE], ['memory/uninitialised']],
  ['scratch that is stored', [addresses(0), 's_mov_b32 exec_lo, 0xffff0000', STORE, LOAD, USE], []],
  [
    'LDS that is stored, and scratch that is not',
    [addresses(0), 's_mov_b64 exec, 0xffff', STORE, 's_mov_b64 exec, -1', LOAD, USE],
    ['memory/uninitialised'],
  ],
  ['scratch beyond what a lane has', [addresses(16), STORE], ['memory/scratch-out-of-bounds']],
  ['the buffer', [addresses(0), 's_mov_b32 exec_lo, 0', LOAD, USE], []],
  ['behind the buffer', [addresses(0x4000), 's_mov_b32 exec_lo, 0', LOAD], ['memory/out-of-bounds']],
  [
    'bytes that have not been stored in a dword that has',
    [addresses(0), 's_mov_b32 exec_lo, 0xffff0000', `flat_store_byte v[4:5], v8\n${WAIT}`, LOAD, USE],
    [],
  ],
  [
    'a value that nothing has written',
    [addresses(0), `flat_store_dword v[4:5], v30\n${WAIT}`],
    ['registers/uninitialised'],
  ],
] as const)('%s', async (_name, lines, rules) => {
  for (const engine of ['compiled', 'interpreter'] as const) {
    const findings = await strictFindings(lines.join('\n'), {
      engine,
      lds: 256,
      bufferBytes: 4096,
      descriptor: { private_segment_fixed_size: 16, enable_private_segment: 1 },
      metadata: { '.private_segment_fixed_size': 16 },
    });
    expect([...new Set(findings.map(({ rule }) => rule))]).toEqual(rules);
  }
});
