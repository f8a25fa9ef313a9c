// hipBLASLt (Tensile) matrix products for gfx90a: D = alpha · A · B + beta · C, with bias and scale vectors where the kernel has them.
// Argument layout: TensileLite, `ContractionSolution::kernelArgs` (version 2) and the names in the kernels' metadata. Tensors are
// column-major: the first index letter of `Ailk`, `Bljk`, `Cijk` is contiguous.
import { type DeviceKernel, randomNumbers } from '../../../src/device/index.ts';
import { Bench, bytesOf, type Format, type Outcome, randomTensor, type Tensor, tensor } from './support.ts';

export interface TensileCase {
  /** File in corpus/gfx90a. */
  readonly file: string;
  /** Which kernel of the file: its name contains this. */
  readonly kernel: string;
  readonly formats: {
    readonly input: Format;
    readonly output: Format;
    readonly scalar: 'f32' | 'f64' | 'i32';
    /** Inputs are cut to bf16 before they are multiplied (hipBLASLt's fast compute type). */
    readonly cutInputs?: boolean;
  };
  /** M, N, batch, K. */
  readonly sizes: readonly [number, number, number, number];
  readonly alpha: number;
  readonly beta: number;
  /** Workgroup mapping, and how many positions the start of the K loop is staggered by. */
  readonly mapping: number;
  readonly stagger: number;
}

/** What the name of a kernel says: tile sizes and whether the K index is contiguous in A and B. */
function shapeOf(name: string): { tile: [number, number]; kFirstA: boolean; kFirstB: boolean } {
  const tile = /_MT(\d+)x(\d+)x(\d+)_/.exec(name);
  if (tile === null) throw new Error(`no macro tile in ${name}`);
  return {
    tile: [Number(tile[1]), Number(tile[2])],
    kFirstA: name.includes('_Alik_'),
    kFirstB: name.includes('_Bljk_'),
  };
}

/** Writes the arguments by their metadata names; every argument must be given. */
function kernargsOf(
  kernel: DeviceKernel,
  values: Readonly<Record<string, number | bigint>>,
  scalar: string,
): Uint8Array {
  const out = new Uint8Array(kernel.kernargSize);
  const view = new DataView(out.buffer);
  for (const { name, offset, size, valueKind } of kernel.arguments) {
    const value = values[name ?? ''];
    if (value === undefined) throw new Error(`argument ${name} is not known`);
    if (valueKind === 'global_buffer') view.setBigUint64(offset, BigInt(value), true);
    else if (name?.startsWith('activation') && name !== 'activationType') view.setFloat32(offset, Number(value), true);
    else if (size === 8) view.setFloat64(offset, Number(value), true);
    else if ((name === 'alpha' || name === 'beta') && scalar === 'f32') view.setFloat32(offset, Number(value), true);
    else view.setInt32(offset, Number(value), true);
  }
  return out;
}

const at = (t: Tensor, i: number): number => t.values[i] as number;

/** The upper halves of the values as f32: bf16, rounded towards zero. */
function cutToBf16(t: Tensor): Tensor {
  const words = Int32Array.from(new Int32Array(Float32Array.from(t.values).buffer), (word) => word & 0xffff0000);
  return { ...t, values: Float64Array.from(new Float32Array(words.buffer)) };
}

/** Runs one GEMM and compares D. */
export async function tensileGemm(c: TensileCase): Promise<Outcome> {
  const bench = await Bench.open('gfx90a', c.file);
  const kernel = bench.kernels.find((k) => k.name.includes(c.kernel));
  if (kernel === undefined) throw new Error(`no kernel ${c.kernel}`);
  const [m, n, batch, k] = c.sizes;
  const { input, output, scalar } = c.formats;
  const { tile, kFirstA, kFirstB } = shapeOf(kernel.name);
  const [low, high] = input === 'i8' ? [-128, 127] : [-1, 1];
  const a = randomTensor(input, m * k * batch, 1, low, high);
  const b = randomTensor(input, n * k * batch, 2, low, high);
  const [ca, cb] = [a, b].map((t) => (c.formats.cutInputs === true ? cutToBf16(t) : t)) as [Tensor, Tensor];
  const before = randomTensor(output, m * n * batch, 3, low, high);
  const d = bench.buffer(m * n * batch * bytesOf(output), 'D');
  const random = randomNumbers(4);
  const bias = tensor('f32', Float64Array.from({ length: m }, random));
  const scale = tensor(
    'f32',
    Float64Array.from({ length: m }, () => random() + 0.5),
  );
  const hasBias = kernel.arguments.some((x) => x.name === 'biasType');
  const hasScale = kernel.arguments.some((x) => x.name === 'AddressScaleAlphaVec');
  const groups = Math.ceil(m / tile[0]) * Math.ceil(n / tile[1]) * batch;
  const kernargs = kernargsOf(
    kernel,
    {
      'Gemm info': 1,
      'kernel info0': 1 | (c.stagger << 16),
      'kernel info1': c.mapping,
      numWG: groups,
      SizesFree0: m,
      SizesFree1: n,
      SizesFree2: batch,
      SizesSum0: k,
      D: d.address,
      C: bench.buffer(before.bytes, 'C').address,
      A: bench.buffer(a.bytes, 'A').address,
      B: bench.buffer(b.bytes, 'B').address,
      strideD0: m,
      strideD1: m * n,
      strideC0: m,
      strideC1: m * n,
      strideA0: kFirstA ? k : m,
      strideA1: m * k,
      strideB0: kFirstB ? k : n,
      strideB1: n * k,
      alpha: c.alpha,
      beta: c.beta,
      AddressScaleAlphaVec: bench.buffer(scale.bytes, 'scale').address,
      bias: bench.buffer(bias.bytes, 'bias').address,
      biasType: 0,
      StrideBias: 0,
      E: 0,
      StrideE0: m,
      StrideE1: m * n,
      activationAlpha: 0,
      activationBeta: 0,
      activationType: 0,
    },
    scalar,
  );
  await bench.launch([groups, 1, 1], kernargs, [kernel.maxWorkgroupSize as number, 1, 1], kernel);
  const expected = new Float64Array(m * n * batch);
  for (let z = 0; z < batch; z++) {
    for (let j = 0; j < n; j++) {
      for (let i = 0; i < m; i++) {
        let sum = 0;
        for (let l = 0; l < k; l++) {
          sum +=
            at(ca, z * m * k + (kFirstA ? i * k + l : l * m + i)) *
            at(cb, z * n * k + (kFirstB ? j * k + l : l * n + j));
        }
        const position = z * m * n + j * m + i;
        const scaled = c.alpha * (hasScale ? at(scale, i) : 1) * sum + c.beta * at(before, position);
        expected[position] = scaled + (hasBias ? at(bias, i) : 0);
      }
    }
  }
  return bench.outcome(bench.read(d, output), expected);
}
