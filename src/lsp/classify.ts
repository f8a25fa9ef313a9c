// What each token of a statement is: one walk that semantic colours and hover share.
import { Tok } from '../isa/text/lexer.ts';
import type { SourceDocument } from './document.ts';
import { isModifier } from './operand-docs.ts';
import { registerFile } from './registers.ts';
import type { Statement } from './scan.ts';

export type TokenClass =
  | 'mnemonic'
  | 'directive'
  | 'macro'
  | 'label'
  | 'function'
  | 'symbol'
  | 'parameter'
  | 'register'
  | 'modifier'
  | 'number'
  | 'string'
  | 'operator'
  | 'key';

/** A classified piece of a statement; register tuples are one piece. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly type: TokenClass;
  readonly isDefinition: boolean;
}

/** The pieces of a statement in order; punctuation and unknown words are left out. */
export function classify(document: SourceDocument, statement: Statement): Piece[] {
  if (statement.region === 'metadata' && !document.scan.headText(statement).startsWith('.amdgpu_metadata')) {
    if (document.scan.headText(statement) !== '.end_amdgpu_metadata') return metadataPieces(document, statement);
  }
  const { scan } = document;
  const pieces: Piece[] = [];
  const end = statement.first + statement.count;
  const head = scan.headText(statement);
  const add = (start: number, stop: number, type: TokenClass, isDefinition = false): void => {
    pieces.push({ start, end: stop, type, isDefinition });
  };
  for (let token = statement.first; token < end; token++) {
    const start = scan.start(token);
    const stop = scan.end(token);
    const kind = scan.kind(token);
    const name = nameAt(document, start, stop);
    if (token === statement.head && kind === Tok.Identifier) {
      if (name === undefined) add(start, stop, head.length > 1 && head.startsWith('.') ? 'directive' : 'mnemonic');
      else add(name.start, name.end, name.type, name.isDefinition);
      continue;
    }
    if (name !== undefined && kind !== Tok.String) {
      add(name.start, name.end, name.type, name.isDefinition);
      continue;
    }
    switch (kind) {
      case Tok.Identifier: {
        const tuple = tupleEnd(document, statement, token);
        if (tuple >= 0) {
          add(start, scan.end(tuple), 'register');
          token = tuple;
        } else {
          const text = scan.tokenText(token);
          if (head.startsWith('.')) {
            if (/^@/.test(text)) add(start, stop, 'modifier');
          } else if (isModifier(text) && !(text === 'scc' && scan.kind(token - 1) === Tok.Comma))
            add(start, stop, 'modifier');
          else if (registerFile(text) !== undefined) add(start, stop, 'register');
          else if (/^(?:HW_REG|MSG|GS_OP|SYSMSG|BUF_|BYTE_|WORD_|DWORD|UNUSED_)/.test(text))
            add(start, stop, 'modifier');
          else if (scan.kind(token + 1) === Tok.Colon && token + 1 < end) add(start, stop, 'modifier');
        }
        break;
      }
      case Tok.Integer:
      case Tok.BigNum:
      case Tok.Real:
        add(start, stop, 'number');
        break;
      case Tok.String:
        add(start, stop, 'string');
        break;
      case Tok.Plus:
      case Tok.Minus:
      case Tok.Star:
      case Tok.Slash:
      case Tok.Percent:
      case Tok.Pipe:
      case Tok.Amp:
      case Tok.Caret:
      case Tok.Tilde:
      case Tok.LessLess:
      case Tok.GreaterGreater:
      case Tok.Equal:
        add(start, stop, 'operator');
        break;
      default:
        break;
    }
  }
  return pieces;
}

function nameAt(document: SourceDocument, start: number, end: number): Piece | undefined {
  const found = document.names.at(start);
  if (found === undefined || found.start !== start || found.end > end) return undefined;
  const { entity, isDefinition } = found;
  const type: TokenClass =
    entity.kind === 'macro' || entity.kind === 'parameter' || entity.kind === 'symbol'
      ? entity.kind
      : entity.isFunction
        ? 'function'
        : 'label';
  return { start, end: found.end, type, isDefinition };
}

/** The token of the closing bracket when a register tuple `v[0:3]` starts at a token; -1 otherwise. */
export function tupleEnd(document: SourceDocument, statement: Statement, token: number): number {
  const { scan } = document;
  if (!/^(?:v|a|s|ttmp)$/.test(scan.tokenText(token)) || scan.kind(token + 1) !== Tok.LBrac) return -1;
  const end = statement.first + statement.count;
  for (let at = token + 2; at < Math.min(end, token + 16); at++) if (scan.kind(at) === Tok.RBrac) return at;
  return -1;
}

/** Keys, strings and numbers of a line of YAML. */
function metadataPieces(document: SourceDocument, statement: Statement): Piece[] {
  const pieces: Piece[] = [];
  const text = document.text.slice(statement.start, statement.end);
  for (const match of text.matchAll(/(\.?[A-Za-z_][\w.]*)(?=:(?:\s|$))|('[^']*'|"[^"]*")|\b(0x[0-9a-fA-F]+|\d+)\b/g)) {
    const start = statement.start + match.index;
    const type = match[1] !== undefined ? 'key' : match[2] !== undefined ? 'string' : 'number';
    pieces.push({ start, end: start + match[0].length, type, isDefinition: false });
  }
  return pieces;
}
