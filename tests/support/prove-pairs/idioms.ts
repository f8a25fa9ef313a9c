// Pairs of kernels that are the same function: several operations as one, lanes, loops and calls in another form, as a person writes them.
import { all, LGKM, STORE, VM } from '../prove-kernel.ts';
import { BACK, CALL, DATA, on, SOME, W } from './loaded.ts';
import type { Pair } from './pair.ts';

const same = on('gfx942');
export const EDITS: readonly Pair[] = [
  same(
    'an addition and a shift in one',
    'v_add_u32_e32 v4, v8, v9; v_lshlrev_b32_e32 v2, 4, v4',
    'v_add_lshl_u32 v2, v8, v9, 4',
  ),
  same('and, or in one', 'v_and_b32_e32 v4, v8, v9; v_or_b32_e32 v2, v4, v10', 'v_and_or_b32 v2, v8, v9, v10'),
  same('three in one sum', 'v_add_u32_e32 v4, v8, v9; v_add_u32_e32 v2, v4, v10', 'v_add3_u32 v2, v8, v9, v10'),
  same('three in one or', 'v_or_b32_e32 v4, v8, v9; v_or_b32_e32 v2, v10, v4', 'v_or3_b32 v2, v10, v9, v8'),
  same('xor and sum in one', 'v_xor_b32_e32 v4, v8, v9; v_add_u32_e32 v2, v10, v4', 'v_xad_u32 v2, v8, v9, v10'),
  same('shift and or in one', 'v_lshlrev_b32_e32 v4, 16, v8; v_or_b32_e32 v2, v4, v9', 'v_lshl_or_b32 v2, v8, 16, v9'),
  same('a field', 'v_lshrrev_b32_e32 v4, 8, v8; v_and_b32_e32 v2, 0xff, v4', 'v_bfe_u32 v2, v8, 8, 8'),
  same('a signed field', 'v_lshlrev_b32_e32 v4, 16, v8; v_ashrrev_i32_e32 v2, 24, v4', 'v_bfe_i32 v2, v8, 8, 8'),
  same(
    'a field of a scalar',
    's_lshr_b32 s14, s12, 4; s_and_b32 s14, s14, 15; v_mov_b32_e32 v2, s14',
    's_bfe_u32 s14, s12, 0x40004; v_mov_b32_e32 v2, s14',
  ),
  same(
    'bits put in',
    's_mov_b32 s14, 0xffff; v_and_b32_e32 v4, s14, v8; v_not_b32_e32 v5, s14; v_and_b32_e32 v5, v5, v9; v_or_b32_e32 v2, v4, v5',
    's_mov_b32 s14, 0xffff; v_bfi_b32 v2, s14, v8, v9',
  ),
  same(
    'a rotation',
    'v_lshlrev_b32_e32 v4, 8, v8; v_lshrrev_b32_e32 v5, 24, v8; v_or_b32_e32 v2, v4, v5',
    'v_alignbit_b32 v2, v8, v8, 24',
  ),
  same(
    'five times',
    's_mul_i32 s14, s12, 5; v_mov_b32_e32 v2, s14',
    's_lshl2_add_u32 s14, s12, s12; v_mov_b32_e32 v2, s14',
  ),
  same('seven times', 'v_mul_lo_u32 v2, v8, 7', 'v_lshlrev_b32_e32 v4, 3, v8; v_sub_u32_e32 v2, v4, v8'),
  same(
    'a product of small numbers',
    'v_and_b32_e32 v4, 0xfff, v8; v_and_b32_e32 v5, 0xff, v9; v_mul_lo_u32 v2, v4, v5',
    'v_and_b32_e32 v4, 0xfff, v8; v_and_b32_e32 v5, 0xff, v9; v_mul_u32_u24_e32 v2, v4, v5',
  ),
  same(
    'a choice the other way',
    'v_cmp_lt_u32_e32 vcc, v8, v9; v_cndmask_b32_e32 v2, v10, v11, vcc',
    'v_cmp_ge_u32_e32 vcc, v8, v9; v_cndmask_b32_e32 v2, v11, v10, vcc',
  ),
  same(
    'a minimum by a choice',
    'v_cmp_lt_u32_e32 vcc, v8, v9; v_cndmask_b32_e32 v2, v9, v8, vcc',
    'v_min_u32_e32 v2, v8, v9',
  ),
  same('a clamp', 'v_max_u32_e32 v4, 3, v8; v_min_u32_e32 v2, 9, v4', 'v_med3_u32 v2, v8, 3, 9'),
  same(
    'sixteen bits of two',
    's_and_b32 s14, s12, 0xffff; s_lshl_b32 s15, s13, 16; s_or_b32 s14, s14, s15; v_mov_b32_e32 v2, s14',
    's_pack_ll_b32_b16 s14, s12, s13; v_mov_b32_e32 v2, s14',
  ),
  same(
    'a test of one bit',
    's_and_b32 s14, s12, 4; s_cmp_lg_u32 s14, 0; s_cselect_b32 s14, 1, 2; v_mov_b32_e32 v2, s14',
    's_bitcmp1_b32 s12, 2; s_cselect_b32 s14, 1, 2; v_mov_b32_e32 v2, s14',
  ),
  same(
    'an index of 64 bits',
    'v_lshlrev_b32_e32 v4, 2, v0; v_mov_b32_e32 v5, s9; v_add_co_u32_e32 v4, vcc, s8, v4; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
    's_mov_b32 s14, 4; v_mov_b32_e32 v6, s8; v_mov_b32_e32 v7, s9; v_mad_u64_u32 v[4:5], s[16:17], v0, s14, v[6:7]; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
  ),
  same(
    'a carry in another register',
    'v_mov_b32_e32 v5, s9; v_add_co_u32_e32 v4, vcc, s8, v1; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
    'v_mov_b32_e32 v5, s9; v_add_co_u32_e64 v4, s[14:15], s8, v1; s_nop 1; v_addc_co_u32_e64 v5, s[14:15], 0, v5, s[14:15]; global_load_dword v2, v[4:5], off; s_waitcnt vmcnt(0)',
  ),
  same(
    'two sums between each other',
    'v_add_co_u32_e32 v4, vcc, v8, v9; v_addc_co_u32_e32 v5, vcc, v10, v11, vcc; v_add_u32_e32 v6, v12, v13; v_xor_b32_e32 v2, v5, v6',
    'v_add_u32_e32 v6, v12, v13; v_add_co_u32_e32 v4, vcc, v8, v9; v_addc_co_u32_e32 v5, vcc, v10, v11, vcc; v_xor_b32_e32 v2, v5, v6',
  ),
  same(
    'a wait where it is needed',
    `ds_read_b32 v4, v1; ${LGKM}; v_add_u32_e32 v5, v8, v9; v_add_u32_e32 v2, v4, v5`,
    `ds_read_b32 v4, v1; v_add_u32_e32 v5, v8, v9; ${LGKM}; v_add_u32_e32 v2, v4, v5`,
  ),
  same(
    'waits in two steps',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:4; s_waitcnt vmcnt(0); v_add_u32_e32 v4, 1, v4; v_add_u32_e32 v2, v4, v5',
    'global_load_dword v4, v1, s[8:9]; global_load_dword v5, v1, s[8:9] offset:4; s_waitcnt vmcnt(1); v_add_u32_e32 v4, 1, v4; s_waitcnt vmcnt(0); v_add_u32_e32 v2, v4, v5',
  ),
  same(
    'four reads of LDS',
    `v_lshlrev_b32_e32 v20, 4, v0; ds_read_b32 v4, v20; ds_read_b32 v5, v20 offset:4; ds_read_b32 v6, v20 offset:8; ds_read_b32 v7, v20 offset:12; ${LGKM}; v_add3_u32 v2, v4, v5, v6; v_add_u32_e32 v2, v2, v7`,
    `v_lshlrev_b32_e32 v20, 4, v0; ds_read_b128 v[4:7], v20; ${LGKM}; v_add3_u32 v2, v4, v5, v6; v_add_u32_e32 v2, v2, v7`,
  ),
  same(
    'a wide write of LDS in two',
    `v_lshlrev_b32_e32 v20, 4, v0; ds_write_b128 v20, v[8:11]; ${LGKM}; ds_read_b32 v2, v20 offset:8; ${LGKM}`,
    `v_lshlrev_b32_e32 v20, 4, v0; ds_write_b64 v20, v[8:9]; ds_write_b64 v20, v[10:11] offset:8; ${LGKM}; ds_read_b32 v2, v20 offset:8; ${LGKM}`,
  ),
  same(
    'an offset of LDS',
    `v_add_u32_e32 v20, 0x400, v1; ds_write_b32 v20, v8; ${LGKM}; ds_read_b32 v2, v20; ${LGKM}`,
    `ds_write_b32 v1, v8 offset:1024; ${LGKM}; ds_read_b32 v2, v1 offset:1024; ${LGKM}`,
  ),
  same(
    'stores in another order',
    'v_lshlrev_b32_e32 v4, 3, v0; global_store_dword v4, v8, s[8:9]; global_store_dword v4, v9, s[8:9] offset:4; v_mov_b32_e32 v2, v10',
    'v_lshlrev_b32_e32 v4, 3, v0; global_store_dword v4, v9, s[8:9] offset:4; global_store_dword v4, v8, s[8:9]; v_mov_b32_e32 v2, v10',
  ),
  same(
    'a store by scalar address',
    'v_mov_b32_e32 v5, s9; v_add_co_u32_e32 v4, vcc, s8, v1; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; global_store_dword v[4:5], v8, off; v_mov_b32_e32 v2, v9',
    'global_store_dword v1, v8, s[8:9]; v_mov_b32_e32 v2, v9',
  ),
  same(
    'a scalar straight into an operation',
    'v_mov_b32_e32 v4, s12; v_mul_lo_u32 v2, v4, v8',
    'v_mul_lo_u32 v2, s12, v8',
  ),
  same('a constant in a register', 'v_mul_f32_e32 v2, 2.0, v8', 's_mov_b32 s14, 2.0; v_mul_f32_e32 v2, s14, v8'),
  same(
    'a literal in a register',
    'v_mul_f32_e32 v2, 0x40490fdb, v8',
    's_mov_b32 s14, 0x40490fdb; v_mul_f32_e32 v2, s14, v8',
  ),
  same(
    'a conversion done once',
    'v_cvt_f32_u32_e32 v4, v8; v_cvt_f32_u32_e32 v5, v8; v_mul_f32_e32 v2, v4, v5',
    'v_cvt_f32_u32_e32 v4, v8; v_mul_f32_e32 v2, v4, v4',
  ),
  same(
    'saveexec in two',
    `${SOME}; v_mov_b32_e32 v2, v9; ${BACK}`,
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_mov_b64 s[14:15], exec; s_and_b64 exec, exec, vcc; v_mov_b32_e32 v2, v9; ${BACK}`,
  ),
  same(
    'EXEC restored by or',
    `v_mov_b32_e32 v2, v10; ${SOME}; v_mov_b32_e32 v2, v9; ${BACK}`,
    `v_mov_b32_e32 v2, v10; ${SOME}; v_mov_b32_e32 v2, v9; s_or_b64 exec, exec, s[14:15]`,
  ),
  same(
    'EXEC restored to all',
    `v_mov_b32_e32 v2, v10; ${SOME}; v_mov_b32_e32 v2, v9; ${BACK}`,
    `v_mov_b32_e32 v2, v10; ${SOME}; v_mov_b32_e32 v2, v9; s_mov_b64 exec, -1`,
  ),
  same(
    'v_cmpx',
    `v_mov_b32_e32 v2, v10; s_mov_b64 s[14:15], exec; v_cmp_gt_u32_e32 vcc, 7, v8; s_and_b64 exec, exec, vcc; v_mov_b32_e32 v2, v9; ${BACK}`,
    `v_mov_b32_e32 v2, v10; s_mov_b64 s[14:15], exec; v_cmpx_gt_u32_e32 vcc, 7, v8; v_mov_b32_e32 v2, v9; ${BACK}; s_nop 4`,
  ),
  same(
    'other and else by xor',
    `${SOME}; v_mov_b32_e32 v2, v9; s_andn2_b64 exec, s[14:15], exec; v_mov_b32_e32 v2, v10; ${BACK}`,
    `${SOME}; v_mov_b32_e32 v2, v9; s_xor_b64 exec, exec, s[14:15]; v_mov_b32_e32 v2, v10; ${BACK}`,
  ),
  same(
    'a branch without lanes',
    `v_mov_b32_e32 v2, v10; ${SOME}; v_mov_b32_e32 v2, v9; global_store_dword v1, v9, s[8:9]; ${BACK}`,
    `v_mov_b32_e32 v2, v10; ${SOME}; s_cbranch_execz .La; v_mov_b32_e32 v2, v9; global_store_dword v1, v9, s[8:9]; .La:; ${BACK}`,
  ),
  same(
    'matrix products in another order',
    's_nop 4; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, 0; v_mfma_f32_4x4x1_16b_f32 v[24:27], v10, v11, 0; s_nop 7; s_nop 2; v_add_f32_e32 v2, v20, v24',
    's_nop 4; v_mfma_f32_4x4x1_16b_f32 v[24:27], v10, v11, 0; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, 0; s_nop 7; s_nop 2; v_add_f32_e32 v2, v20, v24',
  ),
  same(
    'no-ops put to use',
    'v_add_u32_e32 v4, v10, v11; s_nop 4; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, 0; s_nop 7; s_nop 2; v_add_u32_e32 v2, v20, v4',
    's_nop 4; v_mfma_f32_4x4x1_16b_f32 v[20:23], v8, v9, 0; v_add_u32_e32 v4, v10, v11; s_nop 7; s_nop 1; v_add_u32_e32 v2, v20, v4',
  ),
  same(
    'an invariant out of a loop',
    's_mov_b32 s14, 0; v_mov_b32_e32 v2, 0; .Ll:; v_lshlrev_b32_e32 v4, 3, v8; v_add_u32_e32 v2, v2, v4; s_add_u32 s14, s14, 1; s_cmp_lt_u32 s14, s10; s_cbranch_scc1 .Ll',
    's_mov_b32 s14, 0; v_mov_b32_e32 v2, 0; v_lshlrev_b32_e32 v4, 3, v8; .Ll:; v_add_u32_e32 v2, v2, v4; s_add_u32 s14, s14, 1; s_cmp_lt_u32 s14, s10; s_cbranch_scc1 .Ll',
  ),
  same(
    'a counter in another register',
    's_mov_b32 s14, 0; v_mov_b32_e32 v2, 0; .Ll:; v_add_u32_e32 v2, v2, v8; s_add_u32 s14, s14, 1; s_cmp_lt_u32 s14, s10; s_cbranch_scc1 .Ll',
    's_mov_b32 s20, 0; v_mov_b32_e32 v2, 0; .Ll:; v_add_u32_e32 v2, v2, v8; s_add_u32 s20, s20, 1; s_cmp_gt_u32 s10, s20; s_cbranch_scc1 .Ll',
  ),
  [
    'a function put in place',
    {
      body: all(...DATA, CALL('f'), STORE),
      after: '\t.type f,@function\nf:\nv_add_u32_e32 v2, v8, v9\ns_setpc_b64 s[30:31]\n',
    },
    {
      body: all(...DATA, 'v_add_u32_e32 v2, v8, v9', STORE),
      after: '\t.type f,@function\nf:\nv_add_u32_e32 v2, v8, v9\ns_setpc_b64 s[30:31]\n',
    },
  ],
  same(
    'a copy left out',
    'v_mov_b32_e32 v4, v8; v_add_f32_e32 v5, v4, v9; v_mov_b32_e32 v2, v5',
    'v_add_f32_e32 v2, v8, v9',
  ),
  same(
    'scalar loads at the top',
    'v_add_u32_e32 v4, v8, v9; s_load_dword s14, s[8:9], 0x10; s_waitcnt lgkmcnt(0); v_add_u32_e32 v2, s14, v4',
    's_load_dword s14, s[8:9], 0x10; v_add_u32_e32 v4, v8, v9; s_waitcnt lgkmcnt(0); v_add_u32_e32 v2, s14, v4',
  ),
  same(
    'a first lane read later',
    'v_readfirstlane_b32 s14, v8; s_nop 1; s_add_u32 s14, s14, 4; v_mov_b32_e32 v2, s14',
    'v_add_u32_e32 v4, v8, v9; v_readfirstlane_b32 s15, v8; s_nop 1; s_add_u32 s15, 4, s15; v_mov_b32_e32 v2, s15',
  ),
  same(
    'a mask of both halves',
    's_mov_b32 vcc_lo, s12; s_mov_b32 vcc_hi, s13; v_cndmask_b32_e32 v2, v8, v9, vcc',
    's_mov_b64 s[14:15], s[12:13]; v_cndmask_b32_e64 v2, v8, v9, s[14:15]',
  ),
  same(
    'not and and',
    's_not_b32 s14, s12; s_and_b32 s14, s13, s14; v_mov_b32_e32 v2, s14',
    's_andn2_b32 s14, s13, s12; v_mov_b32_e32 v2, s14',
  ),
  same(
    'a negative constant',
    'v_sub_u32_e32 v2, v8, v9; v_subrev_u32_e32 v2, 16, v2',
    'v_sub_u32_e32 v2, v8, v9; v_add_u32_e32 v2, -16, v2',
  ),
  same(
    'the same code behind both ways',
    's_cmp_lt_u32 s12, s13; s_cbranch_scc1 .La; v_mov_b32_e32 v2, v8; s_branch .Lb; .La:; v_mov_b32_e32 v2, v9; .Lb:; v_add_u32_e32 v2, 1, v2',
    's_cmp_lt_u32 s12, s13; s_cbranch_scc1 .La; v_add_u32_e32 v2, 1, v8; s_branch .Lb; .La:; v_add_u32_e32 v2, 1, v9; .Lb:',
  ),
  same(
    'a store before the barrier and its wait',
    `global_store_dword v1, v8, s[8:9]; ${VM}; s_barrier; v_mov_b32_e32 v2, v9`,
    `v_mov_b32_e32 v2, v9; global_store_dword v1, v8, s[8:9]; ${W}; s_barrier`,
  ),
];

/** The same function, and not followed. */
export const NOT_FOLLOWED: readonly Pair[] = [
  same(
    'else before then',
    `${SOME}; v_mov_b32_e32 v2, v9; s_andn2_b64 exec, s[14:15], exec; v_mov_b32_e32 v2, v10; ${BACK}`,
    `v_cmp_le_u32_e32 vcc, 7, v8; s_and_saveexec_b64 s[14:15], vcc; v_mov_b32_e32 v2, v10; s_andn2_b64 exec, s[14:15], exec; v_mov_b32_e32 v2, v9; ${BACK}`,
  ),
  same(
    'tests of a loop as equality',
    's_mov_b32 s14, 0; v_mov_b32_e32 v2, 0; .Ll:; v_add_u32_e32 v2, v2, v8; s_add_u32 s14, s14, 1; s_cmp_lt_u32 s14, 8; s_cbranch_scc1 .Ll',
    's_mov_b32 s14, 0; v_mov_b32_e32 v2, 0; .Ll:; v_add_u32_e32 v2, v2, v8; s_add_u32 s14, s14, 1; s_cmp_lg_u32 s14, 8; s_cbranch_scc1 .Ll',
  ),
  same(
    'bytes in one instruction',
    'v_and_b32_e32 v4, 0xff, v8; v_add_u32_e32 v2, v4, v9',
    'v_add_u32_sdwa v2, v8, v9 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD',
  ),
  same(
    'a sign in the operation',
    'v_xor_b32_e32 v4, 0x80000000, v8; v_add_f32_e32 v2, v9, v4',
    'v_add_f32_e64 v2, v9, -v8',
  ),
  same('a sub in the place of an addition', 'v_add_f32_e64 v2, v9, -v8', 'v_sub_f32_e32 v2, v9, v8'),
];
