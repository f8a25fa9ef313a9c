// Every rule of the checker, of strict mode and of the profile: its severity, what it is about, its page and its source. One that is not here does not
// compile. `shown` says whether a rule speaks without being asked, `seen` on what evidence it lets shipped code pass.
import { closeMatches } from '../isa/table/suggest.ts';
import type { RuleInfo } from './rule-info.ts';
import { CHECK_RULES } from './rules-check.ts';
import { PROFILE_RULES } from './rules-profile.ts';
import { RUN_RULES } from './rules-run.ts';

export const RULES = { ...RUN_RULES, ...CHECK_RULES, ...PROFILE_RULES } as const satisfies Readonly<
  Record<string, RuleInfo>
>;

export type RuleId = keyof typeof RULES;
/** The rules of strict mode. */
export type RunRuleId = keyof typeof RUN_RULES;
/** The rules of the checker. */
export type CheckRuleId = keyof typeof CHECK_RULES;
/** The rules of the profile. */
export type ProfileRuleId = keyof typeof PROFILE_RULES;

export const RULE_IDS = Object.keys(RULES).sort() as readonly RuleId[];

export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(RULES, text);
}

export function ruleInfo(rule: RuleId): RuleInfo {
  return RULES[rule];
}

/** A rule's page, as a path below `docs/`; those of strict mode share one, and those of the profile. */
export function rulePage(rule: RuleId): string {
  if (Object.hasOwn(CHECK_RULES, rule)) return `check/${rule}.md`;
  return Object.hasOwn(PROFILE_RULES, rule) ? 'profile-findings.md#findings' : 'virtual-gpu.md#strict';
}

/** The rules that `pattern` names: a rule (`waits/lds-dma`) or an area (`waits`, `waits/*`). */
export function matchRules(pattern: string): RuleId[] {
  const area = pattern.endsWith('/*') ? pattern.slice(0, -2) : pattern;
  return RULE_IDS.filter((rule) => rule === area || rule.startsWith(`${area}/`));
}

/** Typing errors that are taken for a name: swapped letters are two, and short names have few. */
const far = (name: string): number => Math.min(2, Math.floor(name.length / 2));

/** What somebody may have meant who wrote a name that is none of `rules`, no area of them and none of `words`. */
export function similarNames(name: string, rules: readonly RuleId[], words: readonly string[]): string {
  const areas = [...new Set(rules.map((rule) => rule.slice(0, rule.indexOf('/'))))];
  const tails = new Map(rules.map((rule) => [rule.slice(rule.indexOf('/') + 1), rule]));
  const close = [
    ...closeMatches(name, [...words, ...areas, ...rules], far(name)),
    ...closeMatches(name, [...tails.keys()], far(name)).map((tail) => tails.get(tail) as RuleId),
  ];
  if (close.length > 0) return `Did you mean ${close.slice(0, 4).join(', ')}?`;
  const known = words.length === 0 ? '' : `${words.join(', ')}, `;
  return `Write ${known}a rule, or one of the areas ${areas.join(', ')}. docs/check/README.md lists the rules.`;
}
