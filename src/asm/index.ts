// The asm layer: the text of a code object. Assembler: source to objects and code objects.
export { assemble } from './assemble/assemble.ts';
export type { InstructionLines } from './assemble/lines.ts';
export { AsmStreamer, type StreamerOptions } from './assemble/llvm-mc-printer.ts';
export { type AssembleLimits, type AssembleOptions, type AssembleResult, DEFAULT_LIMITS } from './assemble/options.ts';
export { type Diagnostic, formatDiagnostic, type Severity, type SourceLine } from './assemble/source.ts';
export { AssemblyError, assembleAndLink, assembleToObject } from './build.ts';
export {
  type CodeObjectDiff,
  type DataDiff,
  type DiffHunk,
  type DiffLine,
  type DiffOptions,
  diffCodeObjects,
  type FunctionDiff,
} from './diff/diff.ts';
export type { FieldChange } from './diff/fields.ts';
export { diffText } from './diff/text.ts';
export { type DisassembleOptions, disassembleCodeObject } from './disassemble/disassemble.ts';
export { listCodeObject, listingLine, type SectionListing } from './disassemble/listing.ts';
