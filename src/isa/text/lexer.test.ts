// Tokens of assembly text, checked against what LLVM's AsmLexer produces for the same characters.
import { describe, expect, test } from 'vitest';
import { Lexer, Tok, textFromBytes } from './lexer.ts';

function tokens(text: string): string[] {
  const lexer = new Lexer(text);
  const out: string[] = [];
  while (lexer.nextStatement()) {
    for (; !lexer.is(Tok.EndOfStatement); lexer.lex()) out.push(`${Tok[lexer.kind()]} ${lexer.tokenText()}`);
    out.push('|');
  }
  return out;
}

describe('tokens', () => {
  test.each<[string, string]>([
    ['s_nop 0x10', 'Identifier s_nop|Integer 0x10'],
    [
      'v_add_f32 v0, |v1|, -1.5e3',
      'Identifier v_add_f32|Identifier v0|Comma ,|Pipe ||Identifier v1|Pipe ||Comma ,|Minus -|Real 1.5e3',
    ],
    ['a@rel32@lo+4', 'Identifier a@rel32@lo|Plus +|Integer 4'],
    ['1f 0b 0b101', 'Integer 1|Identifier f|Integer 0|Identifier b|Integer 0b101'],
    ['.5 .x . 1.', 'Real .5|Identifier .x|Dot .|Real 1.'],
    ['0x1.8p3 08', 'Real 0x1.8p3|Error 08'],
    [
      'a<<b<=c<>d>>e>=f',
      'Identifier a|LessLess <<|Identifier b|LessEqual <=|Identifier c|LessGreater <>|Identifier d|GreaterGreater >>|Identifier e|GreaterEqual >=|Identifier f',
    ],
    ["10UL 'a' '\\n'", "Integer 10UL|Integer 'a'|Integer '\\n'"],
    ['"a\\"b" ::', 'String "a\\"b"|Colon :|Colon :'],
    ['99999999999999999999', 'BigNum 99999999999999999999'],
  ])('%s', (text, expected) => {
    expect(tokens(text).slice(0, -1).join('|')).toBe(expected);
  });

  test('comments: ; // and /* */ anywhere, # only at the start of a statement', () => {
    expect(tokens('# x\n a ; b\n a // b\n/* 1\n2 */ a\n a # b\n')).toEqual([
      '|',
      'Identifier a',
      '|',
      'Identifier a',
      '|',
      'Identifier a',
      '|',
      'Identifier a',
      'Hash #',
      'Identifier b',
      '|',
    ]);
  });

  test('line numbers follow comments that span lines', () => {
    const lexer = new Lexer('a\n/* x\ny */ b\nc');
    const lines: number[] = [];
    while (lexer.nextStatement()) lines.push(lexer.line);
    expect(lines).toEqual([1, 3, 4]);
    expect(lexer.position(12)).toEqual({ line: 3, column: 6 });
  });

  test('integers keep 64 bits and wrap to signed', () => {
    const lexer = new Lexer('0xffffffffffffffff 9007199254740993 0777');
    lexer.nextStatement();
    expect([lexer.bigint(0), lexer.bigint(1), lexer.bigint(2)]).toEqual([-1n, 9007199254740993n, 511n]);
    expect(lexer.number(0)).toBeNaN();
    expect(lexer.number(2)).toBe(511);
  });

  test('string escapes', () => {
    const lexer = new Lexer('"a\\n\\x41\\101\\\\" "\\q"');
    lexer.nextStatement();
    expect(lexer.stringValue()).toBe('a\nAA\\');
    expect(lexer.stringValue(1)).toBeUndefined();
    expect(lexer.diagnostics[0].message).toBe('invalid escape sequence (unrecognized character)');
  });

  test('bytes above 127 keep their offsets', () => {
    expect(textFromBytes(new Uint8Array([0x61, 0xc3, 0xa9])).length).toBe(3);
  });
});
