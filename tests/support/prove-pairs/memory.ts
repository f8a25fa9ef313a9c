// Pairs of kernels that differ: memory past its end, lanes that meet, aliases, the order of stores.
import { all, LGKM, LOAD, STORE, VM } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

const STORE_2 = 'global_store_dword v1, v2, s[8:9]';
/** A buffer of 4096 bytes in s[12:15], and more. */
const buffer = (...more: string[]): string =>
  all('s_mov_b32 s12, s6', 's_mov_b32 s13, s7', 's_movk_i32 s14, 0x1000', 's_mov_b32 s15, 0x20000', ...more);

export const PAIRS: readonly Pair[] = [
  [
    'lds grows where the baseline reads past it',
    { body: all('v_mov_b32_e32 v3, 0x2000', 'ds_write_b32 v3, v1', LGKM, 'ds_read_b32 v2, v3', LGKM, STORE) },
    {
      body: all('v_mov_b32_e32 v3, 0x2000', 'ds_write_b32 v3, v1', LGKM, 'ds_read_b32 v2, v3', LGKM, STORE),
      change: (t) =>
        t
          .replace('group_segment_fixed_size 4096', 'group_segment_fixed_size 16384')
          .replace('group_segment_fixed_size: 4096', 'group_segment_fixed_size: 16384'),
    },
  ],
  [
    'overlapping lanes: x2 against two stores',
    all('v_mov_b32_e32 v2, v0', 'v_add_u32_e32 v3, 100, v0', 'global_store_dwordx2 v1, v[2:3], s[6:7]'),
    all(
      'v_mov_b32_e32 v2, v0',
      'v_add_u32_e32 v3, 100, v0',
      'global_store_dword v1, v2, s[6:7]',
      'global_store_dword v1, v3, s[6:7] offset:4',
    ),
  ],
  [
    'overlapping lanes LDS: b64 against two',
    all('v_mov_b32_e32 v2, v0', 'v_add_u32_e32 v3, 100, v0', 'ds_write_b64 v1, v[2:3]'),
    all('v_mov_b32_e32 v2, v0', 'v_add_u32_e32 v3, 100, v0', 'ds_write_b32 v1, v2', 'ds_write_b32 v1, v3 offset:4'),
  ],
  [
    'barrier past an LDS read',
    all('ds_write_b32 v1, v0', LGKM, 's_barrier', 'v_xor_b32_e32 v3, 4, v1', 'ds_read_b32 v2, v3', LGKM, STORE),
    all('ds_write_b32 v1, v0', 'v_xor_b32_e32 v3, 4, v1', 'ds_read_b32 v2, v3', LGKM, 's_barrier', STORE),
  ],
  [
    'barrier past a global read',
    all(
      'global_store_dword v1, v0, s[6:7]',
      VM,
      's_barrier',
      'v_xor_b32_e32 v3, 4, v1',
      'global_load_dword v2, v3, s[6:7]',
      VM,
      STORE_2,
    ),
    all(
      'global_store_dword v1, v0, s[6:7]',
      VM,
      'v_xor_b32_e32 v3, 4, v1',
      'global_load_dword v2, v3, s[6:7]',
      VM,
      's_barrier',
      STORE_2,
    ),
  ],
  [
    'LDS aliasing by another base',
    all('v_add_u32_e32 v3, 64, v1', 'ds_write_b32 v1, v0', 'ds_read_b32 v2, v3', LGKM, STORE),
    all('v_add_u32_e32 v3, 64, v1', 'ds_read_b32 v2, v3', 'ds_write_b32 v1, v0', LGKM, STORE),
  ],
  [
    'LDS alias by uniform base',
    all('v_mov_b32_e32 v3, s10', 'ds_write_b32 v1, v0', 'ds_read_b32 v2, v3', LGKM, STORE),
    all('v_mov_b32_e32 v3, s10', 'ds_read_b32 v2, v3', 'ds_write_b32 v1, v0', LGKM, STORE),
  ],
  [
    'LDS address wraps',
    all('v_add_u32_e32 v3, -4, v1', 'ds_write_b32 v3, v0 offset:4', 'ds_read_b32 v2, v1', LGKM, STORE),
    all('v_add_u32_e32 v3, -4, v1', 'ds_read_b32 v2, v1', 'ds_write_b32 v3, v0 offset:4', LGKM, STORE),
  ],
  [
    'atomic returned value order',
    all('v_mov_b32_e32 v4, 0', 'ds_add_rtn_u32 v2, v4, v0', 'ds_add_u32 v4, v1', LGKM, STORE),
    all('v_mov_b32_e32 v4, 0', 'ds_add_u32 v4, v1', 'ds_add_rtn_u32 v2, v4, v0', LGKM, STORE),
  ],
  [
    'atomic cmpswap operands',
    all(
      'v_mov_b32_e32 v4, 0',
      'v_mov_b32_e32 v6, v0',
      'v_mov_b32_e32 v7, v1',
      'global_atomic_cmpswap v2, v4, v[6:7], s[6:7] sc0',
      VM,
      STORE_2,
    ),
    all(
      'v_mov_b32_e32 v4, 0',
      'v_mov_b32_e32 v6, v1',
      'v_mov_b32_e32 v7, v0',
      'global_atomic_cmpswap v2, v4, v[6:7], s[6:7] sc0',
      VM,
      STORE_2,
    ),
  ],
  [
    'scratch offset',
    {
      body: all(
        'scratch_store_dword off, v0, off offset:4',
        'scratch_store_dword off, v1, off offset:8',
        VM,
        'scratch_load_dword v2, off, off offset:4',
        VM,
        STORE,
      ),
      directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
      change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
    },
    {
      body: all(
        'scratch_store_dword off, v0, off offset:4',
        'scratch_store_dword off, v1, off offset:8',
        VM,
        'scratch_load_dword v2, off, off offset:8',
        VM,
        STORE,
      ),
      directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
      change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
    },
  ],
  [
    'scratch half overlap',
    {
      body: all(
        'scratch_store_dword off, v0, off offset:4',
        'scratch_store_short off, v1, off offset:6',
        VM,
        'scratch_load_dword v2, off, off offset:4',
        VM,
        STORE,
      ),
      directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
      change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
    },
    {
      body: all(
        'scratch_store_short off, v1, off offset:6',
        'scratch_store_dword off, v0, off offset:4',
        VM,
        'scratch_load_dword v2, off, off offset:4',
        VM,
        STORE,
      ),
      directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
      change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
    },
  ],
  ['mul_u24 clamp', all('v_mul_u32_u24_e64 v2, v0, v1 clamp', STORE), all('v_mul_u32_u24_e64 v2, v0, v1', STORE)],
  ['mul hi/lo', all('v_mul_hi_u32 v2, v0, v1', STORE), all('v_mul_hi_i32 v2, v0, v1', STORE)],
  ['u24 truncation', all('v_mul_u32_u24_e32 v2, s10, v1', STORE), all('v_mul_lo_u32 v2, s10, v1', STORE)],
  [
    'soffset',
    buffer('buffer_load_dword v2, v1, s[12:15], s10 offen', VM, STORE_2),
    buffer('buffer_load_dword v2, v1, s[12:15], s11 offen', VM, STORE_2),
  ],
  [
    'num_records',
    buffer('buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE_2),
    buffer('s_movk_i32 s14, 0x800', 'buffer_load_dword v2, v1, s[12:15], 0 offen', VM, STORE_2),
  ],
  [
    'swizzled buffer',
    buffer('s_or_b32 s13, s13, 0x80040000', 'buffer_load_dword v2, v0, s[12:15], 0 idxen', VM, STORE_2),
    buffer('s_or_b32 s13, s13, 0x40000', 'buffer_load_dword v2, v0, s[12:15], 0 idxen', VM, STORE_2),
  ],
  [
    'buffer store order, other soffset',
    buffer('buffer_store_dword v0, v1, s[12:15], 0 offen', 'buffer_store_dword v1, v1, s[12:15], s10 offen'),
    buffer('buffer_store_dword v1, v1, s[12:15], s10 offen', 'buffer_store_dword v0, v1, s[12:15], 0 offen'),
  ],
  [
    'buffer out of range at the end',
    buffer('buffer_load_dwordx2 v[2:3], v1, s[12:15], 0 offen', VM, 'global_store_dwordx2 v1, v[2:3], s[8:9]'),
    buffer(
      'buffer_load_dword v2, v1, s[12:15], 0 offen',
      'buffer_load_dword v3, v1, s[12:15], 0 offen offset:8',
      VM,
      'global_store_dwordx2 v1, v[2:3], s[8:9]',
    ),
  ],
  [
    'flat against global',
    all(
      'v_mov_b32_e32 v4, s4',
      'v_mov_b32_e32 v5, s5',
      'flat_load_dword v2, v[4:5]',
      's_waitcnt vmcnt(0) lgkmcnt(0)',
      STORE,
    ),
    all(
      'v_mov_b32_e32 v4, s4',
      'v_mov_b32_e32 v5, s5',
      'global_load_dword v2, v[4:5], off',
      's_waitcnt vmcnt(0) lgkmcnt(0)',
      STORE,
    ),
  ],
  [
    'M0 of a load into LDS',
    all('s_mov_b32 m0, s10', 's_nop 0', 'global_load_lds_dword v1, s[4:5]', VM, 'ds_read_b32 v2, v1', LGKM, STORE),
    all('s_mov_b32 m0, s11', 's_nop 0', 'global_load_lds_dword v1, s[4:5]', VM, 'ds_read_b32 v2, v1', LGKM, STORE),
  ],
  [
    'load into LDS passes a read',
    all('s_mov_b32 m0, 0', 'ds_read_b32 v2, v1', LGKM, 'global_load_lds_dword v1, s[4:5]', STORE),
    all('s_mov_b32 m0, 0', 's_nop 0', 'global_load_lds_dword v1, s[4:5]', VM, 'ds_read_b32 v2, v1', LGKM, STORE),
  ],
  ['float commutes', all('v_sub_f32_e32 v2, v0, v1', STORE), all('v_subrev_f32_e32 v2, v0, v1', STORE)],
  ['min of NaN order', all('v_min_f32_e32 v2, v0, v1', STORE), all('v_min_f32_e32 v2, v1, v0', STORE)],
  ['canonicalise', all('v_mul_f32_e32 v2, 1.0, v0', STORE), all('v_mov_b32_e32 v2, v0', STORE)],
  ['swapped swap', all('v_mov_b32_e32 v2, v0', 'v_swap_b32 v2, v1', STORE), all('v_mov_b32_e32 v2, v0', STORE)],
  [
    'store of fewer tail dwords',
    all('global_store_dwordx3 v1, v[0:2], s[6:7]'),
    all('global_store_dwordx2 v1, v[0:1], s[6:7]'),
  ],
  [
    'store deleted that is stored again under fewer lanes',
    all(
      STORE.replace('v2', 'v0'),
      'v_cmp_gt_u32_e32 vcc, s10, v0',
      's_and_saveexec_b64 s[14:15], vcc',
      STORE.replace('v2', 'v1'),
    ),
    all('v_cmp_gt_u32_e32 vcc, s10, v0', 's_and_saveexec_b64 s[14:15], vcc', STORE.replace('v2', 'v1')),
  ],
  [
    'dcache wb vs store',
    { target: 'gfx90a', body: all('s_store_dword s10, s[6:7], 0x0', 's_dcache_wb') },
    { target: 'gfx90a', body: all('s_store_dword s10, s[6:7], 0x0') },
  ],
  [
    'ds_append',
    all('s_mov_b32 m0, 0', 's_nop 1', 'ds_append v2', LGKM, STORE),
    all('s_mov_b32 m0, 0', 's_nop 1', 'ds_consume v2', LGKM, STORE),
  ],
  [
    'ds read2 order',
    all('ds_read2_b32 v[2:3], v1 offset0:0 offset1:1', LGKM, STORE),
    all('ds_read2_b32 v[2:3], v1 offset0:1 offset1:0', LGKM, STORE),
  ],
  ['nt load', all(LOAD, VM, STORE), all(`${LOAD} nt`, VM, STORE)],
  ['v0 has y', all('v_and_b32_e32 v2, 0x3ff, v0', STORE), { body: all('v_bfe_u32 v2, v0, 10, 10', STORE) }],
  [
    'store between two barriers',
    all('s_barrier', 'ds_write_b32 v1, v0', LGKM, 's_barrier', 's_barrier'),
    all('s_barrier', 's_barrier', 'ds_write_b32 v1, v0', LGKM, 's_barrier'),
  ],
  [
    'store moved out of a loop',
    all(
      's_mov_b32 s12, s10',
      '.Ll:',
      STORE.replace('v2', 'v0'),
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
    ),
    all(
      's_mov_b32 s12, s10',
      '.Ll:',
      's_sub_u32 s12, s12, 1',
      's_cmp_lg_u32 s12, 0',
      's_cbranch_scc1 .Ll',
      STORE.replace('v2', 'v1'),
    ),
  ],
];
