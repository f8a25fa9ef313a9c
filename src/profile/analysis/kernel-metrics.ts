// The metrics of a kernel and where they place it under the roofs. Without counters they are alike for all kernels of a GPU, and made once.
import type { KernelEntry } from '../document.ts';
import { isKnown, type Measure, unknown } from '../measure.ts';
import { plainRecord } from '../plain-record.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';
import type { MetricSum, MetricTable } from './metrics.ts';
import { ceilings, chipCeilings, type KernelRoofline, kernelRoofline, type RoofSources } from './roofline.ts';

/** What counters and times of a kernel's dispatches add up to. */
export interface KernelMetrics {
  readonly sums: readonly MetricSum[];
  /** The same as the document has it. */
  readonly entries: KernelEntry['metrics'];
  readonly roofline: KernelRoofline;
  /** Under the roofs of the chip alone, whatever was measured. */
  readonly ofChip: KernelRoofline;
  /** Resident waves per CU. */
  readonly resident: Measure;
}

/** Makes the metrics of the dispatches of a kernel that ran on an agent. */
export function kernelMetrics(
  r: Recording,
  table: MetricTable,
  roofs: RoofSources,
): (rows: Int32Array, agent: Agent | undefined) => KernelMetrics {
  const made = (rows: Int32Array, agent: Agent | undefined): KernelMetrics => {
    const sums = agent?.arch === undefined ? [] : table.sum(agent.arch, rows);
    return {
      sums,
      entries: plainRecord(sums.map((sum) => [sum.metric.id, metricEntry(sum)] as const)),
      roofline: kernelRoofline(sums, ceilings(agent, roofs), r.simulated !== undefined),
      ofChip: kernelRoofline(sums, chipCeilings(agent, { hbmGbps: roofs.hbmGbps })),
      resident: residentWaves(sums),
    };
  };
  if (r.counters.size > 0) return made;
  const ofAgents = new Map<Agent | undefined, KernelMetrics>();
  return (rows, agent) => {
    const metrics = ofAgents.get(agent) ?? made(rows, agent);
    ofAgents.set(agent, metrics);
    return metrics;
  };
}

function metricEntry({ metric, value, dispatches }: MetricSum): KernelEntry['metrics'][string] {
  return {
    label: metric.label,
    unit: metric.unit,
    value,
    formula: metric.over === undefined ? metric.formula : `(${metric.formula}) / (${metric.over})`,
    source: metric.source,
    dispatches,
  };
}

/** Resident waves per CU: accumulated by the hardware where that was collected, else from the cycles of waves. */
function residentWaves(sums: readonly MetricSum[]): Measure {
  const values = ['waves.resident', 'waves.resident.derived', 'waves.resident.cycles'].flatMap(
    (id) => sums.find((sum) => sum.metric.id === id)?.value ?? [],
  );
  return values.find(isKnown) ?? values[0] ?? unknown('there is no formula without an architecture');
}
