// f32 arithmetic of both engines in every rounding and with every treatment of denormals, on operands where its code takes steps of its own.
import { expect, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';
import { matrixFeatures } from './features.ts';

enableRelaxedSimd();

const random = randomNumbers(23);
const below = (n: number): number => Math.floor(random() * n);
const sign = (): number => (random() < 0.5 ? -1 : 1);
const between = (low: number, high: number): number => sign() * (1 + random()) * 2 ** (low + below(high - low));
/** A number of few bits: its products and sums are often exact, or ties. */
const short = (low: number, high: number): number => sign() * (1 + below(16) / 16) * 2 ** (low + below(high - low));
const pick = (values: readonly number[]): number => values[below(values.length)] as number;

const LARGEST = 3.4028234663852886e38;
const SPECIAL = [
  ...[0, 1, Infinity, Number.NaN, 2 ** -149, 2 ** -126, 2 ** -126 - 2 ** -149, LARGEST, 1 + 2 ** -23, 1 - 2 ** -24],
].flatMap((x) => [x, -x]);
const anything = (): number => (below(3) === 0 ? pick(SPECIAL) : between(-149, 127));
/** The last place of a number in the middle of the range. */
const lastPlace = (x: number): number => 2 ** (Math.floor(Math.log2(Math.abs(x))) - 23);

/** Operands a, b and c: a + c, a · b and a·b + c are made of them. */
const OPERANDS: (() => [number, number, number])[] = [
  () => [between(-5, 5), between(-5, 5), between(-30, 30)],
  () => [between(-149, 127), between(-149, 127), between(-149, 127)],
  () => [short(-10, 10), short(-10, 10), short(-40, 10)],
  () => [anything(), anything(), anything()],
  // Exact results, and zeros among other numbers.
  () => [sign() * below(100), sign() * below(100), sign() * below(1000)],
  () => [pick([0, -0]), between(-20, 20), pick([0, -0])],
  () => [pick([0, -0, between(-20, 20)]), between(-20, 20), between(-20, 20)],
  // Sums of a and c that are ties, or next to one.
  () => {
    const a = between(-20, 20);
    return [a, pick([1, -1, 2]), sign() * lastPlace(a) * pick([0.25, 0.5, 1, 1.5]) * (1 + pick([-1, 0, 1]) * 2 ** -23)];
  },
  // c takes a, or the product, away, nearly or fully.
  () => {
    const a = between(-20, 20);
    return [a, pick([1, -1]), sign() * (Math.fround(a) + pick([-1, 0, 1, 2]) * lastPlace(a))];
  },
  () => {
    const [a, b] = [Math.fround(between(-20, 20)), Math.fround(between(-20, 20))];
    return [a, b, -a * b * (1 + pick([0, 0, 1, -1, 2]) * 2 ** -23)];
  },
  // Products that are f32 and addends far below their last places, below those of f64 too.
  () => [short(-3, 3), short(-3, 3), between(-149, -20)],
  () => [between(-3, 3), pick([1, -1, 2]), between(-80, -20)],
  () => [between(-149, -60), between(-80, -20), pick([0, -0, 1, between(-3, 3), between(-20, 20)])],
  // Products and sums that are denormal, vanish or have an error that does, and those that overflow.
  () => [between(-55, -45), between(-55, -45), between(-149, -120)],
  () => {
    const [a, b] = [1, 2].map(() => sign() * (1 + 2 ** -23) * 2 ** -(46 + below(10))) as [number, number];
    return [a, b, pick([0, -0, between(-130, -90)])];
  },
  () => [between(-75, -60), between(-80, -60), pick([0, -0, between(-149, -130)])],
  () => [between(60, 64), between(60, 64), between(100, 127)],
  () => [between(120, 127), between(0, 8), between(120, 127)],
  () => [sign() * LARGEST, pick([1, -1, 1 + 2 ** -23]), sign() * 2 ** (100 + below(5)) * pick([1, 1 + 2 ** -23, 1.5])],
];

/** Two triples a lane, in v4, v6 and v8, and in v5, v7 and v9. In half of the wavefronts all are of one kind, in others they change. */
function operands(): Uint8Array {
  const values = new Float32Array(6 * LANES);
  for (let lane = 0; lane < LANES; lane++) {
    const kind = lane < LANES / 2 ? lane >> 6 : lane;
    for (const n of [0, 1]) {
      const triple = (OPERANDS[kind % OPERANDS.length] as () => number[])();
      for (const [k, x] of triple.entries()) values[6 * lane + 2 * k + n] = x;
    }
  }
  const words = new Uint32Array(values.buffer);
  // NaNs whose payload ends in ones or zeros.
  for (let lane = LANES - 64; lane < LANES; lane++)
    words[6 * lane + below(6)] = pick([0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001, 0xffc00000]);
  return new Uint8Array(words.buffer);
}

const CODES = [
  'v_add_f32_e32 v2, v4, v8\nv_sub_f32_e32 v3, v5, v9',
  'v_subrev_f32_e32 v2, v4, v8\nv_add_f32_e64 v3, -|v5|, v9',
  'v_mul_f32_e32 v2, v4, v6\nv_fma_f32 v3, v5, v7, v9',
  'v_mov_b32_e32 v2, v8\nv_fmac_f32_e32 v2, v4, v6\nv_mul_legacy_f32 v3, v5, v7',
  'v_fma_f32 v2, -v4, v6, |v8| clamp\nv_mul_f32_e64 v3, v5, v7 clamp',
  'v_pk_add_f32 v[2:3], v[4:5], v[8:9]',
  'v_pk_mul_f32 v[2:3], v[4:5], v[6:7]',
  'v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]',
  'v_sqrt_f32_e32 v2, v4\nv_div_fmas_f32 v3, v5, v7, v9',
  'v_sqrt_f32_e64 v2, |v8|\ns_mov_b64 vcc, 0\ns_nop 4\nv_div_fmas_f32 v3, v5, v7, v9',
  'v_ldexp_f32 v2, v4, v7\nv_fract_f32_e32 v3, v5',
  'v_cvt_f32_f64_e32 v2, v[4:5]\nv_cvt_f32_u32_e32 v3, v7',
  'v_dot2_f32_f16 v2, v4, v6, v8\nv_dot2_f32_f16 v3, v5, v7, v9',
  // Some lanes only, and wavefronts' halves.
  `s_mov_b32 exec_lo, 0x5a71f00f
s_mov_b32 exec_hi, 0x80000001
v_add_f32_e32 v2, v4, v8
v_fma_f32 v3, v5, v7, v9
s_mov_b64 exec, -1`,
];

const MODES = [0, 1, 2, 3].flatMap((rounding) => [0, 1, 2, 3].map((denormals) => [rounding, denormals] as const));

test.each(MODES)(
  'f32 in rounding %i with denormals %i',
  async (rounding, denormals) => {
    const input = operands();
    // MODE's rounding of f32 is in its two lowest bits, what it does to denormals in bits 4 and 5.
    const mode = `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${0xc0 | (denormals << 4) | rounding}`;
    for (const code of CODES) await expectAgreement(`${mode}\n${code}`, { words: 6, input });
  },
  60_000,
);

test('the host rounds once, so that products are made without f64', () => {
  expect(matrixFeatures().fused).toBe(true);
});
