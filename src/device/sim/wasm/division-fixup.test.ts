// v_div_fixup on both engines: operands of every kind in every combination, in the modes, modifiers and halves that its words pass through.
import { describe, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const FORMATS = { f16: [10, 31], f32: [23, 255], f64: [52, 2047] } as const;

/** Quotients, denominators and numerators: zeros, denormals, ends of the range, infinities, quiet and signalling NaNs, other numbers. */
function operands(format: keyof typeof FORMATS): Uint8Array {
  const [fraction, top] = FORMATS[format];
  const random = randomNumbers(fraction);
  const below = (n: number): number => Math.floor(random() * n);
  const one = 1n << BigInt(fraction);
  const digits = (): bigint => (BigInt(below(2 ** 26)) * BigInt(below(2 ** 26))) & (one - 1n);
  const fractions = [() => 0n, () => 1n, () => one - 1n, () => one >> 1n, () => (one >> 1n) | 1n, digits, digits];
  const fields = [0, 0, 1, top, top, top - 1, (top - 1) / 2];
  const number = (): bigint => {
    const field = below(3) === 0 ? below(top + 1) : (fields[below(fields.length)] as number);
    const chosen = (fractions[below(fractions.length)] as () => bigint)();
    return (BigInt(below(2) * (top + 1) + field) << BigInt(fraction)) | chosen;
  };
  // Chunks of ordinary numbers, some with zeros as numerators, take another way.
  const ordinary = (): bigint =>
    (BigInt(below(2) * (top + 1) + (top - 1) / 2 + below(9) - 4) << BigInt(fraction)) | digits();
  const all = Array.from({ length: 3 * LANES }, (_, i) => {
    const chunk = Math.floor(i / 12) % 4;
    if (chunk === 0) return ordinary();
    if (chunk === 1 && i % 3 === 2 && below(2) === 0) return BigInt(below(2) * (top + 1)) << BigInt(fraction);
    return chunk === 1 || (chunk === 2 && below(12) > 0) ? ordinary() : number();
  });
  if (format === 'f64') return new Uint8Array(BigUint64Array.from(all).buffer);
  // The high half of a word with an f16 has another number.
  const words = all.map((x) => Number(format === 'f16' ? x | (number() << 16n) : x));
  return new Uint8Array(Uint32Array.from(words).buffer);
}

const DENORMALS = [0, 5, 10, 15].map((value) => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), ${value}\n`);
const NOT_IEEE = 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0\n';

describe.each(['f16', 'f32', 'f64'] as const)('v_div_fixup_%s', (format) => {
  const wide = format === 'f64';
  const input = { words: wide ? 6 : 3, input: operands(format) };
  const [d, a, b, c] = wide ? ['v[2:3]', 'v[4:5]', 'v[6:7]', 'v[8:9]'] : ['v2', 'v4', 'v5', 'v6'];
  const name = `v_div_fixup_${format}`;
  test.each(DENORMALS)('%s', async (mode) => {
    await expectAgreement(`${mode}${name} ${d}, ${a}, ${b}, ${c}`, input);
  });
  test('negated and absolute operands, constants', async () => {
    await expectAgreement(`${name} ${d}, -${a}, |${b}|, -|${c}|`, input);
    await expectAgreement(`${name} ${d}, ${a}, 0, ${c}`, input);
    await expectAgreement(`${name} ${d}, ${a}, ${b}, -2.0`, input);
  });
  test('clamped and scaled results', async () => {
    await expectAgreement(`${name} ${d}, ${a}, ${b}, ${c} clamp`, input);
    if (format !== 'f16') await expectAgreement(`${NOT_IEEE}${name} ${d}, ${a}, ${b}, ${c} mul:2`, input);
  });
  test.runIf(format === 'f16')('halves of registers', async () => {
    await expectAgreement(`${name} v2, v4, v5, v6 op_sel:[1,0,1,1]`, input);
    await expectAgreement('v_div_fixup_legacy_f16 v2, v4, v5, v6', input);
  });
});
