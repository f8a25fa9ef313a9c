// What the tests of real kernels share: element formats, tensors in device memory, the padded argument blocks of hand-written
// kernels, and the comparison with a reference computed in f64.
import { readFileSync } from 'node:fs';
import {
  BF16,
  decodeSmall,
  encodeSmall,
  F16,
  FP8_FNUZ,
  FP8_OCP,
  type SmallFormat,
} from '../../../src/base/elements/formats.ts';
import {
  createDevice,
  type DeviceBuffer,
  type DeviceKernel,
  type Dim3,
  type RunFinding,
  randomNumbers,
  type SimDevice,
  type SimDispatchRequest,
  type SimDispatchResult,
} from '../../../src/device/index.ts';
import type { SimKernel, SimModule } from '../../../src/device/sim/module.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { sharedPath } from '../../support/shared.ts';

/** How elements of a tensor are stored. */
export type Format = 'f32' | 'f64' | 'f16' | 'bf16' | 'fp8fnuz' | 'fp8' | 'i8' | 'i32' | 'u8';

const SMALL: Partial<Record<Format, SmallFormat>> = { f16: F16, bf16: BF16, fp8fnuz: FP8_FNUZ, fp8: FP8_OCP };

/** Bytes of one element. */
export function bytesOf(format: Format): number {
  if (format === 'f64') return 8;
  if (format === 'f32' || format === 'i32') return 4;
  return format === 'f16' || format === 'bf16' ? 2 : 1;
}

/** Encodes numbers, rounding to nearest even. */
export function encode(format: Format, values: ArrayLike<number>): Uint8Array {
  const small = SMALL[format];
  if (small !== undefined) {
    const codes = Array.from(values, (x) => encodeSmall(small, x));
    return small.bits === 8 ? Uint8Array.from(codes) : new Uint8Array(Uint16Array.from(codes).buffer);
  }
  if (format === 'f32') return new Uint8Array(Float32Array.from(values).buffer);
  if (format === 'f64') return new Uint8Array(Float64Array.from(values).buffer);
  if (format === 'i32') return new Uint8Array(Int32Array.from(values).buffer);
  return format === 'i8' ? new Uint8Array(Int8Array.from(values).buffer) : Uint8Array.from(values);
}

/** Decodes what `encode` wrote. */
export function decode(format: Format, bytes: Uint8Array): Float64Array {
  const small = SMALL[format];
  const { buffer } = bytes.slice();
  if (small !== undefined) {
    return Float64Array.from(small.bits === 8 ? bytes : new Uint16Array(buffer), (code) => decodeSmall(small, code));
  }
  if (format === 'f32') return Float64Array.from(new Float32Array(buffer));
  if (format === 'f64') return new Float64Array(buffer);
  if (format === 'i32') return Float64Array.from(new Int32Array(buffer));
  return Float64Array.from(format === 'i8' ? new Int8Array(buffer) : bytes);
}

/** An input as the kernel sees it: the stored numbers, exactly. */
export interface Tensor {
  readonly format: Format;
  readonly values: Float64Array;
  readonly bytes: Uint8Array;
}

/** Rounds numbers to a format. */
export function tensor(format: Format, values: ArrayLike<number>): Tensor {
  const bytes = encode(format, values);
  return { format, values: decode(format, bytes), bytes };
}

/** A tensor of numbers spread evenly over [low, high). */
export function randomTensor(format: Format, count: number, seed: number, low = -1, high = 1): Tensor {
  const random = randomNumbers(seed);
  const whole = format === 'i8' || format === 'i32' || format === 'u8';
  return tensor(
    format,
    Float64Array.from({ length: count }, () => {
      const x = low + random() * (high - low);
      return whole ? Math.round(x) : x;
    }),
  );
}

/** Bytes of elements moved from `source(position)`: a layout written as a function. */
export function gather(t: Tensor, source: (position: number) => number): Uint8Array {
  const size = bytesOf(t.format);
  const out = new Uint8Array(t.bytes.length);
  for (let position = 0; position * size < out.length; position++) {
    const from = source(position) * size;
    out.set(t.bytes.subarray(from, from + size), position * size);
  }
  return out;
}

/** One argument of a padded argument block: every field begins on 16 bytes. */
export type Field = DeviceBuffer | { readonly u32: number } | { readonly f32: number } | null;

/** The argument block of hand-written kernels: pointers and 32-bit values, each padded to 16 bytes. */
export function paddedArguments(fields: readonly Field[]): Uint8Array {
  const out = new Uint8Array(16 * fields.length);
  const view = new DataView(out.buffer);
  for (const [n, field] of fields.entries()) {
    if (field === null) continue;
    if ('address' in field) view.setBigUint64(16 * n, BigInt(field.address), true);
    else if ('u32' in field) view.setUint32(16 * n, field.u32, true);
    else view.setFloat32(16 * n, field.f32, true);
  }
  return out;
}

/** The error of a result: the largest distance to the reference, and the largest reference value. */
export interface Outcome {
  readonly worst: number;
  readonly largest: number;
  readonly instructions: number;
}

/** Compares every element; an element that was not written (NaN) makes the result NaN. */
export function compare(got: ArrayLike<number>, expected: ArrayLike<number>): { worst: number; largest: number } {
  if (got.length !== expected.length) throw new Error(`${got.length} results for ${expected.length} expected`);
  let worst = 0;
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    const distance = Math.abs((got[i] as number) - (expected[i] as number));
    worst = Number.isNaN(distance) ? Number.NaN : Math.max(worst, distance);
    largest = Math.max(largest, Math.abs(expected[i] as number));
  }
  return { worst, largest };
}

/** While `findings` is there, kernels run once, compiled and in strict mode, and what it finds goes there. */
export const strictRuns: { findings: RunFinding[] | undefined } = { findings: undefined };

/** Milliseconds of a launch, and those in which its thread had a processor. */
export interface LaunchTime {
  readonly wall: number;
  readonly busy: number;
}

/** A launch with its code object. */
export interface HeldRun {
  readonly kernel: DeviceKernel;
  readonly object: Uint8Array;
  readonly dispatch: (mode: Partial<SimDispatchRequest>) => Promise<SimDispatchResult>;
}

/** Takes the place of the first launch of a run, which goes on when the promise is done. */
export const heldRuns: { hold: ((run: HeldRun) => Promise<void>) | undefined } = { hold: undefined };

/** While `times` is there, kernels run twice, compiled, in one thread, and the time of each launch goes there. */
export const timedRuns: { times: LaunchTime[] | undefined } = { times: undefined };

/** Milliseconds in which this process's first thread had a processor (Linux). */
function busyTime(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** What a launch takes. */
export async function timeLaunch(launch: () => Promise<unknown>): Promise<LaunchTime> {
  const [start, busy] = [performance.now(), busyTime()];
  await launch();
  return { wall: performance.now() - start, busy: busyTime() - busy };
}

/** A code object that takes the place of another one's. */
export interface ChangedCode {
  readonly bytes: Uint8Array;
  /** Told what both did; every byte of every buffer was the same. */
  readonly compare?: (runs: ChangedRun) => void;
}

/** A launch of a code object and of the one that takes its place. */
export interface ChangedRun {
  readonly device: SimDevice;
  readonly original: SimDispatchResult;
  readonly changed: SimDispatchResult;
  readonly kernel: SimKernel;
}

/** While `change` is there, every launch runs the code object and what `change` makes of it, compiled, and all bytes must agree. */
export const changedRuns: {
  change: ((codeObject: Uint8Array) => ChangedCode) | undefined;
  strict: boolean;
  /** Wave instructions of one launch; mistakes can loop. */
  maxInstructions?: number | undefined;
} = { change: undefined, strict: false };

/** A code object of the reference corpus on a fresh device, with helpers to fill and launch. */
export class Bench {
  readonly device: SimDevice;
  readonly kernels: readonly DeviceKernel[];
  private readonly codeObject: Uint8Array;
  instructions = 0;
  private readonly buffers: DeviceBuffer[] = [];
  private readonly changed: { readonly code: ChangedCode; readonly module: SimModule } | undefined;

  private constructor(device: SimDevice, codeObject: Uint8Array) {
    this.device = device;
    this.codeObject = codeObject;
    this.kernels = device.load(codeObject).kernels;
    const code = changedRuns.change?.(codeObject);
    this.changed = code && { code, module: device.load(code.bytes) };
  }

  /** Loads `corpus/TARGET/FILE`. */
  static async open(target: TargetName, file: string): Promise<Bench> {
    const path = sharedPath('corpus', target, file);
    if (path === undefined) throw new Error('the reference corpus is absent');
    return new Bench(await createDevice('sim', { target }), readFileSync(path));
  }

  /** A buffer with these bytes (or of this size, every byte 0xff: NaN in every float format of 16 bits or more). */
  buffer(content: Uint8Array | number, label: string): DeviceBuffer {
    const bytes = typeof content === 'number' ? new Uint8Array(content).fill(0xff) : content;
    const buffer = this.device.alloc(bytes.length, label);
    this.device.write(buffer, bytes);
    this.buffers.push(buffer);
    return buffer;
  }

  /** A zeroed buffer. */
  zeros(size: number, label: string): DeviceBuffer {
    return this.buffer(new Uint8Array(size), label);
  }

  read(buffer: DeviceBuffer, format: Format): Float64Array {
    return decode(format, this.device.read(buffer));
  }

  /**
   * Runs the only kernel (or the named one) of the code object on the reference interpreter and as compiled code: every byte of
   * every buffer and the count of instructions must agree.
   */
  async launch(grid: Dim3, kernargs: Uint8Array, block?: Dim3, kernel = this.kernels[0]): Promise<void> {
    if (kernel === undefined) throw new Error('no kernel');
    const size = block ?? kernel.requiredWorkgroupSize;
    if (size === undefined) throw new Error('no workgroup size');
    if (strictRuns.findings !== undefined) {
      const result = await this.device.dispatch({ kernel, grid, block: size, kernargs, strict: {} });
      strictRuns.findings.push(...(result.findings ?? []));
      return;
    }
    if (heldRuns.hold !== undefined) {
      const dispatch: HeldRun['dispatch'] = (mode) =>
        this.device.dispatch({ kernel, grid, block: size, kernargs, workers: 1, ...mode });
      await heldRuns.hold({ kernel, object: this.codeObject, dispatch });
      return;
    }
    if (this.changed !== undefined) {
      await this.launchChanged(this.changed, { kernel, grid, block: size, kernargs });
      return;
    }
    const before = this.buffers.map((b) => this.device.read(b));
    if (timedRuns.times !== undefined) {
      for (let round = 0; round < 2; round++) {
        for (const [n, b] of this.buffers.entries()) this.device.write(b, before[n] as Uint8Array);
        const launch = () =>
          this.device.dispatch({ kernel, grid, block: size, kernargs, engine: 'compiled', workers: 1 });
        timedRuns.times.push(await timeLaunch(launch));
      }
      return;
    }
    const first = await this.device.dispatch({ kernel, grid, block: size, kernargs, engine: 'interpreter' });
    const after = this.buffers.map((b) => this.device.read(b));
    for (const [n, b] of this.buffers.entries()) this.device.write(b, before[n] as Uint8Array);
    const second = await this.device.dispatch({ kernel, grid, block: size, kernargs, engine: 'compiled' });
    for (const [n, b] of this.buffers.entries()) {
      const bytes = this.device.read(b);
      const differs = bytes.findIndex((byte, i) => byte !== (after[n] as Uint8Array)[i]);
      if (differs >= 0) throw new Error(`byte ${differs} of '${b.label}' depends on the engine`);
    }
    if (first.instructions !== second.instructions) {
      throw new Error(`${first.instructions} instructions interpreted, ${second.instructions} compiled`);
    }
    this.instructions += first.instructions;
  }

  private async launchChanged(
    { code, module }: { readonly code: ChangedCode; readonly module: SimModule },
    request: SimDispatchRequest,
  ): Promise<void> {
    const strict = changedRuns.strict ? {} : undefined;
    const before = this.buffers.map((b) => this.device.read(b));
    const original = await this.device.dispatch({ ...request, strict });
    const after = this.buffers.map((b) => this.device.read(b));
    for (const [n, b] of this.buffers.entries()) this.device.write(b, before[n] as Uint8Array);
    const kernel = module.kernel(request.kernel.name);
    const { maxInstructions } = changedRuns;
    const changed = await this.device.dispatch({ ...request, kernel, strict, maxInstructions });
    for (const [n, b] of this.buffers.entries()) {
      const bytes = this.device.read(b);
      const differs = bytes.findIndex((byte, i) => byte !== (after[n] as Uint8Array)[i]);
      if (differs >= 0) throw new Error(`byte ${differs} of '${b.label}' is not what the original makes it`);
    }
    this.instructions += original.instructions;
    code.compare?.({ device: this.device, original, changed, kernel });
  }

  outcome(got: ArrayLike<number>, expected: ArrayLike<number>): Outcome {
    return { ...compare(got, expected), instructions: this.instructions };
  }
}

/** Whether the reference corpus is there. */
export const hasCorpus = sharedPath('corpus') !== undefined;

/** Σ over k of a[m,k] × b[n,k], as f64, times what `scale` says for (m, n, k). */
export function product(
  [m, n, k]: readonly [number, number, number],
  a: (m: number, k: number) => number,
  b: (n: number, k: number) => number,
): Float64Array {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let x = 0; x < k; x++) sum += a(i, x) * b(j, x);
      out[i * n + j] = sum;
    }
  }
  return out;
}
