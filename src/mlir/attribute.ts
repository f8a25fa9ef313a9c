// Attribute values of MLIR text as a tree that knows where each part stands in the text.
// Source: MLIR language reference, "Attributes"; builtin attributes; forms that are not told apart here stay text (`opaque`).
import { mlirError, stringText, TokenKind } from './lex.ts';
import { type Document, isPunct, rangeText, tokenText } from './parse.ts';

interface Range {
  /** Tokens of the value; `last` is exclusive. */
  readonly first: number;
  readonly last: number;
}

/** `name = value` of a dictionary; a name alone is a unit attribute. */
export interface DictionaryEntry extends Range {
  readonly name: string;
  readonly value: Attribute;
}

export type Attribute = Range &
  (
    | { readonly kind: 'unit' }
    | { readonly kind: 'dictionary'; readonly entries: readonly DictionaryEntry[] }
    | { readonly kind: 'array'; readonly items: readonly Attribute[] }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'boolean'; readonly value: boolean }
    /** `type` is the text after the colon. */
    | { readonly kind: 'integer'; readonly value: bigint; readonly type: string | undefined }
    | { readonly kind: 'float'; readonly value: number; readonly type: string | undefined }
    /** `@a::@b` as its parts, unquoted. */
    | { readonly kind: 'symbol'; readonly path: readonly string[] }
    /** `array<i64: 1, 2>`; floats and booleans stay text. */
    | { readonly kind: 'denseArray'; readonly element: string; readonly items: readonly string[] }
    /** `#dialect.name<…>`; `open` is the token of `<`, or -1 without a body. */
    | { readonly kind: 'dialect'; readonly name: string; readonly open: number }
    | { readonly kind: 'opaque' }
  );

/** Where the value that begins at `first` ends: at a `,` or closing bracket outside brackets, or at `limit`. */
function valueEnd(document: Document, first: number, limit: number): number {
  let at = first;
  while (at < limit && !isPunct(document, at, ',')) {
    const match = document.match[at];
    if (match >= 0 && match < at) break;
    at = match > at ? match + 1 : at + 1;
  }
  return Math.min(at, limit);
}

/** The text after `: ` of a number, when the value has a type. */
function typeAfter(document: Document, token: number, last: number): string | undefined {
  return token < last && isPunct(document, token, ':') ? rangeText(document, token + 1, last) : undefined;
}

/** The last name of a symbol token, unquoted. */
export function symbolName(text: string): string {
  return text.startsWith('@"') ? stringText(text.slice(1)) : text.slice(1);
}

/** Parses the value in tokens `first` to `limit`; aliases are replaced by what they stand for. */
export function parseAttribute(document: Document, first: number, limit: number, depth = 0): Attribute {
  const { kinds } = document.tokens;
  const last = valueEnd(document, first, limit);
  const opaque: Attribute = { kind: 'opaque', first, last };
  if (first >= last || depth > 64) return opaque;
  const text = tokenText(document, first);
  switch (kinds[first]) {
    case TokenKind.String:
      return last === first + 1 || isPunct(document, first + 1, ':')
        ? { kind: 'string', value: text, first, last }
        : opaque;
    case TokenKind.Integer:
    case TokenKind.Float:
      return number(document, first, first, last, '');
    case TokenKind.Symbol: {
      const path: string[] = [];
      for (let at = first; at < last; at++) {
        if (kinds[at] === TokenKind.Symbol) path.push(symbolName(tokenText(document, at)));
        else if (!isPunct(document, at, '::')) return opaque;
      }
      return { kind: 'symbol', path, first, last };
    }
    case TokenKind.Hash: {
      const alias = document.aliases.get(text);
      if (alias !== undefined && last === first + 1) {
        return parseAttribute(document, alias.valueFirst, alias.last, depth + 1);
      }
      const open = first + 1 < last && isPunct(document, first + 1, '<') ? first + 1 : -1;
      return { kind: 'dialect', name: text.slice(1), open, first, last };
    }
    case TokenKind.Identifier:
      if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true', first, last };
      if (text === 'unit') return { kind: 'unit', first, last };
      if (text === 'array' && isPunct(document, first + 1, '<')) return denseArray(document, first, last) ?? opaque;
      return opaque;
    case TokenKind.Punct:
      if (text === '-' && (kinds[first + 1] === TokenKind.Integer || kinds[first + 1] === TokenKind.Float)) {
        return number(document, first, first + 1, last, '-');
      }
      if (text === '{') return { kind: 'dictionary', entries: parseDictionary(document, first, depth), first, last };
      if (text === '[') return { kind: 'array', items: parseList(document, first, depth), first, last };
      return opaque;
    default:
      return opaque;
  }
}

function number(document: Document, first: number, token: number, last: number, sign: string): Attribute {
  const text = tokenText(document, token);
  const type = typeAfter(document, token + 1, last);
  if (type === undefined && token + 1 !== last) return { kind: 'opaque', first, last };
  if (document.tokens.kinds[token] === TokenKind.Float) {
    return { kind: 'float', value: Number(sign + text), type, first, last };
  }
  const magnitude = BigInt(text);
  return { kind: 'integer', value: sign === '-' ? -magnitude : magnitude, type, first, last };
}

function denseArray(document: Document, first: number, last: number): Attribute | undefined {
  const close = document.match[first + 1];
  if (close < 0 || close + 1 !== last) return undefined;
  const element = tokenText(document, first + 2);
  const items: string[] = [];
  if (first + 3 === close) return { kind: 'denseArray', element, items, first, last };
  if (!isPunct(document, first + 3, ':')) return undefined;
  for (let at = first + 4; at < close; ) {
    const end = valueEnd(document, at, close);
    items.push(rangeText(document, at, end).replaceAll(/\s/g, ''));
    at = end + 1;
  }
  return { kind: 'denseArray', element, items, first, last };
}

/** The values of `[…]` (or of any bracketed list) whose opening bracket is `open`. */
export function parseList(document: Document, open: number, depth = 0): Attribute[] {
  const close = document.match[open];
  const items: Attribute[] = [];
  for (let at = open + 1; at < close; ) {
    const item = parseAttribute(document, at, close, depth + 1);
    items.push(item);
    // An alias' value lies elsewhere: where the list goes on is told by the text here.
    const end = valueEnd(document, at, close);
    if (end <= at && !isPunct(document, end, ',')) break;
    at = end + 1;
  }
  return items;
}

/** The entries of the dictionary whose `{` (or `<` of a `#dialect.attr<name = value, …>`) is `open`. */
export function parseDictionary(document: Document, open: number, depth = 0): DictionaryEntry[] {
  const { kinds, starts } = document.tokens;
  const close = document.match[open];
  const entries: DictionaryEntry[] = [];
  for (let at = open + 1; at < close; ) {
    const kind = kinds[at];
    if (kind !== TokenKind.Identifier && kind !== TokenKind.String) {
      const shown = tokenText(document, at).slice(0, 40);
      throw mlirError(document, starts[at], 'mlir/bad-dictionary', `An attribute's name was expected, not '${shown}'.`);
    }
    const text = tokenText(document, at);
    const name = kind === TokenKind.String ? stringText(text) : text;
    const end = valueEnd(document, at, close);
    if (isPunct(document, at + 1, '=')) {
      entries.push({ name, first: at, last: end, value: parseAttribute(document, at + 2, end, depth + 1) });
    } else if (end === at + 1) {
      entries.push({ name, first: at, last: end, value: { kind: 'unit', first: at, last: end } });
    } else {
      throw mlirError(
        document,
        starts[at + 1],
        'mlir/bad-dictionary',
        `'=' was expected after '${name.slice(0, 40)}'.`,
      );
    }
    at = end + 1;
  }
  return entries;
}

/** The value of `name` among entries. */
export function entryOf(entries: readonly DictionaryEntry[], name: string): Attribute | undefined {
  return entries.find((entry) => entry.name === name)?.value;
}
