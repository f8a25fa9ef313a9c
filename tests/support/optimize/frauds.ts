// Wrong changes of a fourth kind: what a careless pipeliner, register allocator or vectorizer makes, numbers that are wide enough for the captured launch
// alone, and other promises to the loader.
import { type Cheat, STORE } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';
const GUARD = 'v_cmp_gt_u32_e32 vcc, s8, v0';
const LOOP = 'loop:\n  global_load_dword v3, v1, s[6:7]';
const INDEX = 'v_cvt_f32_u32_e32 v3, v0';

/** The loop loads one turn ahead into v4, with this offset. */
const ahead = (offset: string): readonly (readonly [string, string])[] => [
  [
    LOOP,
    `global_load_dword v4, v1, s[6:7]\nloop:\n  s_waitcnt vmcnt(0)\n  v_mov_b32_e32 v3, v4\n  global_load_dword v4, v1, s[6:7]${offset}`,
  ],
];

export const FRAUDS: readonly Cheat[] = [
  { name: 'loads one turn ahead, also in the last turn', of: 'dot', rung: 'exact', replace: ahead(' offset:4') },
  { name: 'loads one turn ahead from the same place', of: 'dot', rung: 'equivalence', replace: ahead('') },
  {
    name: 'the first turn is made twice',
    of: 'dot',
    rung: 'exact',
    replace: [['s_mov_b32 s16, 0', 's_mov_b32 s16, -1']],
  },
  {
    name: 'what the turn changes is taken out of the loop',
    of: 'dot',
    rung: 'equivalence',
    replace: [
      ['loop:', 's_load_dword s17, s[12:13], 0x0\nloop:'],
      ['\n  s_load_dword s17, s[12:13], 0x0\n  s_waitcnt vmcnt(0)', '\n  s_waitcnt vmcnt(0)'],
    ],
  },
  {
    name: 'an exchange within half a wavefront in the place of LDS',
    of: 'reverse',
    rung: 'equivalence',
    replace: [['ds_read_b32 v6, v5', 'ds_swizzle_b32 v6, v4 offset:0x7c1f']],
  },
  {
    name: 'a register that still holds something is taken for another value',
    of: 'reverse',
    rung: 'exact',
    replace: [
      ['v_xor_b32_e32 v5, 0xff, v0', 'v_xor_b32_e32 v3, 0xff, v0'],
      ['v_lshlrev_b32_e32 v5, 2, v5', 'v_lshlrev_b32_e32 v5, 2, v3'],
    ],
  },
  {
    name: 'waiting for LDS to change in the place of the barrier',
    of: 'reverse',
    rung: 'exact',
    replace: [
      ['s_barrier', 's_nop 0'],
      [
        'ds_read_b32 v6, v5\n  s_waitcnt lgkmcnt(0)',
        'spin:\n  ds_read_b32 v6, v5\n  s_waitcnt lgkmcnt(0)\n  v_cmp_eq_u32_e32 vcc, 0, v6\n  s_cbranch_vccnz spin',
      ],
    ],
  },
  {
    name: 'the count in 16 bits',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[GUARD, `s_and_b32 s8, s8, 0xffff\n  ${GUARD}`]],
  },
  {
    name: 'the number of the workgroup in 8 bits',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['s_lshl_b32 s3, s2, 6', 's_and_b32 s3, s2, 0xff\n  s_lshl_b32 s3, s3, 6']],
  },
  {
    name: 'the factor in half precision',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[FMA, 'v_cvt_f16_f32_e32 v4, s9\n  v_cvt_f32_f16_e32 v4, v4\n  v_fma_f32 v2, v4, v2, v3']],
  },
  {
    name: 'the index in half precision',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[INDEX, 'v_cvt_f16_u16_e32 v3, v0\n  v_cvt_f32_f16_e32 v3, v3']],
  },
  {
    name: 'one value for all lanes',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [[FMA, `v_readfirstlane_b32 s12, v2\n  s_nop 1\n  v_fma_f32 v2, s12, v2, v3`]],
  },
  {
    name: 'a list of at most 1024',
    of: 'compact',
    rung: 'held-out',
    replace: [['v_lshlrev_b32_e32 v6, 2, v6', 'v_min_u32_e32 v6, 0x3ff, v6\n  v_lshlrev_b32_e32 v6, 2, v6']],
  },
  {
    name: 'the old value is taken to be zero',
    of: 'inPlace',
    rung: 'equivalence',
    replace: [
      ['global_load_dword v3, v1, s[4:5]\n', ''],
      ['v_add_u32_e32 v2, v2, v3\n', ''],
    ],
  },
  {
    name: 'nothing is added to the input, atomically',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `v_mov_b32_e32 v4, 0\n  global_atomic_add v1, v4, s[6:7]\n  ${STORE}`]],
  },
  {
    name: 'a sum that stays at the largest number',
    of: 'inPlace',
    rung: 'held-out',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_add_u32_e64 v2, v2, v3 clamp']],
  },
  {
    name: 'a stack of any size',
    of: 'elementwise',
    rung: 'contract',
    source: { metadata: { '.uses_dynamic_stack': 'true' } },
  },
  {
    name: 'signalling NaNs by the descriptor',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { ieee_mode: 0 } },
  },
  {
    name: 'denormals kept by the descriptor',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { float_denorm_mode_32: 3 } },
  },
  {
    name: 'where its LDS lies decides',
    of: 'reverse',
    rung: 'static',
    replace: [['s_barrier', 's_getreg_b32 s12, hwreg(HW_REG_LDS_ALLOC)\n  s_barrier']],
  },
];
