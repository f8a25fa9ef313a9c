// A slice of `npm run random-kernels`: random C kernels give the same bits natively and on the virtual GPU.
import { describe, expect, test } from 'vitest';
import type { TargetName } from '../../../src/isa/types.ts';
import { llvmTool } from '../../support/llvm.ts';
import { type Build, checkSeed } from './check.ts';
import { randomKernel } from './generate.ts';

test('a seed always gives the same kernel, another seed another one', () => {
  expect(randomKernel(3)).toBe(randomKernel(3));
  expect(randomKernel(3)).not.toBe(randomKernel(4));
});

const BUILDS: readonly (readonly [TargetName, Build['level'], number])[] = [
  ['gfx90a', 0, 1],
  ['gfx90a', 2, 3],
  ['gfx942', 1, 6],
  ['gfx942', 3, 20],
  ['gfx950', 0, 9],
  ['gfx950', 2, 11],
];

const missing = llvmTool('clang-22') === undefined;
describe.skipIf(missing)('random kernels equal their native results', () => {
  test.each(BUILDS)('%s at -O%i, seed %i', async (target, level, seed) => {
    const { mismatches, skipped } = await checkSeed(seed, [{ target, level }]);
    expect(mismatches).toEqual([]);
    expect(skipped).toBe(0);
  });
});
