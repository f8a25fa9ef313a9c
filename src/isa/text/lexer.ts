// Room `isa/text`: what assembly text is made of before anybody knows instructions: tokens, numbers, expressions over symbols.
// Begin with this file; expr.ts reads expressions of its tokens and evaluate.ts computes them.
//
// Assembly lexer: tokens of one statement at a time, with the rules of LLVM's AsmLexer for AMDGPU (comments `;`, `//`,
// `/* */`, `#` at the start of a statement; only a newline ends a statement). Source: llvm/lib/MC/MCParser/AsmLexer.cpp.
import { CLASS, DIGIT, HEX, IDENT, IDENT_START, SINGLE, Tok } from './tokens.ts';

export { Tok } from './tokens.ts';

/** Line and column of an offset, both counted from 1; columns count bytes, as LLVM's do. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A problem in assembly text. `message` has LLVM's wording where LLVM reports the same problem. */
export interface Diagnostic {
  readonly message: string;
  /** Offset in the lexer's text. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** Bytes to text with one character per byte, so that offsets and columns are byte counts and strings keep their bytes. */
export function textFromBytes(bytes: Uint8Array): string {
  let ascii = true;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] >= 0x80) {
      ascii = false;
      break;
    }
  }
  if (ascii) return new TextDecoder().decode(bytes);
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 8192) parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
  return parts.join('');
}

/**
 * Lexes statement by statement and is the cursor over the tokens of the current statement: `at` is the current token.
 * The last token of a statement is always `EndOfStatement`; reading past it stays there.
 */
export class Lexer {
  readonly text: string;
  /** Index of the current token in the statement. */
  at = 0;
  /** Number of tokens of the statement, the final EndOfStatement included. */
  count = 0;
  /** Offset where the next statement starts. */
  next = 0;
  /** Line (from 1) on which the current statement starts. */
  line = 1;
  /** Problems found while lexing and parsing; the user of the lexer drains it. */
  readonly diagnostics: Diagnostic[] = [];
  private kinds = new Uint8Array(64);
  private starts = new Int32Array(64);
  private ends = new Int32Array(64);
  private values = new Float64Array(64);
  private errors: Map<number, string> | undefined;
  private nextLine = 1;
  private readonly firstLine: number;
  /** Where the current statement starts, white space included, and the line there: positions are counted from here. */
  statementStart = 0;
  private statementLine = 1;
  /** The place that `position` was asked for last, and its line. */
  private countedTo = 0;
  private countedLine = 1;
  /** Whether the text has a character with which a line can end early. */
  private readonly hasReturns: boolean;
  /** The line that `peekLine` read: -1 for none. */
  peekedStart = -1;
  peekedEnd = 0;
  peekedHash = 0;
  private peekedNext = 0;

  /** `line` is the number of the first line, for text that is part of a file. */
  constructor(text: string, line = 1) {
    this.text = text;
    this.nextLine = line;
    this.line = line;
    this.firstLine = line;
    this.countedLine = line;
    this.statementLine = line;
    this.hasReturns = text.includes('\r');
  }

  /** Kind of the current token, or of the one `ahead` tokens further. */
  kind(ahead = 0): Tok {
    const i = this.at + ahead;
    return i < this.count ? this.kinds[i] : Tok.EndOfStatement;
  }

  /** Moves to the next token. */
  lex(): void {
    if (this.at < this.count - 1) this.at++;
  }

  /** Whether the current token is of that kind. */
  is(kind: Tok): boolean {
    return this.kinds[this.at] === kind;
  }

  /** Steps over the current token if it is of that kind. */
  skip(kind: Tok): boolean {
    if (this.kinds[this.at] !== kind) return false;
    this.lex();
    return true;
  }

  /** Start offset of the current token or of one ahead. */
  start(ahead = 0): number {
    const i = this.at + ahead;
    return this.starts[i < this.count ? i : this.count - 1];
  }

  /** End offset (exclusive) of the current token or of one ahead. */
  end(ahead = 0): number {
    const i = this.at + ahead;
    return this.ends[i < this.count ? i : this.count - 1];
  }

  /** Source text of the current token or of one ahead. */
  tokenText(ahead = 0): string {
    const i = this.at + ahead;
    return i < this.count ? this.text.slice(this.starts[i], this.ends[i]) : '';
  }

  /** Whether the current token (or one ahead) is the identifier `name`. */
  isIdentifier(name: string, ahead = 0): boolean {
    const i = this.at + ahead;
    return (
      i < this.count &&
      this.kinds[i] === Tok.Identifier &&
      this.ends[i] - this.starts[i] === name.length &&
      this.text.startsWith(name, this.starts[i])
    );
  }

  /** Value of an integer token as a number, NaN when it is not exact in a number (use `bigint` then). */
  number(ahead = 0): number {
    return this.values[this.at + ahead];
  }

  /** Value of an integer token as a signed 64-bit number. */
  bigint(ahead = 0): bigint {
    const i = this.at + ahead;
    const value = this.values[i];
    if (!Number.isNaN(value)) return BigInt(value);
    return BigInt.asIntN(64, bigOf(this.text.slice(this.starts[i], this.ends[i])));
  }

  /** Why an `Error` token is one. */
  errorText(ahead = 0): string {
    return this.errors?.get(this.at + ahead) ?? 'invalid character in input';
  }

  /** Value of a String token: quotes removed, escapes of gas and LLVM replaced; undefined with a diagnostic if bad. */
  stringValue(ahead = 0): string | undefined {
    const start = this.start(ahead) + 1;
    const end = this.end(ahead) - 1;
    const raw = this.text.slice(start, end);
    if (!raw.includes('\\')) return raw;
    let out = '';
    for (let i = 0; i < raw.length; i++) {
      if (raw[i] !== '\\') {
        out += raw[i];
        continue;
      }
      i++;
      const c = raw[i] ?? '';
      if (c === 'x' || c === 'X') {
        let j = i + 1;
        while (j < raw.length && CLASS[raw.charCodeAt(j) & 255] & HEX) j++;
        if (j === i + 1) return this.fail(start + i, 'invalid hexadecimal escape sequence');
        out += String.fromCharCode(Number.parseInt(raw.slice(Math.max(i + 1, j - 2), j), 16));
        i = j - 1;
      } else if (c >= '0' && c <= '7') {
        let j = i;
        let value = 0;
        while (j < i + 3 && raw[j] >= '0' && raw[j] <= '7') value = value * 8 + Number(raw[j++]);
        if (value > 255) return this.fail(start + i, 'invalid octal escape sequence (out of range)');
        out += String.fromCharCode(value);
        i = j - 1;
      } else {
        const simple = 'bfnrt"\\'.indexOf(c);
        if (c === '' || simple < 0) return this.fail(start + i, 'invalid escape sequence (unrecognized character)');
        out += '\b\f\n\r\t"\\'[simple];
      }
    }
    return out;
  }

  /** Line and column of an offset of this text. */
  position(offset: number): TextPosition {
    // Counting goes on from the nearest place before the offset whose line is known.
    let from = 0;
    let line = this.firstLine;
    if (offset >= this.statementStart) [from, line] = [this.statementStart, this.statementLine];
    if (offset >= this.countedTo && this.countedTo > from) [from, line] = [this.countedTo, this.countedLine];
    for (let i = this.text.indexOf('\n', from); i >= 0 && i < offset; i = this.text.indexOf('\n', i + 1)) line++;
    this.countedTo = offset;
    this.countedLine = line;
    const lineStart = offset === 0 ? 0 : this.text.lastIndexOf('\n', offset - 1) + 1;
    return { line, column: offset - lineStart + 1 };
  }

  /** Text of the line that holds an offset, without the line end. */
  lineText(offset: number): string {
    const start = offset === 0 ? 0 : this.text.lastIndexOf('\n', offset - 1) + 1;
    let end = this.text.indexOf('\n', offset);
    if (end < 0) end = this.text.length;
    if (end > start && this.text.charCodeAt(end - 1) === 13) end--;
    return this.text.slice(start, end);
  }

  /** Records a diagnostic at an offset. Returns undefined so that parsers can `return lexer.fail(…)`. */
  fail(offset: number, message: string): undefined {
    const { line, column } = this.position(offset);
    this.diagnostics.push({ message, offset, line, column });
    return undefined;
  }

  /** Moves to the end of the statement. */
  skipStatement(): void {
    this.at = this.count - 1;
  }

  /** Source text from a token's start to the end of the statement, comments cut off. */
  restOfStatement(): string {
    return this.text.slice(this.start(), this.starts[this.count - 1]);
  }

  /** Lexes the statement at `next`, blank ones included; false at the end of the text. */
  nextStatement(): boolean {
    const text = this.text;
    const length = text.length;
    let p = this.next;
    this.at = 0;
    this.count = 0;
    this.line = this.nextLine;
    this.statementStart = p;
    this.statementLine = this.nextLine;
    if (this.errors !== undefined) this.errors = undefined;
    if (p >= length) {
      this.push(Tok.EndOfStatement, p, p);
      return false;
    }
    let atStart = true;
    const lineStart = p;
    for (;;) {
      if (p >= length) {
        this.push(Tok.EndOfStatement, p, p);
        break;
      }
      const c = text.charCodeAt(p);
      if (c === 32 || c === 9 || c === 0) {
        p++;
        continue;
      }
      if (c === 10) {
        this.push(Tok.EndOfStatement, p, p + 1);
        p++;
        this.nextLine++;
        break;
      }
      if (c === 13) {
        const size = text.charCodeAt(p + 1) === 10 ? 2 : 1;
        this.push(Tok.EndOfStatement, p, p + size);
        if (size === 2) this.nextLine++;
        p += size;
        break;
      }
      const isComment =
        c === 59 /* ; */ || (c === 47 && text.charCodeAt(p + 1) === 47) || (c === 35 && atStart) /* # */;
      if (isComment) {
        const end = endOfLine(text, p);
        if (c === 35 && p === lineStart && this.isLineMarker(p, end)) {
          this.push(Tok.HashDirective, p, end);
          p = end;
          continue;
        }
        this.push(Tok.EndOfStatement, p, end);
        p = end;
        if (text.charCodeAt(p) === 13) p++;
        if (text.charCodeAt(p) === 10) {
          p++;
          this.nextLine++;
        }
        break;
      }
      if (c === 47 && text.charCodeAt(p + 1) === 42) {
        atStart = false;
        const close = text.indexOf('*/', p + 2);
        if (close < 0) {
          this.error(p, length, 'unterminated comment');
          p = length;
          continue;
        }
        for (let i = text.indexOf('\n', p); i >= 0 && i < close; i = text.indexOf('\n', i + 1)) {
          this.nextLine++;
          if (this.count === 0) this.line = this.nextLine;
        }
        p = close + 2;
        continue;
      }
      atStart = false;
      p = this.token(p, c);
    }
    this.next = p;
    return true;
  }

  /**
   * Reads the line at `next` without lexing it: `peekedHash` is of its text from `peekedStart` to `peekedEnd`, its comment left out.
   * Two lines that can be peeked at and have equal texts are equal statements, if they are one. False for a line in which that text
   * does not tell: one that does not end with a newline alone, or has quotes or a comment inside.
   */
  peekLine(): boolean {
    const { text, next } = this;
    this.peekedStart = -1;
    if (this.hasReturns) return false;
    let hash = 0;
    let p = next;
    for (; ; p++) {
      const c = text.charCodeAt(p);
      if (c === 10 || c === 59 /* ; */) break;
      if (c === 47 /* / */) {
        const d = text.charCodeAt(p + 1);
        if (d === 47) break;
        if (d === 42) return false;
      }
      // Beyond the text there is NaN.
      if (c === 34 || c === 39 || !(c >= 0)) return false;
      hash = Math.imul(hash ^ c, 0x01000193);
    }
    const end = text.charCodeAt(p) === 10 ? p : text.indexOf('\n', p);
    if (end < 0) return false;
    this.peekedHash = hash ^ (hash >>> 15);
    this.peekedStart = next;
    this.peekedEnd = p;
    this.peekedNext = end + 1;
    return true;
  }

  /** Whether the current statement is the line that was peeked at last. */
  get isPeeked(): boolean {
    return this.peekedStart === this.statementStart && this.peekedNext === this.next;
  }

  /** Steps over the line that was peeked at, as `nextStatement` would; its first token would be `indent` characters into it. */
  skipLine(indent: number): void {
    const start = this.next;
    this.at = 0;
    this.count = 0;
    this.line = this.nextLine;
    this.statementStart = start;
    this.statementLine = this.nextLine;
    this.push(Tok.EndOfStatement, start + indent, start + indent);
    this.next = this.peekedNext;
    this.nextLine++;
  }

  private push(kind: Tok, start: number, end: number): void {
    const i = this.count++;
    if (i >= this.kinds.length) this.growArrays();
    this.kinds[i] = kind;
    this.starts[i] = start;
    this.ends[i] = end;
  }

  private growArrays(): void {
    const size = this.kinds.length * 4;
    const kinds = new Uint8Array(size);
    kinds.set(this.kinds);
    this.kinds = kinds;
    const starts = new Int32Array(size);
    starts.set(this.starts);
    this.starts = starts;
    const ends = new Int32Array(size);
    ends.set(this.ends);
    this.ends = ends;
    const values = new Float64Array(size);
    values.set(this.values);
    this.values = values;
  }

  private error(start: number, end: number, message: string): number {
    this.errors ??= new Map();
    this.errors.set(this.count, message);
    this.push(Tok.Error, start, end);
    return end;
  }

  private isLineMarker(start: number, end: number): boolean {
    return /^#[ \t]*[0-9]+[ \t]+"/.test(this.text.slice(start, Math.min(end, start + 64)));
  }

  /** Lexes the token that starts at `p` with character `c`; returns its end. */
  private token(p: number, c: number): number {
    const text = this.text;
    const cls = c < 256 ? CLASS[c] : 0;
    if (cls & IDENT_START) return this.identifier(p, c);
    if (cls & DIGIT) return this.digits(p, c);
    const single = c < 256 ? SINGLE[c] : 0;
    if (single !== 0) {
      this.push(single, p, p + 1);
      return p + 1;
    }
    const d = text.charCodeAt(p + 1);
    let kind: Tok;
    let size = 2;
    switch (c) {
      case 34:
        return this.quoted(p);
      case 39:
        return this.character(p);
      case 45: // -
        if (d === 62) kind = Tok.MinusGreater;
        else [kind, size] = [Tok.Minus, 1];
        break;
      case 124: // |
        if (d === 124) kind = Tok.PipePipe;
        else [kind, size] = [Tok.Pipe, 1];
        break;
      case 38: // &
        if (d === 38) kind = Tok.AmpAmp;
        else [kind, size] = [Tok.Amp, 1];
        break;
      case 61: // =
        if (d === 61) kind = Tok.EqualEqual;
        else [kind, size] = [Tok.Equal, 1];
        break;
      case 33: // !
        if (d === 61) kind = Tok.ExclaimEqual;
        else [kind, size] = [Tok.Exclaim, 1];
        break;
      case 47: // /
        [kind, size] = [Tok.Slash, 1];
        break;
      case 60: // <
        if (d === 60) kind = Tok.LessLess;
        else if (d === 61) kind = Tok.LessEqual;
        else if (d === 62) kind = Tok.LessGreater;
        else [kind, size] = [Tok.Less, 1];
        break;
      case 62: // >
        if (d === 62) kind = Tok.GreaterGreater;
        else if (d === 61) kind = Tok.GreaterEqual;
        else [kind, size] = [Tok.Greater, 1];
        break;
      default:
        return this.error(p, p + 1, 'invalid character in input');
    }
    this.push(kind, p, p + size);
    return p + size;
  }

  private identifier(start: number, c: number): number {
    const text = this.text;
    let p = start + 1;
    if (c === 46 && CLASS[text.charCodeAt(p) & 255] & DIGIT) {
      while (CLASS[text.charCodeAt(p) & 255] & DIGIT) p++;
      const d = text.charCodeAt(p);
      if (!(d < 256 && CLASS[d] & IDENT) || d === 101 || d === 69) return this.float(start, p);
    }
    for (;;) {
      const d = text.charCodeAt(p);
      if (!(d < 256 && CLASS[d] & IDENT)) break;
      p++;
    }
    const single = p === start + 1;
    this.push(single && c === 46 ? Tok.Dot : single && c === 36 ? Tok.Dollar : Tok.Identifier, start, p);
    return p;
  }

  /** The rest of a decimal floating-point literal whose integer part and dot are consumed. */
  private float(start: number, at: number): number {
    const text = this.text;
    let p = at;
    while (isDigit(text.charCodeAt(p))) p++;
    let c = text.charCodeAt(p);
    if (c === 45 || c === 43) return this.error(p, p, 'invalid sign in float literal') + 1;
    if (c === 101 || c === 69) {
      p++;
      c = text.charCodeAt(p);
      if (c === 45 || c === 43) p++;
      while (isDigit(text.charCodeAt(p))) p++;
    }
    this.push(Tok.Real, start, p);
    return p;
  }

  private digits(start: number, c: number): number {
    const text = this.text;
    let p = start + 1;
    const d = text.charCodeAt(p);
    if (c !== 48 || d === 46) {
      let value = c - 48;
      for (let e = d; isDigit(e); e = text.charCodeAt(p)) {
        value = value * 10 + (e - 48);
        p++;
      }
      const e = text.charCodeAt(p);
      if (e === 46) return this.float(start, p + 1);
      if (e === 101 || e === 69) return this.float(start, p);
      return this.integer(start, p, value);
    }
    if (d === 120 || d === 88) {
      p = start + 2;
      let value = 0;
      for (;;) {
        const e = text.charCodeAt(p);
        if (!(e < 256 && CLASS[e] & HEX)) break;
        value = value * 16 + (e <= 57 ? e - 48 : (e | 32) - 87);
        p++;
      }
      const e = text.charCodeAt(p);
      if (e === 46 || e === 112 || e === 80) return this.hexFloat(start, p, p === start + 2);
      if (p === start + 2) return this.error(start, p, 'invalid hexadecimal number');
      return this.integer(start, p, value);
    }
    if (d === 98 || d === 66) {
      if (!isDigit(text.charCodeAt(start + 2))) {
        this.push(Tok.Integer, start, start + 1);
        this.values[this.count - 1] = 0;
        return start + 1;
      }
      p = start + 2;
      let value = 0;
      for (let e = text.charCodeAt(p); e === 48 || e === 49; e = text.charCodeAt(++p)) value = value * 2 + (e - 48);
      if (p === start + 2) return this.error(start, p, 'invalid binary number');
      return this.integer(start, p, value);
    }
    let value = 0;
    let bad = false;
    for (let e = d; isDigit(e); e = text.charCodeAt(++p)) {
      value = value * 8 + (e - 48);
      if (e > 55) bad = true;
    }
    if (bad) return this.error(start, p, 'invalid octal number');
    return this.integer(start, p, value);
  }

  private integer(start: number, end: number, value: number): number {
    let p = end;
    let kind = Tok.Integer;
    let exact = value;
    if (value > Number.MAX_SAFE_INTEGER) {
      exact = Number.NaN;
      if (value >= 2 ** 64) {
        if (bigOf(this.text.slice(start, end)) >> 64n !== 0n) kind = Tok.BigNum;
      }
    }
    // LLVM accepts and ignores the suffixes U, L, UL, LL, ULL.
    if ((this.text.charCodeAt(p) | 32) === 117) p++;
    if ((this.text.charCodeAt(p) | 32) === 108) p++;
    if ((this.text.charCodeAt(p) | 32) === 108) p++;
    this.push(kind, start, p);
    this.values[this.count - 1] = exact;
    return p;
  }

  private hexFloat(start: number, at: number, noInteger: boolean): number {
    const text = this.text;
    const what = 'invalid hexadecimal floating-point constant: expected';
    let p = at;
    let noFraction = true;
    if (text.charCodeAt(p) === 46) {
      p++;
      const from = p;
      while (text.charCodeAt(p) < 256 && CLASS[text.charCodeAt(p)] & HEX) p++;
      noFraction = p === from;
    }
    if (noInteger && noFraction) return this.error(start, p, `${what} at least one significand digit`);
    const e = text.charCodeAt(p);
    if (e !== 112 && e !== 80) return this.error(start, p, `${what} exponent part 'p'`);
    p++;
    const sign = text.charCodeAt(p);
    if (sign === 43 || sign === 45) p++;
    const from = p;
    while (isDigit(text.charCodeAt(p))) p++;
    if (p === from) return this.error(start, p, `${what} at least one exponent digit`);
    this.push(Tok.Real, start, p);
    return p;
  }

  private quoted(start: number): number {
    const text = this.text;
    let p = start + 1;
    while (p < text.length) {
      const c = text.charCodeAt(p);
      if (c === 34) {
        this.push(Tok.String, start, p + 1);
        return p + 1;
      }
      if (c === 92) p++;
      if (text.charCodeAt(p) === 10) this.nextLine++;
      p++;
    }
    return this.error(start, text.length, 'unterminated string constant');
  }

  private character(start: number): number {
    const text = this.text;
    const escaped = text.charCodeAt(start + 1) === 92;
    const p = start + (escaped ? 2 : 1);
    if (p >= text.length) return this.error(start, text.length, 'unterminated single quote');
    if (text.charCodeAt(p + 1) !== 39)
      return this.error(start, Math.min(p + 2, text.length), 'single quote way too long');
    let value = text.charCodeAt(p);
    if (escaped) {
      const i = 'tnbfr'.indexOf(text[p]);
      if (i >= 0) value = '\t\n\b\f\r'.charCodeAt(i);
    }
    this.push(Tok.Integer, start, p + 2);
    this.values[this.count - 1] = value;
    return p + 2;
  }
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

function endOfLine(text: string, from: number): number {
  let p = from;
  for (; p < text.length; p++) {
    const c = text.charCodeAt(p);
    if (c === 10 || c === 13) break;
  }
  return p;
}

/** Exact value of integer token text of any radix, suffixes ignored. */
function bigOf(text: string): bigint {
  const digits = text.replace(/[uU]?[lL]{0,2}$/, '');
  if (/^0[xXbB]/.test(digits)) return BigInt(digits.toLowerCase());
  return digits.length > 1 && digits[0] === '0' ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
}
