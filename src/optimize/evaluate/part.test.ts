import { expect, test } from 'vitest';
import { assembleAndLink } from '../../asm/index.ts';
import { SimDevice } from '../../device/index.ts';
import { partOf } from './part.ts';

test('a part of a long launch has its ends, and the same draw chooses the same; a short launch and few workgroups are whole', () => {
  expect(partOf(1000, 200_000, 1)).toBeUndefined();
  expect(partOf(15, 1_000_000, 1)).toBeUndefined();
  const part = partOf(1000, 1_000_000, 1) as readonly number[];
  expect(part).toHaveLength(40);
  expect([part[0], part[1], part.at(-1)]).toEqual([0, 1, 999]);
  expect(part).toEqual([...new Set(part)].sort((a, b) => a - b));
  expect(partOf(1000, 1_000_000, 1)).toEqual(part);
  expect(partOf(1000, 1_000_000, 2)).not.toEqual(part);
});

const SOURCE = `
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshl_b32 s3, s2, 2
  v_mov_b32_e32 v1, s3
  v_mov_b32_e32 v2, 7
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
.end_amdgpu_metadata
`;

test.each(['ascending', 'descending', { seed: 3 }] as const)(
  'only the chosen workgroups run, in order %j',
  async (order) => {
    const device = new SimDevice('gfx942');
    const out = device.alloc(4 * 64);
    const kernel = device.load(assembleAndLink(SOURCE)).kernel('k');
    const request = { kernel, grid: [64, 1, 1], block: [64, 1, 1], args: [out], order } as const;
    const { workgroups } = await device.dispatch({ ...request, only: [0, 5, 63] });
    expect(workgroups).toBe(3);
    const words = [...new Uint32Array(device.read(out).buffer)];
    expect(words.flatMap((word, n) => (word === 7 ? [n] : []))).toEqual([0, 5, 63]);
    await expect(device.dispatch({ ...request, only: [64] })).rejects.toMatchObject({ code: 'device/bad-workgroup' });
    device.close();
  },
);
