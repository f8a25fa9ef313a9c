// `wavesmith run --check`: strict mode's flags, report and exit code.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import { type DispatchResult, formatRunFinding, type SimDispatchResult, type StrictOptions } from '../device/index.ts';
import {
  type FailOn,
  failsOn,
  findingRecord,
  parseFailOn,
  RUN_RULES,
  type RunRuleId,
  type Severity,
} from '../finding/index.ts';

export interface CheckOptions {
  readonly check?: boolean;
  readonly strict?: boolean;
  readonly failOn?: string;
  readonly notes?: boolean;
}

/** A result, of a strict run with its findings. */
export type CheckedResult = DispatchResult & Pick<SimDispatchResult, 'findings' | 'findingsDropped' | 'isComplete'>;

/** Adds the flags. */
export function addCheckOptions(command: Command): void {
  command
    .option('--check', 'check every access, register and wait while it runs (strict mode); exit code 1 on errors')
    .option('--strict', 'the same as --check')
    .option('--notes', 'with --check: also what many correct kernels do, such as loads that a buffer resource drops')
    .option(
      '--fail-on <what>',
      'the first finding of these ends the run: error, warning, none (exit code 0), or codes such as waits,memory/misaligned',
    );
}

/** The strict options of a run, undefined without `--check`. */
export function strictOptionsOf(options: CheckOptions): StrictOptions | undefined {
  const isOn = options.check === true || options.strict === true;
  if (!isOn && options.failOn !== undefined) {
    throw new WavesmithError('cli/usage', '--fail-on selects findings of --check.', { hint: 'Add --check.' });
  }
  if (!isOn && options.notes === true) {
    throw new WavesmithError('cli/usage', '--notes shows findings of --check.', { hint: 'Add --check.' });
  }
  return isOn ? { failOn: failOnOf(options) } : undefined;
}

function failOnOf({ failOn }: CheckOptions): FailOn | undefined {
  return failOn === undefined ? undefined : parseFailOn(failOn, Object.keys(RUN_RULES) as RunRuleId[]);
}

/** 1 when there are findings that fail the run: errors, or those that `--fail-on` names. */
export function checkExitCode(
  options: CheckOptions,
  {
    findings = [],
    isComplete,
  }: CheckedResult | (Required<Pick<CheckedResult, 'findings'>> & Pick<CheckedResult, 'isComplete'>),
): number {
  const failOn = failOnOf(options);
  if (failOn === 'none') return isComplete === false ? 1 : 0;
  return findings.some((d) => failsOn(failOn ?? 'error', d)) || isComplete === false ? 1 : 0;
}

/** The findings as text, empty without `--check`. */
export function checkReport(
  { findings, findingsDropped = 0, isComplete }: CheckedResult,
  file: string,
  showNotes = false,
): string {
  if (findings === undefined) return '';
  const count = (severity: Severity): string => {
    const n = findings.filter((d) => d.severity === severity).length;
    return `${n} ${severity}${n === 1 ? '' : 's'}`;
  };
  const isShown = (d: { severity: Severity }): boolean => showNotes || d.severity !== 'note';
  const lines = findings.filter(isShown).map((d) => formatRunFinding(d, file));
  if (findingsDropped > 0) lines.push(`${findingsDropped} further findings were not kept\n`);
  const end = isComplete === false ? '; the run was ended' : '';
  const notes = findings.some((d) => d.severity === 'note') ? `, ${count('note')}` : '';
  const hint = notes === '' || showNotes ? '' : ' (--notes shows them)';
  return `${lines.join('')}strict mode: ${count('error')}, ${count('warning')}${notes}${hint}${end}\n`;
}

/** A result as `--json` prints it: its findings flat, also with their first names: `code` and `source`, and `diagnostics` for the list. */
export function checkRecord(result: CheckedResult): Readonly<Record<string, unknown>> {
  const { findings } = result;
  if (findings === undefined) return { ...result };
  const flat = findings.map((d) => ({ ...findingRecord(d), code: d.rule, source: d.place.source }));
  return { ...result, findings: flat, diagnostics: flat };
}
