// Room `instrument`: probes: code of a user's that is put into kernels at chosen points and leaves them as they were.
// Begin with types.ts (what a probe is) and tools/instr-count.ts, a whole one; then instrument.ts, which walks the steps: select.ts and
// points.ts (where), body.ts and values.ts (what), choose.ts and entry.ts (with which registers), placement.ts and emit.ts (the code).
export { Body } from './body.ts';
export { type Hook, type HookFile, readHooks } from './hook.ts';
export { hookProbe } from './hook-probe.ts';
export {
  type Instrumented,
  type InstrumentOptions,
  instrument,
} from './instrument.ts';
export type { KernelCost } from './kept.ts';
export { atOriginal, placeAtOriginal } from './original-place.ts';
export type { RejectedPoint } from './placement.ts';
export type { Sampling } from './points.ts';
export {
  type Bytes,
  type Counter,
  type Counters,
  type FieldType,
  type Gathering,
  type RecordFields,
  type RecordOf,
  type Records,
  records,
  type Site,
  type StateReader,
  type StateShape,
  type StateShapes,
  type Table,
  u64,
  u64PerSite,
  u64Table,
} from './state.ts';
export { TOOLS, type ToolName } from './tools/index.ts';
export {
  defineProbe,
  type Points,
  type ProbeDefinition,
  type ReportContext,
  type Write,
} from './types.ts';
export type { Value, ValueLike, ValueType } from './values.ts';
export type {
  MemorySpace,
  ProbeBlock,
  ProbeEdge,
  ProbeInstruction,
  ProbeKernel,
  ProbeLoop,
  ProbeProgram,
} from './view.ts';
