// Room `device/sim/tools`: what looks at a dispatch while it runs: trace, counters, profile; the debugger is in ../debug.
// Begin with session.ts, which puts the asked tools together; each tool has a file of its name.
export { type Counters, type CounterValue, deriveCounters, deriveFlops } from './counters.ts';
export {
  CountingMonitor,
  countWaves,
  type ExecutionCounts,
  type InstructionCount,
  noWaves,
  type SiteCount,
  type SiteCounts,
  type WaveCounts,
} from './counts.ts';
export {
  matches,
  parsePcFilter,
  parseWaveFilter,
  parseWorkgroupFilter,
  type Range,
  type TraceFilter,
} from './filter.ts';
export { KeptCounter } from './kept-counter.ts';
export { hasLdsBankModel, type LdsBankCount, LdsBankMonitor, phaseCycles } from './lds-banks.ts';
export {
  type BranchLine,
  type DivergenceLine,
  deriveProfile,
  type Profile,
  type ProfileLine,
  type SourceLineCount,
} from './profile.ts';
export {
  isVectorSlot,
  type LaneDetail,
  type RegisterValue,
  readRegisters,
  scalarSlot,
  scalarValue,
  slotsFromText,
  valueText,
  vectorValue,
  writeRegister,
} from './registers.ts';
export { type CountersReport, RunTools, type ToolRequest } from './session.ts';
export { type CodeSymbol, CodeSymbols, type SourceLocation } from './symbols.ts';
export {
  CHUNK_BYTES,
  READ_FIRST,
  READ_LATER,
  TouchedBytes,
  type TouchedChunk,
  type TouchedOptions,
  type TouchedRegion,
  type UnknownRead,
  WRITTEN,
} from './touched.ts';
export {
  type TraceAccess,
  type TraceEvent,
  TraceMonitor,
  type TraceOptions,
  type TraceSink,
  traceText,
} from './trace.ts';
export { deriveTraffic, type Traffic, type TrafficSpace } from './traffic.ts';
