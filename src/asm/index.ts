// Room `asm`: the text of a whole file: source to a code object, a code object to source that assembles to the same bytes, and the
// difference of two code objects.
// Begin with build.ts (source to file), then assemble/assemble.ts and disassemble/disassemble.ts.
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
export { listCodeObject, listingLine, type SectionListing, writeListing } from './disassemble/listing.ts';
