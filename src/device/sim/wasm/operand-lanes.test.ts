// Constants of f16 operands on both engines: their values are known when code is written.
import { describe, test } from 'vitest';
import { expectAgreement } from '../../../../tests/support/lane-engines.ts';

const input = new Uint8Array(Uint32Array.from({ length: 8192 }, (_, i) => Math.imul(i, 0x9e3779b1)).buffer);

// Ordinary, denormal, the least and the largest of each, infinite, quiet and signalling NaNs, of both signs.
const CONSTANTS = [0x3555, 0x0001, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e01, 0xfd01, 0x0000, 0x8000];

// Denormals kept, and flushed where they are read.
describe.each(['0xc0', '0x00'])('MODE %s', (mode) => {
  const inMode = (code: string): string => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${mode}\n${code}`;

  test.each(CONSTANTS)('literal %i', async (constant) => {
    for (const code of [
      `v_madmk_f16 v2, v4, ${constant}, v4`,
      `v_madak_f16 v2, v4, v4, ${constant}`,
      `v_add_f16_e32 v2, ${constant}, v4`,
      `v_max_f16_e32 v2, ${constant}, v4`,
      `v_cvt_f32_f16_e32 v2, ${constant}`,
    ])
      await expectAgreement(inMode(code), { words: 1, input });
  });

  test.each([
    'v_fma_f16 v2, v4, 0.5, -4.0',
    'v_fma_f16 v2, v4, 1, 64',
    'v_fma_f16 v2, v4, -1, 0.15915494',
    'v_pk_fma_f16 v2, v4, 0.5, v4',
    'v_pk_fma_f16 v2, v4, 0.5, v4 op_sel_hi:[1,1,1]',
    'v_pk_fma_f16 v2, v4, 0.5, v4 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[0,1,0]',
    'v_pk_add_f16 v2, v4, 1.0 neg_lo:[0,1] neg_hi:[0,1]',
    'v_pk_mul_f16 v2, v4, 3',
    'v_pk_max_f16 v2, v4, -7 op_sel:[0,1]',
  ])('%s', async (code) => {
    await expectAgreement(inMode(code), { words: 1, input });
  });
});
