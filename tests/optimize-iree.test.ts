// `optimize --tune` of IREE models: lowering configurations, each compiled by iree-compile, run by iree-run-module, and judged dispatch by dispatch.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findIreeTool } from '../src/iree/tools.ts';
import { root, run } from './support/hip.ts';
import { hasNativeBuild } from './support/native.ts';

const hasIree = findIreeTool('iree-compile') !== undefined && findIreeTool('iree-run-module') !== undefined;
if (!hasIree) console.warn("skipped: IREE is not installed ('npm run setup' installs it).");

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-optimize-iree-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** All files below a folder with their texts. */
const filesOf = (path: string): string[] =>
  (readdirSync(path, { recursive: true }) as string[])
    .filter((name) => statSync(join(path, name)).isFile())
    .map((name) => `${name}: ${readFileSync(join(path, name), 'utf8')}`);

/** The command line in a process of its own. */
async function wavesmith(...command: string[]): Promise<{ status: number | null; out: string; err: string }> {
  const argv = [join(root, 'bin', 'wavesmith'), 'optimize', ...command, '--json'];
  const { status, stdout, stderr } = await run(process.execPath, argv, {}, 600);
  return { status, out: stdout, err: stderr };
}

/** A folder with a model and a tune.yaml. */
function project(name: string, tune: string, model = ROWS): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'model.mlir'), model);
  writeFileSync(join(path, 'tune.yaml'), tune);
  return path;
}

const tuned = (path: string, ...more: string[]) =>
  wavesmith('--project', path, '--tune', join(path, 'tune.yaml'), ...more);

/** Two dispatches: sums of rows, and a product with what they give. */
const ROWS = `func.func @rows(%x: tensor<64x256xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sums = linalg.reduce ins(%x : tensor<64x256xf32>) outs(%i : tensor<64xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32 linalg.yield %s : f32 }
  %wide = tensor.empty() : tensor<64x64xf32>
  %rows = linalg.broadcast ins(%sums : tensor<64xf32>) outs(%wide : tensor<64x64xf32>) dimensions = [1]
  %o = linalg.fill ins(%zero : f32) outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
`;
const FLAGS = `model: model.mlir
flags: ['--iree-llvmgpu-prefetch-num-stages={stages}', '--iree-opt-level=O2']
parameters: { stages: [0, 2] }
`;

describe.skipIf(!hasIree || !hasNativeBuild())('lowering configurations', () => {
  test('of the example: tiles of other sizes are faster, every byte is the same, and the folder is as it was', async () => {
    const examples = join(root, 'examples');
    const before = filesOf(examples);
    const own = join(folder, 'tune.yaml');
    const space = parse(readFileSync(join(examples, 'optimize', 'iree', 'tune.yaml'), 'utf8')) as {
      parameters: object;
    };
    const parameters = { ...space.parameters, tile: [32, 64], subgroup: [1, 2], k: [8], stages: [2] };
    writeFileSync(own, JSON.stringify({ ...space, parameters }));
    const ledger = join(folder, 'example.db');
    const best = join(folder, 'best.yaml');
    const command = ['--project', examples, '--tune', own, '-o', best, '--ledger', ledger];
    const first = await wavesmith(...command);
    expect(first.status, first.err).toBe(0);
    const found = JSON.parse(first.out);
    expect(found).toMatchObject({
      configuration: { tile: 32, subgroup: 1, k: 8, threads: 256, stages: 2 },
      evaluation: { verdict: 'accepted', reached: 'bit', asked: 'bit' },
      isExhaustive: true,
    });
    expect(found.evaluation.time.interval[0]).toBeGreaterThan(1.5);
    const recipe = parse(readFileSync(best, 'utf8')) as { spec: string };
    expect(recipe.spec).toContain('subgroup = [1, 1, 0], workgroup = [32, 32, 0]');
    expect(filesOf(examples)).toEqual(before);
    // The ledger knows all of it: the same again, with the same digest.
    const again = JSON.parse((await wavesmith(...command)).out);
    expect(again).toEqual(found);
  }, 600_000);

  test('of several dispatches: only what changed climbs, and the times of all count', async () => {
    const { out, err, status } = await tuned(project('rows', FLAGS));
    expect([0, 3], err).toContain(status);
    const { tried, kernel, nanoseconds } = JSON.parse(out);
    expect(kernel).toMatch(/^@rows: rows_dispatch_0\w*, rows_dispatch_1/);
    expect(tried).toHaveLength(3);
    for (const one of tried) expect(one.words).toMatch(/^(?:as it is|Kept|Not kept|The compiler makes the same)/);
    expect(nanoseconds[1]).toBeLessThanOrEqual(nanoseconds[0]);
  }, 600_000);

  test('that are none are trials with their reason, and the next ones are tried', async () => {
    const tune = `model: model.mlir
flags: ['{flag}']
parameters:
  flag: ['--iree-llvmgpu-shared-memory-limit=x', '--no-such-flag', '--iree-dispatch-creation-enable-aggressive-reshape-movement']
`;
    const { out, status } = await tuned(project('wrong', tune));
    expect(status).toBe(3);
    const words = JSON.parse(out).tried.map((t: { words: string }) => t.words);
    expect(words.filter((w: string) => w.startsWith('It does not compile: '))).toHaveLength(2);
  }, 600_000);

  test.each([
    ['a model that does not compile', FLAGS, 'func.func @rows( {', 'tune/compile'],
    ['a model of two functions', FLAGS, `${ROWS}${ROWS.replace('@rows', '@more')}`, 'tune/bad-module'],
    ['a function that there is not', `${FLAGS}function: other\n`, ROWS, 'tune/bad-module'],
    ['a missing model', FLAGS.replace('model.mlir', 'none.mlir'), ROWS, 'io/read'],
    ['a missing specification', `${FLAGS}spec: none.mlir\n`, ROWS, 'io/read'],
    ['a parameter without a place', FLAGS.replace('{ stages', '{ lost: [1], stages'), ROWS, 'tune/bad-space'],
    ['inputs that do not fit', `${FLAGS}inputs: ['3x3xf32', '64x64xf32']\n`, ROWS, ''],
    [
      'flags of another target',
      FLAGS.replace("'--iree-opt", "'--iree-rocm-target=gfx90a', '--iree-opt"),
      ROWS,
      'hijack/target-flag',
    ],
  ])(
    '%s is a sentence',
    async (name, tune, model, code) => {
      const { status, err } = await tuned(project(name.replaceAll(' ', '-'), tune, model));
      expect(status).toBe(1);
      expect(err).toContain(`error[${code}`);
      expect(err).toContain('hint:');
      expect(err).not.toContain('internal');
    },
    120_000,
  );
});

test('without iree-compile the next step is named', async () => {
  const asked = process.env.IREE_COMPILE;
  process.env.IREE_COMPILE = '/nonexistent/iree-compile';
  try {
    const { status, err } = await tuned(project('no-compiler', FLAGS));
    expect(status).toBe(1);
    expect(err).toMatch(/error\[tools\/iree-not-found\]/);
  } finally {
    if (asked === undefined) delete process.env.IREE_COMPILE;
    else process.env.IREE_COMPILE = asked;
  }
});
