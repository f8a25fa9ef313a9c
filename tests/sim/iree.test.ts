// Kernels of the real IREE compiler on the virtual GPU, against matrix products, softmax and convolution computed in JavaScript.
// The f16 matmul comes from the checked-in module; the others are compiled where IREE is installed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeObjectsOf, openContainer, readDispatches, readVmfb } from '../../src/codeobject/index.ts';
import { createDevice, fillElements, getElement } from '../../src/device/index.ts';
import { ireeCompile } from '../hijack-support.ts';
import { withFolder } from '../support/build.ts';

const root = join(import.meta.dirname, '..', '..');
const iree = ireeCompile();

interface Input {
  readonly bytes: Uint8Array;
  readonly values: Float64Array;
}
function random(type: 'f16' | 'f32', count: number, seed: number): Input {
  const bytes = fillElements(type, count, { kind: 'random', seed });
  const view = new DataView(bytes.buffer);
  return { bytes, values: Float64Array.from({ length: count }, (_, i) => Number(getElement(view, type, i))) };
}
const at = (a: Float64Array, i: number): number => a[i] as number;

/** Runs the one dispatch of a module with these inputs; the output is the last binding, as f32. */
async function runModule(module: Uint8Array, inputs: readonly Input[], outputs: number): Promise<Float32Array> {
  const codeObject = codeObjectsOf(openContainer(module, 'module'))[0];
  const grid = readDispatches(readVmfb(module))[0]?.workgroupCount;
  if (codeObject === undefined || grid === undefined || grid.includes(null)) throw new Error('no static dispatch');
  const device = await createDevice('sim', { target: 'gfx942' });
  const kernel = device.load(codeObject.bytes).kernels[0];
  if (kernel?.requiredWorkgroupSize === undefined) throw new Error('the kernel has no workgroup size');
  const buffers = inputs.map((input, i) => {
    const buffer = device.alloc(input.bytes.length, `input ${i}`);
    device.write(buffer, input.bytes);
    return buffer;
  });
  const output = device.alloc(4 * outputs, 'output');
  // Anything the kernel does not write stays a NaN.
  device.write(output, new Uint8Array(4 * outputs).fill(0xff));
  const kernargs = new Uint8Array(8 * (buffers.length + 1));
  const view = new DataView(kernargs.buffer);
  for (const [i, buffer] of [...buffers, output].entries()) view.setBigUint64(8 * i, BigInt(buffer.address), true);
  await device.dispatch({
    kernel,
    grid: grid as [number, number, number],
    block: kernel.requiredWorkgroupSize,
    kernargs,
  });
  return new Float32Array(device.read(output).buffer);
}

/** Largest distance to the reference; NaN when an element was not written. */
function distance(got: Float32Array, expected: Float64Array): number {
  return got.reduce(
    (worst, x, i) => (Number.isNaN(x) ? Number.NaN : Math.max(worst, Math.abs(x - at(expected, i)))),
    0,
  );
}

function matmul(a: Input, b: Input, m: number, n: number, k: number): Float64Array {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let x = 0; x < k; x++) sum += at(a.values, i * k + x) * at(b.values, x * n + j);
      out[i * n + j] = sum;
    }
  }
  return out;
}

test('the checked-in f16 matmul', async () => {
  const module = readFileSync(join(root, 'fixtures', 'matmul_f16.gfx942', 'baseline.vmfb'));
  const a = random('f16', 128 * 128, 1);
  const b = random('f16', 128 * 128, 2);
  const got = await runModule(module, [a, b], 128 * 128);
  expect(distance(got, matmul(a, b, 128, 128, 128))).toBeLessThan(1e-4);
});

/** Compiles an example for gfx942. */
function compile(name: string): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, 'out.vmfb');
    const input = join(root, 'examples', `${name}.mlir`);
    const flags = ['--iree-hal-target-backends=rocm', '--iree-rocm-target=gfx942'];
    const result = spawnSync(iree as string, [input, ...flags, '-o', output], { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(result.stderr.slice(0, 4000));
    return readFileSync(output);
  });
}

describe.skipIf(iree === undefined)('compiled by IREE for gfx942', () => {
  test('f32 matmul', async () => {
    const a = random('f32', 64 * 64, 3);
    const b = random('f32', 64 * 64, 4);
    const got = await runModule(compile('matmul_f32'), [a, b], 64 * 64);
    expect(distance(got, matmul(a, b, 64, 64, 64))).toBeLessThan(1e-4);
  });

  test('softmax', async () => {
    const [rows, columns] = [8, 256];
    const x = random('f32', rows * columns, 5);
    const expected = new Float64Array(rows * columns);
    for (let r = 0; r < rows; r++) {
      const row = x.values.subarray(r * columns, (r + 1) * columns);
      const largest = Math.max(...row);
      const sum = row.reduce((s, v) => s + Math.exp(v - largest), 0);
      for (const [c, v] of row.entries()) expected[r * columns + c] = Math.exp(v - largest) / sum;
    }
    expect(distance(await runModule(compile('softmax'), [x], rows * columns), expected)).toBeLessThan(1e-8);
  });

  test('convolution', async () => {
    const image = random('f16', 18 * 18 * 16, 6);
    const filter = random('f16', 3 * 3 * 16 * 32, 7);
    const expected = new Float64Array(16 * 16 * 32);
    for (const i of expected.keys()) {
      const k = i % 32;
      const x = Math.floor(i / 32) % 16;
      const y = Math.floor(i / 512);
      let sum = 0;
      for (let tap = 0; tap < 9; tap++) {
        const pixel = ((y + Math.floor(tap / 3)) * 18 + x + (tap % 3)) * 16;
        for (let c = 0; c < 16; c++) sum += at(image.values, pixel + c) * at(filter.values, (tap * 16 + c) * 32 + k);
      }
      expected[i] = sum;
    }
    expect(distance(await runModule(compile('conv2d'), [image, filter], expected.length), expected)).toBeLessThan(1e-4);
  });
});
