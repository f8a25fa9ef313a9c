// Operators of f16 that are looked up, for all operands, on both engines: modes, modifiers, parts of registers.
import { describe, test } from 'vitest';
import { expectAgreement } from '../../../../tests/support/lane-engines.ts';

// Every operand once in eight dispatches of 8,192 lanes; the high half has others.
const words = (part: number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: 8192 }, (_, i) => ((i * 40503) << 16) | (part * 8192 + i)).buffer);

describe.each(['log', 'sin', 'cos'])('v_%s_f16', (name) => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])('part %d of all operands', async (part) => {
    await expectAgreement(`v_${name}_f16_e32 v2, v4`, { words: 1, input: words(part) });
  });

  // Denormals flushed where they are read, where they are written, in both places; other roundings; infinities become the largest number.
  test.each([0x00, 0x40, 0x80, 0xc4, 0xc8, 0xcc])('mode %d', async (mode) => {
    for (const part of [0, 4]) {
      const code = `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${mode}\nv_${name}_f16_e32 v2, v4`;
      await expectAgreement(code, { words: 1, input: words(part) });
    }
  });

  test.each([
    `v_${name}_f16_e64 v2, -v4`,
    `v_${name}_f16_e64 v2, |v4|`,
    `v_${name}_f16_e64 v2, -|v4|`,
    `v_${name}_f16_e64 v2, v4 clamp`,
    `v_${name}_f16_e64 v2, v4 mul:2`,
    `v_${name}_f16_sdwa v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1`,
    `v_${name}_f16_sdwa v2, -|v4| dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:BYTE_1`,
    `v_${name}_f16_dpp v2, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf`,
    `v_${name}_f16_e32 v2, 0.5`,
    `v_${name}_f16_e32 v2, s0`,
  ])('%s', async (code) => {
    for (const part of [1, 5]) await expectAgreement(code, { words: 1, input: words(part) });
  });
});

test('the largest number in the place of infinities (gfx950)', async () => {
  const code = (name: string): string => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\nv_${name}_f16_e32 v2, v4`;
  for (const name of ['log', 'sin', 'cos']) {
    for (const part of [0, 3, 4, 7]) await expectAgreement(code(name), { words: 1, input: words(part) }, 'gfx950');
  }
});
