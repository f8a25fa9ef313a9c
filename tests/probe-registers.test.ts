// Probes in kernels that have no register left: what they borrow is given back, in every lane, and the counts stay exact.
import { describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, type SimDevice } from '../src/device/index.ts';
import { type Instrumented, instrument, type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/index.ts';
import { EVERY_COUNTER } from './support/every-point.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/**
 * A kernel with a loop in which 102 scalar registers, M0, SCC and 256 vector registers are live, in lanes that are off too; `spare` is
 * what is not: one vector register, or VCC, or nothing.
 */
function crowded(target: TargetName, agprs: number, spare: 'v253' | 'vcc' | 'none'): Uint8Array {
  const vectors = 256;
  const v = range(1, 252);
  const [t, data, low] = [255, 254, 252];
  const [usesVector, usesVcc] = [spare === 'v253' ? '' : undefined, spare === 'vcc' ? '' : undefined];
  return assembleAndLink(`
.amdgcn_target "amdgcn-amd-amdhsa--${target}"
.text
.globl crowded
.p2align 8
.type crowded,@function
crowded:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v${t}, 2, v0
  s_mov_b32 m0, 77
  ${range(6, 102)
    .map((n) => `s_mov_b32 s${n}, ${1000 + n * 7}`)
    .join('\n  ')}
  ${v.map((n) => `v_add_u32 v${n}, ${n}, v0`).join('\n  ')}
  ${range(0, agprs)
    .map((n) => `v_accvgpr_write_b32 a${n}, v${1 + (n % (vectors - 6))}`)
    .join('\n  ')}
  s_mov_b32 s0, 0
  v_mov_b32 v${data}, 5
  ${usesVector ?? 'v_mov_b32 v253, 17'}
  v_mov_b32 v${low}, 0
  s_mov_b32 s1, 12345
  s_mov_b64 s[2:3], exec
  s_mov_b32 vcc_lo, 0x5555
  s_mov_b32 vcc_hi, 0x33
  s_waitcnt lgkmcnt(0)
.Lloop:
  s_mov_b64 exec, 0xf0f0f0f0
  global_load_dword v${data}, v${t}, s[4:5]
  v_add_u32 v1, v1, v2
  s_waitcnt vmcnt(0)
  v_add_u32 v2, v${data}, v2
  ds_write_b32 v${t}, v2
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, s[2:3]
  v_add_u32 v3, v3, v2
  s_add_u32 s0, s0, 1
  s_cmp_lg_u32 s0, 3
  s_cbranch_scc1 .Lloop
  v_add_u32 v${low}, s1, v${low}
  v_add_u32 v${low}, s2, v${low}
  v_add_u32 v${low}, v${data}, v${low}
  ${usesVector ?? `v_add_u32 v${low}, v253, v${low}`}
  ${range(6, 102)
    .map((n) => `v_add_u32 v${low}, s${n}, v${low}`)
    .join('\n  ')}
  ${usesVcc ?? `v_add_u32 v${low}, vcc_lo, v${low}\n  v_add_u32 v${low}, vcc_hi, v${low}`}
  v_add_u32 v${low}, m0, v${low}
  ${v.map((n) => `v_xor_b32 v${low}, v${n}, v${low}`).join('\n  ')}
  ${range(0, agprs)
    .map((n) => `v_accvgpr_read_b32 v1, a${n}\n  v_add_u32 v${low}, v1, v${low}`)
    .join('\n  ')}
  global_store_dword v${t}, v${low}, s[4:5] offset:256
  s_endpgm
.Lend:
.size crowded, .Lend-crowded
.rodata
.p2align 6
.amdhsa_kernel crowded
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr ${vectors + agprs}
  .amdhsa_accum_offset ${vectors}
  .amdhsa_next_free_sgpr 102
  .amdhsa_group_segment_fixed_size 256
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: crowded
    .symbol: crowded.kd
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 108
    .vgpr_count: ${vectors + agprs}
    .agpr_count: ${agprs}
    .max_flat_workgroup_size: 64
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
`);
}

/** The probe's memory. */
function memoryOf(device: SimDevice, kernel: { readonly descriptorAddress: number }, result: Instrumented): Uint8Array {
  const { address, size } = result.memory;
  const symbol = result.codeObject.kernels[0]?.descriptorSymbol;
  const at = kernel.descriptorAddress - Number(symbol?.value) + address;
  const region = device.memory.find(at, size);
  return region?.bytes.slice(at - region.base, at - region.base + size) ?? new Uint8Array();
}

async function run(target: TargetName, code: Uint8Array, result?: Instrumented) {
  const device = await createDevice('sim', { target });
  const kernel = device.load(code).kernel('crowded');
  const buffer = device.alloc(512, 'data');
  device.write(buffer, new Uint8Array(Uint32Array.from(range(0, 128), (i) => i * 17 + 3).buffer));
  const done = await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer], strict: {} });
  const contents = device.read(buffer);
  const memory = result === undefined ? new Uint8Array() : memoryOf(device, kernel, result);
  device.close();
  return { contents, memory, done };
}

const targets: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];

describe.each(targets)('%s', (target) => {
  const codes = { v253: crowded(target, 8, 'v253'), vcc: crowded(target, 8, 'vcc') };
  const originals: Partial<Record<keyof typeof codes, ReturnType<typeof run>>> = {};
  const cases = Object.entries(TOOLS).flatMap(([name, tool]) =>
    (name.startsWith('mem-t') || name.startsWith('instr') ? (['v253', 'vcc'] as const) : (['vcc'] as const)).map(
      (spare) => ({ name, spare, tool: tool as unknown as ProbeDefinition }),
    ),
  );

  test.each(cases)(
    '$name borrows registers where only $spare is free, and gives them back',
    async ({ tool, spare }) => {
      const code = codes[spare];
      originals[spare] ??= run(target, code);
      const original = await originals[spare];
      expect(original.done.diagnostics).toEqual([]);
      const result = instrument(readCodeObject(code), tool);
      expect(result.rejected).toEqual([]);
      expect(result.findings).toEqual([]);
      const changed = await run(target, result.codeObject.bytes, result);
      expect(changed.contents).toEqual(original.contents);
      expect(changed.done.diagnostics).toEqual([]);
      if (tool.name === 'instr-count')
        expect(Number(result.report(changed.memory).instructions)).toBe(original.done.instructions);
    },
  );

  test('scratch is used when nothing may grow', async () => {
    const tool = TOOLS['instr-count'] as unknown as ProbeDefinition;
    const { rejected, costs } = instrument(readCodeObject(codes.vcc), tool, { growth: false });
    // Scratch takes their place.
    expect(rejected).toEqual([]);
    for (const { vgprs } of costs) expect(vgprs[1]).toBe(vgprs[0]);
  });
});

describe.each([
  ['gfx90a', [TOOLS['trace-export'], EVERY_COUNTER]],
  ['gfx942', [TOOLS['time-blocks'], TOOLS['kernel-args']]],
  ['gfx950', [EVERY_COUNTER, TOOLS['mem-trace']]],
] as const)('%s without a free register of any kind', (target, tools) => {
  const code = crowded(target, 256, 'none');
  let original: ReturnType<typeof run> | undefined;

  test.each((tools as unknown as ProbeDefinition[]).map((probe) => [probe.name, probe] as const))(
    '%s borrows by way of scratch',
    async (_, probe) => {
      original ??= run(target, code);
      const result = instrument(readCodeObject(code), probe);
      expect(result.rejected).toEqual([]);
      expect(result.findings).toEqual([]);
      expect(result.costs[0]?.scratch[1]).toBeGreaterThan(0);
      const changed = await run(target, result.codeObject.bytes, result);
      expect(changed.contents).toEqual((await original).contents);
      expect(changed.done.diagnostics).toEqual([]);
    },
  );
});

test.each(targets)('reg-values shows the result of a matrix instruction as a matrix on %s', async (target) => {
  const name = target === 'gfx90a' ? 'v_mfma_f32_16x16x4f32' : 'v_mfma_f32_16x16x4_f32';
  const code = assembleAndLink(`
.amdgcn_target "amdgcn-amd-amdhsa--${target}"
.text
.globl tile
.p2align 8
.type tile,@function
tile:
  v_cvt_f32_u32 v1, v0
  v_mov_b32 v2, 1.0
  s_nop 4
  ${name} v[4:7], v1, v2, 0
  s_endpgm
.Lend:
.size tile, .Lend-tile
.rodata
.p2align 6
.amdhsa_kernel tile
  .amdhsa_next_free_vgpr 8
  .amdhsa_accum_offset 8
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
`);
  const result = instrument(readCodeObject(code), TOOLS['reg-values'] as unknown as ProbeDefinition);
  expect(result.rejected).toEqual([]);
  const device = await createDevice('sim', { target });
  const kernel = device.load(result.codeObject.bytes).kernel('tile');
  const { diagnostics } = await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [], strict: {} });
  expect(diagnostics).toEqual([]);
  const { values } = result.report(memoryOf(device, kernel, result)) as { values: { tiles: number[][][] }[] };
  device.close();
  // A[i][k] is in lane i + 16 k, and B is ones.
  const row = (i: number): number[] => range(0, 16).map(() => 4 * i + 96);
  expect(values.map((one) => one.tiles)).toEqual([[range(0, 16).map(row)]]);
});
