// v_frexp_mant, v_frexp_exp and v_ldexp on both engines: every exponent, denormals with one digit and with all, zeros, infinities and NaNs, with denormals
// kept and flushed, clamped, and counts beyond the powers of two that a number can be.
import { describe, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

/** The lowest ten bits of MODE: denormals kept, of f32 only flushed, flushed. */
const MODES = [0x3f0, 0x3c0, 0x300] as const;

/** Words of numbers whose fraction begins below the 11 bits of sign and exponent of `high`: all exponents, and fractions of every kind. */
function operands(exponentBits: number, hasLow: boolean): Uint8Array {
  const random = randomNumbers(11);
  const fractionBits = 31 - exponentBits;
  const words = new Int32Array(4 * LANES);
  const any = (): number => Math.floor(random() * 2 ** 32) | 0;
  for (let i = 0; i < LANES; i++) {
    const kind = i % 4;
    const exponent = kind === 0 ? 0 : kind === 1 ? 2 ** exponentBits - 1 : i % 2 ** exponentBits;
    const mask = 2 ** fractionBits - 1;
    const shape = Math.floor(random() * 4);
    const fraction = shape === 0 ? 0 : shape === 1 ? (1 << (i % fractionBits)) & mask : any() & mask;
    const low = shape === 0 ? (random() < 0.5 ? 0 : 1 << (i % 32)) : any();
    const high = (any() & 0x80000000) | (exponent << fractionBits) | fraction;
    // The second operand is a count, mostly a small one.
    words.set(hasLow ? [low, high, (any() % 2200) | 0, 0] : [high, any() % 320, 0, 0], 4 * i);
  }
  return new Uint8Array(words.buffer);
}

const double = operands(11, true);
const single = operands(8, false);

describe.each(MODES)('in mode %d', (mode) => {
  test.each([
    'v_frexp_mant_f64_e32 v[2:3], v[4:5]',
    'v_frexp_mant_f64_e64 v[2:3], -|v[4:5]| clamp',
    'v_frexp_exp_i32_f64_e32 v2, v[4:5]',
    'v_ldexp_f64 v[2:3], v[4:5], v6',
  ])('%s', async (code) => {
    await expectAgreement(`s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), ${mode}\n${code}`, {
      words: 4,
      input: double,
    });
  });
  test.each([
    'v_frexp_mant_f32_e32 v2, v4',
    'v_frexp_mant_f32_e64 v2, -v4 clamp',
    'v_frexp_exp_i32_f32_e32 v2, v4',
    'v_ldexp_f32 v2, v4, v5',
    'v_ldexp_f32 v2, -|v4|, v5 clamp',
    'v_sin_f32_e32 v2, v4',
    'v_cos_f32_e32 v2, v4',
    'v_cvt_sr_fp8_f32 v2, v4, v5',
    'v_cvt_sr_bf8_f32 v2, v4, v5',
  ])('%s', async (code) => {
    await expectAgreement(`s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), ${mode}\n${code}`, {
      words: 4,
      input: single,
    });
  });
});
