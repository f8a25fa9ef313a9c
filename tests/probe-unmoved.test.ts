// A kernel whose code cannot be moved beside one that can: the first runs where it is, as it was, and is named with the reason.
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import { instrument, type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/types.ts';
import { liftCodeObject } from '../src/program/index.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;

/** What each kernel does with the pointer in s[0:1]: both store words that they compute. */
const BODIES = {
  // Reads a word in front of its own code, by the page that the code is in, and a table by its own distance.
  fixed: `  s_getpc_b64 s[4:5]
.Lpc:
  s_and_b32 s4, s4, 0xffffff00
  s_load_dword s6, s[4:5], 0x0
  s_getpc_b64 s[8:9]
.Lat:
  s_mov_b32 s12, .Lat-table
  s_sub_u32 s8, s8, s12
  s_subb_u32 s9, s9, 0
  s_load_dword s10, s[8:9], 0x0`,
  plain: `  s_mov_b32 s6, 0
.Lloop:
  s_add_u32 s6, s6, 3
  s_cmp_lt_u32 s6, 30
  s_cbranch_scc1 .Lloop
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, table@rel32@lo+4
  s_addc_u32 s9, s9, table@rel32@hi+12
  s_load_dword s10, s[8:9], 0x4`,
} as const;

function objectFor(target: TargetName): Uint8Array {
  const names = Object.keys(BODIES) as (keyof typeof BODIES)[];
  const code = names.map(
    (name) => `.globl ${name}
.p2align 8
.type ${name},@function
${name}:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
${BODIES[name]}
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v0, 0
  v_mov_b32_e32 v2, s6
  v_mov_b32_e32 v3, s10
  global_store_dwordx2 v0, v[2:3], s[2:3]
  s_endpgm
.L${name}:
.size ${name}, .L${name}-${name}`,
  );
  const descriptors = names.map(
    (name) => `.amdhsa_kernel ${name}
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 16
.amdhsa_accum_offset 8
.amdhsa_kernarg_size 8
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel`,
  );
  const metadata = names.map(
    (name) => `  - .name: ${name}
    .symbol: ${name}.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 22
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 64
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }`,
  );
  return assembleAndLink(`.amdgcn_target "amdgcn-amd-amdhsa--${target}"
.text
table:
  .long 0x1234567, 77
${code.join('\n')}
.rodata
${descriptors.join('\n')}
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--${target}
amdhsa.kernels:
${metadata.join('\n')}
...
.end_amdgpu_metadata
`);
}

async function run(target: TargetName, bytes: Uint8Array, name: string) {
  const device = await createDevice('sim', { target });
  const out = device.alloc(8, 'out');
  const module = device.load(bytes);
  const result = await device.dispatch({
    kernel: module.kernel(name),
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [out],
  });
  const words = new Uint32Array(device.read(out).slice().buffer);
  device.close();
  return { words: [...words], instructions: result.instructions };
}

test.each(TARGETS)('on %s the kernel that cannot be moved runs as it was beside one with a probe', async (target) => {
  const bytes = objectFor(target);
  const original = readCodeObject(bytes);
  for (const tool of ['instr-count', 'kernel-args', 'mem-trace'] as const) {
    const result = instrument(original, TOOLS[tool] as unknown as ProbeDefinition);
    expect(result.findings).toEqual([]);
    expect(new Set(result.rejected.map(({ kernel }) => kernel))).toEqual(new Set(['fixed']));
    expect(result.rejected[0]?.reason).toContain('cannot be followed');
    expect(result.costs.map(({ kernel }) => kernel)).toEqual(['plain']);
    const fixed = liftCodeObject(original, { kernels: new Set(['fixed']) });
    for (const { pc } of fixed.instructions) {
      expect(result.pcs.now(pc)).toBe(pc);
      expect(result.pcs.original(pc)).toEqual({ pc, isInserted: false });
    }
    const again = liftCodeObject(result.codeObject);
    expect(again.functions.map(({ name }) => name).sort()).toEqual(['fixed', 'plain']);
    for (const name of ['fixed', 'plain']) {
      const before = await run(target, bytes, name);
      const after = await run(target, result.codeObject.bytes, name);
      expect(after.words, `${tool}, ${name}`).toEqual(before.words);
      if (name === 'fixed') expect(after.instructions).toBe(before.instructions);
      else expect(after.instructions).toBeGreaterThan(before.instructions);
    }
  }
});

test('where every kernel must stay the file is as it was', () => {
  const bytes = objectFor('gfx942');
  const result = instrument(readCodeObject(bytes), TOOLS['instr-count'] as unknown as ProbeDefinition, {
    kernel: /^fixed$/,
  });
  expect(result.placed).toBe(0);
  expect(result.rejected.length).toBeGreaterThan(0);
  expect(Buffer.compare(result.codeObject.bytes, bytes)).toBe(0);
});
