// Formatting: labels stand in the first column, what they label one tab in, operands are separated by `, `, lines end with their last
// letter. Only white space outside of strings, comments and metadata changes, so the code stays what it is.
import type { Range, TextEdit } from 'vscode-languageserver';
import { Tok } from '../isa/text/lexer.ts';
import type { SourceDocument } from './document.ts';
import type { Statement } from './scan.ts';

/** Directives that LLVM's printer indents twice: those of a kernel's descriptor. */
const DESCRIPTOR = /^\.amdhsa_(?!kernel$|code_object_version$)/;

/** The white space that a statement begins its line with. */
function indent(document: SourceDocument, statement: Statement): string {
  const { scan } = document;
  if (statement.head !== statement.first) return '';
  const head = scan.headText(statement);
  const isAssignment = scan.kind(statement.head + 1) === Tok.Equal && statement.count > 1;
  if (isAssignment) return '';
  return DESCRIPTOR.test(head) ? '\t\t' : '\t';
}

/** The edits that format a document, or the lines of a range. */
export function formatEdits(document: SourceDocument, range?: Range): TextEdit[] {
  const { scan, text } = document;
  const edits: TextEdit[] = [];
  const replace = (start: number, end: number, newText: string): void => {
    if (text.slice(start, end) === newText) return;
    const place = document.range(start, end);
    if (range !== undefined && (place.start.line < range.start.line || place.end.line > range.end.line)) return;
    edits.push({ range: place, newText });
  };
  const isBlank = (start: number, end: number): boolean => /^[ \t]*$/.test(text.slice(start, end));
  for (const statement of scan.statements) {
    const head = scan.headText(statement);
    if (statement.region === 'metadata' || head === '.amdgpu_metadata' || head === '.end_amdgpu_metadata') continue;
    const line = text.lastIndexOf('\n', statement.start - 1) + 1;
    if (isBlank(line, statement.start)) replace(line, statement.start, indent(document, statement));
    for (let token = statement.first; token < statement.first + statement.count - 1; token++) {
      const [from, to] = [scan.end(token), scan.start(token + 1)];
      if (!isBlank(from, to)) continue;
      if (scan.kind(token + 1) === Tok.Comma) replace(from, to, '');
      else if (scan.kind(token) === Tok.Comma && !isInBrackets(scan, statement, token)) replace(from, to, ' ');
    }
  }
  for (const match of text.matchAll(/[ \t]+(?=\r?$)/gm)) {
    const isInText = scan.comments.some((c) => c.start < match.index && match.index + match[0].length < c.end);
    if (!isInText && !isMetadata(document, match.index)) replace(match.index, match.index + match[0].length, '');
  }
  return withoutOverlap(edits);
}

/** A comma in `op_sel:[0,1]`, which LLVM prints without a blank. */
function isInBrackets(scan: SourceDocument['scan'], statement: Statement, comma: number): boolean {
  for (let token = comma; token > statement.first; token--) {
    const kind = scan.kind(token);
    if (kind === Tok.RBrac) return false;
    if (kind === Tok.LBrac) return true;
  }
  return false;
}

function isMetadata(document: SourceDocument, offset: number): boolean {
  const { scan } = document;
  return scan.statements[scan.statementBefore(offset)]?.region === 'metadata';
}

/** Edits of a line that touch: the first stands. */
function withoutOverlap(edits: readonly TextEdit[]): TextEdit[] {
  const key = ({ range: { start } }: TextEdit): number => start.line * 65536 + start.character;
  const sorted = [...edits].sort((a, b) => key(a) - key(b));
  return sorted.filter((edit, i) => {
    const before = sorted[i - 1]?.range.end;
    const { start } = edit.range;
    return before === undefined || before.line < start.line || before.character <= start.character;
  });
}
