// Hand-written matrix products (AMD AITER, MIT): int8 with per-token scales, fp8 with block scales, bf16 with split K, fp4 with
// 1×32 scales. Argument blocks as in AITER's csrc/py_itfs_cu/asm_gemm_a8w8.cu, asm_a8w8_blockscale_bpreshuffle.cu, asm_gemm_a16w16.cu, asm_gemm_a4w4.cu.
import type { TargetName } from '../../../src/isa/types.ts';
import {
  Bench,
  type Format,
  gather,
  type Outcome,
  paddedArguments,
  product,
  randomTensor,
  type Tensor,
} from './support.ts';

/** Weights in the order a wave loads them: tiles of `rows` rows × 16 bytes, k outside. */
export function shuffleWeight(weight: Tensor, k: number, rows: number, pack: number): Uint8Array {
  return gather(weight, (position) => {
    const tile = Math.floor(position / (rows * k));
    const inTile = position % (rows * k);
    const chunk = Math.floor(inTile / (rows * pack));
    const row = Math.floor((inTile % (rows * pack)) / pack);
    return (tile * rows + row) * k + chunk * pack + (inTile % pack);
  });
}

const at = (t: Tensor, i: number): number => t.values[i] as number;

/** C[m,n] = sa[m] × sb[n] × Σ a[m,k] b[n,k] + bias[n], bf16. */
export async function int8Gemm(
  target: TargetName,
  tile: number,
  [m, n, k]: [number, number, number],
): Promise<Outcome> {
  const bench = await Bench.open(target, `i8gemm_I8gemm_bf16_perTokenI8_BpreShuffle_${tile}x128.co`);
  const a = randomTensor('i8', m * k, 1, -127, 127);
  const b = randomTensor('i8', n * k, 2, -127, 127);
  const [sa, sb] = [randomTensor('f32', m, 3, 1e-3, 2e-3), randomTensor('f32', n, 4, 1e-3, 2e-3)];
  const bias = randomTensor('f32', n, 5);
  const c = bench.buffer(m * n * 2, 'C');
  const kernargs = paddedArguments([
    c,
    bench.buffer(a.bytes, 'A'),
    bench.buffer(shuffleWeight(b, k, 16, 16), 'B'),
    bench.buffer(sa.bytes, 'A scale'),
    bench.buffer(sb.bytes, 'B scale'),
    bench.buffer(bias.bytes, 'bias'),
    ...[m, n, k, k, k, 2 * n, 1].map((u32) => ({ u32 })),
  ]);
  await bench.launch([n / 128, Math.ceil(m / tile), 1], kernargs);
  const sums = product(
    [m, n, k],
    (i, x) => at(a, i * k + x),
    (j, x) => at(b, j * k + x),
  );
  const expected = sums.map((s, i) => s * at(sa, Math.floor(i / n)) * at(sb, i % n) + at(bias, i % n));
  return bench.outcome(bench.read(c, 'bf16'), expected);
}

/** C[m,n] = Σ over k blocks of 128: sa[m,block] × sb[n block,block] × Σ a b, bf16. */
export async function fp8Gemm(target: TargetName, tile: number, [m, n, k]: [number, number, number]): Promise<Outcome> {
  const bench = await Bench.open(target, `fp8gemm_blockscale_fp8gemm_bf16_blockscale_BpreShuffle_${tile}x128.co`);
  const format: Format = target === 'gfx942' ? 'fp8fnuz' : 'fp8';
  const [a, b] = [randomTensor(format, m * k, 1, -2, 2), randomTensor(format, n * k, 2, -2, 2)];
  const blocks = k / 128;
  const [sa, sb] = [randomTensor('f32', m * blocks, 3, 0.5, 1), randomTensor('f32', (n / 128) * blocks, 4, 0.5, 1)];
  const c = bench.buffer(m * n * 2, 'C');
  const kernargs = paddedArguments([
    c,
    bench.buffer(a.bytes, 'A'),
    bench.buffer(shuffleWeight(b, k, 16, 16), 'B'),
    bench.buffer(
      gather(sa, (position) => (position % m) * blocks + Math.floor(position / m)),
      'A scale',
    ),
    bench.buffer(sb.bytes, 'B scale'),
    bench.zeros(4 * n, 'bias'),
    ...[m, n, k, k, k, 2 * n, 1, m, n / 128, blocks].map((u32) => ({ u32 })),
  ]);
  await bench.launch([n / 128, Math.ceil(m / tile), 1], kernargs);
  const expected = product(
    [m, n, k],
    (i, x) => at(a, i * k + x) * at(sa, i * blocks + Math.floor(x / 128)),
    (j, x) => at(b, j * k + x) * at(sb, Math.floor(j / 128) * blocks + Math.floor(x / 128)),
  );
  return bench.outcome(bench.read(c, 'bf16'), expected);
}

/**
 * C[m,n] = bias[n] + Σ a[m,k] b[n,k] from bf16, as f32 or bf16; `split` workgroups share the K range: the first stores zeros (or
 * the bias) and signals through a semaphore, then all add atomically.
 */
export async function bf16Gemm(
  target: TargetName,
  file: string,
  [tileM, tileN]: [number, number],
  [m, n, k]: [number, number, number],
  { split, shuffled, output }: { split: number; shuffled: boolean; output: 'f32' | 'bf16' },
): Promise<Outcome> {
  const bench = await Bench.open(target, `bf16gemm_bf16gemm_${file}.co`);
  const [a, b] = [randomTensor('bf16', m * k, 1), randomTensor('bf16', n * k, 2)];
  const size = output === 'f32' ? 4 : 2;
  const c = file.endsWith('splitk') ? bench.zeros(m * n * size, 'C') : bench.buffer(m * n * size, 'C');
  const tiles = [Math.ceil(n / tileN), Math.ceil(m / tileM)] as const;
  const strides = [n * size, n * size, n * size, n * size, 2 * k, 2 * k, 2 * k, 2 * k];
  const kernargs = paddedArguments([
    c,
    null,
    bench.buffer(a.bytes, 'A'),
    bench.buffer(shuffled ? shuffleWeight(b, k, 16, 8) : b.bytes, 'B'),
    { f32: 1 },
    { f32: 0 },
    ...[...strides, m, n, k, split, output === 'bf16' ? 1 : 0].map((u32) => ({ u32 })),
    null,
    { u32: 0 },
    ...(file.endsWith('clean') || file.endsWith('256x256') ? [bench.zeros(4 * tiles[0] * tiles[1], 'semaphores')] : []),
  ]);
  await bench.launch([...tiles, split], kernargs);
  const expected = product(
    [m, n, k],
    (i, x) => at(a, i * k + x),
    (j, x) => at(b, j * k + x),
  );
  return bench.outcome(bench.read(c, output), expected);
}

/** Scales of 32-element blocks in the order the scaled matrix instructions read them; padded to 256 rows and 8 columns. */
function shuffleScales(scales: Tensor, columns: number): Uint8Array {
  const rows = scales.values.length / columns;
  const [paddedRows, paddedColumns] = [Math.ceil(rows / 256) * 256, Math.ceil(columns / 8) * 8];
  const out = new Uint8Array(paddedRows * paddedColumns);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const tile = Math.floor(r / 32) * 32 * paddedColumns + Math.floor(c / 8) * 256;
      const inTile = (c % 4) * 64 + (r % 16) * 4 + Math.floor((c % 8) / 4) * 2 + (Math.floor(r / 16) % 2);
      out[tile + inTile] = scales.bytes[r * columns + c] as number;
    }
  }
  return out;
}

const FP4_VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6];

/** C[m,n] = Σ a[m,k] b[n,k] of FP4 elements (two in a byte) with a power-of-two scale per 32 elements, bf16. */
export async function fp4Gemm(tile: [number, number], [m, n, k]: [number, number, number]): Promise<Outcome> {
  const bench = await Bench.open('gfx950', `f4gemm_f4gemm_bf16_per1x32Fp4_BpreShuffle_${tile[0]}x${tile[1]}.co`);
  const [a, b] = [randomTensor('u8', (m * k) / 2, 1, 0, 255), randomTensor('u8', (n * k) / 2, 2, 0, 255)];
  const blocks = k / 32;
  const [sa, sb] = [randomTensor('u8', m * blocks, 3, 124, 129), randomTensor('u8', n * blocks, 4, 124, 129)];
  const c = bench.buffer(Math.ceil(m / 256) * 256 * n * 2, 'D');
  const paddedBlocks = Math.ceil(blocks / 8) * 8;
  const kernargs = paddedArguments([
    c,
    null,
    bench.buffer(a.bytes, 'A'),
    bench.buffer(shuffleWeight(b, k / 2, 16, 16), 'B'),
    { f32: 1 },
    { f32: 0 },
    ...[0, 0, n, 0, k, 0, k, 0, m, n, k].map((u32) => ({ u32 })),
    bench.buffer(shuffleScales(sa, blocks), 'A scale'),
    bench.buffer(shuffleScales(sb, blocks), 'B scale'),
    ...[paddedBlocks, 0, paddedBlocks, 0, 0].map((u32) => ({ u32 })),
  ]);
  await bench.launch([Math.ceil(n / tile[1]), Math.ceil(m / tile[0]), 1], kernargs);
  const element = (t: Tensor, s: Tensor, row: number, x: number): number => {
    const byte = at(t, (row * k + x) >> 1);
    return (FP4_VALUES[(byte >> (4 * (x & 1))) & 15] as number) * 2 ** (at(s, row * blocks + (x >> 5)) - 127);
  };
  const unpack = (t: Tensor, s: Tensor, rows: number): Float64Array =>
    Float64Array.from({ length: rows * k }, (_, i) => element(t, s, Math.floor(i / k), i % k));
  const [ua, ub] = [unpack(a, sa, m), unpack(b, sb, n)];
  const expected = product(
    [m, n, k],
    (i, x) => ua[i * k + x] as number,
    (j, x) => ub[j * k + x] as number,
  );
  return bench.outcome(bench.read(c, 'bf16').subarray(0, m * n), expected);
}
