// Private memory of gfx90a is a swizzled buffer, and compilers read and write it unaligned (LLVM's FeatureUnalignedScratchAccess): what
// straddles two dwords belongs to one lane, in both engines. Its offsets wrap: a register of −1 and offset:4 are byte 3.
import { expect, test } from 'vitest';
import { assembleAndLink } from '../../src/asm/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';

const KERNEL = `.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl k
.p2align 8
.type k,@function
k:
	s_load_dwordx2 s[8:9], s[4:5], 0x0
	s_add_u32 s0, s0, s7
	s_addc_u32 s1, s1, 0
	v_lshlrev_b32_e32 v2, 2, v0
	v_mov_b32_e32 v3, 0x11111111
	v_mov_b32_e32 v4, 0x22222222
	v_mov_b32_e32 v5, 0x44332211
	v_mov_b32_e32 v6, 0
	buffer_store_dword v3, off, s[0:3], 0
	buffer_store_dword v4, off, s[0:3], 0 offset:4
	buffer_store_dword v5, v6, s[0:3], 0 offen offset:2
	s_waitcnt vmcnt(0)
	buffer_load_dword v7, off, s[0:3], 0
	buffer_load_dword v8, off, s[0:3], 0 offset:4
	buffer_load_dword v9, off, s[0:3], 0 offset:1
	v_mov_b32_e32 v10, -4
	v_mov_b32_e32 v11, -1
	buffer_load_dword v10, v10, s[0:3], 0 offen offset:8
	buffer_load_ubyte v11, v11, s[0:3], 0 offen offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_dword v2, v7, s[8:9]
	global_store_dword v2, v8, s[8:9] offset:256
	global_store_dword v2, v9, s[8:9] offset:512
	global_store_dword v2, v10, s[8:9] offset:768
	global_store_dword v2, v11, s[8:9] offset:1024
	s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
	.amdhsa_private_segment_fixed_size 16
	.amdhsa_kernarg_size 8
	.amdhsa_user_sgpr_private_segment_buffer 1
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_system_sgpr_private_segment_wavefront_offset 1
	.amdhsa_system_sgpr_workgroup_id_x 1
	.amdhsa_next_free_vgpr 16
	.amdhsa_next_free_sgpr 16
	.amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 64
    .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]
...
.end_amdgpu_metadata
`;

test.each(['compiled', 'interpreter'] as const)(
  '%s: odd places of private memory, registers below zero',
  async (engine) => {
    const device = new SimDevice('gfx90a', { run: { engine } });
    const buffer = device.alloc(4 * 320, 'out');
    const kernel = device.load(assembleAndLink(KERNEL)).kernel('k');
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer] });
    const words = new Uint32Array(device.read(buffer).slice().buffer);
    for (const [row, value] of [0x22111111, 0x22224433, 0x33221111, 0x22224433, 0x22].entries()) {
      expect([...new Set(words.subarray(64 * row, 64 * row + 64))]).toEqual([value]);
    }
    device.close();
  },
);
