// Quick fixes: turns the fix that a finding or a message names into an edit of the text.
// The sentences are those of src/check and of the assembler's suggestions; a sentence of another form gives no action.
import type { CodeAction, Diagnostic, TextEdit } from 'vscode-languageserver';
import { CodeActionKind } from 'vscode-languageserver';
import { TARGET_NAMES } from '../isa/index.ts';
import { type DiagnosticData, kernelBlock } from './diagnostics.ts';
import type { SourceDocument } from './document.ts';
import { metadataPlace } from './metadata-places.ts';

/** The quick fixes of diagnostics, in their order. */
export function quickFixes(document: SourceDocument, diagnostics: readonly Diagnostic[]): CodeAction[] {
  return diagnostics.flatMap((diagnostic) => fixesOf(document, diagnostic));
}

function fixesOf(document: SourceDocument, diagnostic: Diagnostic): CodeAction[] {
  const action = (title: string, edits: readonly TextEdit[], isPreferred = true): CodeAction => ({
    title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred,
    edit: { changes: { [document.uri]: [...edits] } },
  });
  if (diagnostic.code === 'asm/no-target') {
    return TARGET_NAMES.map((name) => {
      const newText = `.amdgcn_target "amdgcn-amd-amdhsa--${name}"\n`;
      const start = { line: 0, character: 0 };
      return action(`Insert .amdgcn_target for ${name}`, [{ range: { start, end: start }, newText }], false);
    });
  }
  const message = typeof diagnostic.message === 'string' ? diagnostic.message : diagnostic.message.value;
  const suggestion = /, did you mean: ([\w., ]+)\?$/.exec(message)?.[1];
  if (suggestion !== undefined && diagnostic.code === 'asm') {
    return suggestion
      .split(', ')
      .map((name) => action(`Change to ${name}`, mnemonicEdit(document, diagnostic, name), false));
  }
  const { fix, kernel } = dataOf(diagnostic);
  if (fix === undefined) return [];
  const inserted = /^(?:Insert|Put) (s_waitcnt (?:\w+\(\d+\)[ &,]*)+|s_nop \d+)(?= |$|\.)/.exec(fix)?.[1]?.trim();
  if (inserted !== undefined) {
    if (!isInstruction(document, diagnostic)) return [];
    return [action(`Insert ${inserted}`, [insertBefore(document, diagnostic, inserted)])];
  }
  const weaker = /^Write ((?:no \w+|\w+\(\d+\))(?:, (?:no \w+|\w+\(\d+\)))*);/.exec(fix)?.[1];
  if (weaker !== undefined) {
    const edit = waitEdit(document, diagnostic, weaker.split(', '));
    return edit === undefined ? [] : [action(`Wait for ${weaker} only`, [edit], false)];
  }
  const aligned = /^Put (\.p2align \d+) before the kernel's label/.exec(fix)?.[1];
  if (aligned !== undefined && kernel !== undefined) {
    const label = document.names.symbol(kernel)?.occurrences.find((o) => o.isDefinition);
    if (label === undefined) return [];
    const at = document.position(label.start);
    const edit = { range: { start: at, end: at }, newText: `${aligned}\n` };
    return [action(`Insert ${aligned}`, [edit])];
  }
  const edits = directiveEdits(document, fix, kernel);
  return edits.length === 0 ? [] : [action(fix, edits)];
}

function dataOf(diagnostic: Diagnostic): DiagnosticData {
  const { data } = diagnostic;
  if (typeof data !== 'object' || data === null) return {};
  const { fix, kernel } = data as Record<string, unknown>;
  return {
    ...(typeof fix === 'string' ? { fix } : {}),
    ...(typeof kernel === 'string' ? { kernel } : {}),
  };
}

/** Whether a diagnostic is at an instruction itself, not at the macro call or repeat that it comes from. */
function isInstruction(document: SourceDocument, diagnostic: Diagnostic): boolean {
  const found = document.statementAt(document.offset(diagnostic.range.start));
  const head = found === undefined ? '' : document.scan.headText(found.statement);
  return head !== '' && !head.startsWith('.') && document.names.macro(head) === undefined;
}

/** A line before the instruction that a diagnostic marks, behind its labels, with its indentation. */
function insertBefore(document: SourceDocument, diagnostic: Diagnostic, text: string): TextEdit {
  const offset = document.offset(diagnostic.range.start);
  const lineStart =
    Math.max(document.text.lastIndexOf('\n', offset - 1), document.text.lastIndexOf('\r', offset - 1)) + 1;
  const before = document.text.slice(lineStart, offset);
  const indent = /^\s*$/.test(before) ? before : '\t';
  const newline = document.text.includes('\r\n') ? '\r\n' : '\n';
  const at = diagnostic.range.start;
  return { range: { start: at, end: at }, newText: `${text}${newline}${indent}` };
}

/** Rewrites the counters of an s_waitcnt; without any left the line goes. Undefined when it names none of them. */
function waitEdit(document: SourceDocument, diagnostic: Diagnostic, counters: readonly string[]): TextEdit | undefined {
  const start = document.offset(diagnostic.range.start);
  const end = document.offset(diagnostic.range.end);
  const before = document.text.slice(start, end);
  let after = before;
  for (const counter of counters) {
    const name = /\w+(?=\(|$)/.exec(counter)?.[0] ?? '';
    const found = new RegExp(`\\b${name}\\([^)]*\\)[ \\t&,]*`);
    if (!found.test(after)) return undefined;
    after = after.replace(found, (old) => (counter.startsWith('no ') ? '' : old.replace(/^\w+\([^)]*\)/, counter)));
  }
  after = after.replace(/[ \t&,]+$/, '');
  if (!/^s_waitcnt$/.test(after)) return { range: diagnostic.range, newText: after };
  const lineStart = document.offset({ line: diagnostic.range.start.line, character: 0 });
  const next = document.offset({ line: diagnostic.range.start.line + 1, character: 0 });
  const isAlone = document.text.slice(lineStart, start).trim() === '' && document.text.slice(end, next).trim() === '';
  return { range: isAlone ? document.range(lineStart, next) : diagnostic.range, newText: '' };
}

/** Replaces the mnemonic at a diagnostic; the name may be one of another encoding. */
function mnemonicEdit(document: SourceDocument, diagnostic: Diagnostic, name: string): TextEdit[] {
  const offset = document.offset(diagnostic.range.start);
  const word = /^[\w.]+/.exec(document.text.slice(offset, offset + 256))?.[0] ?? '';
  return [{ range: document.range(offset, offset + word.length), newText: name }];
}

/** `.amdhsa_x to 24 and .key: to 8`: the values of directives in the kernel's block and of keys of its metadata. */
function directiveEdits(document: SourceDocument, fix: string, kernel: string | undefined): TextEdit[] {
  if (kernel === undefined) return [];
  const { scan } = document;
  const edits: TextEdit[] = [];
  for (const match of fix.matchAll(/(\.\w+): to (?:at least )?(\d+)/g)) {
    const [, key, value] = match as unknown as [string, string, string];
    const place = metadataPlace(document, kernel, key);
    if (place === undefined) return [];
    edits.push({ range: document.range(place.value, place.end), newText: value });
  }
  const block = kernelBlock(document, kernel);
  if (block === undefined) return edits;
  for (const match of fix.matchAll(/(\.amdhsa_\w+) to (?:at least )?(\d+)/g)) {
    const [, name, value] = match as unknown as [string, string, string];
    const at = scan.statements.findIndex((s, i) => i > block.open && i < block.close && scan.headText(s) === name);
    const statement = scan.statements[at];
    if (statement === undefined || statement.head + 1 >= statement.first + statement.count) return [];
    edits.push({ range: document.range(scan.start(statement.head + 1), statement.end), newText: value });
  }
  return edits;
}
