// Rung 7: modelled times side by side. Both sides are timed by the same clock from the same memory and with cold caches, so what the model
// is wrong about by itself is the same on both; the interval is what sampling leaves open.
import type { LaunchTime } from '../../device/sim/timing/model.ts';
import { timingReport } from '../../device/sim/timing/report.ts';

/** A ratio of two times with its interval. */
export interface Speedup {
  readonly speedup: number;
  readonly interval: readonly [low: number, high: number];
}

/** Microseconds of a launch. */
export const microsecondsOf = (time: LaunchTime): number => time.nanoseconds / 1000;

/** How many times faster `candidate` is. */
export function speedupOf(baseline: LaunchTime, candidate: LaunchTime): Speedup {
  const speedup = baseline.nanoseconds / candidate.nanoseconds;
  const spread = Math.hypot(timingReport(baseline).sampling, timingReport(candidate).sampling);
  return { speedup, interval: [speedup / (1 + spread), speedup * (1 + spread)] };
}
