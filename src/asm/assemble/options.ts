// What the assembler is told and what it answers: options, limits, the result.
import type { ObjectModel } from '../../codeobject/elf/object-model.ts';
import type { TargetId } from '../../codeobject/elf/target-id.ts';
import type { InstructionLines } from './lines.ts';
import type { AsmStreamer } from './llvm-mc-printer.ts';
import type { Diagnostic } from './source.ts';

/** Limits that keep hostile input bounded. */
export interface AssembleLimits {
  /** Bytes of all sections together. */
  readonly maxOutputBytes: number;
  /** Characters of all macro and repeat expansions together. */
  readonly maxExpandedCharacters: number;
  /** Statements executed. */
  readonly maxStatements: number;
  /** Diagnostics kept; the next one ends the assembly. */
  readonly maxDiagnostics: number;
}

export const DEFAULT_LIMITS: AssembleLimits = {
  maxOutputBytes: 1 << 30,
  maxExpandedCharacters: 1 << 28,
  maxStatements: 100_000_000,
  maxDiagnostics: 10_000,
};

export interface AssembleOptions {
  /** Target id (`gfx942:xnack-`). Needed when the source has no `.amdgcn_target`; a conflict is an error. */
  readonly target?: string | undefined;
  /** Name of the source in diagnostics. */
  readonly file?: string | undefined;
  /** Symbols set before the first statement (`-D`). */
  readonly defines?: Readonly<Record<string, bigint>> | undefined;
  /** Content of an included file, undefined when there is none. */
  readonly readFile?: ((name: string) => Uint8Array | undefined) | undefined;
  readonly limits?: Partial<AssembleLimits> | undefined;
  /** OS of the triple: `amdhsa` (default), or `none` as in `llvm-mc -triple=amdgcn`. */
  readonly os?: 'amdhsa' | 'none' | undefined;
  /** Code object version until a directive sets it. */
  readonly codeObjectVersion?: number | undefined;
  /** Report every line of a kernel block that follows a wrong one, as LLVM does, and not only the first. */
  readonly reportCascades?: boolean | undefined;
  /** Say in the diagnostic how to resolve a target that differs from the source's directive. */
  readonly explainConflicts?: boolean | undefined;
  /** `+tgsplit` of LLVM's subtarget features. */
  readonly tgSplit?: boolean | undefined;
  /** `+wavefrontsize32` of LLVM's subtarget features: instructions with lane masks are refused. */
  readonly wave32?: boolean | undefined;
  /** Collect the source line of every instruction. */
  readonly trackLines?: boolean | undefined;
  /** Prints each statement as llvm-mc does; there is no object then. */
  readonly streamer?: AsmStreamer | undefined;
}

export interface AssembleResult {
  /** Absent when there were errors. */
  readonly object?: ObjectModel;
  readonly diagnostics: readonly Diagnostic[];
  /** With `trackLines`: the source line of each instruction. */
  readonly lines?: InstructionLines | undefined;
  /** The target of the object, once known. */
  readonly target?: TargetId | undefined;
}
