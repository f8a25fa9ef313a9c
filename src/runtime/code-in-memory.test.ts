import { expect, test } from 'vitest';
import { assembleAndLink } from '../asm/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { fillImage, imageSize } from '../device/image.ts';
import { SimDevice } from '../device/index.ts';
import { CodeInMemory } from './code-in-memory.ts';

const SOURCE = (value: number): string => `
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v1, ${value}
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[0:1]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 2
  .amdhsa_accum_offset 4
  .amdhsa_kernarg_size 8
.end_amdhsa_kernel
`;
const BASE = 0x4100_0000_0000;

test('a kernel runs from memory that is executable, and from nowhere else', async () => {
  const device = new SimDevice('gfx942');
  const place = (value: number): { size: number; descriptor: number } => {
    const object = readCodeObject(assembleAndLink(SOURCE(value), { target: 'gfx942' }));
    const image = new Uint8Array(imageSize(object.elf));
    fillImage(object.elf, BASE, image);
    device.write(buffer, image);
    return { size: image.length, descriptor: BASE + Number(object.kernels[0]?.descriptorSymbol?.value) };
  };
  const buffer = device.allocAt(BASE, 16384, 'code');
  const out = device.alloc(4);
  const code = new CodeInMemory();
  const run = async (descriptor: number): Promise<number | undefined> => {
    const kernel = code.kernelAt(device, descriptor);
    if (kernel === undefined) return undefined;
    const kernargs = new Uint8Array(BigUint64Array.of(BigInt(out.address)).buffer);
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], kernargs });
    return device.read(out)[0];
  };
  const { size, descriptor } = place(7);
  expect(await run(descriptor)).toBeUndefined();
  code.allow(BASE, size, true);
  expect(await run(descriptor)).toBe(7);
  expect(code.kernelAt(device, descriptor)).toBe(code.kernelAt(device, descriptor));
  // New instructions at the same address are the ones that run.
  place(9);
  expect(await run(descriptor)).toBe(9);
  expect(code.kernelAt(device, BASE + 2 ** 30)).toBeUndefined();
  code.allow(BASE + 4096, size, false);
  expect(await run(descriptor)).toBeUndefined();
  code.allow(BASE, size, true);
  expect(await run(descriptor)).toBe(9);
  device.free(buffer);
  expect(await run(descriptor)).toBeUndefined();
  device.close();
});
