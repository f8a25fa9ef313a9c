// The rules of the classifier: which number speaks for a class from where on, what must be seen besides, and what refutes it.
// Thresholds: docs/profile.md, "Bottleneck classes".
import { combine, isKnown, known, type Measure, unknown } from '../measure.ts';
import {
  MODEL,
  TRACED_LDS,
  TRACED_LDS_FORMULA,
  TRACED_MEMORY,
  TRACED_MEMORY_FORMULA,
  traceTests,
  waitShare,
} from './bottleneck-traces.ts';
import type { Cause, ClassifierInput, ClassTest, Condition } from './bottleneck-types.ts';
import { WAVES_OF_CU } from './estimates.ts';
import {
  L1_PART,
  queuedFrom,
  queueing,
  queueingForAtomics,
  queueingForMemory,
  UNQUEUED,
  vectorLatency,
} from './queues.ts';
import { cyclesOfWave, STORE_PART, STORE_SOURCE, storeShare } from './shares.ts';
import { SPARSE, WORTH_MORE, worthWhereSparse } from './worth.ts';

/** A launch of fewer workgroups for each CU leaves half of the GPU without work. */
const FEW_GROUPS = 0.5;
/** A miss of the instruction cache holds up two compute units for up to a thousand cycles: at this distance a quarter of the time. */
const RARE_MISS = 8000;
/** From here on units stand still most of the time. */
const FREQUENT_MISS = 1000;
/** From this share of the reachable HBM bandwidth on, latency says nothing against bandwidth. */
const NEARLY_ALL = 0.75;
/** Waves that spend less of their lives on vector memory wait for something else, too, and longer. */
const BRIEF = 0.45;
/** From here on units that work are what a kernel with frequent misses is limited by. */
const BUSY_BETWEEN_MISSES = 0.75;
/** Kernels that launching can limit. */
const SHORT_NS = 10_000;
/** Idle share from which on launching may limit them: the start and the end of a short kernel are the launch's, too. */
const OFTEN_IDLE = 0.4;
/** From here on nothing that happens in the kernels is worth as much. */
const MOSTLY_IDLE = 0.5;
/** Up to here the GPU is active without waves most of the time. */
const MOSTLY_AROUND = 0.5;
export const CONFLICTS = 'LDS bank conflict cycles per access cycle';
const IDLE = 'time without work / span, for kernels of at most 10 µs';

const fewWaves = (condition: Condition): Cause => ({ class: 'under-occupied', condition });

/** All tests on the numbers of a kernel. */
export function classTests(input: ClassifierInput): ClassTest[] {
  const metric = (id: string): Measure =>
    input.metrics.find((sum) => sum.metric.id === id)?.value ??
    unknown(`there is no formula for ${id} on this architecture`);
  const formula = (id: string) => {
    const found = input.metrics.find((sum) => sum.metric.id === id)?.metric;
    return found === undefined ? id : found.over === undefined ? found.formula : `(${found.formula}) / (${found.over})`;
  };
  const source = (id: string) => input.metrics.find((sum) => sum.metric.id === id)?.metric.source ?? MODEL;
  const point = (name: string) => input.roofline.points.find(({ level }) => level === name);
  const level = (name: string) => point(name)?.ofPeak ?? unknown('no such level');
  const fromMetric = (id: string) => ({ value: metric(id), formula: formula(id), source: source(id) });
  const when = (
    name: string,
    id: string,
    threshold: number,
    comparison: Condition['comparison'] = 'at least',
  ): Condition => ({
    metric: name,
    value: metric(id),
    comparison,
    threshold,
    formula: formula(id),
  });
  const bandwidth = (name: 'HBM' | 'L2', threshold: number): Condition => ({
    metric: `share of the ${name} bandwidth`,
    value: level(name),
    comparison: 'at least',
    threshold,
    formula: `bytes of ${name} / time / ${name} peak`,
  });
  const valuBusy = when('cycles in which VALU issues', 'issue.valu', 0.6);
  const mfmaBusy = when('cycles in which the matrix units are busy', 'mfma.busy', 0.6);
  const ldsBusy = when('cycles in which LDS works', 'lds.busy', 0.6);
  const computeShare: Condition = {
    metric: 'share of the compute peak',
    value: input.roofline.computeOfPeak,
    comparison: 'at least',
    threshold: 0.6,
    formula: 'sum over FLOP types of FLOPs / time / peak of the type',
  };
  // Of a data sheet's bandwidth, AMD's own streaming benchmark reaches 85% (1389 of 1638 GB/s on MI250X, 4886 of 7782 on MI350).
  const isMeasured = point('HBM')?.isMeasured === true;
  const reachable = isMeasured ? 0.6 : 0.5;
  const nearlyAll = NEARLY_ALL * (isMeasured ? 1 : 0.85);
  const hbm = bandwidth('HBM', reachable);
  // Requests that come back as fast as from an idle memory do not wait for its bandwidth, unless hardly any is left.
  const fast: Condition = {
    metric: 'latency of a vector memory instruction over that of an idle GPU',
    value: queueing(input.metrics),
    comparison: 'at most',
    threshold: UNQUEUED,
    formula: `${formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  const isUnloaded =
    isKnown(fast.value) && fast.value.value <= UNQUEUED && isKnown(hbm.value) && hbm.value.value < nearlyAll;
  const hbmBusy = isUnloaded ? [] : [hbm];
  const stores: Condition = {
    metric: 'share of the HBM bandwidth that stores alone can have',
    value: storeShare(input, level('HBM')),
    comparison: 'at least',
    threshold: 0.6,
    formula: `bytes.hbm.write / time / (${STORE_PART} of the HBM peak), where stores are two thirds of the bytes`,
  };
  const requests = when('requests per L2 channel and cycle', 'l2.busy', 0.6);
  const isShort = isKnown(input.meanNs) && input.meanNs.value < SHORT_NS;
  const levels = [level('HBM'), level('L2'), level('L1'), requests.value];
  const atomicQueues: Condition = {
    metric: 'latency of a vector memory instruction over that of an idle GPU, among atomics',
    value: queueingForAtomics(input.metrics, levels, metric('share.atomic')),
    comparison: 'at least',
    threshold: 2,
    formula: `${formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  const fromL1: Condition = {
    metric: 'share of the L1 bandwidth that can be reached',
    value: combine([level('L1')], (share) => share / L1_PART),
    comparison: 'at least',
    threshold: 0.7,
    formula: `bytes.l1 / time / (${L1_PART} of the L1 peak)`,
  };
  const queues: Condition = {
    metric: 'latency of a vector memory instruction over that of an idle GPU',
    value: queueingForMemory(input.metrics, levels),
    comparison: 'at least',
    threshold: queuedFrom(isShort, [level('HBM'), level('L2'), fromL1.value, requests.value]),
    formula: `${formula('vmem.latency')} / what vmem.lines lines take from where l1.hit and l2.hit have them`,
  };
  const fetching = when(
    'cycles of a compute unit per instruction cache miss',
    'icache.interval',
    FREQUENT_MISS,
    'at most',
  );
  const storesBusy = [stores, queues, fromL1].filter((condition) => isKnown(condition.value));
  const busy = [
    ...(isUnloaded ? [] : [bandwidth('HBM', 0.6)]),
    bandwidth('L2', 0.6),
    valuBusy,
    mfmaBusy,
    ...storesBusy,
  ];
  // What waves of such kernels wait for are the atomics.
  const atomics = [
    when('share of atomics in the requests to L2', 'share.atomic', 0.3),
    when('share of atomics in the requests to L2 that are answered', 'share.atomic.awaited', 0.5),
    atomicQueues,
  ].filter((condition) => isKnown(condition.value));
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
    value: combine([metric('dispatch.waves'), cyclesOfWave(input)], (waves, cycles) => waves * cycles),
    comparison: 'at least',
    threshold: 0.6,
    formula: `${formula('dispatch.waves')} * the larger of 1 and XCCs / waves of a workgroup`,
  };
  // Around the waves of a short kernel the GPU is active without them, and means over that time say nothing of the waves.
  const around = when('cycles in which shader engines have waves', 'sq.busy', MOSTLY_AROUND, 'at most');
  const launches = [...idleGpu, dispatching, around].filter((condition) => isKnown(condition.value));
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
  // No more than all of these cycles can be waited for; a wave has several of them in flight, so the sum may be more than its life.
  const brief: Condition = {
    metric: 'cycles of all vector memory instructions of a wave over those of the wave',
    value: combine(
      [vectorLatency(input.metrics), metric('insts.vmem'), metric('waves'), metric('cycles.per-wave')],
      (cycles, instructions, waves, each) => (cycles * instructions) / Math.max(1, waves * each),
    ),
    comparison: 'at most',
    threshold: BRIEF,
    formula: `${formula('vmem.latency')} * SQ_INSTS_VMEM / (4 * SQ_WAVE_CYCLES)`,
  };
  const elseLong = [brief].filter((condition) => isKnown(condition.value));
  const ldsIdle = when('cycles in which LDS works', 'lds.busy', 0.2, 'at most');
  // Conflicts cost nothing where LDS has time for them and waves do not wait for it.
  const tracedLds = waitShare(input, 'lds');
  const isLdsFree = isKnown(tracedLds) && isKnown(ldsBusy.value) && ldsBusy.value.value < ldsBusy.threshold;
  const ldsUnawaited: Condition[] = isLdsFree
    ? [{ metric: TRACED_LDS, value: tracedLds, comparison: 'at most', threshold: 0.1, formula: TRACED_LDS_FORMULA }]
    : [];
  const l2Busy = [bandwidth('L2', 0.6), requests].filter((condition) => isKnown(condition.value));
  const slow: Condition = {
    metric: 'cycles of a vector memory instruction',
    value: vectorLatency(input.metrics),
    comparison: 'at least',
    threshold: 500,
    formula: formula('vmem.latency'),
  };
  const memory: NonNullable<ClassTest['needs']> = {
    any: [slow, when('share of L1 accesses that go to L2', 'l1.miss', 0.05)],
    isRequired: true,
    why: 'SQ_WAIT_ANY alone does not tell what waves wait for: SQ_INST_LEVEL_VMEM or TCP counters are missing',
  };
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
  // What could be resident all the time, and what was: workgroups that last longer than the others leave CUs empty at the end.
  const tail = combine(
    [input.occupancy, input.fits, input.groupsPerCu, input.wavesPerGroup],
    (resident, fits, groups, waves) => resident / Math.max(1e-9, Math.min(fits, (groups * waves) / WAVES_OF_CU)),
  );
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
  return [
    {
      class: 'memory-bandwidth',
      metric: stores.metric,
      value: stores.value,
      threshold: stores.threshold,
      certain: 0.9,
      comparison: 'at least',
      formula: stores.formula,
      source: STORE_SOURCE,
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'memory-bandwidth',
      metric: queues.metric,
      value: queues.value,
      threshold: queues.threshold,
      certain: queues.threshold + 1,
      comparison: 'at least',
      formula: queues.formula,
      source: 'gpu-benches and mt4g: latencies of L1, L2 and memory (src/profile/analysis/queues.ts)',
      saves: (times) => 1 - 1 / times,
      refutes: [computeShare, valuBusy, mfmaBusy, ldsBusy, ...atomics, ...elseLong],
    },
    {
      class: 'memory-bandwidth',
      metric: 'share of the HBM bandwidth',
      value: level('HBM'),
      threshold: reachable,
      certain: reachable + 0.3,
      comparison: 'at least',
      formula: '(bytes.hbm.read + bytes.hbm.write) / time / HBM peak',
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }, ...(isUnloaded ? [fast] : [])],
    },
    {
      class: 'memory-bandwidth',
      metric: requests.metric,
      ...fromMetric('l2.busy'),
      threshold: requests.threshold,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'memory-bandwidth',
      metric: 'share of the L2 bandwidth',
      value: level('L2'),
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      formula: 'bytes.l2 / time / L2 peak',
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'memory-bandwidth',
      metric: fromL1.metric,
      value: fromL1.value,
      threshold: fromL1.threshold,
      certain: 1,
      comparison: 'at least',
      formula: fromL1.formula,
      source: 'gpu-benches: 61 bytes a cycle of L1 on MI300X',
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }, ...atomics],
    },
    {
      class: 'memory-latency',
      metric: 'share of wave time spent waiting',
      ...fromMetric('wait.any'),
      threshold: 0.5,
      certain: 0.95,
      comparison: 'at least',
      saves: (share) => share,
      needs: memory,
      refutes: [
        ...hbmBusy,
        ...storesBusy,
        ...atomics,
        bandwidth('L2', 0.6),
        ...(isKnown(requests.value) ? [requests] : []),
        valuBusy,
        mfmaBusy,
        when(CONFLICTS, 'lds.conflicts', 1),
        ...launches,
        ...elsewhere,
        ...elseLong,
      ],
      causes: [fewWaves(crowded), fewWaves(empty)],
    },
    {
      class: 'under-occupied',
      metric: 'resident waves per CU over the maximum',
      value: input.occupancy,
      threshold: 0.25,
      certain: 0,
      comparison: 'at most',
      formula: formula('waves.resident'),
      source: source('waves.resident'),
      saves: (share) => 1 - share,
      // Waves that wait for each other's atomics, or for an LDS that works all the time, are not helped by more of them.
      refutes: [...busy, ldsBusy, computeShare, ...atomics, ...launches],
      causes: [{ class: 'instruction-fetch', condition: fetching }],
    },
    {
      class: 'under-occupied',
      metric: 'waves per CU that registers and LDS allow over the maximum',
      value: fewFit,
      threshold: 0.25,
      certain: 0.125,
      comparison: 'at most',
      formula: 'waves of the workgroups that fit / waves of a CU',
      source: MODEL,
      saves: (share) => 1 - share,
      // Few waves are enough for a kernel that does not wait, and where fewer run than fit the launch is too small.
      needs: {
        any: [
          when('share of wave time spent waiting', 'wait.any', 0.5),
          {
            metric: TRACED_MEMORY,
            value: tracedMemory,
            comparison: 'at least',
            threshold: 0.4,
            formula: TRACED_MEMORY_FORMULA,
          },
        ],
        isRequired: true,
        why: 'neither SQ_WAIT_ANY nor a thread trace tells whether waves wait',
      },
      refutes: [...busy, ldsBusy, computeShare, ...atomics, ...launches, ...tooSmall],
      causes: [{ class: 'instruction-fetch', condition: fetching }],
    },
    {
      class: 'under-occupied',
      metric: empty.metric,
      value: empty.value,
      threshold: empty.threshold,
      certain: FEW_GROUPS / 2,
      comparison: 'at most',
      formula: empty.formula,
      source: MODEL,
      saves: (groups) => 1 - groups,
      refutes: [...busy, ldsBusy, computeShare, ...atomics, ...launches],
    },
    {
      class: 'under-occupied',
      metric: 'resident waves over those that were launched and fit',
      value: tail,
      threshold: 0.4,
      certain: 0.1,
      comparison: 'at most',
      formula: 'waves.resident / the smaller of waves of the workgroups that fit and waves of the launch per CU',
      source: MODEL,
      saves: (share) => 1 - share,
      // Where units are busy half of the time, they are what the other waves of the launch wait for.
      refutes: [
        ...busy.map((condition) => ({ ...condition, threshold: Math.min(condition.threshold, 0.5) })),
        { ...computeShare, threshold: 0.5 },
        when('share of wave time spent waiting to issue', 'wait.issue', 0.5),
        ...atomics,
        ...launches,
      ],
      causes: [{ class: 'instruction-fetch', condition: fetching }],
    },
    {
      class: 'under-occupied',
      metric: 'share of the time that twice as many waves save at most',
      value: worthWhereSparse(input),
      threshold: WORTH_MORE,
      certain: 0.6,
      comparison: 'at least',
      formula: `1 - the busiest of VALU, scalar, matrix units, LDS, L2 and HBM, and at most 0.5, where waves.resident is at most ${SPARSE} of the maximum`,
      source: MODEL,
      saves: (share) => share,
      refutes: [
        ...busy,
        ldsBusy,
        computeShare,
        when('share of wave time spent waiting to issue', 'wait.issue', 0.25),
        ...atomics,
        ...launches,
      ],
      causes: [{ class: 'instruction-fetch', condition: fetching }],
    },
    {
      class: 'divergence',
      metric: 'active lanes per VALU instruction',
      ...fromMetric('lanes.active'),
      threshold: 48,
      certain: 8,
      comparison: 'at most',
      saves: (lanes) => 1 - lanes / 64,
      // Lanes that do nothing cost nothing where waves wait, or where there is room for their instructions.
      refutes: [
        ...hbmBusy,
        when('cycles in which VALU issues', 'issue.valu', 0.1, 'at most'),
        when('share of wave time spent waiting', 'wait.any', 0.5),
      ],
    },
    {
      class: 'compute',
      metric: 'share of the compute peak',
      value: input.roofline.computeOfPeak,
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      formula: computeShare.formula,
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [bandwidth('HBM', 0.9)],
    },
    {
      class: 'compute',
      metric: 'share of the peak of integer matrix operations',
      value: input.roofline.integerOfPeak,
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      formula: 'flops.mfma.i8 / time / peak of integer matrix operations',
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [bandwidth('HBM', 0.9)],
    },
    {
      class: 'compute',
      metric: 'cycles in which the matrix units are busy',
      ...fromMetric('mfma.busy'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => 1 - share,
      refutes: [bandwidth('HBM', 0.9)],
    },
    {
      class: 'compute',
      metric: 'cycles in which VALU issues',
      ...fromMetric('issue.valu'),
      threshold: 0.5,
      certain: 1,
      comparison: 'at least',
      saves: (share) => 1 - share,
      // Instructions of a few lanes fill the pipeline with little work.
      refutes: [bandwidth('HBM', 0.9), when('active lanes per VALU instruction', 'lanes.active', 32, 'at most')],
    },
    {
      class: 'compute',
      metric: 'share of wave time spent waiting to issue',
      ...fromMetric('wait.issue'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      needs: {
        any: [
          when('cycles in which VALU issues', 'issue.valu', 0.3),
          when('cycles in which the matrix units are busy', 'mfma.busy', 0.3),
        ],
        isRequired: true,
        why: 'neither SQ_ACTIVE_INST_VALU nor SQ_VALU_MFMA_BUSY_CYCLES tells which unit waves wait for',
      },
      refutes: [
        bandwidth('HBM', 0.9),
        when('active lanes per VALU instruction', 'lanes.active', 32, 'at most'),
        ldsBusy,
      ],
    },
    {
      class: 'lds',
      metric: CONFLICTS,
      ...fromMetric('lds.conflicts'),
      threshold: 0.2,
      certain: 2,
      comparison: 'at least',
      saves: (conflicts) => conflicts / (1 + conflicts),
      needs: {
        any: [when('cycles in which LDS works', 'lds.busy', 0.2)],
        isRequired: false,
        why: 'how long LDS works is unknown',
      },
      refutes: [...hbmBusy, ldsIdle, ...ldsUnawaited],
    },
    {
      class: 'lds',
      metric: 'cycles in which LDS works',
      ...fromMetric('lds.busy'),
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => 1 - share,
      refutes: [...hbmBusy, { ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'lds',
      metric: 'share of the LDS bandwidth',
      value: level('LDS'),
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      formula: 'bytes.lds / time / LDS peak',
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'scalar',
      metric: 'scalar share of the instructions',
      ...fromMetric('share.salu'),
      threshold: 0.5,
      certain: 0.8,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [
        when('share of wave time spent waiting', 'wait.any', 0.5),
        when('cycles in which scalar instructions issue', 'issue.salu', 0.2, 'at most'),
        ...busy,
      ],
    },
    {
      class: 'instruction-fetch',
      metric: 'instruction cache misses per request',
      ...fromMetric('icache.miss'),
      threshold: 0.05,
      certain: 0.3,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [
        ...hbmBusy,
        valuBusy,
        mfmaBusy,
        when('cycles of a compute unit per instruction cache miss', 'icache.interval', RARE_MISS),
      ],
    },
    {
      class: 'instruction-fetch',
      metric: fetching.metric,
      ...fromMetric('icache.interval'),
      threshold: fetching.threshold,
      certain: 200,
      comparison: 'at most',
      saves: (cycles) => 1 - cycles / FREQUENT_MISS,
      refutes: [
        ...hbmBusy,
        ...[valuBusy, mfmaBusy].map((condition) => ({ ...condition, threshold: BUSY_BETWEEN_MISSES })),
      ],
    },
    {
      class: 'launch',
      metric: 'share of the run in which the GPU was idle',
      value: input.gapShare,
      threshold: OFTEN_IDLE,
      certain: 0.8,
      comparison: 'at least',
      formula: IDLE,
      source: MODEL,
      saves: () => 0,
      refutes: [
        {
          metric: 'mean duration in ns',
          value: input.meanNs,
          comparison: 'at least',
          threshold: SHORT_NS,
          formula: 'end - start',
        },
      ],
    },
    {
      class: 'launch',
      metric: dispatching.metric,
      value: dispatching.value,
      formula: dispatching.formula,
      source: source('dispatch.waves'),
      threshold: dispatching.threshold,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [{ ...hbm, threshold: NEARLY_ALL }, valuBusy, mfmaBusy],
    },
    {
      class: 'atomics',
      metric: 'share of atomics in the requests to L2',
      ...fromMetric('share.atomic'),
      threshold: 0.3,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [...hbmBusy, valuBusy, mfmaBusy],
    },
    {
      class: 'atomics',
      metric: 'share of atomics in the requests to L2 that are answered',
      ...fromMetric('share.atomic.awaited'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      needs: {
        any: [when('share of wave time spent waiting', 'wait.any', 0.5)],
        isRequired: true,
        why: 'SQ_WAIT_ANY is missing, so whether waves wait for the results of atomics is unknown',
      },
      refutes: [...hbmBusy, valuBusy, mfmaBusy, { ...slow, comparison: 'at most' }],
    },
    {
      class: 'atomics',
      metric: atomicQueues.metric,
      value: atomicQueues.value,
      threshold: atomicQueues.threshold,
      certain: 4,
      comparison: 'at least',
      formula: atomicQueues.formula,
      source: 'gpu-benches and mt4g: latencies of L1, L2 and memory (src/profile/analysis/queues.ts)',
      saves: (times) => 1 - 1 / times,
      refutes: [valuBusy, mfmaBusy, when('share of wave time spent waiting', 'wait.any', 0.4, 'at most')],
    },
    ...traceTests(input, {
      hbmBusy,
      storesBusy,
      l2Busy,
      atomics,
      launches,
      unitsBusy: [valuBusy, mfmaBusy],
      noMisses: when('instruction cache misses per request', 'icache.miss', 0.001, 'at most'),
      ldsIdle,
      fewWaves: [fewWaves(crowded), fewWaves(empty)],
    }),
  ];
}
