// v_exp_f32 on both engines: arguments near the quarters where its code changes, at the ends of the range, and next to rounding
// boundaries, where the f64 polynomial decides.
import { test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

test('v_exp_f32', async () => {
  const random = randomNumbers(5);
  const signed = (): number => 2 * random() - 1;
  const special = [0, -0, 1, -1, Infinity, -Infinity, Number.NaN, 128, -126, -149, -150, 125, -125, 2 ** -149, 0.125];
  const arguments_: (() => number)[] = [
    () => signed() * 150,
    () => signed(),
    () => signed() * 2 ** (-40 * random()),
    () => Math.round(signed() * 500) / 4 + signed() * 2 ** (-25 * random()),
    () => Math.round(signed() * 500) / 4 + 0.125 + signed() * 2 ** -20,
    () => special[Math.floor(random() * special.length)] as number,
    // Next to the middle of two results.
    () => Math.log2(1 + (Math.floor(random() * 2 ** 23) + 0.5) / 2 ** 23) + Math.round(signed() * 100),
  ];
  const values = Float32Array.from({ length: LANES }, (_, i) => (arguments_[i % 7] as () => number)());
  // Chunks of one kind, so that none of its lanes sends the others the long way.
  for (let i = 0; i < LANES / 2; i++) values[i] = (arguments_[(i >> 2) % 7] as () => number)();
  await expectAgreement('v_exp_f32_e32 v2, v4', { words: 1, input: new Uint8Array(values.buffer) });
});
