// Turns the edits of findings into changes of the source that the code was assembled from.
import type { Range, TextEdit } from 'vscode-languageserver';
import { type Edit, insertedCode, mergeEdits, waitText } from '../finding/index.ts';
import type { SourceDocument } from './document.ts';
import { placeInMacro } from './macro-places.ts';
import { metadataPlace } from './metadata-places.ts';
import { directiveStatement, kernelBlock, type Places } from './places.ts';
import type { Statement } from './scan.ts';

/** The changes that make all of the edits, or why one of them cannot be made in this source. */
export type SourceEdits =
  | { readonly edits: readonly TextEdit[]; readonly problem?: undefined }
  | { readonly edits?: undefined; readonly problem: string };

/** Changes of the source for edits; several at one place become one. */
export function sourceEdits(places: Places, edits: readonly Edit[]): SourceEdits {
  const out: TextEdit[] = [];
  for (const edit of mergeEdits(edits)) {
    const made = sourceEdit(places, edit);
    if (typeof made === 'string') return { problem: made };
    out.push(made);
  }
  return { edits: out };
}

/** The source after edits. Of two that overlap the first is made. */
export function applySourceEdits(document: SourceDocument, edits: readonly TextEdit[]): string {
  const { text } = document;
  const pieces = edits
    .map(({ range, newText }) => ({ start: document.offset(range.start), end: document.offset(range.end), newText }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  let out = '';
  let at = 0;
  for (const [i, { start, end, newText }] of pieces.entries()) {
    // Calls of one macro want the same in its body.
    const before = pieces[i - 1];
    const isSame = before?.start === start && before.end === end && before.newText === newText;
    if (start < at || isSame) continue;
    out += text.slice(at, start) + newText;
    at = end;
  }
  return out + text.slice(at);
}

function sourceEdit(places: Places, edit: Edit): TextEdit | string {
  const { document } = places;
  switch (edit.kind) {
    case 'insert-wait':
    case 'insert-states':
    case 'insert-code': {
      const isBehind = edit.kind === 'insert-code' && edit.side === 'behind';
      // Waits and no-ops do no harm to other calls.
      const range = insertionPlace(places, edit.pc, !isBehind, edit.kind !== 'insert-code');
      if (typeof range === 'string') return range;
      return insertAt(document, range, insertedCode(edit) ?? [], isBehind);
    }
    case 'set-wait': {
      const range = ownInstruction(places, edit.pc);
      if (typeof range === 'string') return range;
      const text = waitText(edit.counters);
      return text === undefined ? removed(document, range) : { range, newText: text };
    }
    case 'set-directive':
      return edit.kernel === undefined ? fileDirective(document, edit) : kernelDirective(document, edit.kernel, edit);
    case 'set-metadata':
      return metadataKey(document, edit);
    case 'align': {
      const label = document.names.symbol(edit.label)?.occurrences.find((o) => o.isDefinition);
      if (label === undefined) return `the source does not define '${edit.label}'`;
      return inserted(document, label.start, `.p2align ${edit.log2}${newline(document)}`);
    }
    default:
      return edit satisfies never;
  }
}

/** The statement of an instruction, unless it stands for more than that: a macro call, a repeat, an include. */
function ownInstruction(places: Places, pc: number): Range | string {
  const { document } = places;
  const range = places.instruction(pc);
  if (range === undefined) return `no line of the source is the instruction at 0x${pc.toString(16)}`;
  const found = document.statementAt(document.offset(range.start));
  const head = found === undefined ? '' : document.scan.headText(found.statement);
  if (head === '' || head.startsWith('.') || document.names.macro(head) !== undefined) {
    return `the instruction comes from '${head}', not from a line of its own`;
  }
  return range;
}

/** The statement before or behind which code is put; that of a macro's call or in its body where it may be there. */
function insertionPlace(places: Places, pc: number, mayBeCall: boolean, mayBeBody: boolean): Range | string {
  const { document } = places;
  const own = ownInstruction(places, pc);
  const call = places.instruction(pc);
  if (typeof own !== 'string' || call === undefined || !mayBeCall) return own;
  const found = document.statementAt(document.offset(call.start));
  const head = found === undefined ? '' : document.scan.headText(found.statement);
  if (document.names.macro(head) === undefined) return own;
  const place = placeInMacro(places, pc, call, head);
  if (typeof place === 'string') return place;
  return place.isInBody && !mayBeBody ? own : place.range;
}

function newline(document: SourceDocument): string {
  return document.text.includes('\r\n') ? '\r\n' : '\n';
}

function inserted(document: SourceDocument, offset: number, newText: string): TextEdit {
  const at = document.position(offset);
  return { range: { start: at, end: at }, newText };
}

function lineStart(document: SourceDocument, offset: number): number {
  const { text } = document;
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

/** What stands before a statement on its line, when that is space only; else a tab. */
function indentOf(document: SourceDocument, offset: number): string {
  const before = document.text.slice(lineStart(document, offset), offset);
  return /^\s*$/.test(before) ? before : '\t';
}

/** Lines before an instruction, behind its labels, or behind it; with its indentation. */
function insertAt(document: SourceDocument, range: Range, code: readonly string[], isBehind: boolean): TextEdit {
  const start = document.offset(range.start);
  const gap = newline(document) + indentOf(document, start);
  if (!isBehind) return inserted(document, start, code.map((text) => text + gap).join(''));
  // Behind the comment of the line too.
  const rest = document.text.slice(document.offset(range.end)).search(/[\r\n]|$/);
  return inserted(document, document.offset(range.end) + rest, code.map((text) => gap + text).join(''));
}

/** Takes a statement away, with its line when it is alone there. */
function removed(document: SourceDocument, range: Range): TextEdit {
  const [start, end] = [document.offset(range.start), document.offset(range.end)];
  const line = document.offset({ line: range.start.line, character: 0 });
  const next = document.offset({ line: range.start.line + 1, character: 0 });
  const isAlone = document.text.slice(line, start).trim() === '' && document.text.slice(end, next).trim() === '';
  return { range: isAlone ? document.range(line, next) : range, newText: '' };
}

/** The arguments of a directive replaced. */
function setArguments(document: SourceDocument, statement: Statement, value: string): TextEdit {
  const { scan } = document;
  const hasArgument = statement.head + 1 < statement.first + statement.count;
  if (!hasArgument) return inserted(document, statement.end, ` ${value}`);
  return { range: document.range(scan.start(statement.head + 1), statement.end), newText: value };
}

interface Setting {
  readonly directive: string;
  readonly value: string;
}

function fileDirective(document: SourceDocument, { directive, value }: Setting): TextEdit {
  const found = directiveStatement(document, undefined, directive);
  if (found !== undefined) return setArguments(document, found, value);
  return inserted(document, 0, `${directive} ${value}${newline(document)}`);
}

function kernelDirective(document: SourceDocument, kernel: string, { directive, value }: Setting): TextEdit | string {
  const found = directiveStatement(document, kernel, directive);
  if (found !== undefined) return setArguments(document, found, value);
  const block = kernelBlock(document, kernel);
  if (block === undefined) return `the source has no .amdhsa_kernel block of '${kernel}'`;
  const { scan } = document;
  const first = scan.statements[block.open + 1] as Statement;
  const close = scan.statements[block.close] as Statement;
  const indent = block.open + 1 === block.close ? '\t' : indentOf(document, first.start);
  const text = `${indent}${directive} ${value}${newline(document)}`;
  return inserted(document, lineStart(document, close.start), text);
}

function metadataKey(
  document: SourceDocument,
  { kernel, key, value }: { readonly kernel: string; readonly key: string; readonly value: string },
): TextEdit | string {
  const found = metadataPlace(document, kernel, key);
  if (found !== undefined) return { range: document.range(found.value, found.end), newText: value };
  const symbol = metadataPlace(document, kernel, '.symbol');
  if (symbol === undefined) return `the source has no metadata of '${kernel}'`;
  const indent = ' '.repeat(symbol.start - lineStart(document, symbol.start));
  return inserted(document, symbol.end, `${newline(document)}${indent}${key}: ${value}`);
}
