// A small code object with everything the disassembler recovers: two kernels, a device function, branches, pc-relative
// references to data and code, pointers, zero-initialised data, padding and metadata.

const KERNEL_DIRECTIVES = `
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1`;

/** Assembler text for a target; every kind of reference appears once. */
export function sampleText(target = 'gfx942'): string {
  return `	.amdgcn_target "amdgcn-amd-amdhsa--${target}"
	.amdhsa_code_object_version 5
	.text
	.hidden helper
	.p2align 2
	.type helper,@function
helper:
	v_add_u32_e32 v0, 1, v0
	s_setpc_b64 s[30:31]
.Lhelper_end:
	.size helper, .Lhelper_end-helper
	.globl first
	.p2align 8
	.type first,@function
first:
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, helper@rel32@lo+4
	s_addc_u32 s7, s7, helper@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	s_cmp_eq_u32 s0, 0
	s_cbranch_scc1 .Lskip
.Lloop:
	v_mul_f32_e32 v0, 0x40490fdb, v0
	s_sub_u32 s1, s1, 1
	s_cmp_lg_u32 s1, 0
	s_cbranch_scc1 .Lloop
.Lskip:
	s_getpc_b64 s[8:9]
.Lpc:
	s_add_u32 s8, s8, (.Ldone-.Lpc)&4294967295
	s_addc_u32 s9, s9, (.Ldone-.Lpc)>>32
	s_setpc_b64 s[8:9]
	s_nop 3
.Ldone:
	s_endpgm
.Lfirst_end:
	.size first, .Lfirst_end-first
	.globl second
	.protected second
	.p2align 8
	.type second,@function
second:
	s_getpc_b64 s[10:11]
	s_add_u32 s10, s10, shared_value@gotpcrel32@lo+4
	s_addc_u32 s11, s11, shared_value@gotpcrel32@hi+12
	s_load_dwordx2 s[10:11], s[10:11], 0x0
	s_mov_b32 s12, lit(0x5)
	s_endpgm
.Lsecond_end:
	.size second, .Lsecond_end-second
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel first${KERNEL_DIRECTIVES}
	.end_amdhsa_kernel
	.amdhsa_kernel second${KERNEL_DIRECTIVES}
		.amdhsa_group_segment_fixed_size 1024
	.end_amdhsa_kernel
	.type table,@object
	.p2align 4
table:
	.long 1, 2, 3, 4
	.size table, 16
	.section .data,"aw",@progbits
	.p2align 3
	.hidden pointer
	.type pointer,@object
pointer:
	.quad table+8
	.size pointer, 8
	.globl shared_value
	.type shared_value,@object
shared_value:
	.long 77
	.size shared_value, 4
	.section .bss,"aw",@nobits
	.p2align 2
	.type zeros,@object
zeros:
	.zero 64
	.size zeros, 64
	.amdgpu_metadata
---
amdhsa.kernels:
${['first', 'second'].map(kernelMetadata).join('')}amdhsa.target:   amdgcn-amd-amdhsa--${target}
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
`;
}

function kernelMetadata(name: string): string {
  return `  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: ${name === 'second' ? 1024 : 0}
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 256
    .name:           ${name}
    .private_segment_fixed_size: 0
    .sgpr_count:     22
    .symbol:         ${name}.kd
    .vgpr_count:     8
    .wavefront_size: 64
`;
}
