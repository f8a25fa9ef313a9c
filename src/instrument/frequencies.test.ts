import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import type { BasicBlock, Program } from '../program/index.ts';
import { blockCounts, measuredBlocks } from './frequencies.ts';
import type { ProbeBlock, ProbeKernel } from './view.ts';

/** A function of blocks with these successors, entered at its first block. */
function functionOf(successors: readonly (readonly number[])[]): { program: Program; kernel: ProbeKernel } {
  const blocks = successors.map((next, index) => ({
    index,
    exit: next.length === 0 ? 'end' : 'indirect',
    successors: [...new Set(next)],
    predecessors: successors.flatMap((list, from) => (list.includes(index) ? [from] : [])),
    badTargets: [],
  })) as unknown as BasicBlock[];
  const subject = { entryBlocks: [0] };
  const kernel = {
    subject,
    blocks: blocks.map((block) => ({ index: block.index, block }) as unknown as ProbeBlock),
  } as unknown as ProbeKernel;
  return { program: { blocks, functions: [subject] } as unknown as Program, kernel };
}

/** How often waves run each block: each goes a random way until it ends, and is led to an end when it takes long. */
function walks(successors: readonly (readonly number[])[], choices: readonly number[]): bigint[] | undefined {
  const counts = successors.map(() => 0n);
  let step = 0;
  for (let wave = 0; wave < 5; wave++) {
    for (let at = 0; ; ) {
      counts[at] = (counts[at] as bigint) + 1n;
      const next = successors[at] as readonly number[];
      if (next.length === 0) break;
      if (step > 2000) return undefined;
      at = next[(choices[step++ % choices.length] as number) % next.length] as number;
    }
  }
  return counts;
}

test('the counts of the measured blocks give those of all blocks of random functions', () => {
  let whole = 0;
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 12 })
        .chain((n) =>
          fc.tuple(
            fc.array(fc.array(fc.nat(n - 1), { maxLength: 3 }), { minLength: n, maxLength: n }),
            fc.array(fc.nat(1000), { minLength: 1, maxLength: 60 }),
          ),
        ),
      ([successors, choices]) => {
        const counts = walks(successors, choices);
        if (counts === undefined) return;
        const { program, kernel } = functionOf(successors);
        const measured = measuredBlocks(program, kernel);
        const known = new Map(measured.map((block) => [block, counts[block.index] as bigint]));
        const found = blockCounts(program, kernel, known);
        expect(kernel.blocks.map((block) => found.get(block))).toEqual(counts);
        if (counts.filter((count) => count > 0n).length > measured.length) whole++;
      },
    ),
    { numRuns: 1200 },
  );
  // About one in twenty functions has fewer measured blocks than blocks that run.
  expect(whole).toBeGreaterThan(10);
});

test('blocks whose counts depend on one that is missing are unknown', () => {
  // 0 → 1 or 2 → 3
  const { program, kernel } = functionOf([[1, 2], [3], [3], []]);
  const last = kernel.blocks[3] as ProbeBlock;
  const measured = measuredBlocks(program, kernel);
  expect(measured).toHaveLength(2);
  expect(measured).toContain(last);
  expect([...blockCounts(program, kernel, new Map([[last, 7n]])).keys()]).toEqual([last]);
});
