// The rules for kernels that wait for code, at barriers that no trace tells of, for their waves to start, and for atomics.
import { CODE_MISSES, type Conditions, FREQUENT_MISS, IDLE, NEARLY_ALL, SHORT_NS } from './bottleneck-conditions.ts';
import type { KernelNumbers } from './bottleneck-numbers.ts';
import { MODEL } from './bottleneck-traces.ts';
import type { ClassTest } from './bottleneck-types.ts';

/** A miss of the instruction cache holds up two compute units for up to a thousand cycles: at this distance a quarter of the time. */
const RARE_MISS = 8000;
/** From here on units that work are what a kernel with frequent misses is limited by. */
const BUSY_BETWEEN_MISSES = 0.75;
/** Idle share from which on launching may limit them: the start and the end of a short kernel are the launch's, too. */
const OFTEN_IDLE = 0.4;
/** Nothing counts barriers, so that class is never sure: at a share of 1 the confidence is 0.7. */
const NEVER_CERTAIN = 1.75;

/** Tests on the instruction cache, on waits that are left for barriers, on launches and on atomics. */
export function frontTests(numbers: KernelNumbers, conditions: Conditions): ClassTest[] {
  const { input } = numbers;
  const { valuBusy, mfmaBusy, hbm, hbmBusy, slow, atomicQueues, dispatching, slotsFull, fetching, left } = conditions;
  return [
    {
      class: 'instruction-fetch',
      metric: 'instruction cache misses per request',
      ...numbers.evidence('icache.miss'),
      threshold: CODE_MISSES,
      certain: 0.3,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [
        ...hbmBusy,
        valuBusy,
        mfmaBusy,
        numbers.when('cycles of a compute unit per instruction cache miss', 'icache.interval', RARE_MISS),
      ],
    },
    {
      class: 'instruction-fetch',
      metric: fetching.metric,
      ...numbers.evidence('icache.interval'),
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
      class: 'barrier',
      ...left,
      certain: NEVER_CERTAIN,
      source: MODEL,
      saves: (share) => share,
      refutes: [fetching, numbers.when('cycles in which LDS works', 'lds.busy', 0.5)],
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
      source: numbers.source('dispatch.waves'),
      threshold: dispatching.threshold,
      certain: 0.95,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [{ ...hbm, threshold: NEARLY_ALL }, valuBusy, mfmaBusy, slotsFull],
    },
    {
      class: 'atomics',
      metric: 'share of atomics in the requests to L2',
      ...numbers.evidence('share.atomic'),
      threshold: 0.3,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [...hbmBusy, valuBusy, mfmaBusy],
    },
    {
      class: 'atomics',
      metric: 'share of atomics in the requests to L2 that are answered',
      ...numbers.evidence('share.atomic.awaited'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      needs: {
        any: [numbers.when('share of wave time spent waiting', 'wait.any', 0.5)],
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
      refutes: [valuBusy, mfmaBusy, numbers.when('share of wave time spent waiting', 'wait.any', 0.4, 'at most')],
    },
  ];
}
