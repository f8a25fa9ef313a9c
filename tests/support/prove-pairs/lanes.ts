// Pairs of kernels that differ: what lanes see of each other, which lanes are on, modifiers and modes of one instruction.
import { all, LOAD, STORE, VM } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

/** The same lines but for one text, and a store of v2. */
const of = (lines: readonly string[], [x, y]: readonly [string, string], name = `${x} ${y}`): Pair => {
  const make = (text: string): string => all(...lines.map((line) => line.replaceAll('@', text)), STORE);
  return [name, make(x), make(y)];
};
/** One instruction that leaves v2, in two versions. v3, v[20:23] and v[24:27] hold loaded numbers. */
const DATA = [
  'global_load_dword v3, v1, s[4:5]',
  'global_load_dwordx4 v[20:23], v1, s[4:5]',
  'global_load_dwordx4 v[24:27], v1, s[4:5] offset:1024',
  'v_mov_b32_e32 v2, 7',
  VM,
  's_nop 7',
];
const one = (x: string, y: string, ...behind: string[]): Pair => [
  `${x} | ${y}`,
  all(...DATA, ...x.split('; '), ...behind, STORE),
  all(...DATA, ...y.split('; '), ...behind, STORE),
];
const scalar = (x: string, y: string): Pair => one(x, y, 's_nop 4', 'v_mov_b32_e32 v2, s12');
const OFF = ['v_cmp_gt_u32_e32 vcc, 7, v0', 's_and_saveexec_b64 s[14:15], vcc'];
const ON = 's_mov_b64 exec, s[14:15]';

export const PAIRS: readonly Pair[] = [
  // Across lanes.
  one(
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:2 row_mask:0xf bank_mask:0xf',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0x7 bank_mask:0xf',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xe',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_bcast:15 row_mask:0xa bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_bcast:31 row_mask:0xa bank_mask:0xf',
  ),
  one(
    'v_mov_b32_dpp v2, v3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 quad_perm:[1,0,2,3] row_mask:0xf bank_mask:0xf',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_mirror row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_half_mirror row_mask:0xf bank_mask:0xf',
  ),
  one(
    'v_mov_b32_dpp v2, v3 row_newbcast:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_newbcast:2 row_mask:0xf bank_mask:0xf',
  ),
  one(
    'v_add_u32_dpp v2, v3, v0 row_ror:1 row_mask:0xf bank_mask:0xf',
    'v_add_u32_dpp v2, v0, v3 row_ror:1 row_mask:0xf bank_mask:0xf',
  ),
  one('ds_bpermute_b32 v2, v1, v3; s_waitcnt lgkmcnt(0)', 'ds_permute_b32 v2, v1, v3; s_waitcnt lgkmcnt(0)'),
  one('ds_bpermute_b32 v2, v1, v3; s_waitcnt lgkmcnt(0)', 'ds_bpermute_b32 v2, v1, v3 offset:4; s_waitcnt lgkmcnt(0)'),
  one(
    'ds_swizzle_b32 v2, v3 offset:0x8055; s_waitcnt lgkmcnt(0)',
    'ds_swizzle_b32 v2, v3 offset:0x80aa; s_waitcnt lgkmcnt(0)',
  ),
  scalar('v_readlane_b32 s12, v3, 3', 'v_readlane_b32 s12, v3, 35'),
  scalar('v_readlane_b32 s12, v3, s10', 'v_readlane_b32 s12, v3, s11'),
  scalar('v_readlane_b32 s12, v3, s10', 'v_readfirstlane_b32 s12, v3'),
  scalar('v_readfirstlane_b32 s12, v0', 'v_readlane_b32 s12, v0, 1'),
  one('v_writelane_b32 v2, s10, 5', 'v_writelane_b32 v2, s10, 6'),
  one('s_mov_b32 m0, s11; v_writelane_b32 v2, s10, m0', 's_mov_b32 m0, s10; v_writelane_b32 v2, s10, m0'),
  one(
    's_mov_b32 m0, s11; v_writelane_b32 v2, s10, m0; v_writelane_b32 v2, s11, 3',
    's_mov_b32 m0, s11; v_writelane_b32 v2, s11, 3; v_writelane_b32 v2, s10, m0',
  ),
  [
    'readlane of an inactive lane',
    all(
      ...DATA,
      ...OFF,
      'v_mov_b32_e32 v3, 1',
      ON,
      's_nop 4',
      'v_readlane_b32 s12, v3, 9',
      'v_mov_b32_e32 v2, s12',
      STORE,
    ),
    all(...DATA, 'v_mov_b32_e32 v3, 1', 's_nop 4', 'v_readlane_b32 s12, v3, 9', 'v_mov_b32_e32 v2, s12', STORE),
  ],
  [
    'first lane of other lanes',
    all(...DATA, ...OFF, 's_nop 4', 'v_readfirstlane_b32 s12, v3', ON, 'v_mov_b32_e32 v2, s12', STORE),
    all(
      ...DATA,
      'v_cmp_lt_u32_e32 vcc, 7, v0',
      OFF[1] as string,
      's_nop 4',
      'v_readfirstlane_b32 s12, v3',
      ON,
      'v_mov_b32_e32 v2, s12',
      STORE,
    ),
  ],
  [
    'writelane of a lane that is off',
    all(...DATA, ...OFF, 'v_writelane_b32 v2, s10, 40', ON, STORE),
    all(...DATA, ...OFF, ON, STORE),
  ],
  [
    'bpermute from lanes that are off',
    all(...DATA, ...OFF, 'ds_bpermute_b32 v2, v1, v3', 's_waitcnt lgkmcnt(0)', ON, STORE),
    all(...DATA, 'ds_bpermute_b32 v4, v1, v3', 's_waitcnt lgkmcnt(0)', ...OFF, 'v_mov_b32_e32 v2, v4', ON, STORE),
  ],
  [
    'dpp from lanes that are off',
    all(...DATA, ...OFF, 'v_mov_b32_dpp v2, v3 row_shl:1 row_mask:0xf bank_mask:0xf', ON, STORE),
    all(...DATA, 'v_mov_b32_dpp v2, v3 row_shl:1 row_mask:0xf bank_mask:0xf', STORE),
  ],
  [
    'EXEC after a loop',
    all(
      'v_mov_b32_e32 v2, 0',
      's_mov_b64 s[14:15], exec',
      '.Ll:',
      'v_add_u32_e32 v2, 1, v2',
      'v_cmp_gt_u32_e32 vcc, v0, v2',
      's_and_b64 exec, exec, vcc',
      's_cbranch_execnz .Ll',
      ON,
      STORE,
    ),
    all(
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, 1, v2',
      'v_cmp_gt_u32_e32 vcc, v0, v2',
      's_and_b64 exec, exec, vcc',
      's_cbranch_execnz .Ll',
      STORE,
    ),
  ],
  [
    'EXEC andn2 and and',
    all(...DATA, ...OFF, 's_andn2_b64 exec, s[14:15], exec', 'v_mov_b32_e32 v2, v3', ON, STORE),
    all(...DATA, ...OFF, 'v_mov_b32_e32 v2, v3', ON, STORE),
  ],
  [
    'EXEC xor without the lanes before',
    all(...DATA, ...OFF, 's_xor_b64 exec, exec, s[14:15]', 'v_mov_b32_e32 v2, v3', ON, STORE),
    all(...DATA, ...OFF, 's_xor_b64 exec, exec, -1', 'v_mov_b32_e32 v2, v3', ON, STORE),
  ],
  [
    'v_cmpx leaves other lanes',
    all(...DATA, 's_mov_b64 s[14:15], exec', 'v_cmpx_gt_u32_e64 s[16:17], 7, v0', 'v_mov_b32_e32 v2, v3', ON, STORE),
    all(...DATA, 's_mov_b64 s[14:15], exec', 'v_cmpx_ge_u32_e64 s[16:17], 7, v0', 'v_mov_b32_e32 v2, v3', ON, STORE),
  ],
  [
    'v_cmp clears bits of lanes that are off',
    all(
      ...DATA,
      's_mov_b64 s[16:17], -1',
      ...OFF,
      'v_cmp_eq_u32_e64 s[16:17], v3, v3',
      ON,
      's_nop 4',
      'v_cndmask_b32_e64 v2, 1, 2, s[16:17]',
      STORE,
    ),
    all(...DATA, 'v_mov_b32_e32 v2, 2', STORE),
  ],
  // One instruction.
  one(
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD',
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD',
  ),
  one(
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_1',
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:BYTE_1',
  ),
  one(
    'v_mov_b32_sdwa v2, sext(v3) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1',
    'v_mov_b32_sdwa v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1',
  ),
  one(
    'v_add_u16_sdwa v2, v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0',
    'v_add_u16_sdwa v2, v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1',
  ),
  one('v_pk_fma_f16 v2, v3, v20, v21 neg_hi:[0,1,0]', 'v_pk_fma_f16 v2, v3, v20, v21 neg_hi:[0,0,1]'),
  one('v_pk_fma_f16 v2, v3, v20, v21 op_sel_hi:[1,1,0]', 'v_pk_fma_f16 v2, v3, v20, v21 op_sel_hi:[1,0,1]'),
  one('v_pk_add_f32 v[2:3], v[20:21], v[22:23] op_sel:[1,0]', 'v_pk_add_f32 v[2:3], v[20:21], v[22:23] op_sel:[0,1]'),
  one('v_pk_mul_f32 v[2:3], v[20:21], v[22:23] neg_lo:[1,0]', 'v_pk_mul_f32 v[2:3], v[20:21], v[22:23] neg_hi:[1,0]'),
  one(
    'v_fma_f64 v[2:3], v[20:21], v[22:23], v[24:25]',
    'v_mul_f64 v[2:3], v[20:21], v[22:23]; v_add_f64 v[2:3], v[2:3], v[24:25]',
  ),
  one('v_fma_f32 v2, v3, v20, v21', 'v_mul_f32_e32 v2, v3, v20; v_add_f32_e32 v2, v2, v21'),
  one('v_fmac_f32_e32 v2, v3, v20', 'v_fma_f32 v2, v3, v2, v20'),
  one('v_add_f32_e32 v2, v3, v20; v_add_f32_e32 v2, v2, v21', 'v_add_f32_e32 v2, v20, v21; v_add_f32_e32 v2, v3, v2'),
  one('v_sub_f32_e32 v2, v3, v20', 'v_sub_f32_e32 v2, v20, v3; v_mul_f32_e32 v2, -1.0, v2'),
  one('v_mul_f32_e32 v2, 2.0, v3; v_mul_f32_e32 v2, 0.5, v2', 'v_mov_b32_e32 v2, v3'),
  one('v_add_f32_e32 v2, 0, v3', 'v_mov_b32_e32 v2, v3'),
  one('v_max_f32_e32 v2, v3, v3', 'v_mov_b32_e32 v2, v3'),
  one('v_fma_f32 v2, v3, v20, v21 clamp', 'v_fma_f32 v2, v3, v20, v21'),
  one('v_cvt_u32_f32_e32 v2, v3', 'v_cvt_i32_f32_e32 v2, v3'),
  one('v_cvt_f16_f32_e32 v2, v3', 'v_cvt_f16_f32_e64 v2, v3 clamp'),
  one('v_med3_f32 v2, v3, v20, v21', 'v_max_f32_e32 v2, v3, v20; v_min_f32_e32 v2, v2, v21'),
  one('v_rndne_f32_e32 v2, v3', 'v_trunc_f32_e32 v2, v3'),
  one(
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27]; s_nop 9; v_mov_b32_e32 v2, v28',
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v21, v20, v[24:27]; s_nop 9; v_mov_b32_e32 v2, v28',
  ),
  one(
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27]; s_nop 9; v_mov_b32_e32 v2, v28',
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27] cbsz:1; s_nop 9; v_mov_b32_e32 v2, v28',
  ),
  one(
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27] blgp:1; s_nop 9; v_mov_b32_e32 v2, v28',
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27] blgp:2; s_nop 9; v_mov_b32_e32 v2, v28',
  ),
  one(
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, v[24:27]; s_nop 9; v_mov_b32_e32 v2, v28',
    'v_mfma_f32_4x4x1_16b_f32 v[28:31], v20, v21, 0; s_nop 9; v_mov_b32_e32 v2, v28',
  ),
  one('v_lshlrev_b64 v[2:3], v20, v[22:23]', 'v_lshlrev_b32_e32 v2, v20, v22'),
  one('v_lshrrev_b64 v[2:3], v20, v[22:23]', 'v_alignbit_b32 v2, v23, v22, v20'),
  one('v_ashrrev_i64 v[2:3], v20, v[22:23]', 'v_lshrrev_b64 v[2:3], v20, v[22:23]'),
  scalar('s_lshl_b64 s[12:13], s[10:11], s10', 's_and_b32 s14, s10, 31; s_lshl_b64 s[12:13], s[10:11], s14'),
  scalar('s_lshr_b64 s[12:13], s[10:11], 65', 's_lshr_b64 s[12:13], s[10:11], 2'),
  scalar('s_bfe_u64 s[12:13], s[10:11], 0x200004', 's_bfe_u64 s[12:13], s[10:11], 0x1f0004'),
  scalar('s_bfe_i32 s12, s10, 0x80008', 's_bfe_u32 s12, s10, 0x80008'),
  one(
    'v_mad_u64_u32 v[2:3], vcc, v20, v21, v[22:23]',
    'v_mad_i64_i32 v[2:3], vcc, v20, v21, v[22:23]',
    'v_mov_b32_e32 v2, v3',
  ),
  one('v_mul_hi_u32 v2, v20, v21', 'v_mul_hi_i32 v2, v20, v21'),
  one('v_mad_u32_u24 v2, v20, v21, v22', 'v_mul_lo_u32 v2, v20, v21; v_add_u32_e32 v2, v2, v22'),
  one('v_perm_b32 v2, v20, v21, v22', 'v_perm_b32 v2, v21, v20, v22'),
  one('v_bfi_b32 v2, v20, v21, v22', 'v_bfi_b32 v2, v20, v22, v21'),
  one('v_alignbyte_b32 v2, v20, v21, 1', 'v_alignbyte_b32 v2, v21, v20, 1'),
  one('v_addc_co_u32_e64 v2, vcc, v20, v21, s[10:11]', 'v_add_u32_e32 v2, v20, v21'),
  one('v_subrev_u32_e32 v2, v20, v21', 'v_sub_u32_e32 v2, v20, v21'),
  one('v_min_i32_e32 v2, v20, v21', 'v_min_u32_e32 v2, v20, v21'),
  one('v_mbcnt_hi_u32_b32 v2, s10, v3', 'v_mbcnt_lo_u32_b32 v2, s10, v3'),
  // SCC, M0 and modes.
  scalar('s_cmp_lt_u32 s10, s11; s_cselect_b32 s12, 1, 2', 's_cmp_lt_i32 s10, s11; s_cselect_b32 s12, 1, 2'),
  scalar('s_cmp_eq_u32 s10, s11; s_cselect_b32 s12, 1, 2', 's_sub_u32 s13, s10, s11; s_cselect_b32 s12, 1, 2'),
  scalar(
    's_and_b32 s13, s10, s11; s_cselect_b32 s12, 1, 2',
    's_and_b32 s13, s10, s11; s_mov_b32 s14, 0; s_add_u32 s14, s14, 0; s_cselect_b32 s12, 1, 2',
  ),
  scalar('s_add_u32 s13, s10, s11; s_addc_u32 s12, s10, 0', 's_add_i32 s13, s10, s11; s_addc_u32 s12, s10, 0'),
  scalar('s_bitcmp1_b32 s10, s11; s_cselect_b32 s12, 1, 2', 's_bitcmp0_b32 s10, s11; s_cselect_b32 s12, 1, 2'),
  scalar('s_abs_i32 s12, s10; s_cselect_b32 s12, s12, 9', 's_abs_i32 s12, s10'),
  scalar('s_cmp_eq_u64 s[10:11], 0; s_cselect_b32 s12, 1, 2', 's_cmp_eq_u32 s10, 0; s_cselect_b32 s12, 1, 2'),
  one(
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1; v_add_f32_e32 v2, v3, v20; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0',
    'v_add_f32_e32 v2, v3, v20',
  ),
  one(
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1; v_fma_f64 v[2:3], v[20:21], v[22:23], v[24:25]',
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1; v_fma_f64 v[2:3], v[20:21], v[22:23], v[24:25]',
  ),
  one(
    'v_add_f32_e32 v2, v3, v20; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3; v_add_f32_e32 v2, v2, v21',
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3; v_add_f32_e32 v2, v3, v20; v_add_f32_e32 v2, v2, v21',
  ),
  one(
    's_set_gpr_idx_on s10, gpr_idx(SRC0); v_mov_b32_e32 v2, v20; s_set_gpr_idx_off',
    's_set_gpr_idx_on s11, gpr_idx(SRC0); v_mov_b32_e32 v2, v20; s_set_gpr_idx_off',
  ),
  one(
    's_set_gpr_idx_on s10, gpr_idx(SRC0); v_mov_b32_e32 v2, v20; s_set_gpr_idx_off',
    's_set_gpr_idx_on s10, gpr_idx(SRC0,DST); v_mov_b32_e32 v2, v20; s_set_gpr_idx_off',
  ),
  one(
    's_mov_b32 m0, s10; s_nop 4; ds_read_addtid_b32 v2; s_waitcnt lgkmcnt(0)',
    's_mov_b32 m0, s11; s_nop 4; ds_read_addtid_b32 v2; s_waitcnt lgkmcnt(0)',
  ),
  // Loops.
  of(
    [
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, v2, v0',
      's_add_u32 s12, s12, 1',
      's_cmp_@_u32 s12, s10',
      's_cbranch_scc1 .Ll',
    ],
    ['lt', 'le'],
    'trip count off by one',
  ),
  of(
    [
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, v2, v0',
      's_add_u32 s12, s12, 1',
      's_cmp_lt_@ s12, s10',
      's_cbranch_scc1 .Ll',
    ],
    ['u32', 'i32'],
    'a signed bound',
  ),
  of(
    [
      's_mov_b32 s12, @',
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, v2, v0',
      's_add_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 9',
      's_cbranch_scc1 .Ll',
    ],
    ['0', '1'],
    'a loop that begins later',
  ),
  of(
    [
      's_mov_b32 s12, 0',
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, s12, v2',
      's_add_u32 s12, s12, @',
      's_cmp_lt_u32 s12, 8',
      's_cbranch_scc1 .Ll',
    ],
    ['1', '2'],
    'a loop of other steps',
  ),
  [
    'a test before the first turn',
    all(
      's_mov_b32 s12, s10',
      'v_mov_b32_e32 v2, 0',
      '.Ll:',
      'v_add_u32_e32 v2, v2, v0',
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
      STORE,
    ),
    all(
      's_mov_b32 s12, s10',
      'v_mov_b32_e32 v2, 0',
      's_cmp_eq_u32 s12, 0',
      's_cbranch_scc1 .Le',
      '.Ll:',
      'v_add_u32_e32 v2, v2, v0',
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
      '.Le:',
      STORE,
    ),
  ],
  [
    'a value carried round a loop one turn late',
    all(
      's_mov_b32 s12, 5',
      'v_mov_b32_e32 v2, v0',
      'v_mov_b32_e32 v3, 0',
      '.Ll:',
      'v_add_u32_e32 v3, v3, v2',
      'v_mul_u32_u24_e32 v2, 3, v2',
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
      'v_mov_b32_e32 v2, v3',
      STORE,
    ),
    all(
      's_mov_b32 s12, 5',
      'v_mov_b32_e32 v2, v0',
      'v_mov_b32_e32 v3, 0',
      '.Ll:',
      'v_mul_u32_u24_e32 v2, 3, v2',
      'v_add_u32_e32 v3, v3, v2',
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
      'v_mov_b32_e32 v2, v3',
      STORE,
    ),
  ],
  of(
    ['s_cmp_lg_u32 s10, 0', 's_cbranch_@ .La', LOAD, 's_branch .Lb', '.La:', 'v_mov_b32_e32 v2, 0', '.Lb:', VM],
    ['scc0', 'scc1'],
    'an inverted branch',
  ),
  of(
    [
      'v_cmp_lt_u32_e32 vcc, s10, v0',
      'v_mov_b32_e32 v2, 3',
      's_nop 4',
      's_cbranch_@ .La',
      'v_mov_b32_e32 v2, 4',
      '.La:',
    ],
    ['vccz', 'execz'],
    'vccz and execz',
  ),
];
