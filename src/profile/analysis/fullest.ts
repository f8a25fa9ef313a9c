// How much more work the fullest compute units have than the mean of all: compute units get whole workgroups, and a launch lasts as long as those with most
// of them. Counters are means of all compute units.
import { combine, type Measure, numberOf } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { WAVES_OF_CU } from './translation.ts';

/**
 * Work of the fullest compute units over that of the mean one. One where workgroups are not all resident at once: then a compute unit gets its next
 * one when it has room, and those whose workgroups last longer get fewer. Also where launches differ in size.
 */
export function fullestUnits(input: ClassifierInput): number {
  const groups = numberOf(input.groupsPerCu) ?? 0;
  return groups > 0 && areAllResident(input) ? Math.ceil(groups) / groups : 1;
}

/** Whether there is room for all workgroups of a launch at once, which all launches have in common. */
function areAllResident({ groupsPerCu, wavesPerGroup, fits, launches = 2 }: ClassifierInput): boolean {
  const [groups, waves, part] = [groupsPerCu, wavesPerGroup, fits].map(numberOf);
  if (groups === undefined || waves === undefined || part === undefined || launches > 1) return false;
  return groups * waves <= part * WAVES_OF_CU;
}

/** Waves that were resident over those that could be all the time: of a launch's, or of those that fit. */
export const presence = ({ occupancy, fits, groupsPerCu, wavesPerGroup }: ClassifierInput): Measure =>
  combine(
    [occupancy, fits, groupsPerCu, wavesPerGroup],
    (resident, part, groups, waves) => resident / Math.max(1e-9, Math.min(part, (groups * waves) / WAVES_OF_CU)),
  );

/** Part of its launch's time in which the mean wave is there, where all of them begin with it; one where others follow them, or where it is not known. */
export const lasting = (input: ClassifierInput): number =>
  areAllResident(input) ? Math.min(1, numberOf(presence(input)) ?? 1) : 1;
