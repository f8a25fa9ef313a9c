// Assembler expressions: syntax tree, parser with LLVM's operators and precedences, printing.
// Sources: llvm/lib/MC/MCParser/AsmParser.cpp (parseExpression), llvm/lib/MC/MCExpr.cpp, AMDGPUMCExpr.cpp. Evaluation is in evaluate.ts.

import { evaluate, fold, foldUnary } from './evaluate.ts';
import {
  type BinaryOperator,
  EXPRESSION_FUNCTIONS,
  type Expr,
  type ExpressionFunction,
  SPECIFIERS,
  type Specifier,
} from './expr-tree.ts';
import { type Lexer, Tok } from './lexer.ts';
import { doubleBits, realValue } from './real.ts';

/** What the parser of expressions asks its user for. */
export interface ExprContext {
  /** Value of a symbol that is a constant now (`.set x, 5`); LLVM substitutes it where the expression is read. */
  constant(name: string): bigint | undefined;
  /** The name of a label placed at the current address, for `.`. */
  here(): string;
  /** The symbol a numeric label (`1b`, `1f`) means here; undefined when `1b` has no label before it. */
  numericLabel(label: bigint, direction: 'b' | 'f'): string | undefined;
}

/** Nested operators and parentheses beyond this are an error instead of a stack overflow. */
const MAX_DEPTH = 400;
/** Operators in a row that cannot be folded: the tree leans left and is walked recursively. */
const MAX_LENGTH = 1000;

/** Reads an expression at the cursor. Undefined after a diagnostic. The result is folded when it is constant. */
export function parseExpression(lexer: Lexer, context: ExprContext): Expr | undefined {
  return expression(lexer, context, 0);
}

/** Reads one operand of an expression (no binary operators), as LLVM's parsePrimaryExpr. */
export function parsePrimary(lexer: Lexer, context: ExprContext): Expr | undefined {
  return primary(lexer, context, 0);
}

function expression(lexer: Lexer, context: ExprContext, depth: number): Expr | undefined {
  const first = primary(lexer, context, depth + 1);
  if (first === undefined) return undefined;
  let result = binaryRest(lexer, context, 1, first, depth + 1);
  if (result === undefined) return undefined;
  if (lexer.skip(Tok.At)) {
    if (!lexer.is(Tok.Identifier)) return lexer.fail(lexer.start(), "unexpected symbol modifier following '@'");
    const name = lexer.tokenText();
    const specifier = specifierOf(name);
    if (specifier === undefined) return lexer.fail(lexer.start(), `invalid variant '${name}'`);
    const modified = applySpecifier(result, specifier);
    if (modified === undefined) return lexer.fail(lexer.start(), `invalid modifier '${name}' (no symbols present)`);
    if (modified === 'twice') {
      return lexer.fail(lexer.start(), `invalid variant on expression '${name}' (already modified)`);
    }
    result = modified;
    lexer.lex();
  }
  if (result.kind === 'const') return result;
  const folded = evaluate(result, {});
  return folded !== undefined && folded.add === undefined && folded.sub === undefined
    ? { kind: 'const', value: folded.constant }
    : result;
}

function specifierOf(text: string): Specifier | undefined {
  const name = text.toLowerCase();
  return SPECIFIERS.find((s) => s === name);
}

function applySpecifier(expr: Expr, specifier: Specifier): Expr | 'twice' | undefined {
  switch (expr.kind) {
    case 'symbol':
      return expr.specifier === undefined ? { ...expr, specifier } : 'twice';
    case 'unary': {
      const sub = applySpecifier(expr.sub, specifier);
      return sub === undefined || sub === 'twice' ? sub : { ...expr, sub };
    }
    case 'binary': {
      const lhs = applySpecifier(expr.lhs, specifier);
      const rhs = applySpecifier(expr.rhs, specifier);
      if (lhs === 'twice' || rhs === 'twice') return 'twice';
      if (lhs === undefined && rhs === undefined) return undefined;
      return { ...expr, lhs: lhs ?? expr.lhs, rhs: rhs ?? expr.rhs };
    }
    default:
      return undefined;
  }
}

const OPERATORS: (readonly [number, BinaryOperator] | undefined)[] = [];
OPERATORS[Tok.PipePipe] = [1, '||'];
OPERATORS[Tok.AmpAmp] = [2, '&&'];
OPERATORS[Tok.EqualEqual] = [3, '=='];
OPERATORS[Tok.ExclaimEqual] = [3, '!='];
OPERATORS[Tok.LessGreater] = [3, '!='];
OPERATORS[Tok.Less] = [3, '<'];
OPERATORS[Tok.LessEqual] = [3, '<='];
OPERATORS[Tok.Greater] = [3, '>'];
OPERATORS[Tok.GreaterEqual] = [3, '>='];
OPERATORS[Tok.Plus] = [4, '+'];
OPERATORS[Tok.Minus] = [4, '-'];
OPERATORS[Tok.Pipe] = [5, '|'];
OPERATORS[Tok.Exclaim] = [5, '|!'];
OPERATORS[Tok.Caret] = [5, '^'];
OPERATORS[Tok.Amp] = [5, '&'];
OPERATORS[Tok.Star] = [6, '*'];
OPERATORS[Tok.Slash] = [6, '/'];
OPERATORS[Tok.Percent] = [6, '%'];
OPERATORS[Tok.LessLess] = [6, '<<'];
OPERATORS[Tok.GreaterGreater] = [6, '>>'];

/** Whether the current token can continue an expression as a binary operator. */
export function isBinaryOperator(kind: Tok): boolean {
  return OPERATORS[kind] !== undefined;
}

function binaryRest(
  lexer: Lexer,
  context: ExprContext,
  precedence: number,
  first: Expr,
  depth: number,
): Expr | undefined {
  let result = first;
  let length = 0;
  for (;;) {
    const operator = OPERATORS[lexer.kind()];
    if (operator === undefined || operator[0] < precedence) return result;
    if (depth > MAX_DEPTH) return lexer.fail(lexer.start(), 'expression is nested too deeply');
    lexer.lex();
    let rhs = primary(lexer, context, depth + 1);
    if (rhs === undefined) return undefined;
    const following = OPERATORS[lexer.kind()];
    if (following !== undefined && operator[0] < following[0]) {
      rhs = binaryRest(lexer, context, operator[0] + 1, rhs, depth + 1);
      if (rhs === undefined) return undefined;
    }
    result = binary(operator[1], result, rhs);
    if (result.kind === 'binary' && ++length > MAX_LENGTH) return lexer.fail(lexer.start(), 'expression is too long');
  }
}

/** A binary expression, folded at once when both sides are constants: long sums of constants stay flat. */
function binary(op: BinaryOperator, lhs: Expr, rhs: Expr): Expr {
  if (lhs.kind === 'const' && rhs.kind === 'const') {
    const value = fold(op, lhs.value, rhs.value);
    if (value !== undefined) return { kind: 'const', value };
  }
  return { kind: 'binary', op, lhs, rhs };
}

function primary(lexer: Lexer, context: ExprContext, depth: number): Expr | undefined {
  if (depth > MAX_DEPTH) return lexer.fail(lexer.start(), 'expression is nested too deeply');
  const offset = lexer.start();
  const kind = lexer.kind();
  switch (kind) {
    case Tok.Integer:
      return integer(lexer, context);
    case Tok.Identifier:
    case Tok.String:
      return symbol(lexer, context, depth);
    case Tok.BigNum:
      return lexer.fail(offset, 'literal value out of range for directive');
    case Tok.Real: {
      const value = doubleBits(realValue(lexer.tokenText()));
      lexer.lex();
      return { kind: 'const', value: BigInt.asIntN(64, value) };
    }
    case Tok.Dot:
      lexer.lex();
      return { kind: 'symbol', name: context.here() };
    case Tok.LParen: {
      lexer.lex();
      const inner = expression(lexer, context, depth + 1);
      if (inner === undefined) return undefined;
      if (!lexer.skip(Tok.RParen)) return lexer.fail(lexer.start(), "expected ')'");
      return inner;
    }
    case Tok.Minus:
    case Tok.Plus:
    case Tok.Tilde:
    case Tok.Exclaim: {
      lexer.lex();
      const sub = primary(lexer, context, depth + 1);
      if (sub === undefined) return undefined;
      const op = kind === Tok.Minus ? '-' : kind === Tok.Plus ? '+' : kind === Tok.Tilde ? '~' : '!';
      if (sub.kind === 'const') return { kind: 'const', value: foldUnary(op, sub.value) };
      return { kind: 'unary', op, sub };
    }
    case Tok.LBrac:
      return lexer.fail(offset, 'brackets expression not supported on this target');
    case Tok.Dollar:
    case Tok.Star:
    case Tok.At:
      return lexer.fail(offset, 'invalid token in expression');
    case Tok.Error:
      return lexer.fail(offset, lexer.errorText());
    default:
      return lexer.fail(offset, 'unknown token in expression');
  }
}

function integer(lexer: Lexer, context: ExprContext): Expr | undefined {
  const offset = lexer.start();
  const value = lexer.bigint();
  lexer.lex();
  if (lexer.is(Tok.Identifier)) {
    const [direction, specifierText] = splitAt(lexer.tokenText());
    if (direction === 'f' || direction === 'b') {
      let specifier: Specifier | undefined;
      if (specifierText !== undefined) {
        specifier = specifierOf(specifierText);
        if (specifier === undefined) return lexer.fail(lexer.start(), `invalid variant '${specifierText}'`);
      }
      const name = context.numericLabel(value, direction);
      if (name === undefined) return lexer.fail(offset, 'directional label undefined');
      lexer.lex();
      return { kind: 'symbol', name, specifier };
    }
  }
  return { kind: 'const', value };
}

function splitAt(text: string): [string, string | undefined] {
  const at = text.indexOf('@');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function symbol(lexer: Lexer, context: ExprContext, depth: number): Expr | undefined {
  const offset = lexer.start();
  let name: string;
  let specifierText: string | undefined;
  let specifierOffset = offset;
  if (lexer.is(Tok.String)) {
    const value = lexer.stringValue();
    if (value === undefined) return undefined;
    name = value;
    lexer.lex();
    if (lexer.skip(Tok.At)) {
      if (!lexer.is(Tok.Identifier)) return lexer.fail(lexer.start(), "expected symbol variant after '@'");
      specifierText = lexer.tokenText();
      specifierOffset = lexer.start();
      lexer.lex();
    }
  } else {
    const text = lexer.tokenText();
    if (lexer.kind(1) === Tok.LParen) {
      const called = EXPRESSION_FUNCTIONS.find((f) => f === text);
      if (called !== undefined) return call(lexer, context, called, depth);
    }
    [name, specifierText] = splitAt(text);
    specifierOffset = offset + name.length + 1;
    lexer.lex();
  }
  if (name === '') return lexer.fail(lexer.start(), 'expected a symbol reference');
  if (specifierText !== undefined) {
    const specifier = specifierOf(specifierText);
    if (specifier === undefined) return lexer.fail(specifierOffset, `invalid variant '${specifierText}'`);
    return { kind: 'symbol', name, specifier };
  }
  const value = context.constant(name);
  return value === undefined ? { kind: 'symbol', name } : { kind: 'const', value };
}

function call(lexer: Lexer, context: ExprContext, name: ExpressionFunction, depth: number): Expr | undefined {
  lexer.lex();
  lexer.lex();
  const args: Expr[] = [];
  let commas = 0;
  for (;;) {
    if (lexer.skip(Tok.RParen)) {
      if (args.length === 0) return lexer.fail(lexer.start(), `empty ${name} expression`);
      if (commas + 1 !== args.length) return lexer.fail(lexer.start(), `mismatch of commas in ${name} expression`);
      const arity = ARITY[name];
      if (arity !== undefined && args.length !== arity) {
        return lexer.fail(lexer.start(), `${name} expression takes ${arity} arguments`);
      }
      return { kind: 'call', name, args };
    }
    const arg = expression(lexer, context, depth + 1);
    if (arg === undefined) return undefined;
    args.push(arg);
    const comma = lexer.skip(Tok.Comma);
    if (comma) commas++;
    if (!comma && !lexer.is(Tok.RParen)) return lexer.fail(lexer.start(), `unexpected token in ${name} expression`);
  }
}

const ARITY: Partial<Record<ExpressionFunction, number>> = {
  extrasgprs: 3,
  totalnumvgprs: 2,
  alignto: 2,
  occupancy: 7,
};

const IDENTIFIER = /^[A-Za-z_.$][A-Za-z0-9_.$@]*$/;

/** A symbol name as LLVM prints it: quoted when it is not a plain identifier. */
export function symbolText(name: string): string {
  if (IDENTIFIER.test(name)) return name;
  return `"${name.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

/** The expression as LLVM prints it in fixups and directives. */
export function exprText(expr: Expr): string {
  switch (expr.kind) {
    case 'const':
      return expr.value.toString();
    case 'symbol':
      return expr.specifier === undefined ? symbolText(expr.name) : `${symbolText(expr.name)}@${expr.specifier}`;
    case 'unary':
      return expr.sub.kind === 'binary' ? `${expr.op}(${exprText(expr.sub)})` : `${expr.op}${exprText(expr.sub)}`;
    case 'call':
      return `${expr.name}(${expr.args.map(exprText).join(', ')})`;
    case 'binary': {
      const isSum = isAdditive(expr) && isAdditive(expr.lhs);
      const lhs = isSum ? exprText(expr.lhs) : simpleText(expr.lhs);
      if (expr.op === '+' && expr.rhs.kind === 'const' && expr.rhs.value < 0n) return lhs + expr.rhs.value.toString();
      const op = expr.op === '|!' ? '!' : expr.op;
      return `${lhs}${op}${simpleText(expr.rhs)}`;
    }
  }
}

function isAdditive(expr: Expr): boolean {
  return expr.kind === 'binary' && (expr.op === '+' || expr.op === '-');
}

/** LLVM puts only binary operands in parentheses, and not the left side of a chain of sums. */
function simpleText(expr: Expr): string {
  return expr.kind === 'binary' ? `(${exprText(expr)})` : exprText(expr);
}
