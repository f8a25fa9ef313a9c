// Semantic colours: standard token types, so that any theme has colours for them; the register file is a modifier.
// Source: LSP 3.18, "Semantic Tokens" (relative encoding, five numbers a token).
import type { Range, SemanticTokensLegend } from 'vscode-languageserver';
import { classify, type TokenClass } from './classify.ts';
import type { SourceDocument } from './document.ts';
import { registerFile } from './registers.ts';

const TYPES = [
  'keyword',
  'decorator',
  'macro',
  'label',
  'function',
  'variable',
  'parameter',
  'property',
  'number',
  'string',
  'operator',
  'comment',
] as const;
const MODIFIERS = ['declaration', 'readonly', 'vgpr', 'agpr', 'sgpr', 'special'] as const;

export const SEMANTIC_LEGEND: SemanticTokensLegend = { tokenTypes: [...TYPES], tokenModifiers: [...MODIFIERS] };

const TYPE_OF: Readonly<Record<TokenClass, (typeof TYPES)[number]>> = {
  mnemonic: 'keyword',
  directive: 'decorator',
  macro: 'macro',
  label: 'label',
  function: 'function',
  symbol: 'variable',
  parameter: 'parameter',
  register: 'variable',
  modifier: 'property',
  number: 'number',
  string: 'string',
  operator: 'operator',
  key: 'property',
};

const FILE_MODIFIER = { v: 'vgpr', a: 'agpr', s: 'sgpr', ttmp: 'special', special: 'special' } as const;

const bit = (name: (typeof MODIFIERS)[number]): number => 1 << MODIFIERS.indexOf(name);

/** The colours of a source or of a range of it, in the protocol's relative encoding. */
export function semanticTokens(document: SourceDocument, range?: Range): number[] {
  const { scan, text } = document;
  const from = range === undefined ? 0 : document.offset(range.start);
  const to = range === undefined ? text.length : document.offset(range.end);
  const encoder = new Encoder(document);
  let comment = 0;
  const comments = (before: number): void => {
    for (; comment < scan.comments.length; comment++) {
      const { start, end } = scan.comments[comment] as (typeof scan.comments)[number];
      if (start >= before) return;
      if (end > from && start < to) encoder.add(start, end, 'comment', 0);
    }
  };
  for (let i = Math.max(0, scan.statementBefore(from)); i < scan.statements.length; i++) {
    const statement = scan.statements[i] as (typeof scan.statements)[number];
    if (statement.start >= to) break;
    for (const piece of classify(document, statement)) {
      comments(piece.start);
      let modifiers = piece.isDefinition ? bit('declaration') : 0;
      if (piece.type === 'symbol') modifiers |= bit('readonly');
      if (piece.type === 'register') {
        const file = registerFile(text.slice(piece.start, piece.end));
        modifiers |= bit(FILE_MODIFIER[file ?? 'special']);
      }
      encoder.add(piece.start, piece.end, TYPE_OF[piece.type], modifiers);
    }
  }
  comments(to);
  return encoder.data;
}

/** Writes tokens in order; those over several lines are cut at the line ends. */
class Encoder {
  readonly data: number[] = [];
  private readonly document: SourceDocument;
  private line = 0;
  private character = 0;
  private covered = 0;

  constructor(document: SourceDocument) {
    this.document = document;
  }

  add(start: number, end: number, type: (typeof TYPES)[number], modifiers: number): void {
    if (start < this.covered) return;
    this.covered = end;
    const { text } = this.document;
    for (let at = start; at < end; ) {
      const cut = text.slice(at, end).search(/[\r\n]/);
      const stop = cut < 0 ? end : at + cut;
      if (stop > at) this.push(at, stop - at, TYPES.indexOf(type), modifiers);
      at = stop;
      while (at < end && /[\r\n]/.test(text.charAt(at))) at++;
    }
  }

  private push(start: number, length: number, type: number, modifiers: number): void {
    const { line, character } = this.document.position(start);
    const delta = line - this.line;
    this.data.push(delta, delta === 0 ? character - this.character : character, length, type, modifiers);
    this.line = line;
    this.character = character;
  }
}
