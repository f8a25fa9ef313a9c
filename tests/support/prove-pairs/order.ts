// Pairs of kernels that differ: the order of accesses that may meet, barriers, waits, cache policies, what is read at the start.
import { all, LGKM, LOAD, STORE, VM } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

const FIRST = 'global_store_dword v1, v0, s[4:5]';
const SECOND = 'global_store_dword v1, v1, s[6:7]';
const lines = (name: string, a: readonly string[], b: readonly string[]): Pair => [name, all(...a), all(...b)];
/** Two instructions after a number was loaded to v3, in one order and the other. */
const swapped = (name: string, a: string, b: string, ...behind: readonly string[]): Pair =>
  lines(
    name,
    ['global_load_dword v3, v1, s[8:9]', 'v_lshlrev_b32_e32 v4, 2, v1', VM, a, b, ...behind],
    ['global_load_dword v3, v1, s[8:9]', 'v_lshlrev_b32_e32 v4, 2, v1', VM, b, a, ...behind],
  );
const buffer = (first: number, word3 = '0x20000', words = ['s6', 's7', '0x400']): string[] => [
  `s_mov_b32 s${first}, ${words[0]}`,
  `s_mov_b32 s${first + 1}, ${words[1]}`,
  `s_mov_b32 s${first + 2}, ${words[2]}`,
  `s_mov_b32 s${first + 3}, ${word3}`,
];
const wordThree = (name: string, x: string, y: string): Pair =>
  lines(
    name,
    [...buffer(12, x), 'buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE],
    [...buffer(12, y), 'buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE],
  );
/** One access in two versions, and a store of v2. */
const access = (x: string, y: string, ...before: readonly string[]): Pair =>
  lines(
    `${x} | ${y}`,
    [...before, x, 's_waitcnt vmcnt(0) lgkmcnt(0)', STORE],
    [...before, y, 's_waitcnt vmcnt(0) lgkmcnt(0)', STORE],
  );
const directives = (name: string, x: string, y: string, ...body: readonly string[]): Pair => [
  name,
  { body: all(...body), directives: x },
  { body: all(...body), directives: y },
];
const scratch = (...body: readonly string[]) => ({
  body: all(...body),
  directives: '.amdhsa_private_segment_fixed_size 64\n.amdhsa_enable_private_segment 1',
  change: (text: string) => text.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
});
const PIPELINE = (last: string): string[] => [
  'global_load_dword v2, v1, s[4:5]',
  's_cmp_lg_u32 s10, 0',
  's_cbranch_scc1 .La',
  'global_load_dword v3, v1, s[4:5] offset:1024',
  '.La:',
  'global_load_dword v4, v1, s[4:5] offset:2048',
  last,
  'v_mov_b32_e32 v2, v2',
  STORE,
  VM,
];

export const PAIRS: readonly Pair[] = [
  // Accesses that may meet.
  swapped('two stores to other pointers', FIRST, SECOND),
  swapped(
    'a store and a wider one',
    'global_store_dwordx2 v1, v[0:1], s[6:7]',
    'global_store_dword v1, v3, s[6:7] offset:4',
  ),
  swapped('stores a byte apart', 'global_store_byte v1, v0, s[6:7]', 'global_store_short v1, v3, s[6:7]'),
  swapped('a store and one of other lanes', 'global_store_dword v1, v0, s[6:7]', 'global_store_dword v4, v3, s[6:7]'),
  swapped(
    'a scattered store of an index that was loaded',
    'global_store_dword v3, v0, s[6:7]',
    'global_store_dword v3, v1, s[6:7] offset:2',
  ),
  swapped('stores by buffer and by address', 'buffer_store_dword v0, v1, s[8:11], 0 offen', SECOND),
  swapped(
    'stores through two buffers',
    'buffer_store_dword v0, v1, s[8:11], 0 offen',
    'buffer_store_dword v1, v1, s[4:7], 0 offen',
  ),
  swapped(
    'a flat store and an LDS store',
    'flat_store_dword v[4:5], v0',
    'ds_write_b32 v1, v3',
    LGKM,
    'ds_read_b32 v2, v1',
    's_waitcnt vmcnt(0) lgkmcnt(0)',
    STORE,
  ),
  swapped(
    'a load past a store',
    'global_load_dword v2, v1, s[4:5]',
    'global_store_dword v1, v0, s[6:7]',
    VM,
    'global_store_dword v1, v2, s[8:9]',
  ),
  swapped(
    'a scalar load past a store',
    's_load_dword s12, s[4:5], 0x0',
    'global_store_dword v1, v0, s[6:7]',
    's_waitcnt vmcnt(0) lgkmcnt(0)',
    'v_mov_b32_e32 v2, s12',
    'global_store_dword v1, v2, s[8:9]',
  ),
  swapped(
    'LDS stores of one dword',
    'ds_write_b32 v1, v0',
    'ds_write_b8 v1, v3 offset:1',
    LGKM,
    'ds_read_b32 v2, v1',
    LGKM,
    STORE,
  ),
  swapped(
    'LDS stores of neighbours',
    'ds_write_b64 v1, v[0:1]',
    'ds_write_b32 v1, v3 offset:4',
    LGKM,
    'ds_read_b32 v2, v1',
    LGKM,
    STORE,
  ),
  swapped(
    'LDS stores by strides',
    'ds_write2_b32 v1, v0, v3 offset1:1',
    'ds_write2st64_b32 v1, v3, v0 offset1:1',
    LGKM,
    'ds_read_b32 v2, v1',
    LGKM,
    STORE,
  ),
  swapped('an atomic of LDS and a load', 'ds_add_u32 v1, v3', 'ds_read_b32 v2, v1', LGKM, STORE),
  swapped('atomics of LDS with return', 'ds_add_rtn_u32 v2, v1, v3', 'ds_max_rtn_u32 v5, v1, v3', LGKM, STORE),
  swapped('atomics that commute, with return', 'ds_add_rtn_u32 v2, v1, v3', 'ds_add_rtn_u32 v5, v1, v0', LGKM, STORE),
  swapped('an atomic and a store elsewhere', 'global_atomic_add v1, v3, s[4:5]', SECOND),
  swapped('two atomics without return', 'global_atomic_add v1, v3, s[4:5]', 'global_atomic_add v1, v3, s[6:7]'),
  [
    'scratch and flat',
    scratch(
      'v_mov_b32_e32 v3, 5',
      'scratch_store_dword off, v3, off offset:8',
      's_mov_b64 s[12:13], src_private_base',
      'v_mov_b32_e32 v4, 8',
      'v_mov_b32_e32 v5, s13',
      VM,
      'flat_load_dword v2, v[4:5]',
      's_waitcnt vmcnt(0) lgkmcnt(0)',
      STORE,
    ),
    scratch(
      'v_mov_b32_e32 v3, 5',
      's_mov_b64 s[12:13], src_private_base',
      'v_mov_b32_e32 v4, 8',
      'v_mov_b32_e32 v5, s13',
      'flat_load_dword v2, v[4:5]',
      's_waitcnt vmcnt(0) lgkmcnt(0)',
      'scratch_store_dword off, v3, off offset:8',
      STORE,
    ),
  ],
  [
    'scratch of other lanes',
    scratch(
      'v_mov_b32_e32 v3, 5',
      'scratch_store_dword off, v3, off',
      's_mov_b64 s[14:15], exec',
      's_mov_b64 exec, 15',
      'scratch_store_dword off, v0, off',
      VM,
      's_mov_b64 exec, s[14:15]',
      'scratch_load_dword v2, off, off',
      VM,
      STORE,
    ),
    scratch('scratch_store_dword off, v0, off', VM, 'scratch_load_dword v2, off, off', VM, STORE),
  ],
  [
    'a wide load over a smaller alignment',
    all('ds_read2_b32 v[2:3], v1 offset1:1', LGKM, STORE),
    all('v_add_u32_e32 v5, 2, v1', 'ds_read_b64 v[2:3], v5', LGKM, STORE),
  ],
  lines(
    'a merged store with the halves exchanged',
    ['global_store_dword v1, v0, s[6:7]', 'global_store_dword v1, v1, s[6:7] offset:4'],
    ['v_mov_b32_e32 v2, v1', 'v_mov_b32_e32 v3, v0', 'global_store_dwordx2 v1, v[2:3], s[6:7]'],
  ),
  lines(
    'a merged load one dword off',
    ['global_load_dwordx2 v[2:3], v1, s[4:5]', VM, STORE],
    ['global_load_dwordx2 v[2:3], v1, s[4:5] offset:4', VM, STORE],
  ),
  // Barriers.
  lines(
    'a barrier before the store it publishes',
    ['ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
    ['s_barrier', 'ds_write_b32 v1, v0', LGKM, 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
  ),
  lines(
    'a read before its barrier',
    ['ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
    ['ds_write_b32 v1, v0', 'ds_read_b32 v2, v1 offset:4', LGKM, 's_barrier', STORE],
  ),
  lines(
    'no wait before a barrier',
    ['ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
    ['ds_write_b32 v1, v0', 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
  ),
  lines(
    'a global store over a barrier',
    [FIRST, VM, 's_barrier', LOAD, VM, STORE],
    ['s_barrier', FIRST, VM, LOAD, VM, STORE],
  ),
  lines(
    'a barrier on one side only',
    ['s_cmp_lg_u32 s10, 0', 's_cbranch_scc1 .La', 's_barrier', '.La:', FIRST],
    ['s_cmp_lg_u32 s10, 0', 's_cbranch_scc1 .La', '.La:', FIRST],
  ),
  lines(
    'two barriers for one',
    ['ds_write_b32 v1, v0', LGKM, 's_barrier', 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
    ['ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1 offset:4', LGKM, STORE],
  ),
  // Waits.
  lines(
    'lgkmcnt(1) behind two scalar loads',
    ['s_load_dword s12, s[4:5], 0x0', 's_load_dword s13, s[6:7], 0x0', LGKM, 'v_mov_b32_e32 v2, s12', STORE],
    [
      's_load_dword s12, s[4:5], 0x0',
      's_load_dword s13, s[6:7], 0x0',
      's_waitcnt lgkmcnt(1)',
      'v_mov_b32_e32 v2, s12',
      STORE,
    ],
  ),
  lines('a count over a branch', PIPELINE('s_waitcnt vmcnt(1)'), PIPELINE('s_waitcnt vmcnt(2)')),
  lines('a count of nothing', PIPELINE(VM), PIPELINE('s_nop 0')),
  lines(
    'a store counts as well',
    [LOAD, FIRST, 's_waitcnt vmcnt(1)', 'v_add_u32_e32 v2, 1, v2', STORE],
    [LOAD, FIRST, 's_waitcnt vmcnt(2)', 'v_add_u32_e32 v2, 1, v2', STORE],
  ),
  lines(
    'LDS behind a scalar load',
    ['ds_read_b32 v2, v1', 's_load_dword s12, s[4:5], 0x0', LGKM, STORE],
    ['ds_read_b32 v2, v1', 's_load_dword s12, s[4:5], 0x0', 's_waitcnt lgkmcnt(1)', STORE],
  ),
  lines('vmcnt for lgkmcnt', ['ds_read_b32 v2, v1', LGKM, STORE], ['ds_read_b32 v2, v1', VM, STORE]),
  lines(
    'data of a store overwritten',
    [
      'v_mov_b32_e32 v2, v0',
      STORE,
      VM,
      's_nop 4',
      'global_load_dword v2, v1, s[4:5]',
      VM,
      'global_store_dword v1, v2, s[8:9]',
    ],
    ['v_mov_b32_e32 v2, v0', 'global_load_dword v2, v1, s[4:5]', STORE, VM, 'global_store_dword v1, v2, s[8:9]'],
  ),
  // Cache policies and fences.
  access('global_load_dword v2, v1, s[4:5] sc0', 'global_load_dword v2, v1, s[4:5]'),
  access('global_load_dword v2, v1, s[4:5] sc1', 'global_load_dword v2, v1, s[4:5] sc0'),
  access('global_load_dword v2, v1, s[4:5] sc0 sc1', 'global_load_dword v2, v1, s[4:5] sc1'),
  access('global_load_dword v2, v1, s[4:5] nt', 'global_load_dword v2, v1, s[4:5]'),
  access('global_atomic_add v2, v1, v0, s[4:5] sc0', 'global_atomic_sub v2, v1, v0, s[4:5] sc0'),
  access('global_atomic_add v2, v1, v0, s[4:5] sc0 sc1', 'global_atomic_add v2, v1, v0, s[4:5] sc0'),
  access(
    'buffer_load_dword v2, v1, s[12:15], 0 offen sc1',
    'buffer_load_dword v2, v1, s[12:15], 0 offen',
    ...buffer(12),
  ),
  lines(
    'a lost write-back',
    ['global_store_dword v1, v0, s[6:7]', 'buffer_wbl2 sc1', VM, 'global_store_dword v1, v1, s[8:9] sc0 sc1'],
    ['global_store_dword v1, v0, s[6:7]', VM, 'global_store_dword v1, v1, s[8:9] sc0 sc1'],
  ),
  lines(
    'an invalidation before its load',
    ['global_load_dword v3, v1, s[4:5] sc1', VM, 'buffer_inv sc1', 'global_load_dword v2, v1, s[6:7]', VM, STORE],
    ['buffer_inv sc1', 'global_load_dword v3, v1, s[4:5] sc1', VM, 'global_load_dword v2, v1, s[6:7]', VM, STORE],
  ),
  lines('another scope of an invalidation', ['buffer_inv sc1', LOAD, VM, STORE], ['buffer_inv sc0', LOAD, VM, STORE]),
  // Buffers.
  wordThree('a structured index in word 3', '0x20000', '0x820000'),
  wordThree('another format of word 3', '0x20000', '0x27000'),
  lines(
    'another number of records',
    [...buffer(12), 'buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE],
    [...buffer(12, '0x20000', ['s6', 's7', '0x3fc']), 'buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE],
  ),
  lines(
    'a scalar offset that is not in range',
    [...buffer(12), 's_movk_i32 s16, 0x400', 'buffer_load_dword v2, v1, s[12:15], s16 offen', VM, STORE],
    [...buffer(12), 'v_add_u32_e32 v4, 0x400, v1', 'buffer_load_dword v2, v4, s[12:15], 0 offen', VM, STORE],
  ),
  access('buffer_load_dword v2, v1, s[12:15], 0 offen', 'buffer_load_dword v2, v1, s[12:15], 0 idxen', ...buffer(12)),
  access('buffer_load_ubyte v2, v1, s[12:15], 0 offen', 'buffer_load_sbyte v2, v1, s[12:15], 0 offen', ...buffer(12)),
  access(
    'buffer_load_format_x v2, v1, s[12:15], 0 offen',
    'buffer_load_dword v2, v1, s[12:15], 0 offen',
    ...buffer(12),
  ),
  access('global_load_short_d16 v2, v1, s[4:5]', 'global_load_short_d16_hi v2, v1, s[4:5]', 'v_mov_b32_e32 v2, 9'),
  access('global_load_sbyte v2, v1, s[4:5]', 'global_load_ubyte v2, v1, s[4:5]'),
  // LDS.
  access('ds_read_b32 v2, v1 offset:4', 'ds_read_b32 v2, v1 offset:8'),
  access('ds_add_rtn_u32 v2, v1, v0', 'ds_add_rtn_u32 v2, v1, v0 offset:4'),
  access('ds_cmpst_rtn_b32 v2, v1, v0, v1', 'ds_cmpst_rtn_b32 v2, v1, v1, v0'),
  access('ds_add_rtn_f32 v2, v1, v0', 'ds_add_rtn_u32 v2, v1, v0'),
  access('ds_wrxchg_rtn_b32 v2, v1, v0', 'ds_read_b32 v2, v1'),
  access('ds_inc_rtn_u32 v2, v1, v0', 'ds_dec_rtn_u32 v2, v1, v0'),
  access('ds_read2_b32 v[2:3], v1 offset0:1 offset1:2', 'ds_read2_b32 v[2:3], v1 offset0:2 offset1:1'),
  access('ds_read2st64_b32 v[2:3], v1 offset0:1 offset1:2', 'ds_read2_b32 v[2:3], v1 offset0:1 offset1:2'),
  access('ds_read_u16_d16_hi v2, v1', 'ds_read_u16_d16 v2, v1', 'v_mov_b32_e32 v2, 9'),
  access('ds_append v2', 'ds_consume v2', 's_mov_b32 m0, 0', 's_nop 4'),
  // What a kernel begins with.
  directives('IEEE mode', '.amdhsa_ieee_mode 1', '.amdhsa_ieee_mode 0', 'v_add_f32_e32 v2, v0, v1', STORE),
  directives('clamping', '.amdhsa_dx10_clamp 1', '.amdhsa_dx10_clamp 0', 'v_add_f32_e64 v2, v0, v1 clamp', STORE),
  directives(
    'rounding',
    '.amdhsa_float_round_mode_32 0',
    '.amdhsa_float_round_mode_32 1',
    'v_add_f32_e32 v2, v0, v1',
    STORE,
  ),
  directives(
    'denormals',
    '.amdhsa_float_denorm_mode_32 0',
    '.amdhsa_float_denorm_mode_32 3',
    'v_add_f32_e32 v2, v0, v1',
    STORE,
  ),
  directives(
    'denormals of doubles',
    '.amdhsa_float_denorm_mode_16_64 0',
    '.amdhsa_float_denorm_mode_16_64 3',
    'v_add_f16_e32 v2, v0, v1',
    STORE,
  ),
  directives(
    'overflow of halves',
    '.amdhsa_fp16_overflow 0',
    '.amdhsa_fp16_overflow 1',
    'v_cvt_f16_f32_e32 v2, v1',
    STORE,
  ),
  directives(
    'work-item ids',
    '.amdhsa_system_vgpr_workitem_id 0',
    '.amdhsa_system_vgpr_workitem_id 2',
    STORE.replace('v2', 'v0'),
  ),
  directives(
    'workgroup ids',
    '.amdhsa_system_sgpr_workgroup_id_x 1',
    '.amdhsa_system_sgpr_workgroup_id_x 0\n.amdhsa_system_sgpr_workgroup_id_y 1',
    'v_mov_b32_e32 v2, s2',
    STORE,
  ),
  directives(
    'threads of a group split',
    '.amdhsa_tg_split 0',
    '.amdhsa_tg_split 1',
    'ds_write_b32 v1, v0',
    LGKM,
    'ds_read_b32 v2, v1',
    LGKM,
    STORE,
  ),
  swapped(
    'stores that meet in part',
    'global_store_dwordx3 v1, v[0:2], s[6:7]',
    'global_store_dwordx2 v1, v[4:5], s[6:7] offset:8',
  ),
];
