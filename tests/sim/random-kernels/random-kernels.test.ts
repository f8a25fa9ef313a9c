// A slice of `npm run random-kernels`: random C kernels give the same bits natively and on the virtual GPU.
import { describe, expect, test } from 'vitest';
import { llvmTool } from '../../support/llvm.ts';
import { ALL_BUILDS, checkSeed } from './check.ts';
import { randomKernel } from './generate.ts';

test('a seed always gives the same kernel, another seed another one', () => {
  expect(randomKernel(3)).toBe(randomKernel(3));
  expect(randomKernel(3)).not.toBe(randomKernel(4));
});

const missing = llvmTool('clang-22') === undefined;
describe.skipIf(missing)('random kernels equal their native results', () => {
  test.each(ALL_BUILDS.map((build, n) => [build.target, build.level, n + 1] as const))(
    '%s at -O%i, seed %i',
    async (target, level, seed) => {
      expect((await checkSeed(seed, [{ target, level }])).mismatches).toEqual([]);
    },
  );
});
