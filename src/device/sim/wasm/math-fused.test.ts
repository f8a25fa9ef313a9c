// v_div_fmas_f64 and v_perm_b32 on both engines, on operands where their code takes steps of its own: denormal results and ties of them,
// sums that overflow before they are scaled, every selector of bytes.
import { test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

test('v_div_fmas_f64', async () => {
  const random = randomNumbers(7);
  const below = (n: number): number => Math.floor(random() * n);
  const sign = (): number => (random() < 0.5 ? -1 : 1);
  const between = (low: number, high: number): number => sign() * (1 + random()) * 2 ** (low + below(high - low));
  const grid = 2 ** -946;
  const special = [0, -0, 1, -1, 2, -2, Infinity, -Infinity, Number.NaN, 5e-324, -5e-324, 2 ** -1022, 2 ** -894, grid];
  const cases: (() => [number, number, number])[] = [
    () => [between(-1074, 1023), between(-1074, 1023), between(-1074, 1023)],
    // A quotient of which the scaled value is denormal, with the small correction of a division.
    () => {
      const c = between(-1010, -890);
      return [between(-40, 40), (c * between(-60, -50)) / 2 ** 20, c];
    },
    // Ties of the denormal grid, and what breaks them.
    () => [between(-600, -450), between(-600, -450), sign() * (2 * below(2 ** 30) + 1) * (grid / 2)],
    () => [between(-30, 30), between(-1074, -1000), sign() * (2 * below(8) + 1) * (grid / 2)],
    () => [0, between(0, 10), sign() * (2 * below(2 ** 30) + 1) * (grid / 2)],
    // Overflow before the scale.
    () => [between(480, 560), between(480, 560), between(-1074, 1)],
    // Scaled up.
    () => [between(-500, 500), between(-500, 500), between(1, 1023)],
    () => [special[below(special.length)], special[below(special.length)], special[below(special.length)]] as never,
    () => [between(-3, 3), between(-450, -440), special[below(special.length)] as number],
  ];
  const values = new Float64Array(3 * LANES);
  for (let i = 0; i < LANES; i++) values.set((cases[i % cases.length] as () => number[])(), 3 * i);
  const code = 'v_div_fmas_f64 v[2:3], v[4:5], v[6:7], v[8:9]';
  await expectAgreement(code, { words: 6, input: new Uint8Array(values.buffer) });
});

test('v_perm_b32', async () => {
  const random = randomNumbers(3);
  const words = Uint32Array.from({ length: 4 * LANES }, (_, i) => {
    const any = Math.floor(random() * 2 ** 32);
    // Of most selectors only the low four bits count.
    return i % 4 === 2 && random() < 0.8 ? any & 0x0f0f0f0f : any;
  });
  await expectAgreement('v_perm_b32 v2, v4, v5, v6', { words: 4, input: new Uint8Array(words.buffer) });
});
