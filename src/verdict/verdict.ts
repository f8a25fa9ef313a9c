// The one verdict. Whoever says that two kernels or two results are equal says it through `verdictOf`, and exits with `exitCodeOf`.
import { type Comparison, comparisonVerdict } from './compare.ts';

/**
 * - `equal`: every compared bit agrees. `within-tolerance`: only rounding differs.
 * - `different`: a compared byte or element differs, a side did not finish, or only the modified side depends on memory nobody wrote.
 * - `nothing-compared`: there was no output, or neither side wrote any.
 * - `not-launched`: code was edited that never ran. `not-built`: the compared module is not what the edited text says.
 */
export type VerdictKind =
  | 'equal'
  | 'within-tolerance'
  | 'different'
  | 'nothing-compared'
  | 'not-launched'
  | 'not-built';

/** Something the static checker or the strict mode says against the modified side and not against the baseline. */
export interface Objection {
  readonly by: 'checker' | 'strict';
  /** Name of the rule or code, `waits/read-before-return`. */
  readonly rule: string;
  readonly kernel: string | undefined;
  /** `asm/x.s:41`, or `pc 0x1234`; empty when the finding has no place. */
  readonly place: string;
  readonly message: string;
}

/** What is known about a pair of runs. */
export interface Evidence {
  /** All that was compared. */
  readonly comparisons: readonly Comparison[];
  /** Why a comparison that should have been made was not: faults, budgets, results of another number. */
  readonly failures?: readonly string[] | undefined;
  /** Other reasons why the sides are different. */
  readonly differences?: readonly string[] | undefined;
  /** Why there was nothing to compare, although something may have run. */
  readonly nothing?: string | undefined;
  readonly notLaunched?: readonly string[] | undefined;
  /** What the verdict does not speak about, although it is not its fault: told in the line. */
  readonly remarks?: readonly string[] | undefined;
  readonly notBuilt?: readonly string[] | undefined;
  readonly objections?: readonly Objection[] | undefined;
  /** Only equal bits are accepted. */
  readonly exact?: boolean | undefined;
  /** Objections are reported and do not fail the verdict. */
  readonly force?: boolean | undefined;
}

export interface Verdict {
  readonly verdict: VerdictKind;
  /** True when the verdict is `equal` or `within-tolerance` and nothing objects (or objections were forced past). */
  readonly ok: boolean;
  /** What makes it so, one sentence each; empty for `equal`. */
  readonly reasons: readonly string[];
  readonly objections: readonly Objection[];
  readonly remarks: readonly string[];
  /** The scales that float comparisons used, in words. */
  readonly scales: readonly string[];
}

/** Judges. An unbuilt edit outweighs all; a difference outweighs what did not run; both outweigh an empty comparison. */
export function verdictOf(evidence: Evidence): Verdict {
  const { comparisons, exact = false, force = false, objections = [] } = evidence;
  const remarks = [...(evidence.remarks ?? []), ...remarksOnNan(comparisons)];
  const verdicts = comparisons.map(comparisonVerdict);
  const differences = [...(evidence.failures ?? []), ...(evidence.differences ?? [])];
  const scales = [...new Set(comparisons.filter((c) => c.different > 0).flatMap((c) => c.scale ?? []))];
  const make = (verdict: VerdictKind, reasons: readonly string[]): Verdict => {
    const isEqual = verdict === 'equal' || verdict === 'within-tolerance';
    return { verdict, ok: isEqual && (force || objections.length === 0), reasons, objections, remarks, scales };
  };
  if ((evidence.notBuilt ?? []).length > 0) return make('not-built', evidence.notBuilt ?? []);
  const isRounded = verdicts.includes('within-tolerance');
  if (verdicts.includes('different') || differences.length > 0) return make('different', differences);
  if (exact && isRounded) return make('different', ['Bits differ, and --exact was asked for.']);
  if ((evidence.notLaunched ?? []).length > 0) return make('not-launched', evidence.notLaunched ?? []);
  const isEmpty = comparisons.every((c) => c.elements === 0 && c.trailing.bytes === 0);
  if (isEmpty || evidence.nothing !== undefined) {
    return make('nothing-compared', [evidence.nothing ?? 'There is no output.']);
  }
  return make(isRounded ? 'within-tolerance' : 'equal', []);
}

/** NaN equals NaN, so a result of NaN alone is equal to whatever else ends in NaN. */
function remarksOnNan(comparisons: readonly Comparison[]): string[] {
  const count = comparisons.filter((c) => c.elements > 0 && c.nans === c.elements).length;
  if (count === 0) return [];
  const of = count === 1 ? '1 result' : `${count} results`;
  return [`every element of ${of} is NaN on both sides, which hides changes`];
}

/** 0 for a verdict that is `ok`, else 1. */
export function exitCodeOf(verdict: Verdict): 0 | 1 {
  return verdict.ok ? 0 : 1;
}

const HEADLINES: Readonly<Record<VerdictKind, string>> = {
  equal: 'EQUAL',
  'within-tolerance': 'EQUAL WITHIN TOLERANCE',
  different: 'DIFFERENT',
  'nothing-compared': 'NOTHING COMPARED',
  'not-launched': 'EDITED KERNEL NOT LAUNCHED',
  'not-built': 'NOT BUILT',
};

/**
 * The verdict in one line: headline, `counts` of what was compared, the scales of float comparisons, reasons that have no line of
 * their own in a report, and every rule that objects.
 */
export function verdictLine(verdict: Verdict, counts: string): string {
  const { verdict: kind, reasons, objections, remarks, scales } = verdict;
  const parts = [counts];
  if (kind === 'within-tolerance') parts.push(`relative to the ${scales.join(' and the ')}`);
  if (kind !== 'different') parts.push(...reasons);
  parts.push(...remarks);
  const said = parts.filter((part) => part !== '').map((part) => part.replace(/\.$/, ''));
  return `${HEADLINES[kind]}${objectionText(objections)}: ${said.join('; ')}`;
}

/** `, BUT waits/read-before-return at asm/x.s:41 (checker) and 2 more`. */
function objectionText(objections: readonly Objection[]): string {
  const [first] = objections;
  if (first === undefined) return '';
  const shown = new Map<string, Objection>();
  for (const objection of objections) if (!shown.has(objection.rule)) shown.set(objection.rule, objection);
  const texts = [...shown.values()].map(
    ({ rule, place, by }) => `${rule}${place === '' ? '' : ` at ${place}`} (${by})`,
  );
  const more = objections.length - shown.size;
  return `, BUT ${texts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
