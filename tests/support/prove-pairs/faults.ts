// Pairs of kernels that differ: side effects where no lane is on, SCC between blocks, memory touched that the baseline leaves alone,
// one memory on two ways, atomics and partial waits.
import { all, LGKM, LOAD, STORE, VM } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

const lines = (name: string, a: readonly string[], b: readonly string[]): Pair => [name, all(...a), all(...b)];
const split = (text: string): string[] => text.split('; ');
/** v2 to v5 hold loaded numbers, s[12:13] a loaded pair, and both are there. */
const DATA = [
  'global_load_dword v2, v1, s[4:5]',
  'global_load_dword v3, v1, s[4:5] offset:1024',
  'global_load_dword v4, v1, s[4:5] offset:2048',
  'v_mov_b32_e32 v5, 9',
  's_load_dwordx2 s[12:13], s[4:5], 0x0',
  's_waitcnt vmcnt(0) lgkmcnt(0)',
];
/** The same code but for some lines, behind `DATA`, and a store of v2. */
const one = (name: string, x: string, y: string, behind = ''): Pair =>
  lines(name, [...DATA, ...split(x), ...split(behind), STORE], [...DATA, ...split(y), ...split(behind), STORE]);
/** The same with s14 stored. */
const scalar = (name: string, x: string, y: string): Pair => one(name, x, y, 's_nop 4; v_mov_b32_e32 v2, s14');

const SOME = 'v_cmp_gt_u32_e32 vcc, s12, v3; s_and_saveexec_b64 s[16:17], vcc';
const ALL = 's_mov_b64 exec, s[16:17]';
/** Some lines that are passed over where no lane is on, and always executed. */
const skipped = (name: string, inside: string, behind: string): Pair =>
  one(
    name,
    `s_mov_b32 s14, 1; ${SOME}; s_cbranch_execz .La; ${inside}; .La:; ${ALL}; ${behind}`,
    `s_mov_b32 s14, 1; ${SOME}; ${inside}; ${ALL}; ${behind}`,
  );
const SHOW = 's_nop 4; v_mov_b32_e32 v2, s14';

/** Two instructions in one order and the other, each waited for, with what they leave in v2 and v6 stored. */
const ordered = (name: string, x: string, y: string, before = ''): Pair => {
  const make = (...both: readonly string[]): string[] => [
    ...DATA,
    ...(before === '' ? [] : split(before)),
    ...both.flatMap((text) => [...split(text), 's_waitcnt vmcnt(0) lgkmcnt(0)']),
    'global_store_dwordx2 v1, v[2:3], s[6:7]',
    'global_store_dword v1, v6, s[6:7] offset:2048',
  ];
  return lines(name, make(x, y), make(y, x));
};
const FLAT = 'v_mov_b32_e32 v8, v2; v_mov_b32_e32 v9, v3; v_mov_b32_e32 v6, 0; v_lshlrev_b32_e32 v7, 2, v1';

export const PAIRS: readonly Pair[] = [
  // No lane is on.
  skipped('a scalar move passed over', 's_mov_b32 s14, 2', SHOW),
  skipped('a scalar addition passed over', 's_add_u32 s14, s14, s13', SHOW),
  skipped('a first lane passed over', 's_nop 4; v_readfirstlane_b32 s14, v4', SHOW),
  skipped('a lane that is read passed over', 's_nop 4; v_readlane_b32 s14, v4, 3', SHOW),
  skipped('a lane that is written passed over', 'v_writelane_b32 v2, s13, 3', 's_nop 0'),
  skipped('a mode passed over', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1', 'v_add_f32_e32 v2, v3, v4'),
  skipped('M0 passed over', 's_mov_b32 m0, s13', 's_mov_b32 s14, m0; s_nop 4; v_mov_b32_e32 v2, s14'),
  skipped('a mask of compared lanes passed over', 'v_cmp_eq_u32_e64 s[14:15], v3, v4', SHOW),
  skipped('a barrier passed over', 's_barrier', 's_nop 0'),
  skipped('a scalar load passed over', 's_load_dword s14, s[8:9], 0x0; s_waitcnt lgkmcnt(0)', SHOW),
  skipped(
    'a flag of the scalar unit passed over',
    's_cmp_eq_u32 s13, 7',
    's_cselect_b32 s14, 3, 4; v_mov_b32_e32 v2, s14',
  ),
  skipped('a return passed over', 's_bitcmp1_b32 s13, 0; s_cbranch_scc1 .Lout; .Lout:; s_mov_b32 s14, s13', SHOW),
  one(
    'a branch where lanes are on',
    `${SOME}; s_cbranch_execz .La; v_mov_b32_e32 v2, 7; .La:; ${ALL}`,
    `${SOME}; s_cbranch_execnz .La; v_mov_b32_e32 v2, 7; .La:; ${ALL}`,
  ),
  one(
    'lanes of VCC that are off',
    `${SOME}; v_cmp_lt_u32_e32 vcc, 7, v4; s_cbranch_vccz .La; s_mov_b32 s13, 3; .La:; ${ALL}; v_mov_b32_e32 v2, s13`,
    `v_cmp_lt_u32_e64 s[18:19], 7, v4; ${SOME}; s_mov_b64 vcc, s[18:19]; s_cbranch_vccz .La; s_mov_b32 s13, 3; .La:; ${ALL}; v_mov_b32_e32 v2, s13`,
  ),
  one(
    'an end where lanes are off',
    `${SOME}; s_cbranch_execz .La; v_mov_b32_e32 v2, 7; .La:; ${ALL}`,
    `${SOME}; s_cbranch_execnz .Lb; s_endpgm; .Lb:; v_mov_b32_e32 v2, 7; ${ALL}`,
  ),
  one('lanes restored too early', `${SOME}; v_mov_b32_e32 v2, 7; ${ALL}`, `${SOME}; ${ALL}; v_mov_b32_e32 v2, 7`),
  one(
    'lanes of the other side',
    `${SOME}; v_mov_b32_e32 v2, 7; ${ALL}`,
    `${SOME}; s_xor_b64 exec, exec, s[16:17]; v_mov_b32_e32 v2, 7; ${ALL}`,
  ),
  one(
    'a mask without its lanes',
    `${SOME}; v_mov_b32_e32 v2, 7; ${ALL}`,
    `v_cmp_gt_u32_e32 vcc, s12, v3; s_mov_b64 s[16:17], exec; s_mov_b64 exec, vcc; v_mov_b32_e32 v2, 7; s_mov_b64 exec, -1`,
  ),
  one(
    'first lane of lanes that are on now',
    `s_nop 4; v_readfirstlane_b32 s14, v3; ${SOME}; ${ALL}; s_nop 4; v_mov_b32_e32 v2, s14`,
    `${SOME}; s_nop 4; v_readfirstlane_b32 s14, v3; ${ALL}; s_nop 4; v_mov_b32_e32 v2, s14`,
  ),
  one(
    'bpermute of lanes that are on now',
    `ds_bpermute_b32 v6, v1, v3; ${SOME}; ${ALL}; ${LGKM}; v_mov_b32_e32 v2, v6`,
    `v_mov_b32_e32 v6, 0; ${SOME}; ds_bpermute_b32 v6, v1, v3; ${ALL}; ${LGKM}; v_mov_b32_e32 v2, v6`,
  ),
  one(
    'permute into lanes that are off',
    `ds_permute_b32 v6, v4, v3; ${LGKM}; ${SOME}; v_mov_b32_e32 v2, v6; ${ALL}`,
    `v_mov_b32_e32 v6, 0; ${SOME}; ds_permute_b32 v6, v4, v3; ${LGKM}; v_mov_b32_e32 v2, v6; ${ALL}`,
  ),
  one('permute and bpermute', `ds_bpermute_b32 v2, v4, v3; ${LGKM}`, `ds_permute_b32 v2, v4, v3; ${LGKM}`),
  one('the index of a bpermute', `ds_bpermute_b32 v2, v1, v3; ${LGKM}`, `ds_bpermute_b32 v2, v0, v3; ${LGKM}`),
  one(
    'the offset of a bpermute',
    `ds_bpermute_b32 v2, v1, v3 offset:4; ${LGKM}`,
    `ds_bpermute_b32 v2, v1, v3 offset:8; ${LGKM}`,
  ),

  // SCC.
  scalar(
    'an addition between a test and its use',
    's_cmp_eq_u32 s12, 7; s_mov_b32 s15, 3; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_add_u32 s15, s13, 3; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a shift between a test and its use',
    's_cmp_eq_u32 s12, 7; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_lshl_b32 s15, s13, 3; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a field between a test and its use',
    's_cmp_eq_u32 s12, 7; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_bfe_u32 s15, s13, 0x80004; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'lanes between a test and its use',
    's_cmp_eq_u32 s12, 7; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_or_saveexec_b64 s[16:17], exec; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'an absolute value between',
    's_cmp_eq_u32 s12, 7; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_abs_i32 s15, s13; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a sum with a constant between',
    's_cmp_eq_u32 s12, 7; s_movk_i32 s15, 5; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_movk_i32 s15, 5; s_addk_i32 s15, 1; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a carry of another sum',
    's_add_u32 s15, s12, s13; s_addc_u32 s14, s10, 0',
    's_add_u32 s15, s12, s10; s_addc_u32 s14, s10, 0',
  ),
  scalar(
    'a carry that is cleared',
    's_add_u32 s15, s12, s13; s_addc_u32 s14, s10, 0',
    's_add_u32 s15, s12, s13; s_and_b32 s16, s10, 1; s_addc_u32 s14, s10, 0',
  ),
  scalar(
    'a borrow and a carry',
    's_sub_u32 s15, s12, s13; s_subb_u32 s14, s10, 0',
    's_add_u32 s15, s12, s13; s_subb_u32 s14, s10, 0',
  ),
  scalar(
    'overflow and carry',
    's_add_i32 s15, s12, s13; s_cselect_b32 s14, 1, 2',
    's_add_u32 s15, s12, s13; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a bit and its absence',
    's_bitcmp1_b32 s12, s13; s_cselect_b32 s14, 1, 2',
    's_bitcmp0_b32 s12, s13; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'half of a wide test',
    's_cmp_lg_u64 s[12:13], 0; s_cselect_b32 s14, 1, 2',
    's_cmp_lg_u32 s12, 0; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a conditional move',
    's_mov_b32 s14, 5; s_cmp_eq_u32 s12, 7; s_cmov_b32 s14, s13',
    's_mov_b32 s14, 5; s_cmp_lg_u32 s12, 7; s_cmov_b32 s14, s13',
  ),
  scalar(
    'a flag that one way changes',
    's_cmp_eq_u32 s12, 7; s_cbranch_vccz .La; s_mov_b32 s15, 1; .La:; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_cbranch_vccz .La; s_or_b32 s15, s13, 1; .La:; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a flag of a product',
    's_cmp_eq_u32 s12, 7; s_mul_i32 s15, s13, 0; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_and_b32 s15, s13, 0; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a flag of whole quads',
    's_cmp_eq_u32 s12, 7; s_mov_b32 s15, s13; s_cselect_b32 s14, 1, 2',
    's_cmp_eq_u32 s12, 7; s_wqm_b32 s15, s13; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a count of ones and its flag',
    's_bcnt1_i32_b32 s15, s12; s_cselect_b32 s14, 1, 2',
    's_bcnt0_i32_b32 s15, s12; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'signed and unsigned',
    's_cmp_lt_i32 s12, s13; s_cselect_b32 s14, 1, 2',
    's_cmp_lt_u32 s12, s13; s_cselect_b32 s14, 1, 2',
  ),
  scalar(
    'a minimum and its flag',
    's_min_u32 s15, s12, s13; s_cselect_b32 s14, 1, 2',
    's_min_u32 s15, s13, s12; s_cselect_b32 s14, 1, 2',
  ),

  // Memory that only one of them touches.
  one('LDS at an address that was loaded', 's_nop 0', `ds_read_u16 v6, v3 offset:4352; ${LGKM}`),
  one('LDS past its end', 's_nop 0', `ds_read_b32 v6, v1 offset:4096; ${LGKM}`),
  one(
    'the last dword of LDS and one more',
    `ds_read_b32 v6, v5 offset:4083; ${LGKM}`,
    `ds_read_b64 v[6:7], v5 offset:4083; ${LGKM}`,
  ),
  one('a buffer at an offset that was loaded', 's_nop 0', `buffer_load_dword v6, v3, s[4:7], 0 offen; ${VM}`),
  one(
    'another scalar offset of a buffer',
    `buffer_load_dword v6, v1, s[4:7], 0 offen; ${VM}`,
    `buffer_load_dword v6, v1, s[4:7], s12 offen; ${VM}`,
  ),
  one('a scalar buffer', 's_nop 0', `s_buffer_load_dword s14, s[4:7], 0x0; ${LGKM}`),
  one(
    'a buffer where the branch guards it',
    `${SOME}; buffer_load_dword v6, v1, s[4:7], 0 offen; ${ALL}; ${VM}`,
    `buffer_load_dword v6, v1, s[4:7], 0 offen; ${SOME}; ${ALL}; ${VM}`,
  ),
  one(
    'LDS where the branch guards it',
    `s_bitcmp1_b32 s12, 0; s_cbranch_scc0 .La; ds_read_b32 v6, v3; ${LGKM}; .La:`,
    `ds_read_b32 v6, v3; ${LGKM}; s_bitcmp1_b32 s12, 0; s_cbranch_scc0 .La; .La:`,
  ),
  one('a pair of LDS for one', `ds_read_b32 v6, v3; ${LGKM}`, `ds_read2_b32 v[6:7], v3 offset1:1; ${LGKM}`),

  // One memory on two ways.
  ordered('a flat load and an LDS write', 'flat_load_dword v2, v[8:9]', 'ds_write_b32 v7, v4', FLAT),
  ordered('a flat store and an LDS read', 'flat_store_dword v[8:9], v4', 'ds_read_b32 v2, v7', FLAT),
  ordered('a flat atomic and an LDS read', 'flat_atomic_add v[8:9], v4', 'ds_read_b32 v2, v7', FLAT),
  ordered('a flat atomic and a global load', 'flat_atomic_add v[8:9], v4', 'global_load_dword v2, v1, s[6:7]', FLAT),
  ordered(
    'a flat store and a buffer load',
    'flat_store_dword v[8:9], v4',
    'buffer_load_dword v2, v1, s[4:7], 0 offen',
    FLAT,
  ),
  ordered(
    'a flat load and a buffer store',
    'flat_load_dword v2, v[8:9]',
    'buffer_store_dword v4, v1, s[4:7], 0 offen',
    FLAT,
  ),
  ordered(
    'a flat store and a scalar load',
    'flat_store_dword v[8:9], v4',
    's_load_dword s14, s[6:7], 0x0; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v2, s14',
    FLAT,
  ),
  ordered('two flat stores', 'flat_store_dword v[8:9], v4', 'flat_store_dword v[2:3], v5', FLAT),
  ordered(
    'a flat store and one dword further',
    'flat_store_dwordx2 v[8:9], v[4:5]',
    'flat_store_dword v[8:9], v0 offset:4',
    FLAT,
  ),
  ordered('LDS written and read at unknown places', 'ds_write_b32 v4, v5', 'ds_read_b32 v2, v3'),
  ordered('LDS written twice', 'ds_write_b32 v4, v5', 'ds_write_b32 v3, v0', 'v_mov_b32_e32 v6, 0'),
  ordered(
    'a load of 16 bits and a store of 8',
    'global_load_ushort v2, v1, s[6:7]',
    'global_store_byte v1, v4, s[6:7] offset:1',
    'v_mov_b32_e32 v6, 0',
  ),

  // Atomics.
  ordered(
    'an atomic and a load',
    'global_atomic_add v1, v4, s[6:7]',
    'global_load_dword v2, v1, s[6:7]',
    'v_mov_b32_e32 v6, 0',
  ),
  ordered(
    'an atomic and a store',
    'global_atomic_add v1, v4, s[6:7]',
    'global_store_dword v1, v5, s[6:7]',
    'v_mov_b32_e32 v6, 0',
  ),
  ordered('two that return', 'global_atomic_add v2, v1, v4, s[6:7] sc0', 'global_atomic_add v6, v1, v5, s[6:7] sc0'),
  ordered(
    'two that return, through other pointers',
    'global_atomic_add v2, v1, v4, s[6:7] sc0',
    'global_atomic_add v6, v1, v5, s[8:9] sc0',
  ),
  ordered(
    'an addition and a maximum',
    'global_atomic_add v1, v4, s[6:7]',
    'global_atomic_umax v1, v5, s[6:7]',
    'v_mov_b32_e32 v6, 0',
  ),
  ordered(
    'an exchange and an addition in LDS',
    'ds_wrxchg_rtn_b32 v2, v1, v4',
    'ds_add_u32 v1, v5',
    'v_mov_b32_e32 v6, 0',
  ),
  ordered('an addition in LDS that returns and a read', 'ds_add_rtn_u32 v2, v1, v4', 'ds_read_b32 v6, v1'),
  one(
    'two additions and one of the sum',
    `global_atomic_add v1, v4, s[8:9]; global_atomic_add v1, v4, s[8:9]`,
    `v_lshlrev_b32_e32 v6, 1, v4; global_atomic_add v1, v6, s[8:9]`,
  ),
  one(
    'an atomic without use',
    `global_atomic_add v6, v1, v4, s[8:9] sc0; ${VM}`,
    `global_load_dword v6, v1, s[8:9]; ${VM}`,
  ),
  one(
    'an atomic of fewer lanes',
    'global_atomic_add v1, v4, s[8:9]',
    `${SOME}; global_atomic_add v1, v4, s[8:9]; ${ALL}`,
  ),
  one(
    'halves of another format',
    'global_atomic_pk_add_f16 v1, v4, s[8:9]',
    'global_atomic_pk_add_bf16 v1, v4, s[8:9]',
  ),
  one('a minimum and a maximum in LDS', `ds_min_rtn_u32 v2, v1, v4; ${LGKM}`, `ds_max_rtn_u32 v2, v1, v4; ${LGKM}`),
  one(
    'compare and swap with exchanged data',
    `ds_cmpst_rtn_b32 v2, v1, v3, v4; ${LGKM}`,
    `ds_cmpst_rtn_b32 v2, v1, v4, v3; ${LGKM}`,
  ),
  one('a subtraction from the other side', `ds_sub_rtn_u32 v2, v1, v4; ${LGKM}`, `ds_rsub_rtn_u32 v2, v1, v4; ${LGKM}`),
  one(
    'a wrap at another bound',
    `global_atomic_inc v2, v1, v4, s[8:9] sc0; ${VM}`,
    `global_atomic_inc v2, v1, v3, s[8:9] sc0; ${VM}`,
  ),

  // Waits that leave something in flight.
  lines(
    'the older of two loads',
    [LOAD, 'global_load_dword v3, v1, s[8:9]', 's_waitcnt vmcnt(1)', STORE],
    ['global_load_dword v3, v1, s[8:9]', LOAD, 's_waitcnt vmcnt(1)', STORE],
  ),
  lines(
    'the older of two reads',
    ['ds_read_b32 v2, v1', 'ds_read_b32 v3, v1 offset:4', 's_waitcnt lgkmcnt(1)', STORE],
    ['ds_read_b32 v3, v1 offset:4', 'ds_read_b32 v2, v1', 's_waitcnt lgkmcnt(1)', STORE],
  ),
  lines(
    'a wait on one side of a branch',
    [LOAD, 's_bitcmp1_b32 s10, 0', VM, 's_cbranch_scc1 .La', 's_nop 0', '.La:', STORE],
    [LOAD, 's_bitcmp1_b32 s10, 0', 's_cbranch_scc1 .La', VM, '.La:', STORE],
  ),
  lines(
    'a flat load that LDS counts too',
    [
      'v_mov_b32_e32 v4, s4',
      'v_mov_b32_e32 v5, s5',
      'flat_load_dword v2, v[4:5]',
      's_waitcnt vmcnt(0) lgkmcnt(0)',
      STORE,
    ],
    ['v_mov_b32_e32 v4, s4', 'v_mov_b32_e32 v5, s5', 'flat_load_dword v2, v[4:5]', VM, STORE],
  ),
  lines(
    'a scalar load among reads of LDS',
    ['ds_read_b32 v2, v1', 's_load_dword s14, s[8:9], 0x0', LGKM, STORE],
    ['ds_read_b32 v2, v1', 's_load_dword s14, s[8:9], 0x0', 's_waitcnt lgkmcnt(1)', STORE],
  ),
  lines(
    'three loads, the middle one',
    [
      LOAD,
      'global_load_dword v3, v1, s[8:9]',
      'global_load_dword v4, v1, s[4:5] offset:64',
      's_waitcnt vmcnt(1)',
      'v_add_u32_e32 v2, v2, v3',
      STORE,
    ],
    [
      LOAD,
      'global_load_dword v3, v1, s[8:9]',
      'global_load_dword v4, v1, s[4:5] offset:64',
      's_waitcnt vmcnt(2)',
      'v_add_u32_e32 v2, v2, v3',
      STORE,
    ],
  ),
  lines('a wait for no vector memory', [LOAD, VM, STORE], [LOAD, LGKM, STORE]),
  lines(
    'an address that changes under a load',
    ['v_mov_b32_e32 v3, v1', 'global_load_dword v2, v3, s[4:5]', 'v_mov_b32_e32 v3, 0', VM, STORE],
    ['v_mov_b32_e32 v3, v1', 'v_mov_b32_e32 v3, 0', 'global_load_dword v2, v3, s[4:5]', VM, STORE],
  ),
];
