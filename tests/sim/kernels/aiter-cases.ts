// The hand-written kernels that run, with shapes small enough for a test, and how far each may be from its reference.
// Tolerances are relative to the largest reference value: what the kernels round (bf16 results 2^-9, P of attention in bf16 or fp8,
// the re-quantised intermediate of fused MoE), never more.
import { attentionForward, type ForwardShape, latentDecode, pagedAttention } from './aiter-attention.ts';
import { bf16Gemm, fp4Gemm, fp8Gemm, int8Gemm } from './aiter-gemm.ts';
import { fusedMoe, moeStage1 } from './aiter-moe.ts';
import { topkSoftmax } from './aiter-topk.ts';
import type { Outcome } from './support.ts';

/** A kernel, the largest relative error it may have, and the run. */
export type KernelCase = readonly [name: string, tolerance: number, run: () => Promise<Outcome>];

/** Results rounded to bf16, or cut to it. */
const BF16_RESULT = 2 ** -8;
const CUT_RESULT = 2 ** -7;

const forward: ForwardShape = {
  batch: 1,
  queries: 256,
  keys: 128,
  heads: 1,
  keyHeads: 1,
  dimensions: [128, 128],
  causal: false,
  tile: 256,
};
const latentShaped: ForwardShape = { ...forward, queries: 128, dimensions: [192, 128], tile: 128 };
const moe = { tokens: 9, experts: 4, topk: 2, dim: 512, inter: 256 };

/** By family. */
export const AITER_KERNELS: Readonly<Record<string, readonly KernelCase[]>> = {
  'top-k softmax': [
    ['gfx942 4x128x4', 1e-8, () => topkSoftmax('gfx942', '4x128x4', [4, 128, 4], 6, 'f32')],
    ['gfx942 12x256x8', 1e-8, () => topkSoftmax('gfx942', '12x256x8', [12, 256, 8], 14, 'f32')],
    ['gfx942 4x128x6_bf16', 1e-8, () => topkSoftmax('gfx942', '4x128x6_bf16', [4, 128, 6], 6, 'bf16')],
    ['gfx950 4x128x4', 1e-8, () => topkSoftmax('gfx950', '4x128x4', [4, 128, 4], 6, 'f32')],
    ['gfx950 4x128x6', 1e-8, () => topkSoftmax('gfx950', '4x128x6', [4, 128, 6], 6, 'f32')],
    ['gfx950 12x256x8', 1e-8, () => topkSoftmax('gfx950', '12x256x8', [12, 256, 8], 14, 'f32')],
  ],
  'int8 GEMM': [
    ['gfx942 48x128', CUT_RESULT, () => int8Gemm('gfx942', 48, [50, 128, 256])],
    ['gfx942 160x128', CUT_RESULT, () => int8Gemm('gfx942', 160, [160, 128, 256])],
    ['gfx950 16x128', CUT_RESULT, () => int8Gemm('gfx950', 16, [16, 256, 256])],
    ['gfx950 80x128', CUT_RESULT, () => int8Gemm('gfx950', 80, [80, 128, 256])],
    ['gfx950 128x128', CUT_RESULT, () => int8Gemm('gfx950', 128, [128, 128, 256])],
  ],
  'fp8 GEMM': [
    ['gfx942 32x128', CUT_RESULT, () => fp8Gemm('gfx942', 32, [32, 128, 256])],
    ['gfx942 96x128', CUT_RESULT, () => fp8Gemm('gfx942', 96, [96, 128, 256])],
    ['gfx950 64x128', CUT_RESULT, () => fp8Gemm('gfx950', 64, [64, 128, 256])],
    ['gfx950 128x128', CUT_RESULT, () => fp8Gemm('gfx950', 128, [128, 128, 256])],
  ],
  'fp4 GEMM': [
    ['gfx950 32x896', BF16_RESULT, () => fp4Gemm([32, 896], [32, 896, 256])],
    ['gfx950 32x1024', BF16_RESULT, () => fp4Gemm([32, 1024], [32, 1024, 256])],
    ['gfx950 128x512', BF16_RESULT, () => fp4Gemm([128, 512], [128, 512, 256])],
  ],
  'bf16 GEMM': [
    [
      'gfx942 48x64, split K, f32',
      1e-6,
      () =>
        bf16Gemm('gfx942', 'fp32bf16_tn_48x64_bshuffle_splitk_clean', [48, 64], [50, 128, 256], {
          split: 2,
          shuffled: true,
          output: 'f32',
        }),
    ],
    [
      'gfx942 64x64, split K, f32',
      1e-6,
      () =>
        bf16Gemm('gfx942', 'fp32bf16_tn_64x64_splitk_clean', [64, 64], [64, 64, 256], {
          split: 2,
          shuffled: false,
          output: 'f32',
        }),
    ],
    [
      'gfx942 160x64, split K, bf16',
      CUT_RESULT,
      () =>
        bf16Gemm('gfx942', 'fp32bf16_tn_160x64_bshuffle_splitk_clean', [160, 64], [160, 64, 256], {
          split: 2,
          shuffled: true,
          output: 'bf16',
        }),
    ],
    [
      'gfx950 32x64, split K, f32',
      1e-6,
      () =>
        bf16Gemm('gfx950', 'fp32bf16_tn_32x64_bshuffle_splitk', [32, 64], [32, 64, 256], {
          split: 2,
          shuffled: true,
          output: 'f32',
        }),
    ],
    [
      'gfx950 64x64, split K, bf16',
      CUT_RESULT,
      () =>
        bf16Gemm('gfx950', 'fp32bf16_tn_64x64_bshuffle_splitk', [64, 64], [64, 64, 256], {
          split: 2,
          shuffled: true,
          output: 'bf16',
        }),
    ],
    [
      'gfx950 256x256, bf16',
      BF16_RESULT,
      () =>
        bf16Gemm('gfx950', 'bf16_tn_256x256', [256, 256], [256, 256, 192], {
          split: 1,
          shuffled: false,
          output: 'bf16',
        }),
    ],
  ],
  'attention forward': [
    // P is cut to bf16 (rtz) or rounded (rtne).
    [
      'gfx942 head 128, rtz',
      2 ** -6,
      () => attentionForward('gfx942', 'fmha_v3_fwd_MI308_fwd_hd128_bf16_rtz', forward),
    ],
    [
      'gfx942 head 192/128, rtne',
      BF16_RESULT,
      () => attentionForward('gfx942', 'fmha_v3_fwd_MI300_fwd_hd192x128_bf16_rtne', latentShaped),
    ],
    [
      'gfx942 head 192/128, causal',
      BF16_RESULT,
      () =>
        attentionForward('gfx942', 'fmha_v3_fwd_MI300_fwd_hd192x128_bf16_causal_rtna', {
          ...latentShaped,
          keys: 128,
          causal: true,
        }),
    ],
    [
      'gfx950 head 192/128',
      BF16_RESULT,
      () => attentionForward('gfx950', 'fmha_v3_fwd_fwd_hd192_hd128_bf16', { ...latentShaped, keys: 256 }),
    ],
  ],
  'paged attention': [
    [
      'gfx942 bf16, two queries',
      BF16_RESULT,
      () =>
        pagedAttention('gfx942', 'pa_pa_bf16_noquant_gqa8_1tg_4w_mtp_msk0', {
          sequences: [
            { context: 300, queries: 2 },
            { context: 37, queries: 1 },
          ],
          keyHeads: 2,
          group: 8,
          formats: ['bf16', 'bf16'],
          scaled: false,
          causal: false,
        }),
    ],
    [
      'gfx942 f16, fp8 cache',
      2 ** -4,
      () =>
        pagedAttention('gfx942', 'pa_pa_fp16_pertokenFp8_gqa16_1tg_4w_mtp_msk1', {
          sequences: [{ context: 100, queries: 1 }],
          keyHeads: 1,
          group: 16,
          formats: ['f16', 'fp8fnuz'],
          scaled: true,
          causal: true,
        }),
    ],
    [
      'gfx942 a16w8',
      2 ** -4,
      () =>
        pagedAttention('gfx942', 'pa_a16w8_f16_2tg_g8_f8', {
          sequences: [{ context: 100, queries: 1 }],
          keyHeads: 1,
          group: 8,
          formats: ['f16', 'fp8fnuz'],
          scaled: true,
          causal: false,
        }),
    ],
    [
      'gfx950 bf16, fp8 cache, two queries',
      2 ** -4,
      () =>
        pagedAttention('gfx950', 'pa_pa_bf16_pertokenFp8_gqa8_1tg_4w_mtp_msk1', {
          sequences: [{ context: 100, queries: 2 }],
          keyHeads: 1,
          group: 8,
          formats: ['bf16', 'fp8'],
          scaled: true,
          causal: true,
        }),
    ],
    [
      'gfx950 bf16, int8 cache',
      2 ** -5,
      () =>
        pagedAttention('gfx950', 'pa_pa_bf16_pertokenInt8_gqa16_1tg_4w_mtp_msk1', {
          sequences: [{ context: 100, queries: 1 }],
          keyHeads: 1,
          group: 16,
          formats: ['bf16', 'i8'],
          scaled: true,
          causal: true,
        }),
    ],
    [
      'gfx950 f16, fp8 cache, high precision',
      2 ** -5,
      () =>
        pagedAttention('gfx950', 'pa_pa_fp16_pertokenFp8_gqa8_2tg_4w_hp', {
          sequences: [{ context: 100, queries: 1 }],
          keyHeads: 1,
          group: 8,
          formats: ['f16', 'fp8'],
          scaled: true,
          causal: false,
        }),
    ],
  ],
  'latent attention (MLA)': [
    ['gfx942 decode stage 1', BF16_RESULT, () => latentDecode('gfx942', [100, 37], 2)],
    ['gfx950 decode stage 1', BF16_RESULT, () => latentDecode('gfx950', [70], 2)],
  ],
  'fused MoE': [
    [
      'gfx942 stage 1, int8',
      BF16_RESULT,
      () => moeStage1('gfx942', 'fmoe_stage1_bf16_pertokenInt8_g1u1_16x256_3tg_pf2', 'i8', { ...moe, tile: [16, 256] }),
    ],
    [
      'gfx950 stage 1, fp8',
      BF16_RESULT,
      () =>
        moeStage1('gfx950', 'fmoe_stage1_bf16_pertokenFp8_g1u1_16x64_6tg_pf2', 'fp8', {
          ...moe,
          inter: 128,
          tile: [16, 64],
        }),
    ],
    [
      'gfx942 whole layer, int8, GELU',
      2 ** -4,
      () =>
        fusedMoe(
          'gfx942',
          'fmoe_gelu_fmoe_bf16_pertokenInt8_g1u1_gelu_1tg_32x128',
          { format: 'i8', output: 'bf16', activation: 'gelu', weightFirst: false },
          { ...moe, tokens: 5, experts: 2, inter: 128, tile: [32, 128] },
        ),
    ],
    [
      'gfx950 whole layer, fp8, SiLU, weights first',
      2 ** -4,
      () =>
        fusedMoe(
          'gfx950',
          'fmoe_silu_fmoe_bf16_pertokenFp8_g1u1_tkw1_silu_1tg_32x64',
          { format: 'fp8', output: 'bf16', activation: 'silu', weightFirst: true },
          { ...moe, tokens: 5, experts: 2, inter: 128, tile: [32, 64] },
        ),
    ],
  ],
};
