// What the checker's rules share: the finding they report and the context they read.
// Rule names are `area/what` (`waits/read-before-return`, `hazards/mfma-result`); each has a page in docs/check/.
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import type { TargetName } from '../isa/index.ts';
import type { Program, ProgramFunction } from '../program/index.ts';

/** `error`: the code is wrong. `warning`: it is probably wrong or not portable. `note`: it is correct and could be better. */
export type FindingSeverity = 'error' | 'warning' | 'note';

/** One report about one place of a kernel. JSON-able. */
export interface Finding {
  /** The rule's name. */
  readonly rule: string;
  readonly severity: FindingSeverity;
  /** Name of the kernel or function; undefined for a finding about the whole file. */
  readonly kernel: string | undefined;
  /** Address of the instruction; undefined when the finding is not about one. */
  readonly pc: number | undefined;
  /** Text of that instruction. */
  readonly instruction: string | undefined;
  /** The other instruction involved: what wrote the register, what has to wait. */
  readonly other: { readonly pc: number; readonly instruction: string } | undefined;
  /** The registers involved, as the assembler writes them. */
  readonly registers: readonly string[];
  /** One sentence. */
  readonly message: string;
  /** The smallest change that makes it right. */
  readonly fix: string | undefined;
  /** Where the rule comes from: a section of the ISA manual or of the ABI. */
  readonly reference: string | undefined;
}

/** What a rule looks at: one kernel (or callable function) of a code object, with the whole program around it. */
export interface CheckContext {
  readonly target: TargetName;
  readonly codeObject: CodeObject;
  readonly program: Program;
  /** The kernel or function that is checked. */
  readonly subject: ProgramFunction;
  /** Its kernel descriptor and metadata; undefined for a function that is not a kernel. */
  readonly kernel: Kernel | undefined;
  /** What the edited file is compared with (`--against`). */
  readonly baseline: CodeObject | undefined;
  /** The baseline lifted; undefined when there is none, or it is for another target. */
  readonly baselineProgram?: Program | undefined;
}

/** A rule: a pure function of the context, linear in the size of the code. */
export type Rule = (context: CheckContext) => Finding[];
