// Sums of absolute differences of bytes on both engines: random bytes and zeros.
import { expect, test } from 'vitest';
import { engineCase } from '../../../../tests/support/engine-compare.ts';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { DEFAULT_MODE } from '../../../../tests/support/one-instruction.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

test('should agree on sums of absolute differences', async () => {
  const random = randomNumbers(7);
  const input = Uint8Array.from({ length: 24 * LANES }, () => (random() < 0.25 ? 0 : Math.floor(random() * 256)));
  for (const operation of [
    'v_sad_u8 v2, v4, v5, v6',
    'v_msad_u8 v2, v4, v5, v6',
    'v_sad_hi_u8 v2, v4, v5, v6',
    'v_qsad_pk_u16_u8 v[2:3], v[4:5], v6, v[8:9]',
    'v_mqsad_pk_u16_u8 v[2:3], v[4:5], v6, v[8:9]',
  ])
    await expectAgreement(operation, { words: 6, input });
});

test('should agree on random registers', () => {
  for (let seed = 500_001; seed <= 500_100; seed++) {
    const options = { only: /sad/, length: 3, mode: DEFAULT_MODE, branches: false };
    const { text, differences } = engineCase('gfx942', seed, options);
    expect({ text, differences }).toEqual({ text, differences: [] });
  }
});
