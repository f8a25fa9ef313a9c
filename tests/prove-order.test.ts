// Pairs of kernels that differ in time, in what others see of them, or in what they are given: none may be proved.
import { describe, expect, it } from 'vitest';
import { proveKernel } from '../src/equivalence/index.ts';
import { all, build, LGKM, LOAD, prove, STORE, type Variant, VM } from './support/prove-kernel.ts';

/** Waits for a flag. */
const SPIN =
  '.Ls:\nglobal_load_dword v3, v1, s[8:9] sc0 sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s12, v3\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc1 .Ls';
/** A kernel of gfx90a that sets FLAT_SCRATCH. */
const scratchKernel = (init: string): Variant => ({
  target: 'gfx90a',
  body: all(
    init,
    'v_mov_b32_e32 v5, 7',
    'v_mov_b32_e32 v6, 0',
    'scratch_store_dword v6, v5, off offset:4',
    VM,
    'scratch_load_dword v2, v6, off offset:4',
    VM,
    STORE,
  ),
  directives:
    '\t.amdhsa_user_sgpr_flat_scratch_init 1\n\t.amdhsa_system_sgpr_private_segment_wavefront_offset 1\n\t.amdhsa_private_segment_fixed_size 64',
  change: (t) =>
    t
      .replace('user_sgpr_count 2', 'user_sgpr_count 4')
      .replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
});

/** The first argument is where the LDS of the launch begins. */
const dynamic = (align: number): Variant => ({
  body: all(LOAD, VM, STORE),
  change: (t) =>
    t.replace(
      'global_buffer, .address_space: global',
      `dynamic_shared_pointer, .address_space: local, .pointee_align: ${align}`,
    ),
});

describe('never proved', () => {
  it.each<[string, string | Variant, string | Variant]>([
    [
      'data written behind its flag',
      all(
        'v_mov_b32_e32 v2, 1',
        'v_mov_b32_e32 v4, 0',
        'global_store_dword v4, v0, s[6:7]',
        VM,
        'global_store_dword v4, v2, s[6:7] offset:64 sc0 sc1',
      ),
      all(
        'v_mov_b32_e32 v2, 1',
        'v_mov_b32_e32 v4, 0',
        'global_store_dword v4, v2, s[6:7] offset:64 sc0 sc1',
        'global_store_dword v4, v0, s[6:7]',
      ),
    ],
    [
      'LDS written behind a flag',
      all(
        'v_mov_b32_e32 v2, 1',
        'v_mov_b32_e32 v4, 0',
        'ds_write_b32 v1, v0',
        LGKM,
        'global_store_dword v4, v2, s[6:7] offset:64 sc0 sc1',
      ),
      all(
        'v_mov_b32_e32 v2, 1',
        'v_mov_b32_e32 v4, 0',
        'global_store_dword v4, v2, s[6:7] offset:64 sc0 sc1',
        'ds_write_b32 v1, v0',
      ),
    ],
    [
      'a load before the loop that waits for its flag',
      all(SPIN, 's_nop 4', LOAD, VM, STORE),
      all(LOAD, VM, SPIN, STORE),
    ],
    [
      'a load before the load of its flag',
      all('global_load_dword v3, v1, s[8:9] sc0 sc1', VM, LOAD, VM, 'v_add_u32_e32 v2, v2, v3', STORE),
      all(LOAD, VM, 'global_load_dword v3, v1, s[8:9] sc0 sc1', VM, 'v_add_u32_e32 v2, v2, v3', STORE),
    ],
    [
      'the wait for a load before a barrier',
      all(LOAD, VM, 's_barrier', 'global_store_dword v1, v2, s[4:5] offset:4'),
      all(LOAD, 's_barrier', VM, 'global_store_dword v1, v2, s[4:5] offset:4'),
    ],
    [
      'the wait for a scalar load before a barrier',
      all(
        's_load_dword s12, s[4:5], 0x0',
        LGKM,
        's_barrier',
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[4:5] offset:4',
      ),
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_barrier',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[4:5] offset:4',
      ),
    ],
    [
      'another address of scratch in FLAT_SCRATCH',
      scratchKernel('s_add_u32 flat_scratch_lo, s2, s5\ns_addc_u32 flat_scratch_hi, s3, 0\ns_nop 4'),
      scratchKernel('s_add_u32 flat_scratch_lo, s2, 0\ns_addc_u32 flat_scratch_hi, s3, 0\ns_nop 4'),
    ],
    [
      'a floating point atomic before the mode it runs in',
      all(
        's_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0',
        'v_mov_b32_e32 v2, s10',
        'ds_add_f32 v1, v2',
        LGKM,
        's_barrier',
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
      all(
        'v_mov_b32_e32 v2, s10',
        'ds_add_f32 v1, v2',
        's_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0',
        LGKM,
        's_barrier',
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
    ],
    [
      'SCC as the hardware register shows it',
      all('s_cmp_eq_u32 s10, 0', 's_getreg_b32 s12, hwreg(HW_REG_STATUS)', 'v_mov_b32_e32 v2, s12', STORE),
      all('s_cmp_lg_u32 s10, 0', 's_getreg_b32 s12, hwreg(HW_REG_STATUS)', 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'LDS as the hardware register shows it',
      all('s_getreg_b32 s12, hwreg(HW_REG_LDS_ALLOC)', 'v_mov_b32_e32 v2, s12', STORE),
      {
        body: all('s_getreg_b32 s12, hwreg(HW_REG_LDS_ALLOC)', 'v_mov_b32_e32 v2, s12', STORE),
        change: (t) =>
          t
            .replace('group_segment_fixed_size 4096', 'group_segment_fixed_size 8192')
            .replace('group_segment_fixed_size: 4096', 'group_segment_fixed_size: 8192'),
      },
    ],
    [
      'a hardware register that is not set',
      all('s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 8), 3', LOAD, VM, STORE),
      all('s_nop 0\ns_nop 0', LOAD, VM, STORE),
    ],
    [
      'what follows a trap that a debugger asked for',
      all('s_trap 3', LOAD, VM, STORE),
      all('s_trap 3', LOAD, VM, 'v_add_u32_e32 v2, 1, v2', STORE),
    ],
    [
      'the wait between a store and a scalar load',
      all(
        'v_mov_b32_e32 v2,5',
        STORE,
        VM,
        's_load_dword s12, s[6:7], 0x0',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        'v_mov_b32_e32 v2,5',
        STORE,
        's_load_dword s12, s[6:7], 0x0',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'the wait between a scalar load and a store',
      all(
        's_load_dword s12, s[6:7], 0x0',
        LGKM,
        'v_mov_b32_e32 v2,5',
        STORE,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        's_load_dword s12, s[6:7], 0x0',
        'v_mov_b32_e32 v2,5',
        STORE,
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'the wait between a flat store and an LDS read',
      all(
        's_mov_b64 s[12:13], src_shared_base',
        'v_mov_b32_e32 v4, v1',
        'v_mov_b32_e32 v5, s13',
        'flat_store_dword v[4:5], v0',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
      all(
        's_mov_b64 s[12:13], src_shared_base',
        'v_mov_b32_e32 v4, v1',
        'v_mov_b32_e32 v5, s13',
        'flat_store_dword v[4:5], v0',
        'ds_read_b32 v2, v1',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        STORE,
      ),
    ],
    [
      'the wait between a flat store and a global load',
      all(
        'v_mov_b32_e32 v4, s6',
        'v_mov_b32_e32 v5, s7',
        'flat_store_dword v[4:5], v0',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'global_load_dword v2, v1, s[6:7]',
        VM,
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        'v_mov_b32_e32 v4, s6',
        'v_mov_b32_e32 v5, s7',
        'flat_store_dword v[4:5], v0',
        'global_load_dword v2, v1, s[6:7]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'the wait for a buffer load before a barrier',
      all(
        's_mov_b32 s12, s6\ns_mov_b32 s13, s7\ns_movk_i32 s14, 0x1000\ns_mov_b32 s15, 0x20000',
        'buffer_load_dword v2, v1, s[12:15], 0 offen',
        VM,
        's_barrier',
        'global_store_dword v1, v2, s[4:5] offset:4',
      ),
      all(
        's_mov_b32 s12, s6\ns_mov_b32 s13, s7\ns_movk_i32 s14, 0x1000\ns_mov_b32 s15, 0x20000',
        'buffer_load_dword v2, v1, s[12:15], 0 offen',
        's_barrier',
        VM,
        'global_store_dword v1, v2, s[4:5] offset:4',
      ),
    ],
    [
      'more registers than a workgroup of that size can have',
      {
        body: all(LOAD, VM, STORE),
        change: (t) => t.replace('max_flat_workgroup_size: 256', 'max_flat_workgroup_size: 1024'),
      },
      {
        body: all(LOAD, VM, STORE),
        change: (t) =>
          t
            .replace('max_flat_workgroup_size: 256', 'max_flat_workgroup_size: 1024')
            .replace('next_free_vgpr 64', 'next_free_vgpr 512')
            .replace('.vgpr_count: 64', '.vgpr_count: 512'),
      },
    ],
    [
      'more LDS than there is',
      all(LOAD, VM, STORE),
      {
        body: all(LOAD, VM, STORE),
        change: (t) =>
          t
            .replace('group_segment_fixed_size 4096', 'group_segment_fixed_size 131072')
            .replace('group_segment_fixed_size: 4096', 'group_segment_fixed_size: 131072'),
      },
    ],
    [
      'an entry that is not aligned',
      all(LOAD, VM, STORE),
      { body: all(LOAD, VM, STORE), change: (t) => t.replace('k:\n', 's_nop 0\nk:\n') },
    ],
    [
      'what a multiply-add adds to',
      all('v_mov_b32_e32 v2, 0', 'v_fmac_f32_e32 v2, v0, v1', STORE),
      all('v_mov_b32_e32 v2, 1.0', 'v_fmac_f32_e32 v2, v0, v1', STORE),
    ],
    [
      'stores of a kernel that never ends',
      all('.Li:', LOAD, VM, STORE, 's_cmp_eq_u32 s10, 0', 's_cbranch_scc1 .Li', 's_branch .Li'),
      all(
        '.Li:',
        LOAD,
        VM,
        'v_add_u32_e32 v2, 1, v2',
        STORE,
        's_cmp_eq_u32 s10, 0',
        's_cbranch_scc1 .Li',
        's_branch .Li',
      ),
    ],
    [
      'a flag set behind the loop that waits for the other one',
      all(
        'v_mov_b32_e32 v4, 0',
        'global_store_dword v4, v0, s[8:9] offset:64 sc0 sc1',
        SPIN.replaceAll('v1, s[8:9]', 'v4, s[8:9]'),
      ),
      all(
        'v_mov_b32_e32 v4, 0',
        SPIN.replaceAll('v1, s[8:9]', 'v4, s[8:9]'),
        'global_store_dword v4, v0, s[8:9] offset:64 sc0 sc1',
      ),
    ],
    [
      'fewer accumulation registers',
      all('v_accvgpr_write_b32 a20, v1', 's_nop 4', 'v_accvgpr_read_b32 v2, a20', STORE),
      {
        body: all('v_accvgpr_write_b32 a20, v1', 's_nop 4', 'v_accvgpr_read_b32 v2, a20', STORE),
        change: (t) => t.replace('accum_offset 32', 'accum_offset 60'),
      },
    ],
    [
      'scratch past the end of it',
      {
        body: all(LOAD, VM, STORE, 'scratch_store_dword off, v0, off offset:4'),
        directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
        change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
      },
      {
        body: all(LOAD, VM, STORE, 'scratch_store_dword off, v0, off offset:2048'),
        directives: '.amdhsa_enable_private_segment 1\n.amdhsa_private_segment_fixed_size 64',
        change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
      },
    ],
    [
      'fewer scalar registers',
      {
        body: all('s_mov_b32 s60, s10', 'v_mov_b32_e32 v2, s60', STORE),
        change: (t) => t.replace('next_free_sgpr 32', 'next_free_sgpr 64'),
      },
      {
        body: all('s_mov_b32 s60, s10', 'v_mov_b32_e32 v2, s60', STORE),
        change: (t) => t.replace('next_free_sgpr 32', 'next_free_sgpr 16'),
      },
    ],
    [
      'the wait between an LDS read and a load into LDS',
      all('s_mov_b32 m0, 0', 'ds_read_b32 v2, v1', LGKM, 'global_load_lds_dword v1, s[4:5]', VM, STORE),
      all('s_mov_b32 m0, 0', 'ds_read_b32 v2, v1', 'global_load_lds_dword v1, s[4:5]', LGKM, VM, STORE),
    ],
    [
      'the wait between an LDS write and a load into LDS',
      all(
        's_mov_b32 m0, 0',
        'ds_write_b32 v1, v0',
        LGKM,
        'global_load_lds_dword v1, s[4:5]',
        VM,
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
      all(
        's_mov_b32 m0, 0',
        'ds_write_b32 v1, v0',
        'global_load_lds_dword v1, s[4:5]',
        LGKM,
        VM,
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
    ],
    [
      'the wait between a load into LDS and an LDS write',
      all(
        's_mov_b32 m0, 0',
        'global_load_lds_dword v1, s[4:5]',
        VM,
        'ds_write_b32 v1, v0',
        LGKM,
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
      all(
        's_mov_b32 m0, 0',
        'global_load_lds_dword v1, s[4:5]',
        'ds_write_b32 v1, v0',
        LGKM,
        VM,
        'ds_read_b32 v2, v1',
        LGKM,
        STORE,
      ),
    ],
    [
      'two atomics in the other order',
      all('v_mov_b32_e32 v4, 0', 'global_atomic_add v4, v0, s[6:7]', 'global_atomic_add v4, v0, s[6:7] offset:64'),
      all('v_mov_b32_e32 v4, 0', 'global_atomic_add v4, v0, s[6:7] offset:64', 'global_atomic_add v4, v0, s[6:7]'),
    ],
    [
      'a store behind the atomic that releases it',
      all('v_mov_b32_e32 v4, 0', 'global_store_dword v4, v0, s[6:7]', VM, 'global_atomic_add v4, v0, s[6:7] offset:64'),
      all('v_mov_b32_e32 v4, 0', 'global_atomic_add v4, v0, s[6:7] offset:64', 'global_store_dword v4, v0, s[6:7]'),
    ],
    [
      'a load before the atomic that acquires it',
      all(
        'v_mov_b32_e32 v4, 0',
        'global_atomic_add v3, v4, v0, s[6:7] sc0',
        VM,
        LOAD,
        VM,
        'v_add_u32_e32 v2, v2, v3',
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        'v_mov_b32_e32 v4, 0',
        LOAD,
        VM,
        'global_atomic_add v3, v4, v0, s[6:7] sc0',
        VM,
        'v_add_u32_e32 v2, v2, v3',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'the wait between an atomic and a load',
      all(
        'v_mov_b32_e32 v4, 0',
        'global_atomic_add v3, v4, v0, s[6:7] sc0',
        VM,
        LOAD,
        VM,
        'v_add_u32_e32 v2, v2, v3',
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        'v_mov_b32_e32 v4, 0',
        'global_atomic_add v3, v4, v0, s[6:7] sc0',
        LOAD,
        VM,
        'v_add_u32_e32 v2, v2, v3',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'two scalar loads into one register',
      all('s_load_dword s12, s[4:5], 0x0', LGKM, 's_load_dword s12, s[6:7], 0x0', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
      all('s_load_dword s12, s[4:5], 0x0', 's_load_dword s12, s[6:7], 0x0', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    ],
    [
      'a flat and a global load into one register',
      all(
        'v_mov_b32_e32 v4, s4',
        'v_mov_b32_e32 v5, s5',
        'flat_load_dword v2, v[4:5]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'global_load_dword v2, v1, s[6:7]',
        VM,
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        'v_mov_b32_e32 v4, s4',
        'v_mov_b32_e32 v5, s5',
        'flat_load_dword v2, v[4:5]',
        'global_load_dword v2, v1, s[6:7]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'an LDS and a global load into one register',
      all('ds_read_b32 v2, v1', LGKM, LOAD, VM, STORE),
      all('ds_read_b32 v2, v1', LOAD, 's_waitcnt vmcnt(0) lgkmcnt(0)', STORE),
    ],
    [
      'a comparison that includes one lane more',
      all(LOAD, VM, 'v_cmp_gt_u32_e32 vcc, s10, v0', 's_nop 4', 's_and_b64 exec, exec, vcc', STORE),
      all(LOAD, VM, 'v_cmp_ge_u32_e32 vcc, s10, v0', 's_nop 4', 's_and_b64 exec, exec, vcc', STORE),
    ],
    [
      'the wait for the load of the last iteration',
      all(
        's_mov_b32 s12, 4',
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, 0',
        '.Ll:',
        VM,
        'v_add_u32_e32 v3, v3, v2',
        'global_load_dword v2, v1, s[4:5]',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        VM,
        'global_store_dword v1, v3, s[6:7]',
      ),
      all(
        's_mov_b32 s12, 4',
        'v_mov_b32_e32 v2, 0',
        'v_mov_b32_e32 v3, 0',
        '.Ll:',
        'v_add_u32_e32 v3, v3, v2',
        'global_load_dword v2, v1, s[4:5]',
        's_sub_u32 s12, s12, 1',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc1 .Ll',
        VM,
        'global_store_dword v1, v3, s[6:7]',
      ),
    ],
    [
      'another stride of two LDS writes',
      all('ds_write2_b32 v1, v0, v1 offset0:0 offset1:1'),
      all('ds_write2st64_b32 v1, v0, v1 offset0:0 offset1:1'),
    ],
    [
      'scratch through its buffer resource',
      {
        target: 'gfx90a',
        body: all(
          'v_mov_b32_e32 v5, 7',
          'v_mov_b32_e32 v6, 0',
          'scratch_store_dword v6, v5, off offset:4',
          VM,
          'buffer_load_dword v2, off, s[0:3], 0 offset:4',
          VM,
          'global_store_dword v1, v2, s[6:7]',
        ),
        change: (t) =>
          t
            .replace('s_load_dwordx8 s[4:11], s[0:1]', 's_load_dwordx8 s[4:11], s[4:5]')
            .replace('user_sgpr_count 2', 'user_sgpr_count 6'),
        directives: '.amdhsa_user_sgpr_private_segment_buffer 1',
      },
      {
        target: 'gfx90a',
        body: all(
          'v_mov_b32_e32 v5, 7',
          'buffer_load_dword v2, off, s[0:3], 0 offset:4',
          VM,
          'v_mov_b32_e32 v6, 0',
          'scratch_store_dword v6, v5, off offset:4',
          VM,
          'global_store_dword v1, v2, s[6:7]',
        ),
        change: (t) =>
          t
            .replace('s_load_dwordx8 s[4:11], s[0:1]', 's_load_dwordx8 s[4:11], s[4:5]')
            .replace('user_sgpr_count 2', 'user_sgpr_count 6'),
        directives: '.amdhsa_user_sgpr_private_segment_buffer 1',
      },
    ],
  ])('%s', (_name, a, b) => {
    expect(proveKernel(build(a), build(a), 'k', { ignoreIdentity: true })).toMatchObject({ verdict: 'proved' });
    expect(prove(a, b)).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
  });

  it('what the loader does not find, or fills in otherwise', () => {
    const body = all(LOAD, VM, STORE);
    for (const directive of ['', '.globl k\n.hidden k']) {
      const change = (t: string): string => t.replace('.globl\tk', directive);
      expect(prove(body, { body, change }).reason).toContain('is not exported');
    }
    expect(prove(dynamic(4), dynamic(64)).reason).toContain('different arguments');
  });

  it.each(['s_setkill 1', 's_sethalt 1'])('%s', (stop) => {
    const body = all(stop, LOAD, VM, STORE);
    expect(proveKernel(build(body), build(body), 'k', { ignoreIdentity: true }).reason).toContain(stop.split(' ')[0]);
  });
});
