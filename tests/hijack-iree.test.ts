// The hijack loop with the real iree-compile: matmuls, softmax, convolution, several dispatches linked and not.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WavesmithError } from '../src/base/index.ts';
import { assembleInto } from '../src/iree/asm-command.ts';
import { build } from '../src/iree/build.ts';
import { initFromMlir, initFromModule } from '../src/iree/init.ts';
import { readManifest } from '../src/iree/manifest.ts';
import { readModule } from '../src/iree/module.ts';
import { run } from '../src/iree/run.ts';
import {
  asmFile,
  BUILD,
  edit,
  FIXTURE,
  floats,
  forgetPristine,
  ireeCompile,
  type Recording,
  RUN,
  recordingDevices,
  root,
  temporaryFolder,
} from './hijack-support.ts';
import { sharedPath } from './support/shared.ts';

const iree = ireeCompile();
const INIT = { target: 'gfx942', extra: [], link: false, force: false };
const example = (name: string): string => join(root, 'examples', `${name}.mlir`);
/** Idles at the end of every kernel: no value can change. */
const HARMLESS = [/^\ts_endpgm/gm, '\ts_nop 1\n$&'] as const;

const asked = process.env.IREE_COMPILE;
beforeEach(() => {
  if (iree !== undefined) process.env.IREE_COMPILE = iree;
});
afterEach(() => {
  if (asked === undefined) delete process.env.IREE_COMPILE;
  else process.env.IREE_COMPILE = asked;
});

type Check = (inputs: readonly number[][], output: readonly number[]) => void;

const product =
  (m: number, n: number, k: number): Check =>
  ([a, b], c) => {
    for (let i = 0; i < m; i += 5) {
      for (let j = 0; j < n; j += 3) {
        let sum = 0;
        for (let x = 0; x < k; x++) sum += a[i * k + x] * b[x * n + j];
        expect(c[i * n + j]).toBeCloseTo(sum, 3);
      }
    }
  };

const softmax: Check = ([x], y) => {
  for (let row = 0; row < 8; row++) {
    const values = x.slice(row * 256, row * 256 + 256).map(Math.exp);
    const sum = values.reduce((a, b) => a + b);
    for (let i = 0; i < 256; i += 11) expect(y[row * 256 + i]).toBeCloseTo(values[i] / sum, 6);
  }
};

const convolution: Check = ([image, filter], out) => {
  for (let y = 0; y < 16; y += 3) {
    for (let x = 0; x < 16; x += 5) {
      for (let f = 0; f < 32; f += 7) {
        let sum = 0;
        for (let dy = 0; dy < 3; dy++) {
          for (let dx = 0; dx < 3; dx++) {
            for (let c = 0; c < 16; c++) {
              sum += image[((y + dy) * 18 + x + dx) * 16 + c] * filter[((dy * 3 + dx) * 16 + c) * 32 + f];
            }
          }
        }
        expect(out[(y * 16 + x) * 32 + f]).toBeCloseTo(sum, 3);
      }
    }
  }
};

const DYNAMIC_BF16 = `
func.func @matmul(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
`;

describe.skipIf(iree === undefined)('with the real iree-compile', () => {
  test.each<[string, string, string, Check]>([
    ['matmul_f16', 'f16', 'f32', product(128, 128, 128)],
    ['matmul_f32', 'f32', 'f32', product(64, 64, 64)],
    ['softmax', 'f32', 'f32', softmax],
    ['conv2d', 'f16', 'f32', convolution],
  ])(
    '%s: dumped assembly is the module’s code, the baseline computes it, an edit by both routes is equal',
    async (name, input, output, check) => {
      const folder = join(temporaryFolder(), name);
      const { manifest } = await initFromMlir(example(name), folder, INIT);
      expect(manifest.executables).toHaveLength(1);
      expect(manifest.executables[0].kernels[0].dispatches).toHaveLength(1);
      expect((await build(folder, BUILD)).identical).toBe(true);
      edit(asmFile(folder), /^/, '; touched\n');
      forgetPristine(folder);
      expect((await build(folder, BUILD)).executables[0].state).toBe('same-code');

      edit(asmFile(folder), ...HARMLESS);
      await build(folder, BUILD);
      const recordings: Recording[] = [];
      const patched = await run(folder, { ...RUN, openDevice: recordingDevices(recordings) });
      expect(patched).toMatchObject({ ok: true, runs: [{ verdict: 'equal' }] });
      const last = recordings[0].inputs.length / 2 - 1;
      const buffers = recordings[0].inputs.slice(0, last).map((bytes) => floats(input, bytes));
      check(buffers, floats(output, recordings[0].outputs[last]));

      const compiled = join(folder, 'compiled.vmfb');
      const viaCompile = await build(folder, { ...BUILD, via: 'compile', output: compiled });
      expect(viaCompile.executables[0].state).toBe('changed');
      expect(await run(folder, { ...RUN, modified: compiled })).toMatchObject({
        ok: true,
        runs: [{ verdict: 'equal' }],
      });
    },
  );

  test('several dispatches unlinked: only the edited one is replaced and run', async () => {
    const folder = join(temporaryFolder(), 'two');
    const { manifest } = await initFromMlir(example('two_matmuls'), folder, INIT);
    expect(manifest.executables.map((e) => e.name)).toEqual(['two_matmuls_dispatch_0', 'two_matmuls_dispatch_1']);
    expect(manifest.compiler).toMatchObject({ linked: false, targetFlag: '--iree-rocm-target' });
    edit(asmFile(folder, 'dispatch_1'), ...HARMLESS);
    for (const via of ['patch', 'compile'] as const) {
      const result = await build(folder, { ...BUILD, via });
      expect(result.executables.map((e) => e.state)).toEqual(['unchanged', 'changed']);
      const { runs, ok } = await run(folder, RUN);
      expect(ok).toBe(true);
      expect(runs.map((r) => r.executable)).toEqual(['two_matmuls_dispatch_1']);
    }
    expect((await run(folder, { ...RUN, all: true })).runs.map((r) => r.grid)).toEqual([
      [3, 1, 1],
      [1, 1, 1],
    ]);
  });

  test('several dispatches linked into one executable: both routes, kernel by kernel', async () => {
    const folder = join(temporaryFolder(), 'linked');
    const { manifest } = await initFromMlir(example('two_matmuls'), folder, { ...INIT, link: true });
    expect(manifest.executables).toMatchObject([
      {
        name: 'two_matmuls_linked',
        kernels: [{ executable: 'two_matmuls_dispatch_0' }, { executable: 'two_matmuls_dispatch_1' }],
      },
    ]);
    expect((await build(folder, BUILD)).identical).toBe(true);
    // Only the second kernel's end: the first stays as it is.
    edit(asmFile(folder, 'dispatch_1'), /^\ts_endpgm/m, '\ts_nop 1\n$&');
    for (const via of ['patch', 'compile'] as const) {
      const result = await build(folder, { ...BUILD, via });
      expect(result.executables[0].change).toMatchObject({ unchangedKernels: 1, kernels: [{ added: 1, removed: 0 }] });
      const { runs, ok } = await run(folder, RUN);
      expect(ok).toBe(true);
      expect(runs.map((r) => r.kernel)).toEqual([manifest.executables[0].kernels[1].name]);
    }
    const quick = await build(folder, BUILD);
    forgetPristine(folder);
    const whole = await build(folder, { ...BUILD, output: join(folder, 'whole.vmfb') });
    expect(readFileSync(quick.output)).toEqual(readFileSync(whole.output));
  });

  test('one text for a linked executable, when that is asked for', async () => {
    const folder = join(temporaryFolder(), 'whole');
    const { manifest } = await initFromMlir(example('two_matmuls'), folder, { ...INIT, link: true, whole: true });
    expect(manifest.executables).toMatchObject([{ asm: 'asm/two_matmuls_linked.s', asmFrom: 'iree-compile' }]);
    edit(asmFile(folder), /^(two_matmuls_dispatch_1_\w+:[^$]*?)(\ts_endpgm)/m, '$1\ts_nop 1\n$2');
    const { executables } = await build(folder, BUILD);
    expect(executables[0]).toMatchObject({
      outside: { editedLines: 1, instructions: 0 },
      change: { unchangedKernels: 1 },
    });
  });

  test('a text of the compiler that is not the module’s code is not handed out', async () => {
    const folder = join(temporaryFolder(), 'bf16');
    const input = join(temporaryFolder(), 'matmul_bf16.mlir');
    writeFileSync(input, DYNAMIC_BF16);
    const { manifest } = await initFromMlir(input, folder, INIT);
    const [executable] = manifest.executables;
    expect(executable).toMatchObject({ asmFrom: 'disassembly' });
    expect(executable.asmWhy).toContain("the compiler's text is not the module's code: the code of matmul_dispatch_0");
    edit(asmFile(folder), /^\ts_endpgm/m, '\ts_nop 0\n$&');
    const { executables } = await build(folder, BUILD);
    expect(executables[0].change).toMatchObject({ kernels: [{ added: 1, removed: 0 }] });
    expect(executables[0].outside).toEqual({ editedLines: 1, instructions: 0, first: null });
  });

  test('run-time shapes: grid, constants and sizes are asked for, then it runs', async () => {
    const folder = join(temporaryFolder(), 'dynamic');
    await initFromMlir(example('matmul_dynamic'), folder, INIT);
    edit(asmFile(folder), ...HARMLESS);
    await build(folder, BUILD);
    const options = { ...RUN };
    await expect(run(folder, options)).rejects.toMatchObject({
      code: 'hijack/no-grid',
      hint: 'It depends on run-time shapes, or the module does not tell: give --grid X,Y,Z (workgroups).',
    });
    const grid = [1, 1, 1] as const;
    await expect(run(folder, { ...options, grid })).rejects.toMatchObject({ code: 'hijack/no-constant' });
    const constants = new Map([
      [0, 64],
      [1, 0],
    ]);
    await expect(run(folder, { ...options, grid, constants })).rejects.toMatchObject({ code: 'hijack/no-size' });
    const buffers = new Map([
      [0, { bytes: 64 * 64 * 2, elementType: undefined }],
      [2, { bytes: 64 * 64 * 4, elementType: undefined }],
    ]);
    const recordings: Recording[] = [];
    const result = await run(folder, {
      ...options,
      grid,
      constants,
      buffers,
      openDevice: recordingDevices(recordings),
    });
    expect(result).toMatchObject({ ok: true, runs: [{ verdict: 'equal' }] });
    const [a, b] = recordings[0].inputs.slice(0, 2).map((bytes) => floats('f16', bytes));
    product(64, 64, 64)([a, b], floats('f32', recordings[0].outputs[2]));
  });

  test('features in the target are kept through the loop', async () => {
    const folder = join(temporaryFolder(), 'features');
    const extra = ['--iree-rocm-target-features=+sramecc,-xnack'];
    const { manifest } = await initFromMlir(example('matmul_f32'), folder, { ...INIT, extra });
    expect(manifest.executables[0].target).toBe('gfx942:sramecc+:xnack-');
    edit(asmFile(folder), ...HARMLESS);
    expect((await build(folder, BUILD)).executables[0].state).toBe('changed');
    expect(await run(folder, RUN)).toMatchObject({ ok: true });
  });

  test.each(['gfx90a', 'gfx950'])('%s: init, untouched and edited build', async (target) => {
    const folder = join(temporaryFolder(), target);
    const { manifest } = await initFromMlir(example('matmul_f16'), folder, { ...INIT, target });
    expect(manifest.executables[0].target).toBe(target);
    expect((await build(folder, BUILD)).identical).toBe(true);
    edit(asmFile(folder), ...HARMLESS);
    expect((await build(folder, BUILD)).executables[0].state).toBe('changed');
  });

  test('the amdgpu device’s own executable format', async () => {
    const folder = join(temporaryFolder(), 'amdgpu');
    const extra = ['--iree-hal-target-device=amdgpu'];
    const { manifest } = await initFromMlir(example('matmul_f32'), folder, { ...INIT, extra });
    expect(manifest.executables).toMatchObject([{ name: 'matmul_f32_dispatch_0', format: 'AMD1' }]);
    edit(asmFile(folder), ...HARMLESS);
    for (const via of ['patch', 'compile'] as const) {
      expect((await build(folder, { ...BUILD, via })).executables[0].state).toBe('changed');
      expect(await run(folder, RUN)).toMatchObject({ ok: true, runs: [{ verdict: 'equal' }] });
    }
  });

  test('the committed fixture is what this compiler makes', async () => {
    const folder = join(temporaryFolder(), 'fixture');
    const input = relative(process.cwd(), example('matmul_f16'));
    const [made, committed] = [(await initFromMlir(input, folder, INIT)).manifest, readManifest(FIXTURE)];
    expect(made.compiler?.version).toBe(committed.compiler?.version);
    expect(made.executables).toEqual(committed.executables);
    expect(made.baseline).toEqual(committed.baseline);
  });

  test('a module for the CPU has nothing to edit', async () => {
    const folder = temporaryFolder();
    const module = join(folder, 'cpu.vmfb');
    const flags = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];
    expect(spawnSync(iree ?? '', [...flags, example('matmul_f32'), '-o', module]).status).toBe(0);
    await expect(initFromModule(module, join(folder, 'out'), { force: false })).rejects.toMatchObject({
      code: 'hijack/no-executables',
    });
  });

  test('a wrong input reports the compiler’s first error', async () => {
    const folder = temporaryFolder();
    const input = join(folder, 'wrong.mlir');
    writeFileSync(input, 'func.func @f() { %0 = nonsense }\n');
    await expect(initFromMlir(input, join(folder, 'out'), INIT)).rejects.toMatchObject({
      code: 'hijack/compile-failed',
      message: expect.stringMatching(/wrong\.mlir:1:\d+: error: /),
    });
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });
});

describe.skipIf(iree === undefined)('hijack asm', () => {
  /** Assembly as IREE dumps it, under the name IREE gives it. */
  function dump(name: string, flags: readonly string[] = []): { folder: string; files: string[] } {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dump'));
    const compiled = spawnSync(iree ?? '', [
      '--iree-hal-target-backends=rocm',
      '--iree-rocm-target=gfx942',
      `--iree-hal-dump-executable-intermediates-to=${join(folder, 'dump')}`,
      ...flags,
      example(name),
      '-o',
      join(folder, 'baseline.vmfb'),
    ]);
    expect(compiled.status).toBe(0);
    const files = readdirSync(join(folder, 'dump')).filter((f) => f.endsWith('.rocmasm'));
    return { folder, files: files.map((f) => join(folder, 'dump', f)) };
  }
  const options = { extra: [], engine: 'wavesmith' } as const;

  async function refusal(work: Promise<unknown>): Promise<WavesmithError> {
    const error = await work.catch((e: unknown) => e);
    if (!(error instanceof WavesmithError)) throw error instanceof Error ? error : new Error('there was no error');
    return error;
  }

  test('finds the executable by its kernel whatever the file is called, and proves the result', async () => {
    const { folder, files } = dump('matmul_f16');
    const modified = join(folder, 'modified.s');
    writeFileSync(modified, readFileSync(files[0], 'utf8').replace(...HARMLESS));
    const output = join(folder, 'modified.vmfb');
    const result = await assembleInto(modified, example('matmul_f16'), output, options);
    expect(result).toMatchObject({
      executable: 'matmul_dispatch_0',
      target: 'gfx942',
      change: { kernels: [{ added: 1 }] },
    });
    expect(readModule(new Uint8Array(readFileSync(output))).executables[0].codeObject.length).toBe(
      result.change.bytes[1],
    );
  });

  test('a wrong executable name lists the right ones', async () => {
    const { files, folder } = dump('two_matmuls', ['--iree-hal-link-executables=false']);
    const second = files.find((f) => f.includes('dispatch_1')) ?? '';
    const into = (executable: string) =>
      refusal(assembleInto(second, example('two_matmuls'), join(folder, 'o.vmfb'), { ...options, executable }));
    expect(await into('modified.s')).toMatchObject({
      code: 'hijack/no-such-executable',
      message: "The module has no executable 'modified.s'.",
      hint: "The module's executables are: two_matmuls_dispatch_0, two_matmuls_dispatch_1.",
    });
    expect(await into('two_matmuls_dispatch_0')).toMatchObject({ code: 'hijack/wrong-executable' });
    expect(existsSync(join(folder, 'o.vmfb'))).toBe(false);
  });

  test('linked dump: the text says how to get one dispatch', async () => {
    const { files, folder } = dump('two_matmuls');
    expect(files.map((f) => basename(f))).toEqual(['module_two_matmuls_linked_rocm_hsaco_fb.rocmasm']);
    const error = await refusal(assembleInto(files[0], example('two_matmuls'), join(folder, 'o.vmfb'), options));
    expect(error).toMatchObject({
      code: 'hijack/linked-assembly',
      message:
        "'module_two_matmuls_linked_rocm_hsaco_fb.rocmasm' is the assembly of a linked module: it holds kernels of 2 executables " +
        '(two_matmuls_dispatch_0, two_matmuls_dispatch_1), and one executable is substituted at a time.',
    });
    expect(error.hint).toContain('--iree-hal-link-executables=false');
  });

  test('stale assembly: other flags or another input', async () => {
    const { files, folder } = dump('matmul_f16');
    const error = await refusal(assembleInto(files[0], example('matmul_f32'), join(folder, 'o.vmfb'), options));
    expect(error).toMatchObject({ code: 'hijack/stale-asm' });
    expect(error.message).toContain('exists in this compilation');
    expect(error.hint).toContain('Assembly and module must come from the same input and the same flags');
  });

  test('GPU_TARGET that disagrees with the file', async () => {
    const { files, folder } = dump('matmul_f16');
    const error = await refusal(
      assembleInto(files[0], example('matmul_f16'), join(folder, 'o.vmfb'), { ...options, gpuTarget: 'gfx950' }),
    );
    expect(error).toMatchObject({
      code: 'hijack/target-mismatch',
      message: 'GPU_TARGET is gfx950, but the assembly is for gfx942.',
      position: { line: 4 },
    });
  });

  test('a flag this IREE does not know', async () => {
    const { files, folder } = dump('matmul_f16');
    const extra = ['--iree-llvmgpu-no-such-flag'];
    const error = await refusal(
      assembleInto(files[0], example('matmul_f16'), join(folder, 'o.vmfb'), { ...options, extra }),
    );
    expect(error.code).toBe('hijack/unknown-flag');
    expect(error.message).toContain("does not know '--iree-llvmgpu-no-such-flag'");
  });
});

describe('the 1.6 MB module with 167 kernels', () => {
  const module = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');

  test.skipIf(module === undefined)('untouched is byte-identical, one edit touches one kernel', async () => {
    const folder = join(temporaryFolder(), 'llama');
    const { manifest } = await initFromModule(module ?? '', folder, { force: false });
    expect(manifest.executables.flatMap((e) => e.kernels)).toHaveLength(167);
    expect((await build(folder, BUILD)).identical).toBe(true);
    const asm = asmFile(folder, 'prefill_bs4$async_dispatch_2_');
    edit(asm, /^\tv_mfma_/m, '\ts_nop 1\n$&');
    const quick = await build(folder, BUILD);
    expect(quick.executables[0].change).toMatchObject({ unchangedKernels: 166, kernels: [{ added: 1 }] });
    forgetPristine(folder);
    const whole = await build(folder, { ...BUILD, output: join(folder, 'whole.vmfb') });
    expect(readFileSync(quick.output).equals(readFileSync(whole.output))).toBe(true);
    edit(asm, /^\ts_nop 1\n(\tv_mfma_)/m, '$1');
    edit(asm, /^/, '; touched\n');
    expect((await build(folder, BUILD)).executables[0].state).toBe('same-code');
  });
});
