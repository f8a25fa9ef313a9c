// Rung 7: modelled times side by side. Both sides are timed by the same clock from the same memory and with cold caches, so what the model
// is wrong about by itself is the same on both; the interval is what sampling leaves open. Both sides sample the same workgroups, so their
// times are compared in pairs.
import type { LaunchTime } from '../../device/sim/timing/model.ts';
import { timingReport } from '../../device/sim/timing/report.ts';

/** A ratio of two times with its interval of 95%. */
export interface Speedup {
  readonly speedup: number;
  readonly interval: readonly [low: number, high: number];
}

/** Half of a 95% interval in standard errors. */
const Z95 = 1.96;

/** Microseconds of a launch. */
export const microsecondsOf = (time: LaunchTime): number => time.nanoseconds / 1000;

/** How many times faster `candidate` is. */
export function speedupOf(baseline: LaunchTime, candidate: LaunchTime): Speedup {
  const speedup = baseline.nanoseconds / candidate.nanoseconds;
  const factor = 1 + spreadOf(baseline, candidate);
  return { speedup, interval: [speedup / factor, speedup * factor] };
}

/** What sampling leaves open of the ratio, as a part of it. */
function spreadOf(a: LaunchTime, b: LaunchTime): number {
  // Every workgroup of a die was replayed on both sides.
  if (a.estimate.isWhole && b.estimate.isWhole) return 0;
  const [p, q] = [a.plan.groups, b.plan.groups];
  const isPaired =
    String(a.launch.block) === String(b.launch.block) &&
    p.length === q.length &&
    p.every((group, i) => group === q[i]) &&
    p.length > 1;
  if (!isPaired) return Math.hypot(timingReport(a).sampling, timingReport(b).sampling);
  const logs = p.map((_, i) => Math.log(durationOf(a, i) / durationOf(b, i)));
  const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length;
  const variance = logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (logs.length - 1);
  return Math.exp(Z95 * Math.sqrt(variance / logs.length)) - 1;
}

/** Cycles of the nth replayed workgroup; at least one. */
function durationOf({ replay }: LaunchTime, n: number): number {
  return Math.max(1, (replay.ends[n] ?? 0) - (replay.starts[n] ?? 0));
}
