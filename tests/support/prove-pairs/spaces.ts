// Pairs of kernels that differ: one memory reached in two ways (flat and LDS, apertures, the scalar cache), and cache operations.
import { LGKM, LOAD, VM } from '../prove-kernel.ts';
import { on, W } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const old = on('gfx90a');
const FLAT = 'v_mov_b32_e32 v6, s8; v_mov_b32_e32 v7, s9';
const UNKNOWN = 'v_mov_b32_e32 v6, v8; v_mov_b32_e32 v7, v9';

export const PAIRS: readonly Pair[] = [
  p(
    'a flat load of unknown place and LDS',
    `${UNKNOWN}; flat_load_dword v2, v[6:7]; ${W}; ds_write_b32 v1, v3; ${LGKM}`,
    `${UNKNOWN}; ds_write_b32 v1, v3; ${LGKM}; flat_load_dword v2, v[6:7]; ${W}`,
  ),
  p(
    'a flat store of unknown place and LDS',
    `${UNKNOWN}; flat_store_dword v[6:7], v3; ${W}; ds_read_b32 v2, v1; ${LGKM}`,
    `${UNKNOWN}; ds_read_b32 v2, v1; ${LGKM}; flat_store_dword v[6:7], v3; ${W}`,
  ),
  p(
    'a flat atomic and LDS',
    `${UNKNOWN}; flat_atomic_add v[6:7], v3; ${W}; ds_read_b32 v2, v1; ${LGKM}`,
    `${UNKNOWN}; ds_read_b32 v2, v1; ${LGKM}; flat_atomic_add v[6:7], v3; ${W}`,
  ),
  p(
    'flat and global',
    `${UNKNOWN}; flat_load_dword v2, v[6:7]; ${W}`,
    `${UNKNOWN}; global_load_dword v2, v[6:7], off; ${W}`,
  ),
  p(
    'flat and global stores',
    `${UNKNOWN}; flat_store_dword v[6:7], v3; ${W}`,
    `${UNKNOWN}; global_store_dword v[6:7], v3, off; ${W}`,
  ),
  p(
    'the aperture of LDS',
    `s_mov_b64 s[16:17], src_shared_base; v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, s17; flat_load_dword v2, v[6:7]; ${W}`,
    `s_mov_b64 s[16:17], src_private_base; v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, s17; flat_load_dword v2, v[6:7]; ${W}`,
  ),
  p(
    'the end of the aperture',
    `s_mov_b64 s[16:17], src_shared_limit; v_mov_b32_e32 v2, s16`,
    `s_mov_b64 s[16:17], src_private_limit; v_mov_b32_e32 v2, s16`,
  ),
  p(
    'an LDS write through its aperture',
    `s_mov_b64 s[16:17], src_shared_base; v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, s17; flat_store_dword v[6:7], v3; ${W}; ds_read_b32 v2, v1; ${LGKM}`,
    `s_mov_b64 s[16:17], src_shared_base; v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, s17; ds_read_b32 v2, v1; ${LGKM}; flat_store_dword v[6:7], v3; ${W}`,
  ),
  p(
    'flat with an offset',
    `${FLAT}; flat_load_dword v2, v[6:7] offset:4; ${W}`,
    `${FLAT}; flat_load_dword v2, v[6:7]; ${W}`,
  ),
  p(
    'global: a negative offset',
    `${FLAT}; global_load_dword v2, v[6:7], off offset:-4; ${W}`,
    `${FLAT}; global_load_dword v2, v[6:7], off offset:4; ${W}`,
  ),
  p(
    'global: the sign of the index',
    `global_load_dword v2, v8, s[4:5]; ${VM}`,
    `v_ashrrev_i32_e32 v7, 31, v8; v_mov_b32_e32 v6, v8; v_lshl_add_u64 v[6:7], s[4:5], 0, v[6:7]; global_load_dword v2, v[6:7], off; ${VM}`,
  ),
  p(
    'a scalar load and its low bits',
    `s_or_b32 s16, s12, 0; s_load_dword s14, s[4:5], s16 offset:0x4; ${LGKM}; v_mov_b32_e32 v2, s14`,
    `s_or_b32 s16, s12, 0; s_load_dword s14, s[4:5], s16 offset:0x8; ${LGKM}; v_mov_b32_e32 v2, s14`,
  ),
  p(
    'a scalar load past a store',
    `global_store_dword v1, v3, s[8:9]; ${VM}; s_dcache_inv; s_load_dword s14, s[8:9], 0x0; ${LGKM}; v_mov_b32_e32 v2, s14`,
    `s_load_dword s14, s[8:9], 0x0; ${LGKM}; global_store_dword v1, v3, s[8:9]; ${VM}; s_dcache_inv; v_mov_b32_e32 v2, s14`,
  ),
  p(
    's_dcache_inv between loads',
    `s_load_dword s14, s[8:9], 0x0; ${LGKM}; s_dcache_inv; s_load_dword s16, s[8:9], 0x0; ${LGKM}; s_sub_u32 s14, s14, s16; v_mov_b32_e32 v2, s14`,
    `s_load_dword s14, s[8:9], 0x0; ${LGKM}; s_dcache_inv; s_sub_u32 s14, s14, s14; v_mov_b32_e32 v2, s14`,
  ),
  p(
    's_dcache_inv lost',
    `s_load_dword s14, s[8:9], 0x0; ${LGKM}; s_dcache_inv; v_mov_b32_e32 v2, s14`,
    `s_load_dword s14, s[8:9], 0x0; ${LGKM}; v_mov_b32_e32 v2, s14`,
  ),
  p('s_dcache_wb lost', 's_dcache_wb; s_waitcnt lgkmcnt(0)', 's_nop 0'),
  p('buffer_inv of another scope', `buffer_inv sc1; ${LOAD}; ${VM}`, `buffer_inv sc0 sc1; ${LOAD}; ${VM}`),
  p('buffer_inv behind the load', `buffer_inv sc1; ${LOAD}; ${VM}`, `${LOAD}; ${VM}; buffer_inv sc1`),
  p(
    'buffer_wbl2 before the store',
    `global_store_dword v1, v3, s[8:9]; ${VM}; buffer_wbl2 sc1; ${VM}`,
    `buffer_wbl2 sc1; ${VM}; global_store_dword v1, v3, s[8:9]; ${VM}`,
  ),
  old('buffer_wbinvl1 lost', `buffer_wbinvl1; ${LOAD}; ${VM}`, `${LOAD}; ${VM}`),
  old('buffer_wbinvl1_vol behind', `buffer_wbinvl1_vol; ${LOAD}; ${VM}`, `${LOAD}; ${VM}; buffer_wbinvl1_vol`),
  p(
    's_icache_inv behind a store',
    `global_store_dword v1, v3, s[8:9]; ${VM}; s_icache_inv`,
    `s_icache_inv; global_store_dword v1, v3, s[8:9]; ${VM}`,
  ),
];
