// Wrong changes: none of these may be accepted, and each must die at its rung.
import { POINTER, VALUE } from './subjects.ts';
import { type Cheat, STORE } from './variants.ts';

export const CHEATS: readonly Cheat[] = [
  { name: 'no-op', of: 'elementwise', rung: 'exact', replace: [['s_load_dwordx4', 's_endpgm\n  s_load_dwordx4']] },
  { name: 'no-op in place', of: 'inPlace', rung: 'exact', replace: [['s_load_dwordx4', 's_endpgm\n  s_load_dwordx4']] },
  {
    name: 'nothing is stored',
    of: 'reverse',
    rung: 'exact',
    replace: [['global_store_dword v3, v6, s[4:5]', 's_nop 0']],
  },
  {
    name: 'stale output: the old value is stored',
    of: 'inPlace',
    rung: 'held-out',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_mov_b32_e32 v2, v3']],
  },
  {
    name: 'constant output',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['v_fma_f32 v2, s9, v2, v3', 'v_mov_b32_e32 v2, 1.0']],
  },
  {
    name: 'the input is copied',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_nop 0']],
  },
  {
    name: 'alpha is hard-coded',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_mov_b32 s9, 0x3fc00000\n  v_fma_f32 v2, s9, v2, v3']],
  },
  {
    name: 'the count is hard-coded',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_cmp_gt_u32_e32 vcc, s8', 's_movk_i32 s8, 0x3e8\n  v_cmp_gt_u32_e32 vcc, s8']],
  },
  {
    name: 'the bound is not checked',
    of: 'elementwise',
    rung: 'exact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8, v0', 's_mov_b64 vcc, exec']],
  },
  {
    name: 'one element less',
    of: 'elementwise',
    rung: 'exact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8', 's_sub_u32 s8, s8, 1\n  v_cmp_gt_u32_e32 vcc, s8']],
  },
  {
    name: 'early exit of the last workgroup',
    of: 'elementwise',
    rung: 'exact',
    replace: [['s_lshl_b32 s3, s2, 6', 's_cmp_gt_u32 s2, 14\n  s_cbranch_scc1 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'every other workgroup',
    of: 'elementwise',
    rung: 'exact',
    replace: [['s_lshl_b32 s3, s2, 6', 's_bitcmp1_b32 s2, 0\n  s_cbranch_scc1 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'half of the lanes store',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `s_mov_b32 exec_hi, 0\n  ${STORE}`]],
  },
  {
    name: 'two bytes of four are stored',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'global_store_short v1, v2, s[4:5]']],
  },
  {
    name: 'the store goes beyond its element',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'v_mov_b32_e32 v3, 0\n  global_store_dwordx2 v1, v[2:3], s[4:5]']],
  },
  {
    name: 'the store goes elsewhere',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'global_store_dword v1, v2, s[4:5] offset:4']],
  },
  {
    name: 'a store far out of bounds',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\n  s_add_u32 s5, s5, 0x10\n  ${STORE}`]],
  },
  {
    name: 'the input is modified',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\n  global_store_dword v1, v2, s[6:7]`]],
  },
  {
    name: 'reads beyond the input',
    of: 'elementwise',
    rung: 'exact',
    replace: [['global_load_dword v2, v1, s[6:7]', 'global_load_dword v2, v1, s[6:7] offset:2048']],
  },
  {
    name: 'reads what the baseline does not read',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]',
        'global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  global_load_dword v2, v1, s[6:7]',
      ],
    ],
  },
  {
    name: 'the wait for the load is dropped',
    of: 'elementwise',
    rung: 'static',
    replace: [['s_waitcnt vmcnt(0)', 's_nop 0']],
  },
  {
    name: 'the wait for the arguments is dropped',
    of: 'elementwise',
    rung: 'static',
    replace: [['s_waitcnt lgkmcnt(0)', 's_nop 0']],
  },
  {
    name: 'the wait is weakened',
    of: 'inPlace',
    rung: 'static',
    replace: [['s_waitcnt vmcnt(0)', 's_waitcnt vmcnt(1)']],
  },
  {
    name: 'the wait for LDS is dropped',
    of: 'reverse',
    rung: 'static',
    replace: [['ds_read_b32 v6, v5\n  s_waitcnt lgkmcnt(0)', 'ds_read_b32 v6, v5']],
  },
  {
    name: 'the wait before the barrier is dropped',
    of: 'reverse',
    rung: 'static',
    replace: [['s_waitcnt lgkmcnt(0)\n  s_barrier', 's_barrier']],
  },
  { name: 'the barrier is dropped', of: 'reverse', rung: 'exact', replace: [['s_barrier', 's_nop 0']] },
  {
    name: 'the barrier comes too late',
    of: 'reverse',
    rung: 'static',
    replace: [
      ['s_barrier\n', ''],
      ['ds_read_b32 v6, v5', 'ds_read_b32 v6, v5\n  s_barrier'],
    ],
  },
  {
    name: 'LDS overrun',
    of: 'reverse',
    rung: 'static',
    replace: [['ds_write_b32 v1, v4', 'ds_write_b32 v1, v4\n  ds_write_b32 v1, v4 offset:1024']],
  },
  {
    name: 'LDS that nobody wrote is taken to be zero',
    of: 'reverse',
    rung: 'exact',
    replace: [['s_mov_b64 exec, s[10:11]\n  ds_write_b32 v1, v4', 'ds_write_b32 v1, v4\n  s_mov_b64 exec, s[10:11]']],
  },
  {
    name: 'LDS that is not reserved',
    of: 'reverse',
    rung: 'exact',
    source: { descriptor: { group_segment_fixed_size: 512 }, metadata: { '.group_segment_fixed_size': 512 } },
  },
  {
    name: 'more LDS than there is',
    of: 'reverse',
    rung: 'contract',
    source: { descriptor: { group_segment_fixed_size: 65536 }, metadata: { '.group_segment_fixed_size': 65792 } },
  },
  {
    name: 'LDS of the metadata is not that of the descriptor',
    of: 'reverse',
    rung: 'contract',
    source: { metadata: { '.group_segment_fixed_size': 0 } },
  },
  {
    name: 'half precision inside',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['s_waitcnt vmcnt(0)\n', 's_waitcnt vmcnt(0)\n  v_cvt_f16_f32_e32 v2, v2\n  v_cvt_f32_f16_e32 v2, v2\n']],
  },
  {
    name: 'bfloat16 by cutting bits',
    of: 'dot',
    rung: 'equivalence',
    replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_and_b32_e32 v3, 0xffff0000, v3\n  v_fmac_f32_e32 v2, s17, v3']],
  },
  {
    name: 'product and sum rounded apart',
    of: 'dot',
    rung: 'equivalence',
    replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_mul_f32_e32 v3, s17, v3\n  v_add_f32_e32 v2, v2, v3']],
  },
  {
    name: 'every other term',
    of: 'dot',
    rung: 'equivalence',
    replace: [
      ['v_add_u32_e32 v1, 4, v1', 'v_add_u32_e32 v1, 8, v1'],
      ['s_add_u32 s12, s12, 4', 's_add_u32 s12, s12, 8'],
      ['s_add_u32 s16, s16, 1', 's_add_u32 s16, s16, 2'],
    ],
  },
  {
    name: 'K is hard-coded',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cmp_lt_u32 s16, s14', 's_cmp_lt_u32 s16, 32']],
  },
  {
    name: 'K must be even',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_mov_b32 s16, 0\n', 's_mov_b32 s16, 0\n  s_and_b32 s14, s14, -2\n']],
  },
  {
    name: 'an empty sum is not stored',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cbranch_scc1 store', 's_cbranch_scc1 done']],
  },
  {
    name: 'terms that are zero end the sum',
    of: 'dot',
    rung: 'held-out',
    replace: [
      ['v_fmac_f32_e32 v2, s17, v3', 's_cmp_eq_u32 s17, 0\n  s_cbranch_scc1 store\n  v_fmac_f32_e32 v2, s17, v3'],
    ],
  },
  {
    name: 'infinities are cut off',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        'v_fma_f32 v2, s9, v2, v3',
        'v_mov_b32_e32 v4, 0x7f7fffff\n  v_min_f32_e32 v2, v4, v2\n  v_fma_f32 v2, s9, v2, v3',
      ],
    ],
  },
  {
    name: 'denormals are flushed',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { float_denorm_mode_32: 1 } },
  },
  { name: 'another rounding mode', of: 'dot', rung: 'contract', source: { descriptor: { float_round_mode_32: 3 } } },
  {
    name: 'another argument layout',
    of: 'elementwise',
    rung: 'contract',
    source: { args: [POINTER, POINTER, VALUE, VALUE, VALUE] },
  },
  {
    name: 'other registers at the start',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { user_sgpr_dispatch_ptr: 1 } },
  },
  {
    name: 'smaller workgroups only',
    of: 'reverse',
    rung: 'contract',
    source: { metadata: { '.max_flat_workgroup_size': 128 } },
  },
  { name: 'another kernel', of: 'elementwise', rung: 'contract', source: { name: 'other' } },
  { name: 'another target', of: 'elementwise', rung: 'contract', source: { target: 'gfx90a' } },
  {
    name: 'more registers than are reserved',
    of: 'elementwise',
    rung: 'static',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0', 'v_cvt_f32_u32_e32 v30, v0'],
      ['v2, s9, v2, v3', 'v2, s9, v2, v30'],
    ],
  },
  {
    name: 'a register that nobody wrote',
    of: 'elementwise',
    rung: 'static',
    replace: [['v_cvt_f32_u32_e32 v3, v0\n', '']],
  },
  {
    name: 'a race between workgroups',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `v_mov_b32_e32 v4, 0\n  global_store_dword v4, v2, s[4:5]\n  s_waitcnt vmcnt(0)\n  ${STORE}`]],
  },
  {
    name: 'the counter without an atomic',
    of: 'compact',
    rung: 'exact',
    replace: [
      [
        'global_atomic_add v6, v4, v5, s[4:5] sc0\n  s_waitcnt vmcnt(0)',
        'global_load_dword v6, v4, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_add_u32_e32 v5, v6, v5\n  global_store_dword v4, v5, s[4:5]\n  s_waitcnt vmcnt(0)',
      ],
    ],
  },
  {
    name: 'garbage in the list',
    of: 'compact',
    rung: 'equivalence',
    replace: [['global_store_dword v6, v0, s[4:5] offset:4', 'global_store_dword v6, v2, s[4:5] offset:4']],
  },
  {
    name: 'memory of the code is written',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [STORE, `${STORE}\n  s_getpc_b64 s[12:13]\n  v_mov_b32_e32 v4, 0\n  global_store_dword v4, v2, s[12:13]`],
    ],
  },
  {
    name: 'data that is known not to be read',
    of: 'inPlace',
    rung: 'held-out',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]\n  global_load_dword v3, v1, s[4:5]',
        'global_load_dword v3, v1, s[4:5]\n  v_mov_b32_e32 v2, 0\n  s_load_dword s9, s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_cmp_eq_u32 s9, 0\n  s_cbranch_scc1 known\n  global_load_dword v2, v1, s[6:7]\nknown:',
      ],
    ],
  },
  {
    name: 'only where the buffer lies',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      ['v_fma_f32 v2, s9, v2, v3', 's_cmp_lt_u32 s7, 0x5000\n  s_cselect_b32 s9, s9, 0\n  v_fma_f32 v2, s9, v2, v3'],
    ],
  },
  {
    name: 'the clock decides',
    of: 'elementwise',
    rung: 'static',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_memtime s[12:13]\n  s_waitcnt lgkmcnt(0)\n  v_fma_f32 v2, s9, v2, v3']],
  },
  {
    name: 'the scope of the atomic is dropped',
    of: 'total',
    rung: 'static',
    replace: [['s[4:5] sc1', 's[4:5]']],
  },
  {
    name: 'the write-back is dropped',
    of: 'total',
    rung: 'static',
    replace: [['buffer_wbl2 sc0 sc1', 's_nop 0']],
  },
  {
    name: 'a load and a store in the place of the atomic',
    of: 'total',
    rung: 'static',
    replace: [
      [
        'global_atomic_add v4, v2, s[4:5] sc1',
        'global_load_dword v5, v4, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_add_u32_e32 v2, v2, v5\n  global_store_dword v4, v2, s[4:5] sc1',
      ],
    ],
  },
  { name: 'a higher priority', of: 'elementwise', rung: 'contract', bytes: { rsrc1: 1 << 10 } },
  {
    name: 'an endless loop',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\nagain:\n  s_cmp_eq_u32 s8, 0x3e8\n  s_cbranch_scc1 again`]],
  },
  { name: 'a trap', of: 'elementwise', rung: 'exact', replace: [[STORE, `${STORE}\n  s_trap 2`]] },
];
