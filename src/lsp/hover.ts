// Hover: what stands under the cursor, as Markdown.
import type { Hover } from 'vscode-languageserver';
import { Tok } from '../isa/text/lexer.ts';
import type { TargetName } from '../isa/types.ts';
import { tupleEnd } from './classify.ts';
import { directiveMarkdown } from './directive-docs.ts';
import type { SourceDocument } from './document.ts';
import { instructionMarkdown } from './instruction-docs.ts';
import type { Occurrence } from './names.ts';
import { numberMarkdown, operandMarkdown } from './operand-docs.ts';
import { registerDocumentation } from './registers.ts';
import type { Statement } from './scan.ts';

/** What there is to say about an offset of a source. */
export function hover(document: SourceDocument, offset: number, target: TargetName): Hover | undefined {
  const found = document.statementAt(offset);
  if (found === undefined || document.scan.isComment(offset)) return undefined;
  const { statement } = found;
  const { scan } = document;
  const answer = (start: number, end: number, value: string | undefined): Hover | undefined =>
    value === undefined ? undefined : { contents: { kind: 'markdown', value }, range: document.range(start, end) };
  const name = document.names.at(offset);
  if (name !== undefined) return answer(name.start, name.end, nameMarkdown(document, name));
  const tuple = tupleAt(document, statement, offset);
  if (tuple !== undefined) {
    const documentation = registerDocumentation(document.text.slice(tuple.start, tuple.end));
    if (documentation !== undefined) return answer(tuple.start, tuple.end, documentation);
  }
  const token = scan.tokenAt(statement, offset);
  if (token < 0) return undefined;
  const text = scan.tokenText(token);
  const start = scan.start(token);
  const end = scan.end(token);
  if (statement.region === 'metadata' && !text.includes('amdgpu_metadata')) return undefined;
  const kind = scan.kind(token);
  if (kind === Tok.Integer || kind === Tok.Real) return answer(start, end, numberMarkdown(text));
  if (kind !== Tok.Identifier) return undefined;
  if (token === statement.head) {
    if (text.startsWith('.')) return answer(start, end, directiveMarkdown(text));
    return answer(start, end, instructionMarkdown(text, target, document.text.slice(start, statement.end)));
  }
  const isFlag = token > statement.first && scan.kind(token - 1) !== Tok.Comma;
  const markdown =
    text === 'scc' && isFlag ? operandMarkdown(text) : (registerDocumentation(text) ?? operandMarkdown(text));
  return answer(start, end, markdown);
}

/** The register tuple around an offset. */
function tupleAt(
  document: SourceDocument,
  statement: Statement,
  offset: number,
): { readonly start: number; readonly end: number } | undefined {
  const { scan } = document;
  for (let token = statement.first; token < statement.first + statement.count; token++) {
    if (scan.start(token) > offset) return undefined;
    const last = tupleEnd(document, statement, token);
    if (last >= 0 && offset <= scan.end(last)) return { start: scan.start(token), end: scan.end(last) };
  }
  return undefined;
}

/** A name: what it is, the line that defines it, how often it is used. */
function nameMarkdown(document: SourceDocument, { entity }: Occurrence): string {
  const definition = entity.occurrences.find((o) => o.isDefinition);
  const uses = entity.occurrences.filter((o) => !o.isDefinition).length;
  const what = entity.isKernel
    ? 'kernel'
    : entity.isFunction
      ? 'function'
      : entity.kind === 'numeric'
        ? 'numeric label'
        : entity.kind;
  const lines = [`**\`${entity.name}\`** — ${what}, used ${uses === 1 ? 'once' : `${uses} times`}`];
  if (definition !== undefined) {
    const { line } = document.position(definition.start);
    const start = document.offset({ line, character: 0 });
    const text = document.text.slice(start, start + 400).split(/[\r\n]/, 1)[0] ?? '';
    lines.push(`line ${line + 1}\n\`\`\`asm\n${text.trim().slice(0, 200)}\n\`\`\``);
  }
  return lines.join('\n\n');
}
