// `wavesmith explain CODE`: what causes an error, or what a rule of the checker or of strict mode is about, and what to do next.
import { readFileSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { isRuleId, ruleInfo } from '../finding/index.ts';
import { codesLike, ERRORS } from './explain/registry.ts';
import { rulePageFile } from './rule-pages.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Flags {
  readonly json?: boolean;
  readonly list?: boolean;
}

/** What is known of a code; undefined when there is no such code. */
export function explain(code: string): Record<string, string> | undefined {
  const page = ERRORS[code];
  if (page !== undefined) return { code, kind: 'error', cause: page[0], next: page[1] };
  if (!isRuleId(code)) return undefined;
  const { severity, title, source, advice } = ruleInfo(code);
  return {
    code,
    kind: 'rule',
    severity,
    cause: `${title}.`,
    ...(advice && { next: advice }),
    source: `${source.title}, ${source.url}`,
  };
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('explain', 'Say what causes an error or a finding, and what to do next.')
    .argument('[code]', 'as it stands in brackets: elf/truncated, waits/read-before-return')
    .option('--list', 'list all error codes')
    .option('--json', 'print it as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  if (flags.list === true) {
    const codes = Object.keys(ERRORS).sort();
    if (flags.json === true) printJson(codes);
    else process.stdout.write(`${codes.join('\n')}\n`);
    return 0;
  }
  const given = command.args[0]?.replace(/^.*\[|\].*$/g, '');
  if (given === undefined) {
    throw new WavesmithError('cli/usage', 'A code is missing.', { hint: "'wavesmith explain --list' lists them." });
  }
  const found = explain(given);
  if (found === undefined) {
    const like = codesLike(given).slice(0, 6).join(', ');
    throw new WavesmithError('explain/unknown-code', `There is no error code or rule '${given}'.`, {
      hint: like === '' ? "'wavesmith explain --list' lists the codes." : `Did you mean ${like}?`,
    });
  }
  if (flags.json === true) printJson(found);
  else process.stdout.write(textOf(found));
  return 0;
}

function textOf({ code, kind, severity, cause, next, source }: Record<string, string>): string {
  const lines = [`${kind}[${code}]${severity === undefined ? '' : ` (${severity})`}`, `  ${cause}`];
  if (next !== undefined) lines.push(`  What to do next: ${next}`);
  if (source !== undefined) lines.push(`  Source: ${source}`);
  const page = rulePageFile(code as string);
  if (page !== undefined) lines.push('', readFileSync(page, 'utf8').trimEnd());
  return `${lines.join('\n')}\n`;
}
