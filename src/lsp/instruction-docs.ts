// What instructions do, for hover and completion: sentences, syntax, operands, wait counter, matrix passes and hazards (`wavesmith isa`).

import { encodeInto } from '../isa/codec/encode.ts';
import { InstructionParser } from '../isa/parse/parse.ts';
import { describeInstruction, type EncodingDescription, type InstructionDescription } from '../isa/print/describe.ts';
import { printerFor } from '../isa/print/print.ts';
import { Lexer } from '../isa/text/lexer.ts';
import type { TargetName } from '../isa/types.ts';

const descriptions = new Map<string, InstructionDescription | undefined>();

/** The description of a mnemonic, kept. */
export function descriptionOf(mnemonic: string, target: TargetName): InstructionDescription | undefined {
  const key = `${target} ${mnemonic}`;
  if (!descriptions.has(key)) descriptions.set(key, describeInstruction(mnemonic, target));
  return descriptions.get(key);
}

function operandRows(encoding: EncodingDescription): string[] {
  return encoding.operands.map(
    (o) => `| \`${o.name}\` | ${o.direction} | ${o.kind} | ${o.accepts.replaceAll('|', '\\|')} |`,
  );
}

/** The syntax with a space before each optional operand. */
export function syntaxText({ syntax }: EncodingDescription): string {
  return syntax.replace(/(\S)\[/g, '$1 [');
}

/** An instruction of a text as the table sees it: its encoding and bytes, when it is complete and names no symbols. */
export interface Encoded {
  readonly record: string;
  readonly hex: string;
  readonly text: string;
}

/** Parses and encodes one statement; undefined when it is not a complete instruction. */
export function encodeStatement(text: string, target: TargetName): Encoded | undefined {
  const lexer = new Lexer(text);
  if (!lexer.nextStatement()) return undefined;
  const context = { target, xnack: false, constant: () => undefined, here: () => '.', numericLabel: () => '.Lnumeric' };
  const parsed = new InstructionParser(lexer, context).parse();
  if (parsed === undefined || lexer.diagnostics.length > 0) return undefined;
  const bytes = new Uint8Array(32);
  const size = encodeInto(parsed.instruction, bytes, 0);
  const hex: string[] = [];
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < size; at += 4) hex.push(view.getUint32(at, true).toString(16).toUpperCase().padStart(8, '0'));
  const shown = printerFor(target).print(parsed.instruction);
  return { record: parsed.instruction.row.name, hex: hex.join(' '), text: parsed.fixups.length > 0 ? '' : shown };
}

/** Markdown about an instruction; with the statement's text also how it is encoded here. */
export function instructionMarkdown(mnemonic: string, target: TargetName, statement?: string): string | undefined {
  const description = descriptionOf(mnemonic, target);
  if (description === undefined) return undefined;
  const encoded = statement === undefined ? undefined : encodeStatement(statement, target);
  const own = description.encodings.find((e) => e.record === encoded?.record);
  const encoding = own ?? (description.encodings[0] as EncodingDescription);
  const lines = [`**\`${mnemonic}\`** on ${target}`, ...description.prose];
  const shown = own === undefined ? description.encodings : [own];
  lines.push(
    `\`\`\`asm\n${shown.map((e) => `${syntaxText(e)}    ; ${e.encoding}, ${e.bytes} bytes`).join('\n')}\n\`\`\``,
  );
  if (encoded !== undefined) {
    lines.push(`Encoded \`${encoded.hex}\`${encoded.text === '' ? ' without its symbol' : ''}`);
  }
  if (encoding.operands.length > 0) {
    lines.push(`| operand | | kind | accepts |\n|---|---|---|---|\n${operandRows(encoding).join('\n')}`);
  }
  const facts: string[] = [];
  if (encoding.reads.length > 0) facts.push(`reads ${encoding.reads.join(', ')}`);
  if (encoding.writes.length > 0) facts.push(`writes ${encoding.writes.join(', ')}`);
  if (encoding.waitCounters.length > 0) facts.push(`increments **${encoding.waitCounters.join(', ')}**`);
  const { matrixPasses } = encoding;
  if (matrixPasses !== undefined) facts.push(`${matrixPasses} matrix passes (${4 * matrixPasses} cycles)`);
  if (facts.length > 0) lines.push(facts.join(' · '));
  if (encoding.hazards.length > 0) lines.push(encoding.hazards.map((one) => `- ${one}`).join('\n'));
  if (own !== undefined) {
    const bits = own.fields.map((f) => `${`${f.high}:${f.low}`.padEnd(7)}${f.content}`);
    lines.push(`\`\`\`text\n${bits.join('\n')}\n\`\`\``);
  }
  return lines.join('\n\n');
}

/** One line about an instruction, for completion lists. */
export function instructionSummary(mnemonic: string, target: TargetName): string {
  const description = descriptionOf(mnemonic, target);
  return description === undefined ? '' : syntaxText(description.encodings[0] as EncodingDescription);
}
