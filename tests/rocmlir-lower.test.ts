// Lowering migraphx modules: what is written verifies with mlir-opt, what cannot be lowered is named with its line.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WavesmithError } from '../src/base/index.ts';
import { parseMlir } from '../src/mlir/parse.ts';
import { reshapeGroups } from '../src/rocmlir/lower/emit.ts';
import { lowerModule } from '../src/rocmlir/lower/lower.ts';
import { memoryLayout } from '../src/rocmlir/lower/types.ts';
import { kernelFunction } from '../src/rocmlir/run.ts';
import { examplesFolder, hasMlirOpt, mlirOpt } from './support/rocmlir.ts';

const lower = (text: string): string =>
  lowerModule(parseMlir(text, 'm.mlir'), { fuseAttention: false, reader: 'module' });

/** A function with one operation on line 3; `types` are of its operands and its result. */
function moduleWith(operation: string, attributes: string, types: string[], result: string): string {
  const args = types.map((type, i) => `%arg${i}: ${type}`).join(', ');
  const names = types.map((_, i) => `%arg${i}`).join(', ');
  return `module {
  func.func @f(${args}) -> ${result} {
    %0 = migraphx.${operation} ${names} ${attributes} : ${types.join(', ')} -> ${result}
    return %0 : ${result}
  }
}
`;
}

const f = (shape: string): string => `tensor<${shape}xf32>`;

test.skipIf(!hasMlirOpt())('every example lowers to what mlir-opt verifies', () => {
  const names = readdirSync(examplesFolder);
  const texts = names.map((name) => lower(readFileSync(join(examplesFolder, name), 'utf8')));
  expect(mlirOpt(texts.join('\n// -----\n'), ['--split-input-file']).match(/func\.func/g)).toHaveLength(names.length);
});

/** Every operation that is lowered, on every element type it is for. */
const OPERATIONS: readonly [string, string, (e: string) => string[], (e: string) => string, readonly string[]][] = [
  ...['add', 'sub', 'mul', 'div', 'max', 'min'].map(
    (name) =>
      [
        name,
        '',
        (e) => [`tensor<4x8x${e}>`, `tensor<4x8x${e}>`],
        (e) => `tensor<4x8x${e}>`,
        ['f32', 'f16', 'bf16', 'i8', 'i32'],
      ] as (typeof OPERATIONS)[number],
  ),
  ...['relu', 'neg', 'abs'].map(
    (name) =>
      [
        name,
        '',
        (e) => [`tensor<4x8x${e}>`],
        (e) => `tensor<4x8x${e}>`,
        ['f32', 'f16', 'bf16', 'i8', 'i32'],
      ] as (typeof OPERATIONS)[number],
  ),
  ...['sigmoid', 'tanh', 'exp', 'log', 'erf', 'gelu', 'sqrt', 'rsqrt', 'recip', 'ceil', 'floor'].map(
    (name) =>
      [
        name,
        '',
        (e) => [`tensor<4x8x${e}>`],
        (e) => `tensor<4x8x${e}>`,
        ['f32', 'f16', 'bf16'],
      ] as (typeof OPERATIONS)[number],
  ),
  ['pow', '', (e) => [`tensor<4x${e}>`, `tensor<4x${e}>`], (e) => `tensor<4x${e}>`, ['f32', 'f16', 'bf16']],
  [
    'clip',
    '',
    (e) => [`tensor<4x${e}>`, `tensor<4x${e}>`, `tensor<4x${e}>`],
    (e) => `tensor<4x${e}>`,
    ['f32', 'f16', 'bf16', 'i8'],
  ],
  [
    'where',
    '',
    (e) => ['tensor<4xi8>', `tensor<4x${e}>`, `tensor<4x${e}>`],
    (e) => `tensor<4x${e}>`,
    ['f32', 'f16', 'bf16', 'i8'],
  ],
  ['dot', '', (e) => [`tensor<2x4x8x${e}>`, `tensor<2x8x4x${e}>`], (e) => `tensor<2x4x4x${e}>`, ['f32', 'f16', 'bf16']],
  ['quant_dot', '', () => ['tensor<4x8xi8>', 'tensor<8x4xi8>'], () => 'tensor<4x4xi32>', ['i8']],
  ['softmax', '{axis = 1 : i64}', (e) => [`tensor<2x4x8x${e}>`], (e) => `tensor<2x4x8x${e}>`, ['f32', 'f16', 'bf16']],
  ...['reduce_sum', 'reduce_mean', 'reduce_max'].map(
    (name) =>
      [
        name,
        '{axes = [0, 2]}',
        (e) => [`tensor<2x4x8x${e}>`],
        (e) => `tensor<1x4x1x${e}>`,
        ['f32', 'f16', 'bf16', 'i8'],
      ] as (typeof OPERATIONS)[number],
  ),
  ['reshape', '{dims = [4, 2, 8]}', (e) => [`tensor<2x4x8x${e}>`], (e) => `tensor<4x2x8x${e}>`, ['f32', 'i8']],
  ['flatten', '{axis = 1 : i64}', (e) => [`tensor<2x4x8x${e}>`], (e) => `tensor<2x32x${e}>`, ['f16']],
  [
    'transpose',
    '{permutation = [2, 0, 1]}',
    (e) => [`tensor<2x4x8x${e}>`],
    (e) => `tensor<8x2x4x${e}>`,
    ['f32', 'bf16'],
  ],
  [
    'multibroadcast',
    '{out_lens = [3, 2, 4, 8]}',
    (e) => [`tensor<2x1x8x${e}>`],
    (e) => `tensor<3x2x4x8x${e}>`,
    ['f32', 'i8'],
  ],
  [
    'broadcast',
    '{axis = 1 : i64, out_lens = [3, 4, 5]}',
    (e) => [`tensor<4x${e}>`],
    (e) => `tensor<3x4x5x${e}>`,
    ['f32', 'i8'],
  ],
  [
    'slice',
    '{axes = [0, 2], starts = [1, -5], ends = [2, 8]}',
    (e) => [`tensor<2x4x8x${e}>`],
    (e) => `tensor<1x4x5x${e}>`,
    ['f32'],
  ],
  [
    'convolution',
    '{dilation = [1, 1], group = 2 : i64, padding = [1, 0, 2, 1], stride = [2, 1]}',
    (e) => [`tensor<1x4x9x9x${e}>`, `tensor<6x2x3x3x${e}>`],
    (e) => `tensor<1x6x5x8x${e}>`,
    ['f32', 'f16', 'bf16'],
  ],
  [
    'convolution',
    '{dilation = [1, 1, 1], group = 1 : i64, padding = [0, 0, 0, 0, 0, 0], stride = [1, 1, 1]}',
    (e) => [`tensor<1x2x4x4x4x${e}>`, `tensor<3x2x2x2x2x${e}>`],
    (e) => `tensor<1x3x3x3x3x${e}>`,
    ['f32'],
  ],
  [
    'quantizelinear',
    '',
    (e) => [`tensor<4x${e}>`, `tensor<4x${e}>`, 'tensor<4xi8>'],
    () => 'tensor<4xi8>',
    ['f32', 'f16', 'bf16'],
  ],
  [
    'dequantizelinear',
    '',
    (e) => ['tensor<4xi8>', `tensor<4x${e}>`, 'tensor<4xi8>'],
    (e) => `tensor<4x${e}>`,
    ['f32', 'f16', 'bf16'],
  ],
];

test.skipIf(!hasMlirOpt())('every operation on every element type lowers to what mlir-opt verifies', () => {
  const texts = OPERATIONS.flatMap(([name, attributes, operands, result, elements]) =>
    elements.map((e) => lower(moduleWith(name, attributes, operands(e), result(e)))),
  );
  for (const [from, to] of [
    ['f32', 'f16'],
    ['f16', 'bf16'],
    ['i8', 'f32'],
    ['f32', 'i8'],
    ['i32', 'i8'],
    ['i8', 'i32'],
  ]) {
    texts.push(
      lower(
        moduleWith('convert', '', [`tensor<4x${from}>`], `tensor<4x${to}>`)
          .replace(' -> tensor<4x', ' to tensor<4x')
          .replace(`) to tensor`, ') -> tensor'),
      ),
    );
  }
  expect(texts.join('')).not.toContain('migraphx');
  expect(mlirOpt(texts.join('\n// -----\n'), ['--split-input-file']).match(/func\.func/g)).toHaveLength(texts.length);
  expect(texts.length).toBeGreaterThan(90);
});

/** TOSA before 1.0: one module with every operation that is lowered. */
const OLD_TOSA = `module {
  func.func @f(%a: tensor<32xf32>, %b: tensor<4x8xf32>, %c: tensor<2x4x4x4x3xf16>, %w: tensor<6x2x2x2x3xf16>, %z: tensor<6xf16>) -> (tensor<1x8xf32>, tensor<4x4xf16>, tensor<2x3x3x3x6xf16>) {
    %0 = tosa.reshape %a {new_shape = array<i64: 4, 8>} : (tensor<32xf32>) -> tensor<4x8xf32>
    %k = "tosa.const"() <{value = dense<2.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
${['add', 'sub', 'pow', 'maximum', 'minimum']
  .map((name, i) => `    %b${i} = tosa.${name} %0, %k : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>`)
  .join('\n')}
    %m = tosa.mul %b0, %b4 {shift = 0 : i8} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
${['exp', 'log', 'erf', 'tanh', 'sigmoid', 'rsqrt', 'reciprocal', 'ceil', 'floor', 'abs', 'negate']
  .map((name, i) => `    %u${i} = tosa.${name} %${i === 0 ? 'm' : `u${i - 1}`} : (tensor<4x8xf32>) -> tensor<4x8xf32>`)
  .join('\n')}
    %l = tosa.clamp %u10 {max_fp = 6.0 : f32, max_int = 6 : i64, min_fp = -1.5 : f32, min_int = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = tosa.reduce_sum %l {axis = 0 : i32} : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %x = tosa.reduce_max %l {axis = 0 : i32} : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %s = tosa.add %r, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %p = "tosa.const"() <{value = dense<[1, 0]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %t = tosa.transpose %b, %p : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<8x4xf32>
    %q = tosa.slice %t {size = array<i64: 8, 4>, start = array<i64: 0, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %q3 = tosa.reshape %q {new_shape = array<i64: 1, 8, 4>} : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
    %l3 = tosa.reshape %l {new_shape = array<i64: 1, 4, 8>} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %d = tosa.matmul %l3, %q3 : (tensor<1x4x8xf32>, tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
    %d2 = tosa.reshape %d {new_shape = array<i64: 4, 4>} : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %e = tosa.cast %d2 : (tensor<4x4xf32>) -> tensor<4x4xf16>
    %v = tosa.conv3d %c, %w, %z {dilation = array<i64: 1, 1, 1>, group = 1 : i64, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : (tensor<2x4x4x4x3xf16>, tensor<6x2x2x2x3xf16>, tensor<6xf16>) -> tensor<2x3x3x3x6xf16>
    return %s, %e, %v : tensor<1x8xf32>, tensor<4x4xf16>, tensor<2x3x3x3x6xf16>
  }
}
`;

test.skipIf(!hasMlirOpt())('TOSA from before 1.0 lowers to what mlir-opt verifies', () => {
  const lowered = lower(OLD_TOSA);
  expect(lowered).not.toContain('tosa.');
  expect(mlirOpt(lowered)).toContain('linalg.generic');
  const modern = OLD_TOSA.replace(/ \{new_shape[^}]*\}/g, '').replaceAll('value = ', 'values = ');
  expect(lower(modern.replace(/^.*tosa\.(?:transpose|slice|matmul|clamp|mul|conv3d).*\n/gm, ''))).toContain('tosa.add');
});

describe('what is not lowered', () => {
  test.each([
    [
      'an unknown operation',
      moduleWith('pooling', '{mode = "max"}', [f('4x4')], f('2x2')),
      'rocmlir/unsupported-operation',
      3,
      /'migraphx\.pooling'/,
    ],
    [
      'another dialect',
      'module {\n  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n    %0 = migraphx.relu %a : tensor<4xf32> -> tensor<4xf32>\n    %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>\n    return %1 : tensor<4xf32>\n  }\n}\n',
      'rocmlir/unsupported-operation',
      4,
      /'tosa\.exp'/,
    ],
    [
      'a dynamic shape',
      moduleWith('relu', '', ['tensor<?x4xf32>'], 'tensor<?x4xf32>'),
      'rocmlir/dynamic-shape',
      2,
      /not known at compile time/,
    ],
    ['f80', moduleWith('relu', '', ['tensor<4xf80>'], 'tensor<4xf80>'), 'rocmlir/element-type', 2, /f80/],
    ['a wrong result shape', moduleWith('dot', '', [f('4x8'), f('8x4')], f('4x5')), 'rocmlir/shape', 3, /4x4xf32/],
    [
      'factors that do not fit',
      moduleWith('dot', '', [f('4x8'), f('7x4')], f('4x4')),
      'rocmlir/shape',
      3,
      /4x8 and 7x4/,
    ],
    ['a missing attribute', moduleWith('softmax', '', [f('4x8')], f('4x8')), 'rocmlir/missing-attribute', 3, /'axis'/],
    [
      'a malformed attribute',
      moduleWith('transpose', '{permutation = "x"}', [f('4x8')], f('8x4')),
      'rocmlir/missing-attribute',
      3,
      /'permutation'/,
    ],
    [
      'no permutation',
      moduleWith('transpose', '{permutation = [0, 0]}', [f('4x8')], f('4x4')),
      'rocmlir/shape',
      3,
      /no permutation/,
    ],
    [
      'automatic padding',
      moduleWith(
        'convolution',
        '{dilation = [1, 1], group = 1, padding = [0, 0], padding_mode = 1 : i64, stride = [1, 1]}',
        [f('1x2x4x4'), f('2x2x3x3')],
        f('1x2x4x4'),
      ),
      'rocmlir/unsupported-operation',
      3,
      /padding_mode/,
    ],
    [
      'a packed row of odd length',
      moduleWith('relu', '', ['!migraphx.shaped<2x3xf4E2M1FN, 3x1>'], f('2x3')),
      'rocmlir/strides',
      2,
      /whole bytes/,
    ],
    [
      'a 4-bit result',
      moduleWith('convert', '', [f('2x4')], '!migraphx.shaped<2x4xf4E2M1FN, 4x1>')
        .replace(' -> !mig', ' to !mig')
        .replace(') to', ') ->'),
      'rocmlir/element-type',
      3,
      /read, not made/,
    ],
    [
      'unpacking floats',
      moduleWith('unpack', '{axis = 0 : i64}', [f('4')], f('8')),
      'rocmlir/element-type',
      3,
      /takes bytes, not f32/,
    ],
    [
      'a backwards convolution of other channels',
      moduleWith(
        'backwards_data_convolution',
        '{dilation = [1, 1], group = 1, padding = [0, 0, 0, 0], stride = [1, 1]}',
        [f('1x3x4x4'), f('2x3x3x3')],
        f('1x3x6x6'),
      ),
      'rocmlir/shape',
      3,
      /3 channels in 1 group/,
    ],
    ['too few operands', moduleWith('add', '', [f('4')], f('4')), 'rocmlir/malformed', 3, /takes 2 operand/],
    [
      'an undefined value',
      moduleWith('relu', '', [f('4')], f('4')).replace('relu %arg0', 'relu %x'),
      'rocmlir/malformed',
      3,
      /%x is not defined/,
    ],
    ['exp of integers', moduleWith('exp', '', ['tensor<4xi8>'], 'tensor<4xi8>'), 'rocmlir/element-type', 3, /i8/],
    [
      'impossible strides',
      moduleWith('relu', '', ['!migraphx.shaped<3x2xf32, 3x2>'], f('3x2')),
      'rocmlir/strides',
      2,
      /3x2/,
    ],
  ])('%s', (_, text, code, line, message) => {
    let error: WavesmithError | undefined;
    try {
      lower(text);
    } catch (thrown) {
      error = thrown as WavesmithError;
    }
    expect(error?.code).toBe(code);
    expect(error?.position).toMatchObject({ file: 'm.mlir', line });
    expect(error?.message).toMatch(message);
  });

  test('no function, or several', () => {
    const several = 'module {\n func.func @f() {\n return\n }\n func.func @g() {\n return\n }\n}\n';
    for (const text of ['module {\n}\n', several]) {
      expect(() => kernelFunction(parseMlir(text))).toThrow(
        expect.objectContaining({ code: 'rocmlir/several-functions' }),
      );
    }
  });
});

test('everything outside the lowered functions keeps its bytes', () => {
  const text = `// é comment
#a = affine_map<(d0) -> (d0)>
module @m attributes {x.y = "\\22"} {
  func.func private @other(%x: i32)  // untouched
  func.func @f(%arg0: tensor<4xf32> {z.z = 1 : i32}) -> tensor<4xf32> attributes {kernel = "mixr"} {
    %0 = migraphx.relu %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // after
}
{-#
  dialect_resources: { builtin: { b: "0x0400000001000000" } }
#-}
`;
  const lowered = lower(text);
  const [before, after] = [text.indexOf('{\n    %0'), text.indexOf('  }\n  // after')];
  expect(lowered.startsWith(text.slice(0, before))).toBe(true);
  expect(lowered.endsWith(text.slice(after))).toBe(true);
  expect(lowered).not.toContain('migraphx.');
});

test.each([
  ['standard', [2, 3], [3, 1], { shape: [2, 3], used: [2, 3], map: [0, 1] }],
  ['transposed', [4, 3], [1, 4], { shape: [3, 4], used: [3, 4], map: [1, 0] }],
  ['repeated', [4, 3], [1, 0], { shape: [4], used: [4], map: [0, null] }],
  ['scalar', [1], [0], { shape: [1], used: [1], map: [0] }],
  ['padded', [4, 3], [5, 1], { shape: [4, 5], used: [4, 3], map: [0, 1] }],
  ['every second', [3, 2], [4, 2], { shape: [3, 2, 2], used: [3, 2, 1], map: [0, 1] }],
  ['all at once', [4, 3, 5], [1, 0, 6], { shape: [5, 6], used: [5, 4], map: [1, null, 0] }],
  ['overlapping', [3, 2], [3, 2], undefined],
])('memory layout: %s', (_, shape, strides, expected) => {
  const layout = memoryLayout({ element: 'f32', shape, strides });
  if (expected === undefined) expect(layout).toBeUndefined();
  else expect(layout).toEqual(expected);
});

test.each([
  [
    [2, 12],
    [2, 3, 4],
    [
      [[0], [0]],
      [[1], [1, 2]],
    ],
  ],
  [
    [4, 6],
    [6, 4],
    [
      [
        [0, 1],
        [0, 1],
      ],
    ],
  ],
  [[1, 4, 1], [4], [[[0, 1, 2], [0]]]],
  [[4], [1, 4, 1], [[[0], [0, 1, 2]]]],
  [[], [1, 1], []],
])('reshaping %j to %j', (from, to, groups) => {
  expect(reshapeGroups(from, to).map((group) => [group.from, group.to])).toEqual(groups);
});
