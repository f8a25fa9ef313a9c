// Edits as a person makes them by hand: loops in another form, moved address arithmetic, merged accesses, registers with other names.
import { afterAll, describe, expect, it } from 'vitest';
import { openSolver } from '../src/cli/prove/solver.ts';
import { type LaunchFacts, proveKernelWith } from '../src/equivalence/index.ts';
import { build } from './support/prove-kernel.ts';
import { EDITS, NOT_FOLLOWED } from './support/prove-pairs/by-hand.ts';
import { EDITS as IDIOMS, NOT_FOLLOWED as OTHER_IDIOMS } from './support/prove-pairs/idioms.ts';

const solver = openSolver();
afterAll(() => solver?.close());
/** Every lane is on at first: matrix instructions see those that are off. */
const facts: LaunchFacts = { block: [64, 1, 1] };
const never = async (): Promise<boolean> => false;

describe.skipIf(solver === undefined)('edits by hand', () => {
  it.each([...EDITS, ...IDIOMS])('proved: %s', async (_name, a, b) => {
    const [x, y] = [build(a), build(b)];
    expect(await proveKernelWith(solver?.solve ?? never, x, y, 'k', { facts })).toMatchObject({
      verdict: 'proved',
      reason: undefined,
    });
    expect((await proveKernelWith(solver?.solve ?? never, y, x, 'k', { facts })).verdict).toBe('proved');
  });

  it.each([...NOT_FOLLOWED, ...OTHER_IDIOMS])('not followed: %s', async (_name, a, b) => {
    const proof = await proveKernelWith(solver?.solve ?? never, build(a), build(b), 'k', { facts });
    expect(proof).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
  });
});
