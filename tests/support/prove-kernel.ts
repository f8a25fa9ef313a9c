// Small kernels for the prover's hostile tests: a body between a common head and descriptor.
import { assembleAndLink } from '../../src/asm/index.ts';
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';
import { type LaunchFacts, type Proof, proveKernel } from '../../src/equivalence/index.ts';

/** A kernel of a test. */
export interface Variant {
  readonly body: string;
  /** Directives of the descriptor beside the usual ones. */
  readonly directives?: string;
  /** Changes of the whole text. */
  readonly change?: (text: string) => string;
  /** Sections after the kernel. */
  readonly data?: string;
  /** Directly behind s_endpgm. */
  readonly after?: string;
  /** gfx942 when it is left out. */
  readonly target?: string;
}

/** A kernel of three pointers and two numbers; s[4:9] hold the pointers, s[10:11] the numbers, v1 is four times the work-item. */
function text({ body, directives = '', change = (t) => t, data = '', after = '', target = 'gfx942' }: Variant): string {
  return change(`	.amdgcn_target "amdgcn-amd-amdhsa--${target}"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
k:
	s_load_dwordx8 s[4:11], s[0:1], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
${body.replace(/; */g, '\n')}
	s_endpgm
${after}
.Lend:
	.size k, .Lend-k
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_kernarg_size 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 32
		.amdhsa_accum_offset 32
${directives}
	.end_amdhsa_kernel
${data}
	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--${target}
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 64
    .max_flat_workgroup_size: 256
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 4, .value_kind: by_value }
      - { .offset: 28, .size: 4, .value_kind: by_value }
...
	.end_amdgpu_metadata
`);
}

/** The linked code object of a kernel. */
export const build = (v: string | Variant): CodeObject =>
  readCodeObject(assembleAndLink(text(typeof v === 'string' ? { body: v } : v), { file: 'k.s' }));
export const prove = (a: string | Variant, b: string | Variant, facts: LaunchFacts = {}): Proof =>
  proveKernel(build(a), build(b), 'k', { facts });

export const STORE = 'global_store_dword v1, v2, s[6:7]';
export const LOAD = 'global_load_dword v2, v1, s[4:5]';
export const VM = 's_waitcnt vmcnt(0)';
export const LGKM = 's_waitcnt lgkmcnt(0)';
/** Lines of a body. */
export const all = (...lines: string[]): string => lines.join('\n');
