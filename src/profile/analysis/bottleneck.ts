// Room `profile/analysis`: what follows from a recording: metrics, roofline, bottlenecks, occupancy, critical path, differences.
// Begin with metrics.ts (formulas over counters), then this file, which names what limits a kernel and why.
//
// What limits a kernel. Every class names the measured numbers it rests on, the thresholds they passed and where the formulas
// come from; without evidence there is no class. Headroom never exceeds what the roofline leaves.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import type { MetricSum } from './metrics.ts';
import type { KernelRoofline } from './roofline.ts';
import type { TraceFeatures } from './trace-features.ts';

export const BOTTLENECKS = [
  'memory-bandwidth',
  'memory-latency',
  'under-occupied',
  'divergence',
  'compute',
  'lds',
  'scalar',
  'instruction-fetch',
  'barrier',
  'launch',
] as const;
export type BottleneckClass = (typeof BOTTLENECKS)[number];

export interface Evidence {
  readonly metric: string;
  readonly value: number;
  readonly threshold: number;
  readonly comparison: 'at least' | 'at most';
  readonly formula: string;
  readonly source: string;
}

export interface Bottleneck {
  readonly class: BottleneckClass;
  /** 0.5 at the threshold, 1 at the far end; lowered when a number that could contradict is unknown. */
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
  /** Share of the kernel's time that removing the limit could save at most. */
  readonly headroom: Measure;
}

export interface Classification {
  /** Most confident first; empty when no class has evidence. */
  readonly classes: readonly Bottleneck[];
  /** Classes that could not be judged, and what is missing. */
  readonly undecided: readonly { readonly class: BottleneckClass; readonly reason: string }[];
}

export interface ClassifierInput {
  readonly metrics: readonly MetricSum[];
  readonly roofline: KernelRoofline;
  readonly trace: TraceFeatures | undefined;
  /** Shares of PC samples by stall reason, when sampled. */
  readonly sampledStalls: ReadonlyMap<string, number> | undefined;
  readonly meanNs: Measure;
  /** Share of the run's span in which nothing ran on the GPU. */
  readonly gapShare: Measure;
  /** Resident waves per CU over what the chip can hold. */
  readonly occupancy: Measure;
  /** Numbers of the kernel that cannot be: nothing that rests on its counters and times is to be believed. */
  readonly impossible?: readonly string[] | undefined;
}

/** What is left of the confidence of a class where numbers of the kernel are impossible. */
const DOUBTED = 0.1;

const MODEL = 'Wavesmith docs/profile.md, "Bottleneck classes"';

interface Test {
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
  /** Further conditions; a known one that fails removes the class, an unknown one lowers the confidence. */
  readonly unless?: { readonly value: Measure; readonly holds: (value: number) => boolean };
}

/** Judges all classes. */
export function classify(input: ClassifierInput): Classification {
  const classes = new Map<BottleneckClass, Bottleneck>();
  const undecided = new Map<BottleneckClass, string>();
  for (const test of tests(input)) {
    if (!isKnown(test.value)) {
      if (!classes.has(test.class)) undecided.set(test.class, undecided.get(test.class) ?? test.value.unknown);
      continue;
    }
    undecided.delete(test.class);
    const { value } = test.value;
    const passed = test.comparison === 'at least' ? value >= test.threshold : value <= test.threshold;
    if (!passed) continue;
    const isDoubted = (input.impossible ?? []).length > 0;
    let confidence = 0.5 + 0.5 * Math.min(1, (value - test.threshold) / (test.certain - test.threshold));
    if (test.unless !== undefined) {
      const other = numberOf(test.unless.value);
      if (other === undefined) confidence *= 0.8;
      else if (test.unless.holds(other)) continue;
    }
    const evidence: Evidence = {
      metric: test.metric,
      value,
      threshold: test.threshold,
      comparison: test.comparison,
      formula: test.formula,
      source: test.source,
    };
    const found = classes.get(test.class);
    if (isDoubted) confidence *= DOUBTED;
    const saves = isDoubted
      ? unknown(`${input.impossible?.[0]}, which cannot be`)
      : bound(test.saves(value), input.roofline.headroom);
    classes.set(test.class, {
      class: test.class,
      confidence: Math.max(confidence, found?.confidence ?? 0),
      evidence: [...(found?.evidence ?? []), evidence],
      headroom: found === undefined ? saves : larger(found.headroom, saves),
    });
  }
  return {
    classes: [...classes.values()].sort((a, b) => b.confidence - a.confidence),
    undecided: BOTTLENECKS.flatMap((name) => {
      const reason = undecided.get(name);
      return reason === undefined || classes.has(name) ? [] : [{ class: name, reason }];
    }),
  };
}

function bound(estimate: number, roofline: Measure): Measure {
  if (!isKnown(roofline)) return unknown(`the roofline bound is unknown (${roofline.unknown})`);
  return known(Math.max(0, Math.min(estimate, roofline.value)));
}

function larger(a: Measure, b: Measure): Measure {
  return isKnown(a) && isKnown(b) ? known(Math.max(a.value, b.value)) : a;
}

function tests(input: ClassifierInput): Test[] {
  const metric = (id: string): Measure =>
    input.metrics.find((sum) => sum.metric.id === id)?.value ??
    unknown(`there is no formula for ${id} on this architecture`);
  const formula = (id: string) => {
    const found = input.metrics.find((sum) => sum.metric.id === id)?.metric;
    return found === undefined ? '' : found.over === undefined ? found.formula : `(${found.formula}) / (${found.over})`;
  };
  const source = (id: string) => input.metrics.find((sum) => sum.metric.id === id)?.metric.source ?? MODEL;
  const level = (name: string) =>
    input.roofline.points.find((point) => point.level === name)?.ofPeak ?? unknown('no such level');
  const stalls = (...reasons: string[]): Measure => {
    if (input.sampledStalls === undefined) return unknown('no PC samples with stall reasons');
    return known(reasons.reduce((sum, reason) => sum + (input.sampledStalls?.get(reason) ?? 0), 0));
  };
  const traceShare = (name: string): Measure => {
    if (input.trace === undefined || input.trace.latency === 0) return unknown('no thread trace with cycles');
    const sum = input.trace.classes.find((c) => c.class === name);
    return known((sum?.latency ?? 0) / (input.trace.latency + input.trace.idle));
  };
  const fromMetric = (id: string) => ({ value: metric(id), formula: formula(id), source: source(id) });
  const bandwidthHigh = { value: level('HBM'), holds: (share: number) => share >= 0.6 };
  return [
    {
      class: 'memory-bandwidth',
      metric: 'share of the HBM bandwidth',
      value: level('HBM'),
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      formula: '(bytes.hbm.read + bytes.hbm.write) / time / HBM peak',
      source: MODEL,
      saves: (share) => 1 - share,
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
    },
    {
      class: 'memory-latency',
      metric: 'share of wave time spent waiting',
      ...fromMetric('wait.any'),
      threshold: 0.5,
      certain: 0.95,
      comparison: 'at least',
      saves: (share) => share,
      unless: bandwidthHigh,
    },
    {
      class: 'memory-latency',
      metric: 'share of traced wave time in wait instructions',
      value: traceShare('wait'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: 'latency of waits / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      unless: bandwidthHigh,
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
      unless: bandwidthHigh,
    },
    {
      class: 'under-occupied',
      metric: 'resident waves per CU over the maximum',
      value: input.occupancy,
      threshold: 0.25,
      certain: 0,
      comparison: 'at most',
      formula: formula('waves.resident') || 'resident waves / maximum',
      source: source('waves.resident'),
      saves: (share) => 1 - share,
    },
    {
      class: 'divergence',
      metric: 'active lanes per VALU instruction',
      ...fromMetric('lanes.active'),
      threshold: 48,
      certain: 8,
      comparison: 'at most',
      saves: (lanes) => 1 - lanes / 64,
    },
    {
      class: 'compute',
      metric: 'share of the compute peak',
      value: input.roofline.computeOfPeak,
      threshold: 0.6,
      certain: 0.9,
      comparison: 'at least',
      formula: 'sum over FLOP types of FLOPs / time / peak of the type',
      source: MODEL,
      saves: (share) => 1 - share,
    },
    {
      class: 'lds',
      metric: 'LDS bank conflict cycles per access cycle',
      ...fromMetric('lds.conflicts'),
      threshold: 0.2,
      certain: 2,
      comparison: 'at least',
      saves: (conflicts) => conflicts / (1 + conflicts),
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
    },
    {
      class: 'scalar',
      metric: 'scalar share of the instructions',
      ...fromMetric('share.salu'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      saves: (share) => share,
      unless: { value: metric('wait.any'), holds: (share) => share >= 0.5 },
    },
    {
      class: 'instruction-fetch',
      metric: 'instruction cache misses per request',
      ...fromMetric('icache.miss'),
      threshold: 0.05,
      certain: 0.3,
      comparison: 'at least',
      saves: (share) => share,
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
    },
    {
      class: 'barrier',
      metric: 'share of traced wave time in barriers',
      value: traceShare('barrier'),
      threshold: 0.2,
      certain: 0.6,
      comparison: 'at least',
      formula: 'latency of barriers / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
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
    },
    {
      class: 'launch',
      metric: 'share of the run in which the GPU was idle',
      value: input.gapShare,
      threshold: 0.5,
      certain: 0.95,
      comparison: 'at least',
      formula: 'time without work / span, for kernels of at most 10 µs',
      source: MODEL,
      saves: () => 0,
      unless: { value: input.meanNs, holds: (ns) => ns > 10_000 },
    },
  ];
}
