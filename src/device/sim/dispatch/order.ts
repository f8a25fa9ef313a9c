// The order of a dispatch's workgroups and of the turns of their waves. Results that depend on it are not determined by the kernel:
// running a dispatch in several orders shows them.
import { randomNumbers } from '../../../base/index.ts';

/**
 * The order in which workgroups begin and waves take turns. `ascending`: as hardware starts them. A seed shuffles workgroups, the
 * waves of each workgroup, and how long their turns are. Anything but `ascending` runs in one thread.
 */
export type RunOrder = 'ascending' | 'descending' | { readonly seed: number };

/** Lengths of shuffled turns, in instructions: short enough that waves interleave inside of small kernels. */
const SHORTEST_TURN = 20;
const LONGEST_TURN = 2000;

export interface Turns {
  /** The number in the grid of the workgroup that begins as the nth. */
  workgroup(nth: number): number;
  /** The waves of a workgroup in the order of their turns. */
  waves<T>(all: readonly T[]): readonly T[];
  /** Instructions of the next turn; `usual` unless turns are shuffled. */
  length(usual: number): number;
}

/** How a dispatch of this many workgroups takes turns. The same seed gives the same turns. */
export function turnOrder(order: RunOrder, workgroups: number): Turns {
  if (order === 'ascending') return { workgroup: (nth) => nth, waves: (all) => all, length: (usual) => usual };
  if (order === 'descending') {
    return { workgroup: (nth) => workgroups - 1 - nth, waves: (all) => [...all].reverse(), length: (usual) => usual };
  }
  const random = randomNumbers(order.seed);
  const below = (n: number): number => Math.floor(random() * n);
  const shuffle = <T>(all: readonly T[]): T[] => {
    const out = [...all];
    for (let i = out.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [out[i], out[j]] = [out[j] as T, out[i] as T];
    }
    return out;
  };
  const place = permutation(workgroups, below);
  return {
    workgroup: place,
    waves: shuffle,
    length: () => SHORTEST_TURN + below(LONGEST_TURN - SHORTEST_TURN),
  };
}

/** A one-to-one map of 0 … n−1 without a table: n may be in the billions. Multiplies by a number coprime to n, and adds. */
function permutation(n: number, below: (n: number) => number): (i: number) => number {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  let factor = 1 + below(n);
  while (gcd(factor, n) !== 1) factor = (factor % n) + 1;
  const shift = below(n);
  return (i) => Number((BigInt(i) * BigInt(factor) + BigInt(shift)) % BigInt(n));
}
