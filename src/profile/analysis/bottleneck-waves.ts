// The rules for kernels whose waves are few: what is there, what fits, what was launched, and what more of them would save.
import { type Conditions, FEW_GROUPS } from './bottleneck-conditions.ts';
import type { KernelNumbers } from './bottleneck-numbers.ts';
import { ISSUE_WAIT, MODEL, TRACED_MEMORY, TRACED_MEMORY_FORMULA } from './bottleneck-traces.ts';
import type { Cause, ClassTest } from './bottleneck-types.ts';
import { presence } from './fullest.ts';
import { SPARSE, WORTH_MORE, worthWhereSparse } from './worth.ts';

/** Tests on the number of waves. */
export function waveTests(numbers: KernelNumbers, conditions: Conditions): ClassTest[] {
  const { input } = numbers;
  const { ldsBusy, computeShare, tracedMemory, atomics, launches, fewFit, empty, tooSmall, fetching, left, busy } =
    conditions;
  const causes: readonly Cause[] = [
    { class: 'instruction-fetch', condition: fetching },
    { class: 'barrier', condition: left },
  ];
  // What could be resident all the time, and what was: workgroups that last longer than the others leave CUs empty at the end.
  const tail = presence(input);
  return [
    {
      class: 'under-occupied',
      metric: 'resident waves per CU over the maximum',
      value: input.occupancy,
      threshold: 0.25,
      certain: 0,
      comparison: 'at most',
      formula: numbers.formula('waves.resident'),
      source: numbers.source('waves.resident'),
      saves: (share) => 1 - share,
      // Waves that wait for each other's atomics, or for an LDS that works all the time, are not helped by more of them.
      refutes: [...busy, ldsBusy, computeShare, ...atomics, ...launches],
      causes,
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
          numbers.when('share of wave time spent waiting', 'wait.any', 0.5),
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
      causes,
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
        numbers.when(ISSUE_WAIT, 'wait.issue', 0.5),
        ...atomics,
        ...launches,
      ],
      causes,
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
      refutes: [...busy, ldsBusy, computeShare, numbers.when(ISSUE_WAIT, 'wait.issue', 0.25), ...atomics, ...launches],
      causes,
    },
  ];
}
