// The kernel ABI on compiled kernels, and what a wrong kernel or a wrong launch reports.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WavesmithError } from '../../src/base/index.ts';
import { createDevice, type Device, type DeviceBuffer, type DeviceModule, type Dim3 } from '../../src/device/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { withFolder } from '../support/build.ts';
import { llvmTool } from '../support/llvm.ts';

const clang = llvmTool('clang-22');
const source = join(import.meta.dirname, 'abi.c');

function compile(target: string, level: number): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, 'abi.co');
    const flags = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', `-O${level}`];
    const result = spawnSync(clang as string, [...flags, source, '-o', output], { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(result.stderr);
    return readFileSync(output);
  });
}

interface Loaded {
  readonly device: Device;
  readonly module: DeviceModule;
}
async function load(target: TargetName, level: number): Promise<Loaded> {
  const device = await createDevice('sim', { target });
  return { device, module: device.load(compile(target, level)) };
}
const words = (device: Device, buffer: DeviceBuffer): number[] => [...new Uint32Array(device.read(buffer).buffer)];
const u32 = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);

async function failure(run: Promise<unknown>): Promise<WavesmithError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof WavesmithError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

const builds = (['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) =>
  [0, 2].map((level) => [target, level] as [TargetName, number]),
);

describe.skipIf(clang === undefined).each(builds)('%s at -O%i', (target, level) => {
  test('ids, sizes and partial workgroups', async () => {
    const { device, module } = await load(target, level);
    const [width, height, depth] = [70, 5, 2];
    const out = device.alloc(32 * width * height * depth, 'out');
    await device.dispatch({
      kernel: module.kernel('ids'),
      grid: [3, 2, 2],
      block: [32, 4, 1],
      gridWorkItems: [width, height, depth],
      args: [out, u32(width), u32(height)],
    });
    const got = words(device, out);
    const wrong = Array.from({ length: width * height * depth }, (_, i) => i).filter((i) => {
      const [x, y, z] = [i % width, Math.floor(i / width) % height, Math.floor(i / (width * height))];
      // The last workgroups are partial (6 of 32 columns, 1 of 4 rows) but the enqueued size is reported.
      const expected = [x, y, z, 32, 4, width, height, 1];
      return expected.some((value, n) => got[8 * i + n] !== value);
    });
    expect(wrong).toEqual([]);
  });

  test('scratch and calls', async () => {
    const { device, module } = await load(target, level);
    const data = Uint32Array.from({ length: 128 }, (_, i) => (i * 7) % 31);
    const from = device.alloc(data.byteLength, 'in');
    const out = device.alloc(data.byteLength, 'out');
    device.write(from, new Uint8Array(data.buffer));
    await device.dispatch({ kernel: module.kernel('scratch'), grid: [2, 1, 1], block: [64, 1, 1], args: [out, from] });
    const expected = Array.from(data, (value, i) => (((value & 15) - i) & 15) * 10 + value + 1);
    expect(words(device, out)).toEqual(expected);
  });

  test('recursion', async () => {
    const { device, module } = await load(target, level);
    const out = device.alloc(256, 'out');
    await device.dispatch({ kernel: module.kernel('recursion'), grid: [1, 1, 1], block: [64, 1, 1], args: [out] });
    expect(words(device, out).slice(0, 8)).toEqual([0, 1, 1, 2, 3, 5, 8, 13]);
  });

  test('barriers between waves and LDS through a generic pointer', async () => {
    const { device, module } = await load(target, level);
    const out = device.alloc(1024, 'out');
    await device.dispatch({ kernel: module.kernel('exchange'), grid: [1, 1, 1], block: [256, 1, 1], args: [out] });
    expect(words(device, out)).toEqual(Array.from({ length: 256 }, (_, i) => (255 - i) ** 2));
  });
});

describe.skipIf(clang === undefined)('failures', () => {
  const one: Dim3 = [1, 1, 1];
  const wave: Dim3 = [64, 1, 1];

  test('an endless loop ends with the budget', async () => {
    const { device, module } = await load('gfx942', 2);
    const args = [device.alloc(64)];
    const error = await failure(
      device.dispatch({ kernel: module.kernel('forever'), grid: one, block: wave, args, maxInstructions: 50_000 }),
    );
    expect(error.code).toBe('sim/budget');
    expect(error.message).toMatch(
      /kernel 'forever' was stopped after \d+ instructions; workgroup 0,0,0, wave 0, at '/i,
    );
  });
  test('a trap is reported', async () => {
    const { device, module } = await load('gfx942', 2);
    const args = [device.alloc(64)];
    const error = await failure(device.dispatch({ kernel: module.kernel('trap'), grid: one, block: wave, args }));
    expect(error.code).toBe('sim/trap');
    expect(error.message).toContain('s_trap 2');
    expect(error.position.pc).toBeGreaterThan(0);
  });
  test('a store past a buffer names everything', async () => {
    const { device, module } = await load('gfx942', 2);
    const out = device.alloc(32 * 32, 'out');
    const args = [out, u32(70), u32(1)];
    const error = await failure(
      device.dispatch({ kernel: module.kernel('ids'), grid: [2, 1, 1], block: [32, 1, 1], args }),
    );
    expect(error.code).toBe('sim/memory-fault');
    expect(error.message).toMatch(
      /store of 4 bytes at 0x[0-9a-f]+ by lane 0 .*nearest allocation is 'out' \(1024 bytes .*at its edge.*kernel 'ids', workgroup 1,0,0, wave 0, at 'global_store_dword/,
    );
  });
  test.each([
    ['device/bad-grid', { grid: [0, 1, 1] as Dim3 }],
    ['device/bad-block', { block: [2048, 1, 1] as Dim3 }],
    ['device/arguments', { args: [] }],
    ['device/arguments', { args: [u32(1), u32(2), u32(3)] }],
    ['device/lds-too-large', { dynamicLds: 1 << 20 }],
    ['device/bad-grid', { gridWorkItems: [65, 1, 1] as Dim3 }],
  ])('a wrong launch is %s', async (code, change) => {
    const { device, module } = await load('gfx942', 2);
    const args = [device.alloc(64), u32(0), u32(0)];
    const request = { kernel: module.kernel('ids'), grid: one, block: wave, args, ...change };
    expect((await failure(device.dispatch(request))).code).toBe(code);
  });
  test('a kernel that does not exist and a code object for another target', async () => {
    const { module } = await load('gfx942', 2);
    expect(() => module.kernel('nothing')).toThrow(/no kernel 'nothing'/);
    const other = await createDevice('sim', { target: 'gfx90a' });
    expect(() => other.load(compile('gfx942', 2))).toThrow(/is for gfx942, the device is gfx90a/);
  });
});
