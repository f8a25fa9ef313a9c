// `hijack run` on whole modules: iree-run-module with the virtual GPU runs the baseline and the modified module.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { main } from '../src/cli/main.ts';
import { parseFunctions } from '../src/iree/run-module.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, edit, fixtureFolder, root, temporaryFolder } from './hijack-support.ts';
import { hasNativeBuild } from './support/native.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function wavesmith(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text.out += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text.err += String(chunk);
    return true;
  });
  const status = await main(argv);
  vi.restoreAllMocks();
  return { status, ...text };
}

test('functions are what the module declares', () => {
  const text = `
  [  0] two(!vm.ref<?>, i32) -> (!vm.ref<?>, f32)
        iree.abi.declaration: sync func @two(%input0: tensor<4x?xbf16>, %input1: i32) -> (%output0: tensor<f32>, %output1: f32)
  [  1] none() -> ()
        iree.abi.declaration: sync func @none() -> ()
  [  2] later$async(!vm.ref<?>) -> ()
        iree.abi.declaration: async func @later(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)
  [  3] __init() -> ()
`;
  expect(parseFunctions(text)).toEqual([
    { name: 'two', inputs: ['tensor<4x?xbf16>', 'i32'], outputs: ['tensor<f32>', 'f32'] },
    { name: 'none', inputs: [], outputs: [] },
  ]);
});

const hasIree = findIreeTool('iree-run-module') !== undefined;
if (!hasIree) console.warn("skipped: IREE is not installed ('npm run setup' installs it).");

describe.skipIf(!hasIree || !hasNativeBuild())('whole modules', () => {
  it('are equal after a harmless edit, different after a wrong one, and stopped when a kernel does not end', async () => {
    const folder = fixtureFolder();
    await wavesmith('hijack', 'build', folder);
    expect((await wavesmith('hijack', 'run', folder)).out).toContain('No kernel was changed');

    edit(asmFile(folder), /^\tv_mfma_/m, '\ts_nop 1\n$&');
    await wavesmith('hijack', 'build', folder);
    const equal = await wavesmith('hijack', 'run', folder);
    expect(equal.status, equal.err).toBe(0);
    expect(equal.out).toMatch(/^@matmul\(128x128xf16, 128x128xf16\)$/m);
    expect(equal.out).toMatch(/baseline {2}1 dispatch\(es\), 3544 instructions/);
    expect(equal.out).toMatch(/modified {2}1 dispatch\(es\), 3552 instructions/);
    expect(equal.out).toContain('output 0 (tensor<128x128xf32>): identical');
    expect(equal.out).toContain('EQUAL: 1 function(s), 1 identical in every bit, seed 1');

    edit(asmFile(folder), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x3f800002, $1\n$&');
    await wavesmith('hijack', 'build', folder);
    expect(await wavesmith('hijack', 'run', folder)).toMatchObject({ status: 0 });
    expect((await wavesmith('hijack', 'run', folder, '--exact')).out).toContain('--exact was asked for');
    const json = await wavesmith('hijack', 'run', folder, '--json', '--seed', '7');
    expect(JSON.parse(json.out)).toMatchObject({ ok: true, seed: 7, functions: [{ verdict: 'within-tolerance' }] });

    edit(asmFile(folder), /^\tv_mul_f32_e32 (v\d+), 0x3f800002, (v\d+)$/m, '\tv_mul_f32_e32 $1, 0x40000000, $2');
    await wavesmith('hijack', 'build', folder);
    const wrong = await wavesmith('hijack', 'run', folder);
    expect(wrong.status).toBe(1);
    expect(wrong.out).toMatch(/outside the f32 tolerance 0\.0001/);
    expect(wrong.out).toContain('DIFFERENT: 1 of 1 function(s), seed 1');

    edit(asmFile(folder), /^\ts_endpgm$/m, '.Lforever:\n\ts_branch .Lforever\n\ts_endpgm');
    await wavesmith('hijack', 'build', folder);
    const endless = await wavesmith('hijack', 'run', folder);
    expect(endless.status).toBe(1);
    expect(endless.out).toContain('modified  did not finish');
    expect(endless.out).toContain('sim/budget');
  });

  it('take inputs from the command line, and ask for them when shapes are known only at run time', async () => {
    if (findIreeTool('iree-compile') === undefined) return;
    const folder = join(temporaryFolder(), 'dynamic');
    const input = join(temporaryFolder(), 'matmul_dynamic.mlir');
    cpSync(join(root, 'examples/matmul_dynamic.mlir'), input);
    expect((await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942')).status).toBe(0);
    edit(asmFile(folder), /^\ts_endpgm$/m, '\ts_nop 0\n\ts_endpgm');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const asked = await wavesmith('hijack', 'run', folder);
    expect(asked.status).toBe(1);
    expect(asked.err).toContain("error[hijack/dynamic-shape]: The shape of input 0 of 'dyn' is ?x64xf16.");
    expect(asked.err).toContain('for example --input 16x64xf16');
    const run = await wavesmith('hijack', 'run', folder, '--input', '48x64xf16', '--input', '64x64xf16=0.5');
    expect(run.status, run.err + run.out).toBe(0);
    expect(run.out).toContain('output 0 (tensor<?x64xf32>): identical');
    expect((await wavesmith('hijack', 'run', folder, '--input', '48x64xf16')).err).toContain('hijack/input-count');
    expect((await wavesmith('hijack', 'run', folder, '--function', 'no')).err).toContain('There are: dyn.');
  });
});
