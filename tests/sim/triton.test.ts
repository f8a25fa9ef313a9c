// Triton's kernels from the reference corpus, unmodified, against results computed in JavaScript.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BF16, decodeSmall, encodeSmall, F16, FP8_FNUZ, type SmallFormat } from '../../src/base/elements/formats.ts';
import {
  type ArgumentValue,
  createDevice,
  type DeviceBuffer,
  type Dim3,
  randomNumbers,
  SimDevice,
} from '../../src/device/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { sharedPath } from '../support/shared.ts';
import { workerHost } from '../support/sim-worker.ts';

const folder = sharedPath('corpus', 'triton');

/** The launch metadata beside a kernel. */
interface Metadata {
  readonly kernel: string;
  readonly shared: number;
  readonly num_warps: number;
  readonly sig: Readonly<Record<string, string>>;
  readonly consts: Readonly<Record<string, string>>;
}

const FORMATS: Readonly<Record<string, SmallFormat>> = { '*fp16': F16, '*bf16': BF16, '*fp8e4b8': FP8_FNUZ };

function encode(type: string, values: Float64Array): Uint8Array {
  const format = FORMATS[type];
  if (format === undefined) return new Uint8Array(Float32Array.from(values).buffer);
  const codes = Array.from(values, (x) => encodeSmall(format, x));
  return format.bits === 8 ? Uint8Array.from(codes) : new Uint8Array(Uint16Array.from(codes).buffer);
}
function decode(type: string, bytes: Uint8Array): Float64Array {
  const format = FORMATS[type];
  if (format === undefined) return Float64Array.from(new Float32Array(bytes.slice().buffer));
  const codes = format.bits === 8 ? bytes : new Uint16Array(bytes.slice().buffer);
  return Float64Array.from(codes, (code) => decodeSmall(format, code));
}

interface Tensor {
  readonly buffer: DeviceBuffer;
  readonly type: string;
  readonly values: Float64Array;
}

/** One launch: arguments by name, grid, and the largest error of the output. */
interface Launch {
  readonly args: Readonly<Record<string, ArgumentValue>>;
  readonly grid: Dim3;
  readonly output: Tensor;
  readonly expected: (index: number) => number;
}

const i32 = (x: number): Uint8Array => new Uint8Array(Int32Array.of(x).buffer);
const f32 = (x: number): Uint8Array => new Uint8Array(Float32Array.of(x).buffer);
const at = (t: Tensor, index: number): number => t.values[index] as number;
const sum = (count: number, f: (n: number) => number): number => {
  let total = 0;
  for (let n = 0; n < count; n++) total += f(n);
  return total;
};

type Make = (name: string, count: number) => Tensor;

const LAUNCHES: Readonly<Record<string, (make: Make, meta: Metadata) => Launch>> = {
  add_kernel: (make) => {
    const n = 3000;
    const [x, y, o] = ['x', 'y', 'o'].map((name) => make(name, n)) as [Tensor, Tensor, Tensor];
    const args = { x: x.buffer, y: y.buffer, o: o.buffer, n: i32(n) };
    return { args, grid: [3, 1, 1], output: o, expected: (i) => at(x, i) + at(y, i) };
  },
  matmul_kernel: (make, { consts }) => {
    const [m, n, k] = [128, 128, 256];
    const [a, b, c] = [make('a', m * k), make('b', k * n), make('c', m * n)];
    const sizes = { M: i32(m), N: i32(n), K: i32(k), sam: i32(k), sbk: i32(n), scm: i32(n) };
    return {
      args: { a: a.buffer, b: b.buffer, c: c.buffer, ...sizes },
      grid: [m / Number(consts.BM), n / Number(consts.BN), 1],
      output: c,
      expected: (i) => sum(k, (x) => at(a, Math.floor(i / n) * k + x) * at(b, x * n + (i % n))),
    };
  },
  rmsnorm_kernel: (make) => {
    const [rows, n] = [3, 4096];
    const [x, w, o] = [make('x', rows * n), make('w', n), make('o', rows * n)];
    const scales = Array.from(
      { length: rows },
      (_, r) => 1 / Math.sqrt(sum(n, (i) => at(x, r * n + i) ** 2) / n + 1e-5),
    );
    return {
      args: { x: x.buffer, w: w.buffer, o: o.buffer, stride: i32(n), n: i32(n), eps: f32(1e-5) },
      grid: [rows, 1, 1],
      output: o,
      expected: (i) => at(x, i) * (scales[Math.floor(i / n)] as number) * at(w, i % n),
    };
  },
  softmax_kernel: (make) => {
    const [rows, n] = [3, 1000];
    const [x, o] = [make('x', rows * n), make('o', rows * n)];
    const sums = Array.from({ length: rows }, (_, r) => sum(n, (i) => Math.exp(at(x, r * n + i))));
    return {
      args: { x: x.buffer, o: o.buffer, xs: i32(n), os_: i32(n), n: i32(n) },
      grid: [rows, 1, 1],
      output: o,
      expected: (i) => Math.exp(at(x, i)) / (sums[Math.floor(i / n)] as number),
    };
  },
  attn_fwd: (make) => {
    const [n, d, scale] = [128, 64, 0.125];
    const [q, k, v, o] = ['Q', 'K', 'V', 'O'].map((name) => make(name, n * d)) as [Tensor, Tensor, Tensor, Tensor];
    const weights = Array.from({ length: n }, (_, i) => {
      const scores = Array.from({ length: n }, (_x, j) =>
        Math.exp(scale * sum(d, (x) => at(q, i * d + x) * at(k, j * d + x))),
      );
      const total = sum(n, (j) => scores[j] as number);
      return scores.map((s) => s / total);
    });
    const strides = { sqm: i32(d), skn: i32(d), svn: i32(d), som: i32(d) };
    return {
      args: { Q: q.buffer, K: k.buffer, V: v.buffer, O: o.buffer, sm: f32(scale), ...strides, N: i32(n) },
      grid: [n / 64, 1, 1],
      output: o,
      expected: (i) => sum(n, (j) => ((weights[Math.floor(i / d)] as number[])[j] as number) * at(v, j * d + (i % d))),
    };
  },
};

/** Largest acceptable error by what the kernel computes in: bf16 output, xf32 products, f16 weights, f32. */
function tolerance(name: string): number {
  if (name.startsWith('rmsnorm_bf16')) return 2 ** -7;
  if (name.startsWith('matmul_fp32')) return 0.03;
  return name.startsWith('attn') ? 1e-3 : 1e-4;
}

/** The largest error of a kernel's output, and the output's bytes. */
async function run(
  device: SimDevice,
  name: string,
  meta: Metadata,
  workers?: number,
): Promise<{ error: () => number; bytes: Uint8Array }> {
  const random = randomNumbers(5);
  const make: Make = (argument, count) => {
    const type = meta.sig[argument] as string;
    const bytes = encode(
      type,
      Float64Array.from({ length: count }, () => random() * 2 - 1),
    );
    const buffer = device.alloc(bytes.length, argument);
    device.write(buffer, bytes);
    return { buffer, type, values: decode(type, bytes) };
  };
  const launch = LAUNCHES[meta.kernel]?.(make, meta);
  const kernel = device.load(readFileSync(join(folder as string, `${name}.hsaco`))).kernels[0];
  if (launch === undefined || kernel === undefined) throw new Error(`no launch for ${meta.kernel}`);
  const names = Object.keys(meta.sig).filter((argument) => meta.sig[argument] !== 'constexpr');
  const args = names.map((argument) => launch.args[argument] as ArgumentValue);
  // Triton appends pointers to its own global scratch.
  while (args.length < kernel.arguments.filter((a) => !a.valueKind.startsWith('hidden_')).length)
    args.push(device.alloc(64));
  const block: Dim3 = [64 * meta.num_warps, 1, 1];
  await device.dispatch({ kernel, grid: launch.grid, block, args, dynamicLds: meta.shared, workers });
  const bytes = device.read(launch.output.buffer).slice();
  const got = decode(launch.output.type, bytes);
  return {
    error: () => got.reduce((worst, x, i) => Math.max(worst, Math.abs(x - launch.expected(i))), 0),
    bytes,
  };
}

const names = folder === undefined ? ['none.json'] : readdirSync(folder).filter((file) => file.endsWith('.json'));
describe.skipIf(folder === undefined)('Triton kernels', () => {
  test.each(names.map((file) => file.slice(0, -5)))('%s', async (name) => {
    const meta = JSON.parse(readFileSync(join(folder as string, `${name}.json`), 'utf8')) as Metadata;
    const device = await createDevice('sim', { target: name.split('.')[1] as TargetName });
    const { error, bytes } = await run(device, name, meta);
    expect(error()).toBeLessThan(tolerance(name));
    // The same bytes again, with a second thread that joins after the first workgroup.
    const device2 = new SimDevice(device.target, { workerHost: { ...(await workerHost()), startMs: -1000 } });
    expect((await run(device2, name, meta, 2)).bytes).toEqual(bytes);
    device2.close();
  });
});
