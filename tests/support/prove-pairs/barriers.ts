// Pairs of kernels that differ: what stands before a barrier and what behind it, and the order in LDS.
import { LGKM, VM } from '../prove-kernel.ts';
import { on, W } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');

export const PAIRS: readonly Pair[] = [
  p(
    'a read before the barrier',
    `ds_write_b32 v1, v3; ${LGKM}; s_barrier; ds_read_b32 v2, v8; ${LGKM}`,
    `ds_write_b32 v1, v3; ds_read_b32 v2, v8; ${LGKM}; s_barrier`,
  ),
  p(
    'a write before the barrier',
    `ds_read_b32 v2, v1; ${LGKM}; s_barrier; ds_write_b32 v1, v3; ${LGKM}`,
    `ds_read_b32 v2, v1; ds_write_b32 v1, v3; ${LGKM}; s_barrier`,
  ),
  p(
    'LDS cleared after it was read',
    `ds_read_b32 v2, v8; ${LGKM}; s_barrier; ds_write_b32 v1, v3; ${LGKM}; s_barrier`,
    `ds_write_b32 v1, v3; ${LGKM}; s_barrier; ds_read_b32 v2, v8; ${LGKM}; s_barrier`,
  ),
  p(
    'an addition in LDS over a barrier',
    `ds_add_u32 v1, v3; ${LGKM}; s_barrier; ds_read_b32 v2, v1; ${LGKM}`,
    `s_barrier; ds_add_u32 v1, v3; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'a store over a barrier',
    `global_store_dword v1, v3, s[8:9]; ${VM}; s_barrier`,
    `s_barrier; global_store_dword v1, v3, s[8:9]; ${VM}`,
  ),
  p(
    'a load over a barrier',
    `s_barrier; global_load_dword v2, v1, s[8:9]; ${VM}`,
    `global_load_dword v2, v1, s[8:9]; ${VM}; s_barrier`,
  ),
  p(
    'a scalar load over a barrier',
    `s_barrier; s_load_dword s16, s[8:9], 0x0; ${LGKM}; v_mov_b32_e32 v2, s16`,
    `s_load_dword s16, s[8:9], 0x0; ${LGKM}; s_barrier; v_mov_b32_e32 v2, s16`,
  ),
  p(
    'a flat store over a barrier',
    `v_mov_b32_e32 v6, s8; v_mov_b32_e32 v7, s9; flat_store_dword v[6:7], v3; ${W}; s_barrier`,
    `v_mov_b32_e32 v6, s8; v_mov_b32_e32 v7, s9; s_barrier; flat_store_dword v[6:7], v3; ${W}`,
  ),
  p(
    'a load into LDS over a barrier',
    `s_mov_b32 m0, 0; s_nop 0; global_load_lds_dword v1, s[4:5]; ${VM}; s_barrier; ds_read_b32 v2, v1; ${LGKM}`,
    `s_mov_b32 m0, 0; s_nop 0; s_barrier; global_load_lds_dword v1, s[4:5]; ${VM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'barriers of a loop',
    `s_mov_b32 s14, 2; .Ll:; s_barrier; s_sub_u32 s14, s14, 1; s_cmp_lg_u32 s14, 0; s_cbranch_scc1 .Ll`,
    `s_mov_b32 s14, 3; .Ll:; s_barrier; s_sub_u32 s14, s14, 1; s_cmp_lg_u32 s14, 0; s_cbranch_scc1 .Ll`,
  ),
  p(
    'a barrier that a number decides',
    's_bitcmp1_b32 s12, 0; s_cbranch_scc1 .La; s_barrier; .La:; s_nop 0',
    's_bitcmp0_b32 s12, 0; s_cbranch_scc1 .La; s_barrier; .La:; s_nop 0',
  ),
  p(
    'LDS writes of unknown places',
    `ds_write_b32 v8, v3; ds_write_b32 v9, v4; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_write_b32 v9, v4; ds_write_b32 v8, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'LDS read past an unknown write',
    `ds_read_b32 v2, v1; ds_write_b32 v8, v3; ${LGKM}`,
    `ds_write_b32 v8, v3; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'a write of two through strides',
    `ds_write2st64_b32 v1, v3, v4 offset1:1; ${LGKM}; ds_read_b32 v2, v8; ${LGKM}`,
    `ds_write2_b32 v1, v3, v4 offset1:1; ${LGKM}; ds_read_b32 v2, v8; ${LGKM}`,
  ),
  p(
    'a read of two',
    `ds_read2_b32 v[2:3], v1 offset0:1 offset1:2; ${LGKM}`,
    `ds_read2_b32 v[2:3], v1 offset0:2 offset1:1; ${LGKM}`,
  ),
  p(
    'a read of two 64-bit',
    `ds_read2_b64 v[2:5], v1 offset0:1 offset1:2; ${LGKM}`,
    `ds_read2_b64 v[2:5], v1 offset0:2 offset1:2; ${LGKM}`,
  ),
  p(
    'an LDS write behind a lane permutation',
    `ds_bpermute_b32 v6, v1, v3; ${LGKM}; ds_write_b32 v1, v6; ${LGKM}; ds_read_b32 v2, v8; ${LGKM}`,
    `ds_write_b32 v1, v3; ${LGKM}; ds_bpermute_b32 v6, v1, v3; ds_read_b32 v2, v8; ${LGKM}`,
  ),
];
