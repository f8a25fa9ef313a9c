// The kernels of the device contract: assembly of one text for every target, small enough to be read beside the test that runs them.

/** A kernel with one pointer and one 32-bit value as arguments; v0 is the work-item's number in its workgroup, s8 the workgroup's. */
export interface ContractKernel {
  readonly name: string;
  readonly code: string;
  /** Static LDS in bytes. */
  readonly lds?: number;
  /** Work-items a workgroup may have. */
  readonly most?: number;
}

/** s[2:3] the pointer, s4 the value, s8 the workgroup, v1 the byte offset of the work-item's dword when workgroups have 64. */
const PROLOGUE = `s_mov_b32 s8, s2
s_load_dwordx2 s[2:3], s[0:1], 0x0
s_load_dword s4, s[0:1], 0x8
s_lshl_b32 s9, s8, 8
v_lshl_add_u32 v1, v0, 2, s9
s_waitcnt lgkmcnt(0)`;

export const CONTRACT_KERNELS: readonly ContractKernel[] = [
  { name: 'store', code: 'v_mov_b32_e32 v2, s4\nglobal_store_dword v1, v2, s[2:3]' },
  {
    name: 'increment',
    code: `global_load_dword v2, v1, s[2:3]
s_waitcnt vmcnt(0)
v_add_u32_e32 v2, s4, v2
global_store_dword v1, v2, s[2:3]`,
  },
  {
    // One atomic per work-item: what it counts is how many ran.
    name: 'count',
    code: 'v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s4\nglobal_atomic_add v1, v2, s[2:3]',
  },
  {
    // The value is the byte offset of the last dword of dynamic LDS; it goes through there.
    name: 'through_lds',
    lds: 64,
    code: `v_mov_b32_e32 v2, s4
v_mov_b32_e32 v3, 0x600d
ds_write_b32 v2, v3
s_waitcnt lgkmcnt(0)
ds_read_b32 v4, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v4, s[2:3]`,
  },
  { name: 'trap', code: 's_trap 2' },
  { name: 'endless', code: '.Lendless:\ns_nop 0\ns_branch .Lendless' },
  { name: 'illegal', code: '.long 0xffffffff' },
  { name: 'narrow', most: 64, code: '' },
];

/** The text of all kernels for a target. */
export function contractSource(target: string): string {
  const code = CONTRACT_KERNELS.map(({ name, code, lds = 0 }) => {
    const accum = '\t.amdhsa_accum_offset 8';
    return `\t.text
\t.globl ${name}
\t.p2align 8
\t.type ${name},@function
${name}:
${PROLOGUE}
${code}
s_endpgm
.Lend_${name}:
\t.size ${name}, .Lend_${name}-${name}
\t.rodata
\t.amdhsa_kernel ${name}
\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t.amdhsa_system_sgpr_workgroup_id_x 1
\t.amdhsa_kernarg_size 16
\t.amdhsa_group_segment_fixed_size ${lds}
\t.amdhsa_next_free_vgpr 8
\t.amdhsa_next_free_sgpr 16
${accum}
\t.end_amdhsa_kernel`;
  });
  const metadata = CONTRACT_KERNELS.map(
    ({ name, lds = 0, most = 256 }) => `  - .name: ${name}
    .symbol: ${name}.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: ${lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: ${most}
    .args:
      - .name: out
        .size: 8
        .offset: 0
        .value_kind: global_buffer
      - .name: value
        .size: 4
        .offset: 8
        .value_kind: by_value`,
  );
  return `\t.amdgcn_target "amdgcn-amd-amdhsa--${target}"
\t.amdhsa_code_object_version 5
${code.join('\n')}
\t.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--${target}
amdhsa.kernels:
${metadata.join('\n')}
\t.end_amdgpu_metadata
`;
}
