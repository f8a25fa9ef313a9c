; y[i] = a * x[i] + y[i]: one work-item an element. Runs on gfx90a, gfx942 and gfx950.
.text
.globl saxpy
.p2align 8
.type saxpy,@function
saxpy:
  ; s[0:1] kernel arguments, s2 workgroup id, v0 work-item id
  s_load_dwordx4 s[4:7], s[0:1], 0x0      ; y, x
  s_load_dwordx2 s[8:9], s[0:1], 0x10     ; a, n
  s_lshl_b32 s2, s2, 8                    ; 256 work-items a workgroup
  v_and_b32_e32 v0, 0x3ff, v0
  v_add_u32_e32 v0, s2, v0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32_e32 vcc, s9, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz done
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_fmac_f32_e32 v3, s8, v2
  global_store_dword v1, v3, s[4:5]
done:
  s_endpgm
.Lend:
.size saxpy, .Lend-saxpy

.rodata
.p2align 6
.amdhsa_kernel saxpy
  .amdhsa_kernarg_size 24
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 4
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: saxpy
    .symbol: saxpy.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .name: y }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global, .name: x }
      - { .size: 4, .offset: 16, .value_kind: by_value, .name: a }
      - { .size: 4, .offset: 20, .value_kind: by_value, .name: n }
...
.end_amdgpu_metadata
