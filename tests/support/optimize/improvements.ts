// Right changes that do more than those of honest.ts: another algorithm, other instructions, other memory paths.
import { STORE, type Variant } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';

export const IMPROVEMENTS: readonly Variant[] = [
  {
    name: 'the sum in place of the index',
    of: 'elementwise',
    replace: [
      [FMA, 'v_fmac_f32_e32 v3, s9, v2'],
      [STORE, 'global_store_dword v1, v3, s[4:5]'],
    ],
  },
  {
    name: 'a whole wavefront beyond the end does nothing',
    of: 'elementwise',
    replace: [
      ['v_cmp_gt_u32_e32 vcc, s8, v0', 's_cmp_ge_u32 s3, s8\n  s_cbranch_scc1 done\n  v_cmp_gt_u32_e32 vcc, s8, v0'],
    ],
  },
  {
    name: 'a bounds-checked buffer in the place of the mask',
    of: 'elementwise',
    replace: [
      ['s_and_saveexec_b64 s[10:11], vcc\n  s_cbranch_execz done', 's_nop 0'],
      [
        'global_load_dword v2, v1, s[6:7]',
        's_lshl_b32 s14, s8, 2\n  s_mov_b32 s15, 0x20000\n  s_mov_b32 s12, s6\n  s_mov_b32 s13, s7\n  buffer_load_dword v2, v1, s[12:15], 0 offen',
      ],
      [STORE, 's_mov_b32 s12, s4\n  s_mov_b32 s13, s5\n  buffer_store_dword v2, v1, s[12:15], 0 offen'],
    ],
  },
  {
    name: 'addresses of 64 bits in registers',
    of: 'inPlace',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]',
        'v_mov_b32_e32 v5, s7\n  v_add_co_u32_e32 v4, vcc, s6, v1\n  s_nop 1\n  v_addc_co_u32_e32 v5, vcc, 0, v5, vcc\n  global_load_dword v2, v[4:5], off',
      ],
    ],
  },
  {
    name: 'an atomic without a result',
    of: 'inPlace',
    replace: [
      ['global_load_dword v3, v1, s[4:5]\n', ''],
      ['v_add_u32_e32 v2, v2, v3\n', ''],
      [STORE, 'global_atomic_add v1, v2, s[4:5]'],
    ],
  },
  {
    name: 'LDS with a gap after every 32 words',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 1056 }, metadata: { '.group_segment_fixed_size': 1056 } },
    replace: [
      ['ds_write_b32 v1, v4', 'v_lshrrev_b32_e32 v7, 5, v0\n  v_lshl_add_u32 v1, v7, 2, v1\n  ds_write_b32 v1, v4'],
      [
        'v_lshlrev_b32_e32 v5, 2, v5',
        'v_lshrrev_b32_e32 v7, 5, v5\n  v_lshlrev_b32_e32 v5, 2, v5\n  v_lshl_add_u32 v5, v7, 2, v5',
      ],
    ],
  },
  {
    name: 'two terms in a turn, in their order',
    of: 'dot',
    replace: [
      [
        'loop:\n',
        `s_and_b32 s20, s14, 1
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 pairs
  global_load_dword v3, v1, s[6:7]
  s_load_dword s17, s[12:13], 0x0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_fmac_f32_e32 v2, s17, v3
  v_add_u32_e32 v1, 4, v1
  s_add_u32 s12, s12, 4
  s_addc_u32 s13, s13, 0
  s_add_u32 s16, s16, 1
  s_cmp_ge_u32 s16, s14
  s_cbranch_scc1 store
pairs:
loop:
  global_load_dword v3, v1, s[6:7]
  global_load_dword v4, v1, s[6:7] offset:4
  s_load_dwordx2 s[18:19], s[12:13], 0x0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_fmac_f32_e32 v2, s18, v3
  v_fmac_f32_e32 v2, s19, v4
  v_add_u32_e32 v1, 8, v1
  s_add_u32 s12, s12, 8
  s_addc_u32 s13, s13, 0
  s_add_u32 s16, s16, 2
  s_cmp_lt_u32 s16, s14
  s_cbranch_scc1 loop
  s_branch store
`,
      ],
    ],
  },
  {
    name: 'the next term is loaded while this one is added',
    of: 'dot',
    replace: [
      ['loop:\n  global_load_dword v3, v1, s[6:7]\n', 'global_load_dword v3, v1, s[6:7]\nloop:\n'],
      [
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        's_waitcnt vmcnt(0) lgkmcnt(0)\n  v_mov_b32_e32 v4, v3\n  s_add_u32 s20, s16, 1\n  s_cmp_ge_u32 s20, s14\n  s_cbranch_scc1 last\n  global_load_dword v3, v1, s[6:7] offset:4\nlast:',
      ],
      ['v_fmac_f32_e32 v2, s17, v3', 'v_fmac_f32_e32 v2, s17, v4'],
    ],
  },
  {
    name: 'one atomic for a wavefront',
    of: 'compact',
    replace: [
      [
        'global_atomic_add v6, v4, v5, s[4:5] sc0\n  s_waitcnt vmcnt(0)\n  v_lshlrev_b32_e32 v6, 2, v6',
        `s_mov_b64 s[12:13], exec
  s_bcnt1_i32_b64 s14, s[12:13]
  v_mbcnt_lo_u32_b32 v7, s12, 0
  v_mbcnt_hi_u32_b32 v7, s13, v7
  v_cmp_eq_u32_e32 vcc, 0, v7
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v5, s14
  global_atomic_add v6, v4, v5, s[4:5] sc0
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, s[12:13]
  v_readfirstlane_b32 s15, v6
  s_nop 1
  v_add_u32_e32 v6, s15, v7
  v_lshlrev_b32_e32 v6, 2, v6`,
      ],
    ],
  },
  {
    name: 'sums of pairs before the atomic',
    of: 'total',
    replace: [
      [
        'v_mov_b32_e32 v4, 0\n  s_waitcnt vmcnt(0)',
        `v_mov_b32_e32 v4, 0
  s_waitcnt vmcnt(0)
  s_mov_b64 s[12:13], exec
  s_mov_b64 exec, -1
  v_mov_b32_e32 v5, 0
  s_mov_b64 exec, s[12:13]
  v_mov_b32_e32 v5, v2
  s_mov_b64 exec, -1
  s_nop 1
  v_mov_b32_dpp v6, v5 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  v_add_u32_e32 v2, v5, v6
  s_mov_b32 s14, 0x55555555
  s_mov_b32 s15, s14
  s_and_b64 exec, s[12:13], s[14:15]`,
      ],
    ],
  },
];
