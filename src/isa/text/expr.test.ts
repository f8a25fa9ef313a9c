// Assembler expressions: the values and error texts llvm-mc gives for the same text.
import { describe, expect, test } from 'vitest';
import { evaluate, evaluateAbsolute } from './evaluate.ts';
import { type ExprContext, exprText, parseExpression } from './expr.ts';
import type { Expr } from './expr-tree.ts';
import { Lexer } from './lexer.ts';
import { realValue } from './real.ts';

const context: ExprContext = {
  constant: (name) => (name === 'five' ? 5n : undefined),
  here: () => '.Ltmp0',
  numericLabel: (label, direction) => (direction === 'f' ? `.L${label}` : undefined),
};

function parse(text: string): { expr: Expr | undefined; error: string | undefined } {
  const lexer = new Lexer(text);
  lexer.nextStatement();
  const expr = parseExpression(lexer, context);
  return { expr, error: lexer.diagnostics[0]?.message };
}

describe('constants', () => {
  test.each<[string, bigint]>([
    ['3>>1<<4+2*3|1^4', 19n],
    ['-1>>1', 0x7fffffffffffffffn],
    ['1==1', -1n],
    ['1!=1', 0n],
    ['five&&2', 1n],
    ['1 !2', -3n],
    ['max(1,2,3)+or(1,2)', 6n],
    ['alignto(5,4)', 8n],
    ['0xffffffffffffffff+1', 0n],
    ['0x7fffffffffffffff+1', -0x8000000000000000n],
    ['2+3*4-(1<<3)', 6n],
    ['-7/2', -3n],
    ['-7%3', -1n],
    ['!0', 1n],
    ['~5', -6n],
    ['1.0', 0x3ff0000000000000n],
    ["'a'", 97n],
  ])('%s', (text, value) => {
    const { expr } = parse(text);
    expect(expr && evaluateAbsolute(expr, {})).toBe(value);
  });
});

describe('errors', () => {
  test.each<[string, string]>([
    ['99999999999999999999', 'literal value out of range for directive'],
    ['1+', 'unknown token in expression'],
    ['(1', "expected ')'"],
    ['1b', 'directional label undefined'],
    ['a@b', "invalid variant 'b'"],
    ['max()', 'empty max expression'],
    ['(a+b)@', "unexpected symbol modifier following '@'"],
    ['('.repeat(5000), 'expression is nested too deeply'],
    [Array(5000).fill('a').join('+'), 'expression is too long'],
  ])('%.30s', (text, message) => {
    expect(parse(text).error).toBe(message);
  });
});

test('text is written as LLVM writes fixups', () => {
  expect(exprText(parse('a@rel32@lo+4').expr!)).toBe('a@rel32@lo+4');
  expect(exprText(parse('(a-b)*2+1').expr!)).toBe('((a-b)*2)+1');
  expect(exprText(parse('"foo bar"').expr!)).toBe('"foo bar"');
  expect(exprText(parse('1/0').expr!)).toBe('1/0');
});

test('symbols: differences fold, a chain of doubled symbols stops', () => {
  const labels: Record<string, bigint> = { a: 16n, b: 4n };
  const resolver = { difference: (x: string, y: string) => labels[x] - labels[y] };
  expect(evaluateAbsolute(parse('(a-b)/4').expr!, resolver)).toBe(3n);
  expect(evaluate(parse('a+4').expr!, resolver)).toEqual({
    constant: 4n,
    add: { kind: 'symbol', name: 'a' },
    sub: undefined,
  });
  const doubled = {
    variable: (name: string): Expr | undefined => {
      const n = Number(name.slice(1));
      return n === 0 ? { kind: 'const', value: 1n } : parse(`x${n - 1}+x${n - 1}`).expr;
    },
  };
  expect(evaluateAbsolute(parse('x3+0').expr!, doubled)).toBe(8n);
  expect(evaluateAbsolute(parse('x60').expr!, doubled)).toBeUndefined();
});

test('hexadecimal floating point rounds once', () => {
  expect(realValue('0x1.8p3')).toBe(12);
  expect(realValue('0x1.fffffffffffff8p0')).toBe(2);
  expect(realValue('0x1p-1074')).toBe(5e-324);
  expect(realValue('0x1p-1075')).toBe(0);
  expect(realValue('0x1p1024')).toBe(Number.POSITIVE_INFINITY);
});
