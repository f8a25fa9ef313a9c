// Results do not depend on the number of threads, nor on the run: kernels compiled from C (examples, benchmarks) leave the same memory
// for one and two workers, again and again.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
