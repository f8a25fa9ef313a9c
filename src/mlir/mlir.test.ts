// MLIR text: tokens, operations, attributes, and edits that leave every other byte alone.
import { describe, expect, test } from 'vitest';
import type { WavesmithError } from '../base/index.ts';
import { entryOf, parseAttribute, parseDictionary } from './attribute.ts';
import { Edits, moduleAttribute, removeModuleAttribute, setModuleAttribute, topOperations } from './edit.ts';
import { decodeModule, MAX_MODULE_BYTES, quoteBytes, stringBytes, stringText, tokenize } from './lex.ts';
import { parseMlir, tokenText, walk } from './parse.ts';

function errorOf(run: () => unknown): WavesmithError {
  try {
    run();
  } catch (error) {
    return error as WavesmithError;
  }
  throw new Error('no error was thrown');
}

const set = (text: string, value = '1 : i64'): string => {
  const edits = new Edits();
  setModuleAttribute(parseMlir(text), edits, 'iree.export', value);
  return edits.apply(text);
};
const remove = (text: string): string => {
  const edits = new Edits();
  removeModuleAttribute(parseMlir(text), edits, 'iree.export');
  return edits.apply(text);
};

const PRETTY = `// A comment with "quotes" and {braces
#map = affine_map<(d0)[s0] -> (d0 + s0 floordiv 2)>
#set = affine_set<(d0) : (d0 - 1 >= 0, -d0 + 5 >= 0, d0 == 3)>
!t = tensor<4x8xf32>
module @top attributes {a.b = "x\\22y\\\\", c.d = [1, -2.5e-3 : f16, @s::@"t u", {e = unit}]} {
\tfunc.func private @f(%arg0: !t {x.y = 1 : i32}) -> !t attributes {llvm.emit_c_interface} {
    %0:2 = "test.op"(%arg0) <{p = array<i64: 1, 2>}> ({
    ^bb0(%x: f32):   // a label
      %y = arith.addf %x, %x fastmath<fast> : f32
      "test.yield"(%y) : (f32) -> ()
    }, {
      scf.yield
    }) {q = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, r = dense_resource<blob> : tensor<3xf32>} : (!t) -> (!t, !t) loc("f.py":1:2)
    cf.cond_br %c, ^bb1(%0#0 : !t), ^bb2
  ^bb1(%a: !t):
    return %a : !t
  ^bb2:  // another
    scf.for %i = %c0 to %c1 step %c1 iter_args(%acc = %0#1) -> (!t) {
      scf.yield %acc : !t
    }
    return %0#1 : !t loc(#loc)
  }
  gpu.module @g { gpu.func @k() kernel { gpu.return } }
}
#loc = loc(unknown)

{-#
  dialect_resources: { builtin: { blob: "0x0400000001000000" } }
#-}
`;

describe('tokens', () => {
  test('cover the text: what lies between them is blank or a comment', () => {
    const { text, starts, ends, count } = tokenize(PRETTY);
    let at = 0;
    for (let token = 0; token < count; token++) {
      expect(
        text
          .slice(at, starts[token])
          .replace(/\/\/.*$/gm, '')
          .trim(),
      ).toBe('');
      at = ends[token];
    }
    expect(at).toBe(text.length);
  });

  test.each([
    ['-> ::@a <= >= == ... {-# #-}', ['->', '::', '@a', '<=', '>=', '==', '...', '{-#', '#-}']],
    ['!llvm.ptr->i32', ['!llvm.ptr', '->', 'i32']],
    ['tensor<4x?x0x1Fxf32>', ['tensor', '<', '4', 'x', '?', 'x0x1Fxf32', '>']],
    ['1.0e+5 2.5 7e 0xFF80 1.', ['1.0e+5', '2.5', '7', 'e', '0xFF80', '1.']],
    ['%a-b %0#1 ^bb1 @"q\\"r"', ['%a-b', '%0', '#1', '^bb1', '@"q\\"r"']],
  ])('%s', (text, tokens) => {
    const list = tokenize(text);
    const found = Array.from({ length: list.count - 1 }, (_, i) => text.slice(list.starts[i], list.ends[i]));
    expect(found).toEqual(tokens);
  });

  test('strings keep bytes through escapes', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const quoted = quoteBytes(bytes);
    expect(stringBytes(quoted)).toEqual(bytes);
    expect(quoted).toContain('\\00\\01');
    expect(quoted).toContain('!\\22#');
    expect(stringText('"a\\tb\\n\\C3\\A9 é"')).toBe('a\tb\né é');
  });

  test.each([
    ['"abc', 1, 1, /not closed/],
    ['a\n  "x\\q"', 2, 5, /escape/],
    ['module {\n  $x\n}', 2, 3, /cannot start/],
    ['% = 1', 1, 1, /name is missing/],
  ])('%j is refused with line and column', (text, line, column, message) => {
    const error = errorOf(() => tokenize(text, 'm.mlir'));
    expect(error.code).toBe('mlir/bad-token');
    expect(error.position).toMatchObject({ file: 'm.mlir', line, column });
    expect(error.message).toMatch(message);
  });

  test('invalid UTF-8 is told by its byte, 100 MB by the limit', () => {
    const bytes = new TextEncoder().encode('module {\n}\n');
    bytes[8] = 0xff;
    expect(errorOf(() => decodeModule(bytes))).toMatchObject({
      code: 'mlir/invalid-utf8',
      position: { byteOffset: 8 },
    });
    expect(errorOf(() => decodeModule(new Uint8Array(100 << 20)))).toMatchObject({ code: 'mlir/too-large' });
    expect(MAX_MODULE_BYTES).toBeLessThan(100 << 20);
    expect(decodeModule(new TextEncoder().encode('\ufeffmodule {}'))).toBe('\ufeffmodule {}');
  });
});

describe('operations', () => {
  test('of the pretty form, the generic form and inside regions', () => {
    const document = parseMlir(PRETTY);
    expect([...walk(document.operations)].map((operation) => operation.name)).toEqual([
      'module',
      'func.func',
      'test.op',
      'arith.addf',
      'test.yield',
      'scf.yield',
      'cf.cond_br',
      'return',
      'scf.for',
      'scf.yield',
      'return',
      'gpu.module',
      'gpu.func',
      'gpu.return',
    ]);
    const op = [...walk(document.operations)][2];
    expect(op).toMatchObject({ generic: true, results: [{ name: '%0', count: 2 }] });
    expect(op.regions).toHaveLength(2);
    expect([...document.aliases.keys()]).toEqual(['#map', '#set', '!t', '#loc']);
    expect(topOperations(document).map((operation) => operation.name)).toEqual(['func.func', 'gpu.module']);
  });

  test('several on one line, and operands over several lines', () => {
    const document = parseMlir(
      'module { func.func @f() { %a = arith.constant 1 : i32 %b = arith.constant 2 : i32 "x.y"(%a,\n %b) : (i32, i32) -> () return } }',
    );
    expect([...walk(document.operations)].map((o) => o.name)).toEqual([
      'module',
      'func.func',
      'arith.constant',
      'arith.constant',
      'x.y',
      'return',
    ]);
  });

  test('a value behind a dialect type belongs to its operation, an alias stands on a line of its own', () => {
    const text =
      '#bytes = dense<1> : tensor<4xi8>\nfunc.func @f() {\n  %0 = util.buffer.constant : !util.buffer = #bytes\n  %1 = a.b %0 : i32\n  return\n}\n#later = 1\n';
    const { operations, aliases } = parseMlir(text);
    expect([...walk(operations)].map((o) => o.name)).toEqual(['func.func', 'util.buffer.constant', 'a.b', 'return']);
    expect([...aliases.keys()]).toEqual(['#bytes', '#later']);
  });

  test('a lone operation without operands is a body, a lone attribute a dictionary', () => {
    const document = parseMlir(
      'func.func @f() attributes {a.b} {\n  test.op\n}\nfunc.func @g() { test.op }\n"x.y"() {c.d} : () -> ()\n',
    );
    expect([...walk(document.operations)].map((o) => o.name)).toEqual([
      'func.func',
      'test.op',
      'func.func',
      'test.op',
      'x.y',
    ]);
    expect(document.operations.map((o) => o.dictionaries.length)).toEqual([1, 0, 1]);
  });

  test.each([
    ['module {\n  func.func @f() {\n', 2, 18, 'mlir/unbalanced'],
    ['module {\n)\n}', 2, 1, 'mlir/unbalanced'],
    ['module {\n  42\n}', 2, 3, 'mlir/unexpected'],
    ['hello', 1, 1, 'mlir/unexpected'],
    [`module {\n${'('.repeat(300)}${')'.repeat(300)}\n}`, 2, 200, 'mlir/too-deep'],
  ])('%j is refused with line and column', (text, line, column, code) => {
    const error = errorOf(() => parseMlir(text));
    expect(error.code).toBe(code);
    expect(error.position).toMatchObject({ line, column });
  });

  test('a module of 5 MB in one function is read in seconds', () => {
    const line = '    %x = "test.op"(%a, %b) {k = [1, 2, {z = dense<1.0> : tensor<4xf32>}]} : (i32, i32) -> i32\n';
    const text = `module {\n  func.func @f() {\n${line.repeat(50_000)}    return\n  }\n}\n`;
    const started = process.cpuUsage();
    const document = parseMlir(text);
    expect([...walk(document.operations)]).toHaveLength(50_003);
    expect(process.cpuUsage(started).user).toBeLessThan(20e6);
  });
});

describe('attributes', () => {
  const attribute = (text: string) => {
    const document = parseMlir(`#alias = array<i64: 7, 8>\nmodule attributes {x = ${text}, y = 1 : i64} {\n}\n`);
    const open = document.operations[0].dictionaries[0];
    const entries = parseDictionary(document, open);
    expect(entryOf(entries, 'y')).toMatchObject({ kind: 'integer', value: 1n });
    return entryOf(entries, 'x');
  };
  test.each([
    ['"a\\22b"', { kind: 'string', value: '"a\\22b"' }],
    ['-5 : i8', { kind: 'integer', value: -5n, type: 'i8' }],
    ['0x1F', { kind: 'integer', value: 31n }],
    ['-2.5e-1 : f32', { kind: 'float', value: -0.25, type: 'f32' }],
    ['true', { kind: 'boolean', value: true }],
    ['@a::@"b c"', { kind: 'symbol', path: ['a', 'b c'] }],
    ['array<i64: 1, -2, 3>', { kind: 'denseArray', element: 'i64', items: ['1', '-2', '3'] }],
    ['array<i64>', { kind: 'denseArray', element: 'i64', items: [] }],
    ['#alias', { kind: 'denseArray', items: ['7', '8'] }],
    ['#gpu.object<#rocdl.target<chip = "g">, bin = "\\00">', { kind: 'dialect', name: 'gpu.object' }],
    ['affine_map<(d0) -> (d0)>', { kind: 'opaque' }],
    ['dense<[1, 2]> : tensor<2xi8>', { kind: 'opaque' }],
    ['tensor<2x3xf32>', { kind: 'opaque' }],
  ])('%s', (text, expected) => expect(attribute(text)).toMatchObject(expected));

  test('nested lists and dictionaries', () => {
    const value = attribute('[1, [2.0, "s"], {k = @f, u}]');
    expect(value).toMatchObject({
      kind: 'array',
      items: [
        { kind: 'integer' },
        { kind: 'array', items: [{ kind: 'float' }, { kind: 'string' }] },
        { kind: 'dictionary', entries: [{ name: 'k' }, { name: 'u', value: { kind: 'unit' } }] },
      ],
    });
  });

  test('a dictionary that is none is refused where it goes wrong', () => {
    const document = parseMlir('module attributes {a = 1, 5} {\n}\n');
    const error = errorOf(() => parseDictionary(document, document.operations[0].dictionaries[0]));
    expect(error).toMatchObject({ code: 'mlir/bad-dictionary', position: { line: 1, column: 27 } });
    expect(parseAttribute(document, 0, 0)).toMatchObject({ kind: 'opaque' });
  });
});

describe('the top module’s attribute', () => {
  test.each([
    ['module {\n}\n', 'module attributes {iree.export = 1 : i64} {\n}\n'],
    ['module @m {}', 'module @m attributes {iree.export = 1 : i64} {}'],
    ['module attributes {a.b} {\n}', 'module attributes {a.b, iree.export = 1 : i64} {\n}'],
    ['module attributes {} {\n}', 'module attributes {iree.export = 1 : i64} {\n}'],
    ['module attributes {iree.export = "x", z.z = 2} {}', 'module attributes {iree.export = 1 : i64, z.z = 2} {}'],
    ['"builtin.module"() ({\n}) : () -> ()', '"builtin.module"() ({\n}) {iree.export = 1 : i64} : () -> ()'],
    [
      '"builtin.module"() <{sym_name = "m"}> ({\n}) {a.b} : () -> ()',
      '"builtin.module"() <{sym_name = "m"}> ({\n}) {a.b, iree.export = 1 : i64} : () -> ()',
    ],
    ['', 'module attributes {iree.export = 1 : i64} {\n}\n'],
  ])('is set in %j', (before, after) => expect(set(before)).toBe(after));

  test('is set in a module that is implied: aliases stay in front', () => {
    expect(set('#a = 1 : i8\nfunc.func @f() {\n  return\n}\n#b = 2 : i8\nfunc.func @g() {\n  return\n}\n')).toBe(
      '#a = 1 : i8\n#b = 2 : i8\nmodule attributes {iree.export = 1 : i64} {\nfunc.func @f() {\n  return\n}\n\nfunc.func @g() {\n  return\n}\n}\n',
    );
  });

  test.each([
    ['module attributes {iree.export = "x"} {}', 'module attributes {} {}'],
    ['module attributes {a = 1, iree.export = "x", b} {}', 'module attributes {a = 1, b} {}'],
    ['module attributes {iree.export = "x", b} {}', 'module attributes {b} {}'],
    ['module {}', 'module {}'],
  ])('is removed from %j', (before, after) => expect(remove(before)).toBe(after));

  test('setting and removing it keeps every other byte', () => {
    const marked = set(PRETTY, '#gpu.object<#rocdl.target<O = 3>, bin = "\\7FELF\\22>}">');
    const document = parseMlir(marked);
    const value = moduleAttribute(document, 'iree.export');
    expect(value).toMatchObject({ kind: 'dialect', name: 'gpu.object' });
    expect(tokenText(document, value?.first ?? 0)).toBe('#gpu.object');
    expect(remove(marked)).toBe(PRETTY);
  });
});
