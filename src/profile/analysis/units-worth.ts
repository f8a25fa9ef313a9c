// What it is worth that a unit of the compute unit costs nothing, from how long waves wait for it: estimates of what docs/profile.md, "What a
// class means", measures on the timing model. A unit that works all the time and that nobody waits for limits nothing: a wave that is alone on
// its SIMD issues whenever it can, and what it waits for then is the latency between its own instructions.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { traceShare, waitShare } from './bottleneck-traces.ts';
import type { BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import { metricOf } from './metrics.ts';
import { perWave } from './per-wave.ts';

/** Classes of units, and the barrier. */
export type UnitClass = Extract<BottleneckClass, 'compute' | 'divergence' | 'scalar' | 'lds' | 'barrier'>;

/** Cycles in which a wave issues an instruction. */
const ISSUE = 4;
/**
 * Waits to issue go with the busy share of the unit to this power, and of the wave's own instructions so much goes: 180 runs of the timing model
 * that VALU or matrix units are busiest in have a root mean square error of 0.07 (0.25 to 1, and nothing to a half were tried), 22 of scalar units 0.09.
 */
const BUSY_POWER = 0.75;
const OWN_PART = 0.3;
/**
 * Waits for LDS go with the root of its busy share, of one half at least: 0.06 for 117 runs. A wave that is alone on its SIMD has nobody who
 * works while it waits: all of them go.
 */
const LDS_LEAST = 0.5;
/**
 * Part of a wait for LDS that goes where LDS costs nothing; its instructions are still there. 0.03 for 584 kernels on MI300X, with all of the wait 0.043 (0.75
 * to 1 were tried).
 */
const LDS_PART = 0.82;
/** Up to this share of the wave slots a wave is alone on its SIMD: one of eight. */
const ALONE = 1 / 8;
/** Lanes up to which what vector instructions cost is the cost of lanes that do nothing. */
const HALF_LANES = 32;
/** How a unit that nothing is known of but how long it works overlaps with the rest (as in estimates.ts). */
const OVERLAP = 2.5;

/** LDS that works less has time for what waves ask for, and answers within as many cycles: twice the 52 of pyhip and mt4g on MI300X, and more. */
const LDS_IDLE = 0.2;
const LDS_LATENCY = 128;

/**
 * Most of the wave time that LDS can be waited for: what its instructions take one after the other, where it has time for them. A wait behind an LDS
 * instruction that lasts longer waits for something else, too. Unknown where LDS works, or may do so.
 */
export function ldsAtIdle(input: ClassifierInput): Measure {
  const metric = (id: string): number | undefined => numberOf(metricOf(input.metrics, id));
  const [instructions, cycles] = [numberOf(perWave(input, 'insts.lds')), metric('cycles.per-wave')];
  if (instructions === 0) return known(0);
  if (instructions === undefined || cycles === undefined || (metric('lds.busy') ?? 1) > LDS_IDLE)
    return unknown('LDS works, or what it does was not counted');
  return known((instructions * LDS_LATENCY) / Math.max(1, cycles));
}

/** Share of traced wave time in waits for LDS, and no more than its instructions can take. */
export function ldsWait(input: ClassifierInput): Measure {
  const [traced, most] = [waitShare(input, 'lds'), ldsAtIdle(input)];
  return isKnown(traced) && isKnown(most) ? known(Math.min(traced.value, most.value)) : traced;
}

/** Share of the time that goes with a unit of which only the busy share is known. */
const costOf = (busy: number): number => 1 - (1 - Math.min(1, busy) ** OVERLAP) ** (1 / OVERLAP);

/**
 * Shares of the kernel's time that each unit costs. Numbers of units are divided by `present`, the share of the time in which there are waves, and those
 * of the fullest compute units are taken, `fullest` times the mean; what is beside a unit bounds what it is worth: memory that is busy for the share
 * `memory`, and the other units.
 */
export function unitsWorth(
  input: ClassifierInput,
  present: number,
  memory: number,
  fullest: number,
): Partial<Record<UnitClass, number>> {
  const metric = (id: string): number | undefined => numberOf(metricOf(input.metrics, id));
  const busy = (id: string): number => Math.min(1, ((metric(id) ?? 0) * fullest) / present);
  const share = {
    vectors: Math.max(busy('issue.valu'), busy('mfma.busy')),
    scalars: busy('issue.salu'),
    lds: busy('lds.busy'),
  };
  type Unit = keyof typeof share;
  const beside = (unit: Unit): number => {
    const others = (Object.keys(share) as Unit[]).flatMap((other) => (other === unit ? [] : share[other]));
    return 1 - Math.min(1, Math.max(memory, ...others)) ** 2;
  };
  const waits = metric('wait.issue');
  const cycles = metric('cycles.per-wave') ?? 0;
  const worth = (unit: Exclude<Unit, 'lds'>, instructions: string, isBusiest: boolean): number => {
    const own = cycles > 0 ? Math.min(1, (ISSUE * (numberOf(perWave(input, instructions)) ?? 0)) / cycles) : 0;
    const cost =
      isBusiest && waits !== undefined
        ? waits * share[unit] ** BUSY_POWER + OWN_PART * own * share[unit]
        : costOf(share[unit]);
    return Math.min(1, cost) * beside(unit);
  };
  const vectors = worth('vectors', 'insts.valu', share.vectors >= share.scalars);
  const lanes = Math.min(64, metric('lanes.active') ?? 64);
  const isHalf = lanes <= HALF_LANES;
  const lds = ldsWait(input);
  const isAlone = (numberOf(input.occupancy) ?? 1) <= ALONE * present;
  const exposed = isAlone ? 1 : Math.max(LDS_LEAST, share.lds) ** 0.5;
  const barrier = traceShare(input, 'barrier');
  return {
    compute: isHalf ? 0 : vectors,
    divergence: isHalf ? vectors : (1 - lanes / 64) * vectors,
    scalar: worth('scalars', 'insts.salu', share.scalars > share.vectors),
    ...(isKnown(lds) ? { lds: LDS_PART * lds.value * exposed * beside('lds') } : {}),
    ...(isKnown(barrier) ? { barrier: barrier.value } : {}),
  };
}
