// What the rules of the classifier have in common: conditions on the units, on the memory, on atomics, on launches and on the room for waves.
import { combine, isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import type { KernelNumbers } from './bottleneck-numbers.ts';
import {
  TRACED_LDS,
  TRACED_LDS_FORMULA,
  TRACED_MEMORY,
  TRACED_MEMORY_FORMULA,
  VALU_BUSY,
  waitShare,
} from './bottleneck-traces.ts';
import type { Cause, Condition } from './bottleneck-types.ts';
import { perWave } from './per-wave.ts';
import {
  queuedFrom,
  queueing,
  queueingForAtomics,
  queueingForMemory,
  reachableL1,
  UNQUEUED,
  vectorLatency,
} from './queues.ts';
import { dispatcherShare, storePart, storeShare } from './shares.ts';
import { translation } from './translation.ts';
import { barrierLeft } from './waits-left.ts';

/** A launch of fewer workgroups for each CU leaves half of the GPU without work. */
export const FEW_GROUPS = 0.5;
/** From this share of the reachable HBM bandwidth on, latency says nothing against bandwidth. */
export const NEARLY_ALL = 0.75;
/** Waves that spend less of their lives on vector memory wait for something else, too, and longer. */
const BRIEF = 0.45;
/** Kernels that launching can limit. */
export const SHORT_NS = 10_000;
/** From here on nothing that happens in the kernels is worth as much. */
const MOSTLY_IDLE = 0.5;
/** Up to here the GPU is active without waves most of the time. */
const MOSTLY_AROUND = 0.5;
/**
 * A dispatcher always has the next workgroup at hand, so it delays nothing until it works all the time but for the start and the end: on the timing
 * model free starts are worth nothing up to 0.83 of the cycles, 5% at 0.84, 17% at 0.85 and 20 to 67% from 0.88 on (53 runs).
 */
export const DISPATCHING = 0.85;
/** From here on hardly a slot is free for a wave that could be started. */
const SLOTS_FULL = 0.85;
/** From this part of the requests for code that miss on, waves wait for it. */
export const CODE_MISSES = 0.05;
/** From here on units stand still most of the time. */
export const FREQUENT_MISS = 1000;
export const QUEUEING = 'latency of a vector memory instruction over that of an idle GPU';
export const FROM_L1 = 'share of the L1 bandwidth that can be reached';
export const AMONG_ATOMICS = `${QUEUEING}, among atomics`;
export const IDLE = 'time without work / span, for kernels of at most 10 µs';

/** Units that work: where they do, waves do not wait for other things. */
export function unitConditions(numbers: KernelNumbers) {
  const { input } = numbers;
  const valuBusy = numbers.when(VALU_BUSY, 'issue.valu', 0.6);
  const mfmaBusy = numbers.when('cycles in which the matrix units are busy', 'mfma.busy', 0.6);
  const ldsBusy = numbers.when('cycles in which LDS works', 'lds.busy', 0.6);
  const computeShare: Condition = {
    metric: 'share of the compute peak',
    value: input.roofline.computeOfPeak,
    comparison: 'at least',
    threshold: 0.6,
    formula: 'sum over FLOP types of FLOPs / time / peak of the type',
  };
  const ldsIdle = numbers.when('cycles in which LDS works', 'lds.busy', 0.2, 'at most');
  // Conflicts cost nothing where LDS has time for them and waves do not wait for it.
  const tracedLds = waitShare(input, 'lds');
  const isLdsFree = isKnown(tracedLds) && isKnown(ldsBusy.value) && ldsBusy.value.value < ldsBusy.threshold;
  const ldsUnawaited: Condition[] = isLdsFree
    ? [{ metric: TRACED_LDS, value: tracedLds, comparison: 'at most', threshold: 0.1, formula: TRACED_LDS_FORMULA }]
    : [];
  return { valuBusy, mfmaBusy, ldsBusy, computeShare, ldsIdle, ldsUnawaited };
}

/** Levels of memory that work, and requests that stand in queues before them or do not. */
export function memoryConditions(numbers: KernelNumbers) {
  const { input } = numbers;
  // Of a data sheet's bandwidth, AMD's own streaming benchmark reaches 85% (1389 of 1638 GB/s on MI250X, 4886 of 7782 on MI350).
  const isMeasured = numbers.point('HBM')?.isMeasured === true;
  const reachable = isMeasured ? 0.6 : 0.5;
  const nearlyAll = NEARLY_ALL * (isMeasured ? 1 : 0.85);
  const hbm = numbers.bandwidth('HBM', reachable);
  // Requests that come back as fast as from an idle memory do not wait for its bandwidth, unless hardly any is left.
  const fast: Condition = {
    metric: QUEUEING,
    value: queueing(input.metrics),
    comparison: 'at most',
    threshold: UNQUEUED,
    formula: `${numbers.formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  const isUnloaded =
    isKnown(fast.value) && fast.value.value <= UNQUEUED && isKnown(hbm.value) && hbm.value.value < nearlyAll;
  const hbmBusy = isUnloaded ? [] : [hbm];
  const stores: Condition = {
    metric: 'share of the HBM bandwidth that stores alone can have',
    value: storeShare(input, numbers.level('HBM')),
    comparison: 'at least',
    threshold: 0.6,
    formula: `bytes.hbm.write / time / (${storePart(input.arch, isMeasured).toFixed(2)} of the HBM peak), where stores are two thirds of the bytes`,
  };
  const requests = numbers.when('requests per L2 channel and cycle', 'l2.busy', 0.6);
  const isShort = isKnown(input.meanNs) && input.meanNs.value < SHORT_NS;
  const levels = [numbers.level('HBM'), numbers.level('L2'), numbers.level('L1'), requests.value];
  const partOfL1 = reachableL1(input.arch, input.metrics);
  const fromL1: Condition = {
    metric: FROM_L1,
    value: combine([numbers.level('L1')], (share) => share / partOfL1),
    comparison: 'at least',
    threshold: 0.7,
    formula: `bytes.l1 / time / (${partOfL1.toFixed(2)} of the L1 peak)`,
  };
  const queues: Condition = {
    metric: QUEUEING,
    value: queueingForMemory(input.metrics, levels),
    comparison: 'at least',
    threshold: queuedFrom(isShort, [numbers.level('HBM'), numbers.level('L2'), fromL1.value, requests.value]),
    formula: `${numbers.formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  const storesBusy = [stores, queues, fromL1].filter((condition) => isKnown(condition.value));
  const l2Busy = [numbers.bandwidth('L2', 0.6), requests].filter((condition) => isKnown(condition.value));
  const slow: Condition = {
    metric: 'cycles of a vector memory instruction',
    value: vectorLatency(input.metrics),
    comparison: 'at least',
    threshold: 500,
    formula: numbers.formula('vmem.latency'),
  };
  // No more than all of these cycles can be waited for; a wave has several of them in flight, so the sum may be more than its life.
  const brief: Condition = {
    metric: 'cycles of all vector memory instructions of a wave over those of the wave',
    value: combine(
      [vectorLatency(input.metrics), perWave(input, 'insts.vmem'), numbers.metric('cycles.per-wave')],
      (cycles, instructions, each) => (cycles * instructions) / Math.max(1, each),
    ),
    comparison: 'at most',
    threshold: BRIEF,
    formula: `${numbers.formula('vmem.latency')} * SQ_INSTS_VMEM / (4 * SQ_WAVE_CYCLES)`,
  };
  const elseLong = [brief].filter((condition) => isKnown(condition.value));
  // SQ_WAIT_ANY counts every wait; a trace tells them apart.
  const tracedMemory = waitShare(input, 'memory');
  const elsewhere: Condition[] = isKnown(tracedMemory)
    ? [
        {
          metric: TRACED_MEMORY,
          value: tracedMemory,
          comparison: 'at most',
          threshold: 0.15,
          formula: TRACED_MEMORY_FORMULA,
        },
      ]
    : [];
  return {
    isUnloaded,
    reachable,
    fast,
    hbm,
    hbmBusy,
    stores,
    requests,
    levels,
    fromL1,
    queues,
    storesBusy,
    l2Busy,
    slow,
    elseLong,
    tracedMemory,
    elsewhere,
  };
}

/** Cycles of translation in the mean latency; none where it cannot be told. */
function translatedFor(numbers: KernelNumbers): number {
  const [loads, waits, cycles, latency] = [
    perWave(numbers.input, 'insts.vmem'),
    numbers.metric('wait.any'),
    numbers.metric('cycles.per-wave'),
    vectorLatency(numbers.input.metrics),
  ].map(numberOf);
  if (loads === undefined || waits === undefined || cycles === undefined || latency === undefined) return 0;
  return translation(numbers.input, Math.max(1, loads), waits * cycles, latency);
}

/** Atomics that requests wait behind. */
export function atomicConditions(numbers: KernelNumbers, levels: readonly Measure[]) {
  const { input } = numbers;
  const atomicQueues: Condition = {
    metric: AMONG_ATOMICS,
    value: queueingForAtomics(
      input.metrics,
      levels,
      numbers.metric('share.atomic'),
      input.arch,
      translatedFor(numbers),
    ),
    comparison: 'at least',
    threshold: 2,
    formula: `${numbers.formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  // What waves of such kernels wait for are the atomics.
  const atomics = [
    numbers.when('share of atomics in the requests to L2', 'share.atomic', 0.3),
    numbers.when('share of atomics in the requests to L2 that are answered', 'share.atomic.awaited', 0.5),
    atomicQueues,
  ].filter((condition) => isKnown(condition.value));
  return { atomicQueues, atomics };
}

/** Launches that take longer than what happens in them. */
export function launchConditions(numbers: KernelNumbers) {
  const { input } = numbers;
  const isShort = isKnown(input.meanNs) && input.meanNs.value < SHORT_NS;
  // A GPU that stands idle between short kernels is not helped by what happens in them.
  const idleGpu: Condition[] =
    isShort && isKnown(input.gapShare)
      ? [
          {
            metric: 'share of the run in which the GPU was idle',
            value: input.gapShare,
            comparison: 'at least',
            threshold: MOSTLY_IDLE,
            formula: IDLE,
          },
        ]
      : [];
  // Waves that end sooner than the next ones start: neither memory nor more waves help.
  const dispatching: Condition = {
    metric: 'share of the cycles in which the dispatcher of an XCC starts waves',
    value: dispatcherShare(input, numbers.metric('dispatch.waves')),
    comparison: 'at least',
    threshold: DISPATCHING,
    formula: `${numbers.formula('dispatch.waves')} * the larger of 1 and XCCs / waves of a workgroup`,
  };
  // Around the waves of a short kernel the GPU is active without them, and means over that time say nothing of the waves.
  const around = numbers.when('cycles in which shader engines have waves', 'sq.busy', MOSTLY_AROUND, 'at most');
  // While it starts waves: where their slots are full, it waits for them and not they for it.
  const slotsFull: Condition = {
    metric: 'resident waves over those that fit, while waves are started',
    value: combine([input.occupancy, input.fits, dispatching.value], (resident, fits, share) =>
      Math.min(1, resident / Math.max(1e-9, fits * Math.min(1, share))),
    ),
    comparison: 'at least',
    threshold: SLOTS_FULL,
    formula: `waves.resident / waves of the workgroups that fit / (${dispatching.formula})`,
  };
  const areFull = isKnown(slotsFull.value) && slotsFull.value.value >= SLOTS_FULL;
  const launches = [...idleGpu, ...(areFull ? [] : [dispatching]), around].filter((condition) =>
    isKnown(condition.value),
  );
  return { dispatching, slotsFull, launches };
}

/** Room for waves, and how much of it is used. */
export function roomConditions(numbers: KernelNumbers) {
  const { input } = numbers;
  // Where more waves fit, only the number of those that were there decides.
  const fewFit =
    isKnown(input.fits) && input.fits.value > 0.25 ? unknown('registers and LDS allow more waves') : input.fits;
  const notTooSmall =
    isKnown(input.fits) && isKnown(input.occupancy) && input.occupancy.value <= 0.25 * input.fits.value
      ? unknown('fewer waves run than fit')
      : fewFit;
  const crowded: Condition = {
    metric: 'waves per CU that registers and LDS allow over the maximum',
    value: notTooSmall,
    comparison: 'at most',
    threshold: 0.25,
    formula: 'waves of the workgroups that fit / waves of a CU',
  };
  // A launch of whole workgroups that leaves CUs without one; a single wave may be all that there is to do.
  const isParallel = isKnown(input.wavesPerGroup) && input.wavesPerGroup.value > 1;
  const empty: Condition = {
    metric: 'workgroups of a launch over the CUs of the GPU',
    value: isParallel || !isKnown(input.wavesPerGroup) ? input.groupsPerCu : unknown('a workgroup is a single wave'),
    comparison: 'at most',
    threshold: FEW_GROUPS,
    formula: 'grid / workgroup size / CUs',
  };
  const tooSmall: Condition[] =
    isKnown(input.fits) && isKnown(input.occupancy)
      ? [
          {
            metric: 'resident waves per CU over those that fit',
            value: known(input.occupancy.value / Math.max(input.fits.value, 1e-9)),
            comparison: 'at most',
            threshold: 0.25,
            formula: 'waves.resident / waves of the workgroups that fit',
          },
        ]
      : [];
  const fetching = numbers.when(
    'cycles of a compute unit per instruction cache miss',
    'icache.interval',
    FREQUENT_MISS,
    'at most',
  );
  const causes: readonly Cause[] = [crowded, empty].map((condition) => ({ class: 'under-occupied', condition }));
  return { fewFit, crowded, empty, tooSmall, fetching, causes };
}

/** All of them. */
export function conditionsOf(numbers: KernelNumbers) {
  const units = unitConditions(numbers);
  const memory = memoryConditions(numbers);
  const busy = [
    ...(memory.isUnloaded ? [] : [numbers.bandwidth('HBM', 0.6)]),
    numbers.bandwidth('L2', 0.6),
    units.valuBusy,
    units.mfmaBusy,
    ...memory.storesBusy,
  ];
  return {
    ...units,
    ...memory,
    ...atomicConditions(numbers, memory.levels),
    ...launchConditions(numbers),
    ...roomConditions(numbers),
    left: barrierLeft(numbers),
    busy,
  };
}
export type Conditions = ReturnType<typeof conditionsOf>;
