// Room `finding`: what is wrong with a kernel, said once for everybody: the checker, strict mode and the profile make findings, and the
// command line, the language server and SARIF show them.
// Begin with finding.ts (what a finding is), then edits.ts (how it is mended) and rules.ts (which rules there are).
export { type Allowance, allowanceFor, allowanceProblem, parseAllowances } from './allow.ts';
export {
  type Edit,
  editsText,
  editsTitle,
  insertedCode,
  insertStates,
  insertWait,
  mergeEdits,
  setDirective,
  setMetadata,
  type WaitCounters,
  waitText,
} from './edits.ts';
export { checkFailOn, type FailOn, failsOn, parseFailOn } from './fail-on.ts';
export {
  type Basis,
  countFindings,
  type Finding,
  type FindingParts,
  finding,
  fingerprint,
  newFindings,
} from './finding.ts';
export type { Place, RelatedPlace, SourcePlace } from './place.ts';
export { applyPolicy, type Policy, parsePolicy, type RuleSetting } from './policy.ts';
export { type FlatPlace, findingRecord } from './record.ts';
export type { RuleInfo } from './rule-info.ts';
export {
  type CheckRuleId,
  isRuleId,
  matchRules,
  type ProfileRuleId,
  RULE_IDS,
  RULES,
  type RuleId,
  type RunRuleId,
  ruleInfo,
  rulePage,
} from './rules.ts';
export { CHECK_RULES } from './rules-check.ts';
export { PROFILE_RULES } from './rules-profile.ts';
export { RUN_RULES } from './rules-run.ts';
export { SEVERITIES, type Severity } from './severity.ts';
export type { Source } from './sources.ts';
