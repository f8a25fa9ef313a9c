// `hijack run` on whole modules: iree-run-module with the virtual GPU runs the baseline and the modified module.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNpy, writeNpy } from '../src/device/npy.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, edit, fixtureFolder, root, temporaryFolder } from './hijack-support.ts';
import { spoilStores } from './models/try-model.ts';
import { wavesmith } from './support/command.ts';
import { run } from './support/hip.ts';
import { hasNativeBuild } from './support/native.ts';

const PARAMETERS = `
util.global private @weights = #stream.parameter.named<"model"::"weights"> : tensor<16x8xf32>
func.func @apply(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %w = util.global.load @weights : tensor<16x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%acc : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @open(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = math.absf %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
`;

/** `update` changes what `get` gives, and gives nothing itself. */
const STATE = `module @state {
  util.global private mutable @state = dense<0.0> : tensor<64xf32>
  func.func @update(%x: tensor<64xf32>) {
    %y = arith.mulf %x, %x : tensor<64xf32>
    util.global.store %y, @state : tensor<64xf32>
    return
  }
  func.func @get() -> tensor<64xf32> {
    %y = util.global.load @state : tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
    %y = arith.addf %x, %x : tensor<64xf32>
    return %y : tensor<64xf32>
  }
}
`;

/** 240 bytes of output, in memory that has more. */
const SMALL = `func.func @twice(%x: tensor<60xf32>) -> tensor<60xf32> {
  %y = arith.addf %x, %x : tensor<60xf32>
  return %y : tensor<60xf32>
}
`;

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

  it('run on the GPU of a runtime as they do on the virtual one, kernels by themselves too', async () => {
    const folder = fixtureFolder();
    const onGpu = (...args: string[]) =>
      run(process.execPath, [
        'bin/wavesmith',
        'exec',
        '--',
        'bin/wavesmith',
        'hijack',
        'run',
        folder,
        '--device',
        'rocm',
        ...args,
      ]);
    edit(asmFile(folder), /^\tv_mfma_/m, '\ts_nop 1\n$&');
    await wavesmith('hijack', 'build', folder);
    const equal = await onGpu();
    expect(equal.status, equal.stderr).toBe(0);
    expect(equal.stdout).toMatch(/baseline {2}1 dispatch\(es\), \d/);
    expect(equal.stdout).toContain('EQUAL: 1 function(s), 1 identical in every bit, seed 1');
    expect((await onGpu('--device', 'rocm:0')).stdout).toContain('EQUAL: 1 function(s)');
    expect((await onGpu('--device', 'rocm:1')).stderr).toContain('hijack/baseline-failed');
    expect((await onGpu('--check')).stderr).toContain('hijack/no-strict');
    expect((await onGpu('--timing')).stderr).toContain('device/no-tools');
    edit(asmFile(folder), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 2.0, $1\n$&');
    await wavesmith('hijack', 'build', folder);
    for (const more of [[], ['--dispatch']]) {
      const wrong = await onGpu(...more);
      expect([wrong.status, wrong.stdout]).toEqual([1, expect.stringMatching(/^DIFFERENT: 1 of 1/m)]);
    }
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

  it('run functions beside one of unknown shape, with parameters outside, inputs of files, and keep the outputs', async () => {
    if (findIreeTool('iree-compile') === undefined) return;
    const folder = join(temporaryFolder(), 'parameters');
    const input = join(folder, '..', 'model.mlir');
    writeFileSync(input, PARAMETERS);
    expect((await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942')).status).toBe(0);
    for (const part of ['apply', 'open']) edit(asmFile(folder, part), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const without = await wavesmith('hijack', 'run', folder);
    expect(without.err).toContain(
      "error[hijack/no-parameters]: The module's parameters live outside it: 'model::weights'.",
    );

    const archive = join(folder, '..', 'model.irpa');
    const tool = findIreeTool('iree-create-parameters')?.path ?? '';
    const made = spawnSync(tool, ['--splat=weights=16x8xf32=0.5', `--output=${archive}`], { encoding: 'utf8' });
    expect(made.status, made.stderr).toBe(0);
    const parameters = `--parameters=model=${archive}`;
    const kept = join(folder, 'kept');
    const run = await wavesmith('hijack', 'run', folder, parameters, '--save', kept);
    expect(run.out, run.err).toContain('@apply(4x16xf32)');
    expect(run.out).toContain('output 0 (tensor<4x8xf32>): identical');
    expect(run.out).toContain(
      "@open  not run: The shape of input 0 of 'open' is ?x8xf32. Give every input with its shape",
    );
    expect(readNpy(new Uint8Array(readFileSync(join(kept, 'baseline-apply-output0.npy'))))).toMatchObject({
      type: 'f32',
      shape: [4, 8],
    });
    const other = await wavesmith('hijack', 'run', folder, `--parameters=other=${archive}`);
    expect(other.err).toContain("The module loads parameter 'model::weights', and the archives hold scope 'other'.");

    const one = ['hijack', 'run', folder, parameters, '--function', 'apply'];
    const npy = join(folder, 'x.npy');
    writeFileSync(
      npy,
      writeNpy({ type: 'f32', shape: [4, 16], bytes: new Uint8Array(new Float32Array(64).fill(2).buffer) }),
    );
    const two = await wavesmith(...one, '--input', npy, '--save', kept);
    expect(two.status, two.err).toBe(0);
    const { bytes } = readNpy(new Uint8Array(readFileSync(join(kept, 'modified-apply-output0.npy'))));
    expect(new Float32Array(bytes.slice().buffer)).toEqual(new Float32Array(32).fill(16));
    writeFileSync(npy, writeNpy({ type: 'f16', shape: [4, 16], bytes: new Uint8Array(128) }));
    expect((await wavesmith(...one, '--input', npy)).err).toContain(
      `error[hijack/input-type]: Input 0 of 'apply' is tensor<4x16xf32>; '${npy}' is 4x16xf16.`,
    );
    const count = await wavesmith('hijack', 'run', folder, parameters, '--input', '4x16xf32');
    expect(count.err).toContain('--input belongs to one function, and the module has 2.');
  });

  it('are different when the edit writes beside its output or reads memory that nobody wrote, also where memory is zero', async () => {
    if (findIreeTool('iree-compile') === undefined) return;
    const folder = join(temporaryFolder(), 'small');
    const input = join(folder, '..', 'small.mlir');
    writeFileSync(input, SMALL);
    expect((await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942')).status).toBe(0);
    // The buffers' bounds would hide both mistakes.
    edit(asmFile(folder), /^\ts_movk_i32 s6, 0xf0$/m, '\ts_movk_i32 s6, 0x1000');
    edit(asmFile(folder), /next_free_vgpr 2/, 'next_free_vgpr 3');
    const original = readFileSync(asmFile(folder), 'utf8');
    const run = async (pattern: RegExp, text: string, ...flags: string[]) => {
      writeFileSync(asmFile(folder), original);
      edit(asmFile(folder), pattern, text);
      expect((await wavesmith('hijack', 'build', folder, '--force')).status).toBe(0);
      return wavesmith('hijack', 'run', folder, '--force', ...flags);
    };
    const store = /^\tbuffer_store_dword v1, v0, s\[4:7\], 0 offen$/m;
    const harmless = await run(store, '\ts_nop 0\n$&');
    expect(harmless.out).toMatch(
      /^ {2}memory: 2 allocation\(s\), \d+ bytes; of \d+ bytes .* modified module wrote 0$/m,
    );
    expect(harmless.out).toContain('EQUAL: 1 function(s), 1 identical');

    // Zeros in memory that is zero: no content shows it.
    const beside = await run(
      store,
      '$&\n\tv_mov_b32_e32 v1, 0\n\tbuffer_store_dword v1, v0, s[4:7], 0 offen offset:1024',
    );
    expect(beside.status).toBe(1);
    expect(beside.out).toContain('output 0 (tensor<60xf32>): identical');
    expect(beside.out).toMatch(/wrote 240 byte\(s\) that the baseline leaves alone, the first at byte 1024 of /);
    expect(beside.out).toContain('DIFFERENT: 1 of 1 function(s)');

    const sum = /^\tv_add_f32_e32 v1, v1, v1$/m;
    const load = '\tbuffer_load_dword v2, v0, s[4:7], 0 offen offset:2048\n\ts_waitcnt vmcnt(0)\n';
    const unwritten = await run(sum, `${load}$&\n\tv_add_f32_e32 v1, v1, v2`);
    expect(unwritten.out).toContain('DIFFERENT: 1 of 1 function(s)');
    const checked = await run(sum, `${load}$&\n\tv_add_f32_e32 v1, v1, v2`, '--check');
    expect(checked.out).toMatch(
      /depends on memory that nobody wrote, and does not in the baseline|outside the f32 tolerance/,
    );
    expect(checked.status).toBe(1);
    // Equal on both sides of every comparison that a device of zeros makes: only the two patterns tell it.
    const json = await run(sum, `${load}\tv_and_b32_e32 v2, 1, v2\n$&\n\tv_xor_b32_e32 v1, v1, v2`, '--json');
    const [result] = JSON.parse(json.out).functions;
    expect(result.reasons).toEqual([
      expect.stringMatching(
        /^Byte \d+ of output 0 of 'twice' depends on memory that nobody wrote, and does not in the baseline\.$/,
      ),
    ]);
    expect(result).toMatchObject({ verdict: 'different', memory: { stray: 0 } });
  });

  it('are compared by what they leave in memory where a function has no outputs, and not at all when no edited kernel ran', async () => {
    if (findIreeTool('iree-compile') === undefined) return;
    const folder = join(temporaryFolder(), 'state');
    const input = join(folder, '..', 'state.mlir');
    writeFileSync(input, STATE);
    expect((await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942')).status).toBe(0);
    const file = asmFile(folder, 'update');
    edit(file, /^\tv_mul_f32_e32/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const same = await wavesmith('hijack', 'run', folder);
    expect(same.out).toMatch(/@update\(64xf32\)\n.*\n.*\n {2}memory of allocation \d+: identical/);
    expect(same.out).toMatch(/^EQUAL: 3 function\(s\)/m);
    edit(file, /^\tv_mul_f32_e32/m, '\tv_add_f32_e32');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const all = await wavesmith('hijack', 'run', folder);
    expect(all.status).toBe(1);
    expect(all.out).toMatch(/^ {2}memory of allocation \d+: \d+ of 4096 differ/m);
    expect(all.out).toMatch(/^DIFFERENT: 1 of 3 function\(s\)/m);
    const other = await wavesmith('hijack', 'run', folder, '--function', 'twice', '--json');
    expect(other.status).toBe(1);
    expect(JSON.parse(other.out)).toMatchObject({
      verdict: 'not-launched',
      ok: false,
      reasons: ['update_dispatch_0_elementwise_64_f32 is edited and did not run'],
      functions: [{ function: 'twice', verdict: 'equal' }],
    });
  });

  it('that run for ever after an edit are stopped, and inputs of complex numbers are made', async () => {
    if (findIreeTool('iree-compile') === undefined) return;
    const folder = join(temporaryFolder(), 'loop');
    const input = join(root, 'tests', 'models', 'mlir', 'loop.mlir');
    expect((await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942')).status).toBe(0);
    // The counter goes up and down: the host program's loop never ends.
    for (const name of readdirSync(join(folder, 'asm'))) {
      const path = join(folder, 'asm', name);
      writeFileSync(path, spoilStores(readFileSync(path, 'utf8')).replaceAll('v_add_u32_e32 v', 'v_sub_u32_e32 v'));
    }
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const run = await wavesmith('hijack', 'run', folder);
    expect(run.status).toBe(1);
    expect(run.out).toContain('It was stopped after 1000 kernels');
    expect(run.out).toMatch(/^DIFFERENT: /m);

    const complex = join(temporaryFolder(), 'complex');
    const model = join(root, 'tests', 'models', 'mlir', 'complex.mlir');
    expect((await wavesmith('hijack', 'init', model, '-o', complex, '--target', 'gfx90a')).status).toBe(0);
    edit(asmFile(complex, 'complex'), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', complex)).status).toBe(0);
    const numbers = await wavesmith('hijack', 'run', complex, '--input', '16xcomplex<f32>=iota');
    expect(numbers.out).toContain('output 0 (tensor<16xcomplex<f32>>): identical');
    expect(numbers.status).toBe(0);
  });
});
