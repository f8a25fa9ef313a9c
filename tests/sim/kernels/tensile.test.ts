// hipBLASLt kernels for gfx90a, unmodified, against sums computed in f64 here. Skips without the reference corpus.
import { expect, test } from 'vitest';
import { hasCorpus } from './support.ts';
import { TENSILE_KERNELS } from './tensile-cases.ts';

test.skipIf(!hasCorpus).each(TENSILE_KERNELS)('%s', async (_name, tolerance, run) => {
  const { worst, largest } = await run();
  expect(worst / largest).toBeLessThan(tolerance);
});
