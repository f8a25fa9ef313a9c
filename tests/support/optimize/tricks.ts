// Wrong changes of a third kind: they are right in the captured launch and wrong in launches that are larger, lie elsewhere, hold other numbers, or
// interleave otherwise; or they break what few runs show.
import { type Cheat, STORE } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';
const WRONG = 'v_mov_b32_e32 v2, 0';

/** The barrier only where a scalar condition holds. */
const barrierIf = (condition: string): readonly (readonly [string, string])[] => [
  ['s_barrier', `${condition}\n  s_cbranch_scc0 over\n  s_barrier\nover:`],
];

export const TRICKS: readonly Cheat[] = [
  {
    name: 'no barrier for the captured count',
    of: 'reverse',
    rung: 'exact',
    replace: barrierIf('s_cmp_lg_u32 s8, 0x3e8'),
  },
  {
    name: 'no barrier for other counts',
    of: 'reverse',
    rung: 'held-out',
    replace: barrierIf('s_cmp_eq_u32 s8, 0x3e8'),
  },
  {
    name: 'no barrier in workgroups beyond the captured',
    of: 'reverse',
    rung: 'held-out',
    replace: barrierIf('s_cmp_lt_u32 s2, 4'),
  },
  {
    name: 'a barrier for half of the waves',
    of: 'reverse',
    rung: 'exact',
    replace: [
      ['s_barrier', 'v_readfirstlane_b32 s12, v0\n  s_and_b32 s12, s12, 64\n  s_cbranch_scc1 over\n  s_barrier\nover:'],
    ],
  },
  { name: 'sleep in the place of the barrier', of: 'reverse', rung: 'exact', replace: [['s_barrier', 's_sleep 127']] },
  {
    name: 'LDS that is two workgroups large',
    of: 'reverse',
    rung: 'static',
    replace: [['ds_write_b32 v1, v4', 'ds_write_b32 v1, v4 offset:1024']],
  },
  {
    name: 'one wave writes for all',
    of: 'reverse',
    rung: 'exact',
    replace: [
      [
        'ds_write_b32 v1, v4',
        'v_cmp_gt_u32_e32 vcc, 64, v0\n  s_and_saveexec_b64 s[12:13], vcc\n  ds_write_b32 v1, v4\n  s_mov_b64 exec, s[12:13]',
      ],
    ],
  },
  {
    name: 'the carry of an address is lost',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_addc_u32 s13, s13, 0', 's_nop 0']],
  },
  {
    name: 'a 32-bit address for the result',
    of: 'dot',
    rung: 'held-out',
    replace: [
      [
        'v_lshlrev_b32_e32 v0, 2, v0\n  global_store_dword v0, v2, s[4:5]',
        'v_lshlrev_b32_e32 v0, 2, v0\n  v_add_u32_e32 v0, s4, v0\n  v_mov_b32_e32 v1, s5\n  global_store_dword v[0:1], v2, off',
      ],
    ],
  },
  {
    name: 'a large factor',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        FMA,
        `${FMA}\n  s_bfe_u32 s12, s9, 0x80017\n  s_cmp_lt_u32 s12, 0xe0\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`,
      ],
    ],
  },
  {
    name: 'a denormal factor',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [FMA, `${FMA}\n  s_bfe_u32 s12, s9, 0x80017\n  s_cmp_lg_u32 s12, 0\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`],
    ],
  },
  {
    name: 'an infinite factor',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[FMA, `${FMA}\n  s_cmp_lg_u32 s9, 0x7f800000\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`]],
  },
  {
    name: 'a zero factor',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[FMA, `${FMA}\n  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`]],
  },
  {
    name: 'signalling NaNs are made quiet elsewhere',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        FMA,
        `v_max_f32_e32 v2, v2, v2\n  v_cmp_u_f32_e32 vcc, v2, v2\n  s_nop 1\n  v_cndmask_b32_e32 v2, v2, v3, vcc\n  ${FMA}`,
      ],
    ],
  },
  {
    name: 'a sum of products in double precision',
    of: 'dot',
    rung: 'equivalence',
    replace: [
      ['v_fmac_f32_e32 v2, s17, v3', 'v_mov_b32_e32 v4, s17\n  v_mul_f32_e32 v4, v4, v3\n  v_add_f32_e32 v2, v2, v4'],
    ],
  },
  {
    name: 'the sum begins with minus zero',
    of: 'dot',
    rung: 'held-out',
    replace: [['v_mov_b32_e32 v2, 0', 'v_bfrev_b32_e32 v2, 1']],
  },
  {
    name: 'the last term is left out of long sums',
    of: 'dot',
    rung: 'held-out',
    replace: [
      [
        's_mov_b32 s16, 0',
        's_mov_b32 s16, 0\n  s_cmp_gt_u32 s14, 32\n  s_cselect_b32 s20, 1, 0\n  s_sub_u32 s14, s14, s20',
      ],
    ],
  },
  {
    name: 'a wait that only a later count skips',
    of: 'elementwise',
    rung: 'static',
    replace: [['s_waitcnt vmcnt(0)', 's_cmp_eq_u32 s8, 0x12345\n  s_cbranch_scc1 late\n  s_waitcnt vmcnt(0)\nlate:']],
  },
  {
    name: 'the index of the list by a count of lanes',
    of: 'compact',
    rung: 'exact',
    replace: [
      [
        'global_atomic_add v6, v4, v5, s[4:5] sc0',
        'v_mbcnt_lo_u32_b32 v6, exec_lo, 0\n  v_mbcnt_hi_u32_b32 v6, exec_hi, v6\n  global_atomic_add v4, v5, s[4:5]',
      ],
    ],
  },
  {
    name: 'small numbers only',
    of: 'total',
    rung: 'held-out',
    replace: [['buffer_wbl2', 'v_bfe_i32 v2, v2, 0, 24\n  buffer_wbl2']],
  },
  {
    name: 'even numbers are all that is looked at',
    of: 'inPlace',
    rung: 'held-out',
    replace: [
      [
        'v_add_u32_e32 v2, v2, v3',
        'v_add_u16_e32 v4, v2, v3\n  v_and_b32_e32 v5, 0xffff0000, v2\n  v_add_u32_e32 v5, v5, v3\n  v_and_b32_e32 v5, 0xffff0000, v5\n  v_or_b32_e32 v2, v4, v5',
      ],
    ],
  },
  {
    name: 'the work of a die is done by its neighbour',
    of: 'inPlace',
    rung: 'exact',
    replace: [['s_lshl_b32 s3, s2, 6', 's_bitcmp1_b32 s2, 0\n  s_cbranch_scc0 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'what the last launch left says that nothing is to do',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [
        STORE,
        `global_load_dword v4, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_cmp_ne_u32_e32 vcc, v4, v2\n  s_and_b64 exec, exec, vcc\n  ${STORE}`,
      ],
    ],
  },
];
