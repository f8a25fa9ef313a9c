// v_div_scale and v_div_fixup on both engines: operands of every kind in every combination, in the modes, modifiers and halves that their
// words pass through.
import { describe, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

/** Bits of a fraction, the field of infinities, and distances of exponents at which something else happens. */
const FORMATS = {
  f16: [10, 31, []],
  f32: [23, 255, [96, -150, -126, -102]],
  f64: [52, 2047, [768, -1075, -1022, -969]],
} as const;

/** Quotients, denominators and numerators: zeros, denormals, ends of the range, infinities, quiet and signalling NaNs, other numbers. */
function operands(format: keyof typeof FORMATS): Uint8Array {
  const [fraction, top, distances] = FORMATS[format];
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
  let before = 0n;
  /** A number whose exponent is at such a distance from that of the number before, if there are any. */
  const distant = (): bigint => {
    const distance = distances[below(distances.length)];
    const field = (Number(before >> BigInt(fraction)) % (top + 1)) + (distance ?? 0) + below(5) - 2;
    return distance === undefined || field < 0 || field > top
      ? number()
      : (BigInt(field) << BigInt(fraction)) | (below(2) === 0 ? before & (one - 1n) : digits());
  };
  // Chunks of ordinary numbers, some with zeros as numerators, take another way.
  const ordinary = (): bigint =>
    (BigInt(below(2) * (top + 1) + (top - 1) / 2 + below(9) - 4) << BigInt(fraction)) | digits();
  const next = (i: number): bigint => {
    const chunk = Math.floor(i / 12) % 4;
    if (chunk === 0) return ordinary();
    if (chunk === 1 && i % 3 === 2 && below(2) === 0) return BigInt(below(2) * (top + 1)) << BigInt(fraction);
    if (chunk === 1 || (chunk === 2 && below(12) > 0)) return ordinary();
    return i % 3 === 2 && below(2) === 0 ? distant() : number();
  };
  const all = Array.from({ length: 3 * LANES }, (_, i) => {
    before = next(i);
    return before;
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
});

test('v_div_fixup_f16: halves of registers', async () => {
  const input = { words: 3, input: operands('f16') };
  await expectAgreement('v_div_fixup_f16 v2, v4, v5, v6 op_sel:[1,0,1,1]', input);
  await expectAgreement('v_div_fixup_legacy_f16 v2, v4, v5, v6', input);
});

describe.each(['f32', 'f64'] as const)('v_div_scale_%s', (format) => {
  const wide = format === 'f64';
  const input = { words: wide ? 6 : 3, input: operands(format) };
  const [d, a, b, c] = wide ? ['v[2:3]', 'v[4:5]', 'v[6:7]', 'v[8:9]'] : ['v2', 'v4', 'v5', 'v6'];
  const line = `v_div_scale_${format} ${d}, s[10:11],`;
  // Where the flag goes: of f64 a second time, for the number needs both registers.
  const flag = '\nv_cndmask_b32_e64 v3, 0, 1, s[10:11]';
  test.each(DENORMALS)('%s', async (mode) => {
    for (const x of [a, b, c]) {
      await expectAgreement(`${mode}${line} ${x}, ${b}, ${c}`, input);
      await expectAgreement(`${mode}${line} ${x}, ${b}, ${c}${flag}`, input);
    }
  });
  test('negated operands, constants, clamped and scaled results', async () => {
    await expectAgreement(`${line} ${b}, ${b}, 1.0`, input);
    await expectAgreement(`${line} 1.0, ${b}, 1.0${flag}`, input);
    await expectAgreement(`${line} ${c}, -${b}, ${c}${flag}`, input);
    await expectAgreement(`${NOT_IEEE}${line} ${c}, ${b}, ${c} clamp`, input);
    await expectAgreement(`${NOT_IEEE}${line} ${b}, ${b}, ${c} mul:4`, input);
  });
});
