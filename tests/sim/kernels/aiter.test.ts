// Hand-written kernels of AMD AITER, unmodified, against references computed in f64 here. Skips without the reference corpus.
import { describe, expect, test } from 'vitest';
import { AITER_KERNELS } from './aiter-cases.ts';
import { hasCorpus } from './support.ts';

describe.skipIf(!hasCorpus).each(Object.entries(AITER_KERNELS))('%s', (_family, cases) => {
  test.each(cases)('%s', async (_name, tolerance, run) => {
    const { worst, largest } = await run();
    expect(worst / largest).toBeLessThan(tolerance);
  });
});
