// Matrix instructions of one block that share operands, with writers of these registers between them: compiled code against the
// interpreter, all registers bit for bit.
import { describe, expect, it } from 'vitest';
import { makeMachine } from '../../../../../tests/support/engine-compare.ts';
import { DEFAULT_MODE, parse } from '../../../../../tests/support/one-instruction.ts';
import { randomNumbers } from '../../../../base/index.ts';
import { encode } from '../../../../isa/index.ts';
import type { TargetName } from '../../../../isa/types.ts';
import { enableRelaxedSimd } from '../../../node/v8-flags.ts';
import { Interpreter } from '../../interpreter/interpreter.ts';
import type { MatrixMode } from '../../interpreter/matrix.ts';
import { MATRIX_SCRATCH } from '../../state/layout.ts';
import { EXEC, LANES } from '../../state/wave.ts';
import { CompiledEngine } from '../engine.ts';

enableRelaxedSimd();

/** Matrix instructions whose A and B are 2 registers and whose C and D are 4 or 16, by target. */
const PRODUCTS: Readonly<Record<string, readonly (readonly [mnemonic: string, results: number])[]>> = {
  gfx90a: [
    ['v_mfma_f32_16x16x16f16', 4],
    ['v_mfma_f32_32x32x8f16', 16],
    ['v_mfma_f32_16x16x16bf16_1k', 4],
    ['v_mfma_f64_16x16x4f64', 8],
  ],
  gfx942: [
    ['v_mfma_f32_16x16x16_f16', 4],
    ['v_mfma_f32_32x32x8_f16', 16],
    ['v_mfma_f32_16x16x16_bf16', 4],
    ['v_mfma_f32_16x16x8_xf32', 4],
    ['v_mfma_f32_16x16x32_fp8_fp8', 4],
    ['v_mfma_f32_16x16x32_bf8_fp8', 4],
    ['v_mfma_f32_32x32x16_fp8_bf8', 16],
    ['v_mfma_i32_16x16x32_i8', 4],
  ],
  gfx950: [
    ['v_mfma_f32_16x16x16_f16', 4],
    ['v_mfma_f32_32x32x8_bf16', 16],
    ['v_mfma_f32_16x16x32_fp8_bf8', 4],
    ['v_mfma_i32_16x16x32_i8', 4],
  ],
};

const pair = (first: number): string => `v[${first}:${first + 1}]`;

/** A sequence of products of the registers v0–v11; every third instruction writes some of them. */
function sequence(target: TargetName, random: (n: number) => number): string[] {
  const products = PRODUCTS[target] as readonly (readonly [string, number])[];
  // Most sequences have one kind of product, so that operands are found staged.
  const kinds = random(3) === 0 ? products : [products[random(products.length)] as readonly [string, number]];
  return Array.from({ length: 30 }, (_, n) => {
    const register = random(12);
    const even = 2 * random(6);
    if (n % 3 === 2) {
      const writers = [
        `v_mov_b32_e32 v${register}, v${12 + random(4)}`,
        `v_swap_b32 v${register}, v${12 + random(4)}`,
        `v_and_b32_sdwa v${register}, v12, v13 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD`,
        `v_pk_add_f16 v${register}, v12, v13`,
        `v_accvgpr_read_b32 v${register}, a${random(8)}`,
        `v_readfirstlane_b32 s4, v${register}`,
        `ds_read_b64 ${pair(even)}, v16`,
        `s_mov_b32 exec_lo, 0x${(0xffff0000 + random(65536)).toString(16)}`,
        `s_nop 0`,
      ];
      return writers[random(writers.length)] as string;
    }
    const [mnemonic, results] = kinds[random(kinds.length)] as readonly [string, number];
    // Some results go over the operands of later ones.
    const d = results <= 8 && random(4) === 0 ? 4 * random(2) : 32;
    const result = `v[${d}:${d + results - 1}]`;
    const pattern = !/f64|xf32|fp8|bf8|i8/.test(mnemonic) && random(6) === 0 ? ' blgp:1' : '';
    return `${mnemonic} ${result}, ${pair(even)}, ${pair(2 * random(6))}, ${random(3) === 0 ? '0' : result}${pattern}`;
  });
}

/** Register words that are elements between 2^-8 and 2 in every format. */
const tame = (random: (n: number) => number): number => {
  const byte = (): number => 0x38 + random(8);
  return (byte() << 24) | (random(256) << 16) | (byte() << 8) | random(128);
};

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('products that share operands on %s', (target) => {
  it.each(['exact', 'fast'] as const)('should see every change of an operand: %s', (mfma: MatrixMode) => {
    const next = randomNumbers(0x57a6ed);
    const random = (n: number): number => Math.floor(next() * n);
    const problems: string[] = [];
    for (let round = 0; round < 25; round++) {
      const text = [...sequence(target, random), 's_endpgm'];
      const code = text.flatMap((line) => [...new Uint32Array(encode(parse(target, line)).buffer)]);
      const { w, loaded, block } = makeMachine(target, Uint32Array.from(code));
      w.setS64(EXEC, -1n);
      w.setMode(DEFAULT_MODE);
      for (let i = 0; i < 48 * LANES; i++) w.vgprs[i] = tame(random);
      for (let i = 256 * LANES; i < 264 * LANES; i++) w.vgprs[i] = tame(random);
      for (let lane = 0; lane < LANES; lane++) w.vgprs[16 * LANES + lane] = 8 * lane;
      const lds = new Int32Array(w.workgroup.lds.buffer, w.workgroup.lds.byteOffset, 2 * LANES);
      for (let i = 0; i < lds.length; i++) lds[i] = tame(random);
      const start = block.slice();
      const reference = new Interpreter(loaded);
      loaded.useMatrixMode(mfma);
      reference.runWave(w, 1000, true);
      const expected = block.slice(0, MATRIX_SCRATCH);
      block.set(start);
      w.setMode(DEFAULT_MODE);
      new CompiledEngine({ loaded, memory: w.memory, launch: { mfma } }).runWave(w, 1000, true);
      const at = expected.findIndex((byte, i) => i >= 1024 && byte !== block[i]);
      if (at >= 0) problems.push(`v${(at - 1024) >> 8} differs after\n${text.join('\n')}`);
    }
    expect(problems).toEqual([]);
  });
});
