// Pairs of kernels that are the same function: edits as a person makes them by hand.
import { all, LGKM, LOAD, STORE, VM } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

const split = (text: string): string[] => text.split('; ');
/** Two versions of some lines, and a store of v2. v8 to v15, and the pair s[12:13], hold loaded numbers. */
const DATA = [
  'global_load_dwordx4 v[8:11], v1, s[4:5]',
  'global_load_dwordx4 v[12:15], v1, s[4:5] offset:1024',
  's_load_dwordx2 s[12:13], s[4:5], 0x0',
  's_waitcnt vmcnt(0) lgkmcnt(0)',
];
const same = (name: string, x: string, y: string): Pair => [
  name,
  all(...DATA, ...split(x), STORE),
  all(...DATA, ...split(y), STORE),
];
const lines = (name: string, x: readonly string[], y: readonly string[]): Pair => [name, all(...x), all(...y)];
/** A loop over s12 from 0 that adds up what it loads. */
const SUM = (address: string, body: string, by: number, test: string): string[] => [
  'v_mov_b32_e32 v2, 0',
  's_mov_b32 s12, 0',
  address,
  '.Ll:',
  ...split(body),
  `s_add_u32 s12, s12, ${by}`,
  test,
  's_cbranch_scc1 .Ll',
  STORE,
];
const TURN = 'global_load_dword v3, v4, s[4:5]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v2, v3; v_add_u32_e32 v4, 64, v4';
const ADD = 'v_add_f32_e32 v2, v2, v3';
const SOME = 'v_cmp_gt_u32_e32 vcc, s12, v8; s_and_saveexec_b64 s[16:17], vcc';
const ALL = 's_mov_b64 exec, s[16:17]';

export const EDITS: readonly Pair[] = [
  // Loops.
  lines(
    'a loop that is rotated',
    [
      'v_mov_b32_e32 v2, 0',
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v4, v1',
      '.Ll:',
      's_cmp_ge_u32 s12, s10',
      's_cbranch_scc1 .Le',
      ...split(TURN),
      's_add_u32 s12, s12, 1',
      's_branch .Ll',
      '.Le:',
      STORE,
    ],
    [
      'v_mov_b32_e32 v2, 0',
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v4, v1',
      's_cmp_ge_u32 s12, s10',
      's_cbranch_scc1 .Le',
      '.Ll:',
      ...split(TURN),
      's_add_u32 s12, s12, 1',
      's_cmp_lt_u32 s12, s10',
      's_cbranch_scc1 .Ll',
      '.Le:',
      STORE,
    ],
  ),
  lines(
    'a loop by two',
    SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, 8'),
    SUM('v_mov_b32_e32 v4, v1', `${TURN}; ${TURN}`, 2, 's_cmp_lg_u32 s12, 8'),
  ),
  lines(
    'a loop by eight',
    SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, 16'),
    SUM('v_mov_b32_e32 v4, v1', Array.from({ length: 8 }, () => TURN).join('; '), 8, 's_cmp_lg_u32 s12, 16'),
  ),
  lines('a loop without a loop', SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, 4'), [
    'v_mov_b32_e32 v2, 0',
    'v_mov_b32_e32 v4, v1',
    ...Array.from({ length: 4 }, () => split(TURN)).flat(),
    STORE,
  ]),
  lines(
    'a step computed once',
    SUM(
      'v_mov_b32_e32 v4, v1',
      'global_load_dword v3, v4, s[4:5]; s_lshl_b32 s14, s11, 2; v_add_u32_e32 v4, s14, v4; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v2, v3',
      1,
      's_cmp_lg_u32 s12, s10',
    ),
    SUM(
      'v_mov_b32_e32 v4, v1\ns_lshl_b32 s14, s11, 2',
      'global_load_dword v3, v4, s[4:5]; v_add_u32_e32 v4, s14, v4; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v2, v3',
      1,
      's_cmp_lg_u32 s12, s10',
    ),
  ),
  lines(
    'an address by multiplication',
    SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, 8'),
    SUM(
      'v_mov_b32_e32 v4, v1',
      's_lshl_b32 s14, s12, 6; v_add_u32_e32 v5, s14, v1; global_load_dword v3, v5, s[4:5]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v2, v3',
      1,
      's_cmp_lg_u32 s12, 8',
    ),
  ),

  // Addresses.
  same(
    'an offset in the instruction',
    'v_add_u32_e32 v4, 64, v1; global_load_dword v2, v4, s[8:9]; s_waitcnt vmcnt(0)',
    'v_lshl_or_b32 v4, v0, 2, 0; v_add_u32_e32 v4, 64, v4; global_load_dword v2, v4, s[8:9]; s_waitcnt vmcnt(0)',
  ),
  same(
    'an address of 64 bits',
    'global_load_dword v2, v1, s[8:9]; s_waitcnt vmcnt(0)',
    'v_mov_b32_e32 v5, s9; v_add_co_u32_e32 v4, vcc, s8, v1; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
  ),
  same(
    'a sum of 64 bits in one instruction',
    'v_mov_b32_e32 v5, s9; v_add_co_u32_e32 v4, vcc, s8, v1; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
    'v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, 0; v_lshl_add_u64 v[4:5], v[6:7], 0, s[8:9]; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
  ),
  same(
    'a pointer moved on by the scalar unit',
    'global_load_dword v2, v1, s[8:9] offset:1024; s_waitcnt vmcnt(0)',
    's_add_u32 s14, s8, 0x400; s_addc_u32 s15, s9, 0; global_load_dword v2, v1, s[14:15]; s_waitcnt vmcnt(0)',
  ),
  same(
    'a shift and an addition in one',
    'v_lshlrev_b32_e32 v4, 3, v8; v_add_u32_e32 v2, v4, v9',
    'v_lshl_add_u32 v2, v8, 3, v9',
  ),
  same(
    'a product and an addition in one',
    'v_mul_u32_u24_e32 v4, v8, v9; v_add_u32_e32 v2, v4, v10',
    'v_mad_u32_u24 v2, v8, v9, v10',
  ),
  same('three added in one', 'v_add_u32_e32 v4, v8, v9; v_add_u32_e32 v2, v4, v10', 'v_add3_u32 v2, v8, v9, v10'),
  same('a product by shifts', 'v_mul_lo_u32 v2, v8, 9', 'v_lshl_add_u32 v2, v8, 3, v8'),
  same(
    'a power of two as a shift',
    's_mul_i32 s14, s12, 8; v_mov_b32_e32 v2, s14',
    's_lshl_b32 s14, s12, 3; v_mov_b32_e32 v2, s14',
  ),
  same(
    'an addition in another order',
    'v_add_u32_e32 v4, v8, v9; v_add_u32_e32 v2, v4, v10',
    'v_add_u32_e32 v4, v9, v10; v_add_u32_e32 v2, v8, v4',
  ),
  same(
    'a difference of sums',
    'v_add_u32_e32 v4, 12, v8; v_sub_u32_e32 v2, v4, v9',
    'v_sub_u32_e32 v4, v8, v9; v_add_u32_e32 v2, 12, v4',
  ),
  same('a field by shifts', 'v_bfe_u32 v2, v8, 4, 8', 'v_lshrrev_b32_e32 v4, 4, v8; v_and_b32_e32 v2, 0xff, v4'),
  same('and-or in one', 'v_and_b32_e32 v4, v8, v9; v_or_b32_e32 v2, v4, v10', 'v_and_or_b32 v2, v8, v9, v10'),
  same('a constant in a register', 'v_and_b32_e32 v2, 0xfff, v8', 's_movk_i32 s14, 0xfff; v_and_b32_e32 v2, s14, v8'),
  same(
    'a scalar in the place of a vector',
    'v_mov_b32_e32 v4, s12; v_lshlrev_b32_e32 v4, 2, v4; v_add_u32_e32 v2, v4, v8',
    's_lshl_b32 s14, s12, 2; v_add_u32_e32 v2, s14, v8',
  ),
  same(
    'a shift out of an index',
    'v_lshlrev_b32_e32 v4, 2, v8; v_lshlrev_b32_e32 v5, 2, v9; v_add_u32_e32 v2, v4, v5',
    'v_add_u32_e32 v4, v8, v9; v_lshlrev_b32_e32 v2, 2, v4',
  ),

  // Loads and stores.
  same(
    'two loads as one',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:4; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v5',
    'global_load_dwordx2 v[4:5], v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'four loads as one',
    'global_load_dwordx2 v[4:5], v1, s[8:9]; global_load_dwordx2 v[6:7], v1, s[8:9] offset:8; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v7',
    'global_load_dwordx4 v[4:7], v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v7',
  ),
  same(
    'reads of LDS as one',
    'ds_read_b32 v4, v1; ds_read_b32 v5, v1 offset:256; s_waitcnt lgkmcnt(0); v_add_f32_e32 v2, v4, v5',
    'ds_read2st64_b32 v[4:5], v1 offset1:1; s_waitcnt lgkmcnt(0); v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'a wide read of LDS',
    'v_lshlrev_b32_e32 v6, 1, v1; ds_read2_b32 v[4:5], v6 offset1:1; s_waitcnt lgkmcnt(0); v_add_f32_e32 v2, v4, v5',
    'v_lshlrev_b32_e32 v6, 1, v1; ds_read_b64 v[4:5], v6; s_waitcnt lgkmcnt(0); v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'two stores as one',
    'v_lshlrev_b32_e32 v6, 3, v0; global_store_dword v6, v8, s[8:9]; global_store_dword v6, v9, s[8:9] offset:4; v_mov_b32_e32 v2, v8',
    'v_lshlrev_b32_e32 v6, 3, v0; global_store_dwordx2 v6, v[8:9], s[8:9]; v_mov_b32_e32 v2, v8',
  ),
  same(
    'four stores as one',
    'v_lshlrev_b32_e32 v6, 4, v0; global_store_dwordx2 v6, v[8:9], s[8:9]; global_store_dwordx2 v6, v[10:11], s[8:9] offset:8; v_mov_b32_e32 v2, v8',
    'v_lshlrev_b32_e32 v6, 4, v0; global_store_dwordx4 v6, v[8:11], s[8:9]; v_mov_b32_e32 v2, v8',
  ),
  same(
    'writes of LDS as one',
    'v_lshlrev_b32_e32 v6, 3, v0; ds_write_b32 v6, v8; ds_write_b32 v6, v9 offset:4; v_mov_b32_e32 v2, v8',
    'v_lshlrev_b32_e32 v6, 3, v0; ds_write2_b32 v6, v8, v9 offset1:1; v_mov_b32_e32 v2, v8',
  ),
  same(
    'a scalar load for two',
    's_load_dword s14, s[8:9], 0x0; s_load_dword s15, s[8:9], 0x4; s_waitcnt lgkmcnt(0); s_add_u32 s14, s14, s15; v_mov_b32_e32 v2, s14',
    's_load_dwordx2 s[14:15], s[8:9], 0x0; s_waitcnt lgkmcnt(0); s_add_u32 s14, s14, s15; v_mov_b32_e32 v2, s14',
  ),
  same(
    'a load before the arithmetic',
    'v_mul_f32_e32 v4, v8, v9; v_add_f32_e32 v4, v4, v10; global_load_dword v5, v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v5',
    'global_load_dword v5, v1, s[8:9]; v_mul_f32_e32 v4, v8, v9; v_add_f32_e32 v4, v4, v10; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'loads in another order',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:64; s_waitcnt vmcnt(1); v_add_f32_e32 v6, v4, v8; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v6, v5',
    'global_load_dword v5, v1, s[8:9] offset:64; global_load_dword v4, v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v6, v4, v8; v_add_f32_e32 v2, v6, v5',
  ),
  same(
    'a finer wait',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:64; s_waitcnt vmcnt(0); v_add_f32_e32 v6, v4, v8; v_add_f32_e32 v2, v6, v5',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:64; s_waitcnt vmcnt(1); v_add_f32_e32 v6, v4, v8; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v6, v5',
  ),
  same(
    'a value kept in place of a second load',
    'global_load_dword v4, v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v5, v4, v8; global_load_dword v4, v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v4, v5',
    'global_load_dword v4, v1, s[8:9]; s_waitcnt vmcnt(0); v_add_f32_e32 v5, v4, v8; v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'a dead store to LDS of this lane',
    'v_mov_b32_e32 v2, v8; v_mov_b32_e32 v3, v9',
    'v_mov_b32_e32 v3, v9; v_mov_b32_e32 v2, v8',
  ),

  // Registers.
  same(
    'registers with other names',
    'v_mul_f32_e32 v4, v8, v9; v_add_f32_e32 v5, v4, v10; v_mov_b32_e32 v2, v5',
    'v_mul_f32_e32 v20, v8, v9; v_add_f32_e32 v2, v20, v10',
  ),
  same(
    'a value kept in an AGPR',
    'v_mul_f32_e32 v4, v8, v9; v_add_f32_e32 v2, v4, v10',
    'v_mul_f32_e32 v4, v8, v9; v_accvgpr_write_b32 a3, v4; s_nop 1; v_accvgpr_read_b32 v5, a3; v_add_f32_e32 v2, v5, v10',
  ),
  same(
    'a matrix product in AGPRs',
    'v_mov_b32_e32 v20, 0; v_mov_b32_e32 v21, 0; v_mov_b32_e32 v22, 0; v_mov_b32_e32 v23, 0; s_nop 1; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, v[20:23]; s_nop 7; v_mov_b32_e32 v2, v21',
    'v_accvgpr_write_b32 a4, 0; v_accvgpr_write_b32 a5, 0; v_accvgpr_write_b32 a6, 0; v_accvgpr_write_b32 a7, 0; s_nop 1; v_mfma_f32_4x4x1_16b_f32 a[4:7], v8, v9, a[4:7]; s_nop 7; v_accvgpr_read_b32 v2, a5',
  ),
  same(
    'a product that begins with zero',
    'v_mov_b32_e32 v20, 0; v_mov_b32_e32 v21, 0; v_mov_b32_e32 v22, 0; v_mov_b32_e32 v23, 0; s_nop 1; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, v[20:23]; s_nop 7; v_mov_b32_e32 v2, v21',
    'v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, 0; s_nop 7; v_mov_b32_e32 v2, v21',
  ),
  same(
    'a scalar kept in a lane',
    's_add_u32 s14, s12, s13; v_mov_b32_e32 v2, s14',
    's_add_u32 s14, s12, s13; v_writelane_b32 v5, s14, 3; s_nop 4; v_readlane_b32 s15, v5, 3; s_nop 4; v_mov_b32_e32 v2, s15',
  ),
  same(
    'a swap without a third register',
    'v_mov_b32_e32 v4, v8; v_mov_b32_e32 v8, v9; v_mov_b32_e32 v9, v4; v_sub_f32_e32 v2, v8, v9',
    'v_swap_b32 v8, v9; v_sub_f32_e32 v2, v8, v9',
  ),
  same(
    'a pair moved at once',
    'v_mov_b32_e32 v4, v8; v_mov_b32_e32 v5, v9; v_add_f32_e32 v2, v4, v5',
    'v_mov_b64_e32 v[4:5], v[8:9]; v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'another mask register',
    `v_cmp_gt_f32_e32 vcc, v8, v9; v_cndmask_b32_e32 v2, v8, v9, vcc`,
    `v_cmp_gt_f32_e64 s[14:15], v8, v9; s_nop 1; v_cndmask_b32_e64 v2, v8, v9, s[14:15]`,
  ),
  same(
    'an accumulating form',
    'v_fma_f32 v4, v8, v9, v10; v_mov_b32_e32 v2, v4',
    'v_mov_b32_e32 v2, v10; v_fmac_f32_e32 v2, v8, v9',
  ),

  // Branches and lanes.
  same(
    'a branch over nothing to do',
    `${SOME}; v_mov_b32_e32 v8, v9; ${ALL}; v_mov_b32_e32 v2, v8`,
    `${SOME}; s_cbranch_execz .La; v_mov_b32_e32 v8, v9; .La:; ${ALL}; v_mov_b32_e32 v2, v8`,
  ),
  same(
    'sides exchanged',
    's_cmp_lt_u32 s12, s13; s_cbranch_scc1 .La; v_mov_b32_e32 v2, v8; s_branch .Lb; .La:; v_mov_b32_e32 v2, v9; .Lb:',
    's_cmp_ge_u32 s12, s13; s_cbranch_scc1 .La; v_mov_b32_e32 v2, v9; s_branch .Lb; .La:; v_mov_b32_e32 v2, v8; .Lb:',
  ),
  same(
    'a scalar choice',
    's_cmp_lt_u32 s12, s13; s_cselect_b32 s14, s12, s13; v_mov_b32_e32 v2, s14',
    's_min_u32 s14, s12, s13; v_mov_b32_e32 v2, s14',
  ),
  same(
    'a test exchanged',
    's_cmp_lt_u32 s12, s13; s_cselect_b32 s14, 1, 2; v_mov_b32_e32 v2, s14',
    's_cmp_gt_u32 s13, s12; s_cselect_b32 s14, 1, 2; v_mov_b32_e32 v2, s14',
  ),
  same(
    'an inverted choice',
    's_cmp_eq_u32 s12, s13; s_cselect_b32 s14, 1, 2; v_mov_b32_e32 v2, s14',
    's_cmp_lg_u32 s12, s13; s_cselect_b32 s14, 2, 1; v_mov_b32_e32 v2, s14',
  ),
  same(
    'arithmetic moved before a branch',
    's_cmp_lt_u32 s12, s13; s_cbranch_scc1 .La; v_add_f32_e32 v2, v8, v9; s_branch .Lb; .La:; v_add_f32_e32 v4, v8, v9; v_add_f32_e32 v2, v4, v10; .Lb:',
    'v_add_f32_e32 v2, v8, v9; s_cmp_lt_u32 s12, s13; s_cbranch_scc0 .Lb; v_add_f32_e32 v2, v2, v10; .Lb:',
  ),
  same(
    'priorities and sleep',
    'v_add_f32_e32 v2, v8, v9',
    's_setprio 2; s_sleep 1; v_add_f32_e32 v2, v8, v9; s_setprio 0',
  ),
  same(
    'code behind a jump',
    'v_add_f32_e32 v2, v8, v9',
    's_branch .La; .Lb:; v_add_f32_e32 v2, v8, v9; s_branch .Lc; .La:; s_branch .Lb; .Lc:',
  ),
  same(
    'a barrier with a wait before it',
    `ds_write_b32 v1, v8; ${LGKM}; s_barrier; ds_read_b32 v2, v1 offset:64; ${LGKM}`,
    `ds_write_b32 v1, v8; v_add_f32_e32 v4, v8, v9; ${LGKM}; s_nop 0; s_barrier; ds_read_b32 v2, v1 offset:64; ${LGKM}`,
  ),
  lines('a wait that is there already', [LOAD, VM, 's_nop 0', VM, STORE], [LOAD, 's_nop 0', VM, STORE]),
];

/** Not proved, and docs/prove.md says why. The last one differs where both factors are NaNs. */
export const NOT_FOLLOWED: readonly Pair[] = [
  lines('a loop that counts down', SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, 8'), [
    'v_mov_b32_e32 v2, 0',
    's_mov_b32 s12, 8',
    'v_mov_b32_e32 v4, v1',
    '.Ll:',
    ...split(TURN),
    's_sub_u32 s12, s12, 1',
    's_cmp_lg_u32 s12, 0',
    's_cbranch_scc1 .Ll',
    STORE,
  ]),
  lines(
    'loads of a loop one turn early',
    [
      'v_mov_b32_e32 v2, 0',
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v4, v1',
      '.Ll:',
      'global_load_dword v3, v4, s[4:5]',
      VM,
      ADD,
      'v_add_u32_e32 v4, 64, v4',
      's_add_u32 s12, s12, 1',
      's_cmp_lt_u32 s12, s10',
      's_cbranch_scc1 .Ll',
      STORE,
    ],
    [
      'v_mov_b32_e32 v2, 0',
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v4, v1',
      'global_load_dword v3, v4, s[4:5]',
      'v_add_u32_e32 v4, 64, v4',
      's_add_u32 s12, s12, 1',
      's_cmp_lt_u32 s12, s10',
      's_cbranch_scc0 .Le',
      '.Ll:',
      VM,
      ADD,
      'global_load_dword v3, v4, s[4:5]',
      'v_add_u32_e32 v4, 64, v4',
      's_add_u32 s12, s12, 1',
      's_cmp_lt_u32 s12, s10',
      's_cbranch_scc1 .Ll',
      '.Le:',
      VM,
      ADD,
      STORE,
    ],
  ),
  lines(
    'a pointer in the place of an index',
    SUM('v_mov_b32_e32 v4, v1', TURN, 1, 's_cmp_lg_u32 s12, s10'),
    SUM(
      's_mov_b64 s[14:15], s[4:5]',
      'global_load_dword v3, v1, s[14:15]; s_waitcnt vmcnt(0); v_add_f32_e32 v2, v2, v3; s_add_u32 s14, s14, 64; s_addc_u32 s15, s15, 0',
      1,
      's_cmp_lg_u32 s12, s10',
    ),
  ),
  same(
    'two products in one',
    'v_mul_f32_e32 v4, v8, v10; v_mul_f32_e32 v5, v9, v11; v_add_f32_e32 v2, v4, v5',
    'v_pk_mul_f32 v[4:5], v[8:9], v[10:11]; v_add_f32_e32 v2, v4, v5',
  ),
  same(
    'exchanged factors',
    'v_mul_f32_e32 v4, v8, v9; v_add_f32_e32 v2, v4, v10',
    'v_mul_f32_e32 v4, v9, v8; v_add_f32_e32 v2, v10, v4',
  ),
  same(
    'a choice in the place of a branch',
    `${SOME}; v_mov_b32_e32 v8, v9; ${ALL}; v_mov_b32_e32 v2, v8`,
    'v_cmp_gt_u32_e32 vcc, s12, v8; v_cndmask_b32_e32 v2, v8, v9, vcc',
  ),
];
