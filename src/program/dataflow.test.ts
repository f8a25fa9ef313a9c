import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { solveBackward, solveForward } from './dataflow.ts';
import type { BasicBlock, Program, ProgramFunction } from './types.ts';

/** A function of blocks with these successors; block 0 is the entry. */
function functionOf(successors: readonly (readonly number[])[]): [Program, ProgramFunction] {
  const blocks = successors.map((to, index) => ({
    index,
    successors: to,
    predecessors: successors.flatMap((list, from) => (list.includes(index) ? [from] : [])),
  }));
  const program = { blocks: blocks as readonly Partial<BasicBlock>[] } as Program;
  return [program, { entryBlocks: [0], blocks: blocks.map((b) => b.index) } as unknown as ProgramFunction];
}

const graphs = fc
  .integer({ min: 1, max: 12 })
  .chain((n) => fc.array(fc.uniqueArray(fc.nat(n - 1), { maxLength: Math.min(3, n) }), { minLength: n, maxLength: n }));

/** Sets of blocks; a transfer adds the block itself. */
const sets = {
  copy: (state: Set<number>) => new Set(state),
  transfer: (block: BasicBlock, state: Set<number>) => void state.add(block.index),
  join: (state: Set<number>, other: Set<number>) => {
    const before = state.size;
    for (const item of other) state.add(item);
    return state.size > before;
  },
};

/** The blocks that can be reached from `from` over at least one edge. */
function reached(edges: readonly (readonly number[])[], from: number): Set<number> {
  const found = new Set<number>();
  const work = [...(edges[from] as readonly number[])];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    work.push(...(edges[next] as readonly number[]));
  }
  return found;
}

const sorted = (set: Iterable<number> | undefined): number[] => [...(set ?? [])].sort((a, b) => a - b);

test('forward: what comes before each block on some path from the entry, for any graph', () => {
  fc.assert(
    fc.property(graphs, (edges) => {
      const [program, subject] = functionOf(edges);
      const starts = solveForward(program, subject, { entry: () => new Set<number>(), ...sets });
      const fromEntry = new Set([0, ...reached(edges, 0)]);
      expect(sorted(starts.keys())).toEqual(sorted(fromEntry));
      for (const [index, state] of starts) {
        expect(sorted(state)).toEqual(sorted([...fromEntry].filter((from) => reached(edges, from).has(index))));
      }
    }),
  );
});

test('backward: what comes after each block, for any graph, unreachable blocks included', () => {
  fc.assert(
    fc.property(graphs, (edges) => {
      const [program, subject] = functionOf(edges);
      const isSame = (a: Set<number>, b: Set<number>) => a.size === b.size;
      const ends = solveBackward(program, subject, { exit: () => new Set<number>(), isSame, ...sets });
      for (const { index } of program.blocks) expect(sorted(ends.get(index))).toEqual(sorted(reached(edges, index)));
    }),
  );
});

test('states that are given out are not changed afterwards by other blocks', () => {
  const [program, subject] = functionOf([[1, 2], [3], [3], []]);
  const starts = solveForward(program, subject, { entry: () => new Set<number>(), ...sets });
  expect(new Set(starts.values()).size).toBe(4);
  expect(sorted(starts.get(1))).toEqual([0]);
});
