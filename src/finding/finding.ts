// One report of the static checker, of strict mode or of the profile: what rule, where, what else is involved, and the edits that mend it.
// A rule gives the parts; `finding` renders the edits to text, once, for everybody who prints.
import { type Edit, editsText } from './edits.ts';
import type { Place, RelatedPlace } from './place.ts';
import { type RuleId, ruleInfo } from './rules.ts';
import type { Severity } from './severity.ts';

/**
 * What a finding rests on. `manual`: the ISA manual, the ABI or LLVM demands it, or the values say so. `shipped`: they demand it, but
 * code that ships goes as low in this very combination, and was never seen to fail; shown with `--pedantic` only.
 */
export type Basis = 'manual' | 'shipped';

/** One report. JSON-able. */
export interface Finding {
  readonly rule: RuleId;
  readonly severity: Severity;
  readonly basis: Basis;
  /** Every path leads to it, as opposed to some that may never be taken. */
  readonly isCertain: boolean;
  /** Name of the kernel or function; undefined for a finding about the whole file. */
  readonly kernel: string | undefined;
  readonly place: Place;
  readonly related: readonly RelatedPlace[];
  /** The registers involved, as the assembler writes them. */
  readonly registers: readonly string[];
  /** One sentence. */
  readonly message: string;
  /** Changes that, made together, remove the finding; empty when it takes a decision. */
  readonly edits: readonly Edit[];
  /** The edits as a sentence, and what else there is to know about mending it. */
  readonly fix: string | undefined;
  /** Where the rule comes from: a section of the ISA manual or of the ABI. */
  readonly reference: string;
}

/** What a rule says; the rest has defaults. */
export interface FindingParts {
  readonly rule: RuleId;
  /** Default: the severity of the registry. */
  readonly severity?: Severity | undefined;
  readonly basis?: Basis | undefined;
  readonly isCertain?: boolean | undefined;
  readonly kernel?: string | undefined;
  /** Default: what the first edit changes. */
  readonly place?: Place | undefined;
  readonly related?: readonly (RelatedPlace | undefined)[] | undefined;
  readonly registers?: readonly string[] | undefined;
  readonly message: string;
  readonly edits?: readonly Edit[] | undefined;
  /** What to do where no edit can say it, or what the edit does not say. */
  readonly advice?: string | undefined;
}

/** A finding from its parts. */
export function finding(parts: FindingParts): Finding {
  const { rule, kernel, message, registers = [], edits = [] } = parts;
  const info = ruleInfo(rule);
  const place = parts.place ?? placeOfEdit(edits[0]);
  const related = (parts.related ?? []).filter((r) => r !== undefined);
  const fix = [editsText(edits, [place, ...related.map((r) => r.place)]), parts.advice ?? info.advice]
    .filter(Boolean)
    .join(' ');
  return {
    rule,
    severity: parts.severity ?? info.severity,
    basis: parts.basis ?? 'manual',
    isCertain: parts.isCertain ?? true,
    kernel,
    place,
    related,
    registers,
    message,
    edits,
    fix: fix === '' ? undefined : fix,
    reference: info.source.title,
  };
}

function placeOfEdit(edit: Edit | undefined): Place {
  if (edit?.kind === 'set-directive') return { directive: edit.directive };
  if (edit?.kind === 'set-metadata') return { metadata: edit.key };
  return {};
}

/** How many findings have each severity. */
export function countFindings(findings: readonly Finding[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** What makes a finding the same one when the code around it moved: everything but addresses. */
export function fingerprint({ rule, basis, isCertain, kernel, place, related, registers, message }: Finding): string {
  const others = related.map(({ role, place: p }) => [role, p.instruction]);
  const about = place.instruction ?? place.directive ?? place.metadata ?? message;
  return JSON.stringify([rule, basis, isCertain, kernel, about, others, registers]);
}

/**
 * The findings of `list` that `known` does not have. One that `known` has n times is taken out n times: a change that makes a mistake
 * once more shows once.
 */
export function newFindings<F extends Finding>(list: readonly F[], known: Iterable<string>): F[] {
  const left = new Map<string, number>();
  for (const key of known) left.set(key, (left.get(key) ?? 0) + 1);
  return list.filter((one) => {
    const key = fingerprint(one);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0;
  });
}
