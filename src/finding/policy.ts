// Which findings a project wants to see, and how bad they are to it: the settings of a configuration file over those of the registry.
import { WavesmithError } from '../base/index.ts';
import type { Finding } from './finding.ts';
import { isRuleId, matchRules, RULE_IDS, type RuleId, similarNames } from './rules.ts';
import { SEVERITIES, type Severity } from './severity.ts';

/** The severity that a project gives a rule. */
export type RuleSetting = Severity | 'off';
export type Policy = ReadonlyMap<RuleId, RuleSetting>;

const SETTINGS: readonly string[] = [...SEVERITIES, 'off'];

/**
 * The settings of `{ "waits/too-strong": "off", "hazards/*": "warning" }`: an area speaks for its rules, a rule before its area.
 * Errors: `finding/unknown-rule`, `finding/policy`.
 */
export function parsePolicy(rules: Readonly<Record<string, unknown>>, file: string): Policy {
  const policy = new Map<RuleId, RuleSetting>();
  const entries = Object.entries(rules).sort(([a], [b]) => Number(isRuleId(a)) - Number(isRuleId(b)));
  for (const [name, value] of entries) {
    const named = matchRules(name);
    if (named.length === 0) {
      throw new WavesmithError('finding/unknown-rule', `'${name}' is no rule and no area of rules.`, {
        file,
        hint: similarNames(name, RULE_IDS, []),
      });
    }
    if (typeof value !== 'string' || !SETTINGS.includes(value)) {
      throw new WavesmithError('finding/policy', `The severity of '${name}' is ${JSON.stringify(value)}.`, {
        file,
        hint: `Write one of ${SETTINGS.join(', ')}.`,
      });
    }
    for (const rule of named) policy.set(rule, value as RuleSetting);
  }
  return policy;
}

/** The findings under a policy: those that are off are gone, others have the severity that it gives. */
export function applyPolicy(findings: readonly Finding[], policy: Policy): Finding[] {
  return findings.flatMap((one) => {
    const setting = policy.get(one.rule);
    if (setting === 'off') return [];
    return [setting === undefined ? one : { ...one, severity: setting }];
  });
}
