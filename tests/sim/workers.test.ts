// Results do not depend on the number of threads, nor on the run: kernels compiled from C (examples, benchmarks) leave the same memory
// for one and two workers, again and again.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assembleAndLink } from '../../src/asm/index.ts';
import { fillElements } from '../../src/device/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { withFolder } from '../support/build.ts';
import { llvmTool } from '../support/llvm.ts';
import { workerHost } from '../support/sim-worker.ts';

const clang = llvmTool('clang-22');
const root = join(import.meta.dirname, '..', '..');
const u32 = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);
const f32 = (value: number): Uint8Array => new Uint8Array(Float32Array.of(value).buffer);

function compile(file: string): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, 'k.co');
    const flags = ['-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx942', '-nogpulib', '-O3'];
    const result = spawnSync(clang as string, [...flags, join(root, file), '-o', output], { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(result.stderr);
    return readFileSync(output);
  });
}

interface Case {
  readonly file: string;
  readonly kernel: string;
  readonly groups: readonly [number, number];
  readonly block: readonly [number, number];
  /** Scalars behind the two buffers. */
  readonly scalars: readonly Uint8Array[];
  /** A kernel whose atomics show the order of workgroups: it stays in one thread. */
  readonly ordered?: true;
}
const n = 256 * 2048;
const bench = { file: 'bench/sim-kernels.c', block: [256, 1], scalars: [] } as const;
const CASES: readonly Case[] = [
  { ...bench, kernel: 'valu_kernel', groups: [24, 1] },
  { ...bench, kernel: 'branch_kernel', groups: [24, 1] },
  { ...bench, kernel: 'copy_kernel', groups: [256, 1] },
  { ...bench, kernel: 'reduce_kernel', groups: [256, 1] },
  { file: 'examples/saxpy.c', kernel: 'saxpy', groups: [2048, 1], block: [256, 1], scalars: [f32(1.5), u32(n)] },
  {
    file: 'examples/transpose.c',
    kernel: 'transpose',
    groups: [32, 64],
    block: [16, 16],
    scalars: [u32(1024), u32(512)],
  },
  { file: 'examples/histogram.c', kernel: 'histogram', groups: [1024, 1], block: [256, 1], scalars: [u32(n)] },
  {
    file: 'examples/reduction.c',
    kernel: 'reduce',
    groups: [512, 1],
    block: [256, 1],
    scalars: [u32(n)],
    ordered: true,
  },
];

test.skipIf(clang === undefined).each(CASES)('$kernel', async ({ file, kernel, groups, block, scalars, ordered }) => {
  const object = compile(file);
  const workers = { ...(await workerHost()), startMs: -1000 };
  const runs = [];
  for (const count of [1, 2, 2, 1]) {
    const device = new SimDevice('gfx942', { workerHost: workers });
    const buffers = [0, 1].map((k) => {
      const buffer = device.alloc(256 * 65536, `buffer ${k}`);
      device.write(buffer, fillElements('f32', n, { kind: 'random', seed: k + 1 }));
      return buffer;
    });
    const request = { grid: [...groups, 1], block: [...block, 1], args: [...buffers, ...scalars] } as const;
    const result = await device.dispatch({
      kernel: device.load(object).kernel(kernel),
      ...request,
      workers: count,
    });
    const threads = (device as unknown as { crew: { size: number } }).crew.size;
    if (ordered) expect(threads).toBe(0);
    runs.push({ result, memory: buffers.map((b) => Buffer.from(device.read(b)).toString('base64')), threads });
    device.close();
  }
  const [first, second, third, fourth] = runs;
  expect([first?.threads, fourth?.threads]).toEqual([0, 0]);
  for (const other of [second, third, fourth]) {
    expect(other?.result).toEqual(first?.result);
    expect(other?.memory.every((bytes, k) => bytes === first?.memory[k])).toBe(true);
  }
  // The dispatch was long enough for the second thread to take part.
  if (!ordered) expect([second?.threads, third?.threads]).toEqual([1, 1]);
});

const SCRATCH = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl straddle
.p2align 8
.type straddle,@function
straddle:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_lshl_add_u32 v1, s2, 6, v0
	v_lshlrev_b32_e32 v2, 2, v1
	v_mov_b32_e32 v3, 0x01020304
	s_movk_i32 s6, 0x200
.Lagain:
	scratch_store_dword off, v1, off
	scratch_store_dword off, v3, off offset:4
	s_waitcnt vmcnt(0)
	scratch_load_dword v4, off, off offset:2
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v3, v3, v4
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lagain
	s_waitcnt lgkmcnt(0)
	global_store_dword v2, v3, s[4:5]
	s_endpgm
.rodata
.p2align 6
.amdhsa_kernel straddle
	.amdhsa_private_segment_fixed_size 8
	.amdhsa_enable_private_segment 1
	.amdhsa_kernarg_size 8
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_next_free_vgpr 8
	.amdhsa_next_free_sgpr 16
	.amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: straddle
    .symbol: straddle.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]
...
.end_amdgpu_metadata
`;

test('scratch that straddles dwords, which the interpreter reads, is known to every thread', async () => {
  const workers = { ...(await workerHost()), startMs: -1000 };
  const object = assembleAndLink(SCRATCH);
  const results = [];
  for (const count of [1, 2]) {
    const device = new SimDevice('gfx942', { workerHost: workers });
    const buffer = device.alloc(4 * 64 * 64, 'out');
    const kernel = device.load(object).kernel('straddle');
    await device.dispatch({ kernel, grid: [64, 1, 1], block: [64, 1, 1], args: [buffer], workers: count });
    const threads = (device as unknown as { crew: { size: number } }).crew.size;
    expect(threads).toBe(count - 1);
    results.push(Buffer.from(device.read(buffer)).toString('base64'));
    device.close();
  }
  expect(results[1]).toBe(results[0]);
});
