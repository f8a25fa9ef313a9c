// What it is worth that memory gives more bytes, that it answers sooner, and that more waves are there: estimates from counters of what
// docs/profile.md, "What a class means", measures on the timing model. They say which of the three classes of waiting comes first.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { CODE_MISSES } from './bottleneck-conditions.ts';
import { traceShare, waitShare } from './bottleneck-traces.ts';
import type { BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import { fullestUnits, lasting } from './fullest.ts';
import { metricOf } from './metrics.ts';
import { apart, perWave } from './per-wave.ts';
import { FAR_QUEUED, idleLatency, reachableL1, vectorLatency } from './queues.ts';
import { dispatcherShare, readable, writable } from './shares.ts';
import { translation } from './translation.ts';
import { ldsAtIdle, ldsWait, type UnitClass, unitsWorth } from './units-worth.ts';

/** The classes of kernels that wait. */
export const WAITING = ['memory-bandwidth', 'memory-latency', 'under-occupied'] as const satisfies BottleneckClass[];
export type WaitingClass = (typeof WAITING)[number];
/** The classes that have an estimate. */
export type EstimatedClass = WaitingClass | UnitClass;

/**
 * Part of the time in queues that goes where there are none, and part in which waves wait for nothing else. Of 0.4 to 1 each, with those below, the
 * ones that name most classes right for 311 runs of the timing model.
 */
const QUEUE_PART = 0.7;
const QUEUE_ALONE = 0.8;
/** How far parts of the time overlap: 1 would be one after the other. The best of 2, 2.5 and 3 for the same runs. */
const OVERLAP = 2.5;
/** A memory whose requests wait by that part of their latency gives as much as it can; where they do not wait, more bandwidth is worth nothing. 0.15 to 0.5 are as good. */
const IN_QUEUES = 0.3;
/** Memory that works less has no full queue: at that load a request waits for a third of what it takes to serve one (M/D/1). 0.25 to 0.5 are as good. */
const HAS_QUEUES = 0.4;
/**
 * A launch lasts as long as its longest wave. That waits for memory in the same part of its time as the mean wave (power 0), or as long as that one (1): the
 * root mean square error of latency is 0.079 with a half, 0.092 and 0.080 with these (584 kernels on MI300X).
 */
const UNEVEN_POWER = 0.5;
/** How much of a unit or path that works is left: nothing works all the time in which it is the limit. */
const FULL = 0.98;
/** What a chain is at least: nothing works without one. */
const LEAST_CHAIN = 0.0001;
/** What an estimate is made of must be of the same dispatches. */
const TOGETHER = [
  'wait.any',
  'wait.issue',
  'waves',
  'insts.vmem',
  'cycles.per-wave',
  'issue.valu',
  'bytes.hbm.read',
  'vmem.latency',
];
/** Shorter than this part of a kernel its waves are not: what is counted less is counted wrong. */
const LEAST_PRESENT = 0.1;
/** A wave loads so many scalars besides its arguments. */
const SCALAR_LOADS = 8;
/** An idle latency that is so many times the measured one is wrong. */
const TOO_SOON = 1.1;
/** What is left of a cost that is free. */
const FREE = 1 / 16;

export interface Estimates {
  /** Share of the time that each would save; of units only where something says how long waves wait for them. */
  readonly of: Readonly<Record<WaitingClass, number>> & Readonly<Partial<Record<UnitClass, number>>>;
  /**
   * What each can save at most, whatever the estimate says: bandwidth the time that levels of memory work (381 of 384 runs of the timing model gain
   * no more), latency the waits for an idle memory, more waves the free slots and what the busiest unit or path leaves, LDS the waits where nothing
   * tells what they are for, scalar code the waits to issue where nothing tells how long its unit works.
   */
  readonly atMost: Readonly<Record<WaitingClass | 'lds' | 'scalar', number>>;
  /**
   * How long memory takes to answer a GPU that does nothing else is not known: it answers sooner than that, or where lines came from was not counted. These are taken
   * to be from memory.
   */
  readonly isIdleUnknown: boolean;
}

/** What each estimate is, in words. */
export const SAVED: Readonly<Record<EstimatedClass, string>> = {
  'memory-bandwidth': 'estimated share of the time that more bandwidth saves',
  'memory-latency': 'estimated share of the time that memory saves which answers at once',
  'under-occupied': 'estimated share of the time that twice as many waves save',
  compute: 'estimated share of the time that vector and matrix instructions cost',
  divergence: 'estimated share of the time that lanes cost which do nothing',
  scalar: 'estimated share of the time that scalar instructions cost',
  lds: 'estimated share of the time that LDS costs',
  barrier: 'share of traced wave time in barriers',
};
/** What they are made of. */
export const FORMULA =
  'from SQ_WAIT_ANY, SQ_WAIT_INST_ANY, SQ_INST_LEVEL_VMEM, SQ_WAVE_CYCLES, SQ_ACTIVE_INST_VALU, bytes of HBM, L2 and L1 and their hit rates (src/profile/analysis/estimates.ts, units-worth.ts)';

/** Times that overlap in part: between the longest and the sum. */
const together = (...parts: readonly number[]): number =>
  parts.reduce((sum, part) => sum + part ** OVERLAP, 0) ** (1 / OVERLAP);

/** The part of a time of one that is left beside others. */
const beside = (...parts: readonly number[]): number =>
  Math.max(LEAST_CHAIN, 1 - parts.reduce((sum, part) => sum + part ** OVERLAP, 0)) ** (1 / OVERLAP);

/**
 * The estimates. With the time of the kernel as one: what memory needs for the bytes, what the busiest unit works, and the rest of the root,
 * which is the chain of a wave, its waits for an idle memory and what it does besides. Unknown where waits, latency or the memory were not
 * counted.
 */
export function estimates(input: ClassifierInput): Estimates | Extract<Measure, { unknown: string }> {
  const { metrics, roofline } = input;
  const metric = (id: string): Measure => metricOf(metrics, id);
  const number = (id: string): number => numberOf(metric(id)) ?? 0;
  const level = (name: string): number =>
    numberOf(roofline.points.find((p) => p.level === name)?.ofPeak ?? unknown('')) ?? 0;
  const hbm = roofline.points.find((p) => p.level === 'HBM');
  const waits = metric('wait.any');
  // Instructions all of whose lanes are off ask for no line.
  const isVector = numberOf(metric('insts.vmem')) !== 0 && numberOf(metric('vmem.lines')) !== 0;
  const latency = isVector ? vectorLatency(metrics) : known(0);
  for (const needed of [
    waits,
    latency,
    metric('waves'),
    metric('insts.vmem'),
    metric('cycles.per-wave'),
    hbm?.ofPeak ?? unknown('no roof of HBM'),
    metric('issue.valu'),
  ]) {
    if (!isKnown(needed)) return needed;
  }
  if (!isKnown(waits) || !isKnown(latency) || hbm === undefined) return unknown('not counted');
  const other = apart(input, TOGETHER);
  if (other !== undefined) return unknown(other);
  const vectors = perWave(input, 'insts.vmem');
  if (!isKnown(vectors)) return vectors;

  const loads = Math.max(1, vectors.value);
  const wait = memoryWait(input, waits.value, (latency.value * loads) / Math.max(1, number('cycles.per-wave')));
  const translated = translation(input, loads, waits.value * number('cycles.per-wave'), latency.value);
  const idle = idleLatency(metrics) + translated;

  const read = number('bytes.hbm.read');
  const written = number('bytes.hbm.write');
  const share = numberOf(hbm.ofPeak) ?? 0;
  const all = read + written;
  const bytes =
    hbm.isMeasured || all === 0
      ? share
      : together((share * read) / all / readable(input.arch), (share * written) / all / writable(input.arch));
  // Around the waves nothing waits and nothing works: shares are those of the time in which there are waves.
  const present = Math.min(1, Math.max(LEAST_PRESENT, numberOf(metric('sq.busy')) ?? 1));
  const within = (value: number): number => Math.min(FULL, value / present);
  const fromL1 = level('L1') / reachableL1(input.arch, metrics);
  // More bandwidth is that of all levels, which overlap as other parts of the time do.
  const memory = within(together(bytes, Math.max(level('L2'), number('l2.busy')), fromL1));
  // What a compute unit has for itself works longest where most workgroups are.
  const fullest = fullestUnits(input);
  const inFullest = (share: number): number => within(share * fullest);
  const valu = inFullest(Math.max(number('issue.valu'), number('mfma.busy')));
  const dispatcher = within(numberOf(dispatcherShare(input, metric('dispatch.waves'))) ?? 0);
  const unit = Math.max(valu, dispatcher, inFullest(Math.max(number('lds.busy'), number('issue.salu'))));

  // What a load takes longer than of an idle memory it stands in queues, unless all levels are known to work too little for that.
  const longer = latency.value > 0 ? Math.max(0, 1 - idle / latency.value) : 0;
  const areKnown = ['HBM', 'L2', 'L1'].every((name) =>
    roofline.points.some((p) => p.level === name && isKnown(p.ofPeak)),
  );
  // Or it takes so long that one channel's queue is full, however little all of them work.
  const isFar = latency.value >= FAR_QUEUED * idle;
  const unqueued = 1 - longer * (areKnown && !isFar ? Math.min(1, memory / HAS_QUEUES) : 1);
  const queued = wait * (1 - unqueued);

  // Bytes that come without queues are part of the chain; they bound what is gained elsewhere all the same.
  const full = memory * Math.min(1, (1 - unqueued) / IN_QUEUES) ** (1 / OVERLAP);
  const chain = Math.min(beside(full, unit), 1 - QUEUE_ALONE * queued);
  const time = together(full, unit, chain);
  const answered = (chain * wait * unqueued) / Math.max(1e-6, wait * unqueued + 1 - wait);
  const sooner = 1 - together(memory, unit, chain - answered * (1 - FREE)) / time;
  const more = 1 - together(full * FREE, unit, chain) / time;
  // Slots that waves leave free while there are waves.
  const crowd = numberOf(input.occupancy);
  const factor = crowd === undefined ? 1 : Math.min(2, Math.max(1, present / Math.max(crowd, 0.01)));
  // Nor does anything wait for memory between kernels.
  const busy = present * (1 - Math.min(1, Math.max(0, numberOf(input.gapShare) ?? 0)));
  const units = unitsWorth(input, present, memory, fullest);
  return {
    of: {
      'memory-bandwidth': busy * Math.max(more, QUEUE_PART * queued * (1 - dispatcher ** 2)),
      'memory-latency': busy * lasting(input) ** UNEVEN_POWER * Math.max(0, Math.min(sooner, wait * unqueued)),
      'under-occupied': Math.min(0.5, Math.max(0, 1 - together(memory, unit, chain / factor) / time)),
      ...units,
    },
    atMost: {
      'memory-bandwidth': Math.min(1, bytes + Math.max(level('L2'), number('l2.busy')) + fromL1),
      'memory-latency': isKnown(perWave(input, 'insts.smem'))
        ? wait * Math.min(1, (idleLatency(metrics, 'apart') + translated) / Math.max(1, latency.value))
        : waits.value,
      'under-occupied': Math.min(0.5, 1 - 1 / factor, 1 - Math.max(memory, unit)),
      lds: ldsAtMost(input, waits.value),
      scalar:
        isKnown(metric('issue.salu')) || numberOf(metric('insts.salu')) === 0
          ? (units.scalar ?? 0)
          : number('wait.issue'),
    },
    isIdleUnknown:
      latency.value > 0 &&
      (latency.value * TOO_SOON < idle || !['vmem.lines', 'l1.hit', 'l2.hit'].every((id) => isKnown(metric(id)))),
  };
}

/** Share of wave time that waits for LDS are at most: those of a trace, else what its instructions take, else all waits. */
function ldsAtMost(input: ClassifierInput, waits: number): number {
  const [traced, most] = [ldsWait(input), ldsAtIdle(input)];
  if (isKnown(traced)) return traced.value;
  return isKnown(most) ? Math.min(waits, most.value) : waits;
}

/**
 * Share of wave time in waits for memory: from a trace where there is one, else no more than vector memory instructions take. A trace is of some waves and
 * `waits` of all: these do not wait longer for memory than for anything.
 */
function memoryWait(input: ClassifierInput, waits: number, vector: number): number {
  const scalars = numberOf(waitShare(input, 'scalar'));
  const vectors = numberOf(waitShare(input, 'memory'));
  if (scalars !== undefined && vectors !== undefined) {
    if (isCodeMissing(input)) {
      // Where code came at once, waves would wait for the memory that is on its way.
      const inFlight = numberOf(input.trace?.gapsInFlight ?? unknown('')) ?? 0;
      return Math.min(waits, vectors + scalars + inFlight);
    }
    const others = [ldsWait(input), waitShare(input, 'atomics'), traceShare(input, 'barrier')];
    return Math.min(waits, Math.max(vectors + scalars, waits - others.reduce((sum, o) => sum + (numberOf(o) ?? 0), 0)));
  }
  const isScalar = (numberOf(perWave(input, 'insts.smem')) ?? 0) >= SCALAR_LOADS;
  return Math.min(1, waits, isScalar ? 1 : vector);
}

/** Whether waits that a trace does not tell the reason of can be for code: then they are none for memory. */
function isCodeMissing({ metrics }: ClassifierInput): boolean {
  const misses = numberOf(metricOf(metrics, 'icache.miss'));
  return misses !== undefined && misses >= CODE_MISSES;
}

/** The estimate as a number of the page. */
export const estimateOf = (found: ReturnType<typeof estimates>, name: WaitingClass): Measure =>
  'of' in found ? known(found.of[name]) : found;
