// Right changes of a third kind: what a good pipeliner, register allocator or selector of instructions makes.
import { STORE, type Variant } from './variants.ts';

const GUARD = 'v_cmp_gt_u32_e32 vcc, s8, v0\n  s_and_saveexec_b64 s[10:11], vcc';
const FIRST = 's_lshl_b32 s3, s2, 6\n  v_add_u32_e32 v0, s3, v0';
const LOAD = 'global_load_dword v2, v1, s[6:7]';

export const GAINS: readonly Variant[] = [
  { name: 'the number by one instruction', of: 'elementwise', replace: [[FIRST, 'v_lshl_add_u32 v0, s2, 6, v0']] },
  { name: 'the number by a product', of: 'elementwise', replace: [[FIRST, 'v_mad_u32_u24 v0, s2, 64, v0']] },
  {
    name: 'the address by a product',
    of: 'elementwise',
    replace: [['v_lshlrev_b32_e32 v1, 2, v0', 'v_mul_u32_u24_e32 v1, 4, v0']],
  },
  { name: 'a load that no cache keeps', of: 'elementwise', replace: [[LOAD, `${LOAD} nt`]] },
  { name: 'a store that no cache keeps', of: 'elementwise', replace: [[STORE, `${STORE} nt`]] },
  {
    name: 'the mask by one compare',
    of: 'elementwise',
    replace: [[GUARD, 'v_cmpx_gt_u32_e32 vcc, s8, v0\n  s_nop 4']],
  },
  {
    name: 'the mask is not kept',
    of: 'inPlace',
    replace: [[GUARD, 'v_cmp_gt_u32_e32 vcc, s8, v0\n  s_and_b64 exec, exec, vcc']],
  },
  { name: 'no branch over vector code', of: 'elementwise', replace: [['  s_cbranch_execz done\n', '']] },
  {
    name: 'the load before the branch',
    of: 'elementwise',
    replace: [
      ['s_cbranch_execz done\n  v_lshlrev_b32_e32 v1, 2, v0\n', 'v_lshlrev_b32_e32 v1, 2, v0\n  '],
      [LOAD, `${LOAD}\n  s_cbranch_execz done`],
    ],
  },
  {
    name: 'the sum the other way around',
    of: 'inPlace',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_add_u32_e32 v2, v3, v2']],
  },
  {
    name: 'the second load first',
    of: 'inPlace',
    replace: [[`${LOAD}\n  global_load_dword v3, v1, s[4:5]`, `global_load_dword v3, v1, s[4:5]\n  ${LOAD}`]],
  },
  {
    name: 'the mirrored address by a difference',
    of: 'reverse',
    replace: [['v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5', 'v_sub_u32_e32 v5, 0x3fc, v1']],
  },
  {
    name: 'the mirrored address before the barrier',
    of: 'reverse',
    replace: [
      ['  v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5\n', ''],
      ['v_mov_b32_e32 v4, 0', 'v_mov_b32_e32 v4, 0\n  v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5'],
    ],
  },
  {
    name: 'the product before LDS',
    of: 'reverse',
    replace: [
      ['v_mul_f32_e32 v6, s9, v6\n', ''],
      ['ds_write_b32 v1, v4', 'v_mul_f32_e32 v4, s9, v4\n  ds_write_b32 v1, v4'],
    ],
  },
  {
    name: 'counting down',
    of: 'dot',
    replace: [
      ['s_mov_b32 s16, 0', 's_mov_b32 s16, s14'],
      ['s_add_u32 s16, s16, 1\n  s_cmp_lt_u32 s16, s14', 's_sub_u32 s16, s16, 1\n  s_cmp_lg_u32 s16, 0'],
    ],
  },
  {
    name: 'the step of the address before the wait',
    of: 'dot',
    replace: [
      ['  v_add_u32_e32 v1, 4, v1\n', ''],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_fmac', 'v_add_u32_e32 v1, 4, v1\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_fmac'],
    ],
  },
  {
    name: 'loads one turn ahead, but in the last turn',
    of: 'dot',
    replace: [
      [
        'loop:\n  global_load_dword v3, v1, s[6:7]\n',
        'global_load_dword v4, v1, s[6:7]\nloop:\n  s_waitcnt vmcnt(0)\n  v_mov_b32_e32 v3, v4\n  s_add_u32 s18, s16, 1\n  s_cmp_ge_u32 s18, s14\n  s_cbranch_scc1 last\n  global_load_dword v4, v1, s[6:7] offset:4\nlast:\n',
      ],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_fmac', 's_waitcnt lgkmcnt(0)\n  v_fmac'],
    ],
  },
  {
    name: 'the odd ones by a field',
    of: 'compact',
    replace: [['v_and_b32_e32 v3, 1, v2', 'v_bfe_u32 v3, v2, 0, 1']],
  },
  {
    name: 'zero and one before the guard',
    of: 'compact',
    replace: [
      ['  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n', ''],
      ['v_add_u32_e32 v0, s3, v0', 'v_add_u32_e32 v0, s3, v0\n  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1'],
    ],
  },
  {
    name: 'two cache operations in the place of one',
    of: 'total',
    replace: [['buffer_wbl2 sc0 sc1', 'buffer_wbl2 sc0 sc1\n  buffer_wbl2 sc0 sc1']],
  },
];
