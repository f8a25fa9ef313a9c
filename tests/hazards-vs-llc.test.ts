// A slice of `npm run bench hazards-vs-llc`: the checker demands the wait states of LLVM 22's hazard recognizer.
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../src/base/index.ts';
import { printInstruction, TARGET_NAMES } from '../src/isa/index.ts';
import { compareHazards } from './support/hazard-pairs/compare.ts';
import { llvmTool } from './support/llvm.ts';

describe.skipIf(llvmTool('llc') === undefined)('llc', () => {
  it.each(TARGET_NAMES)('%s', (target) => {
    const random = randomNumbers(2026);
    const found = compareHazards(target, 2500, (bound) => Math.floor(random() * bound));
    expect(found.hazards).toBeGreaterThan(200);
    expect(found.unknown.length).toBeLessThan(5);
    const wrong = found.differences.filter(({ reason }) => reason === undefined);
    expect(
      wrong.map(({ pair, llvm, own }) => {
        const [first, second] = [pair.first, pair.second].map((one) => printInstruction(target, one));
        return `${first} / ${second}: LLVM ${llvm}, check ${own}`;
      }),
    ).toEqual([]);
  });
});
