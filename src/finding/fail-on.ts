// Which findings fail a command: `--fail-on` of `check` and of `run --check`.
import { WavesmithError } from '../base/index.ts';
import type { Finding } from './finding.ts';
import { matchRules, type RuleId, similarNames } from './rules.ts';
import { SEVERITIES, type Severity } from './severity.ts';

/** All findings of a severity or a stronger one, none, or the rules (or their areas: `waits`) of a list. */
export type FailOn = Severity | 'none' | readonly string[];

/**
 * Parses a severity, `none` (or `never`), or a comma-separated list of `rules` and their areas; anything else is `finding/unknown-rule`.
 * `file`: who says it.
 */
export function parseFailOn(text: string, rules: readonly RuleId[], file?: string): FailOn {
  if (text === 'never') return 'none';
  if (isSeverityOrNone(text)) return text;
  const names = text.split(',').map((part) => part.trim());
  checkFailOn(names, rules, file);
  return names;
}

function isSeverityOrNone(text: string): text is Severity | 'none' {
  return text === 'none' || (SEVERITIES as readonly string[]).includes(text);
}

/** Checks what a program asks for; a name that is no severity and none of `rules` or their areas is `finding/unknown-rule`. */
export function checkFailOn(failOn: FailOn, rules: readonly RuleId[], file?: string): void {
  if (typeof failOn === 'string' && isSeverityOrNone(failOn)) return;
  for (const name of typeof failOn === 'string' ? [failOn] : failOn) {
    if (name !== '' && matchRules(name).some((rule) => rules.includes(rule))) continue;
    throw new WavesmithError('finding/unknown-rule', `'${name}' is no rule and no area of rules.`, {
      file,
      hint: similarNames(name, rules, [...SEVERITIES, 'none']),
    });
  }
}

/** Whether a finding is one of those. */
export function failsOn(failOn: FailOn, { rule, severity }: Pick<Finding, 'rule' | 'severity'>): boolean {
  if (failOn === 'none') return false;
  if (typeof failOn === 'string') return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(failOn);
  return failOn.some((name) => matchRules(name).includes(rule));
}
