// The order of a dispatch's workgroups and of the turns of their waves. Results that depend on it are not determined by the kernel:
// running a dispatch in several orders shows them.
import { randomNumbers } from '../../../base/index.ts';

/**
 * The order in which workgroups begin and waves take turns. `ascending`: as hardware starts them. A seed shuffles workgroups, the
 * waves of each workgroup, how long their turns are, and whether they end before loads into LDS. Anything but `ascending` runs in one thread.
 */
export type RunOrder = 'ascending' | 'descending' | { readonly seed: number };

/** The longest of shuffled turns, in instructions; the shortest is one. */
const LONGEST_TURN = 2000;
const IN_TURN = { length: (usual: number): number => usual, goesOn: (): boolean => false, gives: (): boolean => false };

export interface Turns {
  /** The number in the grid of the workgroup that begins as the nth. */
  workgroup(nth: number): number;
  /** The waves of a workgroup in the order of their turns. */
  waves<T>(all: readonly T[]): readonly T[];
  /** Instructions of the next turn; `usual` unless turns are shuffled. */
  length(usual: number): number;
  /** Whether a wave that comes to a row of loads into LDS, before which others catch up, goes on at once. */
  goesOn(): boolean;
  /** Whether another workgroup has the next turn though this one need not wait. */
  gives(): boolean;
}

/** Workgroups that take turns at random. */
export const SHUFFLED_WORKGROUPS = 16;

/** How a dispatch of this many workgroups takes turns. The same seed gives the same turns. */
export function turnOrder(order: RunOrder, workgroups: number): Turns {
  if (order === 'ascending') return { ...IN_TURN, workgroup: (nth) => nth, waves: (all) => all };
  if (order === 'descending') {
    return { ...IN_TURN, workgroup: (nth) => workgroups - 1 - nth, waves: (all) => [...all].reverse() };
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
  // Some schedules let waves run far ahead, in others they mostly wait for each other.
  const ofLoads = randomNumbers(~order.seed);
  const eagerness = ofLoads();
  return {
    workgroup: place,
    waves: shuffle,
    // As many short turns as long ones: races are as near as two instructions or as far as two loops.
    length: () => Math.floor(LONGEST_TURN ** random()),
    goesOn: () => ofLoads() < eagerness,
    gives: () => random() < 0.5,
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
