// Counts of a kernel for each of its waves, and whether counters are of the same dispatches: counters of several passes need not be.
import { isKnown, known, type Measure, ratio, unknown } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { commonCover, type MetricSum } from './metrics.ts';

const find = ({ metrics }: ClassifierInput, id: string): MetricSum | undefined =>
  metrics.find((sum) => sum.metric.id === id);

/**
 * A count over the number of waves, of the dispatches that have both. Where no dispatch has both, the means of a dispatch tell, if all dispatches
 * are one launch; unknown else.
 */
export function perWave(input: ClassifierInput, id: string): Measure {
  const [count, waves] = [find(input, id), find(input, 'waves')];
  if (count === undefined || waves === undefined) return unknown(`there is no formula for ${id} and waves`);
  if (!isKnown(count.value) || !isKnown(waves.value)) return isKnown(count.value) ? waves.value : count.value;
  const both = commonCover([count, waves]);
  if (both.includes(1)) return ratio(count.within(both).value, waves.within(both).value, 'waves');
  if (input.launches !== 1) return unknown(`no dispatch has both ${id} and waves, and launches differ`);
  return ratio(known(count.value.value / count.dispatches), known(waves.value.value / waves.dispatches), 'waves');
}

/** Why metrics do not go together: they are of other dispatches, and those are not all one launch. Undefined where they do. */
export function apart(input: ClassifierInput, ids: readonly string[]): string | undefined {
  if (input.launches === 1) return undefined;
  const sums = ids.flatMap((id) => {
    const sum = find(input, id);
    return sum !== undefined && isKnown(sum.value) ? [sum] : [];
  });
  const [first] = sums;
  const odd = sums.find(({ covered }) => first?.covered.some((one, i) => one !== covered[i]) === true);
  return odd === undefined
    ? undefined
    : `${odd.metric.id} is of other dispatches than ${first?.metric.id}, and launches differ in size`;
}
