// `wavesmith isa MNEMONIC`, `wavesmith isa 0xD1FE0000 …`: what an instruction is: what it does, encodings, operands, registers it
// touches, the waits and hazards that it brings.

import { WavesmithError } from '../base/index.ts';
import { isTargetName, TARGET_NAMES, type TargetName } from '../isa/index.ts';
import {
  describeBytes,
  describeInstruction,
  type EncodingDescription,
  type InstructionDescription,
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
    .argument(
      '[mnemonic...]',
      'with or without _e32, _e64, _sdwa, _dpp; or the dwords of one, as 0x7E000280; unknown: near matches, words or * too',
    )
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
  const words = command.args.flatMap((arg) => arg.split(/[\s,]+/)).filter((word) => word !== '');
  const [first] = words;
  if (first === undefined) {
    throw new WavesmithError('cli/usage', 'A mnemonic is missing.', { hint: "'wavesmith isa --list' lists them." });
  }
  const bytes = encodedBytes(words);
  if (bytes !== undefined) return explainBytes(bytes, target, flags.json === true);
  const mnemonic = first.toLowerCase();
  const description = describeInstruction(mnemonic, target);
  if (description === undefined) {
    const query = command.args.join(' ');
    const close = similarOperations(query, target);
    throw new WavesmithError('isa/unknown-mnemonic', `${target} has no instruction '${query}'.`, {
      hint: close.length > 0 ? `Did you mean ${close.join(', ')}?` : "'wavesmith isa --list' lists the mnemonics.",
    });
  }
  // What follows a mnemonic are the operands of a line that somebody has copied.
  if (words.slice(1).some((word) => describeInstruction(word.toLowerCase(), target) !== undefined)) {
    throw new WavesmithError('cli/usage', 'One mnemonic at a time, or the dwords of one instruction.', {
      hint: "Dwords begin with 0x: 'wavesmith isa 0xD1FE0000 0x04120701'.",
    });
  }
  if (flags.json === true) printJson(description);
  else {
    process.stdout.write(`${mnemonic} on ${target}\n${descriptionText(description)}`);
  }
  return 0;
}

function descriptionText({ prose, encodings }: InstructionDescription): string {
  const lines = (prose.length > 0 ? prose : ['Nothing says what it does.']).map((line) => `  ${line}\n`);
  return `${lines.join('')}\n${encodings.map(encodingText).join('\n')}`;
}

/** The bytes of dwords on the command line, the lowest first; undefined when the arguments are no dwords. */
function encodedBytes(args: readonly string[]): Uint8Array | undefined {
  if (!args.every((word) => /^(?:0x[0-9a-f]{1,8}|[0-9a-f]{8})$/i.test(word))) return undefined;
  const bytes = new Uint8Array(4 * args.length);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of args.entries()) view.setUint32(4 * i, Number.parseInt(word, 16), true);
  return bytes;
}

/** Explains what dwords encode. Errors: `isa/no-instruction`. */
function explainBytes(bytes: Uint8Array, target: TargetName, asJson: boolean): number {
  const found = describeBytes(bytes, target);
  if (found === undefined) {
    const others = TARGET_NAMES.filter((name) => name !== target && describeBytes(bytes, name) !== undefined);
    throw new WavesmithError('isa/no-instruction', `These bytes are no instruction of ${target}.`, {
      hint:
        others.length > 0
          ? `They are one of ${others.join(' and ')}: add --target ${others[0]}.`
          : 'An instruction may need more dwords; the one at the lowest address comes first.',
    });
  }
  const { text, size, description } = found;
  if (asJson) printJson({ text, bytes: size, ...description });
  else {
    const rest = bytes.length > size ? `  (${size} of ${bytes.length} bytes)` : '';
    process.stdout.write(`${text}${rest}\n${descriptionText(description)}`);
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
  for (const [i, note] of e.hazards.entries()) lines.push(`  ${(i === 0 ? 'waits' : '').padEnd(14)}${note}`);
  return `${lines.join('\n')}\n`;
}
