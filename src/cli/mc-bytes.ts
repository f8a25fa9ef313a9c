// Input of `mc -disassemble`: bytes as numbers (or hex digits with -hex), `#` comments, `[…]` blocks that stop at a bad byte.
// Source: llvm/tools/llvm-mc/Disassembler.cpp.
import { Lexer } from '../isa/text/lexer.ts';

/** A run of bytes, valid until the handler returns; inside brackets an invalid instruction ends it. */
export interface ByteStatement {
  readonly bytes: Uint8Array;
  readonly isBlock: boolean;
  /** The printed warning at one of the bytes. */
  warning(index: number, message: string): string;
}

/** Gets what is in the input, in its order. */
export interface ByteHandler {
  /** A problem of the input, as a printed diagnostic. */
  problem(text: string): void;
  statement(statement: ByteStatement): void;
}

function integer(text: string): number {
  const body = /^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text;
  return /^(0[xX][0-9a-fA-F]+|0[bB][01]+|0o[0-7]+|[0-9]+)$/.test(body) ? Number(body) : Number.NaN;
}

/** Value of a character as a hexadecimal digit, -1 for others. */
function digit(c: number | undefined): number {
  if (c === undefined) return -1;
  if (c >= 48 && c <= 57) return c - 48;
  const letter = c | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const HASH = 35;
const COMMA = 44;
const OPEN = 91;
const CLOSE = 93;

function isBlank(c: number): boolean {
  return c === SPACE || c === COMMA || c === NEWLINE || c === TAB || c === RETURN;
}

function endsToken(c: number): boolean {
  return isBlank(c) || c === HASH || c === OPEN || c === CLOSE;
}

/** Reads the bytes of a source and hands them on; true when the input itself is wrong. */
export function readByteInput(source: Uint8Array, file: string, hex: boolean, handler: ByteHandler): boolean {
  let positions: Lexer | undefined;
  const message = (offset: number, severity: string, what: string): string => {
    positions ??= new Lexer(Buffer.from(source).toString('latin1'));
    const { line, column } = positions.position(offset);
    const shown = positions.lineText(offset);
    return `${file}:${line}:${column}: ${severity}: ${what}\n${shown}\n${caret(shown, column)}\n`;
  };
  // A byte takes at least two characters, its separator included; the last needs none.
  const bytes = new Uint8Array((source.length >> 1) + 1);
  const offsets = new Int32Array(bytes.length);
  let count = 0;
  let failed = false;
  let isBlock = false;
  const error = (offset: number, what: string): void => handler.problem(message(offset, 'error', what));
  const warning = (index: number, what: string): string => message(offsets[index] ?? 0, 'warning', what);
  const flush = (): void => {
    if (count > 0) handler.statement({ bytes: bytes.subarray(0, count), isBlock, warning });
    count = 0;
  };
  let i = 0;
  while (i < source.length) {
    const c = source[i];
    if (isBlank(c)) i++;
    else if (c === HASH) {
      const end = source.indexOf(NEWLINE, i);
      i = end < 0 ? source.length : end;
    } else if (c === OPEN || c === CLOSE) {
      flush();
      if ((c === OPEN) === isBlock) {
        error(i, isBlock ? 'nested atomic blocks make no sense' : 'attempt to close atomic block without opening');
        failed = true;
      }
      isBlock = c === OPEN;
      i++;
    } else {
      let end = i + 2;
      let value = Number.NaN;
      if (hex) {
        const [high, low] = [digit(c), digit(source[i + 1])];
        if (high >= 0 && low >= 0) value = high * 16 + low;
      } else {
        end = i;
        while (end < source.length && !endsToken(source[end])) end++;
        value = byteToken(source, i, end);
      }
      if (value >= 0 && value <= 255) {
        bytes[count] = value;
        offsets[count++] = i;
        i = end;
        continue;
      }
      error(i, hex && source.length - i < 2 ? 'expected two hex digits' : 'invalid input token');
      if (hex) failed = true;
      else count = 0;
      const line = source.indexOf(NEWLINE, i);
      i = hex ? Math.max(i + 1, Math.min(end, source.length)) : line < 0 ? source.length : line;
    }
  }
  flush();
  if (isBlock) {
    error(source.length, 'unclosed atomic block');
    failed = true;
  }
  return failed;
}

/** The value of a token: one or two hexadecimal digits behind `0x` directly, other spellings through their text. */
function byteToken(source: Uint8Array, start: number, end: number): number {
  const digits = end - start - 2;
  if ((digits === 1 || digits === 2) && source[start] === 48 && (source[start + 1] | 32) === 120) {
    const high = digits === 1 ? 0 : digit(source[start + 2]);
    const low = digit(source[end - 1]);
    return high < 0 || low < 0 ? Number.NaN : high * 16 + low;
  }
  return integer(Buffer.from(source.subarray(start, end)).toString('latin1'));
}

/** The caret under a column, tabs of the line kept. */
function caret(line: string, column: number): string {
  return `${line.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`;
}
