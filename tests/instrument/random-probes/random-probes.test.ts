// A slice of `npm run random-probes`: random probes leave random kernels as they were and find what an observer of the original sees.
import { describe, expect, test } from 'vitest';
import { ALL_BUILDS } from '../../sim/random-kernels/check.ts';
import { llvmTool } from '../../support/llvm.ts';
import { checkProbe, compileRandom } from './check.ts';

describe.skipIf(llvmTool('clang-22') === undefined)('random probes', () => {
  // Of each target and level of optimisation something, limits of registers included; the last is strict.
  test.each([
    [1, false],
    [4, false],
    [7, true],
  ] as const)('seed %i', async (seed, strict) => {
    const code = compileRandom([seed], ALL_BUILDS[(seed * 5) % ALL_BUILDS.length] as (typeof ALL_BUILDS)[number]);
    const { problems, placed, tainted } = await checkProbe(code, seed * 1000 + 1, strict);
    expect(problems).toEqual([]);
    expect(placed).toBeGreaterThan(tainted);
  });

  test('many small kernels at once', async () => {
    const seeds = [11, 12, 13, 14, 15, 16];
    const code = compileRandom(seeds, { target: 'gfx90a', level: 1 }, 'small');
    const { problems, placed, tainted } = await checkProbe(code, 11, false, 'interpreter');
    expect(problems).toEqual([]);
    expect(placed).toBeGreaterThan(4 * tainted);
  });
});
