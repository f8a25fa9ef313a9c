// Kernels that test a device: one text for every target, small enough to be read beside what runs them. `wavesmith selftest` and the
// contract that every device must keep (tests/support/device-contract) have kernels of this form.

/** A kernel with one pointer and one 32-bit value as arguments. */
export interface DeviceTestKernel {
  /** v0 is the work-item, s2 the workgroup, s[4:5] the pointer, s6 the value, v1 the byte offset of the work-item's dword when
   * workgroups have 64. `s_endpgm` follows. */
  readonly code: string;
  /** Static LDS in bytes. */
  readonly lds?: number;
  /** Work-items that a workgroup may have; 256 when not given. */
  readonly most?: number;
}

/** The text of kernels for a target, by name. */
export function deviceTestSource(target: string, kernels: Readonly<Record<string, DeviceTestKernel>>): string {
  const code = Object.entries(kernels).map(
    ([name, { code: body, lds = 0 }]) => `\t.text
\t.globl ${name}
\t.p2align 8
\t.type ${name},@function
${name}:
s_load_dwordx2 s[4:5], s[0:1], 0x0
s_load_dword s6, s[0:1], 0x8
s_lshl_b32 s7, s2, 8
v_lshl_add_u32 v1, v0, 2, s7
s_waitcnt lgkmcnt(0)
${body}
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
\t.amdhsa_accum_offset 8
\t.end_amdhsa_kernel`,
  );
  const metadata = Object.entries(kernels).map(
    ([name, { lds = 0, most = 256 }]) => `  - .name: ${name}
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
      - { .name: out, .size: 8, .offset: 0, .value_kind: global_buffer }
      - { .name: value, .size: 4, .offset: 8, .value_kind: by_value }`,
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
