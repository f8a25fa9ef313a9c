// Pairs of kernels that differ: what is done under which lanes, and loops that take lanes in turn.
import { LGKM, VM } from '../prove-kernel.ts';
import { BACK, on, SOME } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const late = on('gfx950');
/** A loop that takes the lanes of one value after another. */
const WF = (inner: string, next = 's_xor_b64 exec, exec, s[16:17]', test = 's_cbranch_execnz .Ll'): string =>
  `s_mov_b64 s[14:15], exec; v_and_b32_e32 v8, 7, v8; .Ll:; v_readfirstlane_b32 s20, v8; v_cmp_eq_u32_e32 vcc, s20, v8; s_and_saveexec_b64 s[16:17], vcc; ${inner}; ${next}; ${test}; ${BACK}`;

export const PAIRS: readonly Pair[] = [
  p(
    'LDS under lanes',
    `${SOME}; ds_write_b32 v1, v3; ${BACK}; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_write_b32 v1, v3; ${SOME}; ${BACK}; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'two writes of LDS under two masks',
    `${SOME}; ds_write_b32 v1, v3; ${BACK}; ds_write_b32 v1, v4; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_write_b32 v1, v4; ${SOME}; ds_write_b32 v1, v4; ${BACK}; ${LGKM}; ds_write_b32 v1, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'both sides write LDS',
    `${SOME}; ds_write_b32 v1, v3; s_xor_b64 exec, exec, s[14:15]; ds_write_b32 v1, v4; ${BACK}; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `${SOME}; ds_write_b32 v1, v4; s_xor_b64 exec, exec, s[14:15]; ds_write_b32 v1, v3; ${BACK}; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'an addition in LDS under lanes',
    `${SOME}; ds_add_u32 v1, v3; ${BACK}; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_add_u32 v1, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'reads of LDS under lanes',
    `v_mov_b32_e32 v2, 0; ${SOME}; ds_read_b32 v2, v1; ${LGKM}; ${BACK}`,
    `v_mov_b32_e32 v2, 0; ds_read_b32 v2, v1; ${LGKM}; ${SOME}; ${BACK}`,
  ),
  p(
    'an append of fewer lanes',
    `s_mov_b32 m0, 0x10000; ${SOME}; s_nop 0; ds_append v2 offset:16; ${LGKM}; ${BACK}`,
    `s_mov_b32 m0, 0x10000; s_nop 0; ds_append v2 offset:16; ${LGKM}`,
  ),
  p(
    'append and consume',
    `s_mov_b32 m0, 0x10000; s_nop 0; ds_append v2 offset:16; ${LGKM}`,
    `s_mov_b32 m0, 0x10000; s_nop 0; ds_consume v2 offset:16; ${LGKM}`,
  ),
  p(
    'loads into LDS of fewer lanes',
    `s_mov_b32 m0, 0; ${SOME}; s_nop 0; global_load_lds_dword v1, s[4:5]; ${BACK}; ${VM}; ds_read_b32 v2, v1; ${LGKM}`,
    `s_mov_b32 m0, 0; s_nop 0; global_load_lds_dword v1, s[4:5]; ${VM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'a store after EXEC and before',
    `${SOME}; global_store_dword v1, v3, s[8:9]; ${BACK}`,
    `global_store_dword v1, v3, s[8:9]; ${SOME}; ${BACK}`,
  ),
  p(
    'no lanes at all',
    `s_mov_b64 s[14:15], exec; s_mov_b64 exec, 0; global_store_dword v1, v3, s[8:9]; ${BACK}`,
    's_mov_b64 s[14:15], exec; global_store_dword v1, v3, s[8:9]',
  ),
  p(
    'v_cmpx',
    `v_cmpx_gt_u32_e32 vcc, 7, v8; v_mov_b32_e32 v2, v3; s_mov_b64 exec, -1`,
    'v_cmp_gt_u32_e32 vcc, 7, v8; v_mov_b32_e32 v2, v3; s_mov_b64 exec, -1',
  ),
  p(
    'saveexec: which is kept',
    'v_cmp_gt_u32_e32 vcc, 7, v8; s_or_saveexec_b64 s[14:15], vcc; v_mov_b32_e32 v2, s14',
    'v_cmp_gt_u32_e32 vcc, 7, v8; s_and_saveexec_b64 s[14:15], vcc; v_mov_b32_e32 v2, s14',
  ),
  p(
    'andn2 and its order',
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_andn2_saveexec_b64 s[14:15], vcc; v_mov_b32_e32 v2, v3; ${BACK}`,
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_andn1_saveexec_b64 s[14:15], vcc; v_mov_b32_e32 v2, v3; ${BACK}`,
  ),
  p(
    'wrexec',
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_mov_b64 s[14:15], exec; s_andn2_wrexec_b64 s[16:17], vcc; v_mov_b32_e32 v2, v3; ${BACK}`,
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_mov_b64 s[14:15], exec; s_andn1_wrexec_b64 s[16:17], vcc; v_mov_b32_e32 v2, v3; ${BACK}`,
  ),
  p(
    'half of EXEC',
    `s_mov_b64 s[14:15], exec; s_mov_b32 exec_hi, 0; v_mov_b32_e32 v2, v3; ${BACK}`,
    `s_mov_b64 s[14:15], exec; s_mov_b32 exec_lo, 0; v_mov_b32_e32 v2, v3; ${BACK}`,
  ),
  p(
    'whole quads',
    `${SOME}; s_wqm_b64 exec, exec; v_mov_b32_e32 v2, v3; ${BACK}`,
    `${SOME}; v_mov_b32_e32 v2, v3; ${BACK}`,
  ),
  p(
    'lanes counted under a mask',
    `${SOME}; v_mbcnt_lo_u32_b32 v2, exec_lo, 0; v_mbcnt_hi_u32_b32 v2, exec_hi, v2; ${BACK}`,
    `${SOME}; ${BACK}; v_mbcnt_lo_u32_b32 v2, exec_lo, 0; v_mbcnt_hi_u32_b32 v2, exec_hi, v2`,
  ),
  p(
    'writelane passes over a mask',
    `${SOME}; v_writelane_b32 v2, s12, 9; v_mov_b32_e32 v2, v3; ${BACK}`,
    `${SOME}; v_mov_b32_e32 v2, v3; v_writelane_b32 v2, s12, 9; ${BACK}`,
  ),
  p('swap under a mask', `${SOME}; v_swap_b32 v2, v3; ${BACK}`, `v_swap_b32 v2, v3; ${SOME}; ${BACK}`),
  p(
    'a matrix product ignores the mask',
    `${SOME}; v_mfma_f32_4x4x1f32 v[8:11], v3, v4, v[8:11]; ${BACK}; s_nop 7; v_mov_b32_e32 v2, v8`,
    `${SOME}; v_mov_b32_e32 v3, 0; s_nop 4; v_mfma_f32_4x4x1f32 v[8:11], v3, v4, v[8:11]; ${BACK}; s_nop 7; v_mov_b32_e32 v2, v8`,
  ),
  late(
    'permlane swap under a mask',
    `${SOME}; s_nop 4; v_permlane32_swap_b32 v2, v3; ${BACK}`,
    `s_nop 4; v_permlane32_swap_b32 v2, v3; ${SOME}; ${BACK}`,
  ),
  p(
    'a scalar load under no lanes',
    `${SOME}; s_load_dword s16, s[4:5], 0x40; ${BACK}; ${LGKM}; v_mov_b32_e32 v2, s16`,
    `${SOME}; s_cbranch_execz .La; s_load_dword s12, s[4:5], 0x40; .La:; ${BACK}; ${LGKM}; v_mov_b32_e32 v2, s12`,
  ),
  // Lanes in turn.
  p('another value', WF('v_add_u32_e32 v2, s20, v3'), WF('v_sub_u32_e32 v2, v3, v8')),
  p(
    'the store of all lanes',
    WF('global_store_dword v1, v3, s[8:9]'),
    WF(
      's_mov_b64 s[18:19], exec; s_mov_b64 exec, s[14:15]; global_store_dword v1, v3, s[8:9]; s_mov_b64 exec, s[18:19]',
    ),
  ),
  p(
    'lanes that come back',
    WF('v_add_u32_e32 v2, s20, v3; v_add_u32_e32 v3, 1, v3'),
    WF('v_add_u32_e32 v2, s20, v3; v_add_u32_e32 v3, 2, v3'),
  ),
  p(
    'EXEC is not restored',
    `${WF('v_add_u32_e32 v2, s20, v3')}`,
    `${WF('v_add_u32_e32 v2, s20, v3').replace(BACK, 's_nop 0')}`,
  ),
  p(
    'an atomic in turn',
    WF('global_atomic_add v1, v3, s[8:9]'),
    `v_and_b32_e32 v8, 7, v8; s_mov_b64 s[14:15], exec; global_atomic_add v1, v3, s[8:9]`,
  ),
  p(
    'a scalar load in turn',
    WF(`s_lshl_b32 s21, s20, 2; s_load_dword s22, s[4:5], s21; ${LGKM}; v_mov_b32_e32 v2, s22`),
    WF(`s_lshl_b32 s21, s20, 3; s_load_dword s22, s[4:5], s21; ${LGKM}; v_mov_b32_e32 v2, s22`),
  ),
  p(
    'lanes that are done are done',
    `s_mov_b64 s[14:15], exec; v_and_b32_e32 v8, 7, v8; .Ll:; v_add_u32_e32 v2, v2, v3; v_subrev_u32_e32 v8, 1, v8; v_cmp_lt_i32_e32 vcc, 0, v8; s_and_b64 exec, exec, vcc; s_cbranch_execnz .Ll; ${BACK}`,
    `s_mov_b64 s[14:15], exec; v_and_b32_e32 v8, 7, v8; .Ll:; v_add_u32_e32 v2, v2, v3; v_subrev_u32_e32 v8, 1, v8; v_cmp_lt_i32_e32 vcc, 1, v8; s_and_b64 exec, exec, vcc; s_cbranch_execnz .Ll; ${BACK}`,
  ),
  p(
    'a break of all for one',
    `s_mov_b64 s[14:15], exec; v_and_b32_e32 v8, 7, v8; .Ll:; v_add_u32_e32 v2, v2, v3; v_subrev_u32_e32 v8, 1, v8; v_cmp_lt_i32_e32 vcc, 0, v8; s_and_b64 exec, exec, vcc; s_cbranch_execnz .Ll; ${BACK}`,
    `s_mov_b64 s[14:15], exec; v_and_b32_e32 v8, 7, v8; .Ll:; v_add_u32_e32 v2, v2, v3; v_subrev_u32_e32 v8, 1, v8; v_cmp_lt_i32_e32 vcc, 0, v8; s_cbranch_vccnz .Ll; ${BACK}`,
  ),
  p(
    'vccnz of some and of all',
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_cbranch_vccnz .La; v_mov_b32_e32 v2, v3; .La:; s_nop 0`,
    `v_cmp_gt_u32_e32 vcc, 7, v8; s_cmp_eq_u64 vcc, exec; s_cbranch_scc1 .La; v_mov_b32_e32 v2, v3; .La:; s_nop 0`,
  ),
];
