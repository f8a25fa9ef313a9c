// What a recording holds, record by record: agents, launches, dispatches and copies in columns, samples, traces, roofs and reported figures.
import type { Finding, ProfileRuleId } from '../finding/index.ts';
import { f64, i32, u8 } from './columns.ts';

/** A GPU or CPU as the recording describes it. */
export interface Agent {
  /** As dispatches refer to it ("Agent 4", "GPU 2"). */
  readonly key: string;
  name: string | undefined;
  /** gfx90a, gfx942, gfx950, … */
  arch: string | undefined;
  isGpu: boolean;
  cuCount: number | undefined;
  simdPerCu: number | undefined;
  xccCount: number | undefined;
  wavesPerCu: number | undefined;
  /** Engine clock in MHz. */
  maxClockMhz: number | undefined;
  /** Memory clock in MHz and number of HBM channels; both needed for the HBM peak. */
  memoryClockMhz: number | undefined;
  hbmChannels: number | undefined;
  /** HBM peak in GB/s as the profiler recorded it. */
  hbmGbps: number | undefined;
  l2Channels: number | undefined;
}

/** Something about the input that the user should know: missing, rounded or contradictory data. */
export interface RecordingFinding extends Finding {
  readonly rule: ProfileRuleId;
  /** How often it was found. */
  count: number;
}

/** What a launch looked like; -1 marks a field that was not recorded. */
export interface LaunchConfig {
  /** Workgroup size in work-items per dimension; y and z are -1 when only the product was recorded (then in x). */
  readonly workgroup: readonly [number, number, number];
  /** Grid size in work-items, same convention. */
  readonly grid: readonly [number, number, number];
  readonly lds: number;
  readonly scratch: number;
  readonly vgpr: number;
  readonly agpr: number;
  readonly sgpr: number;
}

/** What many dispatches share: process, and ids of the recording's tables. */
export interface Launch {
  readonly process: number;
  readonly kernel: number;
  readonly agent: number;
  readonly queue: number;
  /** -1 where it is not recorded. */
  readonly stream: number;
  readonly config: number;
}

/** What a dispatch has of its own. */
export interface DispatchRow {
  readonly start: number;
  readonly end: number;
  /** One of `Timing`. */
  readonly state: number;
  readonly domain: number;
  /** -1 where it is not recorded, like the next. */
  readonly dispatchId: number;
  readonly correlation: number;
}

/** Dispatches in reading order, one row each. */
export class DispatchTable {
  readonly start = f64();
  readonly end = f64();
  readonly timing = u8();
  readonly kernel = i32();
  readonly agent = i32();
  readonly queue = i32();
  readonly stream = i32();
  readonly config = i32();
  readonly process = i32();
  /** Which clock its times are of: those of different machines, or of runs apart, cannot be compared. */
  readonly domain = i32();
  readonly dispatchId = f64();
  readonly correlation = f64();

  get length(): number {
    return this.start.length;
  }

  /** Adds a dispatch; returns its row. */
  add(launch: Launch, { start, end, state, domain, dispatchId, correlation }: DispatchRow): number {
    this.end.push(end);
    this.timing.push(state);
    this.kernel.push(launch.kernel);
    this.agent.push(launch.agent);
    this.queue.push(launch.queue);
    this.stream.push(launch.stream);
    this.config.push(launch.config);
    this.process.push(launch.process);
    this.domain.push(domain);
    this.dispatchId.push(dispatchId);
    this.correlation.push(correlation);
    return this.start.push(start);
  }
}

/** Memory copies, one row each. */
export class CopyTable {
  readonly start = f64();
  readonly end = f64();
  readonly timing = u8();
  readonly direction = i32();
  readonly stream = i32();
  readonly bytes = f64();
  readonly correlation = f64();
  readonly process = i32();
  readonly domain = i32();

  get length(): number {
    return this.start.length;
  }
}

/** Samples at one instruction. */
export interface SampleLine {
  readonly kernel: string | undefined;
  readonly instruction: string;
  readonly source: string;
  samples: number;
  issued: number;
  /** Active lanes summed over the samples; NaN when not recorded. */
  lanes: number;
  readonly stallReasons: Map<string, number>;
  readonly instructionTypes: Map<string, number>;
}

/** One instruction of a decoded thread trace or of PC sampling in `code.json` form. */
export interface TraceLine {
  readonly text: string;
  readonly source: string;
  readonly codeObject: number;
  readonly address: number;
  readonly hits: number;
  /** Active lanes summed over the executions, where they were counted. */
  readonly lanes?: number;
  /** Cycles; on gfx9 latency = stall + issue, so it contains the stall. */
  readonly latency: number;
  readonly stall: number;
  readonly idle: number;
  readonly pcIssued: number | undefined;
  readonly pcStalled: number | undefined;
  readonly stallReasons: readonly number[] | undefined;
  /** Title of the kernel this line belongs to. */
  readonly kernel: string | undefined;
  /** The source line itself, when a copy of the source is part of the recording. */
  readonly sourceText?: string;
}

/** One instruction executed by a traced wave. */
export interface WaveInstruction {
  readonly time: number;
  readonly category: string;
  readonly stall: number;
  readonly duration: number;
  /** Index into the trace's lines, -1 when not matched. */
  readonly line: number;
}

/** One traced wave. */
export interface TraceWave {
  readonly shaderEngine: number;
  readonly cu: number;
  readonly simd: number;
  readonly slot: number;
  readonly id: number;
  readonly begin: number;
  readonly end: number;
  readonly instructions: readonly WaveInstruction[];
  /** [state, cycles]; states: empty, idle, exec, wait, stall. */
  readonly timeline: readonly (readonly [string, number])[];
}

/** A wave starting or ending on any CU. */
export interface OccupancyEvent {
  readonly time: number;
  readonly shaderEngine: number;
  readonly cu: number;
  readonly simd: number;
  readonly slot: number;
  readonly start: boolean;
}

/** How many waves were in one state (exec, wait, stall) over time. */
export interface WaveStates {
  readonly state: string;
  /** [time, waves]. */
  readonly points: readonly (readonly [number, number])[];
}

/** Instructions of the SIMDs beside the traced one, of one category. */
export interface OtherSimdSum {
  readonly category: string;
  readonly instructions: number;
  readonly cycles: number;
}

/** A decoded thread trace (ATT folder or raw SQTT), or PC sampling in the same form. */
export interface ThreadTrace {
  readonly source: string;
  readonly kind: 'att' | 'sqtt' | 'pc-sampling' | 'att-stats' | 'simulated';
  readonly lines: TraceLine[];
  readonly waves: TraceWave[];
  readonly occupancy: OccupancyEvent[];
  readonly perfCounters: { readonly names: readonly string[]; readonly samples: number };
  /** Waves that were dropped from `waves` to bound memory, although their cycles are in `lines`. */
  omittedWaves: number;
  readonly waveStates?: readonly WaveStates[];
  readonly otherSimd?: readonly OtherSimdSum[];
}

/** Peaks measured by rocprof-compute's microbenchmarks, per device. GB/s and GFLOP/s. */
export interface MeasuredRoofline {
  /** Key of the agent whose machine was measured. */
  readonly agent: string;
  readonly device: string;
  readonly bandwidths: ReadonlyMap<string, number>;
  readonly rates: ReadonlyMap<string, number>;
}

/** A number that another tool derived, as it reported it. */
export interface ReportedMetric {
  readonly table: string;
  readonly id: string;
  readonly metric: string;
  readonly unit: string;
  /** min, max, avg, …; empty for a single value. */
  readonly statistic: string;
  readonly value: number;
}

/** What is known of dispatches that the virtual GPU ran, by dispatch row. */
export interface SimulatedRun {
  /** The chip whose times were modelled, undefined when times are unknown. */
  readonly chip: string | undefined;
  /** Why a counter has no value, by its name. */
  readonly gaps: ReadonlyMap<string, string>;
  /** Instructions, once per wavefront. */
  readonly instructions: readonly number[];
  readonly wavefronts: readonly number[];
  /** Work before it in its queue was complete when it began. */
  readonly barriers: readonly boolean[];
  /** Pairs of rows: the second waited for the first through a signal. */
  readonly dependencies: readonly (readonly [number, number])[];
  /** Start and length on the host's clock, in milliseconds. */
  readonly host: readonly (readonly [number, number])[];
}
