// Room `mlir`: MLIR text as a tree that knows where each part stands, and edits of that text. It reads operations of any dialect by
// their form and checks nothing of what they mean.
// Begin with this file; lex.ts makes its tokens, attribute.ts reads the values in attribute dictionaries.
//
// The structure of an MLIR text: operations with their regions and attribute dictionaries, aliases, resources, as token ranges.
// Operations of unknown dialects in their pretty form are understood by where they begin and by their brackets.
// Source: MLIR language reference, "Operations", "Regions", "Attribute value aliases".
import { lineAndColumn, mlirError, stringText, TokenKind, type Tokens, tokenize } from './lex.ts';

/** A value an operation defines; `count` is N of `%x:N`. */
export interface ResultName {
  /** With the percent sign. */
  readonly name: string;
  readonly count: number;
}

/** One operation; token positions are indices into the document's tokens, `last` is exclusive. */
export interface Operation {
  readonly name: string;
  /** True for `"dialect.op"(…)`. */
  readonly generic: boolean;
  readonly results: readonly ResultName[];
  readonly first: number;
  readonly nameToken: number;
  readonly last: number;
  readonly regions: readonly Region[];
  /** The `{` of each attribute dictionary outside regions, in order (`<{…}>` properties included). */
  readonly dictionaries: readonly number[];
}

/** A region: the braces' tokens, the blocks' operations in order. */
export interface Region {
  readonly open: number;
  readonly close: number;
  readonly operations: readonly Operation[];
  /** Tokens of the block labels, in order. */
  readonly labels: readonly number[];
}

/** `#name = …` or `!name = …`; the value's tokens. */
export interface Alias {
  /** With `#` or `!`. */
  readonly name: string;
  readonly first: number;
  readonly valueFirst: number;
  readonly last: number;
}

/** A parsed text. */
export interface Document {
  readonly text: string;
  readonly file: string | undefined;
  readonly tokens: Tokens;
  /** The matching bracket of each bracket token, else -1. */
  readonly match: Int32Array;
  /** Top-level operations. */
  readonly operations: readonly Operation[];
  readonly aliases: ReadonlyMap<string, Alias>;
}

const MAX_DEPTH = 200;
/** Operations that print without their dialect inside functions and modules. */
const SHORT_NAMES = new Set([
  'module',
  'func',
  'return',
  'call',
  'call_indirect',
  'constant',
  'unrealized_conversion_cast',
]);
/** After these an identifier or string belongs to the operation that is being read. */
const CONTINUES = new Set(['=', ',', '->', '::', ':', '*', '+', '-', '|', '?', '<']);
/** Operations whose attributes always follow the word `attributes`: any other brace opens their body. */
const BODIED = new Set([
  'module',
  'builtin.module',
  'func',
  'func.func',
  'llvm.func',
  'gpu.func',
  'gpu.module',
  'util.func',
]);
const TERMINATOR = /\.(?:yield|return|terminator|end|unreachable)$/;

class Parser {
  readonly tokens: Tokens;
  readonly match: Int32Array;

  constructor(tokens: Tokens) {
    this.tokens = tokens;
    this.match = new Int32Array(tokens.count).fill(-1);
    this.matchBrackets();
  }

  text(token: number): string {
    const { text, starts, ends } = this.tokens;
    return text.slice(starts[token], ends[token]);
  }

  is(token: number, punctuation: string): boolean {
    const { text, kinds, starts, ends } = this.tokens;
    return (
      token < this.tokens.count &&
      kinds[token] === TokenKind.Punct &&
      ends[token] - starts[token] === punctuation.length &&
      text.startsWith(punctuation, starts[token])
    );
  }

  private matchBrackets(): void {
    const { tokens, match } = this;
    const stack: number[] = [];
    const closes: Record<string, string> = { ')': '(', ']': '[', '}': '{', '#-}': '{-#' };
    for (let token = 0; token < tokens.count; token++) {
      if (tokens.kinds[token] !== TokenKind.Punct) continue;
      const text = this.text(token);
      if (text === '(' || text === '[' || text === '{' || text === '{-#' || text === '<') stack.push(token);
      else if (text === '>') {
        const top = stack.at(-1);
        if (top !== undefined && this.is(top, '<')) this.pair(stack.pop() as number, token);
      } else if (text in closes) {
        // `<` is no bracket everywhere: one without its `>` is dropped.
        while (stack.length > 0 && this.is(stack[stack.length - 1], '<')) stack.pop();
        const open = stack.pop();
        if (open === undefined || this.text(open) !== closes[text]) {
          throw this.error(token, 'mlir/unbalanced', `This '${text}' closes nothing.`);
        }
        this.pair(open, token);
      }
      if (stack.length > MAX_DEPTH) {
        throw this.error(token, 'mlir/too-deep', `Brackets are nested deeper than ${MAX_DEPTH} levels.`);
      }
    }
    const open = stack.findLast((token) => !this.is(token, '<'));
    if (open !== undefined) {
      throw this.error(
        open,
        'mlir/unbalanced',
        `This '${this.text(open)}' is never closed.`,
        'The text is cut off or damaged.',
      );
    }
    match.fill(-1, tokens.count);
  }

  private pair(open: number, close: number): void {
    this.match[open] = close;
    this.match[close] = open;
  }

  error(token: number, code: string, message: string, hint?: string): Error {
    return mlirError(this.tokens, this.tokens.starts[token], code, message, hint);
  }

  /** The token after `token` and, for an opening bracket, after what it encloses. */
  after(token: number): number {
    return this.match[token] > token ? this.match[token] + 1 : token + 1;
  }

  /** For `%a, %b:2 = name`: the position of the name, else -1. */
  private resultsEnd(first: number): number {
    const { kinds } = this.tokens;
    for (let at = first; ; ) {
      if (kinds[at] !== TokenKind.Value) return -1;
      at++;
      if (this.is(at, ':') && kinds[at + 1] === TokenKind.Integer) at += 2;
      if (this.is(at, '=')) return kinds[at + 1] === TokenKind.Identifier || this.isGenericName(at + 1) ? at + 1 : -1;
      if (!this.is(at, ',')) return -1;
      at++;
    }
  }

  private isGenericName(token: number): boolean {
    return this.tokens.kinds[token] === TokenKind.String && this.is(token + 1, '(');
  }

  private startsLine(token: number): boolean {
    const { text, starts, ends } = this.tokens;
    return token === 0 || text.slice(ends[token - 1], starts[token]).includes('\n');
  }

  /** True when an operation begins here; `fresh` when nothing before it can continue. */
  private startsOperation(token: number, fresh: boolean): boolean {
    const kind = this.tokens.kinds[token];
    // Values after a comma are operands of what is being read.
    if (kind === TokenKind.Value) return (fresh || !this.is(token - 1, ',')) && this.resultsEnd(token) >= 0;
    if (kind !== TokenKind.Identifier && kind !== TokenKind.String) return false;
    if (!fresh && this.tokens.kinds[token - 1] === TokenKind.Punct && CONTINUES.has(this.text(token - 1))) return false;
    if (kind === TokenKind.String) return this.isGenericName(token);
    const name = this.text(token);
    if (SHORT_NAMES.has(name)) return fresh || name === 'return' || this.startsLine(token);
    return name.includes('.') && (fresh || this.startsLine(token) || this.is(token - 1, '}'));
  }

  private isLabel(token: number): boolean {
    if (this.tokens.kinds[token] !== TokenKind.Block) return false;
    if (this.is(token - 1, ',') || this.is(token - 1, '[')) return false;
    return this.is(token + 1, ':') || (this.is(token + 1, '(') && this.is(this.match[token + 1] + 1, ':'));
  }

  private startsAlias(token: number): boolean {
    const kind = this.tokens.kinds[token];
    return (kind === TokenKind.Hash || kind === TokenKind.Bang) && this.is(token + 1, '=');
  }

  /** An alias behind an operation is on a line of its own; `: !util.buffer = #bytes` is an operation's type and value. */
  private startsAliasLine(token: number): boolean {
    return this.startsLine(token) && this.startsAlias(token);
  }

  /** Reads the operation at `first`; `limit` is the end of its surroundings. Returns undefined when it is none. */
  private operation(first: number, limit: number, depth: number): Operation | undefined {
    const { kinds } = this.tokens;
    const results: ResultName[] = [];
    let nameToken = first;
    if (kinds[first] === TokenKind.Value) {
      nameToken = this.resultsEnd(first);
      for (let at = first; at < nameToken - 1; at++) {
        if (kinds[at] !== TokenKind.Value) continue;
        const count = this.is(at + 1, ':') ? Number(this.text(at + 2)) : 1;
        results.push({ name: this.text(at), count });
      }
    }
    const generic = kinds[nameToken] === TokenKind.String;
    const name = generic ? stringText(this.text(nameToken)) : this.text(nameToken);
    const regions: Region[] = [];
    const dictionaries: number[] = [];
    let at = nameToken + 1;
    while (at < limit && !this.startsOperation(at, false) && !this.isLabel(at) && !this.startsAliasLine(at)) {
      if (this.is(at, '{-#')) break;
      const strict = name === 'module' || name === 'builtin.module';
      const bodied = !generic && BODIED.has(name) && this.text(at - 1) !== 'attributes';
      if (this.is(at, '{')) this.brace(at, depth, { strict, bodied }, regions, dictionaries);
      else if (this.is(at, '(') && this.is(at + 1, '{')) {
        const close = this.match[at];
        for (let inner = at + 1; inner < close; inner = this.after(inner)) {
          if (this.is(inner, '{')) this.brace(inner, depth, { strict, bodied: false }, regions, dictionaries);
        }
      } else if (this.is(at, '<') && this.is(at + 1, '{') && this.isDictionary(at + 1)) dictionaries.push(at + 1);
      at = this.after(at);
    }
    return { name, generic, results, first, nameToken, last: Math.min(at, limit), regions, dictionaries };
  }

  private brace(
    open: number,
    depth: number,
    { strict, bodied }: { readonly strict: boolean; readonly bodied: boolean },
    regions: Region[],
    dictionaries: number[],
  ): void {
    if (!bodied && this.isDictionary(open)) {
      dictionaries.push(open);
      return;
    }
    const region = this.region(open, depth + 1, strict);
    if (region !== undefined) regions.push(region);
  }

  /** True for `{name = value, …}`; `{}` counts as a region unless `attributes` or `<` comes before it. */
  isDictionary(open: number): boolean {
    const before = open > 0 ? this.text(open - 1) : '';
    if (before === 'attributes' || before === '<') return true;
    const kind = this.tokens.kinds[open + 1];
    if (kind !== TokenKind.Identifier && kind !== TokenKind.String) return false;
    if (this.is(open + 2, '=') || this.is(open + 2, ',')) return true;
    // One name alone: attributes stand on one line, an operation has its own.
    if (!this.is(open + 2, '}') || this.startsLine(open + 1)) return false;
    return !TERMINATOR.test(this.text(open + 1)) && this.text(open + 1) !== 'return';
  }

  /** Reads the operations between the braces; content that is not made of operations is undefined, or an error when `strict`. */
  private region(open: number, depth: number, strict: boolean): Region | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const close = this.match[open];
    const operations: Operation[] = [];
    const labels: number[] = [];
    for (let at = open + 1; at < close; ) {
      if (this.isLabel(at)) {
        labels.push(at);
        at = this.is(at + 1, ':') ? at + 2 : this.match[at + 1] + 2;
        continue;
      }
      if (!this.startsOperation(at, true)) {
        if (strict) throw this.unexpected(at);
        return undefined;
      }
      const operation = this.operation(at, close, depth);
      if (operation === undefined) return undefined;
      operations.push(operation);
      at = operation.last;
    }
    return { open, close, operations, labels };
  }

  private unexpected(token: number): Error {
    const shown = this.text(token).slice(0, 40);
    return this.error(token, 'mlir/unexpected', `An operation was expected here, not '${shown}'.`, 'Give MLIR text.');
  }

  document(): Document {
    const { tokens } = this;
    const end = tokens.count - 1;
    const operations: Operation[] = [];
    const aliases = new Map<string, Alias>();
    for (let at = 0; at < end; ) {
      if (this.is(at, '{-#')) {
        at = this.after(at);
      } else if (this.startsAlias(at)) {
        const first = at;
        at += 2;
        // Locations may be followed by nothing but the next definition.
        while (
          at < end &&
          !this.startsAlias(at) &&
          !this.is(at, '{-#') &&
          !(at > first + 2 && this.startsOperation(at, false))
        ) {
          at = this.after(at);
        }
        aliases.set(this.text(first), { name: this.text(first), first, valueFirst: first + 2, last: at });
      } else if (this.startsOperation(at, true)) {
        const operation = this.operation(at, end, 0);
        if (operation === undefined) break;
        operations.push(operation);
        at = operation.last;
      } else {
        throw this.unexpected(at);
      }
    }
    return { text: tokens.text, file: tokens.file, tokens, match: this.match, operations, aliases };
  }
}

/** Parses MLIR text; throws `mlir/…` with line and column. */
export function parseMlir(text: string, file?: string): Document {
  return new Parser(tokenize(text, file)).document();
}

/** The text of a token. */
export function tokenText(document: Document, token: number): string {
  const { text, tokens } = document;
  return text.slice(tokens.starts[token], tokens.ends[token]);
}

/** The text of tokens `first` to `last` (exclusive), with what is between them. */
export function rangeText(document: Document, first: number, last: number): string {
  if (last <= first) return '';
  const { text, tokens } = document;
  return text.slice(tokens.starts[first], tokens.ends[last - 1]);
}

/** True when a token is this punctuation. */
export function isPunct(document: Document, token: number, punctuation: string): boolean {
  return document.tokens.kinds[token] === TokenKind.Punct && tokenText(document, token) === punctuation;
}

/** Where an operation is, for errors. */
export function operationPosition(
  document: Document,
  operation: Operation,
): { file: string | undefined; line: number; column: number } {
  return { file: document.file, ...lineAndColumn(document.text, document.tokens.starts[operation.first]) };
}

/** All operations below (and including) the given ones, outer before inner, in text order. */
export function* walk(operations: readonly Operation[]): Generator<Operation> {
  for (const operation of operations) {
    yield operation;
    for (const region of operation.regions) yield* walk(region.operations);
  }
}

/** An operation's name with the dialect that its short form leaves out. */
export function fullName(operation: Operation): string {
  if (operation.name.includes('.')) return operation.name;
  return operation.name === 'module' || operation.name === 'unrealized_conversion_cast'
    ? `builtin.${operation.name}`
    : operation.name === 'func'
      ? 'func.func'
      : `func.${operation.name}`;
}

/** The symbol an operation defines, if it does: `@name` in the pretty form, `sym_name` in the generic one. */
export function symbolToken(document: Document, operation: Operation): number | undefined {
  for (let at = operation.nameToken + 1; at < operation.last; at++) {
    const kind = document.tokens.kinds[at];
    if (kind === TokenKind.Symbol) return at;
    if (kind === TokenKind.Punct) return undefined;
  }
  return undefined;
}
