// Findings as text: one line for each rule and kernel, the worst first, or with `--all` each finding in full.
import { countFindings, type RelatedPlace, SEVERITIES } from '../../finding/index.ts';
import type { PlacedFinding } from './input.ts';

/** Places that a group names. */
const PLACES_SHOWN = 3;

/** Names of generated kernels can have hundreds of characters; `--all` and `--json` have them whole. */
const NAME_SHOWN = 64;

const hex = (address: number): string => `0x${address.toString(16)}`;

/** `file:line`, or the file with the address. */
function whereText({ file, place }: PlacedFinding): string {
  if (place.source !== undefined) return `${place.source.file}:${place.source.line}`;
  return place.pc === undefined ? file : `${file} (pc ${hex(place.pc)})`;
}

/** What is forbidden on every path first, then what may never happen; errors before warnings before notes. */
export function ranked(findings: readonly PlacedFinding[]): PlacedFinding[] {
  const rank = ({ severity, basis, isCertain }: PlacedFinding): number =>
    SEVERITIES.indexOf(severity) * 4 + (basis === 'manual' ? 0 : 2) + (isCertain ? 0 : 1);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

/** Findings of one rule, severity and kernel, which stand for one thing to look at. */
export function groups(findings: readonly PlacedFinding[]): PlacedFinding[][] {
  const byKey = new Map<string, PlacedFinding[]>();
  for (const one of ranked(findings)) {
    const key = `${one.file} ${one.kernel} ${one.rule} ${one.severity} ${one.isCertain} ${one.basis}`;
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [one]);
    else group.push(one);
  }
  return [...byKey.values()];
}

/** One line for each group, and its smallest change. */
export function groupedReport(findings: readonly PlacedFinding[]): string {
  return groups(findings).map(groupText).join('');
}

function groupText(group: readonly PlacedFinding[]): string {
  const [first] = group as [PlacedFinding, ...PlacedFinding[]];
  const { severity, rule, message, fix, kernel } = first;
  const lines = [`${whereText(first)}: ${severity}[${rule}]: ${message}`];
  if (group.length > 1) {
    const shown = group.slice(0, PLACES_SHOWN).map(({ place }) => placeText(place));
    const more = group.length > PLACES_SHOWN ? ', …' : '';
    const where = kernel === undefined || message.includes(`'${kernel}'`) ? '' : ` in '${shortName(kernel)}'`;
    lines.push(`  ${group.length} places${where}: ${shown.join(', ')}${more}`);
  }
  if (fix !== undefined) lines.push(`  fix: ${fix}`);
  return `${lines.join('\n')}\n`;
}

function shortName(name: string): string {
  return name.length <= NAME_SHOWN ? name : `${name.slice(0, NAME_SHOWN - 1)}…`;
}

function placeText({ source, pc }: PlacedFinding['place']): string {
  if (source !== undefined) return `line ${source.line}`;
  return pc === undefined ? 'the kernel' : hex(pc);
}

/** Every finding with its instructions, its fix and where the rule comes from. */
export function fullReport(findings: readonly PlacedFinding[]): string {
  return ranked(findings).map(fullText).join('');
}

function fullText(finding: PlacedFinding): string {
  const { severity, rule, message, place, related, fix, reference } = finding;
  const lines = [`${whereText(finding)}: ${severity}[${rule}]: ${message}`];
  const instruction = ({ place: { pc, instruction: text } }: Pick<RelatedPlace, 'place'>): string[] =>
    pc === undefined || text === undefined ? [] : [`    ${hex(pc)}: ${text}`];
  lines.push(...related.flatMap(instruction), ...instruction({ place }));
  if (fix !== undefined) lines.push(`  fix: ${fix}`);
  lines.push(`  see: ${reference}`);
  return `${lines.join('\n')}\n`;
}

/** What was left out, by the reason. */
export interface Hidden {
  /** Seen in shipped code; `--pedantic` shows them. */
  readonly pedantic: number;
  /** Allowed by a comment of the source. */
  readonly allowed: number;
  /** In the file of `--baseline`. */
  readonly baseline: number;
  /** What only compares code, in kernels that are proved to be the same functions. */
  readonly settled: number;
}

/** `1 error, 0 warnings, 0 notes`, and what was left out. */
export function summaryText(findings: readonly PlacedFinding[], hidden: Hidden): string {
  const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const { error, warning, note } = countFindings(findings);
  const left = [
    hidden.pedantic > 0 && `${hidden.pedantic} more with --pedantic`,
    hidden.allowed > 0 && `${hidden.allowed} allowed by comments`,
    hidden.baseline > 0 && `${hidden.baseline} in the baseline`,
    hidden.settled > 0 && `${hidden.settled} settled by the proof`,
  ].filter(Boolean);
  const counts = `${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(note, 'note')}`;
  return `${counts}${left.length === 0 ? '' : ` (${left.join(', ')})`}\n`;
}
