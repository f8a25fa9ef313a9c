// Quick fixes: the changes that a finding carries, a target for sources without one, the mnemonics that the assembler suggests.
import type { CodeAction, Diagnostic, TextEdit } from 'vscode-languageserver';
import { CodeActionKind } from 'vscode-languageserver';
import { TARGET_NAMES } from '../isa/index.ts';
import type { DiagnosticData } from './diagnostics.ts';
import type { SourceDocument } from './document.ts';

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
  const data = dataOf(diagnostic);
  if (data === undefined || data.version !== document.version) return [];
  return [action(data.title, data.edits, data.isPreferred)];
}

/** What this server attached to a diagnostic; undefined for what other sources attach. */
function dataOf({ data }: Diagnostic): DiagnosticData | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { version, title, edits } = data as Partial<DiagnosticData>;
  const isOurs = typeof version === 'number' && typeof title === 'string' && Array.isArray(edits);
  return isOurs ? (data as DiagnosticData) : undefined;
}

/** Replaces the mnemonic at a diagnostic; the name may be one of another encoding. */
function mnemonicEdit(document: SourceDocument, diagnostic: Diagnostic, name: string): TextEdit[] {
  const offset = document.offset(diagnostic.range.start);
  const word = /^[\w.]+/.exec(document.text.slice(offset, offset + 256))?.[0] ?? '';
  return [{ range: document.range(offset, offset + word.length), newText: name }];
}
