// What limits a launch: how much of the replayed time each part of the chip was busy.
import type { Chip } from './chip.ts';
import type { Replay } from './machine.ts';
import type { Estimate, SamplePlan, Spread } from './sample.ts';

/** Parts of the chip that can limit a launch; `latency` when none of them does. */
export type Limit = 'valu' | 'matrix' | 'scalar' | 'lds' | 'vl1d' | 'l2' | 'mall' | 'hbm' | 'dispatch' | 'latency';

/** How errors of modelled times are counted: points limited alike are wrong alike. */
export type AccuracyClass = 'compute' | 'cache' | 'memory' | 'dispatch' | 'latency';

/** Measured error of a class. */
export interface ClassAccuracy {
  /** Points it was measured on. */
  readonly points: number;
  /** Root mean square of the logarithms of modelled / measured, as a factor: 1.2 is ±20%. */
  readonly factor: number;
}

/** A part's use, 0 to 1. */
export interface Use {
  readonly part: Limit;
  readonly used: number;
}

/** A part that is busy so much of the time is what the launch waits for. */
const LIMITED = 0.6;

/** Uses of all parts, the most used first. */
export function usesOf(chip: Chip, spread: Spread, plan: SamplePlan, replay: Replay, estimate: Estimate): Use[] {
  const end = Math.max(1, ...replay.ends);
  const busy = replay.memory.busy();
  const simds = plan.units * chip.get('simdsPerCu');
  const dispatched = (spread.groupsOfDie * spread.interval) / Math.max(1, estimate.cycles);
  const uses: Use[] = [
    { part: 'valu', used: replay.valuBusy / end },
    { part: 'matrix', used: replay.matrixBusy / end },
    { part: 'scalar', used: replay.salu / (simds * end) },
    { part: 'lds', used: replay.ldsBusy / (2 * end) },
    { part: 'vl1d', used: busy.vl1d / end },
    { part: 'l2', used: busy.l2 / end },
    { part: 'mall', used: busy.mall / end },
    { part: 'hbm', used: busy.hbm / end },
    { part: 'dispatch', used: dispatched },
  ];
  return uses.map((u) => ({ part: u.part, used: Math.min(1, u.used) })).sort((a, b) => b.used - a.used);
}

/** What limits a launch with these uses. */
export function limitOf(uses: readonly Use[]): Limit {
  const [first] = uses;
  return first !== undefined && first.used >= LIMITED ? first.part : 'latency';
}

const CLASSES: Readonly<Record<Limit, AccuracyClass>> = {
  valu: 'compute',
  matrix: 'compute',
  scalar: 'compute',
  lds: 'cache',
  vl1d: 'cache',
  l2: 'cache',
  mall: 'memory',
  hbm: 'memory',
  dispatch: 'dispatch',
  latency: 'latency',
};

/** The class whose error a launch with this limit has. */
export function accuracyClass(limit: Limit): AccuracyClass {
  return CLASSES[limit];
}
