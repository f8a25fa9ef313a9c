// Room `iree`: the hijack loop: make a folder of assembly from an IREE module, build the edited module, prove and compare.
// Begin with init.ts, build.ts and run-module.ts, the three steps of the loop; manifest.ts is what they share.
export { type AsmCommandOptions, type AsmCommandResult, assembleInto } from './asm-command.ts';
export {
  type BuildOptions,
  type BuildResult,
  build,
  type ExecutableResult,
  readBaseline,
} from './build.ts';
export {
  checkSubstitutions,
  commandLine,
  compile,
  type IreeCompiler,
  probeCompiler,
  takeTarget,
  targetFlags,
} from './compiler.ts';
export {
  type DispatchPlan,
  hijackElement,
  labelOf,
  launchOf,
  type PlannedBinding,
  type PlanOptions,
  planDispatch,
} from './dispatch-plan.ts';
export {
  type BindingRange,
  type BindingTensor,
  type DispatchSite,
  type KernelRecord,
  readKernelRecords,
} from './dispatches.ts';
export { type DoctorReport, examine, type Requirement } from './doctor.ts';
export type { ExecutableState } from './edit-code.ts';
export { findEdits, type ModuleEdits, type ModulePair, notLaunched, ownerOf, strictObjections } from './edits.ts';
export {
  type Assembled,
  assemble,
  assembleWithLlvm,
  assembleWithWavesmith,
  disassembleText,
  type EngineName,
  kernelNamesOf,
  readTargetDirective,
  type Source,
  type TargetDirective,
  type TextFile,
  withClassicTriple,
} from './engine.ts';
export { type CodeObjectFacts, type KernelFacts, readFacts, sameBytes, sameCode, sameKernel } from './facts.ts';
export {
  executableOfDump,
  type InitMlirOptions,
  type InitOptions,
  type InitResult,
  initFromMlir,
  initFromModule,
} from './init.ts';
export {
  type Manifest,
  type ManifestBinding,
  type ManifestExecutable,
  type ManifestKernel,
  type ManifestPart,
  readManifest,
  writeManifest,
} from './manifest.ts';
export {
  type IreeModule,
  isModule,
  type ModuleExecutable,
  type ModuleKernel,
  readModule,
  readModuleDispatches,
  replaceCode,
} from './module.ts';
export type { StrayWrites, WrittenAllocation } from './module-memory.ts';
export { leaveOutUntouched, putBack, type ReducedSources } from './reassemble.ts';
export { type BeforeAfter, type ChangeReport, describeChange, formatChange, type KernelChange } from './report.ts';
export {
  type BufferResult,
  type DispatchRun,
  type GapWrite,
  type JudgeOptions,
  limitsOf,
  type RunOptions,
  type RunResult,
  readPair,
  run,
  type SideResult,
} from './run.ts';
export {
  type FunctionRun,
  type ModuleDispatch,
  type ModuleHost,
  type ModuleHostOptions,
  type ModuleOutput,
  type ModuleRunOptions,
  type ModuleRunResult,
  type ModuleSide,
  type NotRun,
  runModules,
} from './run-module.ts';
export { type DeviceOpener, Side, type SideExecution } from './side.ts';
export {
  findIreeTool,
  findLlvmTool,
  findOnPath,
  type IreeToolName,
  isExecutableFile,
  LLVM_MAJOR,
  LLVM_TOOLS,
  type LlvmToolName,
  llvmVersion,
  packageRoot,
  requireIreeTool,
  requireLlvmTool,
  runTool,
  type Tool,
  type ToolOptions,
  type ToolRun,
} from './tools.ts';
export { type HostContract, verifyReplacement } from './verify.ts';
