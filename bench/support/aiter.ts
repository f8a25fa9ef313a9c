// Hand-written kernels (AITER's, of ../shared) as dispatches that benchmarks time, with shapes that take some milliseconds.
import { attentionForward, latentDecode } from '../../tests/sim/kernels/aiter-attention.ts';
import { bf16Gemm, fp8Gemm, int8Gemm } from '../../tests/sim/kernels/aiter-gemm.ts';
import { moeStage1 } from '../../tests/sim/kernels/aiter-moe.ts';
import { hasCorpus, heldRuns } from '../../tests/sim/kernels/support.ts';
import type { Case, Opened } from './cases.ts';

const KERNELS: readonly [name: string, run: () => Promise<unknown>][] = [
  ['int8 GEMM 160x128 gfx942', () => int8Gemm('gfx942', 160, [320, 256, 2048])],
  ['fp8 GEMM 96x128 gfx942', () => fp8Gemm('gfx942', 96, [192, 256, 1024])],
  [
    'bf16 GEMM 64x64, split K, atomics gfx942',
    () =>
      bf16Gemm('gfx942', 'fp32bf16_tn_64x64_splitk_clean', [64, 64], [64, 64, 4096], {
        split: 2,
        shuffled: false,
        output: 'f32',
      }),
  ],
  [
    'attention forward, head 128 gfx942',
    () =>
      attentionForward('gfx942', 'fmha_v3_fwd_MI308_fwd_hd128_bf16_rtz', {
        batch: 1,
        queries: 512,
        keys: 512,
        heads: 1,
        keyHeads: 1,
        dimensions: [128, 128],
        causal: false,
        tile: 256,
      }),
  ],
  ['latent attention (MLA) decode gfx942', () => latentDecode('gfx942', [300, 137], 2)],
  [
    'fused MoE stage 1, int8 gfx942',
    () =>
      moeStage1('gfx942', 'fmoe_stage1_bf16_pertokenInt8_g1u1_16x256_3tg_pf2', 'i8', {
        tokens: 64,
        experts: 4,
        topk: 2,
        dim: 2048,
        inter: 256,
        tile: [16, 256],
      }),
  ],
];

/** The first launch of a run, held until the case is closed; what would come behind it is left out. */
function held(run: () => Promise<unknown>): Promise<Opened> {
  return new Promise((opened, failed) => {
    heldRuns.hold = (held) => {
      heldRuns.hold = undefined;
      return new Promise((_, leave) => opened({ ...held, close: () => leave(new Error('the case is closed')) }));
    };
    run().catch(failed);
  });
}

/** Nothing, and a line that says so, where the kernels are not there. */
export function aiterCases(): readonly Case[] {
  if (!hasCorpus) {
    console.log('The AITER kernels are left out: ../shared is not there.');
    return [];
  }
  return KERNELS.map(([name, run]) => ({ name: `AITER ${name}`, open: () => held(run) }));
}
