// How much longer loads take because pages are asked for that nobody asked for before: no queue, and no traffic.
import { numberOf } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';

/** Cycles by which the first loads of a wave from pages that nobody asked for take longer (MI300X: the first of two take 1,720, from memory 790). */
const TRANSLATED = 930;
/** Later rounds of waves come to new pages, too, but not each of them: of 0 to 1, what errs least for latency and bandwidth together (411 runs of the timing model). */
const ROUNDS_POWER = 0.75;
/** Waves that a CU of CDNA2 to CDNA4 holds. */
export const WAVES_OF_CU = 32;

/**
 * Cycles of translation in the mean latency of a load, of a wave that asks for `loads`, waits for `waited` cycles and for each load as long as
 * `latency`.
 */
export function translation(input: ClassifierInput, loads: number, waited: number, latency: number): number {
  return TRANSLATED / roundsOf(input) ** ROUNDS_POWER / batchesOf(loads, waited, latency);
}

/** How often a wave waits for loads, at least once: all loads that it asks for before one wait stand behind the same translation. */
function batchesOf(loads: number, waited: number, latency: number): number {
  return latency > 0 ? Math.min(loads, Math.max(1, waited / latency)) : loads;
}

/** How often the wave slots in use are filled by a launch, at least once. */
function roundsOf({ occupancy, groupsPerCu, wavesPerGroup }: ClassifierInput): number {
  const [share, groups, waves] = [numberOf(occupancy), numberOf(groupsPerCu), numberOf(wavesPerGroup)];
  if (share === undefined || groups === undefined || waves === undefined || share <= 0) return 1;
  return Math.max(1, (groups * waves) / (share * WAVES_OF_CU));
}
