// Findings that a source allows, with a comment: `// wavesmith: allow RULE[, RULE…] – reason`, on the line of the instruction or on
// comment lines directly above it; `allow-file` allows the rule in the whole source. A rule may be an area (`waits`, `hazards/*`).
import type { Finding } from './finding.ts';
import { matchRules, RULE_IDS, type RuleId, similarNames } from './rules.ts';

/** One such comment. */
export interface Allowance {
  /** The line of the comment, from 1. */
  readonly line: number;
  /** The lines that it speaks for: its own, and the first line with code below it; none for the whole file. */
  readonly lines: readonly number[];
  readonly isFile: boolean;
  /** Its first word: `allow`, `allow-file`, or a word that means nothing here, and then nothing is allowed. */
  readonly kind: string;
  /** What it names, as it is written. */
  readonly names: readonly string[];
  readonly rules: ReadonlySet<RuleId>;
  /** Empty when it gives none. */
  readonly reason: string;
}

const COMMENT = /(?:\/\/|[;#]|\/\*)\s*wavesmith:\s*([\w-]*)([^\r\n]*)/;
const KINDS = ['allow', 'allow-file'];
/** What a line may hold and still be a comment only. */
const COMMENT_ONLY = /^\s*(?:\/\/|[;#]|\/\*|$)/;
const REASON = /\s*(?:\s[-–—]+|:|[–—])\s+/;

/** The allowances of a source, in their order. */
export function parseAllowances(text: string): Allowance[] {
  if (!text.includes('wavesmith:')) return [];
  const lines = text.split('\n');
  const found: Allowance[] = [];
  lines.forEach((content, i) => {
    const match = COMMENT.exec(content);
    if (match === null) return;
    const [, kind, rest] = match as unknown as [string, string, string];
    const [list = '', ...reason] = rest.replace(/\s*\*\/\s*$/, '').split(REASON);
    const names = list.split(/[\s,]+/).filter((name) => name !== '');
    const isFile = kind === 'allow-file';
    const spoken = [i + 1];
    if (COMMENT_ONLY.test(content)) {
      let below = i + 1;
      while (below < lines.length && COMMENT_ONLY.test(lines[below] as string)) below++;
      spoken.push(below + 1);
    }
    found.push({
      line: i + 1,
      lines: isFile ? [] : spoken,
      isFile,
      kind,
      names,
      rules: new Set(KINDS.includes(kind) ? names.flatMap(matchRules) : []),
      reason: reason.join(' – ').trim(),
    });
  });
  return found;
}

/** The allowance that lets a finding on a line pass. */
export function allowanceFor(
  allowances: readonly Allowance[],
  { rule }: Finding,
  line: number | undefined,
): Allowance | undefined {
  return allowances.find(
    (one) => one.rules.has(rule) && (one.isFile || (line !== undefined && one.lines.includes(line))),
  );
}

/** What is wrong with an allowance; undefined when nothing is. */
export function allowanceProblem({ kind, names, reason }: Allowance): string | undefined {
  if (!KINDS.includes(kind)) return `'${kind}' says nothing to wavesmith: write 'allow RULE – reason', or 'allow-file'`;
  const unknown = names.find((name) => matchRules(name).length === 0);
  if (names.length === 0) return 'this allowance names no rule';
  if (unknown !== undefined) {
    const hint = similarNames(unknown, RULE_IDS, []);
    return `'${unknown}' is no rule and no area of rules, so nothing is allowed. ${hint}`;
  }
  return reason === '' ? "this allowance gives no reason: write 'allow RULE – reason'" : undefined;
}
