// What the registry knows of a rule.
import type { Severity } from './severity.ts';
import type { Source } from './sources.ts';

/** What the registry knows of a rule. */
export interface RuleInfo {
  /** The strongest severity that it reports. */
  readonly severity: Severity;
  /** What it is about, without a full stop. */
  readonly title: string;
  readonly source: Source;
  /** What to do about it where no edit can say it; a sentence. */
  readonly advice?: string | undefined;
  /** `notes`: many correct kernels have it, so it is shown with `--notes` only. */
  readonly shown?: 'notes' | undefined;
  /** Its findings carry edits, at least where there is one right change. */
  readonly isFixable?: boolean | undefined;
  /** Its edits may change what the kernel computes: they are made on request only. */
  readonly isEditUnsafe?: boolean | undefined;
  /** Which combinations code that ships was seen with, below what the manual demands: shown with `--pedantic` only. */
  readonly seen?: string | undefined;
}
