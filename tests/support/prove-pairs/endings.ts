// Pairs of kernels that differ: traps, messages, time, hardware registers, ends and loops that may have none.
import { LGKM, VM } from '../prove-kernel.ts';
import { on } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');

export const PAIRS: readonly Pair[] = [
  p('another trap', 's_trap 3; s_nop 0', 's_trap 4; s_nop 0'),
  p('no trap', 's_trap 3; s_nop 0', 's_nop 0'),
  p(
    'a trap before the store',
    `global_store_dword v1, v3, s[8:9]; ${VM}; s_trap 3; s_nop 0`,
    `s_trap 3; s_nop 0; global_store_dword v1, v3, s[8:9]; ${VM}`,
  ),
  p(
    'a trap that ends',
    's_bitcmp1_b32 s12, 0; s_cbranch_scc1 .La; s_trap 2; .La:; s_nop 0',
    's_bitcmp1_b32 s12, 0; s_cbranch_scc1 .La; s_nop 0; .La:; s_nop 0',
  ),
  p('an end on one way', 's_bitcmp1_b32 s12, 0; s_cbranch_scc1 .La; s_endpgm; .La:; s_nop 0', 's_nop 0; s_nop 0'),
  p(
    'messages in another order',
    's_sendmsg sendmsg(MSG_INTERRUPT); s_nop 0; global_store_dword v1, v3, s[8:9]',
    'global_store_dword v1, v3, s[8:9]; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT)',
  ),
  p(
    'M0 of a message',
    's_mov_b32 m0, 1; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT)',
    's_mov_b32 m0, 2; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT)',
  ),
  p(
    'another hardware register',
    's_getreg_b32 s14, hwreg(HW_REG_HW_ID); v_mov_b32_e32 v2, s14',
    's_getreg_b32 s14, hwreg(HW_REG_GPR_ALLOC); v_mov_b32_e32 v2, s14',
  ),
  p(
    'bits of a hardware register',
    's_getreg_b32 s14, hwreg(HW_REG_HW_ID, 0, 4); v_mov_b32_e32 v2, s14',
    's_getreg_b32 s14, hwreg(HW_REG_HW_ID, 4, 4); v_mov_b32_e32 v2, s14',
  ),
  p(
    'time and its difference',
    `s_memtime s[14:15]; s_memtime s[16:17]; ${LGKM}; s_sub_u32 s14, s16, s14; v_mov_b32_e32 v2, s14`,
    `s_memtime s[14:15]; s_memtime s[16:17]; ${LGKM}; s_sub_u32 s14, s14, s16; v_mov_b32_e32 v2, s14`,
  ),
  p(
    'one reading of time for two',
    `s_memtime s[14:15]; s_memtime s[16:17]; ${LGKM}; s_sub_u32 s14, s16, s14; v_mov_b32_e32 v2, s14`,
    `s_memtime s[14:15]; ${LGKM}; v_mov_b32_e32 v2, 0`,
  ),
  p(
    'status with another SCC',
    's_cmp_eq_u32 s12, s13; s_getreg_b32 s14, hwreg(HW_REG_STATUS); v_mov_b32_e32 v2, s14',
    's_cmp_lg_u32 s12, s13; s_getreg_b32 s14, hwreg(HW_REG_STATUS); v_mov_b32_e32 v2, s14',
  ),
  p(
    'a loop that may not end',
    's_mov_b32 s14, s12; .Ll:; s_sub_u32 s14, s14, 2; s_cmp_lg_u32 s14, 0; s_cbranch_scc1 .Ll',
    's_nop 0',
  ),
  p(
    'a wait for a flag',
    `.Ll:; s_load_dword s14, s[8:9], 0x0 glc; ${LGKM}; s_cmp_eq_u32 s14, 0; s_cbranch_scc1 .Ll`,
    `s_load_dword s14, s[8:9], 0x0 glc; ${LGKM}`,
  ),
  p(
    'a wait for another flag',
    `v_mov_b32_e32 v7, 0; .Ll:; global_load_dword v6, v7, s[8:9] sc1; ${VM}; v_readfirstlane_b32 s14, v6; s_cmp_eq_u32 s14, 0; s_cbranch_scc1 .Ll`,
    `v_mov_b32_e32 v7, 0; .Ll:; global_load_dword v6, v7, s[8:9] sc1; ${VM}; v_readfirstlane_b32 s14, v6; s_cmp_eq_u32 s14, 1; s_cbranch_scc1 .Ll`,
  ),
  p(
    'a turn more',
    's_and_b32 s14, s12, 7; .Ll:; v_add_u32_e32 v2, v2, v3; s_sub_u32 s14, s14, 1; s_cmp_gt_i32 s14, 0; s_cbranch_scc1 .Ll',
    's_and_b32 s14, s12, 7; .Ll:; v_add_u32_e32 v2, v2, v3; s_sub_u32 s14, s14, 1; s_cmp_ge_i32 s14, 0; s_cbranch_scc1 .Ll',
  ),
];
