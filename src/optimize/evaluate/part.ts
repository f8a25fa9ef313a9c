// A part of a long launch: some of its workgroups, with the sizes of the whole. Most inputs are run in part; what needs all workgroups (the captured
// result, orders, modelled time, one other set of data) is run whole.
import { randomNumbers } from '../../base/index.ts';

/** Wave instructions above which a launch is long, and those that a part of it has. */
export const LONG = 200_000;
const PART = 40_000;
/** Workgroups that a part has at least: the first, the second, the last, and some between. */
const LEAST_GROUPS = 8;

/** The workgroups of a part, ascending; undefined when the launch is run whole. `instructions`: of all its workgroups; `draw`: what chooses. */
export function partOf(workgroups: number, instructions: number, draw: number): readonly number[] | undefined {
  if (instructions <= LONG) return undefined;
  const count = Math.max(LEAST_GROUPS, Math.floor((PART * workgroups) / instructions));
  if (2 * count > workgroups) return undefined;
  const random = randomNumbers((draw + workgroups) >>> 0);
  const groups = new Set([0, 1, workgroups - 1]);
  while (groups.size < count) groups.add(Math.floor(random() * workgroups));
  return [...groups].sort((a, b) => a - b);
}
