// Token kinds of assembly text and the character classes the lexer goes by.
// Source: llvm/include/llvm/MC/MCAsmMacro.h, llvm/lib/MC/MCParser/AsmLexer.cpp.

/** Token kinds. Two-character operators are one token, as in LLVM. */
export enum Tok {
  EndOfStatement,
  Error,
  Identifier,
  Integer,
  /** An integer that needs more than 64 bits. */
  BigNum,
  Real,
  String,
  /** A `# 12 "file"` line marker of the C preprocessor; spans the line. */
  HashDirective,
  Dot,
  Comma,
  Colon,
  LBrac,
  RBrac,
  LParen,
  RParen,
  LCurly,
  RCurly,
  Plus,
  Minus,
  Tilde,
  Star,
  Slash,
  Percent,
  Pipe,
  PipePipe,
  Amp,
  AmpAmp,
  Caret,
  Exclaim,
  ExclaimEqual,
  Equal,
  EqualEqual,
  Less,
  LessEqual,
  LessLess,
  LessGreater,
  Greater,
  GreaterEqual,
  GreaterGreater,
  MinusGreater,
  At,
  Hash,
  Question,
  Dollar,
  BackSlash,
}

/** Character classes of CLASS. */
export const IDENT_START = 1;
export const IDENT = 2;
export const DIGIT = 4;
export const HEX = 8;

export const CLASS = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const ch = String.fromCharCode(c);
  let bits = 0;
  if (/[A-Za-z_.$]/.test(ch)) bits |= IDENT_START;
  if (/[A-Za-z0-9_.$@?]/.test(ch)) bits |= IDENT;
  if (/[0-9]/.test(ch)) bits |= DIGIT;
  if (/[0-9A-Fa-f]/.test(ch)) bits |= HEX;
  CLASS[c] = bits;
}

export const SINGLE = new Uint8Array(256);
for (const [ch, kind] of [
  [',', Tok.Comma],
  [':', Tok.Colon],
  ['[', Tok.LBrac],
  [']', Tok.RBrac],
  ['(', Tok.LParen],
  [')', Tok.RParen],
  ['{', Tok.LCurly],
  ['}', Tok.RCurly],
  ['+', Tok.Plus],
  ['~', Tok.Tilde],
  ['*', Tok.Star],
  ['%', Tok.Percent],
  ['^', Tok.Caret],
  ['@', Tok.At],
  ['#', Tok.Hash],
  ['?', Tok.Question],
  ['\\', Tok.BackSlash],
] as const) {
  SINGLE[ch.charCodeAt(0)] = kind;
}
