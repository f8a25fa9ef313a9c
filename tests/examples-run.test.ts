// The kernels of examples/*.c, compiled by clang for every target and optimisation level, against plain JavaScript.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createDevice,
  type DeviceBuffer,
  fillElements,
  type SimDevice,
  type SimDispatchRequest,
} from '../src/device/index.ts';
import type { TargetName } from '../src/isa/types.ts';
import { withFolder } from './support/build.ts';
import { llvmTool } from './support/llvm.ts';

const clang = llvmTool('clang-22');
const examples = join(import.meta.dirname, '..', 'examples');

/** Compiles as the comment at the head of each example says. */
function compile(name: string, target: string, level: number): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, `${name}.co`);
    const flags = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', `-O${level}`];
    const result = spawnSync(clang as string, [...flags, join(examples, `${name}.c`), '-o', output], {
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(result.stderr);
    return readFileSync(output);
  });
}

const bytesOf = (array: Float32Array | Uint32Array): Uint8Array => new Uint8Array(array.buffer);
const u32 = (value: number): Uint8Array => bytesOf(Uint32Array.of(value));
const f32 = (value: number): Uint8Array => bytesOf(Float32Array.of(value));

function upload(device: SimDevice, bytes: Uint8Array, label: string): DeviceBuffer {
  const buffer = device.alloc(bytes.length, label);
  device.write(buffer, bytes);
  return buffer;
}

/** Runs in strict mode, which has nothing to say about an example. */
async function dispatchCleanly(device: SimDevice, request: SimDispatchRequest): Promise<void> {
  const { diagnostics } = await device.dispatch({ ...request, strict: {} });
  expect(diagnostics).toEqual([]);
}

const randomFloats = (count: number, seed: number): Float32Array =>
  new Float32Array(fillElements('f32', count, { kind: 'random', seed }).buffer);

const builds = (['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) =>
  [0, 1, 2, 3].map((level) => [target, level] as [TargetName, number]),
);

describe.skipIf(clang === undefined).each(builds)('%s at -O%i', (target, level) => {
  test('saxpy', async () => {
    const device = await createDevice('sim', { target });
    const n = 1000;
    const x = randomFloats(n, 1);
    const y = randomFloats(n, 2);
    const to = upload(device, bytesOf(y), 'y');
    const args = [to, upload(device, bytesOf(x), 'x'), f32(2.5), u32(n)];
    const kernel = device.load(compile('saxpy', target, level)).kernel('saxpy');
    await dispatchCleanly(device, { kernel, grid: [4, 1, 1], block: [256, 1, 1], args });
    const got = new Float32Array(device.read(to).buffer);
    // The compiler may fuse: both roundings are right.
    const wrong = Array.from(got.keys()).filter((i) => {
      const product = 2.5 * (x[i] as number);
      const fused = Math.fround(product + (y[i] as number));
      const separate = Math.fround(Math.fround(product) + (y[i] as number));
      return got[i] !== fused && got[i] !== separate;
    });
    expect(wrong).toEqual([]);
  });

  test('reduction', async () => {
    const device = await createDevice('sim', { target });
    // Small integers: every order of additions is exact.
    const x = Float32Array.from({ length: 5000 }, (_, i) => (i % 17) - 3);
    const total = upload(device, f32(0), 'total');
    const args = [total, upload(device, bytesOf(x), 'x'), u32(x.length)];
    const kernel = device.load(compile('reduction', target, level)).kernel('reduce');
    await dispatchCleanly(device, { kernel, grid: [4, 1, 1], block: [256, 1, 1], args });
    expect(new Float32Array(device.read(total).buffer)[0]).toBe(x.reduce((a, b) => a + b));
  });

  test('transpose', async () => {
    const device = await createDevice('sim', { target });
    const [rows, columns] = [50, 37];
    const x = Uint32Array.from({ length: rows * columns }, (_, i) => i * 7 + 1);
    const to = device.alloc(x.byteLength, 'out');
    const args = [to, upload(device, bytesOf(x), 'in'), u32(rows), u32(columns)];
    const kernel = device.load(compile('transpose', target, level)).kernel('transpose');
    await dispatchCleanly(device, { kernel, grid: [3, 4, 1], block: [16, 16, 1], args });
    const got = new Uint32Array(device.read(to).buffer);
    expect([...got]).toEqual(Array.from(got.keys(), (i) => x[(i % rows) * columns + Math.floor(i / rows)]));
  });

  test('histogram', async () => {
    const device = await createDevice('sim', { target });
    const data = Uint8Array.from({ length: 4097 }, (_, i) => (i * i * 31 + i) & 255);
    const bins = upload(device, new Uint8Array(1024), 'bins');
    const args = [bins, upload(device, data, 'data'), u32(data.length)];
    const kernel = device.load(compile('histogram', target, level)).kernel('histogram');
    await dispatchCleanly(device, { kernel, grid: [4, 1, 1], block: [128, 1, 1], args });
    const expected = new Uint32Array(256);
    for (const byte of data) expected[byte] = (expected[byte] as number) + 1;
    expect([...new Uint32Array(device.read(bins).buffer)]).toEqual([...expected]);
  });
});
