// Matrix operations: shapes of every MFMA and SMFMAC, and the closed-form register layouts.
// Sources: AMD CDNA2/CDNA3/CDNA4 ISA, chapter "Matrix Arithmetic Instructions"; AMD matrix instruction calculator (layouts);
// AMD's blog "Matrix Core Programming on CDNA3 and CDNA4" (f8f6f4 with 8-bit elements).
import type { MatrixOperation, MatrixType } from './operation.ts';
import { define, structural } from './registry.ts';

function matrix(
  name: string,
  m: number,
  k: number,
  blocks: number,
  a: MatrixType,
  b: MatrixType,
  more: { sparse?: boolean; pairing?: 2 | 4 } = {},
): void {
  const d: MatrixOperation['d'] = a === 'f64' ? 'f64' : a === 'i8' ? 'i32' : 'f32';
  define(name, {
    kind: 'matrix',
    m,
    n: m,
    k,
    blocks,
    a,
    b,
    d,
    sparse: more.sparse ?? false,
    pairing: more.pairing ?? 4,
  });
}

// [M = N, K, blocks] by type. gfx90a glues the type to the shape; gfx942 and later write `_<blocks>b_<type>`.
type Shape = [number, number, number];
const SHAPES: [MatrixType, Shape[]][] = [
  [
    'f32',
    [
      [32, 1, 2],
      [16, 1, 4],
      [4, 1, 16],
      [32, 2, 1],
      [16, 4, 1],
    ],
  ],
  [
    'f16',
    [
      [32, 4, 2],
      [16, 4, 4],
      [4, 4, 16],
      [32, 8, 1],
      [16, 16, 1],
    ],
  ],
  [
    'f64',
    [
      [16, 4, 1],
      [4, 4, 4],
    ],
  ],
];
const blocksText = (blocks: number): string => (blocks === 1 ? '' : `_${blocks}b`);
const output = (type: MatrixType): string => (type === 'i8' ? 'i32' : type === 'f64' ? 'f64' : 'f32');
for (const [type, shapes] of SHAPES) {
  for (const [m, k, blocks] of shapes) {
    matrix(`v_mfma_${output(type)}_${m}x${m}x${k}${type}`, m, k, blocks, type, type);
    matrix(`v_mfma_${output(type)}_${m}x${m}x${k}${blocksText(blocks)}_${type}`, m, k, blocks, type, type);
  }
}
for (const [m, k, blocks] of [
  [32, 4, 2],
  [16, 4, 4],
  [4, 4, 16],
  [32, 8, 1],
  [16, 16, 1],
] as const) {
  matrix(`v_mfma_f32_${m}x${m}x${k}bf16_1k`, m, k, blocks, 'bf16', 'bf16');
  matrix(`v_mfma_f32_${m}x${m}x${k}${blocksText(blocks)}_bf16`, m, k, blocks, 'bf16', 'bf16');
}
// The first bf16 generation: half the K of _1k.
for (const [m, k, blocks] of [
  [32, 2, 2],
  [16, 2, 4],
  [4, 2, 16],
  [32, 4, 1],
  [16, 8, 1],
] as const) {
  matrix(`v_mfma_f32_${m}x${m}x${k}bf16`, m, k, blocks, 'bf16', 'bf16', { pairing: 2 });
}
for (const [m, k, blocks] of [
  [32, 4, 2],
  [16, 4, 4],
  [4, 4, 16],
  [32, 8, 1],
  [16, 16, 1],
] as const) {
  matrix(`v_mfma_i32_${m}x${m}x${k}i8`, m, k, blocks, 'i8', 'i8');
  if (blocks > 1) matrix(`v_mfma_i32_${m}x${m}x${k}_${blocks}b_i8`, m, k, blocks, 'i8', 'i8');
}
for (const [m, k] of [
  [32, 16],
  [16, 32],
  [32, 32],
  [16, 64],
] as const) {
  matrix(`v_mfma_i32_${m}x${m}x${k}_i8`, m, k, 1, 'i8', 'i8');
}
matrix('v_mfma_f32_16x16x8_xf32', 16, 8, 1, 'xf32', 'xf32');
matrix('v_mfma_f32_32x32x4_xf32', 32, 4, 1, 'xf32', 'xf32');
for (const type of ['f16', 'bf16'] as const) {
  matrix(`v_mfma_f32_16x16x32_${type}`, 16, 32, 1, type, type);
  matrix(`v_mfma_f32_32x32x16_${type}`, 32, 16, 1, type, type);
}
const EIGHT_BIT = ['fp8', 'bf8'] as const;
for (const a of EIGHT_BIT) {
  for (const b of EIGHT_BIT) {
    matrix(`v_mfma_f32_16x16x32_${a}_${b}`, 16, 32, 1, a, b);
    matrix(`v_mfma_f32_32x32x16_${a}_${b}`, 32, 16, 1, a, b);
    for (const [m, k] of [
      [16, 64],
      [32, 32],
      [16, 128],
      [32, 64],
    ] as const) {
      matrix(`v_smfmac_f32_${m}x${m}x${k}_${a}_${b}`, m, k, 1, a, b, { sparse: true });
    }
  }
}
for (const scaled of ['', 'scale_']) {
  matrix(`v_mfma_${scaled}f32_16x16x128_f8f6f4`, 16, 128, 1, 'f8f6f4', 'f8f6f4');
  matrix(`v_mfma_${scaled}f32_32x32x64_f8f6f4`, 32, 64, 1, 'f8f6f4', 'f8f6f4');
}
for (const type of ['f16', 'bf16'] as const) {
  for (const [m, k] of [
    [16, 32],
    [32, 16],
    [16, 64],
    [32, 32],
  ] as const) {
    matrix(`v_smfmac_f32_${m}x${m}x${k}_${type}`, m, k, 1, type, type, { sparse: true });
  }
}
for (const [m, k] of [
  [16, 64],
  [32, 32],
  [16, 128],
  [32, 64],
] as const) {
  matrix(`v_smfmac_i32_${m}x${m}x${k}_i8`, m, k, 1, 'i8', 'i8', { sparse: true });
}
structural('v_mfma_ld_scale_b32', 'matrixLoadScale');

/** Where A[i][k] (or B[k][j] with j for i) of a block lives: lane, and bit offset in the lane's operand registers. */
export function inputPosition(
  op: MatrixOperation,
  bits: number,
  block: number,
  i: number,
  k: number,
): [number, number] {
  if (op.a === 'f8f6f4' && bits === 8) {
    // 8-bit elements of the wide CDNA4 shapes come in two runs of 16 per lane; narrower ones are 32 in a row.
    const lanesPerRow = 64 / op.m;
    const run = Math.floor(k / (16 * lanesPerRow));
    return [i + op.m * (Math.floor(k / 16) % lanesPerRow), (16 * run + (k % 16)) * bits];
  }
  const perLane = (op.m * op.k * op.blocks) / 64;
  const groups = op.blocks > 1 && op.a !== 'f64' ? op.k : perLane;
  return [i + op.m * (block + op.blocks * Math.floor(k / groups)), (k % groups) * bits];
}

/** Where C[i][j] and D[i][j] of a block live: register (or register pair for f64) and lane. */
export function outputPosition(op: MatrixOperation, block: number, i: number, j: number): [number, number] {
  if (op.d === 'f64') return op.m === 16 ? [i >> 2, 16 * (i & 3) + j] : [0, 16 * i + 4 * block + j];
  if (op.m === 32) return [16 * block + 4 * (i >> 3) + (i & 3), 32 * ((i >> 2) & 1) + j];
  if (op.m === 16) return [4 * block + (i & 3), 16 * (i >> 2) + j];
  return [i, 4 * block + j];
}
