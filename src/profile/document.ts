// The profile document: everything the analysis found, as versioned JSON. The published schema is schema/profile-1.schema.json.
import type { Severity } from '../finding/index.ts';
import type { Classification } from './analysis/bottleneck-types.ts';
import type { CounterTrack } from './analysis/counter-tracks.ts';
import type { KernelOccupancy } from './analysis/occupancy.ts';
import type { Roof, RooflinePoint } from './analysis/roofline.ts';
import type { ClassSum } from './analysis/trace-features.ts';
import type { CallEntry } from './calls.ts';
import type { LaunchEntry } from './launch.ts';
import type { Measure } from './measure.ts';
import type { OtherSimdSum, ReportedMetric, WaveStates } from './records.ts';

export const PROFILE_SCHEMA = 'wavesmith.profile';
export const PROFILE_VERSION = '1.7';

export interface ProfileDocument {
  readonly schema: typeof PROFILE_SCHEMA;
  readonly version: typeof PROFILE_VERSION;
  /** True for numbers from the simulator: exact counts, no claims about time. */
  readonly simulated: boolean;
  /** Of simulated programs: the chip whose times are modelled, null when times are unknown. */
  readonly modelledChip: string | null;
  readonly answer: AnswerSection;
  readonly sources: readonly { readonly path: string; readonly format: string }[];
  readonly info: Readonly<Record<string, string>>;
  readonly findings: readonly FindingEntry[];
  readonly agents: readonly AgentEntry[];
  readonly kernels: readonly KernelEntry[];
  readonly dispatches: DispatchSection;
  readonly roofline: RooflineSection;
  readonly criticalPath: CriticalPathSection;
  /** Of simulated programs only: the longest chain of dependent work by instructions, since there are no times. */
  readonly dependencyPath: DependencySection | null;
  readonly traces: readonly TraceSection[];
  readonly samples: readonly SampleEntry[];
  readonly calls: readonly CallEntry[];
  readonly copies: readonly CopyEntry[];
  readonly allocations: readonly { readonly operation: string; readonly count: number; readonly bytes: number }[];
  readonly omitted: OmittedSection;
}

/** What `kernels` and `calls` leave out because it takes little time: how many there are, and their sums. */
export interface OmittedSection {
  readonly kernels: number;
  readonly dispatches: number;
  readonly kernelNs: number;
  readonly functions: number;
  readonly calls: number;
  readonly callNs: number;
}

/** What a reader wants to know first. */
export interface AnswerSection {
  readonly command: string | null;
  readonly host: string | null;
  /** The GPUs that dispatches ran on. */
  readonly machines: readonly string[];
  readonly date: string | null;
  readonly spanNs: Measure;
  /** Time in which nothing ran; unknown where collecting counters made the gaps. */
  readonly idleNs: Measure;
  /** Time of copies on the critical path. */
  readonly copyNs: Measure;
  /** The kernels that took most time. */
  readonly kernels: readonly {
    readonly id: number;
    readonly name: string;
    readonly agent: string;
    readonly share: Measure;
    readonly totalNs: Measure;
  }[];
  /** At most three, those worth most first. */
  readonly changes: readonly Change[];
  /** Why there is none, in words; null where there are some. */
  readonly whyNoChange: string | null;
}

/** Something to change. */
export interface Change {
  readonly title: string;
  /** Id of the kernel; null for the whole program. */
  readonly kernel: number | null;
  /** What it could save at most, and that as a share of the span. */
  readonly worthNs: Measure;
  readonly worthShare: Measure;
  readonly confidence: number;
  readonly evidence: readonly string[];
}

/** Something about the input that the reader should know. */
export interface FindingEntry {
  /** The rule: `profile/unusable-time`. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly kernel: string | null;
  /** What to do about it. */
  readonly fix: string | null;
  readonly count: number;
}

export interface AgentEntry {
  readonly key: string;
  readonly name: string | null;
  readonly arch: string | null;
  readonly cuCount: number | null;
  readonly xccCount: number | null;
  readonly maxClockMhz: number | null;
}

export interface MetricEntry {
  readonly label: string;
  readonly unit: string;
  readonly value: Measure;
  readonly formula: string;
  readonly source: string;
  readonly dispatches: number;
}

export interface KernelEntry {
  readonly id: number;
  /** In C++, as far as it can be. */
  readonly name: string;
  /** The symbol, where a file names the kernel by it. */
  readonly symbol: string | null;
  readonly agent: string;
  readonly arch: string | null;
  readonly calls: number;
  /** Calls whose duration is known; the times below are theirs. */
  readonly timed: number;
  readonly totalNs: Measure;
  readonly meanNs: Measure;
  readonly minNs: Measure;
  readonly maxNs: Measure;
  /**
   * Mean time of a call by busy cycles at the highest clock: an estimate, only where no call has a usable time. No other number is made of it.
   */
  readonly cyclesNs: Measure;
  /** Coefficient of variation of the durations. */
  readonly variation: Measure;
  /** Share of the timed work of all kernels. */
  readonly share: Measure;
  readonly launches: readonly LaunchEntry[];
  readonly counters: Readonly<Record<string, { readonly sum: number; readonly dispatches: number }>>;
  readonly metrics: Readonly<Record<string, MetricEntry>>;
  readonly roofline: {
    readonly flops: Measure;
    readonly valuFlops: Measure;
    readonly mfmaFlops: Measure;
    readonly gflops: Measure;
    readonly computeOfPeak: Measure;
    readonly integerOps: Measure;
    readonly integerOfPeak: Measure;
    readonly points: readonly RooflinePoint[];
    readonly boundBy: string | null;
    readonly headroom: Measure;
    /** A lower bound of the time of all calls, in ns: what the roof `leastBy` needs for their FLOPs or bytes. */
    readonly leastNs: Measure;
    readonly leastBy: string | null;
  };
  /** What the launch allows, and the resident waves per CU that were measured. */
  readonly occupancy: KernelOccupancy & { readonly resident: Measure };
  readonly critical: {
    readonly onPath: number;
    readonly criticalNs: Measure;
    readonly minSlackNs: Measure;
    readonly gainIfTwiceAsFastNs: Measure;
  };
  readonly bottleneck: Classification;
  /** Numbers that another tool derived, as it reported them; no formula here uses them. */
  readonly reported: readonly ReportedMetric[];
}

export interface DispatchSection {
  readonly total: number;
  readonly timed: number;
  /** The longest dispatches and those with counters; all of them when there are few. */
  readonly shown: readonly {
    readonly row: number;
    readonly id: number;
    /** Id of its entry in `kernels`, -1 when it is among those left out. */
    readonly kernel: number;
    readonly queue: string;
    readonly startNs: Measure;
    readonly durationNs: Measure;
    readonly points: readonly { readonly level: string; readonly intensity: Measure; readonly gflops: Measure }[];
    /** On the virtual GPU: work, and the simulator's own time (milliseconds of the host, no time of a GPU). */
    readonly simulated: {
      readonly instructions: number;
      readonly wavefronts: number;
      readonly hostStartMs: number;
      readonly hostMs: number;
    } | null;
  }[];
  /** What the counters of the dispatches above say, over time. */
  readonly tracks: readonly CounterTrack[];
}

export interface RooflineSection {
  readonly ceilings: readonly {
    readonly agent: string;
    readonly kind: 'chip' | 'measured';
    readonly bandwidths: readonly Roof[];
    readonly rates: readonly Roof[];
  }[];
}

export interface CriticalPathSection {
  readonly spanNs: Measure;
  readonly lengthNs: Measure;
  readonly busyNs: Measure;
  readonly gapNs: Measure;
  readonly overlapNs: Measure;
  readonly nodes: number;
  readonly pathNodes: number;
  readonly edges: { readonly queueOrder: number; readonly recorded: number; readonly inferred: number };
  readonly symbols: readonly {
    readonly symbol: string;
    /** Key of the GPU, empty for copies. */
    readonly agent: string;
    readonly kind: string;
    readonly count: number;
    readonly totalNs: number;
    readonly criticalNs: number;
    readonly onPath: number;
    readonly minSlackNs: number;
    readonly gainIfTwiceAsFastNs: number;
  }[];
  /** How busy each lane is over the span: shares from 0 to 255 of equal pieces of the span, of all work, drawn or not. */
  readonly density: readonly { readonly lane: string; readonly busy: readonly number[] }[];
  /** Work in start order for a timeline; the longest pieces and the path when there is too much. */
  readonly timeline: readonly TimelineEntry[];
}

/** Lengths are instructions, once per wavefront: an amount of work, not a time. */
export interface DependencySection {
  readonly unit: 'instructions';
  /** Of the longest chain of dependent dispatches. */
  readonly length: number;
  /** Of all dispatches. */
  readonly work: number;
  readonly nodes: number;
  readonly pathNodes: number;
  readonly edges: { readonly queueOrder: number; readonly recorded: number };
  readonly symbols: readonly {
    readonly symbol: string;
    readonly count: number;
    readonly total: number;
    readonly critical: number;
    readonly onPath: number;
    readonly minSlack: number;
  }[];
  /** Every dispatch as early as what it depends on allows; the longest and the path when there is too much. */
  readonly timeline: readonly {
    readonly symbol: string;
    readonly lane: string;
    readonly start: number;
    readonly length: number;
    readonly critical: boolean;
    readonly slack: number;
    /** Nodes it waits for: the one before it in its queue, and those of other queues. */
    readonly after: readonly number[];
    readonly node: number;
  }[];
}

export interface TimelineEntry {
  readonly symbol: string;
  readonly kind: 'dispatch' | 'copy';
  readonly lane: string;
  /** Nanoseconds since the first start. */
  readonly start: number;
  readonly duration: number;
  readonly critical: boolean;
  readonly slack: number;
  /** Index of the predecessor by queue order and of the inferred one, within the whole DAG; -1 for none. */
  readonly after: number;
  readonly inferredAfter: number;
  readonly node: number;
}

export interface TraceSection {
  readonly source: string;
  readonly kind: string;
  readonly hits: number;
  readonly latency: number;
  readonly stall: number;
  readonly idle: number;
  readonly stallShare: Measure;
  readonly idleShare: Measure;
  readonly issueUtilisation: Measure;
  readonly loadToUse: Measure;
  readonly classes: readonly ClassSum[];
  readonly stallReasons: readonly { readonly reason: string; readonly samples: number }[];
  readonly lines: readonly TraceLineEntry[];
  readonly hottest: readonly number[];
  readonly residency: readonly (readonly [number, number])[];
  readonly waves: readonly {
    readonly shaderEngine: number;
    readonly cu: number;
    readonly simd: number;
    readonly slot: number;
    readonly begin: number;
    readonly end: number;
    readonly instructions: number;
    readonly timeline: readonly (readonly [string, number])[];
    /** The first instructions of the first waves: cycle at which it begins to wait, stall, duration with the stall, index of its line or -1. */
    readonly executed: readonly (readonly [number, number, number, number])[];
  }[];
  readonly omittedWaves: number;
  /** Waves in a state over time, as the profiler recorded it. */
  readonly waveStates: readonly WaveStates[];
  /** Instructions of the SIMDs beside the traced one. */
  readonly otherSimd: readonly OtherSimdSum[];
}

export interface TraceLineEntry {
  readonly text: string;
  readonly class: string;
  readonly address: number;
  readonly source: string;
  readonly kernel: string | null;
  readonly hits: number;
  /** Active lanes of an execution, where they were counted. */
  readonly meanLanes: number | null;
  readonly latency: number;
  readonly stall: number;
  readonly idle: number;
  readonly samples: number | null;
  /** The source line, when a copy of the source is part of the recording. */
  readonly sourceText: string | null;
}

export interface SampleEntry {
  readonly kernel: string | null;
  readonly instruction: string;
  readonly source: string;
  readonly samples: number;
  readonly issued: number;
  readonly meanLanes: number | null;
  readonly stallReasons: Readonly<Record<string, number>>;
}

export interface CopyEntry {
  readonly direction: string;
  readonly count: number;
  readonly totalNs: Measure;
  readonly bytes: Measure;
}
