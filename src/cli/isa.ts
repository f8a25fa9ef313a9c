// `wavesmith isa MNEMONIC`: what an instruction is: encodings, operands, registers it touches, wait counter, meaning.

import { WavesmithError } from '../base/index.ts';
import { isTargetName, TARGET_NAMES } from '../isa/index.ts';
import {
  describeInstruction,
  type EncodingDescription,
  listOperations,
  similarOperations,
} from '../isa/print/describe.ts';
import { DEFAULT_TARGET } from '../isa/table/targets.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Flags {
  readonly target: string;
  readonly json?: boolean;
  readonly list?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('isa', 'Explain an instruction, or list the mnemonics of a target.')
    .argument('[mnemonic]', 'with or without _e32, _e64, _sdwa, _dpp')
    .option('--target <name>', TARGET_NAMES.join(', '), DEFAULT_TARGET)
    .option('--list', 'list all mnemonics')
    .option('--json', 'print the description as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const { target } = flags;
  if (!isTargetName(target)) {
    throw new WavesmithError('cli/usage', `There is no target '${target}'.`, {
      hint: `Use one of ${TARGET_NAMES.join(', ')}.`,
    });
  }
  if (flags.list === true) {
    const names = listOperations(target);
    if (flags.json === true) printJson(names);
    else process.stdout.write(`${names.join('\n')}\n`);
    return 0;
  }
  const mnemonic = command.args[0];
  if (mnemonic === undefined) {
    throw new WavesmithError('cli/usage', 'A mnemonic is missing.', { hint: "'wavesmith isa --list' lists them." });
  }
  const description = describeInstruction(mnemonic, target);
  if (description === undefined) {
    const close = similarOperations(mnemonic, target);
    throw new WavesmithError('isa/unknown-mnemonic', `${target} has no instruction '${mnemonic}'.`, {
      hint: close.length > 0 ? `Did you mean ${close.join(', ')}?` : "'wavesmith isa --list' lists the mnemonics.",
    });
  }
  if (flags.json === true) printJson(description);
  else {
    const meaning = description.meaning.length > 0 ? description.meaning : ['there is no semantic expression'];
    const lines = meaning.map((line) => `  ${line}\n`).join('');
    process.stdout.write(`${mnemonic} on ${target}\n${lines}\n${description.encodings.map(encodingText).join('\n')}`);
  }
  return 0;
}

function encodingText(e: EncodingDescription): string {
  const lines = [
    `${e.encoding}  ${e.bytes} bytes  ${e.record}  (${e.targets.join(', ')})`,
    `  ${e.syntax}`,
    '  bits',
    ...e.fields.map((f) => `    ${`${f.high}:${f.low}`.padEnd(9)}${f.content}`),
    '  operands',
    ...e.operands.map((o) => `    ${o.name.padEnd(16)}${o.direction.padEnd(8)}${o.kind.padEnd(11)}${o.accepts}`),
  ];
  const facts: [string, string][] = [
    ['reads', e.reads.join(', ')],
    ['writes', e.writes.join(', ')],
    ['increments', e.waitCounters.join(', ')],
    ['matrix passes', e.matrixPasses === undefined ? '' : `${e.matrixPasses} (${4 * e.matrixPasses} cycles)`],
    ['flags', e.flags.join(' ')],
  ];
  for (const [name, value] of facts) if (value !== '') lines.push(`  ${name.padEnd(14)}${value}`);
  return `${lines.join('\n')}\n`;
}
