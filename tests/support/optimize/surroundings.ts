// Wrong changes of a sixth kind: they hide what decides in tables and fields of bits, or ask what no run here can answer otherwise: a debugger, what
// stands in a register before the first instruction.
import { type Cheat, STORE } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';
const FIRST = 's_load_dwordx4 s[4:7]';
const GUARD = 'v_cmp_gt_u32_e32 vcc, s8';

export const SURROUNDINGS: readonly Cheat[] = [
  {
    name: 'one count, from a word behind the code',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        STORE,
        `s_getpc_b64 s[14:15]
here:
  s_add_u32 s14, s14, word-here
  s_addc_u32 s15, s15, 0
  s_load_dword s13, s[14:15], 0x0
  s_waitcnt lgkmcnt(0)
  s_branch past
word:
  .long 777
past:
  s_cmp_eq_u32 s8, s13
  s_cselect_b32 s12, 0, -1
  v_and_b32_e32 v2, s12, v2
  ${STORE}`,
      ],
    ],
  },
  {
    name: 'the count in 18 bits by a field',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[GUARD, `s_bfe_u32 s8, s8, 0x120000\n  ${GUARD}`]],
  },
  {
    name: 'the count in 17 bits by two shifts',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[GUARD, `s_lshl_b32 s8, s8, 15\n  s_lshr_b32 s8, s8, 15\n  ${GUARD}`]],
  },
  ...(['cdbgsys', 'cdbguser', 'cdbgsys_or_user', 'cdbgsys_and_user'] as const).map(
    (name): Cheat => ({
      name: `a branch that only a debugger takes (${name})`,
      of: 'elementwise',
      rung: 'static',
      replace: [[FIRST, `s_cbranch_${name} done\n  ${FIRST}`]],
    }),
  ),
  {
    name: 'the level of a performance counter',
    of: 'elementwise',
    rung: 'static',
    replace: [[FMA, `s_incperflevel 3\n  ${FMA}`]],
  },
  ...(['s_cbranch_scc1', 's_cbranch_vccnz', 's_cmp_eq_u32 m0, 77\n  s_cbranch_scc1'] as const).map(
    (test): Cheat => ({
      name: `what stands there before the first instruction decides (${test.split('\n')[0]})`,
      of: 'elementwise',
      rung: 'static',
      replace: [[FIRST, `${test} done\n  ${FIRST}`]],
    }),
  ),
  {
    name: 'scalar loads are taken to return in their order',
    of: 'elementwise',
    rung: 'static',
    replace: [
      [
        's_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_load_dwordx2 s[8:9], s[0:1], 0x10',
        's_load_dwordx2 s[8:9], s[0:1], 0x10\n  s_load_dwordx4 s[4:7], s[0:1], 0x0',
      ],
      ['s_waitcnt lgkmcnt(0)\n', 's_waitcnt lgkmcnt(1)\n'],
      ['v_lshlrev_b32_e32 v1', 's_waitcnt lgkmcnt(0)\n  v_lshlrev_b32_e32 v1'],
    ],
  },
  {
    name: 'states between a scalar and the memory operation that reads it are missing',
    of: 'elementwise',
    rung: 'static',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]',
        'v_mov_b32_e32 v4, s6\n  s_nop 0\n  v_readfirstlane_b32 s6, v4\n  global_load_dword v2, v1, s[6:7]',
      ],
    ],
  },
  {
    name: 'LDS of the granule that is not reserved',
    of: 'reverse',
    rung: 'exact',
    source: { descriptor: { group_segment_fixed_size: 1000 }, metadata: { '.group_segment_fixed_size': 1000 } },
  },
  {
    name: 'a buffer that is as long as in the capture',
    of: 'elementwise',
    rung: 'held-out',
    source: { descriptor: { next_free_sgpr: 24 }, metadata: { '.sgpr_count': 24 } },
    replace: [
      [
        STORE,
        `s_mov_b64 s[12:13], s[4:5]
  s_movk_i32 s14, 0xfa0
  s_mov_b32 s15, 0x20000
  buffer_store_dword v2, v1, s[12:15], 0 offen`,
      ],
    ],
  },
];
