// Right changes: none of these may be rejected.
import { POINTER, VALUE } from './subjects.ts';
import { STORE, type Variant } from './variants.ts';

/** The same function, otherwise: nothing of this may be rejected. */
export const HONEST: readonly Variant[] = [
  { name: 'the same', of: 'elementwise' },
  {
    name: 'arithmetic before the wait',
    of: 'elementwise',
    replace: [
      ['v_lshlrev_b32_e32 v1, 2, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_lshlrev_b32_e32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'the load before the conversion',
    of: 'elementwise',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_cvt_f32_u32_e32 v3, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'other registers',
    of: 'elementwise',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0', 'v_cvt_f32_u32_e32 v7, v0'],
      ['v2, s9, v2, v3', 'v2, s9, v2, v7'],
    ],
  },
  { name: 'a slow no-op', of: 'elementwise', replace: [['s_lshl_b32', 's_nop 7\n  s_lshl_b32']] },
  { name: 'without the skip', of: 'elementwise', replace: [['  s_cbranch_execz done\n', '']] },
  {
    name: 'a shifted address in one instruction',
    of: 'elementwise',
    replace: [['v_lshlrev_b32_e32 v1, 2, v0', 'v_lshl_add_u32 v1, v0, 2, 0']],
  },
  {
    name: 'an index in one instruction',
    of: 'elementwise',
    replace: [
      ['s_lshl_b32 s3, s2, 6\n  v_add_u32_e32 v0, s3, v0', 'v_mov_b32_e32 v7, s2\n  v_lshl_add_u32 v0, v7, 6, v0'],
    ],
  },
  { name: 'a non-temporal store', of: 'elementwise', replace: [[STORE, `${STORE} nt`]] },
  { name: 'a priority', of: 'elementwise', replace: [['s_lshl_b32', 's_setprio 3\n  s_lshl_b32']] },
  {
    name: 'the arguments in one load',
    of: 'inPlace',
    replace: [['s_load_dword s8', 's_load_dwordx2 s[8:9]']],
    source: { args: [POINTER, POINTER, VALUE] },
  },
  {
    name: 'the other load first',
    of: 'inPlace',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]\n  global_load_dword v3, v1, s[4:5]',
        'global_load_dword v3, v1, s[4:5]\n  global_load_dword v2, v1, s[6:7]',
      ],
    ],
  },
  { name: 'operands exchanged', of: 'inPlace', replace: [['v_add_u32_e32 v2, v2, v3', 'v_add_u32_e32 v2, v3, v2']] },
  {
    name: 'a fused shift and sum',
    of: 'inPlace',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_lshl_add_u32 v2, v2, 0, v3']],
  },
  {
    name: 'addresses while the arguments come',
    of: 'inPlace',
    replace: [
      ['v_lshlrev_b32_e32 v1, 2, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_lshlrev_b32_e32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'a wait that is enough',
    of: 'inPlace',
    replace: [['s_waitcnt vmcnt(0)', 's_waitcnt vmcnt(1)\n  s_waitcnt vmcnt(0)']],
  },
  {
    name: 'the LDS address before the barrier',
    of: 'reverse',
    replace: [
      ['v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5\n', ''],
      [
        's_waitcnt lgkmcnt(0)\n  s_barrier',
        'v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5\n  s_waitcnt lgkmcnt(0)\n  s_barrier',
      ],
    ],
  },
  {
    name: 'the LDS address by one xor',
    of: 'reverse',
    replace: [['v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5', 'v_xor_b32_e32 v5, 0x3fc, v1']],
  },
  {
    name: 'more LDS than is used',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 2048 }, metadata: { '.group_segment_fixed_size': 2048 } },
  },
  { name: 'a second barrier', of: 'reverse', replace: [['s_barrier', 's_barrier\n  s_barrier']] },
  {
    name: 'the comparison is kept',
    of: 'reverse',
    replace: [
      [
        's_and_saveexec_b64 s[10:11], vcc\n  global_load',
        's_mov_b64 s[12:13], vcc\n  s_and_saveexec_b64 s[10:11], vcc\n  global_load',
      ],
      [
        'v_mul_f32_e32 v6, s9, v6\n  v_cmp_gt_u32_e32 vcc, s8, v2\n  s_and_saveexec_b64 s[10:11], vcc',
        'v_mul_f32_e32 v6, s9, v6\n  s_and_saveexec_b64 s[10:11], s[12:13]',
      ],
    ],
  },
  {
    name: 'the product before LDS',
    of: 'reverse',
    replace: [
      ['v_mul_f32_e32 v6, s9, v6\n', ''],
      ['s_mov_b64 exec, s[10:11]', 's_mov_b64 exec, s[10:11]\n  v_mul_f32_e32 v4, s9, v4'],
    ],
  },
  {
    name: 'the two halves of LDS exchanged',
    of: 'reverse',
    replace: [
      ['ds_write_b32 v1, v4', 'v_xor_b32_e32 v7, 0x200, v1\n  ds_write_b32 v7, v4'],
      ['ds_read_b32 v6, v5', 'v_xor_b32_e32 v7, 0x200, v5\n  ds_read_b32 v6, v7'],
    ],
  },
  {
    name: 'the scalar load first',
    of: 'dot',
    replace: [
      [
        'global_load_dword v3, v1, s[6:7]\n  s_load_dword s17, s[12:13], 0x0',
        's_load_dword s17, s[12:13], 0x0\n  global_load_dword v3, v1, s[6:7]',
      ],
    ],
  },
  {
    name: 'pointers while the loads run',
    of: 'dot',
    replace: [
      ['v_add_u32_e32 v1, 4, v1\n', ''],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)', 'v_add_u32_e32 v1, 4, v1\n  s_waitcnt vmcnt(0) lgkmcnt(0)'],
    ],
  },
  {
    name: 'the counter while the loads run',
    of: 'dot',
    replace: [
      ['s_add_u32 s16, s16, 1\n', ''],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)', 's_add_u32 s16, s16, 1\n  s_waitcnt vmcnt(0) lgkmcnt(0)'],
    ],
  },
  {
    name: 'a loop that counts down',
    of: 'dot',
    replace: [
      ['s_mov_b32 s16, 0', 's_mov_b32 s16, s14'],
      ['s_add_u32 s16, s16, 1\n  s_cmp_lt_u32 s16, s14', 's_sub_u32 s16, s16, 1\n  s_cmp_lg_u32 s16, 0'],
    ],
  },
  { name: 'a longer multiply-add', of: 'dot', replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_fma_f32 v2, s17, v3, v2']] },
  {
    name: 'an offset in a register',
    of: 'dot',
    replace: [
      ['s_mov_b32 s16, 0\n', 's_mov_b32 s16, 0\n  s_mov_b32 s18, 0\n'],
      ['s_load_dword s17, s[12:13], 0x0', 's_load_dword s17, s[12:13], s18'],
      ['s_add_u32 s12, s12, 4\n  s_addc_u32 s13, s13, 0', 's_add_u32 s18, s18, 4'],
    ],
  },
  {
    name: 'the address of the result early',
    of: 'dot',
    replace: [
      ['store:\n  v_lshlrev_b32_e32 v0, 2, v0', 'store:'],
      ['v_mov_b32_e32 v2, 0', 'v_lshlrev_b32_e32 v0, 2, v0\n  v_mov_b32_e32 v2, 0'],
    ],
  },
  { name: 'the loop aligned', of: 'dot', replace: [['loop:', '.p2align 6, 0\nloop:']], source: {} },
  {
    name: 'a test of one bit',
    of: 'compact',
    replace: [
      [
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v3',
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_ne_u32_e32 vcc, 0, v3',
      ],
    ],
  },
  {
    name: 'constants early',
    of: 'compact',
    replace: [
      ['v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'without the second skip',
    of: 'compact',
    replace: [['s_and_b64 exec, exec, vcc\n  s_cbranch_execz done', 's_and_b64 exec, exec, vcc']],
  },
  {
    name: 'a narrower shift',
    of: 'compact',
    replace: [['v_lshlrev_b32_e32 v6, 2, v6', 'v_lshl_add_u32 v6, v6, 2, 0']],
  },
  {
    name: 'fewer registers',
    of: 'compact',
    replace: [
      [
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v3',
        'v_and_b32_e32 v2, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v2',
      ],
    ],
  },
  {
    name: 'a bound by the other comparison',
    of: 'compact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8, v0', 'v_mov_b32_e32 v7, s8\n  v_cmp_lt_u32_e32 vcc, v0, v7']],
  },
  {
    name: 'less LDS than was reserved',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 1024, next_free_vgpr: 8 } },
  },
  {
    name: 'more registers than are used',
    of: 'inPlace',
    source: { descriptor: { next_free_vgpr: 64, accum_offset: 64 }, metadata: { '.vgpr_count': 64 } },
  },
  {
    name: 'a scalar multiply for the index',
    of: 'inPlace',
    replace: [['s_lshl_b32 s3, s2, 6', 's_mul_i32 s3, s2, 64']],
  },
];
