// Pairs of kernels that differ at the edges: in results that come too early, registers that nobody has written, memory past its end, lanes
// that meet or are off, fields of descriptor and metadata. None may be proved.
import { describe, expect, it } from 'vitest';
import { proveKernel } from '../src/equivalence/index.ts';
import { all, build, LGKM, LOAD, prove, STORE, type Variant, VM } from './support/prove-kernel.ts';

const STORE_2 = 'global_store_dword v1, v2, s[8:9]';
const NOPS = 's_nop 7';
/** A buffer of 4096 bytes in s[12:15], and more. */
const buffer = (...more: string[]): string =>
  all('s_mov_b32 s12, s6', 's_mov_b32 s13, s7', 's_movk_i32 s14, 0x1000', 's_mov_b32 s15, 0x20000', ...more);

const SCRATCH_POINTER: readonly [Variant, Variant] = [
  {
    target: 'gfx90a',
    body: all(
      's_add_u32 flat_scratch_lo, s2, s5\ns_addc_u32 flat_scratch_hi, s3, 0',
      NOPS,
      'v_mov_b32_e32 v6, 0',
      's_mov_b64 s[12:13], flat_scratch',
      LGKM,
      'scratch_store_dword v6, v0, off offset:4',
      VM,
      'global_load_dword v2, v6, s[12:13] offset:256',
      VM,
      STORE,
    ),
    directives:
      '\t.amdhsa_user_sgpr_flat_scratch_init 1\n\t.amdhsa_system_sgpr_private_segment_wavefront_offset 1\n\t.amdhsa_private_segment_fixed_size 64',
    change: (t) =>
      t
        .replace('user_sgpr_count 2', 'user_sgpr_count 4')
        .replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
  },
  {
    target: 'gfx90a',
    body: all(
      's_add_u32 flat_scratch_lo, s2, s5\ns_addc_u32 flat_scratch_hi, s3, 0',
      NOPS,
      'v_mov_b32_e32 v6, 0',
      's_mov_b64 s[12:13], flat_scratch',
      LGKM,
      'global_load_dword v2, v6, s[12:13] offset:256',
      VM,
      'scratch_store_dword v6, v0, off offset:4',
      VM,
      STORE,
    ),
    directives:
      '\t.amdhsa_user_sgpr_flat_scratch_init 1\n\t.amdhsa_system_sgpr_private_segment_wavefront_offset 1\n\t.amdhsa_private_segment_fixed_size 64',
    change: (t) =>
      t
        .replace('user_sgpr_count 2', 'user_sgpr_count 4')
        .replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
  },
];

describe('never proved', () => {
  it.each<[string, string | Variant, string | Variant]>([
    [
      'timing: dead early read stands in',
      all(LOAD, 'v_mov_b32_e32 v5, v2', VM, 'v_mov_b32_e32 v5, v2', 'global_store_dword v1, v5, s[6:7]'),
      all(LOAD, 'v_mov_b32_e32 v5, v2', VM, 'global_store_dword v1, v5, s[6:7]'),
    ],
    [
      'timing: second early read hidden by first',
      all(LOAD, 'v_mov_b32_e32 v5, v2', VM, 'v_mov_b32_e32 v6, v2', 'global_store_dword v1, v6, s[6:7]'),
      all(LOAD, 'v_mov_b32_e32 v5, v2', 'v_mov_b32_e32 v6, v2', VM, 'global_store_dword v1, v6, s[6:7]'),
    ],
    [
      'timing: hazard stands in',
      all(
        'v_mov_b32_e32 v5, s10',
        'v_readlane_b32 s12, v5, s11',
        'v_readfirstlane_b32 s13, v5',
        'v_readlane_b32 s12, v5, s13',
        NOPS,
        'v_readlane_b32 s12, v5, s13',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        'v_mov_b32_e32 v5, s10',
        'v_readlane_b32 s12, v5, s11',
        'v_readfirstlane_b32 s13, v5',
        'v_readlane_b32 s12, v5, s13',
        NOPS,
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    ['uninit: two are one', all('v_mov_b32_e32 v2, 0', STORE), all('v_xor_b32_e32 v2, v30, v31', STORE)],
    [
      'uninit: sub',
      all('v_mov_b32_e32 v2, v0', STORE),
      all('v_sub_u32_e32 v3, v30, v31', 'v_add_u32_e32 v2, v0, v3', STORE),
    ],
    [
      'uninit: sgpr eq',
      all('v_mov_b32_e32 v2, 1', STORE),
      all('s_cmp_eq_u32 s20, s21', 's_cselect_b32 s12, 1, 0', 'v_mov_b32_e32 v2, s12', STORE),
    ],
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
      'symbol in the metadata',
      STORE.replace('v2', 'v0'),
      { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('.symbol: k.kd', '.symbol: j.kd') },
    ],
    [
      'code object version',
      STORE.replace('v2', 'v0'),
      {
        body: STORE.replace('v2', 'v0'),
        change: (t) => t.replace('.text\n', '.amdhsa_code_object_version 4\n\t.text\n').replace('[ 1, 2 ]', '[ 1, 1 ]'),
      },
    ],
    [
      'init kernel',
      STORE.replace('v2', 'v0'),
      {
        body: STORE.replace('v2', 'v0'),
        change: (t) => t.replace('    .symbol: k.kd\n', '    .symbol: k.kd\n    .kind: init\n'),
      },
    ],
    [
      'wavefront size meta',
      STORE.replace('v2', 'v0'),
      { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('.wavefront_size: 64', '.wavefront_size: 32') },
    ],
    [
      'exec_hi only',
      all('s_mov_b32 exec_lo, s10', NOPS, 'v_mov_b32_e32 v2, v0', STORE),
      all('s_mov_b32 exec_hi, s10', NOPS, 'v_mov_b32_e32 v2, v0', STORE),
    ],
    [
      'exec hi half from saved',
      all('s_mov_b64 s[12:13], exec', 's_mov_b32 exec_lo, 0', NOPS, STORE.replace('v2', 'v0')),
      all('s_mov_b64 s[12:13], exec', 's_mov_b32 exec_hi, 0', NOPS, STORE.replace('v2', 'v0')),
    ],
    [
      'vcc_hi half',
      all('v_cmp_gt_u32_e32 vcc, s10, v0', 's_mov_b32 vcc_hi, 0', NOPS, 'v_cndmask_b32_e32 v2, v0, v1, vcc', STORE),
      all('v_cmp_gt_u32_e32 vcc, s10, v0', 's_mov_b32 vcc_lo, 0', NOPS, 'v_cndmask_b32_e32 v2, v0, v1, vcc', STORE),
    ],
    [
      'readlane of an inactive lane',
      all(
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, v0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 5',
        NOPS,
        'v_readlane_b32 s12, v3, 40',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, v1',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 5',
        NOPS,
        'v_readlane_b32 s12, v3, 40',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    [
      'mfma reads inactive lanes',
      all(
        'v_mov_b32_e32 v3, 1.0',
        'v_mov_b32_e32 v4, 1.0',
        'v_mov_b32_e32 v20, 0',
        'v_mov_b32_e32 v21, 0',
        'v_mov_b32_e32 v22, 0',
        'v_mov_b32_e32 v23, 0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 2.0',
        NOPS,
        'v_mfma_f32_4x4x1f32 v[20:23], v3, v4, v[20:23]',
        NOPS,
        NOPS,
        NOPS,
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, v20',
        STORE,
      ),
      all(
        'v_mov_b32_e32 v3, 4.0',
        'v_mov_b32_e32 v4, 1.0',
        'v_mov_b32_e32 v20, 0',
        'v_mov_b32_e32 v21, 0',
        'v_mov_b32_e32 v22, 0',
        'v_mov_b32_e32 v23, 0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 2.0',
        NOPS,
        'v_mfma_f32_4x4x1f32 v[20:23], v3, v4, v[20:23]',
        NOPS,
        NOPS,
        NOPS,
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, v20',
        STORE,
      ),
    ],
    [
      'bpermute from lanes switched on later',
      all(
        'v_mov_b32_e32 v3, v0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 7',
        's_mov_b64 exec, s[14:15]',
        'ds_bpermute_b32 v2, v1, v3',
        LGKM,
        STORE,
      ),
      all(
        'v_mov_b32_e32 v3, v0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, 7',
        'ds_bpermute_b32 v2, v1, v3',
        LGKM,
        's_mov_b64 exec, s[14:15]',
        STORE,
      ),
    ],
    [
      'dpp of lanes that are off',
      all(
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, v0',
        NOPS,
        'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        STORE,
      ),
      all(
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, v0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        NOPS,
        'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
        STORE,
      ),
    ],
    [
      'scalar carry lost',
      all('s_add_u32 s12, s10, s11', 's_addc_u32 s13, s5, 0', 'v_mov_b32_e32 v2, s13', STORE),
      all('s_add_u32 s12, s10, s11', 's_cmp_eq_u32 s10, s10', 's_addc_u32 s13, s5, 0', 'v_mov_b32_e32 v2, s13', STORE),
    ],
    [
      'scalar 64-bit pair add without carry',
      all(
        's_add_u32 s12, s4, s10',
        's_addc_u32 s13, s5, 0',
        'v_mov_b32_e32 v3, 0',
        'global_load_dword v2, v3, s[12:13]',
        VM,
        STORE,
      ),
      all(
        's_add_u32 s12, s4, s10',
        's_add_u32 s13, s5, 0',
        'v_mov_b32_e32 v3, 0',
        'global_load_dword v2, v3, s[12:13]',
        VM,
        STORE,
      ),
    ],
    [
      'address wraps at 32 bits',
      all('v_add_u32_e32 v3, s10, v1', 'global_load_dword v2, v3, s[4:5]', VM, STORE),
      all('s_add_u32 s12, s4, s10', 's_addc_u32 s13, s5, 0', 'global_load_dword v2, v1, s[12:13]', VM, STORE),
    ],
    [
      'signed against unsigned index',
      all(
        's_ashr_i32 s13, s10, 31',
        's_mov_b32 s12, s10',
        's_add_u32 s12, s12, s4',
        's_addc_u32 s13, s13, s5',
        'global_load_dword v2, v1, s[12:13]',
        VM,
        STORE,
      ),
      all('s_add_u32 s12, s10, s4', 's_addc_u32 s13, 0, s5', 'global_load_dword v2, v1, s[12:13]', VM, STORE),
    ],
    [
      'accvgpr alias',
      all('v_accvgpr_write_b32 a2, v0', 'v_mov_b32_e32 v2, v1', NOPS, STORE),
      all('v_accvgpr_write_b32 a2, v0', NOPS, 'v_accvgpr_read_b32 v2, a2', STORE),
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
    [
      'mad_u64 clamp',
      all('v_mad_u64_u32 v[2:3], vcc, v0, v1, v[0:1] clamp', STORE),
      all('v_mad_u64_u32 v[2:3], vcc, v0, v1, v[0:1]', STORE),
    ],
    ['mul_u24 clamp', all('v_mul_u32_u24_e64 v2, v0, v1 clamp', STORE), all('v_mul_u32_u24_e64 v2, v0, v1', STORE)],
    [
      'add_co clamp',
      all('v_add_co_u32_e64 v2, vcc, v0, v1 clamp', STORE),
      all('v_add_co_u32_e64 v2, vcc, v0, v1', STORE),
    ],
    ['mul hi/lo', all('v_mul_hi_u32 v2, v0, v1', STORE), all('v_mul_hi_i32 v2, v0, v1', STORE)],
    ['u24 truncation', all('v_mul_u32_u24_e32 v2, s10, v1', STORE), all('v_mul_lo_u32 v2, s10, v1', STORE)],
    [
      'shift count modulo',
      all('v_lshlrev_b32_e32 v2, s10, v1', STORE),
      all('s_min_u32 s12, s10, 31', 'v_lshlrev_b32_e32 v2, s12, v1', STORE),
    ],
    [
      's_bfe of width',
      all('s_bfe_u32 s12, s10, s11', 'v_mov_b32_e32 v2, s12', STORE),
      all('s_bfe_i32 s12, s10, s11', 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'scc of s_and',
      all('s_and_b32 s12, s10, s11', 's_cselect_b32 s12, 1, 2', 'v_mov_b32_e32 v2, s12', STORE),
      all('s_or_b32 s12, s10, s11', 's_cselect_b32 s12, 1, 2', 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'scc clobbered by a join',
      all(
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        's_add_u32 s12, s10, s11',
        's_branch .Lb',
        '.La:',
        's_sub_u32 s12, s10, s11',
        '.Lb:',
        's_cselect_b32 s12, 1, 0',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        's_add_u32 s12, s10, s11',
        's_branch .Lb',
        '.La:',
        's_sub_u32 s12, s10, s11',
        's_cmp_eq_u32 s10, s11',
        '.Lb:',
        's_cselect_b32 s12, 1, 0',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    [
      'vcc at a join',
      all(
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        'v_cmp_gt_u32_e32 vcc, s11, v0',
        '.La:',
        NOPS,
        'v_cndmask_b32_e32 v2, v0, v1, vcc',
        STORE,
      ),
      all(
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        'v_cmp_ge_u32_e32 vcc, s11, v0',
        '.La:',
        NOPS,
        'v_cndmask_b32_e32 v2, v0, v1, vcc',
        STORE,
      ),
    ],
    [
      'trip count constant',
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 1',
        's_cmp_lt_u32 s12, 8',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 1',
        's_cmp_le_u32 s12, 8',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
    ],
    [
      'unrolled once too often',
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 8',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        'v_add_u32_e32 v2, v2, v0',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 2',
        's_cmp_lg_u32 s12, 8',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
    ],
    [
      'unrolled odd bound',
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, s10',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
      all(
        's_mov_b32 s12, 0',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        'v_add_u32_e32 v2, v2, v0',
        'v_add_u32_e32 v2, v2, v0',
        's_add_u32 s12, s12, 2',
        's_cmp_lg_u32 s12, s10',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
    ],
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
    [
      'round mode',
      all('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1', 'v_add_f32_e32 v2, v0, v1', STORE),
      all('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1', 'v_add_f32_e32 v2, v0, v1', STORE),
    ],
    [
      'round mode set later',
      all('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1', 'v_add_f32_e32 v2, v0, v1', STORE),
      all('v_add_f32_e32 v2, v0, v1', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1', STORE),
    ],
    [
      'float mode in the descriptor',
      all('v_add_f32_e32 v2, v0, v1', STORE),
      { body: all('v_add_f32_e32 v2, v0, v1', STORE), directives: '.amdhsa_float_denorm_mode_32 3' },
    ],
    [
      'ieee',
      all('v_max_f32_e32 v2, v0, v1', STORE),
      { body: all('v_max_f32_e32 v2, v0, v1', STORE), directives: '.amdhsa_ieee_mode 0' },
    ],
    [
      'dx10 clamp',
      all('v_add_f32_e64 v2, v0, v1 clamp', STORE),
      { body: all('v_add_f32_e64 v2, v0, v1 clamp', STORE), directives: '.amdhsa_dx10_clamp 0' },
    ],
    [
      'fma against mad',
      all('v_fma_f32 v2, v0, v1, v1', STORE),
      all('v_mul_f32_e32 v2, v0, v1', 'v_add_f32_e32 v2, v2, v1', STORE),
    ],
    ['float commutes', all('v_sub_f32_e32 v2, v0, v1', STORE), all('v_subrev_f32_e32 v2, v0, v1', STORE)],
    [
      'float sum order',
      all('v_add_f32_e32 v2, v0, v1', 'v_add_f32_e32 v2, 2.0, v2', STORE),
      all('v_add_f32_e32 v2, 2.0, v1', 'v_add_f32_e32 v2, v0, v2', STORE),
    ],
    ['min of NaN order', all('v_min_f32_e32 v2, v0, v1', STORE), all('v_min_f32_e32 v2, v1, v0', STORE)],
    ['canonicalise', all('v_mul_f32_e32 v2, 1.0, v0', STORE), all('v_mov_b32_e32 v2, v0', STORE)],
    [
      'f64 literal',
      all('v_cvt_f64_u32_e32 v[4:5], v0', 'v_add_f64 v[2:3], v[4:5], 1.0', 'global_store_dwordx2 v1, v[2:3], s[6:7]'),
      all('v_cvt_f64_u32_e32 v[4:5], v0', 'v_add_f64 v[2:3], v[4:5], 2.0', 'global_store_dwordx2 v1, v[2:3], s[6:7]'),
    ],
    ['swapped swap', all('v_mov_b32_e32 v2, v0', 'v_swap_b32 v2, v1', STORE), all('v_mov_b32_e32 v2, v0', STORE)],
    [
      'writelane by m0',
      all('v_mov_b32_e32 v2, 0', 's_mov_b32 m0, s10', 's_nop 4', 'v_writelane_b32 v2, s11, m0', STORE),
      all('v_mov_b32_e32 v2, 0', 's_mov_b32 m0, s10', 's_nop 4', 'v_writelane_b32 v2, m0, m0', STORE),
    ],
    [
      'gpr idx',
      all('s_set_gpr_idx_on s10, 1', 's_nop 4', 'v_mov_b32_e32 v2, v4', 's_set_gpr_idx_off', STORE),
      all('s_set_gpr_idx_on s11, 1', 's_nop 4', 'v_mov_b32_e32 v2, v4', 's_set_gpr_idx_off', STORE),
    ],
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
      'kernarg offset',
      all('s_load_dword s12, s[0:1], 0x18', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
      all('s_load_dword s12, s[0:1], 0x1c', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'kernarg byte',
      all('s_load_dword s12, s[0:1], 0x19', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
      all('s_load_dword s12, s[0:1], 0x18', LGKM, 's_lshr_b32 s12, s12, 8', 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'workgroup id',
      {
        body: all('v_mov_b32_e32 v2, s2', STORE),
        directives: '.amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1',
      },
      {
        body: all('v_mov_b32_e32 v2, s3', STORE),
        directives: '.amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1',
      },
    ],
    [
      's_memtime',
      all('s_memtime s[12:13]', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
      all('s_memrealtime s[12:13]', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'sendmsg operand m0',
      all('s_mov_b32 m0, s10', 's_nop 4', 's_sendmsg sendmsg(MSG_INTERRUPT)'),
      all('s_mov_b32 m0, s11', 's_nop 4', 's_sendmsg sendmsg(MSG_INTERRUPT)'),
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
    [
      'scc carry through a store',
      all('s_cmp_lg_u32 s10, 0', 's_cselect_b64 exec, exec, 0', NOPS, STORE.replace('v2', 'v0')),
      all('s_cmp_eq_u32 s10, 0', 's_cselect_b64 exec, exec, 0', NOPS, STORE.replace('v2', 'v0')),
    ],
    [
      'execz skips a scalar effect',
      all(
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        's_cbranch_execz .Lx',
        's_mov_b32 s12, 1',
        's_branch .Ly',
        '.Lx:',
        's_mov_b32 s12, 2',
        '.Ly:',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        's_cbranch_execz .Lx',
        's_mov_b32 s12, 1',
        '.Lx:',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    [
      'ballot of lanes that are off',
      all(
        'v_cmp_gt_u32_e64 s[12:13], s10, v0',
        'v_cmp_gt_u32_e32 vcc, s11, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        'v_cmp_gt_u32_e32 vcc, s11, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_cmp_gt_u32_e64 s[12:13], s10, v0',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    [
      'mbcnt',
      all('v_mbcnt_lo_u32_b32 v2, -1, 0', 'v_mbcnt_hi_u32_b32 v2, -1, v2', STORE),
      all('v_mbcnt_lo_u32_b32 v2, -1, 0', STORE),
    ],
    ['v0 has y', all('v_and_b32_e32 v2, 0x3ff, v0', STORE), { body: all('v_bfe_u32 v2, v0, 10, 10', STORE) }],
    [
      'vgpr ids',
      STORE.replace('v2', 'v0'),
      { body: STORE.replace('v2', 'v0'), directives: '.amdhsa_system_vgpr_workitem_id 2' },
    ],
    [
      'user sgprs',
      STORE.replace('v2', 'v0'),
      { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('user_sgpr_count 2', 'user_sgpr_count 4') },
    ],
    [
      'store between two barriers',
      all('s_barrier', 'ds_write_b32 v1, v0', LGKM, 's_barrier', 's_barrier'),
      all('s_barrier', 's_barrier', 'ds_write_b32 v1, v0', LGKM, 's_barrier'),
    ],
    [
      'early in one branch only',
      all(
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        LOAD,
        'v_mov_b32_e32 v5, v2',
        VM,
        'v_mov_b32_e32 v5, v2',
        's_branch .Lb',
        '.La:',
        'v_mov_b32_e32 v5, 0',
        '.Lb:',
        'global_store_dword v1, v5, s[6:7]',
      ),
      all(
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc1 .La',
        LOAD,
        'v_mov_b32_e32 v5, v2',
        VM,
        's_branch .Lb',
        '.La:',
        'v_mov_b32_e32 v5, 0',
        '.Lb:',
        'global_store_dword v1, v5, s[6:7]',
      ),
    ],
    [
      'early store data',
      all(LOAD, 'global_store_dword v1, v2, s[8:9]', VM, 'global_store_dword v1, v2, s[8:9]'),
      all(LOAD, VM, 'global_store_dword v1, v2, s[8:9]', LOAD, 'global_store_dword v1, v2, s[8:9]'),
    ],
    [
      'early store data deleted',
      all(LOAD, 'global_store_dword v1, v2, s[8:9]', VM, 'global_store_dword v1, v2, s[6:7]'),
      all(LOAD, 'global_store_dword v1, v2, s[8:9]', 'global_store_dword v1, v2, s[6:7]'),
    ],
    [
      'early condition',
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_cmp_lg_u32 s12, 0',
        LGKM,
        's_cmp_lg_u32 s12, 0',
        's_cselect_b32 s13, 1, 2',
        'v_mov_b32_e32 v2, s13',
        STORE,
      ),
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_cmp_lg_u32 s12, 0',
        LGKM,
        's_cselect_b32 s13, 1, 2',
        'v_mov_b32_e32 v2, s13',
        STORE,
      ),
    ],
    [
      'early overwrite',
      all(LOAD, 'v_mov_b32_e32 v2, 0', VM, 'v_mov_b32_e32 v2, 0', STORE),
      all(LOAD, 'v_mov_b32_e32 v2, 0', VM, STORE),
    ],
    [
      'early branch',
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_cmp_lg_u32 s12, 0',
        LGKM,
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc0 .La',
        STORE.replace('v2', 'v0'),
        '.La:',
      ),
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_cmp_lg_u32 s12, 0',
        LGKM,
        's_cbranch_scc0 .La',
        STORE.replace('v2', 'v0'),
        '.La:',
      ),
    ],
    [
      'vmcnt 1 too many in a pipelined loop',
      all(
        's_mov_b32 s12, 8',
        'v_mov_b32_e32 v3, 0',
        'global_load_dword v2, v1, s[4:5]',
        'global_load_dword v6, v1, s[6:7]',
        '.Ll:',
        's_waitcnt vmcnt(1)',
        'v_add_u32_e32 v3, v3, v2',
        'global_load_dword v2, v1, s[4:5]',
        's_waitcnt vmcnt(1)',
        'v_add_u32_e32 v3, v3, v6',
        'global_load_dword v6, v1, s[6:7]',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        VM,
        'global_store_dword v1, v3, s[8:9]',
      ),
      all(
        's_mov_b32 s12, 8',
        'v_mov_b32_e32 v3, 0',
        'global_load_dword v2, v1, s[4:5]',
        'global_load_dword v6, v1, s[6:7]',
        '.Ll:',
        's_waitcnt vmcnt(1)',
        'v_add_u32_e32 v3, v3, v2',
        'global_load_dword v2, v1, s[4:5]',
        's_waitcnt vmcnt(2)',
        'v_add_u32_e32 v3, v3, v6',
        'global_load_dword v6, v1, s[6:7]',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        VM,
        'global_store_dword v1, v3, s[8:9]',
      ),
    ],
    [
      'lgkm out of order scalars',
      all(
        's_load_dword s12, s[4:5], 0x0',
        'ds_read_b32 v2, v1',
        's_waitcnt lgkmcnt(0)',
        'v_add_u32_e32 v2, s12, v2',
        STORE,
      ),
      all(
        's_load_dword s12, s[4:5], 0x0',
        'ds_read_b32 v2, v1',
        's_waitcnt lgkmcnt(1)',
        'v_add_u32_e32 v2, s12, v2',
        STORE,
      ),
    ],
    [
      'flat needs both',
      all(
        'v_mov_b32_e32 v4, s4',
        'v_mov_b32_e32 v5, s5',
        'flat_load_dword v2, v[4:5]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        STORE,
      ),
      all('v_mov_b32_e32 v4, s4', 'v_mov_b32_e32 v5, s5', 'flat_load_dword v2, v[4:5]', 's_waitcnt vmcnt(0)', STORE),
    ],
    [
      'dead barrier count in a loop',
      all(
        's_mov_b32 s12, 4',
        '.Ll:',
        's_barrier',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        STORE.replace('v2', 'v0'),
      ),
      all(
        's_mov_b32 s12, 3',
        '.Ll:',
        's_barrier',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        STORE.replace('v2', 'v0'),
      ),
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
    [
      'undefined partial lanes',
      all(
        'v_mov_b32_e32 v2, 0',
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v2, v1',
        's_mov_b64 exec, s[14:15]',
        STORE,
      ),
      all(
        'v_cmp_gt_u32_e32 vcc, s10, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v2, v1',
        's_mov_b64 exec, s[14:15]',
        STORE,
      ),
    ],
    [
      'undefined through a loop',
      all(
        's_mov_b32 s12, 4',
        'v_mov_b32_e32 v2, 0',
        '.Ll:',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        STORE,
      ),
      all(
        's_mov_b32 s12, 4',
        '.Ll:',
        'v_add_u32_e32 v30, 1, v30',
        'v_add_u32_e32 v31, 1, v31',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        'v_sub_u32_e32 v2, v30, v31',
        STORE,
      ),
    ],
    [
      'undefined select',
      all('v_mov_b32_e32 v2, 1', STORE),
      all('v_cmp_eq_u32_e32 vcc, v30, v31', 'v_cndmask_b32_e64 v2, 0, 1, vcc', STORE),
    ],
    [
      'undefined min',
      all('v_mov_b32_e32 v2, 0', STORE),
      all('v_max_u32_e32 v4, v30, v31', 'v_sub_u32_e32 v2, v4, v30', STORE),
    ],
    [
      'undefined in two steps',
      all('v_mov_b32_e32 v2, 0', STORE),
      all('v_add_u32_e32 v4, v30, v0', 'v_sub_u32_e32 v5, v0, v4', 'v_add_u32_e32 v2, v5, v31', STORE),
    ],
    [
      'undefined by and',
      all('v_mov_b32_e32 v2, 0', STORE),
      all('v_not_b32_e32 v4, v30', 'v_and_b32_e32 v2, v4, v31', STORE),
    ],
    [
      'undefined 64',
      all('v_mov_b32_e32 v2, 0', STORE),
      all('v_lshl_add_u64 v[4:5], v[30:31], 0, 0', 'v_sub_co_u32_e32 v2, vcc, v4, v28', STORE),
    ],
    ['undefined float', all('v_sub_f32_e32 v2, v30, v30', STORE), all('v_sub_f32_e32 v2, v30, v31', STORE)],
    [
      'undefined address',
      all('v_mov_b32_e32 v4, s4', 'v_mov_b32_e32 v5, s5', 'global_load_dword v2, v[4:5], off', VM, STORE),
      all(
        'v_sub_u32_e32 v6, v30, v31',
        'v_add_u32_e32 v4, s4, v6',
        'v_mov_b32_e32 v5, s5',
        'global_load_dword v2, v[4:5], off',
        VM,
        STORE,
      ),
    ],
  ])('%s', (_name, a, b) => {
    expect(proveKernel(build(a), build(a), 'k', { ignoreIdentity: true })).toMatchObject({ verdict: 'proved' });
    expect(prove(a, b)).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
  });

  it('what is done to scratch through its address', () => {
    const [a, b] = SCRATCH_POINTER;
    expect(prove(a, b).reason).toBe('Scratch is reached by its address.');
  });
});

describe('proved', () => {
  it('thousands of stores that are apart', () => {
    const stores = Array.from({ length: 3000 }, (_, i) => `ds_write_b32 v3, v2 offset:${4 * i}`);
    const kernel = build(all(LOAD, VM, 'v_lshlrev_b32_e32 v3, 16, v0', ...stores));
    expect(proveKernel(kernel, kernel, 'k', { ignoreIdentity: true }).verdict).toBe('proved');
  });

  it('a flag in code that is never reached', () => {
    const kernel = build(
      all(
        LOAD,
        's_mov_b32 s12, 0',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc0 .Lx',
        's_load_dword s13, s[6:7], 0x0 glc',
        LGKM,
        '.Lx:',
        VM,
        STORE,
      ),
    );
    expect(proveKernel(kernel, kernel, 'k', { ignoreIdentity: true })).toMatchObject({ reason: undefined });
  });

  it('LDS that grows where the baseline stays inside', () => {
    const body = all('ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1', LGKM, STORE);
    const change = (t: string): string =>
      t.replaceAll('group_segment_fixed_size 4096', 'group_segment_fixed_size 8192');
    const metadata = (t: string): string => change(t).replace('fixed_size: 4096', 'fixed_size: 8192');
    expect(prove(body, { body, change: metadata })).toMatchObject({ reason: undefined });
  });
});
