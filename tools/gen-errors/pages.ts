// The pages of docs/errors/ as text, by file name.

import { ERRORS, errorPage } from '../../src/cli/explain/registry.ts';
import { PROFILE_RULES, type ProfileRuleId, ruleInfo } from '../../src/finding/index.ts';

const NOTE = '<!-- Made by tools/gen-errors from src/cli/explain/. Do not edit. -->';

/** File name below docs/errors/ → its text. */
export function errorFiles(): Map<string, string> {
  const codes = Object.keys(ERRORS).sort();
  const files = new Map<string, string>();
  for (const code of codes) {
    const page = ERRORS[code];
    if (page !== undefined) files.set(`${code}.md`, `${NOTE}\n${errorPage(code, page)}\n`);
  }
  const index = [
    NOTE,
    '# Error codes',
    '',
    'Every message of Wavesmith carries a code in brackets: `error[elf/truncated]`. The code is stable; the words may change.',
    '`wavesmith explain CODE` prints what stands here. Rules of the checker (`waits/…`, `hazards/…`) have pages in',
    '[docs/check](../check/README.md), those of strict mode in [docs/virtual-gpu.md](../virtual-gpu.md).',
  ];
  let area = '';
  for (const code of codes) {
    const [first = ''] = code.split('/');
    if (first !== area) index.push('', `## ${first}`, '', '| code | cause |', '|---|---|');
    area = first;
    index.push(`| [${code}](${code}.md) | ${(ERRORS[code]?.[0] ?? '').replaceAll('|', '\\|')} |`);
  }
  files.set('README.md', `${index.join('\n')}\n`);
  return files;
}

/** docs/profile-findings.md: the rules of the profile. */
export function profileFindingsPage(): string {
  const rows = (Object.keys(PROFILE_RULES) as ProfileRuleId[]).sort().map((rule) => {
    const { severity, title, advice = '' } = ruleInfo(rule);
    return `| \`${rule}\` | ${severity} | ${title}. | ${advice} |`;
  });
  return [
    '<!-- Made by tools/gen-errors from src/finding/rules-profile.ts. Do not edit. -->',
    '# Findings of a profile',
    '',
    'A profile says what is missing, damaged, contradictory or impossible in its input. The analysis goes on without it.',
    'A warning concerns a number that is shown or missing. A note needs nothing done.',
    '`wavesmith explain RULE` prints the row of a rule.',
    '',
    '## Findings',
    '',
    '| rule | severity | what it is | what to do next |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
