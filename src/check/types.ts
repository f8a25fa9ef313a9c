// What the checker's rules share: the context that they read.
// Rule names are `area/what` (`waits/read-before-return`, `hazards/mfma-result`); each has a page in docs/check/.
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import type { Finding } from '../finding/index.ts';
import type { TargetName } from '../isa/index.ts';
import type { Program, ProgramFunction } from '../program/index.ts';

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
