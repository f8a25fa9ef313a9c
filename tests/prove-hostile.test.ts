// Pairs of kernels that differ where a proof by terms could overlook it: none may be proved.
import { describe, expect, it } from 'vitest';
import { type LaunchFacts, proveKernel } from '../src/equivalence/index.ts';
import { all, build, LGKM, LOAD, prove, STORE, type Variant, VM } from './support/prove-kernel.ts';

/** A buffer of 4096 bytes with a stride in s[12:15]. */
const buffer = (stride: number, word3 = '0x20000'): string =>
  all('s_mov_b32 s12, s6', `s_or_b32 s13, s7, ${stride << 16}`, 's_movk_i32 s14, 0x1000', `s_mov_b32 s15, ${word3}`);
const SAXPY = all(LOAD, VM, STORE);
const FAR = all(
  'v_accvgpr_write_b32 a4, v1',
  'v_mov_b32_e32 v20, 1',
  's_nop 4',
  'v_accvgpr_read_b32 v2, a4',
  'v_add_u32_e32 v2, v20, v2',
  STORE,
);
const zeroed = (bytes: number): Variant => ({
  body: all(
    's_getpc_b64 s[12:13]',
    's_add_u32 s12, s12, z@rel32@lo+4',
    's_addc_u32 s13, s13, z@rel32@hi+12',
    'global_load_dword v2, v1, s[12:13]',
    VM,
    STORE,
  ),
  data: `	.bss\nz:\n	.zero ${bytes}\n`,
});
const table = (words: string): Variant => ({
  body: all(
    's_getpc_b64 s[12:13]',
    's_add_u32 s12, s12, table@rel32@lo+4',
    's_addc_u32 s13, s13, table@rel32@hi+12',
    'global_load_dword v2, v1, s[12:13]',
    VM,
    STORE,
  ),
  after: `	.p2align 2\ntable:\n${words}`,
});
const pointed = (addend: number): Variant => ({
  body: all(
    's_getpc_b64 s[12:13]',
    's_add_u32 s12, s12, cell@rel32@lo+4',
    's_addc_u32 s13, s13, cell@rel32@hi+12',
    's_load_dwordx2 s[12:13], s[12:13], 0x0',
    LGKM,
    'global_load_dword v2, v1, s[12:13]',
    VM,
    STORE,
  ),
  data: `	.data\n	.p2align 3\nvalues:\n	.long 1,2,3,4\ncell:\n	.quad values+${addend}\n`,
});

describe('never proved', () => {
  it.each<[string, string | Variant, string | Variant, LaunchFacts?]>([
    // The interface.
    [
      'fewer registers than the code uses',
      FAR,
      {
        body: FAR,
        change: (t) =>
          t.replace('next_free_vgpr 64', 'next_free_vgpr 16').replace('accum_offset 32', 'accum_offset 16'),
      },
    ],
    [
      'fewer VGPRs before the accumulation registers',
      FAR,
      { body: FAR, change: (t) => t.replace('accum_offset 32', 'accum_offset 16') },
    ],
    [
      'LDS shrinks in the metadata',
      SAXPY,
      { body: SAXPY, change: (t) => t.replace('.group_segment_fixed_size: 4096', '.group_segment_fixed_size: 64') },
    ],
    [
      'workgroups may be smaller only',
      SAXPY,
      { body: SAXPY, change: (t) => t.replace('max_flat_workgroup_size: 256', 'max_flat_workgroup_size: 64') },
    ],
    [
      'the argument segment shrinks in the metadata',
      SAXPY,
      { body: SAXPY, change: (t) => t.replace('.kernarg_segment_size: 32', '.kernarg_segment_size: 8') },
    ],
    ['another target feature', SAXPY, { body: SAXPY, change: (t) => t.replaceAll('--gfx942', '--gfx942:xnack+') }],
    // Constants.
    ['a table behind the code', table('	.long 1,2,3,4\n'), table('	.long 1,2,5,4\n')],
    ['the addend of a relocation', pointed(0), pointed(4)],
    ['the size of a zeroed array', zeroed(64), zeroed(32)],
    // Memory that can be reached in two ways.
    [
      'a structured buffer: the next record',
      all(
        buffer(4),
        'buffer_store_dword v0, v0, s[12:15], 0 idxen',
        VM,
        'buffer_load_dword v2, v0, s[12:15], 0 idxen offset:4',
        VM,
        STORE,
      ),
      all(
        buffer(4),
        'buffer_load_dword v2, v0, s[12:15], 0 idxen offset:4',
        VM,
        'buffer_store_dword v0, v0, s[12:15], 0 idxen',
        VM,
        STORE,
      ),
    ],
    [
      'a buffer that adds the lane',
      all(
        buffer(4, '0x820000'),
        'buffer_store_dword v0, off, s[12:15], 0',
        VM,
        'buffer_load_dword v2, off, s[12:15], 0 offset:4',
        VM,
        STORE,
      ),
      all(
        buffer(4, '0x820000'),
        'buffer_load_dword v2, off, s[12:15], 0 offset:4',
        VM,
        'buffer_store_dword v0, off, s[12:15], 0',
        VM,
        STORE,
      ),
    ],
    [
      'two pointers that may be one',
      all(STORE.replace('v2', 'v0'), VM, LOAD, VM, 'global_store_dword v1, v2, s[8:9]'),
      all(LOAD, VM, STORE.replace('v2', 'v0'), 'global_store_dword v1, v2, s[8:9]'),
    ],
    [
      'two numbers that are taken for pointers',
      all(
        's_load_dwordx2 s[2:3], s[8:9], 0x0',
        LGKM,
        'v_mov_b32_e32 v3, s10',
        'v_mov_b32_e32 v4, s11',
        'global_store_dword v3, v0, s[2:3]',
        VM,
        'global_load_dword v2, v4, s[2:3]',
        VM,
        STORE,
      ),
      all(
        's_load_dwordx2 s[2:3], s[8:9], 0x0',
        LGKM,
        'v_mov_b32_e32 v3, s10',
        'v_mov_b32_e32 v4, s11',
        'global_load_dword v2, v4, s[2:3]',
        VM,
        'global_store_dword v3, v0, s[2:3]',
        VM,
        STORE,
      ),
      { noAlias: true },
    ],
    [
      'flat and LDS',
      all(
        's_mov_b64 s[12:13], src_shared_base',
        'v_mov_b32_e32 v4, v1',
        'v_mov_b32_e32 v5, s13',
        'ds_write_b32 v1, v0',
        LGKM,
        'flat_load_dword v2, v[4:5]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        STORE,
      ),
      all(
        's_mov_b64 s[12:13], src_shared_base',
        'v_mov_b32_e32 v4, v1',
        'v_mov_b32_e32 v5, s13',
        'flat_load_dword v2, v[4:5]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
        'ds_write_b32 v1, v0',
        STORE,
      ),
    ],
    [
      'a byte in a dword',
      all('global_store_byte v1, v0, s[4:5] offset:2', VM, LOAD, VM, STORE),
      all(LOAD, VM, 'global_store_byte v1, v0, s[4:5] offset:2', STORE),
    ],
    // Lanes.
    ['LDS that a wavefront leaves to the others when it ends', 'ds_write_b32 v1, v0', 's_nop 0\n s_nop 0'],
    [
      'a first lane where every lane may be off',
      all(
        'v_mov_b32_e32 v3, s10',
        's_nop 4',
        'v_readfirstlane_b32 s12, v3',
        'v_cmp_gt_u32_e32 vcc, s11, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
      all(
        'v_cmp_gt_u32_e32 vcc, s11, v0',
        's_and_saveexec_b64 s[14:15], vcc',
        'v_mov_b32_e32 v3, s10',
        's_nop 4',
        'v_readfirstlane_b32 s12, v3',
        's_nop 4',
        's_mov_b64 exec, s[14:15]',
        'v_mov_b32_e32 v2, s12',
        STORE,
      ),
    ],
    [
      'a load by lanes that were off',
      all('v_cmp_gt_u32_e32 vcc, s10, v0', 's_and_saveexec_b64 s[14:15], vcc', LOAD, VM, STORE),
      all(LOAD, 'v_cmp_gt_u32_e32 vcc, s10, v0', 's_and_saveexec_b64 s[14:15], vcc', VM, STORE),
    ],
    [
      'a load before the branch that guards it',
      all(
        's_cmp_lg_u64 s[4:5], 0',
        's_cbranch_scc0 .Lskip',
        's_load_dword s12, s[4:5], 0x0',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        STORE,
        '.Lskip:',
      ),
      all(
        's_load_dword s12, s[4:5], 0x0',
        's_cmp_lg_u64 s[4:5], 0',
        's_cbranch_scc0 .Lskip',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        STORE,
        '.Lskip:',
      ),
    ],
    // Order that other wavefronts see.
    [
      'the wait before a flag is stored',
      all(STORE.replace('v2', 'v0'), VM, 'v_mov_b32_e32 v2, 1', 'global_store_dword v1, v2, s[8:9] sc0 sc1'),
      all(STORE.replace('v2', 'v0'), 'v_mov_b32_e32 v2, 1', 'global_store_dword v1, v2, s[8:9] sc0 sc1'),
    ],
    [
      'the wait between a flag and what it guards',
      all('global_load_dword v3, v1, s[8:9] sc1', VM, 'buffer_inv sc1', LOAD, VM, 'v_add_u32_e32 v2, v2, v3', STORE),
      all('global_load_dword v3, v1, s[8:9] sc1', 'buffer_inv sc1', LOAD, VM, 'v_add_u32_e32 v2, v2, v3', STORE),
    ],
    [
      'the wait before the scalar cache is written off',
      all(
        STORE.replace('v2', 'v0'),
        VM,
        's_dcache_inv',
        's_load_dword s12, s[6:7], 0x0',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
      all(
        STORE.replace('v2', 'v0'),
        's_dcache_inv',
        's_load_dword s12, s[6:7], 0x0',
        LGKM,
        'v_mov_b32_e32 v2, s12',
        'global_store_dword v1, v2, s[8:9]',
      ),
    ],
    [
      'the wait before a message',
      all(STORE.replace('v2', 'v0'), VM, 's_sendmsg sendmsg(MSG_INTERRUPT)'),
      all(STORE.replace('v2', 'v0'), 's_sendmsg sendmsg(MSG_INTERRUPT)'),
    ],
    [
      'a trap',
      `s_cmp_lg_u32 s10, 0\n s_cbranch_scc0 .Lok\n s_trap 2\n .Lok:\n${SAXPY}`,
      `s_cmp_lg_u32 s10, 0\n s_cbranch_scc0 .Lok\n s_endpgm\n .Lok:\n${SAXPY}`,
    ],
    ['another message', 's_sendmsg sendmsg(MSG_INTERRUPT)', 's_sendmsg sendmsg(MSG_SAVEWAVE)'],
    ['a barrier at the end', `${SAXPY}\n s_waitcnt vmcnt(0)\n s_barrier`, `${SAXPY}\n s_waitcnt vmcnt(0)`],
    // Fields of instructions.
    ...(
      [
        ['global_store_dword v1, v0, s[6:7] sc1', 'global_store_dword v1, v0, s[6:7]'],
        ['global_store_dword v1, v0, s[6:7] nt', 'global_store_dword v1, v0, s[6:7] sc0'],
        ['global_store_short v1, v0, s[6:7]', 'global_store_byte v1, v0, s[6:7]'],
        ['global_store_short_d16_hi v1, v1, s[6:7]', 'global_store_short v1, v1, s[6:7]'],
        ['global_atomic_add v2, v1, v0, s[6:7] sc0', 'global_atomic_add v2, v1, v0, s[6:7] sc0 sc1'],
        ['global_atomic_add v1, v0, s[6:7]', 'global_atomic_sub v1, v0, s[6:7]'],
        [
          'global_atomic_add v2, v1, v0, s[6:7] sc0\n s_waitcnt vmcnt(0)\n global_store_dword v1, v2, s[8:9]',
          'global_atomic_add v1, v0, s[6:7]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v0, s[8:9]',
        ],
        ['buffer_inv sc1', 'buffer_inv sc0 sc1'],
      ] as const
    ).map(([a, b]): [string, string, string] => [a, a, b]),
    ...(
      [
        ['v_add_f32_e64 v2, v0, v1 clamp', 'v_add_f32_e64 v2, v0, v1'],
        ['v_add_f32_e64 v2, v0, v1 mul:2', 'v_add_f32_e64 v2, v0, v1 mul:4'],
        ['v_add_f32_e64 v2, -v0, v1', 'v_add_f32_e64 v2, v0, -v1'],
        ['v_add_f32_e64 v2, |v0|, v1', 'v_add_f32_e64 v2, v0, v1'],
        ['v_add_f32_e32 v2, 1.0, v1', 'v_add_f32_e32 v2, 1, v1'],
        ['v_add_f16_e32 v2, 1.0, v1', 'v_add_f16_e32 v2, 1, v1'],
        ['v_pk_add_f16 v2, v0, v1 op_sel:[1,0]', 'v_pk_add_f16 v2, v0, v1 op_sel:[0,1]'],
        ['v_pk_add_f16 v2, v0, v1 op_sel_hi:[1,0]', 'v_pk_add_f16 v2, v0, v1'],
        ['v_pk_add_f16 v2, v0, v1 neg_lo:[1,0]', 'v_pk_add_f16 v2, v0, v1 neg_hi:[1,0]'],
        ['v_pk_add_u16 v2, v0, v1 clamp', 'v_pk_add_u16 v2, v0, v1'],
        ['v_add_u32_e64 v2, v0, v1 clamp', 'v_add_u32_e64 v2, v0, v1'],
        ['v_mad_u16 v2, v0, v1, v1 op_sel:[0,1,0,0]', 'v_mad_u16 v2, v0, v1, v1'],
        ['v_mul_lo_u16_e32 v2, v1, v1', 'v_mul_lo_u32 v2, v1, v1'],
        [
          'v_add_u16_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0',
          'v_add_u16_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0',
        ],
        [
          'v_mov_b32_sdwa v2, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0',
          'v_mov_b32_sdwa v2, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1',
        ],
        [
          'v_mov_b32_sdwa v2, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0',
          'v_mov_b32_sdwa v2, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0',
        ],
        [
          'v_mov_b32_dpp v2, v1 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf',
          'v_mov_b32_dpp v2, v1 quad_perm:[0,1,0,0] row_mask:0xf bank_mask:0xf',
        ],
        [
          'v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf',
          'v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0',
        ],
        [
          'v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf',
          'v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xa bank_mask:0xf',
        ],
        ['v_add_u32_dpp v2, v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf', 'v_add_u32_e32 v2, v1, v0'],
        [
          'ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,1)\n s_waitcnt lgkmcnt(0)',
          'ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,2)\n s_waitcnt lgkmcnt(0)',
        ],
        [
          'ds_bpermute_b32 v2, v1, v0 offset:4\n s_waitcnt lgkmcnt(0)',
          'ds_bpermute_b32 v2, v1, v0\n s_waitcnt lgkmcnt(0)',
        ],
        ['ds_bpermute_b32 v2, v1, v0\n s_waitcnt lgkmcnt(0)', 'ds_permute_b32 v2, v1, v0\n s_waitcnt lgkmcnt(0)'],
        ['ds_read_u8 v2, v1\n s_waitcnt lgkmcnt(0)', 'ds_read_i8 v2, v1\n s_waitcnt lgkmcnt(0)'],
        ['ds_read_u8_d16 v2, v1\n s_waitcnt lgkmcnt(0)', 'ds_read_u8_d16_hi v2, v1\n s_waitcnt lgkmcnt(0)'],
        [
          's_mov_b32 m0, s10\n v_readlane_b32 s12, v0, m0\n v_mov_b32_e32 v2, s12',
          's_mov_b32 m0, s11\n v_readlane_b32 s12, v0, m0\n v_mov_b32_e32 v2, s12',
        ],
        ['v_writelane_b32 v2, s10, 3', 'v_writelane_b32 v2, s10, 4'],
        ['s_bfe_u32 s12, s10, 0x40004\n v_mov_b32_e32 v2, s12', 's_bfe_u32 s12, s10, 0x40008\n v_mov_b32_e32 v2, s12'],
        [
          'v_cmp_lt_i32_e32 vcc, v0, v1\n v_cndmask_b32_e32 v2, v0, v1, vcc',
          'v_cmp_lt_u32_e32 vcc, v0, v1\n v_cndmask_b32_e32 v2, v0, v1, vcc',
        ],
        ['v_ashrrev_i32_e32 v2, 3, v1', 'v_lshrrev_b32_e32 v2, 3, v1'],
        ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0\n v_add_f32_e32 v2, v0, v1', 'v_add_f32_e32 v2, v0, v1'],
        ['v_max_f32_e32 v2, v0, v1', 'v_max_u32_e32 v2, v0, v1'],
      ] as const
    ).map(([a, b]): [string, string, string] => [
      a,
      all('v_mov_b32_e32 v2, 0', 's_nop 4', a, 's_nop 4', STORE),
      all('v_mov_b32_e32 v2, 0', 's_nop 4', b, 's_nop 4', STORE),
    ]),
    [
      'a loop that runs once more',
      's_mov_b32 s12, 0\n v_mov_b32_e32 v2, 0\n.Ll: v_add_u32_e32 v2, v2, v0\n s_add_u32 s12, s12, 1\n s_cmp_lg_u32 s12, s10\n s_cbranch_scc1 .Ll\n' +
        STORE,
      's_mov_b32 s12, 0\n v_mov_b32_e32 v2, 0\n.Ll: v_add_u32_e32 v2, v2, v0\n s_add_u32 s12, s12, 1\n s_cmp_le_u32 s12, s10\n s_cbranch_scc1 .Ll\n' +
        STORE,
    ],
  ])('%s', (_name, a, b, facts) => {
    // Both are the same function as themselves: what is not proved is the difference.
    expect(proveKernel(build(a), build(a), 'k', { facts, ignoreIdentity: true })).toMatchObject({ verdict: 'proved' });
    expect(prove(a, b, facts)).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
  });
});

describe('still proved', () => {
  it.each<[string, string | Variant, string | Variant, LaunchFacts?]>([
    [
      'a load moved before a branch behind which both ways load',
      all(
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc0 .Lelse',
        LOAD,
        VM,
        STORE,
        's_endpgm',
        '.Lelse:',
        LOAD,
        VM,
        'v_add_u32_e32 v2, 1, v2',
        STORE,
      ),
      all(
        LOAD,
        's_cmp_lg_u32 s10, 0',
        's_cbranch_scc0 .Lelse',
        VM,
        STORE,
        's_endpgm',
        '.Lelse:',
        VM,
        'v_add_u32_e32 v2, 1, v2',
        STORE,
      ),
    ],
    [
      'a load moved behind a branch',
      all(LOAD, 's_cmp_lg_u32 s10, 0', 's_cbranch_scc0 .Lelse', VM, STORE, '.Lelse:'),
      all('s_cmp_lg_u32 s10, 0', 's_cbranch_scc0 .Lelse', LOAD, VM, STORE, '.Lelse:'),
    ],
    [
      'a load before the branch that guards it, when loads are safe',
      all('s_cmp_lg_u64 s[4:5], 0', 's_cbranch_scc0 .Lskip', LOAD, VM, STORE, '.Lskip:'),
      all(LOAD, 's_cmp_lg_u64 s[4:5], 0', 's_cbranch_scc0 .Lskip', VM, STORE, '.Lskip:'),
      { safeLoads: true },
    ],
    [
      'a table in the data, with other code before it',
      { ...zeroed(64), after: '' },
      { ...zeroed(64), body: `s_nop 0\n${zeroed(64).body}` },
    ],
    [
      'an offset of a buffer in the instruction',
      all(buffer(0), 'v_add_u32_e32 v3, 16, v1', 'buffer_load_dword v2, v3, s[12:15], 0 offen', VM, STORE),
      all(buffer(0), 'buffer_load_dword v2, v1, s[12:15], 0 offen offset:16', VM, STORE),
    ],
    [
      'two buffer accesses that are apart',
      all(
        buffer(0),
        'buffer_store_dword v0, v1, s[12:15], 0 offen',
        'buffer_load_dword v2, off, s[12:15], 0 offset:2048',
        VM,
        'buffer_store_dword v2, off, s[12:15], 0 offset:2052',
      ),
      all(
        buffer(0),
        'buffer_store_dword v0, v1, s[12:15], 0 offen',
        'buffer_load_dword v2, off, s[12:15], 0 offset:2048',
        's_nop 0',
        VM,
        'buffer_store_dword v2, off, s[12:15], 0 offset:2052',
      ),
    ],
  ])('%s', (_name, a, b, facts) => {
    expect(prove(a, b, facts)).toMatchObject({ verdict: 'proved', reason: undefined });
  });

  it('names an offset that was added up otherwise', () => {
    const start = `${buffer(0)}\n`;
    const proof = prove(
      `${start}v_add_u32_e32 v3, 16, v1\nbuffer_load_dword v2, v3, s[12:15], 0 offen\n${VM}\n${STORE}`,
      `${start}buffer_load_dword v2, v1, s[12:15], 0 offen offset:16\n${VM}\n${STORE}`,
    );
    expect(proof.assumptions).toContain('Byte offsets into buffers do not pass 4 GB.');
  });
});
