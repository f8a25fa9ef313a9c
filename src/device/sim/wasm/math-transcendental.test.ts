// exp, log, sin, cos and rsq of f32 and f16 on both engines: special numbers, exponents of the whole range, arguments where ranges are
// reduced, the ends of what is defined.
import { describe, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const SPECIAL = [0, -0, 1, -1, Infinity, -Infinity, Number.NaN, 128, -126, -126.5, 127.5, -149, -150, 2 ** -149, 0.125];
const TURNS = [
  0.5,
  -0.5,
  1.5,
  0.25,
  -0.75,
  256,
  -256,
  256.25,
  257,
  1e30,
  2 ** -126,
  2 ** 127,
  Math.SQRT1_2,
  Math.SQRT2,
];

describe.each(['exp', 'log', 'sin', 'cos', 'rsq'])('v_%s', (name) => {
  const random = randomNumbers(5);
  const signed = (): number => 2 * random() - 1;
  const pick = (list: readonly number[]): number => list[Math.floor(random() * list.length)] as number;
  const kinds: (() => number)[] = [
    () => signed() * 150,
    () => signed(),
    () => signed() * 2 ** (-40 * random()),
    () => signed() * 2 ** (250 * random() - 125),
    () => Math.round(signed() * 500) / 4 + signed() * 2 ** (-25 * random()),
    () => 1 + signed() * 2 ** (-23 * random()),
    () => pick([...SPECIAL, ...TURNS]),
  ];
  const values = Float32Array.from({ length: LANES }, (_, i) => (kinds[i % kinds.length] as () => number)());
  test('f32', async () => {
    await expectAgreement(`v_${name}_f32_e32 v2, v4`, { words: 1, input: new Uint8Array(values.buffer) });
  });
  test('f32, doubled', async () => {
    await expectAgreement(
      `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0
v_${name}_f32_e64 v2, v4 mul:2`,
      { words: 1, input: new Uint8Array(values.buffer) },
    );
  });
  test.each([0, 15])('f16 in mode %d', async (mode) => {
    const words = Uint32Array.from({ length: LANES }, (_, i) => (i * 40503) & 0xffff);
    await expectAgreement(
      `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), ${mode}
v_${name}_f16_e32 v2, v4`,
      { words: 1, input: new Uint8Array(words.buffer) },
    );
  });
});
