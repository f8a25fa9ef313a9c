// Matrix instructions on the virtual GPU: ns per instruction of compiled code, fast and exact, and of the interpreter; GMAC/s of one core.
// Run: npm run bench sim-matrix [--plain: without relaxed SIMD]. Rounds are interleaved; the figures are medians.
// One instruction is repeated and its code is warm: this is the time of the instruction, not of a kernel (bench sim-gemm) or a process.
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { bindMatrix } from '../src/device/sim/interpreter/matrix.ts';
import { matrixFeatures, PLAIN_SIMD } from '../src/device/sim/wasm/features.ts';
import type { TargetName } from '../src/isa/types.ts';
import { compileMatrix, matrixOperation } from '../tests/support/compiled-matrix.ts';
import { makeWave, parse } from '../tests/support/one-instruction.ts';

enableRelaxedSimd();

const CASES: [TargetName, string][] = [
  ['gfx90a', 'v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx90a', 'v_mfma_f32_32x32x8bf16_1k v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]'],
  ['gfx942', 'v_mfma_f32_32x32x2_f32 v[0:15], v16, v18, v[0:15]'],
  ['gfx942', 'v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx942', 'v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx942', 'v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx942', 'v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx942', 'v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]'],
  ['gfx942', 'v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_mfma_f32_32x32x16_bf8_bf8 v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_mfma_i32_32x32x16_i8 v[0:15], v[16:17], v[18:19], v[0:15]'],
  ['gfx942', 'v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10'],
  ['gfx950', 'v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]'],
  ['gfx950', 'v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], v[0:15]'],
  ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]'],
  ['gfx950', 'v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v20, v21 cbsz:4 blgp:4'],
  ['gfx950', 'v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15], v32, v33'],
];
const ROUNDS = 7;
/** About this many ns of work in a round. */
const ROUND_NS = 2e7;

const median = (xs: number[]): number => xs.sort((x, y) => x - y)[xs.length >> 1] as number;

/** ns of one call of `run`, which does `count` instructions. */
function time(run: () => void, count: number): number {
  const start = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - start) / count;
}

const features = process.argv.includes('--plain') ? PLAIN_SIMD : matrixFeatures();
console.log('Timed: one instruction again and again, code and data warm; no process start, no kernel around it.');
console.log(`relaxed SIMD: ${features.relaxed}, fused: ${features.fused}`);
console.log(
  `${'instruction'.padEnd(46)}${'fast ns'.padStart(9)}${'exact ns'.padStart(10)}${'ratio'.padStart(7)}${'interp ns'.padStart(11)}${'GMAC/s fast'.padStart(13)}${'exact'.padStart(7)}`,
);
for (const [target, text] of CASES) {
  const instruction = parse(target, text);
  const op = matrixOperation(instruction);
  const w = makeWave(target);
  const prepare = (): void => {
    for (let r = 0; r < 64; r++) {
      for (let lane = 0; lane < 64; lane++) {
        // Values of every operand format near 1: f64 and f32 1.x, halves 1.x, bytes of middle exponents.
        const h = Math.imul(r * 64 + lane + 1, 0x9e3779b1);
        const bits =
          op.a === 'f64' || op.a === 'f32' || op.a === 'xf32' || op.a === 'bf16'
            ? (h & 0x803f803f) | (op.a === 'bf16' ? 0x3f003f80 : 0x3f800000)
            : op.a === 'f16'
              ? (h & 0x83ff83ff) | 0x38003c00
              : (h & 0xbfbfbfbf) | 0x20202020;
        w.vgprs[r * 64 + lane] = bits;
      }
    }
    const base = op.a === 'f8f6f4' ? 0x7f7f7f7f : 0;
    for (const r of op.a === 'f8f6f4' ? [20, 21, 32, 33] : []) w.vgprs.fill(base, r * 64, r * 64 + 64);
    w.vgprs.fill(0, 0, 4 * 64);
  };
  const modes = (['fast', 'exact'] as const).map((mode) => compileMatrix(w, target, instruction, mode, features));
  const step = bindMatrix(instruction, op, target, 'exact');
  const samples: number[][] = [[], [], []];
  const counts = modes.map((compiled) => {
    if (compiled === undefined) return 0;
    prepare();
    compiled.run(w, 200);
    return Math.max(10, Math.round(ROUND_NS / time(() => compiled.run(w, 2000), 2000)));
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, compiled] of modes.entries()) {
      if (compiled === undefined) continue;
      prepare();
      let fallbacks = 0;
      const count = counts[i] as number;
      samples[i]?.push(
        time(() => {
          fallbacks = compiled.run(w, count);
        }, count),
      );
      if (fallbacks > 0) throw new Error(`${text}: ${fallbacks} of ${count} went to the interpreter`);
    }
    if (round < 3) {
      prepare();
      samples[2]?.push(time(() => step(w), 1));
    }
  }
  const [fast, exact, interpreter] = samples.map((s) => (s.length === 0 ? Number.NaN : median(s))) as [
    number,
    number,
    number,
  ];
  const macs = op.m * op.n * op.k * op.blocks;
  console.log(
    `${`${target} ${instruction.row.mnemonic}`.padEnd(46)}${fast.toFixed(0).padStart(9)}${exact.toFixed(0).padStart(10)}${(exact / fast).toFixed(2).padStart(7)}${interpreter.toFixed(0).padStart(11)}${(macs / fast).toFixed(2).padStart(13)}${(macs / exact).toFixed(2).padStart(7)}`,
  );
}
