// The tokenizer of MLIR text: every token is a range of the source, nothing is normalised.
// Source: MLIR language reference, "Notation"; mlir/lib/AsmParser/Lexer.cpp for what a string, number and identifier may hold.
import { WavesmithError } from '../base/index.ts';

/** What a token is. `punct` covers brackets and operators; `hash` and `bang` are `#name` and `!name`. */
export enum TokenKind {
  Identifier,
  Integer,
  Float,
  String,
  /** `%name` */
  Value,
  /** `^name` */
  Block,
  /** `@name` or `@"name"` */
  Symbol,
  /** `#name` */
  Hash,
  /** `!name` */
  Bang,
  Punct,
  End,
}

/** The tokens of one text, as parallel arrays. The last token is `End`, at the end of the text. */
export interface Tokens {
  readonly text: string;
  readonly file: string | undefined;
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Modules above this size are refused: weights belong into function arguments, not into the text. */
export const MAX_MODULE_BYTES = 64 << 20;

/** Decodes a module's bytes strictly; every byte is kept (also a byte order mark). */
export function decodeModule(bytes: Uint8Array, file?: string): string {
  if (bytes.length > MAX_MODULE_BYTES) {
    throw new WavesmithError(
      'mlir/too-large',
      `The module is ${bytes.length} bytes; at most ${MAX_MODULE_BYTES} are read.`,
      { file, hint: 'Pass weights as function arguments instead of constants in the text.' },
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const byteOffset = firstInvalidByte(bytes);
    throw new WavesmithError('mlir/invalid-utf8', `The module is not UTF-8 text: byte ${byteOffset} is invalid.`, {
      file,
      byteOffset,
      hint: 'Give MLIR text; bytecode can be turned into text with mlir-opt.',
    });
  }
}

function firstInvalidByte(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length];
  const decoder = (size: number) =>
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, size), { stream: true });
  while (good < bad) {
    const middle = (good + bad) >> 1;
    try {
      decoder(middle + 1);
      good = middle + 1;
    } catch {
      bad = middle;
    }
  }
  return good;
}

/** Line and column (from 1) of an offset. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

/** A `mlir/…` error at an offset of the text. */
export function mlirError(
  source: { readonly text: string; readonly file: string | undefined },
  offset: number,
  code: string,
  message: string,
  hint?: string,
): WavesmithError {
  return new WavesmithError(code, message, { file: source.file, ...lineAndColumn(source.text, offset), hint });
}

const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isHex = (c: number): boolean => isDigit(c) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102);
const isLetter = (c: number): boolean => (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
/** Letters, digits, `_`, `$`, `.`: what follows the first character of a bare identifier. */
const isNamePart = (c: number): boolean => isLetter(c) || isDigit(c) || c === 95 || c === 36 || c === 46;
const isSuffixPart = (c: number): boolean => isNamePart(c) || c === 45;

/** What needs no look inside a string: weights are strings of many megabytes. */
const PLAIN = /[^"\\\n\v\f]*/y;

class Lexer {
  private kinds = new Uint8Array(1024);
  private starts = new Int32Array(1024);
  private ends = new Int32Array(1024);
  private count = 0;
  private readonly text: string;
  private readonly file: string | undefined;

  constructor(text: string, file: string | undefined) {
    this.text = text;
    this.file = file;
  }

  private push(kind: TokenKind, start: number, end: number): void {
    if (this.count === this.kinds.length) {
      const grow = <T extends Uint8Array | Int32Array>(old: T, bigger: T): T => {
        bigger.set(old);
        return bigger;
      };
      const size = this.count * 2;
      this.kinds = grow(this.kinds, new Uint8Array(size));
      this.starts = grow(this.starts, new Int32Array(size));
      this.ends = grow(this.ends, new Int32Array(size));
    }
    this.kinds[this.count] = kind;
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }

  private bad(at: number, message: string): WavesmithError {
    return mlirError(
      { text: this.text, file: this.file },
      at,
      'mlir/bad-token',
      message,
      'The file is not MLIR text, or is damaged.',
    );
  }

  run(): Tokens {
    const { text } = this;
    let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
    for (;;) {
      at = this.skipBlank(at);
      if (at >= text.length) break;
      at = this.token(at);
    }
    this.push(TokenKind.End, text.length, text.length);
    const { count, file } = this;
    return { text, file, count, kinds: this.kinds, starts: this.starts, ends: this.ends };
  }

  private skipBlank(start: number): number {
    const { text } = this;
    let at = start;
    for (;;) {
      const c = text.charCodeAt(at);
      if (c === 32 || c === 9 || c === 10 || c === 13) at++;
      else if (c === 47 && text.charCodeAt(at + 1) === 47) {
        const end = text.indexOf('\n', at);
        at = end < 0 ? text.length : end + 1;
      } else return at;
    }
  }

  /** Reads the token at `at`; returns where it ends. */
  private token(at: number): number {
    const c = this.text.charCodeAt(at);
    if (isLetter(c) || c === 95) return this.name(TokenKind.Identifier, at, at + 1);
    if (isDigit(c)) return this.number(at);
    switch (c) {
      case 34:
        return this.string(TokenKind.String, at, at);
      case 37:
        return this.suffix(TokenKind.Value, at);
      case 94:
        return this.suffix(TokenKind.Block, at);
      case 64:
        if (this.text.charCodeAt(at + 1) === 34) return this.string(TokenKind.Symbol, at, at + 1);
        return this.suffix(TokenKind.Symbol, at);
      case 35:
        if (this.text.startsWith('#-}', at)) return this.punct(at, 3);
        return this.suffix(TokenKind.Hash, at);
      case 33:
        return this.suffix(TokenKind.Bang, at);
      case 123:
        return this.punct(at, this.text.startsWith('{-#', at) ? 3 : 1);
      case 45:
        return this.punct(at, this.text.charCodeAt(at + 1) === 62 ? 2 : 1);
      case 58:
        return this.punct(at, this.text.charCodeAt(at + 1) === 58 ? 2 : 1);
      // Comparisons of affine sets must not count as brackets.
      case 60:
      case 62:
        return this.punct(at, this.text.charCodeAt(at + 1) === 61 ? 2 : 1);
      case 61:
        return this.punct(at, this.text.charCodeAt(at + 1) === 61 ? 2 : 1);
      case 46:
        return this.punct(at, this.text.startsWith('...', at) ? 3 : 1);
      default:
        if ('(){}[],?*+/|;&~'.includes(this.text[at])) return this.punct(at, 1);
        throw this.bad(at, `'${printable(this.text, at)}' cannot start anything in MLIR.`);
    }
  }

  private punct(at: number, size: number): number {
    this.push(TokenKind.Punct, at, at + size);
    return at + size;
  }

  private name(kind: TokenKind, start: number, from: number): number {
    let at = from;
    while (isNamePart(this.text.charCodeAt(at))) at++;
    this.push(kind, start, at);
    return at;
  }

  /** `%x`, `#map`, `!llvm.ptr`, `@f`, `^bb0`: digits only, or letters, digits and `_ $ . -`. A trailing `-` belongs to `->`. */
  private suffix(kind: TokenKind, start: number): number {
    const { text } = this;
    let at = start + 1;
    if (isDigit(text.charCodeAt(at))) {
      while (isDigit(text.charCodeAt(at))) at++;
    } else {
      while (isSuffixPart(text.charCodeAt(at)) && !(text.charCodeAt(at) === 45 && text.charCodeAt(at + 1) === 62)) at++;
    }
    if (at === start + 1) throw this.bad(start, `A name is missing after '${text[start]}'.`);
    this.push(kind, start, at);
    return at;
  }

  private number(start: number): number {
    const { text } = this;
    let at = start;
    if (text.charCodeAt(at) === 48 && text.charCodeAt(at + 1) === 120 && isHex(text.charCodeAt(at + 2))) {
      at += 2;
      while (isHex(text.charCodeAt(at))) at++;
      this.push(TokenKind.Integer, start, at);
      return at;
    }
    while (isDigit(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) !== 46) {
      this.push(TokenKind.Integer, start, at);
      return at;
    }
    at++;
    while (isDigit(text.charCodeAt(at))) at++;
    const e = text.charCodeAt(at);
    if (e === 101 || e === 69) {
      const sign = text.charCodeAt(at + 1);
      const digits = sign === 43 || sign === 45 ? at + 2 : at + 1;
      if (isDigit(text.charCodeAt(digits))) {
        at = digits;
        while (isDigit(text.charCodeAt(at))) at++;
      }
    }
    this.push(TokenKind.Float, start, at);
    return at;
  }

  private string(kind: TokenKind, start: number, quote: number): number {
    const { text } = this;
    for (let at = quote + 1; at < text.length; at++) {
      PLAIN.lastIndex = at;
      PLAIN.test(text);
      at = PLAIN.lastIndex;
      const c = text.charCodeAt(at);
      if (c === 34) {
        this.push(kind, start, at + 1);
        return at + 1;
      }
      if (c === 10 || c === 11 || c === 12) break;
      if (c !== 92) continue;
      const next = text.charCodeAt(at + 1);
      if (next === 34 || next === 92 || next === 110 || next === 116) at++;
      else if (isHex(next) && isHex(text.charCodeAt(at + 2))) at += 2;
      else throw this.bad(at, 'The string holds an escape that MLIR does not know.');
    }
    throw this.bad(start, 'The string is not closed on its line.');
  }
}

function printable(text: string, at: number): string {
  const point = text.codePointAt(at) ?? 0;
  return point < 32 || point === 127 ? `\\x${point.toString(16).padStart(2, '0')}` : String.fromCodePoint(point);
}

/** Splits MLIR text into tokens; throws `mlir/bad-token` with line and column. */
export function tokenize(text: string, file?: string): Tokens {
  return new Lexer(text, file).run();
}

const utf8 = new TextEncoder();

/** The bytes that a quoted string's content stands for. `quoted` includes the quotes. */
export function stringBytes(quoted: string): Uint8Array {
  const content = utf8.encode(quoted.slice(1, -1));
  const out = new Uint8Array(content.length);
  let size = 0;
  for (let at = 0; at < content.length; at++) {
    let byte = content[at];
    if (byte === 92) {
      const next = content[++at];
      if (next === 110) byte = 10;
      else if (next === 116) byte = 9;
      else if (next === 34 || next === 92) byte = next;
      else {
        byte = Number.parseInt(String.fromCharCode(next, content[at + 1]), 16);
        at++;
      }
    }
    out[size++] = byte;
  }
  return out.slice(0, size);
}

/** A quoted string's content as text. */
export function stringText(quoted: string): string {
  return new TextDecoder().decode(stringBytes(quoted));
}

/** Bytes as a quoted string, escaped as MLIR prints them: printable ASCII as it is, `\\`, everything else `\XX`. */
export function quoteBytes(bytes: Uint8Array): string {
  const parts: string[] = ['"'];
  let chunk = '';
  for (const byte of bytes) {
    if (byte === 92) chunk += '\\\\';
    else if (byte >= 32 && byte < 127 && byte !== 34) chunk += String.fromCharCode(byte);
    else chunk += `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    if (chunk.length > 8192) {
      parts.push(chunk);
      chunk = '';
    }
  }
  parts.push(chunk, '"');
  return parts.join('');
}

/** Text as a quoted string. */
export function quoteText(text: string): string {
  return quoteBytes(utf8.encode(text));
}
