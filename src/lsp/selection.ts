// Growing selections: word, operand, instruction, line, block of directives or function, file. And names of all open sources.
import type { DocumentSymbol, SelectionRange, SymbolInformation } from 'vscode-languageserver';
import { classify } from './classify.ts';
import type { SourceDocument } from './document.ts';
import { documentSymbols } from './symbols.ts';

/** The ranges around an offset, from the smallest to the whole text. */
export function selectionRange(document: SourceDocument, offset: number): SelectionRange {
  const { text, scan } = document;
  const spans: [number, number][] = [[0, text.length]];
  const add = (start: number, end: number): void => {
    const last = spans.at(-1) as [number, number];
    const isInside = last[0] <= start && end <= last[1] && (start > last[0] || end < last[1]);
    if (isInside && start <= offset && offset <= end) spans.push([start, end]);
  };
  const nest = (symbols: readonly DocumentSymbol[]): void => {
    for (const { range, children } of symbols) {
      add(document.offset(range.start), document.offset(range.end));
      nest(children ?? []);
    }
  };
  nest(documentSymbols(document));
  for (const { open, close } of scan.blocks) {
    const [first, last] = [scan.statements[open], scan.statements[close]];
    if (first !== undefined && last !== undefined) add(first.start, last.end);
  }
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  add(line, line + text.slice(line).search(/\r?\n|$/));
  const statement = document.statementAt(offset)?.statement;
  if (statement !== undefined) {
    add(statement.start, statement.end);
    if (statement.head >= 0) add(scan.start(statement.head), statement.end);
    for (const piece of classify(document, statement)) add(piece.start, piece.end);
    const token = scan.tokenAt(statement, offset);
    if (token >= 0) add(scan.start(token), scan.end(token));
  }
  let range: SelectionRange | undefined;
  for (const [start, end] of spans) range = { range: document.range(start, end), ...(range && { parent: range }) };
  return range as SelectionRange;
}

/** The functions, kernels, macros and symbols of several sources whose names have the letters of a query, in their order. */
export function workspaceSymbols(documents: readonly SourceDocument[], query: string): SymbolInformation[] {
  const letters = query.toLowerCase();
  const isMatch = (name: string): boolean => {
    let at = 0;
    for (const letter of name.toLowerCase()) if (letter === letters[at]) at++;
    return at === letters.length;
  };
  return documents.flatMap((document) => {
    const list = (symbols: readonly DocumentSymbol[], container?: string): SymbolInformation[] =>
      symbols.flatMap(({ name, kind, selectionRange: range, children }) => {
        const one = { name, kind, location: { uri: document.uri, range } };
        const own = container === undefined ? one : { ...one, containerName: container };
        return [...(isMatch(name) ? [own] : []), ...list(children ?? [], name)];
      });
    return list(documentSymbols(document));
  });
}
