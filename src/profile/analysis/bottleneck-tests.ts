// The rules of the classifier: which number speaks for a class from where on, what must be seen besides, and what refutes it.
// Thresholds: docs/profile.md, "Bottleneck classes".
import { isKnown, known, type Measure, ratio, unknown } from '../measure.ts';
import type { BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import type { WaitedFor } from './trace-features.ts';

const MODEL = 'Wavesmith docs/profile.md, "Bottleneck classes"';

/** Part of the HBM peak that a kernel reaches which only stores. */
const STORE_PART = 0.55;
const STORE_SOURCE =
  'MI300X: copies of 128 MB move 2.3 TB/s each way, of 1 GB 4.0 TB/s, of 5.3 TB/s (src/device/sim/timing/chips/mi300x.ts)';
/**
 * From here on requests stand in queues: a load of a GPU that has nothing else to do comes back within 500 to 1,500 cycles
 * (src/device/sim/timing/chips), and waits longer only behind others.
 */
const QUEUED_CYCLES = 4000;
/** Up to here nothing stands in queues. */
const UNLOADED_CYCLES = 1000;
/** A miss of the instruction cache holds up two compute units for up to a thousand cycles: at this distance a quarter of the time. */
const RARE_MISS = 8000;
/** From here on units stand still most of the time. */
const FREQUENT_MISS = 1000;
/** From this share of the reachable HBM bandwidth on, latency says nothing against bandwidth. */
const NEARLY_ALL = 0.75;
/** Kernels that launching can limit. */
const SHORT_NS = 10_000;
const TRACED_MEMORY = 'share of traced wave time in waits for memory';
const TRACED_MEMORY_FORMULA = 'latency of waits behind vector loads / (latency + idle) of all instructions';
const IDLE = 'time without work / span, for kernels of at most 10 µs';

/** Of a kernel that mostly stores: its bytes over what stores can have. */
function storeShare({ metrics }: ClassifierInput, hbm: Measure): Measure {
  const bytes = (id: string): Measure => metrics.find((sum) => sum.metric.id === id)?.value ?? unknown(`no ${id}`);
  const [read, written] = [bytes('bytes.hbm.read'), bytes('bytes.hbm.write')];
  if (!isKnown(read) || !isKnown(written)) return unknown('the bytes of HBM are not known');
  const part = written.value / Math.max(1, read.value + written.value);
  if (part < 2 / 3) return unknown('the kernel does not mostly store');
  return isKnown(hbm) ? known((hbm.value * part) / STORE_PART) : hbm;
}

/** The share of the HBM bandwidth of a kernel whose requests stand in queues. */
function queuedShare({ metrics }: ClassifierInput, hbm: Measure): Measure {
  const latency =
    metrics.find((sum) => sum.metric.id === 'vmem.latency')?.value ?? unknown('no formula of the latency');
  if (!isKnown(latency)) return latency;
  return latency.value < QUEUED_CYCLES ? unknown('requests do not stand in queues') : hbm;
}

/** A number and from where on it counts. */
export interface Condition {
  readonly metric: string;
  readonly value: Measure;
  readonly comparison: 'at least' | 'at most';
  readonly threshold: number;
  readonly formula: string;
}

export interface ClassTest {
  readonly class: BottleneckClass;
  readonly metric: string;
  readonly value: Measure;
  readonly threshold: number;
  readonly comparison: 'at least' | 'at most';
  /** The value at which confidence is 1. */
  readonly certain: number;
  readonly formula: string;
  readonly source: string;
  /** Share of time that could be saved, from the value. */
  readonly saves: (value: number) => number;
  /** One of these must hold. When none is known the class is not judged, for `why`, or, where not required, is less confident. */
  readonly needs?: { readonly any: readonly Condition[]; readonly isRequired: boolean; readonly why: string };
  /** Any of these takes the class away; an unknown one lowers the confidence. */
  readonly refutes: readonly Condition[];
  /** Any of these is a cause behind the class, whose own class goes before it. */
  readonly causes?: readonly Condition[];
}

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
  const stalls = (...reasons: string[]): Measure => {
    if (input.sampledStalls === undefined) return unknown('no PC samples with stall reasons');
    return known(reasons.reduce((sum, reason) => sum + (input.sampledStalls?.get(reason) ?? 0), 0));
  };
  const traceShare = (name: string): Measure => {
    if (input.trace === undefined || input.trace.latency === 0) return unknown('no thread trace with cycles');
    const sum = input.trace.classes.find((c) => c.class === name);
    return known((sum?.latency ?? 0) / (input.trace.latency + input.trace.idle));
  };
  const waitShare = (name: WaitedFor): Measure => {
    if (input.trace === undefined || input.trace.latency === 0) return unknown('no thread trace with cycles');
    return known(input.trace.waits[name] / (input.trace.latency + input.trace.idle));
  };
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
  const fast = when('cycles of a vector memory instruction', 'vmem.latency', UNLOADED_CYCLES, 'at most');
  const isUnloaded =
    isKnown(fast.value) && fast.value.value <= UNLOADED_CYCLES && isKnown(hbm.value) && hbm.value.value < nearlyAll;
  const hbmBusy = isUnloaded ? [] : [hbm];
  const stores: Condition = {
    metric: 'share of the HBM bandwidth that stores alone can have',
    value: storeShare(input, level('HBM')),
    comparison: 'at least',
    threshold: 0.6,
    formula: `bytes.hbm.write / time / (${STORE_PART} of the HBM peak), where stores are two thirds of the bytes`,
  };
  const queued: Condition = {
    metric: 'share of the HBM bandwidth while requests stand in queues',
    value: queuedShare(input, level('HBM')),
    comparison: 'at least',
    threshold: 0.25,
    formula: `bytes of HBM / time / HBM peak, where a vector memory instruction takes ${QUEUED_CYCLES} cycles or more (${formula('vmem.latency')})`,
  };
  const requests = when('requests per L2 channel and cycle', 'l2.busy', 0.6);
  const fetching = when(
    'cycles of a compute unit per instruction cache miss',
    'icache.interval',
    FREQUENT_MISS,
    'at most',
  );
  const storesBusy = [stores, queued].filter((condition) => isKnown(condition.value));
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
  ].filter((condition) => isKnown(condition.value));
  // A GPU that stands idle between short kernels is not helped by what happens in them.
  const launches: Condition[] =
    isKnown(input.meanNs) && input.meanNs.value < SHORT_NS && isKnown(input.gapShare)
      ? [
          {
            metric: 'share of the run in which the GPU was idle',
            value: input.gapShare,
            comparison: 'at least',
            threshold: 0.5,
            formula: IDLE,
          },
        ]
      : [];
  // SQ_WAIT_ANY counts every wait; a trace tells them apart.
  const tracedMemory = waitShare('memory');
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
  // Every wave waits for its arguments; a kernel that waits for scalar loads has more of them.
  const loads = ratio(metric('insts.smem'), metric('waves'), 'waves');
  const scalarWaits =
    isKnown(loads) && loads.value < 8 ? unknown('waves load few scalars besides their arguments') : waitShare('scalar');
  const l2Busy = [bandwidth('L2', 0.6), requests].filter((condition) => isKnown(condition.value));
  const memory: NonNullable<ClassTest['needs']> = {
    any: [
      when('cycles of a vector memory instruction', 'vmem.latency', 500),
      when('share of L1 accesses that go to L2', 'l1.miss', 0.05),
    ],
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
      metric: queued.metric,
      value: queued.value,
      threshold: queued.threshold,
      certain: 0.5,
      comparison: 'at least',
      formula: queued.formula,
      source: MODEL,
      saves: (share) => 1 - share,
      refutes: [{ ...computeShare, threshold: 0.9 }],
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
        when('LDS bank conflict cycles per access cycle', 'lds.conflicts', 1),
        ...launches,
        ...elsewhere,
      ],
      causes: [crowded],
    },
    {
      class: 'memory-latency',
      metric: TRACED_MEMORY,
      value: tracedMemory,
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: TRACED_MEMORY_FORMULA,
      source: MODEL,
      saves: (share) => share,
      refutes: [...hbmBusy, ...storesBusy, ...atomics, ...l2Busy, ...launches],
      causes: [crowded],
    },
    {
      class: 'memory-latency',
      metric: 'share of traced wave time in waits for scalar loads',
      value: scalarWaits,
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula:
        'latency of waits behind scalar loads / (latency + idle) of all instructions, where a wave has 8 or more',
      source: MODEL,
      saves: (share) => share,
      refutes: [...hbmBusy, ...launches],
      causes: [crowded],
    },
    {
      class: 'memory-latency',
      metric: 'share of stalled samples in WAITCNT',
      value: stalls('WAITCNT'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      formula: 'WAITCNT samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: [...hbmBusy, ...l2Busy],
      causes: [crowded],
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
      // Waves that wait for each other's atomics are not helped by more of them.
      refutes: [...busy, computeShare, ...atomics, ...launches],
      causes: [fetching],
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
      refutes: [...busy, computeShare, ...atomics, ...launches, ...tooSmall],
      causes: [fetching],
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
      certain: 0.9,
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
        when('cycles in which LDS works', 'lds.busy', 0.6),
      ],
    },
    {
      class: 'lds',
      metric: 'LDS bank conflict cycles per access cycle',
      ...fromMetric('lds.conflicts'),
      threshold: 0.2,
      certain: 2,
      comparison: 'at least',
      saves: (conflicts) => conflicts / (1 + conflicts),
      refutes: [...hbmBusy, when('cycles in which LDS works', 'lds.busy', 0.2, 'at most')],
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
      class: 'lds',
      metric: 'share of traced wave time in waits for LDS',
      value: waitShare('lds'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: 'latency of waits behind LDS instructions / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      refutes: [...hbmBusy, when('cycles in which LDS works', 'lds.busy', 0.2, 'at most')],
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
      refutes: [...hbmBusy, valuBusy, mfmaBusy],
    },
    {
      class: 'instruction-fetch',
      metric: 'share of stalled samples without an instruction',
      value: stalls('NO_INSTRUCTION_AVAILABLE'),
      threshold: 0.2,
      certain: 0.6,
      comparison: 'at least',
      formula: 'NO_INSTRUCTION_AVAILABLE samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: [when('instruction cache misses per request', 'icache.miss', 0.001, 'at most')],
    },
    {
      class: 'barrier',
      metric: 'share of traced wave time in barriers',
      value: traceShare('barrier'),
      threshold: 0.15,
      certain: 0.6,
      comparison: 'at least',
      formula: 'latency of barriers / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      refutes: [valuBusy, mfmaBusy],
    },
    {
      class: 'barrier',
      metric: 'share of stalled samples in BARRIER_WAIT',
      value: stalls('BARRIER_WAIT'),
      threshold: 0.2,
      certain: 0.6,
      comparison: 'at least',
      formula: 'BARRIER_WAIT samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: [valuBusy, mfmaBusy],
    },
    {
      class: 'launch',
      metric: 'share of the run in which the GPU was idle',
      value: input.gapShare,
      threshold: 0.5,
      certain: 0.95,
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
      refutes: [
        ...hbmBusy,
        valuBusy,
        mfmaBusy,
        when('cycles of a vector memory instruction', 'vmem.latency', 500, 'at most'),
      ],
    },
    {
      class: 'atomics',
      metric: 'share of traced wave time in waits for atomics',
      value: waitShare('atomics'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: 'latency of waits behind vector atomics / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      refutes: [...hbmBusy, valuBusy, mfmaBusy],
    },
  ];
}
