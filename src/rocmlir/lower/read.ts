// Reading one `migraphx` operation (or `func.return`) in any of its written forms: operands, attributes, types.
// Source: rocMLIR's MIGraphX.td: `op %a, %b {…} : A, B -> R`, with parentheses in older releases, and MLIR's generic form.
import { WavesmithError } from '../../base/index.ts';
import { type Attribute, type DictionaryEntry, parseDictionary } from '../../mlir/attribute.ts';
import { mlirError, TokenKind } from '../../mlir/lex.ts';
import { type Document, isPunct, type Operation, operationPosition, rangeText, tokenText } from '../../mlir/parse.ts';
import { parseTensorType, type TensorType } from './types.ts';

/** An operation with what the lowering needs to know of it. */
export interface ReadOperation {
  readonly operation: Operation;
  readonly name: string;
  /** With the percent sign (and `#N` for one of several results). */
  readonly operands: readonly string[];
  readonly results: readonly string[];
  readonly attributes: readonly DictionaryEntry[];
  readonly resultTypes: readonly TensorType[];
  /** What stands in `migraphx.literal (…)`. */
  readonly literal: Attribute | undefined;
}

/** A `rocmlir/…` error at an operation. */
export function operationError(
  document: Document,
  operation: Operation,
  code: string,
  message: string,
  hint?: string,
): WavesmithError {
  return new WavesmithError(code, message, { ...operationPosition(document, operation), hint });
}

/** The type's text with an alias replaced by what it stands for. */
function typeText(document: Document, first: number, last: number): string {
  const alias = last === first + 1 ? document.aliases.get(tokenText(document, first)) : undefined;
  return alias === undefined ? rangeText(document, first, last) : rangeText(document, alias.valueFirst, alias.last);
}

/** Parses the type in tokens `first` to `last`. */
export function readType(document: Document, first: number, last: number): TensorType {
  return parseTensorType(document, typeText(document, first, last), document.tokens.starts[first]);
}

/** Splits tokens at commas outside brackets. */
export function splitAtCommas(document: Document, first: number, last: number): [number, number][] {
  const parts: [number, number][] = [];
  let start = first;
  for (let at = first; at < last; ) {
    if (isPunct(document, at, ',')) {
      parts.push([start, at]);
      start = at + 1;
    }
    at = document.match[at] > at ? document.match[at] + 1 : at + 1;
  }
  if (start < last) parts.push([start, last]);
  return parts;
}

/** The types in `A, B` or `(A, B)`. */
function typeList(document: Document, first: number, last: number): TensorType[] {
  const wrapped = isPunct(document, first, '(') && document.match[first] === last - 1;
  const [from, to] = wrapped ? [first + 1, last - 1] : [first, last];
  return splitAtCommas(document, from, to).map(([a, b]) => readType(document, a, b));
}

/** Where a trailing `loc(…)` begins, else the operation's end. */
function withoutLocation(document: Document, operation: Operation): number {
  for (let at = operation.nameToken + 1; at < operation.last; ) {
    const isLocation = document.tokens.kinds[at] === TokenKind.Identifier && tokenText(document, at) === 'loc';
    if (isLocation && isPunct(document, at + 1, '(')) return at;
    at = document.match[at] > at ? document.match[at] + 1 : at + 1;
  }
  return operation.last;
}

/** Reads an operation whose results are tensors; the operands are names, whose types their definitions tell. */
export function readOperation(document: Document, operation: Operation): ReadOperation {
  const { kinds } = document.tokens;
  const last = withoutLocation(document, operation);
  const operands: string[] = [];
  let literal: Attribute | undefined;
  let colon = -1;
  for (let at = operation.nameToken + 1; at < last && colon < 0; ) {
    if (isPunct(document, at, ':')) colon = at;
    else if (isPunct(document, at, '(') && !isPunct(document, at + 1, '{')) {
      // `%x#1` is a value and a number.
      const close = document.match[at];
      readOperands(document, at + 1, close, operands);
      if (operation.name === 'migraphx.literal' && close > at + 1 && kinds[at + 1] !== TokenKind.Value) {
        literal = { kind: 'opaque', first: at + 1, last: close };
      }
    } else if (kinds[at] === TokenKind.Value) readOperands(document, at, at + 1, operands);
    at = document.match[at] > at ? document.match[at] + 1 : at + 1;
  }
  const attributes = operation.dictionaries.flatMap((open) => parseDictionary(document, open));
  let resultTypes: TensorType[] = [];
  if (colon >= 0 && operation.results.length > 0) {
    let first = colon + 1;
    for (let at = colon + 1; at < last; at = document.match[at] > at ? document.match[at] + 1 : at + 1) {
      const isTo = kinds[at] === TokenKind.Identifier && tokenText(document, at) === 'to';
      if (isPunct(document, at, '->') || isTo) first = at + 1;
    }
    resultTypes = typeList(document, first, last);
  }
  if (operation.results.length !== resultTypes.length) {
    throw operationError(
      document,
      operation,
      'rocmlir/malformed',
      `${operation.name} defines ${operation.results.length} value(s) but lists ${resultTypes.length} result type(s).`,
    );
  }
  return {
    operation,
    name: operation.name,
    operands,
    results: operation.results.map((result) => result.name),
    attributes,
    resultTypes,
    literal,
  };
}

function readOperands(document: Document, first: number, last: number, operands: string[]): void {
  for (let at = first; at < last; at++) {
    if (document.tokens.kinds[at] === TokenKind.Value) operands.push(tokenText(document, at));
  }
}

/** A function's parts. */
export interface FunctionParts {
  readonly operation: Operation;
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly type: TensorType; readonly attributes: string }[];
  readonly results: readonly TensorType[];
  /** Tokens of `(arguments)` and of what follows up to `attributes` or the body. */
  readonly signatureFirst: number;
  readonly signatureLast: number;
}

/** Where the parts of a `func.func` in its pretty form stand. */
export interface FunctionHeader {
  /** Tokens of the symbol, and of the word `private` where the function has it. */
  readonly symbol: number;
  readonly privateToken: number | undefined;
  /** The parentheses of the arguments. */
  readonly open: number;
  readonly close: number;
  readonly arguments: readonly (readonly [number, number])[];
  readonly results: readonly (readonly [number, number])[];
  /** Where the results end. */
  readonly end: number;
}

/** The parts of a function's header; undefined in the generic form or without an argument list. */
export function functionHeader(document: Document, operation: Operation): FunctionHeader | undefined {
  if (operation.generic) return undefined;
  const { kinds } = document.tokens;
  let symbol = operation.nameToken + 1;
  let privateToken: number | undefined;
  for (; symbol < operation.last && kinds[symbol] !== TokenKind.Symbol; symbol++) {
    if (tokenText(document, symbol) === 'private') privateToken = symbol;
  }
  const open = symbol + 1;
  if (open >= operation.last || !isPunct(document, open, '(')) return undefined;
  const close = document.match[open];
  let end = close + 1;
  let results: [number, number][] = [];
  if (isPunct(document, close + 1, '->')) {
    const body = operation.regions[0];
    const isEnd = (token: number): boolean =>
      token >= operation.last || token === body?.open || tokenText(document, token) === 'attributes';
    for (end = close + 2; !isEnd(end); ) end = document.match[end] > end ? document.match[end] + 1 : end + 1;
    const wrapped = isPunct(document, close + 2, '(') && document.match[close + 2] === end - 1;
    results = wrapped ? splitAtCommas(document, close + 3, end - 1) : splitAtCommas(document, close + 2, end);
  }
  return {
    symbol,
    privateToken,
    open,
    close,
    arguments: splitAtCommas(document, open + 1, close),
    results,
    end,
  };
}

/** Reads a `func.func` in its pretty form. */
export function readFunction(document: Document, operation: Operation): FunctionParts {
  const malformed = (message: string, hint?: string): WavesmithError =>
    operationError(document, operation, 'rocmlir/malformed', message, hint);
  if (operation.generic) {
    throw malformed(
      'A function in the generic form cannot be lowered.',
      'Print the module without --mlir-print-op-generic.',
    );
  }
  const header = functionHeader(document, operation);
  if (header === undefined) throw malformed('The function has no argument list.');
  /** A type ends where its attributes begin. */
  const typeEnd = (first: number, last: number): number => {
    let end = first;
    while (end < last && !isPunct(document, end, '{'))
      end = document.match[end] > end ? document.match[end] + 1 : end + 1;
    return end;
  };
  const args = header.arguments.map(([first, last]) => {
    if (document.tokens.kinds[first] !== TokenKind.Value || !isPunct(document, first + 1, ':')) {
      throw malformed('A function without a body cannot be lowered.', 'Give the function that holds the operations.');
    }
    const end = typeEnd(first + 2, last);
    return {
      name: tokenText(document, first),
      type: readType(document, first + 2, end),
      attributes: end < last ? ` ${rangeText(document, end, document.match[end] + 1)}` : '',
    };
  });
  const results = header.results.map(([first, last]) => readType(document, first, typeEnd(first, last)));
  const symbol = tokenText(document, header.symbol);
  const name = symbol.startsWith('@"') ? symbol.slice(2, -1) : symbol.slice(1);
  return { operation, name, arguments: args, results, signatureFirst: header.open, signatureLast: header.end };
}

/** `[1, 2]` or `array<i64: 1, 2>` as numbers. */
export function integerList(document: Document, read: ReadOperation, name: string): number[] {
  const value = read.attributes.find((entry) => entry.name === name)?.value;
  const numbers =
    value?.kind === 'array'
      ? value.items.map((item) => (item.kind === 'integer' ? Number(item.value) : Number.NaN))
      : value?.kind === 'denseArray'
        ? value.items.map(Number)
        : undefined;
  if (numbers?.every(Number.isSafeInteger)) return numbers;
  throw operationError(
    document,
    read.operation,
    'rocmlir/missing-attribute',
    `${read.name} needs the attribute '${name}', a list of integers${value === undefined ? '' : ', not what it has'}.`,
  );
}

/** An integer attribute; `fallback` when it is absent. */
export function integerAttribute(document: Document, read: ReadOperation, name: string, fallback?: number): number {
  const value = read.attributes.find((entry) => entry.name === name)?.value;
  if (value?.kind === 'integer') return Number(value.value);
  if (value === undefined && fallback !== undefined) return fallback;
  throw operationError(
    document,
    read.operation,
    'rocmlir/missing-attribute',
    `${read.name} needs the integer attribute '${name}'.`,
  );
}

/** A `mlirError` at a token. */
export function tokenError(document: Document, token: number, code: string, message: string, hint?: string): Error {
  return mlirError(document, document.tokens.starts[token], code, message, hint);
}
