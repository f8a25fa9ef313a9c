// Data directives: integers, floats, strings, LEB128, fills, padding, `.org`, `.incbin`.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp (parseDirectiveValue and the functions after it).
import type { Expr } from '../../../isa/text/expr-tree.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import { doubleBits, realValue } from '../../../isa/text/real.ts';
import type { Assembler } from '../assembler.ts';
import { byteTextBytes } from '../source.ts';
import type { DirectiveHandler } from './handler.ts';

/** Applies `read` to each operand of a comma list; stops at the first problem. */
function eachOperand(a: Assembler, lexer: Lexer, read: () => boolean): void {
  if (lexer.is(Tok.EndOfStatement)) return;
  if (a.debug.isPending) a.debug.place();
  for (;;) {
    if (!read()) return;
    if (lexer.is(Tok.EndOfStatement)) return;
    if (!lexer.skip(Tok.Comma)) {
      lexer.fail(lexer.start(), lexer.is(Tok.Error) ? lexer.errorText() : 'unexpected token');
      return;
    }
  }
}

function values(size: number): DirectiveHandler {
  const unsignedLimit = 1n << BigInt(8 * size);
  const signedLimit = -(1n << BigInt(8 * size - 1));
  return (a, lexer) => {
    eachOperand(a, lexer, () => {
      const at = lexer.start();
      const expr = a.expression(lexer);
      if (expr === undefined) return false;
      if (expr.kind === 'const') {
        if (size < 8 && (expr.value >= unsignedLimit || expr.value < signedLimit)) {
          lexer.fail(at, 'out of range literal value');
          return false;
        }
        a.emitter.integer(expr.value, size);
      } else a.emitter.value(expr, size, a.location(at));
      a.streamer?.value(expr, size, a.evaluation.unplaced(expr));
      return true;
    });
  };
}

/** 128-bit integers. */
const octa: DirectiveHandler = (a, lexer) => {
  eachOperand(a, lexer, () => {
    const at = lexer.start();
    if (!lexer.is(Tok.Integer) && !lexer.is(Tok.BigNum)) {
      lexer.fail(at, 'unknown token in expression');
      return false;
    }
    const text = lexer.tokenText();
    const isRadix = /^0[xXbB]/.test(text);
    const digits = isRadix ? text.toLowerCase() : text;
    const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits.replace(/[ul]+$/i, ''));
    lexer.lex();
    if (value >= 1n << 128n) {
      lexer.fail(at, 'out of range literal value');
      return false;
    }
    const low = BigInt.asIntN(64, value);
    const high = BigInt.asIntN(64, value >> 64n);
    for (const half of [low, high]) {
      a.emitter.integer(half, 8);
      a.streamer?.value({ kind: 'const', value: half }, 8, half);
    }
    return true;
  });
};

const scratch = new DataView(new ArrayBuffer(8));

function floatBits(value: number, size: number): bigint {
  if (size === 8) return doubleBits(value);
  scratch.setFloat32(0, value);
  return BigInt(scratch.getUint32(0));
}

function readFloat(lexer: Lexer, size: number): bigint | undefined {
  let negative = false;
  if (lexer.skip(Tok.Minus)) negative = true;
  else lexer.skip(Tok.Plus);
  if (lexer.is(Tok.Error)) return lexer.fail(lexer.start(), lexer.errorText());
  const text = lexer.tokenText();
  let value: number;
  let bits: bigint | undefined;
  if (lexer.is(Tok.Identifier)) {
    const word = text.toLowerCase();
    if (word === 'inf' || word === 'infinity') value = Number.POSITIVE_INFINITY;
    else if (word === 'nan') {
      value = Number.NaN;
      bits = size === 8 ? 0x7fffffffffffffffn : 0x7fffffffn;
    } else return lexer.fail(lexer.start(), 'invalid floating point literal');
  } else if (lexer.is(Tok.Real)) value = realValue(text);
  else if (lexer.is(Tok.Integer) || lexer.is(Tok.BigNum)) value = Number(text);
  else return lexer.fail(lexer.start(), 'unexpected token in directive');
  lexer.lex();
  bits ??= floatBits(value, size);
  return negative ? bits ^ (1n << BigInt(8 * size - 1)) : bits;
}

function floats(size: number): DirectiveHandler {
  return (a, lexer) => {
    eachOperand(a, lexer, () => {
      const bits = readFloat(lexer, size);
      if (bits === undefined) return false;
      a.emitter.integer(bits, size);
      a.streamer?.value({ kind: 'const', value: bits }, size, bits);
      return true;
    });
  };
}

function strings(terminated: boolean): DirectiveHandler {
  return (a, lexer) => {
    eachOperand(a, lexer, () => {
      if (!lexer.is(Tok.String)) {
        lexer.fail(lexer.start(), lexer.is(Tok.Error) ? lexer.errorText() : 'expected string');
        return false;
      }
      // Strings may follow each other without a comma.
      do {
        const text = lexer.stringValue();
        if (text === undefined) return false;
        const bytes = byteTextBytes(text);
        a.emitter.bytes(bytes);
        a.streamer?.bytes(bytes);
        lexer.lex();
      } while (!terminated && lexer.is(Tok.String));
      if (terminated) {
        a.emitter.integer(0n, 1);
        a.streamer?.bytes(new Uint8Array(1));
      }
      return true;
    });
  };
}

function leb(signed: boolean): DirectiveHandler {
  return (a, lexer) => {
    eachOperand(a, lexer, () => {
      const at = lexer.start();
      const expr = a.expression(lexer);
      if (expr === undefined) return false;
      a.emitter.leb(expr, signed, a.location(at));
      a.streamer?.leb(expr, signed);
      return true;
    });
  };
}

const ZERO: Expr = { kind: 'const', value: 0n };

/** `.skip`, `.space`: a count and a fill byte. */
const space: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const count = a.expression(lexer);
  if (count === undefined) return;
  let value = 0n;
  if (lexer.skip(Tok.Comma)) {
    const fill = a.absolute(lexer);
    if (fill === undefined) return;
    value = fill;
  }
  if (!a.endOfStatement(lexer)) return;
  a.emitter.fill(count, 1, value, a.location(at));
  a.streamer?.zero(count, value);
};

/** `.fill count, size, value`. */
const fill: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const count = a.expression(lexer);
  if (count === undefined) return;
  let size = 1n;
  let value = 0n;
  let sizeAt = at;
  let valueAt = at;
  if (lexer.skip(Tok.Comma)) {
    sizeAt = lexer.start();
    const given = a.absolute(lexer);
    if (given === undefined) return;
    size = given;
    if (lexer.skip(Tok.Comma)) {
      valueAt = lexer.start();
      const pattern = a.absolute(lexer);
      if (pattern === undefined) return;
      value = pattern;
    }
  }
  if (!a.endOfStatement(lexer)) return;
  if (size < 0n) {
    a.warn(sizeAt, "'.fill' directive with negative size has no effect");
    return;
  }
  if (size > 8n) {
    a.warn(sizeAt, "'.fill' directive with size greater than 8 has been truncated to 8");
    size = 8n;
  }
  if ((value < 0n || value > 0xffffffffn) && size > 4n) {
    a.warn(valueAt, "'.fill' directive pattern has been truncated to 32-bits");
  }
  a.streamer?.fill(count, Number(size), value);
  const constant = a.evaluation.absolute(count);
  if (constant !== undefined && constant < 0n) {
    if (a.streamer === undefined) a.warn(at, "'.fill' directive with negative repeat count has no effect");
    return;
  }
  const pattern = BigInt.asUintN(Number(size > 4n ? 4n : size) * 8, value);
  a.emitter.fill(
    constant === undefined ? count : { kind: 'const', value: constant },
    Number(size),
    pattern,
    a.location(at),
  );
};

const org: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const target = a.expression(lexer);
  if (target === undefined) return;
  let value = ZERO;
  if (lexer.skip(Tok.Comma)) {
    const given = a.absolute(lexer);
    if (given === undefined) return;
    value = { kind: 'const', value: given };
  }
  if (!a.endOfStatement(lexer)) return;
  const byte = Number(BigInt.asUintN(8, value.kind === 'const' ? value.value : 0n));
  a.emitter.org(target, byte, a.location(at));
  a.streamer?.org(target, byte);
};

/** Reports an LLVM "alignment" operand problem but goes on with a usable value, as LLVM does. */
function checkedAlignment(lexer: Lexer, at: number, operand: bigint, isPowerOfTwo: boolean): number {
  if (isPowerOfTwo) {
    if (operand >= 0n && operand < 32n) return 2 ** Number(operand);
    lexer.fail(at, 'invalid alignment value');
    return 2 ** 31;
  }
  if (operand === 0n) return 1;
  if (operand < 0n || (operand & (operand - 1n)) !== 0n) {
    lexer.fail(at, 'alignment must be a power of 2');
    return operand < 0n ? 1 : 2 ** (Math.min(operand.toString(2).length, 32) - 1);
  }
  if (operand > 0xffffffffn) {
    lexer.fail(at, 'alignment must be smaller than 2**32');
    return 2 ** 31;
  }
  return Number(operand);
}

function align(isPowerOfTwo: boolean, fillSize: number): DirectiveHandler {
  return (a, lexer) => {
    const at = lexer.start();
    if (isPowerOfTwo && lexer.is(Tok.EndOfStatement)) {
      a.warn(at, 'p2align directive with no operand(s) is ignored');
      return;
    }
    const operand = a.absolute(lexer);
    if (operand === undefined) return;
    let value: bigint | undefined;
    let maxBytes = 0n;
    let maxAt = at;
    if (lexer.skip(Tok.Comma)) {
      if (!lexer.is(Tok.Comma) && !lexer.is(Tok.EndOfStatement)) {
        value = a.absolute(lexer);
        if (value === undefined) return;
      }
      if (lexer.skip(Tok.Comma)) {
        maxAt = lexer.start();
        const given = a.absolute(lexer);
        if (given === undefined) return;
        maxBytes = given;
      }
    }
    if (!a.endOfStatement(lexer)) return;
    const alignment = checkedAlignment(lexer, at, operand, isPowerOfTwo);
    if (maxBytes < 0n || maxAt !== at) {
      if (maxBytes < 1n) {
        lexer.fail(
          maxAt,
          'alignment directive can never be satisfied in this many bytes, ignoring maximum bytes expression',
        );
        maxBytes = 0n;
      } else if (maxBytes >= BigInt(alignment)) {
        a.warn(maxAt, 'maximum bytes expression exceeds alignment and has no effect');
        maxBytes = 0n;
      }
    }
    const code = value === undefined && a.emitter.isCode;
    a.emitter.align(alignment, { value: value ?? 0n, size: fillSize, code }, Number(maxBytes), a.location(at));
    a.streamer?.align(alignment, value ?? 0n, fillSize, Number(maxBytes), code);
  };
}

const incbin: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const name = lexer.is(Tok.String) ? lexer.stringValue() : undefined;
  if (name === undefined) {
    lexer.fail(at, 'expected string in directive');
    return;
  }
  lexer.lex();
  let skip = 0n;
  let count: bigint | undefined;
  if (lexer.skip(Tok.Comma)) {
    if (!lexer.is(Tok.Comma)) {
      const given = a.absolute(lexer);
      if (given === undefined) return;
      skip = given;
    }
    if (lexer.skip(Tok.Comma)) {
      count = a.absolute(lexer);
      if (count === undefined) return;
    }
  }
  if (!a.endOfStatement(lexer)) return;
  if (skip < 0n) {
    lexer.fail(at, 'skip is negative');
    return;
  }
  if (count !== undefined && count < 0n) {
    a.warn(at, 'negative count has no effect');
    return;
  }
  const content = a.options.readFile?.(name);
  if (content === undefined) {
    lexer.fail(at, `Could not find incbin file '${name}'`);
    return;
  }
  const start = Math.min(content.length, Number(skip));
  const end = count === undefined ? content.length : Math.min(content.length, start + Number(count));
  const bytes = content.subarray(start, end);
  a.emitter.bytes(bytes);
  a.streamer?.bytes(bytes);
};

export const DATA_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.byte': values(1),
  '.short': values(2),
  '.value': values(2),
  '.2byte': values(2),
  '.long': values(4),
  '.int': values(4),
  '.4byte': values(4),
  '.quad': values(8),
  '.8byte': values(8),
  '.octa': octa,
  '.single': floats(4),
  '.float': floats(4),
  '.double': floats(8),
  '.ascii': strings(false),
  '.asciz': strings(true),
  '.string': strings(true),
  '.uleb128': leb(false),
  '.sleb128': leb(true),
  '.skip': space,
  '.space': space,
  '.zero': space,
  '.fill': fill,
  '.org': org,
  '.align': align(false, 1),
  '.align32': align(false, 4),
  '.balign': align(false, 1),
  '.balignw': align(false, 2),
  '.balignl': align(false, 4),
  '.p2align': align(true, 1),
  '.p2alignw': align(true, 2),
  '.p2alignl': align(true, 4),
  '.incbin': incbin,
};
