// The rules for kernels that a unit of the compute unit is too slow for: lanes, VALU and matrix units, LDS, the scalar unit.
import type { Conditions } from './bottleneck-conditions.ts';
import type { KernelNumbers } from './bottleneck-numbers.ts';
import { CONFLICTS, ISSUE_WAIT, MODEL, VALU_BUSY } from './bottleneck-traces.ts';
import type { ClassTest } from './bottleneck-types.ts';

/** Tests on the units of a compute unit. */
export function unitTests(numbers: KernelNumbers, conditions: Conditions): ClassTest[] {
  const { input } = numbers;
  const { ldsBusy, computeShare, ldsIdle, ldsUnawaited, hbmBusy, busy } = conditions;
  return [
    {
      class: 'divergence',
      metric: 'active lanes per VALU instruction',
      ...numbers.evidence('lanes.active'),
      threshold: 48,
      certain: 8,
      comparison: 'at most',
      saves: (lanes) => 1 - lanes / 64,
      // Lanes that do nothing cost nothing where waves wait, or where there is room for their instructions.
      refutes: [
        ...hbmBusy,
        numbers.when(VALU_BUSY, 'issue.valu', 0.1, 'at most'),
        numbers.when('share of wave time spent waiting', 'wait.any', 0.5),
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
      refutes: [numbers.bandwidth('HBM', 0.9)],
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
      refutes: [numbers.bandwidth('HBM', 0.9)],
    },
    {
      class: 'compute',
      metric: 'cycles in which the matrix units are busy',
      ...numbers.evidence('mfma.busy'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => 1 - share,
      refutes: [numbers.bandwidth('HBM', 0.9)],
    },
    {
      class: 'compute',
      metric: VALU_BUSY,
      ...numbers.evidence('issue.valu'),
      threshold: 0.5,
      certain: 1,
      comparison: 'at least',
      saves: (share) => 1 - share,
      // Instructions of a few lanes fill the pipeline with little work.
      refutes: [
        numbers.bandwidth('HBM', 0.9),
        numbers.when('active lanes per VALU instruction', 'lanes.active', 32, 'at most'),
      ],
    },
    {
      class: 'compute',
      metric: ISSUE_WAIT,
      ...numbers.evidence('wait.issue'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => share,
      needs: {
        any: [
          numbers.when(VALU_BUSY, 'issue.valu', 0.3),
          numbers.when('cycles in which the matrix units are busy', 'mfma.busy', 0.3),
        ],
        isRequired: true,
        why: 'neither SQ_ACTIVE_INST_VALU nor SQ_VALU_MFMA_BUSY_CYCLES tells which unit waves wait for',
      },
      refutes: [
        numbers.bandwidth('HBM', 0.9),
        numbers.when('active lanes per VALU instruction', 'lanes.active', 32, 'at most'),
        ldsBusy,
      ],
    },
    {
      class: 'lds',
      metric: CONFLICTS,
      ...numbers.evidence('lds.conflicts'),
      threshold: 0.2,
      certain: 2,
      comparison: 'at least',
      saves: (conflicts) => conflicts / (1 + conflicts),
      needs: {
        any: [numbers.when('cycles in which LDS works', 'lds.busy', 0.2)],
        isRequired: false,
        why: 'how long LDS works is unknown',
      },
      refutes: [...hbmBusy, ldsIdle, ...ldsUnawaited],
    },
    {
      class: 'lds',
      metric: 'cycles in which LDS works',
      ...numbers.evidence('lds.busy'),
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      saves: (share) => 1 - share,
      refutes: [...hbmBusy, { ...computeShare, threshold: 0.9 }],
    },
    {
      class: 'lds',
      metric: 'share of the LDS bandwidth',
      value: numbers.level('LDS'),
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
      ...numbers.evidence('share.salu'),
      threshold: 0.5,
      certain: 0.8,
      comparison: 'at least',
      saves: (share) => share,
      refutes: [
        numbers.when('share of wave time spent waiting', 'wait.any', 0.5),
        numbers.when('cycles in which scalar instructions issue', 'issue.salu', 0.2, 'at most'),
        ...busy,
      ],
    },
  ];
}
