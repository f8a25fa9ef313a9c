// Names in the editor: definition, references, highlights, rename, the outline, and folding of blocks.
import type { DocumentHighlight, DocumentSymbol, FoldingRange, Location, Range, TextEdit } from 'vscode-languageserver';
import { DocumentHighlightKind, FoldingRangeKind, SymbolKind } from 'vscode-languageserver';
import { WavesmithError } from '../base/index.ts';
import type { SourceDocument } from './document.ts';
import type { Entity, Occurrence } from './names.ts';
import { isRegisterName } from './registers.ts';
import type { DirectiveBlock, Statement } from './scan.ts';

const locationOf = (document: SourceDocument, { start, end }: Occurrence): Location => ({
  uri: document.uri,
  range: document.range(start, end),
});

/** Where the name at an offset is defined; several places when `.set` assigns it again. */
export function definitions(document: SourceDocument, offset: number): Location[] {
  const entity = document.names.at(offset)?.entity;
  return (entity?.occurrences ?? []).filter((o) => o.isDefinition).map((o) => locationOf(document, o));
}

/** Where the name at an offset is used. */
export function references(document: SourceDocument, offset: number, withDefinitions: boolean): Location[] {
  const entity = document.names.at(offset)?.entity;
  const all = entity?.occurrences ?? [];
  return all.filter((o) => withDefinitions || !o.isDefinition).map((o) => locationOf(document, o));
}

/** The occurrences of the name at an offset. */
export function highlights(document: SourceDocument, offset: number): DocumentHighlight[] {
  return (document.names.at(offset)?.entity.occurrences ?? []).map((o) => ({
    range: document.range(o.start, o.end),
    kind: o.isDefinition ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
  }));
}

/** The range that a rename at an offset would change, with the name; undefined when nothing there has a name. */
export function renameable(
  document: SourceDocument,
  offset: number,
): { readonly range: Range; readonly placeholder: string } | undefined {
  const found = document.names.at(offset);
  return found && { range: document.range(found.start, found.end), placeholder: found.entity.name };
}

/** The edits that give the name at an offset another one; `lsp/rename` when that name cannot be. */
export function rename(document: SourceDocument, offset: number, newName: string): TextEdit[] {
  const entity = document.names.at(offset)?.entity;
  if (entity === undefined) throw new WavesmithError('lsp/rename', 'There is no name here.');
  const refuse = (why: string): never => {
    throw new WavesmithError('lsp/rename', `'${newName.slice(0, 80)}' ${why}.`);
  };
  if (entity.kind === 'numeric') {
    if (!/^(?:0|[1-9]\d{0,8})$/.test(newName)) refuse('is no numeric label');
  } else if (!/^[A-Za-z_.$][\w.$]*$/.test(newName) || newName === '.') refuse('is no name of the assembler');
  else if (isRegisterName(newName)) refuse('is a register');
  const { names } = document;
  if (entity.kind === 'numeric' && newName !== entity.name) {
    for (const other of names.entities.values()) {
      if (other.kind === 'numeric' && other.name === newName) refuse('is used by another numeric label');
    }
  }
  const taken = entity.kind === 'macro' ? names.macro(newName) : names.symbol(newName);
  if (entity.kind !== 'parameter' && taken !== undefined && taken !== entity) refuse('is defined already');
  if (entity.kind === 'parameter') {
    const scope = entity.key.slice(0, entity.key.lastIndexOf(':') + 1);
    if (newName !== entity.name && names.entities.has(scope + newName)) refuse('is another parameter');
  }
  return entity.occurrences.map((o) => ({ range: document.range(o.start, o.end), newText: newName }));
}

// ── outline ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The end of a function: the statement before its `.size`, the next function or another section. */
function functionEnd(document: SourceDocument, entity: Entity): number {
  const { scan, names } = document;
  let last = entity.statement;
  for (let i = entity.statement + 1; i < scan.statements.length; i++) {
    const statement = scan.statements[i] as Statement;
    const head = scan.headText(statement);
    if (/^\.(?:section|rodata|data|bss|text|amdhsa_kernel|amdgpu_metadata|pushsection|size)$/.test(head)) break;
    const label = names.at(statement.start);
    if (label?.isDefinition === true && label.entity.isFunction && label.start === statement.start) break;
    last = i;
  }
  return last;
}

/** Functions with their labels, kernel descriptors, symbols and macros. */
export function documentSymbols(document: SourceDocument): DocumentSymbol[] {
  const { scan, names } = document;
  const symbols: { symbol: DocumentSymbol; first: number; last: number; isFunction: boolean }[] = [];
  const kinds = { label: SymbolKind.Field, symbol: SymbolKind.Constant, macro: SymbolKind.Method };
  for (const entity of names.entities.values()) {
    if (entity.kind === 'parameter' || entity.kind === 'numeric') continue;
    const definition = entity.occurrences.find((o) => o.isDefinition);
    if (definition === undefined) continue;
    const macro = entity.kind === 'macro' ? scan.blocks.find((b) => b.open === entity.statement) : undefined;
    const last = entity.isFunction ? functionEnd(document, entity) : (macro?.close ?? entity.statement);
    const symbol: DocumentSymbol = {
      name: entity.name,
      detail: entity.isKernel ? 'kernel' : entity.isFunction ? 'function' : entity.kind,
      kind: entity.isFunction ? SymbolKind.Function : kinds[entity.kind],
      range: document.range(definition.start, (scan.statements[last] as Statement).end),
      selectionRange: document.range(definition.start, definition.end),
    };
    symbols.push({ symbol, first: entity.statement, last, isFunction: entity.isFunction });
  }
  for (const { kind, open, close } of scan.blocks) {
    if (kind !== 'kernel' && kind !== 'metadata') continue;
    const { start, end } = scan.statements[open] as Statement;
    const text = document.text.slice(start, end);
    const symbol: DocumentSymbol = {
      name: text.length > 200 ? `${text.slice(0, 200)}…` : text,
      detail: kind === 'kernel' ? 'kernel descriptor' : 'metadata',
      kind: SymbolKind.Object,
      range: document.range(start, (scan.statements[close] as Statement).end),
      selectionRange: document.range(start, end),
    };
    symbols.push({ symbol, first: open, last: close, isFunction: false });
  }
  symbols.sort((a, b) => a.first - b.first);
  const top: DocumentSymbol[] = [];
  let current: (typeof symbols)[number] | undefined;
  for (const entry of symbols) {
    if (entry.isFunction) current = entry;
    else if (current !== undefined && entry.first > current.first && entry.last <= current.last) {
      current.symbol.children ??= [];
      current.symbol.children.push(entry.symbol);
      continue;
    }
    top.push(entry.symbol);
  }
  return top;
}

// ── folding ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Functions, descriptors, metadata, macros, repeats, conditions and comments of several lines. */
export function foldingRanges(document: SourceDocument): FoldingRange[] {
  const { scan, names } = document;
  const ranges: FoldingRange[] = [];
  const fold = (start: number, end: number, kind?: FoldingRangeKind): void => {
    const startLine = document.position(start).line;
    const endLine = document.position(end).line;
    if (endLine > startLine) ranges.push({ startLine, endLine, ...(kind === undefined ? {} : { kind }) });
  };
  for (const { open, close } of scan.blocks as readonly DirectiveBlock[]) {
    fold((scan.statements[open] as Statement).start, (scan.statements[close] as Statement).end);
  }
  for (const entity of names.entities.values()) {
    if (!entity.isFunction) continue;
    const { start } = scan.statements[entity.statement] as Statement;
    fold(start, (scan.statements[functionEnd(document, entity)] as Statement).end);
  }
  let run: { start: number; end: number } | undefined;
  for (const { start, end } of scan.comments) {
    if (run !== undefined && /^\r?\n[ \t]*$/.test(document.text.slice(run.end, start))) run.end = end;
    else {
      if (run !== undefined) fold(run.start, run.end, FoldingRangeKind.Comment);
      const lineStart = document.text.lastIndexOf('\n', start - 1) + 1;
      run =
        /^[ \t]*$/.test(document.text.slice(lineStart, start)) || document.text.startsWith('/*', start)
          ? { start, end }
          : undefined;
    }
  }
  if (run !== undefined) fold(run.start, run.end, FoldingRangeKind.Comment);
  return ranges.sort((a, b) => a.startLine - b.startLine || b.endLine - a.endLine);
}
