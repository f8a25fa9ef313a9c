// The error of modelled times, as measured by `npm run bench timing` (docs/timing-accuracy.md): by chip and class of limit.
import { ACCURACY } from './accuracy-data.ts';
import type { Chip } from './chip.ts';
import type { AccuracyClass, ClassAccuracy } from './limits.ts';

/** The error of times of a chip that are limited so; undefined for what has never been compared with hardware, as a user's own chip. */
export function accuracyOf(chip: Chip, kind: AccuracyClass): ClassAccuracy | undefined {
  const found = chip.validation === 'none' ? undefined : ACCURACY[chip.name]?.[kind];
  return found === undefined || found.points < 3 ? undefined : found;
}
