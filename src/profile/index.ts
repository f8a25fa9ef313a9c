// Room `profile`: profiler output to one document: readers for every format, and analysis that never guesses a number.
// Begin with recording.ts (what readers fill in), then analyse.ts (what is made of it) and document.ts (the result).
export { type AnalyseOptions, analyse, analyseAll, ROOFLINE_LEVELS } from './analyse.ts';
export { classify } from './analysis/bottleneck.ts';
export {
  BOTTLENECKS,
  type Bottleneck,
  type Classification,
  type Evidence,
  type Refuter,
} from './analysis/bottleneck-types.ts';
export { type CriticalPath, criticalPath } from './analysis/critical-path.ts';
export { diffProfiles, type KernelChange, type ProfileDiff } from './analysis/diff.ts';
export { classOf } from './analysis/instruction-class.ts';
export { type KernelOccupancy, kernelOccupancy } from './analysis/occupancy.ts';
export type { PackedWork } from './analysis/packed-work.ts';
export { type Ceilings, ceilings, kernelRoofline, type Roof } from './analysis/roofline.ts';
export { type TraceFeatures, traceFeatures } from './analysis/trace-features.ts';
export type { WorkNode } from './analysis/work-table.ts';
export { CHIPS } from './arch/chips.ts';
export { counterPasses, METRICS, type MetricFormula } from './arch/metrics.ts';
export { type CallEntry, isSumOfWork } from './calls.ts';
export { type CounterColumn, CounterStore } from './counters.ts';
export {
  type AgentEntry,
  type AnswerSection,
  type Change,
  type CopyEntry,
  type CriticalPathSection,
  type DependencySection,
  type DispatchSection,
  type KernelEntry,
  type MetricEntry,
  PROFILE_SCHEMA,
  PROFILE_VERSION,
  type ProfileDocument,
  type RooflineSection,
  type SampleEntry,
  type TimelineEntry,
  type TraceLineEntry,
  type TraceSection,
} from './document.ts';
export { analysisDocument, dagDocument, rooflineDocument, SCHEMAS } from './documents.ts';
export { attFolder } from './export/att.ts';
export { perfettoTrace } from './export/perfetto.ts';
export { speedscopeFile } from './export/speedscope.ts';
export type { LaunchEntry } from './launch.ts';
export {
  combine,
  isKnown,
  type Known,
  known,
  type Measure,
  numberOf,
  ratio,
  type Unknown,
  unknown,
} from './measure.ts';
export { findFiles } from './node/files.ts';
export { detectFormat } from './node/formats.ts';
export { type Loaded, type LoadOptions, loadProfile } from './node/load.ts';
export { driveRocprofv3, profileCommands, shellLine } from './node/rocprofv3.ts';
export { recordSimulated, type SimulatedProgram, simulatedTrace } from './readers/simulated.ts';
export { Recording, TIMING_REASONS, Timing } from './recording.ts';
export {
  type Agent,
  CopyTable,
  DispatchTable,
  type LaunchConfig,
  type MeasuredRoofline,
  type OccupancyEvent,
  type OtherSimdSum,
  type RecordingFinding,
  type ReportedMetric,
  type SampleLine,
  type SimulatedRun,
  type ThreadTrace,
  type TraceLine,
  type TraceWave,
  type WaveInstruction,
  type WaveStates,
} from './records.ts';
export { LoadedCode } from './sqtt/code.ts';
export { readSqtt, type SqttResult } from './sqtt/trace.ts';
