// The library in one page: assemble a kernel, run it on the virtual GPU, read the result. `node scripts/run-ts.mjs examples/library.ts`
// In another project the imports are 'wavesmith/asm' and 'wavesmith/device'.
import { assembleAndLink } from '../src/asm/index.ts';
import { createDevice } from '../src/device/index.ts';
import type { TargetName } from '../src/isa/index.ts';

/** out[i] = in[i]² for `count` floats; a workgroup has 256 work-items. */
const KERNEL = `
.text
.globl square
.p2align 8
.type square,@function
square:
  s_load_dwordx4 s[4:7], s[0:1], 0x0     // out, in
  s_load_dword s8, s[0:1], 0x10          // count
  s_lshl_b32 s2, s2, 8
  v_add_u32_e32 v0, s2, v0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32_e32 vcc, s8, v0
  s_and_b64 exec, exec, vcc
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_mul_f32_e32 v2, v2, v2
  global_store_dword v1, v2, s[4:5]
  s_endpgm
.Lend:
.size square, .Lend-square
.rodata
.p2align 6
.amdhsa_kernel square
  .amdhsa_kernarg_size 20
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 3
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: square
    .symbol: square.kd
    .kernarg_segment_size: 20
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .name: out }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global, .name: in }
      - { .size: 4, .offset: 16, .value_kind: by_value, .name: count }
...
.end_amdgpu_metadata
`;

/** Squares numbers on the virtual GPU. */
export async function square(values: Float32Array, target: TargetName = 'gfx942'): Promise<Float32Array> {
  const device = await createDevice('sim', { target });
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const input = device.alloc(bytes.length, 'in');
  const output = device.alloc(bytes.length, 'out');
  device.write(input, bytes);

  const module = device.load(assembleAndLink(KERNEL, { target }));
  const count = new Uint8Array(Uint32Array.of(values.length).buffer);
  await device.dispatch({
    kernel: module.kernel('square'),
    grid: [Math.ceil(values.length / 256), 1, 1],
    block: [256, 1, 1],
    args: [output, input, count],
  });

  const result = new Float32Array(device.read(output).buffer);
  device.close();
  return result;
}

if (process.argv[1]?.endsWith('library.ts')) {
  const numbers = Float32Array.from({ length: 8 }, (_, i) => i + 0.5);
  console.log(`${numbers.join(' ')}\nsquared: ${(await square(numbers)).join(' ')}`);
}
