// f64 arithmetic of both engines in every rounding and with every treatment of denormals, on operands where its code takes steps of its own.
import { test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const random = randomNumbers(29);
const below = (n: number): number => Math.floor(random() * n);
const sign = (): number => (random() < 0.5 ? -1 : 1);
const between = (low: number, high: number): number => sign() * (1 + random()) * 2 ** (low + below(high - low));
/** A number of few bits: its products and sums are often exact, or ties. */
const short = (low: number, high: number): number => sign() * (1 + below(16) / 16) * 2 ** (low + below(high - low));
const pick = (values: readonly number[]): number => values[below(values.length)] as number;

const LEAST = 2 ** -1022;
const SPECIAL = [
  ...[0, 1, Infinity, Number.NaN, 5e-324, LEAST, LEAST - 5e-324, Number.MAX_VALUE, 1 + 2 ** -52, 1 - 2 ** -53],
].flatMap((x) => [x, -x]);
const anything = (): number => (below(3) === 0 ? pick(SPECIAL) : between(-1074, 1023));
/** The last place of a number in the middle of the range. */
const lastPlace = (x: number): number => 2 ** (Math.floor(Math.log2(Math.abs(x))) - 52);

/** Operands a, b and c: a + c, a · b and a·b + c are made of them. */
const OPERANDS: (() => [number, number, number])[] = [
  () => [between(-5, 5), between(-5, 5), between(-60, 60)],
  () => [between(-1074, 1023), between(-1074, 1023), between(-1074, 1023)],
  () => [short(-10, 10), short(-10, 10), short(-70, 10)],
  () => [anything(), anything(), anything()],
  // Exact results, and zeros among other numbers.
  () => [sign() * below(100), sign() * below(100), sign() * below(1000)],
  () => [Math.fround(between(-9, 9)), Math.fround(between(-9, 9)), Math.fround(between(-3, 3))],
  () => [pick([0, -0]), between(-20, 20), pick([0, -0, 5e-324, LEAST])],
  () => [pick([0, -0, between(-20, 20)]), between(-20, 20), between(-20, 20)],
  // Sums of a and c that are ties, or next to one.
  () => {
    const a = between(-20, 20);
    return [a, pick([1, -1, 2]), sign() * lastPlace(a) * pick([0.25, 0.5, 1, 1.5]) * (1 + pick([-1, 0, 1]) * 2 ** -52)];
  },
  // c takes a, or the product, away, nearly or fully; the error of a product.
  () => {
    const a = between(-20, 20);
    return [a, pick([1, -1]), sign() * (a + pick([-1, 0, 1, 2]) * lastPlace(a))];
  },
  () => {
    const [a, b] = [between(-300, 300), between(-300, 300)];
    return [a, b, -a * b * (1 + pick([0, 0, 1, -1, 2]) * 2 ** -52)];
  },
  // Products so small that only the sign of the result's error is left of them.
  () => [between(-1074, -600), between(-520, -200), pick([0, -0, 1, between(-3, 3), between(-900, -300)])],
  // Products and sums that are denormal, vanish or have an error that does, and those that overflow.
  () => [between(-520, -480), between(-520, -480), between(-1074, -900)],
  () => {
    const [a, b] = [1, 2].map(() => sign() * (1 + 2 ** -52) * 2 ** -(475 + below(12))) as [number, number];
    return [a, b, pick([0, -0, between(-1000, -900)])];
  },
  () => [between(500, 523), between(500, 523), between(1000, 1023)],
  () => [between(1000, 1023), between(0, 20), between(1000, 1023)],
  () => [
    sign() * Number.MAX_VALUE,
    pick([1, -1, 1 + 2 ** -52]),
    sign() * 2 ** (967 + below(6)) * pick([1, 1 + 2 ** -52]),
  ],
];

/** Three operands a lane, in v[4:5], v[6:7] and v[8:9]. In half of the wavefronts all are of one kind, in others they change. */
function operands(): Uint8Array {
  const values = new Float64Array(3 * LANES);
  for (let lane = 0; lane < LANES; lane++) {
    const kind = lane < LANES / 2 ? lane >> 6 : lane;
    values.set((OPERANDS[kind % OPERANDS.length] as () => number[])(), 3 * lane);
  }
  return new Uint8Array(values.buffer);
}

const CODES = [
  'v_add_f64 v[2:3], v[4:5], v[8:9]',
  'v_add_f64 v[2:3], -|v[4:5]|, v[8:9]',
  'v_mul_f64 v[2:3], v[4:5], v[6:7]',
  'v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]',
  'v_fma_f64 v[2:3], v[4:5], -v[6:7], v[8:9] clamp',
  'v_mov_b64_e32 v[2:3], v[8:9]\nv_fmac_f64_e32 v[2:3], v[4:5], v[6:7]',
  // VCC has every second lane.
  'v_div_fmas_f64 v[2:3], v[4:5], v[6:7], v[8:9]',
  'v_ldexp_f64 v[2:3], v[4:5], v7',
  // Some lanes only, and wavefronts' halves.
  `s_mov_b32 exec_lo, 0x5a71f00f
s_mov_b32 exec_hi, 0x80000001
v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]
v_add_f64 v[2:3], v[2:3], v[4:5]
s_mov_b64 exec, -1`,
];

const MODES = [0, 1, 2, 3].flatMap((rounding) => [0, 1, 2, 3].map((denormals) => [rounding, denormals] as const));

test.each(MODES)(
  'f64 in rounding %i with denormals %i',
  async (rounding, denormals) => {
    const input = operands();
    // MODE's rounding of f64 is in bits 2 and 3, what it does to denormals in bits 6 and 7.
    const mode = `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${0x30 | (denormals << 6) | (rounding << 2)}`;
    for (const code of CODES) await expectAgreement(`${mode}\n${code}`, { words: 6, input });
  },
  60_000,
);
