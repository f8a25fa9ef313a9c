// Registers, LDS, scratch and metadata against the descriptor, each rule with a kernel that breaks it and one that does not.
import { describe, expect, test } from 'vitest';
import { type KernelSource, kernelObject } from '../../../tests/support/kernel-source.ts';
import { checkCodeObject } from '../index.ts';

/** `severity rule` of every finding. */
function rulesOf(options: KernelSource): string[] {
  return checkCodeObject(kernelObject(options), { pedantic: true }).map((f) => `${f.severity} ${f.rule}`);
}

const TOTAL_16 = { next_free_vgpr: 16, accum_offset: 8 };

describe('a kernel within its allocation has no findings', () => {
  test.each<[string, KernelSource]>([
    ['the last VGPR', { code: 'v_mov_b32 v7, 0' }],
    ['the last VGPR of a tuple', { code: 'v_mov_b64 v[6:7], 0' }],
    ['the last AGPR', { code: 'v_accvgpr_write_b32 a7, v0', descriptor: TOTAL_16 }],
    ['the last SGPR', { code: 's_mov_b32 s15, 0' }],
    [
      'all LDS of gfx950',
      {
        target: 'gfx950',
        descriptor: { group_segment_fixed_size: 163840 },
        metadata: { '.group_segment_fixed_size': 163840 },
      },
    ],
    [
      'allocated scratch',
      {
        code: 'scratch_store_dword off, v0, off',
        descriptor: { private_segment_fixed_size: 16, enable_private_segment: 1 },
        metadata: { '.private_segment_fixed_size': 16 },
      },
    ],
    ['code behind the end', { code: 's_endpgm\nv_mov_b32 v100, 0' }],
    [
      'a workgroup that fits',
      {
        descriptor: { next_free_vgpr: 128, accum_offset: 128 },
        metadata: { '.reqd_workgroup_size': '[1024, 1, 1]', '.max_flat_workgroup_size': 1024 },
      },
    ],
  ])('%s', (_, options) => {
    expect(rulesOf(options)).toEqual([]);
  });
});

describe('a kernel beyond its allocation is reported', () => {
  test.each<[string, string, KernelSource]>([
    ['one VGPR more', 'error resources/vgprs', { code: 'v_mov_b32 v8, 0' }],
    ['the end of a VGPR tuple', 'error resources/vgprs', { code: 'global_load_dwordx4 v[6:9], v0, s[0:1]' }],
    [
      'a VGPR in a called function',
      'error resources/vgprs',
      {
        code: `s_getpc_b64 s[2:3]
        s_add_u32 s2, s2, f@rel32@lo+4
        s_addc_u32 s3, s3, f@rel32@hi+12
        s_swappc_b64 s[4:5], s[2:3]
        s_endpgm
        f:
        v_mov_b32 v9, 0
        s_setpc_b64 s[4:5]`,
      },
    ],
    [
      'a VGPR among the AGPRs in use',
      'error resources/vgprs',
      {
        code: 'v_mov_b32 v9, 0\nv_accvgpr_write_b32 a0, v0',
        descriptor: TOTAL_16,
      },
    ],
    ['a VGPR among unused AGPRs', 'warning resources/accum-offset', { code: 'v_mov_b32 v9, 0', descriptor: TOTAL_16 }],
    ['one AGPR more', 'error resources/agprs', { code: 'v_accvgpr_write_b32 a8, v0', descriptor: TOTAL_16 }],
    [
      'one SGPR more',
      'error resources/sgprs',
      {
        code: 's_mov_b32 s16, 0',
        descriptor: { next_free_sgpr: 8 },
      },
    ],
    [
      'too much LDS',
      'error resources/lds',
      {
        descriptor: { group_segment_fixed_size: 65540 },
        metadata: { '.group_segment_fixed_size': 65540 },
      },
    ],
    ['scratch without allocation', 'error resources/scratch', { code: 'scratch_store_dword off, v0, off' }],
    [
      'a workgroup that does not fit',
      'error resources/does-not-fit',
      {
        descriptor: { next_free_vgpr: 136, accum_offset: 136 },
        metadata: { '.reqd_workgroup_size': '[1024, 1, 1]', '.max_flat_workgroup_size': 1024 },
      },
    ],
    [
      'LDS that differs',
      'warning resources/metadata',
      {
        descriptor: { group_segment_fixed_size: 16 },
        metadata: { '.group_segment_fixed_size': 32 },
      },
    ],
    ['LDS that only the metadata has', 'note resources/metadata', { metadata: { '.group_segment_fixed_size': 32 } }],
    [
      'arguments behind the segment',
      'error resources/metadata',
      {
        descriptor: { kernarg_size: 4 },
        metadata: { '.kernarg_segment_size': 4 },
      },
    ],
    ['another wavefront size', 'error resources/metadata', { metadata: { '.wavefront_size': 32 } }],
    ['more VGPRs listed than allocated', 'warning resources/metadata', { metadata: { '.vgpr_count': 9 } }],
  ])('%s', (_, rule, options) => {
    expect(rulesOf(options)).toEqual([rule]);
  });
});

test('the finding names the instruction, the register and the numbers to write', () => {
  const codeObject = kernelObject({ code: 's_nop 0\nv_add_f32 v20, v0, v0' });
  const entry = codeObject.kernels[0]?.entry ?? 0;
  expect(checkCodeObject(codeObject)).toMatchObject([
    {
      kernel: 'k',
      place: { pc: entry + 4, instruction: 'v_add_f32_e32 v20, v0, v0' },
      registers: ['v20'],
      message: "Kernel 'k' uses v20, but its descriptor allocates only 8 VGPRs.",
      fix: 'Set .amdhsa_next_free_vgpr to 24, .vgpr_count: to 24 and .amdhsa_accum_offset to 24.',
    },
  ]);
});
