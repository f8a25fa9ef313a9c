// A kernel with a bug, for docs/debugging.md: each work-item should store the sum of 1 to its own number plus one.
// wavesmith asm sums.s -o sums.co
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl sums
	.p2align 8
	.type sums,@function
sums:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	v_add_u32_e32 v3, 1, v0
	s_mov_b32 s6, 0
	s_waitcnt lgkmcnt(0)
again:
	s_add_u32 s6, s6, 1
	v_cmp_gt_u32_e32 vcc, v3, v2
	v_add_u32_e32 v4, s6, v2
	v_cndmask_b32_e32 v2, v2, v4, vcc
	s_cmp_lt_u32 s6, 64
	s_cbranch_scc1 again
	global_store_dword v1, v2, s[4:5]
	s_endpgm
.Lend:
	.size sums, .Lend-sums

	.rodata
	.p2align 6
	.amdhsa_kernel sums
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: sums
    .symbol: sums.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - .name: out
        .size: 8
        .offset: 0
        .value_kind: global_buffer
...
	.end_amdgpu_metadata
