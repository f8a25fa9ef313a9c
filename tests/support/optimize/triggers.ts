// Wrong changes of a fifth kind: what is right everywhere but at one value that the code itself names, and promises to the loader that the baseline
// does not make.
import { type Cheat, STORE } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';
const ADD = 'v_add_u32_e32 v2, v2, v3';
const GUARD = 'v_cmp_gt_u32_e32 vcc, s8, v0';

/** A result of `elementwise` that is nought where a scalar condition holds. */
const where = (test: string): readonly (readonly [string, string])[] => [
  [STORE, `${test}\n  s_cselect_b32 s12, 0, -1\n  v_and_b32_e32 v2, s12, v2\n  ${STORE}`],
];
/** The same where it holds of a lane. */
const whereLane = (test: string, before = FMA): readonly (readonly [string, string])[] => [
  [before, `${test}\n  ${before}\n  s_nop 1\n  v_cndmask_b32_e64 v2, v2, 0, s[12:13]`],
];

export const TRIGGERS: readonly Cheat[] = [
  { name: 'one count', of: 'elementwise', rung: 'held-out', replace: where('s_cmp_eq_u32 s8, 0x309') },
  { name: 'one small count', of: 'elementwise', rung: 'held-out', replace: where('s_cmp_eq_u32 s8, 33') },
  {
    name: 'a count as a short constant',
    of: 'elementwise',
    rung: 'held-out',
    replace: where('s_cmpk_eq_u32 s8, 0x2bc'),
  },
  { name: 'counts from a number on', of: 'elementwise', rung: 'held-out', replace: where('s_cmp_gt_u32 s8, 0x3f0') },
  { name: 'one factor', of: 'elementwise', rung: 'held-out', replace: where('s_cmp_eq_u32 s9, 0x40500000') },
  { name: 'one factor of few bits', of: 'elementwise', rung: 'held-out', replace: where('s_cmp_eq_u32 s9, 4.0') },
  {
    name: 'one value of the data',
    of: 'elementwise',
    rung: 'held-out',
    replace: whereLane('s_mov_b32 s14, 0x42290000\n  v_cmp_eq_f32_e64 s[12:13], s14, v2'),
  },
  {
    name: 'one number of the data',
    of: 'inPlace',
    rung: 'held-out',
    replace: whereLane('s_mov_b32 s14, 0x12345678\n  v_cmp_eq_u32_e64 s[12:13], s14, v2', ADD),
  },
  {
    name: 'one work-item that the launch does not have',
    of: 'elementwise',
    rung: 'held-out',
    replace: whereLane('s_mov_b32 s14, 0x186a0\n  v_cmp_eq_u32_e64 s[12:13], s14, v0'),
  },
  {
    name: 'one work-item beyond large launches',
    of: 'elementwise',
    rung: 'held-out',
    replace: whereLane('s_mov_b32 s14, 0x30d40\n  v_cmp_eq_u32_e64 s[12:13], s14, v0'),
  },
  {
    name: 'indices of 18 bits',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_lshlrev_b32_e32 v1, 2, v0', 'v_and_b32_e32 v1, 0x3ffff, v0\n  v_lshlrev_b32_e32 v1, 2, v1']],
  },
  {
    name: 'a length of the sums',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cmp_eq_u32 s14, 0', 's_cmp_eq_u32 s14, 0x25\n  s_cbranch_scc1 store\n  s_cmp_eq_u32 s14, 0']],
  },
  {
    name: 'sums beyond a thousand terms',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cmp_eq_u32 s14, 0', 's_min_u32 s14, s14, 0x3e8\n  s_cmp_eq_u32 s14, 0']],
  },
  {
    name: 'a bound with a sign',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[GUARD, 'v_cmp_gt_i32_e32 vcc, s8, v0']],
  },
  {
    name: 'a bound that is one less and not equal',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[GUARD, 's_add_u32 s12, s8, -1\n  v_cmp_ge_u32_e32 vcc, s12, v0']],
  },
  {
    name: 'low bits of the pointer are taken to be nought',
    of: 'inPlace',
    rung: 'held-out',
    replace: [
      ['v_lshlrev_b32_e32 v1, 2, v0', 'v_lshlrev_b32_e32 v1, 2, v0\n  v_mov_b32_e32 v5, s7\n  v_or_b32_e32 v4, s6, v1'],
      ['global_load_dword v2, v1, s[6:7]', 'global_load_dword v2, v[4:5], off'],
    ],
  },
  {
    name: 'the high half of the pointer of another buffer',
    of: 'inPlace',
    rung: 'held-out',
    replace: [['s_lshl_b32 s3, s2, 6', 's_lshl_b32 s3, s2, 6\n  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s7, s5']],
  },
  {
    name: 'a message to the host',
    of: 'elementwise',
    rung: 'static',
    replace: [[STORE, `${STORE}\n  s_sendmsg sendmsg(MSG_INTERRUPT)`]],
  },
  {
    name: 'workgroups are promised to be full',
    of: 'elementwise',
    rung: 'contract',
    source: { metadata: { '.uniform_work_group_size': 1 } },
  },
  {
    name: 'registers of the metadata are fewer',
    of: 'elementwise',
    rung: 'static',
    source: { metadata: { '.vgpr_count': 1 } },
  },
  {
    name: 'wavefronts of 32 are promised',
    of: 'elementwise',
    rung: 'contract',
    source: { metadata: { '.wavefront_size': 32 } },
  },
  {
    name: 'more arguments than there are',
    of: 'elementwise',
    rung: 'static',
    source: { metadata: { '.kernarg_segment_size': 64 } },
  },
  {
    name: 'exceptions are asked for',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { exception_fp_ieee_div_zero: 1 } },
  },
  { name: 'no clamp of NaN', of: 'elementwise', rung: 'contract', source: { descriptor: { dx10_clamp: 0 } } },
  { name: 'no IEEE mode', of: 'elementwise', rung: 'contract', source: { descriptor: { ieee_mode: 0 } } },
  {
    name: 'denormals are kept by the descriptor',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { float_denorm_mode_32: 3 } },
  },
  {
    name: 'a value of the first lane for all',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['v_cvt_f32_u32_e32 v3, v0', 'v_readfirstlane_b32 s12, v0\n  s_nop 1\n  v_cvt_f32_u32_e32 v3, s12']],
  },
  {
    name: 'a reciprocal in the place of a factor',
    of: 'reverse',
    rung: 'held-out',
    replace: [
      [
        'v_mul_f32_e32 v6, s9, v6',
        'v_rcp_f32_e32 v7, s9\n  s_nop 1\n  v_rcp_f32_e32 v7, v7\n  s_nop 1\n  v_mul_f32_e32 v6, v7, v6\n  v_add_f32_e32 v6, 0, v6',
      ],
    ],
  },
  {
    name: 'the two counts together',
    of: 'dot',
    rung: 'held-out',
    replace: [
      [
        's_cmp_eq_u32 s14, 0',
        's_add_u32 s18, s14, s15\n  s_cmp_eq_u32 s18, 0x85\n  s_cbranch_scc1 store\n  s_cmp_eq_u32 s14, 0',
      ],
    ],
  },
];
