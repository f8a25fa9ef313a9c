// What the classifier takes and gives. The rules are in bottleneck-tests.ts, their evaluation in bottleneck.ts.
import type { Measure } from '../measure.ts';
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
  'atomics',
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

/** A number that speaks against a class: at the threshold or beyond it, the class is not given. */
export interface Refuter {
  readonly metric: string;
  /** Null when it was not measured: the confidence is lowered. */
  readonly value: number | null;
  readonly threshold: number;
  readonly comparison: 'at least' | 'at most';
  /** The counters that decide it. */
  readonly formula: string;
}

export interface Bottleneck {
  readonly class: BottleneckClass;
  /** 0.5 at the threshold, 1 at the far end; lowered when a number that could contradict is unknown. */
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
  /** What would have refuted it, and what was measured of that. */
  readonly refutedBy: readonly Refuter[];
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
  /** Share of the run's span in which nothing ran on the GPU; unknown where collecting counters put the gaps between dispatches. */
  readonly gapShare: Measure;
  /** Resident waves per CU over what the chip can hold. */
  readonly occupancy: Measure;
  /** Waves per CU that registers, LDS and workgroup slots allow, over what the chip can hold. */
  readonly fits: Measure;
  /** Of the most frequent launch: workgroups for each CU of the GPU, and waves of a workgroup. */
  readonly groupsPerCu: Measure;
  readonly wavesPerGroup: Measure;
  /** How many launches differ in grid, workgroup or registers; taken for several where it is not known. */
  readonly launches?: number | undefined;
  /** The architecture, as in `gfx942`. */
  readonly arch?: string | undefined;
  /** The run was on the virtual GPU: what its timing model takes for the chip is known. */
  readonly isModelled?: boolean | undefined;
  /** Dies of the GPU that get workgroups in turn; one where it is not known. */
  readonly xccs?: number | undefined;
  /** Numbers of the kernel that cannot be: nothing that rests on its counters and times is to be believed. */
  readonly impossible?: readonly string[] | undefined;
}

/** A number and from where on it counts. */
export interface Condition {
  readonly metric: string;
  readonly value: Measure;
  readonly comparison: 'at least' | 'at most';
  readonly threshold: number;
  readonly formula: string;
}

/** A cause and the class that it speaks for. */
export interface Cause {
  readonly class: BottleneckClass;
  readonly condition: Condition;
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
  /** Any of these is a cause behind the class; a class that is given for it goes before this one. */
  readonly causes?: readonly Cause[];
}
