// Room `rocmlir`: IREE as a generator of kernels for rocMLIR modules: generate, merge, export, compile, run.
// Begin with gen.ts and merge.ts, which do the jobs of rocMLIR's two passes; lower/lower.ts makes of MIGraphX what IREE reads.
export { Edits, moduleAttribute, removeModuleAttribute, setModuleAttribute } from '../mlir/edit.ts';
export { decodeModule, tokenize } from '../mlir/lex.ts';
export {
  type Alias,
  type Document,
  fullName,
  isPunct,
  type Operation,
  operationPosition,
  parseMlir,
  type Region,
  type ResultName,
  rangeText,
  symbolToken,
  tokenText,
  walk,
} from '../mlir/parse.ts';
export {
  COMPILE_TIMEOUT_MS,
  type Compiled,
  type CompileOptions,
  type CompilerOutput,
  compileModule,
  defaultFeatures,
  type IreeBinary,
  type IreeKernel,
} from './compile.ts';
export {
  type DialectAttribute,
  type DialectOperation,
  MIGRAPHX_OPERATIONS,
  operationStatus,
  operationTable,
} from './dialect.ts';
export { examineRocmlir } from './doctor.ts';
export {
  describeFlag,
  type FlagNote,
  findCompiler,
  flagName,
  knownFlags,
  type RocmlirEnvironment,
  readConfig,
  readEnvironment,
  resolveFlags,
} from './environment.ts';
export {
  type Exported,
  type ExportedBinary,
  type ExportedKernel,
  type ExportedSequence,
  type ExportedStep,
  type ExportOptions,
  type ExportResult,
  exportFile,
  exportModule,
  exportSummary,
} from './export.ts';
export {
  FAILURE_ATTRIBUTE,
  type GenOptions,
  type GenResult,
  type GenStatus,
  generate,
  type KernelProgram,
  selectProgram,
} from './gen.ts';
export {
  checkProgram,
  chipOf,
  explicitArgumentCount,
  exportAttribute,
  type GpuObject,
  type KernelEntry,
  propertyText,
  readGpuObject,
  readLaunches,
} from './gpu-object.ts';
export { lowerModule, usesMigraphx } from './lower/lower.ts';
export { type MergedModule, type MergeResult, merge, readMerged } from './merge.ts';
export {
  type CompiledKernel,
  compileForCpu,
  compileKernel,
  type DeviceRun,
  expectedOf,
  type KernelTensor,
  kernelFunction,
  makeInputs,
  manifestOf,
  type Reference,
  type RunOptions,
  type RunReport,
  runModule,
  runOnCpu,
  runOnDevice,
  runProgram,
  tensorsOf,
} from './run.ts';
export { SETUP_STEPS, type SetupOptions, type SetupStep, setUp, setupSummary } from './setup.ts';
export {
  modulesIn,
  type Survey,
  type SurveyItem,
  type SurveyOptions,
  type SurveyOutcome,
  splitModules,
  survey,
} from './survey.ts';
