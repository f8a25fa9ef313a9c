// The asm layer: the text of a code object. Assembler: source to objects and code objects.
export {
  type AssembleLimits,
  type AssembleOptions,
  type AssembleResult,
  assemble,
  DEFAULT_LIMITS,
} from './assemble.ts';
export { AssemblyError, assembleAndLink, assembleToObject } from './build.ts';
export { type Diagnostic, formatDiagnostic, type Severity } from './source.ts';
export { AsmStreamer, type StreamerOptions } from './streamer.ts';
