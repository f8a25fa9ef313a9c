// The steps of a division on both engines where numerators are zeros beside ordinary numbers, denormals, infinities and NaNs.
import { test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const random = randomNumbers(41);
const SPECIAL = [0, -0, 0, -0, 0, -0, 5e-324, Infinity, -Infinity, NaN, 1e308, 1e-40];
const ordinary = (): number => (random() - 0.5) * 2 ** Math.floor(40 * random() - 20);

/** Quotient, denominator and numerator of each lane, as f64: of a wavefront one of four numerators, or few operands, are special. */
function doubles(): Float64Array {
  const rare = (chance: number): number =>
    random() < chance ? (SPECIAL[Math.floor(random() * SPECIAL.length)] as number) : ordinary();
  return Float64Array.from({ length: 3 * LANES }, (_, i) => {
    const wave = Math.floor(i / (3 * 64));
    if (i % 3 === 2) return wave % 2 === 0 && random() < 0.25 ? (random() < 0.5 ? 0 : -0) : rare(0.02);
    return rare(wave % 4 === 3 ? 0.2 : i % 3 === 0 ? 0.02 : 0);
  });
}

const FLUSH = 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0\n';
const F64 = ['v[4:5], v[6:7], v[8:9]', 'v[8:9], v[6:7], v[8:9]', 'v[6:7], v[6:7], v[8:9]'];
const F32 = ['v4, v5, v6', 'v6, v5, v6', 'v5, v5, v6'];
const FLAG = '\nv_cndmask_b32_e64 vR, 0, 1, s[10:11]';

test.each(['', FLUSH])('should agree on the steps of divisions%s', async (mode) => {
  const values = doubles();
  const wide = { words: 6, input: new Uint8Array(values.buffer) };
  const narrow = { words: 3, input: new Uint8Array(Float32Array.from(values).buffer) };
  for (const operands of F64) {
    const scale = `${mode}v_div_scale_f64 v[2:3], s[10:11], ${operands}`;
    await expectAgreement(scale, wide);
    await expectAgreement(`${scale}${FLAG.replace('R', '3')}`, wide);
    await expectAgreement(`${mode}v_div_fixup_f64 v[2:3], ${operands}`, wide);
  }
  for (const operands of F32) {
    await expectAgreement(`${mode}v_div_scale_f32 v2, s[10:11], ${operands}${FLAG.replace('R', '3')}`, narrow);
    await expectAgreement(`${mode}v_div_fixup_f32 v2, ${operands}`, narrow);
  }
  await expectAgreement(`${mode}v_div_fixup_f16 v2, v4, v5, v6`, narrow);
});

/** Numbers of the whole range with the fractions whose quotients are nearest to a power of two. */
function wholeRange(fractionBits: number, top: number): () => bigint {
  const one = 1n << BigInt(fractionBits);
  const fraction = (): bigint => {
    const digits = BigInt(Math.floor(random() * 2 ** 26)) * BigInt(Math.floor(random() * 2 ** 26));
    return [0n, one - 1n, 1n, one >> 1n][Math.floor(random() * 8)] ?? digits & (one - 1n);
  };
  const field = (): number => {
    const near = Math.floor(random() * 4);
    const choice = random();
    if (choice < 0.2) return near === 0 ? top : 0;
    if (choice < 0.4) return top - near;
    if (choice < 0.5) return near;
    return Math.floor(random() * (top + 1));
  };
  return () => (BigInt(Math.floor(random() * 2) * (top + 1) + field()) << BigInt(fractionBits)) | fraction();
}

/** Such numbers, of which three belong to a lane. Denominators are chosen so that half of the quotients are near an end of the range. */
function farNumbers(fractionBits: number, top: number): bigint[] {
  const number = wholeRange(fractionBits, top);
  const shift = BigInt(fractionBits);
  return Array.from({ length: LANES }, () => {
    const [quotient, numerator] = [number(), number()];
    let denominator = number();
    const field = Number(numerator >> shift) % (top + 1);
    const wanted = field + (top - 1) / 2 - 2 + Math.floor(random() * 5);
    if (wanted < top && random() < 0.5) denominator = (BigInt(wanted) << shift) | (denominator & ((1n << shift) - 1n));
    return [quotient, denominator, numerator];
  }).flat();
}

test('should agree on divisions of numbers from the whole range', async () => {
  const wide = { words: 6, input: new Uint8Array(BigUint64Array.from(farNumbers(52, 2047)).buffer) };
  const narrow = { words: 3, input: new Uint8Array(Uint32Array.from(farNumbers(23, 255), Number).buffer) };
  for (const operands of F64) {
    await expectAgreement(`v_div_scale_f64 v[2:3], s[10:11], ${operands}`, wide);
    await expectAgreement(`v_div_scale_f64 v[2:3], s[10:11], ${operands}${FLAG.replace('R', '3')}`, wide);
    await expectAgreement(`v_div_fixup_f64 v[2:3], ${operands}`, wide);
  }
  for (const operands of F32) {
    await expectAgreement(`v_div_scale_f32 v2, s[10:11], ${operands}${FLAG.replace('R', '3')}`, narrow);
    await expectAgreement(`v_div_fixup_f32 v2, ${operands}`, narrow);
  }
});
