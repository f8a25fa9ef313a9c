// Input of `mc -disassemble`: bytes as numbers (or hex digits with -hex), `#` comments, `[…]` blocks that stop at a bad byte.
// Source: llvm/tools/llvm-mc/Disassembler.cpp.
import { Lexer } from '../isa/text/lexer.ts';

/** A run of bytes; inside brackets an invalid instruction ends it. */
export interface ByteStatement {
  readonly bytes: Uint8Array;
  readonly isBlock: boolean;
  /** The printed warning at one of the bytes. */
  warning(index: number, message: string): string;
}

export interface ByteInput {
  readonly statements: readonly ByteStatement[];
  readonly failed: boolean;
}

function integer(text: string): number {
  const body = /^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text;
  return /^(0[xX][0-9a-fA-F]+|0[bB][01]+|0o[0-7]+|[0-9]+)$/.test(body) ? Number(body) : Number.NaN;
}

/** Reads the bytes; problems go to `report` as printed diagnostics. */
export function parseByteInput(
  source: Uint8Array,
  file: string,
  hex: boolean,
  report: (text: string) => void,
): ByteInput {
  const text = Buffer.from(source).toString('latin1');
  const positions = new Lexer(text);
  const message = (offset: number, severity: string, what: string): string => {
    const { line, column } = positions.position(offset);
    const shown = positions.lineText(offset);
    return `${file}:${line}:${column}: ${severity}: ${what}\n${shown}\n${caret(shown, column)}\n`;
  };
  const statements: ByteStatement[] = [];
  let failed = false;
  let isBlock = false;
  let bytes: number[] = [];
  let offsets: number[] = [];
  const error = (offset: number, what: string): void => {
    report(message(offset, 'error', what));
  };
  const flush = (): void => {
    if (bytes.length > 0) {
      const at = offsets;
      statements.push({
        bytes: Uint8Array.from(bytes),
        isBlock,
        warning: (index, what) => message(at[index] ?? 0, 'warning', what),
      });
    }
    bytes = [];
    offsets = [];
  };
  let i = 0;
  while (i < text.length) {
    const c = text[i];
    if (' \t\r\n,'.includes(c)) i++;
    else if (c === '#') {
      const end = text.indexOf('\n', i);
      i = end < 0 ? text.length : end;
    } else if (c === '[' || c === ']') {
      flush();
      if ((c === '[') === isBlock) {
        error(i, c === '[' ? 'nested atomic blocks make no sense' : 'attempt to close atomic block without opening');
        failed = true;
      }
      isBlock = c === '[';
      i++;
    } else {
      const next = text.slice(i).search(/[ \t\n\r,#[\]]/);
      const end = hex ? i + 2 : next < 0 ? text.length : i + next;
      const token = text.slice(i, end);
      const value = hex ? (/^[0-9a-fA-F]{2}$/.test(token) ? Number.parseInt(token, 16) : Number.NaN) : integer(token);
      if (value >= 0 && value <= 255) {
        bytes.push(value);
        offsets.push(i);
        i = end;
        continue;
      }
      error(i, hex && token.length < 2 ? 'expected two hex digits' : 'invalid input token');
      if (hex) failed = true;
      else {
        bytes = [];
        offsets = [];
      }
      const line = text.indexOf('\n', i);
      i = hex ? Math.max(i + 1, end) : line < 0 ? text.length : line;
    }
  }
  flush();
  if (isBlock) {
    error(text.length, 'unclosed atomic block');
    failed = true;
  }
  return { statements, failed };
}

/** The caret under a column, tabs of the line kept. */
function caret(line: string, column: number): string {
  return `${line.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`;
}
