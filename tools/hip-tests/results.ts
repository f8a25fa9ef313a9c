// What became of a case, and the table of all.
import type { Ended } from './build.ts';

export type CaseStatus =
  | 'passed'
  | 'skipped'
  | 'failed'
  | 'crashed'
  | 'timeout'
  | 'absent function'
  | 'not built'
  | 'disabled';
export interface CaseResult {
  readonly folder: string;
  readonly name: string;
  readonly status: CaseStatus;
  readonly seconds: number;
  /** The first words about what went wrong. */
  readonly reason: string;
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ').slice(0, 300);

/** The first failed assertion or message. */
function reasonOf(output: string): string {
  const symbol = /symbol lookup error.*undefined symbol: .*/.exec(output)?.[0];
  if (symbol !== undefined) return symbol;
  const wavesmith = /^.*(?:error\[|wavesmith:).*$/m.exec(output)?.[0];
  const failed = /^(\S+:\d+: FAILED:[\s\S]*?)(?:\n\n|={5}|$)/m.exec(output)?.[1];
  const place = failed?.replace(/^\S*\//, '');
  return oneLine([place, wavesmith].filter((t) => t !== undefined).join(' | ') || output.slice(-300));
}

/** The verdict on a process that ran one case. */
export function judge(folder: string, name: string, { status, output, seconds }: Ended): CaseResult {
  const result = (kind: CaseStatus, reason = ''): CaseResult => ({ folder, name, status: kind, seconds, reason });
  if (status === null) return result('timeout', reasonOf(output));
  if (/undefined symbol/.test(output)) return result('absent function', reasonOf(output));
  if (status === 0 && /HIP_SKIP_THIS_TEST/.test(output))
    return result('skipped', oneLine(/Skipping.*/.exec(output)?.[0] ?? ''));
  if (status === 0 && /All tests passed|test cases: 1 \| 1 passed|No tests ran/.test(output)) {
    return /No tests ran/.test(output) ? result('failed', 'the case was not found') : result('passed');
  }
  if (status > 128 || !/test cases?:/.test(output)) return result('crashed', `status ${status}: ${reasonOf(output)}`);
  return result('failed', reasonOf(output));
}

const COLUMNS: readonly CaseStatus[] = [
  'passed',
  'skipped',
  'failed',
  'crashed',
  'timeout',
  'absent function',
  'not built',
  'disabled',
];

/** Cases by folder and what became of them; the share is of the enabled cases that the suite itself did not skip. */
export function formatTable(results: readonly CaseResult[]): string {
  const folders = [...new Set(results.map((r) => r.folder))].sort();
  const row = (name: string, of: readonly CaseResult[]): string => {
    const counts = COLUMNS.map((c) => of.filter((r) => r.status === c).length);
    const [passed = 0, skipped = 0] = counts;
    const enabled = of.length - skipped - (counts.at(-1) ?? 0);
    const share = enabled === 0 ? '' : `${((100 * passed) / enabled).toFixed(1)} %`;
    return `${name.padEnd(18)}${counts.map((n, i) => String(n).padStart(Math.max(9, (COLUMNS[i] ?? '').length + 2))).join('')}${share.padStart(9)}`;
  };
  const head = `${'folder'.padEnd(18)}${COLUMNS.map((c) => c.padStart(Math.max(9, c.length + 2))).join('')}${'share'.padStart(9)}`;
  return `${[
    head,
    ...folders.map((f) =>
      row(
        f,
        results.filter((r) => r.folder === f),
      ),
    ),
    row('all', results),
  ].join('\n')}\n`;
}
