// Probes in kernels that have no register left: what they borrow is given back, in every lane, and the counts stay exact.
import { describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { descriptorRegisters, type KernelDescriptor, readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, type SimDevice } from '../src/device/index.ts';
import {
  defineProbe,
  type Instrumented,
  instrument,
  type ProbeDefinition,
  TOOLS,
  u64,
} from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/index.ts';
import { liftCodeObject, Slot } from '../src/program/index.ts';
import { EVERY_COUNTER, EVERY_RECORD } from './support/every-point.ts';
import { kernelObject } from './support/kernel-source.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** Scalar registers that a crowded kernel fills besides the first six. */
const ALL_SCALARS = range(6, 102);

/**
 * A kernel with a loop in which 102 scalar registers (or the first six and `scalars`), M0, SCC and 256 vector registers are live, in lanes that are off too; `spare` is
 * what is not: one vector register, or VCC, or nothing. `more` stands at its end, where most hold nothing.
 */
function crowded(
  target: TargetName,
  agprs: number,
  spare: 'v253' | 'vcc' | 'none',
  scalars: readonly number[] = ALL_SCALARS,
  more = '',
): Uint8Array {
  const sgprs = Math.max(...scalars) + 1;
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
  ${scalars.map((n) => `s_mov_b32 s${n}, ${1000 + n * 7}`).join('\n  ')}
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
  ${scalars.map((n) => `v_add_u32 v${low}, s${n}, v${low}`).join('\n  ')}
  ${usesVcc ?? `v_add_u32 v${low}, vcc_lo, v${low}\n  v_add_u32 v${low}, vcc_hi, v${low}`}
  v_add_u32 v${low}, m0, v${low}
  ${v.map((n) => `v_xor_b32 v${low}, v${n}, v${low}`).join('\n  ')}
  ${range(0, agprs)
    .map((n) => `v_accvgpr_read_b32 v1, a${n}\n  v_add_u32 v${low}, v1, v${low}`)
    .join('\n  ')}
  ${more}
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
  .amdhsa_next_free_sgpr ${sgprs}
  ${target === 'gfx90a' ? '.amdhsa_reserve_flat_scratch 0' : ''}
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
    .sgpr_count: ${sgprs + 6}
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
    const { rejected, costs, codeObject } = instrument(readCodeObject(codes.vcc), tool, { growth: false });
    // Scratch takes their place.
    expect(rejected).toEqual([]);
    for (const { vgprs } of costs) expect(vgprs[1]).toBe(vgprs[0]);
    const changed = await run(target, codeObject.bytes);
    expect(changed.contents).toEqual((await run(target, codes.vcc)).contents);
    expect(changed.done.diagnostics).toEqual([]);
  });
});

/** Places in a crowded kernel where every scalar register, VCC among them, holds something: the loop, and what stands before it. */
function fullPlaces(code: Uint8Array): { pc: number; side: 'before' | 'after' }[] {
  const { instructions } = liftCodeObject(readCodeObject(code));
  const from = instructions.findIndex(({ effects }) => effects.defs.some(({ first }) => first === Slot.VCC));
  const to = instructions.findIndex(({ instruction }) => instruction.row.operation === 's_cbranch_scc1');
  return instructions
    .slice(from, to + 1)
    .flatMap(({ pc }) => [{ pc, side: 'before' } as const, { pc, side: 'after' } as const])
    .slice(1);
}

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
      // On gfx90a the address of scratch is in a scalar register.
      const isFull = target === 'gfx90a' && probe.name === EVERY_COUNTER.name;
      const full = isFull ? fullPlaces(code) : [];
      expect(full).toHaveLength(isFull ? 29 : 0);
      expect(result.rejected.map(({ pc, reason }) => ({ pc, reason }))).toEqual(
        full.map(({ pc }) => ({ pc, reason: 'no scalar register is free for the address of scratch' })),
      );
      expect(result.findings).toEqual([]);
      expect(result.costs[0]?.scratch[1]).toBeGreaterThan(0);
      const changed = await run(target, result.codeObject.bytes, result);
      expect(changed.contents).toEqual((await original).contents);
      expect(changed.done.diagnostics).toEqual([]);
    },
  );
});

test.each(targets)('vector registers behind the accumulation offset stay the kernel’s on %s', async (target) => {
  // Sixteen vector registers of an allocation of 24 whose accumulation registers would start at v8.
  const own = range(2, 16);
  const code = kernelObject({
    name: 'crowded',
    target,
    code: `s_load_dwordx2 s[4:5], s[0:1], 0x0
      v_lshlrev_b32 v1, 2, v0
      ${own.map((n) => `v_add_u32 v${n}, ${n}, v0`).join('\n')}
      ${own
        .slice(1)
        .map((n) => `v_xor_b32 v${n}, v${n - 1}, v${n}\nv_add_u32 v2, v${n}, v2`)
        .join('\n')}
      s_waitcnt lgkmcnt(0)
      global_store_dword v1, v2, s[4:5]`,
    descriptor: { next_free_vgpr: 24 },
    metadata: { '.vgpr_count': 24 },
  });
  const original = await run(target, code.bytes);
  for (const growth of [false, true]) {
    const result = instrument(code, EVERY_RECORD as unknown as ProbeDefinition, { growth });
    expect(result.rejected).toEqual([]);
    expect(result.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    const [kernel] = result.codeObject.kernels;
    const { vgprs, totalVgprs } = descriptorRegisters(kernel?.descriptor as KernelDescriptor);
    expect(vgprs).toBeGreaterThanOrEqual(16);
    if (!growth) expect(totalVgprs).toBe(24);
    const changed = await run(target, result.codeObject.bytes, result);
    expect(changed.contents).toEqual(original.contents);
  }
});

test('FLAT_SCRATCH is allocated behind the scalar registers of a gfx90a kernel that had none', async () => {
  // With VCC and XNACK_MASK its 44 scalar registers fill three granules; some below are free.
  const code = crowded('gfx90a', 256, 'none', [...range(6, 20), ...range(32, 44)]);
  const original = readCodeObject(code);
  const sgprs = ({ kernels: [kernel] }: typeof original): number =>
    descriptorRegisters(kernel?.descriptor as KernelDescriptor).sgprs;
  expect(sgprs(original)).toBe(48);
  const tool = TOOLS['instr-count'] as unknown as ProbeDefinition;
  const result = instrument(original, tool);
  expect(result.rejected).toEqual([]);
  expect(result.costs[0]?.scratch[1]).toBeGreaterThan(0);
  expect(sgprs(result.codeObject)).toBe(64);
  const [before, after] = [await run('gfx90a', code), await run('gfx90a', result.codeObject.bytes, result)];
  expect(after.contents).toEqual(before.contents);
  expect(after.done.diagnostics).toEqual([]);
  expect(Number(result.report(after.memory).instructions)).toBe(before.done.instructions);
  expect(instrument(original, tool, { growth: false }).costs[0]?.scratch[1] ?? 0).toBe(0);
});

test('the address of scratch waits for what wrote its register right in front', async () => {
  const more = [0, 1, 2, 3, 6, 7].map((n) => `v_readfirstlane_b32 s${n}, v${n + 1}`);
  const code = crowded('gfx90a', 256, 'none', ALL_SCALARS, more.join('\n  '));
  const probe = defineProbe({
    name: 'workgroups',
    summary: 'adds up what a wave knows from its start, behind every v_readfirstlane_b32',
    state: { total: u64() },
    instrument({ program, at }) {
      for (const one of program.instructions())
        if (one.operation === 'v_readfirstlane_b32')
          at.after(one, (p) => p.atomicAdd('total', p.add(p.workgroupId.x, 1)));
    },
    report: ({ state }) => ({ total: state.total.value }),
  }) as unknown as ProbeDefinition;
  const result = instrument(readCodeObject(code), probe, { growth: false });
  expect([...result.findings, ...result.rejected]).toEqual([]);
  expect(result.costs[0]?.scratch[1]).toBeGreaterThan(0);
  const after = await run('gfx90a', result.codeObject.bytes, result);
  expect(after.contents).toEqual((await run('gfx90a', code)).contents);
  expect(after.done.diagnostics).toEqual([]);
  expect(result.report(after.memory).total).toBe(6n);
});

test.each(targets)(
  'a kernel that calls by pointer reads its own registers beside a smaller kernel on %s',
  async (target) => {
    const descriptor = (name: string, vgprs: number): string => `
.p2align 6
.amdhsa_kernel ${name}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr ${vgprs}
  .amdhsa_accum_offset ${vgprs}
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel`;
    const code = readCodeObject(
      assembleAndLink(`
.amdgcn_target "amdgcn-amd-amdhsa--${target}"
.text
.hidden helper
.type helper,@function
helper:
  v_add_u32 v8, 5, v8
  s_setpc_b64 s[30:31]
.Lhelper:
.size helper, .Lhelper-helper
.globl small
.p2align 8
.type small,@function
small:
  v_mov_b32 v1, 1
  v_add_u32 v1, v0, v1
  s_endpgm
.Lsmall:
.size small, .Lsmall-small
.globl caller
.p2align 8
.type caller,@function
caller:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, pointers@rel32@lo+4
  s_addc_u32 s7, s7, pointers@rel32@hi+12
  s_load_dwordx2 s[8:9], s[6:7], 0x0
  v_mov_b32 v8, 37
  v_lshlrev_b32 v9, 2, v0
  s_waitcnt lgkmcnt(0)
  s_swappc_b64 s[30:31], s[8:9]
  global_store_dword v9, v8, s[4:5]
  s_endpgm
.Lcaller:
.size caller, .Lcaller-caller
.data
.p2align 3
pointers:
  .quad helper
.rodata${descriptor('small', 4)}${descriptor('caller', 16)}
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
${[
  ['small', 4, ''],
  [
    'caller',
    16,
    `
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}`,
  ],
]
  .map(
    ([name, vgprs, args]) => `  - .name: ${name}
    .symbol: ${name}.kd
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 46
    .vgpr_count: ${vgprs}
    .max_flat_workgroup_size: 64${args}`,
  )
  .join('\n')}
...
.end_amdgpu_metadata
`),
    );
    const probe = defineProbe({
      name: 'reads-v8',
      summary: 'adds up v8 where it is stored',
      state: { total: u64() },
      instrument({ program, at }) {
        for (const one of program.instructions())
          if (/^(global_store|s_setpc)/.test(one.text)) at.before(one, (p) => p.atomicAdd('total', p.readReg('v8')));
      },
      report: ({ state }) => ({ total: state.total.value }),
    }) as unknown as ProbeDefinition;
    const result = instrument(code, probe);
    // The other kernel may call the function.
    expect(result.rejected.map(({ kernel, reason }) => ({ kernel, reason }))).toEqual([
      { kernel: 'helper', reason: 'the kernel has no register v8' },
    ]);
    expect(result.findings).toEqual([]);
    const device = await createDevice('sim', { target });
    const kernel = device.load(result.codeObject.bytes).kernel('caller');
    const buffer = device.alloc(256);
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer], strict: {} });
    const symbol = result.codeObject.kernels.find(({ name }) => name === 'caller')?.descriptorSymbol;
    const at = kernel.descriptorAddress - Number(symbol?.value) + result.memory.address;
    const region = device.memory.find(at, result.memory.size);
    const from = at - (region?.base ?? 0);
    const { total } = result.report(region?.bytes.slice(from, from + result.memory.size) ?? new Uint8Array());
    expect(new Uint32Array(device.read(buffer).slice().buffer)).toEqual(new Uint32Array(64).fill(42));
    device.close();
    expect(total).toBe(42n * 64n);
  },
);

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
