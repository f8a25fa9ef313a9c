// Register-or-constant operands with their modifiers: `-|v0|`, `neg(abs(s1))`, `sext(v2)`, `1.0`, `lit(4)`, expressions.
// Source: AMDGPUAsmParser::parseImm, parseRegOrImmWithFPInputMods, parseRegOrImmWithIntInputMods.

import { evaluateAbsolute } from '../text/evaluate.ts';
import { isBinaryOperator, parseExpression, parsePrimary } from '../text/expr.ts';
import type { Expr } from '../text/expr-tree.ts';
import { Tok } from '../text/lexer.ts';
import { realValue } from '../text/real.ts';
import { isRegisterAt, parseRegisterOperand } from './register.ts';
import {
  FAILURE,
  KIND_EXPR,
  KIND_IMM,
  MOD_ABS,
  MOD_LIT,
  MOD_NEG,
  MOD_SEXT,
  MODS_FP,
  NO_MATCH,
  type ParseState,
  type ParseStatus,
  SUCCESS,
  setInteger,
} from './state.ts';

function isNamedModifier(p: ParseState, ahead: number): boolean {
  const { lexer } = p;
  return (
    lexer.kind(ahead) === Tok.Identifier &&
    lexer.kind(ahead + 1) === Tok.LParen &&
    (lexer.isIdentifier('abs', ahead) || lexer.isIdentifier('neg', ahead) || lexer.isIdentifier('sext', ahead))
  );
}

function isOperandModifier(p: ParseState, ahead: number): boolean {
  return p.lexer.kind(ahead) === Tok.Pipe || isNamedModifier(p, ahead);
}

/** Whether what follows looks like an operand or opcode modifier rather than an expression. */
export function isModifier(p: ParseState): boolean {
  const { lexer } = p;
  if (lexer.kind() === Tok.Identifier && lexer.kind(1) === Tok.Colon) return true;
  if (isOperandModifier(p, 0)) return true;
  return lexer.kind() === Tok.Minus && (isRegisterAt(p, 1) || isOperandModifier(p, 1));
}

/** The value of an expression that must be constant now; undefined after a diagnostic naming what was expected. */
export function parseAbsolute(p: ParseState, expected = ''): number | bigint | undefined {
  const { lexer } = p;
  if (lexer.is(Tok.Integer)) {
    const next = lexer.kind(1);
    if (!isBinaryOperator(next) && next !== Tok.Identifier && next !== Tok.At) {
      const value = lexer.number();
      if (!Number.isNaN(value)) {
        lexer.lex();
        return value;
      }
    }
  }
  const start = lexer.start();
  const expr = parseQuietly(p, parseExpression);
  if (expr === undefined) return undefined;
  const value = constantOf(p, expr);
  if (value !== undefined) {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }
  return lexer.fail(
    start,
    expected === '' ? 'expected absolute expression' : `expected ${expected} or an absolute expression`,
  );
}

/** As `parseAbsolute`, out-of-range 64-bit values included as the nearest number: for range checks of small fields. */
export function parseSmall(p: ParseState, expected = ''): number | undefined {
  const value = parseAbsolute(p, expected);
  return value === undefined ? undefined : Number(value);
}

/** Parses an expression; that a token is malformed is not reported, as LLVM does not inside instructions. */
function parseQuietly(p: ParseState, parse: typeof parseExpression): Expr | undefined {
  const { lexer } = p;
  const before = lexer.diagnostics.length;
  const expr = parse(lexer, p.context);
  if (expr === undefined && lexer.is(Tok.Error)) lexer.diagnostics.length = before;
  return expr;
}

function constantOf(p: ParseState, expr: Expr): bigint | undefined {
  return expr.kind === 'const' ? expr.value : (evaluateAbsolute(expr, {}) ?? p.context.evaluate?.(expr));
}

/** A number or an expression. `sp3Abs`: inside `|…|`, where only a primary expression can stand. */
export function parseImmediate(p: ParseState, sp3Abs: boolean, lit: boolean): ParseStatus {
  const { lexer } = p;
  const kind = lexer.kind();
  const start = lexer.start();
  if (kind === Tok.Integer) {
    const next = lexer.kind(1);
    const value = lexer.number();
    if ((next === Tok.Comma || next === Tok.EndOfStatement) && !Number.isNaN(value)) {
      lexer.lex();
      p.pushImm(value, start).mods = lit ? MOD_LIT : 0;
      return SUCCESS;
    }
  }
  if (isRegisterAt(p) || isModifier(p)) return NO_MATCH;
  if (!lit && kind === Tok.Identifier && (lexer.isIdentifier('lit') || lexer.isIdentifier('lit64'))) {
    if (lexer.kind(1) === Tok.LParen || lexer.isIdentifier('lit')) return literal(p, sp3Abs);
  }
  let negate = false;
  if (kind === Tok.Minus && lexer.kind(1) === Tok.Real) {
    lexer.lex();
    negate = true;
  }
  if (lexer.is(Tok.Real)) {
    const value = realValue(lexer.tokenText());
    lexer.lex();
    if (Number.isNaN(value)) return FAILURE;
    const op = p.pushImm(negate ? -value : value, start);
    op.isFloat = true;
    op.mods = lit ? MOD_LIT : 0;
    return SUCCESS;
  }
  const expr = parseQuietly(p, sp3Abs ? parsePrimary : parseExpression);
  if (expr === undefined) return FAILURE;
  const value = constantOf(p, expr);
  if (value === undefined) {
    if (lit) return NO_MATCH;
    p.pushExpr(expr, start);
    return SUCCESS;
  }
  const op = p.pushImm(0, start);
  setInteger(op, value);
  op.mods = lit ? MOD_LIT : 0;
  return SUCCESS;
}

function literal(p: ParseState, sp3Abs: boolean): ParseStatus {
  const { lexer } = p;
  const at = lexer.start();
  const wide = lexer.isIdentifier('lit64');
  lexer.lex();
  if (!p.expect(Tok.LParen, 'expected left paren after lit')) return FAILURE;
  if (wide) return p.error(at, 'lit64 is not supported on this GPU');
  const status = parseImmediate(p, sp3Abs, true);
  if (status === SUCCESS && !p.expect(Tok.RParen, 'expected closing parentheses')) return FAILURE;
  return status;
}

/** A register or a constant without modifiers. */
export function parseRegOrImm(p: ParseState, sp3Abs = false, lit = false): ParseStatus {
  const status = parseRegisterOperand(p);
  if (status !== NO_MATCH) return status;
  return parseImmediate(p, sp3Abs, lit);
}

/** Whether the current identifier is `neg`, `abs`, `lit` or `lit64`; what follows is not looked at. */
function startsModifier(p: ParseState): boolean {
  const { lexer } = p;
  const c = lexer.text.charCodeAt(lexer.start());
  if (c === 110 /* n */) return lexer.isIdentifier('neg');
  if (c === 97 /* a */) return lexer.isIdentifier('abs');
  return c === 108 /* l */ && (lexer.isIdentifier('lit') || lexer.isIdentifier('lit64'));
}

/** A register or constant with `neg`, `abs` and their sp3 forms. */
export function parseWithFloatMods(p: ParseState, allowImm: boolean): ParseStatus {
  const { lexer } = p;
  const first = lexer.kind();
  if (first === Tok.Identifier && !startsModifier(p)) {
    if (allowImm) return parseRegOrImm(p);
    return parseRegisterOperand(p);
  }
  if (first === Tok.Minus && lexer.kind(1) === Tok.Minus) {
    return p.error(lexer.start(), "invalid syntax, expected 'neg' modifier");
  }
  let sp3Neg = false;
  if (first === Tok.Minus) {
    sp3Neg = isRegisterAt(p, 1) || lexer.kind(1) === Tok.Pipe || lexer.isIdentifier('abs', 1);
    if (sp3Neg) lexer.lex();
  }
  let at = lexer.start();
  const neg = p.skipId('neg');
  if (neg && sp3Neg) return p.error(at, 'expected register or immediate');
  if (neg && !p.expect(Tok.LParen, 'expected left paren after neg')) return FAILURE;
  const abs = p.skipId('abs');
  if (abs && !p.expect(Tok.LParen, 'expected left paren after abs')) return FAILURE;
  if (p.skipId('lit64')) {
    if (!p.expect(Tok.LParen, 'expected left paren after lit64')) return FAILURE;
    return p.error(at, 'lit64 is not supported on this GPU');
  }
  const lit = p.skipId('lit');
  if (lit && !p.expect(Tok.LParen, 'expected left paren after lit')) return FAILURE;
  at = lexer.start();
  const sp3Abs = lexer.skip(Tok.Pipe);
  if (abs && sp3Abs) return p.error(at, 'expected register or immediate');
  const status = allowImm ? parseRegOrImm(p, sp3Abs, lit) : parseRegisterOperand(p);
  if (status !== SUCCESS) return sp3Neg || neg || sp3Abs || abs || lit ? FAILURE : status;
  const op = p.operands[p.count - 1];
  if (lit && op.kind !== KIND_IMM) p.error(at, 'expected immediate with lit modifier');
  if (sp3Abs && !p.expect(Tok.Pipe, 'expected vertical bar')) return FAILURE;
  if (abs && !p.expect(Tok.RParen, 'expected closing parentheses')) return FAILURE;
  if (neg && !p.expect(Tok.RParen, 'expected closing parentheses')) return FAILURE;
  if (lit && !p.expect(Tok.RParen, 'expected closing parentheses')) return FAILURE;
  const mods = (abs || sp3Abs ? MOD_ABS : 0) | (neg || sp3Neg ? MOD_NEG : 0) | (lit ? MOD_LIT : 0);
  if (mods !== 0) {
    if (op.kind === KIND_EXPR) return p.error(op.start, 'expected an absolute expression');
    op.mods = mods & (MODS_FP | MOD_LIT);
  }
  return SUCCESS;
}

/** A register or constant with `sext`. */
export function parseWithIntMods(p: ParseState, allowImm: boolean): ParseStatus {
  const sext = p.skipId('sext');
  if (sext && !p.expect(Tok.LParen, 'expected left paren after sext')) return FAILURE;
  const status = allowImm ? parseRegOrImm(p) : parseRegisterOperand(p);
  if (status !== SUCCESS) return sext ? FAILURE : status;
  if (sext) {
    if (!p.expect(Tok.RParen, 'expected closing parentheses')) return FAILURE;
    const op = p.operands[p.count - 1];
    if (op.kind === KIND_EXPR) return p.error(op.start, 'expected an absolute expression');
    op.mods = MOD_SEXT;
  }
  return SUCCESS;
}
