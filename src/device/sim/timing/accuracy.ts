// The error of modelled times, as measured by `npm run bench timing` (docs/timing-accuracy.md): by chip and class of limit.
import { ACCURACY } from './accuracy-data.ts';
import type { AccuracyClass, ClassAccuracy } from './limits.ts';

/** The error of times of a chip that are limited so; undefined for what has never been compared with hardware. */
export function accuracyOf(chip: string, kind: AccuracyClass): ClassAccuracy | undefined {
  const found = ACCURACY[chip]?.[kind];
  return found === undefined || found.points < 3 ? undefined : found;
}
