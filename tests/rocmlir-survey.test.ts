// Modules as rocMLIR's tests write them: kernels in a module of their own, several in a file, and what a survey says of them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseMlir } from '../src/mlir/parse.ts';
import { decomposeAttention } from '../src/rocmlir/lower/decompose-attention.ts';
import { lowerModule } from '../src/rocmlir/lower/lower.ts';
import { splitModules } from '../src/rocmlir/survey.ts';
import { hasTwoOrders } from '../src/rocmlir/wrong-convolution.ts';
import { wavesmith } from './support/command.ts';
import { hasIree } from './support/rocmlir.ts';

const harness = readFileSync(join(import.meta.dirname, 'fixtures', 'rocmlir', 'harness.mlir'), 'utf8');

const FILE = `// RUN: rocmlir-opt -split-input-file %s
func.func @relu(%a: !migraphx.shaped<4x8xf32, 8x1>) -> !migraphx.shaped<4x8xf32, 8x1> {
  %0 = migraphx.relu %a : <4x8xf32, 8x1> -> <4x8xf32, 8x1>
  return %0 : !migraphx.shaped<4x8xf32, 8x1>
}
func.func @padded(%a: !migraphx.shaped<4x8xf32, 8x1>) -> !migraphx.shaped<4x8xf32, 16x1> {
  %0 = migraphx.relu %a : <4x8xf32, 8x1> -> <4x8xf32, 16x1>
  return %0 : !migraphx.shaped<4x8xf32, 16x1>
}

// -----

func.func @pooled(%a: !migraphx.shaped<1x1x4x4xf32, 16x16x4x1>) -> !migraphx.shaped<1x1x2x2xf32, 4x4x2x1> {
  %0 = migraphx.pooling %a {ceil_mode = 0 : i64, length = [2, 2], mode = "max", padding = [0, 0], stride = [2, 2]} : <1x1x4x4xf32, 16x16x4x1> -> <1x1x2x2xf32, 4x4x2x1>
  return %0 : !migraphx.shaped<1x1x2x2xf32, 4x4x2x1>
}

// -----

func.func @cut(%a: !migraphx.shaped<4xf32, 1>
`;

describe('the kernel of a file', () => {
  test('stands alone for IREE, at its line, and keeps its types beside what launches it', () => {
    const text = lowerModule(parseMlir(harness), { fuseAttention: true, reader: 'kernel' });
    expect(text.match(/func\.func/g)).toHaveLength(1);
    expect(text).not.toMatch(/module|mhal\.launch|private|original_func = @mlir_dot_wrapper/);
    const wrong = harness.replace(
      /(?<=original_func = @mlir_dot\} \{\n)\s+%0 = migraphx\.dot/,
      '%0 = migraphx.nothing',
    );
    const at = wrong.slice(0, wrong.indexOf('migraphx.nothing')).split('\n').length;
    expect(() => lowerModule(parseMlir(wrong), { fuseAttention: true, reader: 'kernel' })).toThrowError(
      expect.objectContaining({
        code: 'rocmlir/unsupported-operation',
        position: expect.objectContaining({ line: at }),
      }),
    );
  });

  test('is one of several modules, each at its line', () => {
    const parts = splitModules(FILE);
    expect(parts).toHaveLength(3);
    expect(parts[1].split('\n').findIndex((line) => line.includes('@pooled'))).toBe(
      FILE.split('\n').findIndex((line) => line.includes('@pooled')),
    );
  });
});

describe('migraphx.attention', () => {
  const attention = (rest: string, results = '%0'): string => `
func.func @a(%q: tensor<2x4x8xf16>, %k: tensor<2x8x4xf16>, %v: tensor<2x4x8xf16>) {
  ${results} = migraphx.attention %q, %k, %v {
  }${rest} : tensor<2x4x8xf16>, tensor<2x8x4xf16>, tensor<2x4x8xf16> -> tensor<2x4x8xf16>${results === '%0' ? '' : ', tensor<2x4xf32>'}
  return
}`;
  const names = (text: string): string[] =>
    [...decomposeAttention(parseMlir(text)).text.matchAll(/(?<== )migraphx\.(\w+)/g)].map(([, name]) => name);

  test('is written out on its own lines, with its types of softmax and second result', () => {
    expect(names(attention(''))).toEqual(['dot', 'softmax', 'dot']);
    expect(names(attention(' softmax_type = f32'))).toEqual(['dot', 'convert', 'softmax', 'convert', 'dot']);
    const sums = ['reduce_max', 'multibroadcast', 'sub', 'exp', 'reduce_sum', 'multibroadcast', 'div', 'log', 'add'];
    expect(names(attention('', '%0, %1'))).toEqual(['dot', 'convert', ...sums, 'reshape', 'convert', 'dot']);
    const text = attention('');
    expect(decomposeAttention(parseMlir(text)).text.split('\n')).toHaveLength(text.split('\n').length);
  });

  test('stays, and falls back by name, with a feature that is not known', () => {
    expect(names(attention(' features = kvcache'))).toEqual(['attention']);
    expect(names(attention(' {splitKV = 4 : i32}'))).toEqual(['attention']);
  });
});

test('a convolution whose image and filters are reduced in two orders is seen in the source', () => {
  const source = (filters: string): string =>
    `%8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2 + d3)>, ` +
    `affine_map<(d0, d1, d2, d3, d4) -> (${filters})>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>]}`;
  expect(hasTwoOrders(source('d1, d4, d3'))).toBe(false);
  expect(hasTwoOrders(source('d1, d3, d4'))).toBe(true);
  const matmul = '[affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (c, b)>, affine_map<(a, b, c) -> (a, b)>]';
  expect(hasTwoOrders(`indexing_maps = ${matmul}`)).toBe(false);
});

test.skipIf(!hasIree())('a survey compiles, runs and counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-survey-'));
  try {
    writeFileSync(join(folder, 'a.mlir'), FILE);
    writeFileSync(join(folder, 'b.mlir'), harness);
    const { status, out, err } = await wavesmith('rocmlir', 'survey', folder, '--run', '--json', '-a', 'gfx942');
    expect(status, err).toBe(0);
    const { items, reasons } = JSON.parse(out);
    const told = items.map(
      (item: { function: string; outcome: string; verdict: string | null; error: null | { code: string } }) => [
        item.function,
        item.outcome,
        item.verdict ?? item.error?.code,
      ],
    );
    expect(told).toEqual([
      ['relu', 'kernel', 'equal'],
      ['padded', 'fallback', 'rocmlir/strides'],
      ['pooled', 'fallback', 'rocmlir/unsupported-operation'],
      ['', 'fallback', 'mlir/unbalanced'],
      ['mlir_dot', 'kernel', expect.stringMatching(/equal|within/)],
    ]);
    expect(reasons).toEqual(
      ['mlir/unbalanced', 'rocmlir/strides', 'rocmlir/unsupported-operation'].map((code) => ({ code, functions: 1 })),
    );
    const none = await wavesmith('rocmlir', 'survey', join(folder, 'none.mlir'));
    expect([none.status, none.err]).toEqual([1, expect.stringContaining('error[io/read]')]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
