// The hijack loop on the committed module: no compiler needed.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCodeObject } from '../src/codeobject/code-object.ts';
import { inconsistentEntries } from '../src/codeobject/vmfb/patch.ts';
import { build } from '../src/iree/build.ts';
import { readFacts, sameCode } from '../src/iree/facts.ts';
import { initFromModule } from '../src/iree/init.ts';
import { readManifest } from '../src/iree/manifest.ts';
import { readModule } from '../src/iree/module.ts';
import { run } from '../src/iree/run.ts';
import {
  asmFile,
  BUILD,
  edit,
  FIXTURE,
  fixtureFolder,
  floats,
  forgetPristine,
  KERNEL,
  type Recording,
  RUN,
  recordingDevices,
  temporaryFolder,
} from './hijack-support.ts';
import { llvmTool } from './support/llvm.ts';

const haveLlvm = llvmTool('clang-22') !== undefined;
const HARMLESS = [/^\tv_mfma_/gm, '\ts_nop 1\n$&'] as const;

describe('build', () => {
  test('an untouched folder gives a byte-identical module', async () => {
    const folder = fixtureFolder();
    const result = await build(folder, BUILD);
    expect(result).toMatchObject({ identical: true, executables: [{ state: 'unchanged' }] });
    expect(readFileSync(result.output)).toEqual(readFileSync(join(folder, 'baseline.vmfb')));
  });

  test('an edited comment assembles to the same code and leaves the module byte-identical', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^/, '; a note to myself\n');
    const result = await build(folder, BUILD);
    expect(result).toMatchObject({ identical: true, executables: [{ state: 'same-code', change: null }] });
    expect(readFileSync(result.output)).toEqual(readFileSync(join(folder, 'baseline.vmfb')));
  });

  test('the committed assembly assembles to exactly the code in the committed module', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), '.amdgcn_target', ' .amdgcn_target');
    forgetPristine(folder);
    expect((await build(folder, BUILD)).executables[0].state).toBe('same-code');
  });

  test.for(['wavesmith', 'llvm'] as const)('an edit is put back and proven (engine %s)', async (engine, { skip }) => {
    if (engine === 'llvm' && !haveLlvm) skip();
    const folder = fixtureFolder();
    edit(asmFile(folder), ...HARMLESS);
    const result = await build(folder, { ...BUILD, engine });
    const [executable] = result.executables;
    expect(executable).toMatchObject({ state: 'changed', remarks: [] });
    expect(executable.change?.kernels).toMatchObject([
      { name: KERNEL, instructions: [505, 569], ldsBytes: [50688, 50688], occupancy: [1, 1] },
    ]);
    const [before] = readModule(readFileSync(join(FIXTURE, 'baseline.vmfb'))).executables;
    const module = readModule(new Uint8Array(readFileSync(result.output)));
    const [after] = module.executables;
    expect(sameCode(readFacts(after.codeObject), readFacts(before.codeObject))).toBe(false);
    expect(after.kernels).toEqual(before.kernels);
    expect(inconsistentEntries(module.vmfb)).toEqual([]);
  });

  test.skipIf(!haveLlvm)('both engines make the same code', async () => {
    const codes = [];
    for (const engine of ['wavesmith', 'llvm'] as const) {
      const folder = fixtureFolder();
      edit(asmFile(folder), ...HARMLESS);
      const { output } = await build(folder, { ...BUILD, engine });
      codes.push(readFacts(readModule(new Uint8Array(readFileSync(output))).executables[0].codeObject));
    }
    expect(sameCode(codes[0], codes[1])).toBe(true);
  });

  test('says which edited kernels are proved to be the same functions', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), ...HARMLESS);
    const [{ proofs }] = (await build(folder, BUILD)).executables;
    expect(proofs).toEqual([{ kernel: expect.any(String), verdict: 'proved', reason: null }]);
  });

  test('leaving untouched kernels out of the assembly gives the same module as assembling everything', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /(\.sgpr_count: +)\d+/, '$177');
    const quick = await build(folder, BUILD);
    forgetPristine(folder);
    const whole = await build(folder, { ...BUILD, output: join(folder, 'whole.vmfb') });
    expect(quick.executables[0].outside).toEqual({ editedLines: 2, instructions: 0, first: null });
    expect(whole.executables[0]).toEqual({ ...quick.executables[0], outside: null });
    expect(quick.executables[0].state).toBe('changed');
    expect(readFileSync(quick.output)).toEqual(readFileSync(whole.output));
  });

  test('a macro may change what an untouched line means, so everything is assembled', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\t\.text\n/m, '$&\t.macro s_barrier\n\ts_nop 7\n\t.endm\n');
    // The checker misses the barriers.
    const { executables } = await build(folder, { ...BUILD, force: true });
    expect(executables[0].change?.kernels[0].added).toBeGreaterThan(0);
    const line = readFileSync(asmFile(folder), 'utf8').split('\n').indexOf('\ts_barrier') + 1;
    expect(executables[0].outside).toMatchObject({ editedLines: 3, first: { file: asmFile(folder), line } });
    expect(executables[0].outside?.instructions).toBeGreaterThan(0);
  });

  test('a text that is not the module’s code is refused: an edit would change more than it says', async () => {
    const folder = fixtureFolder();
    const pristine = join(folder, 'baseline', 'matmul_dispatch_0.s');
    edit(pristine, /^\ts_endpgm/m, '\ts_nop 3\n$&');
    writeFileSync(asmFile(folder), readFileSync(pristine));
    const hash = createHash('sha256').update(readFileSync(pristine)).digest('hex');
    edit(join(folder, 'manifest.json'), /("asmSha256": ")\w+/, `$1${hash}`);
    expect((await build(folder, BUILD)).identical).toBe(true);
    edit(asmFile(folder), ...HARMLESS);
    await expect(build(folder, BUILD)).rejects.toMatchObject({ code: 'hijack/text-not-code' });
  });

  test('an edited code object version is in the module', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /(\.amdhsa_code_object_version) \d/, '$1 6');
    const { executables, output } = await build(folder, BUILD);
    expect(executables[0].state).toBe('changed');
    const [{ codeObject }] = readModule(new Uint8Array(readFileSync(output))).executables;
    expect(readCodeObject(codeObject).version).toBe(6);
  });

  test('a file that belongs to no executable is refused, unless a text includes it', async () => {
    const folder = fixtureFolder();
    writeFileSync(join(folder, 'asm', 'mine.s'), '\t.set mine, 1\n');
    await expect(build(folder, BUILD)).rejects.toMatchObject({
      code: 'hijack/stray-file',
      hint: expect.stringContaining('asm/matmul_dispatch_0.s'),
    });
    edit(asmFile(folder, 'dispatch_0'), /^\t\.text$/m, '\t.include "mine.s"\n$&');
    expect((await build(folder, BUILD)).executables[0].state).toBe('same-code');
  });

  test('a shorter code object is patched in place, a longer one makes the module grow; the edit can be undone', async () => {
    const folder = fixtureFolder();
    const asm = asmFile(folder);
    const pristine = readFileSync(asm);
    edit(asm, /^\ts_waitcnt lgkmcnt\(\d+\)\n/m, '');
    edit(asm, /^\t\.section\t"\.note\.GNU-stack".*\n/m, '');
    expect((await build(folder, BUILD)).executables[0].state).toBe('changed');
    writeFileSync(asm, pristine);
    const restored = await build(folder, BUILD);
    expect(restored.identical).toBe(true);
  });
});

describe('run', () => {
  test('the baseline computes the matrix product, and a harmless edit is equal in every bit', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), ...HARMLESS);
    await build(folder, BUILD);
    const recordings: Recording[] = [];
    const result = await run(folder, { ...RUN, openDevice: recordingDevices(recordings) });
    expect(result).toMatchObject({ ok: true, runs: [{ kernel: KERNEL, grid: [2, 1, 1], verdict: 'equal' }] });
    expect(result.runs[0].modified?.instructions).toBe((result.runs[0].baseline.instructions ?? 0) + 64 * 8);
    const [a, b] = recordings[0].inputs.map((bytes) => floats('f16', bytes));
    const c = floats('f32', recordings[0].outputs[2]);
    for (let row = 0; row < 128; row += 9) {
      for (let column = 0; column < 128; column += 7) {
        let sum = 0;
        for (let k = 0; k < 128; k++) sum += a[row * 128 + k] * b[k * 128 + column];
        expect(c[row * 128 + column]).toBeCloseTo(sum, 3);
      }
    }
  });

  test('a wrong edit is different, with the first wrong element', async () => {
    const folder = fixtureFolder();
    edit(
      asmFile(folder),
      /^\tv_mfma_f32_16x16x16_f16 (v\[24:27\]), (v\[40:41\]), (v\[46:47\])/m,
      '\tv_mfma_f32_16x16x16_f16 $1, $3, $2',
    );
    await build(folder, BUILD);
    const result = await run(folder, RUN);
    expect(result).toMatchObject({ ok: false, runs: [{ verdict: 'different' }] });
    const comparison = result.runs[0].buffers[2].comparison;
    expect(comparison.outside).toBeGreaterThan(0);
    expect(comparison.first?.baseline).not.toBe(comparison.first?.modified);
  });

  test('a rounding difference is within the tolerance of its type; --exact and a tighter tolerance refuse it', async () => {
    const folder = fixtureFolder();
    // 1 + 2^-22 changes the last bits of what is stored.
    edit(asmFile(folder), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x3f800002, $1\n$&');
    await build(folder, BUILD);
    const normal = await run(folder, RUN);
    expect(normal).toMatchObject({ ok: true, runs: [{ verdict: 'within-tolerance' }] });
    expect(normal.runs[0].buffers[2].comparison.different).toBeGreaterThan(0);
    expect((await run(folder, { ...RUN, exact: true })).ok).toBe(false);
    expect((await run(folder, { ...RUN, tolerance: 1e-9 })).runs[0].verdict).toBe('different');
  });

  test('a kernel that leaves its buffers fails with the fault, the baseline still ran', async () => {
    const folder = fixtureFolder();
    edit(
      asmFile(folder),
      /^\.LBB0_0:\n/m,
      '$&\tv_mov_b32_e32 v2, 0\n\tv_mov_b32_e32 v3, 0\n\tglobal_load_dword v2, v[2:3], off\n\ts_waitcnt vmcnt(0)\n',
    );
    await build(folder, BUILD);
    const [result] = (await run(folder, RUN)).runs;
    expect(result).toMatchObject({ verdict: 'different', modified: null });
    expect(result.baseline.instructions).toBeGreaterThan(0);
    expect(result.error?.message).toMatch(/global_load_dword/);
  });

  test('a kernel that never ends is stopped', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\ts_barrier\n/m, '.Lagain:\n\ts_nop 0\n\ts_branch .Lagain\n$&');
    await build(folder, { ...BUILD, force: true });
    expect((await run(folder, RUN)).runs[0]).toMatchObject({ verdict: 'different', error: { code: 'sim/budget' } });
  });

  test('nothing edited runs nothing; --all runs everything', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    expect((await run(folder, RUN)).runs).toEqual([]);
    expect((await run(folder, { ...RUN, all: true })).runs).toMatchObject([{ verdict: 'equal' }]);
  });

  test('inputs depend on the seed alone', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    const recordings: Recording[] = [];
    const open = recordingDevices(recordings);
    const openIdle: typeof open = async (target) => {
      const device = await open(target, false);
      device.dispatch = async () => ({ instructions: 0, wavefronts: 0, workgroups: 0, instructionsByEncoding: {} });
      return device;
    };
    for (const seed of [1, 1, 2]) await run(folder, { ...RUN, all: true, seed, openDevice: openIdle });
    expect(recordings[2].inputs).toEqual(recordings[0].inputs);
    expect(recordings[4].inputs).not.toEqual(recordings[0].inputs);
  });
});

describe('init MODEL.vmfb', () => {
  test('disassembles what the module holds; untouched and edited builds work without a compiler', async () => {
    const folder = join(temporaryFolder(), 'from-module');
    const { manifest } = await initFromModule(join(FIXTURE, 'baseline.vmfb'), folder, { force: false });
    expect(manifest).toMatchObject({
      target: 'gfx942',
      compiler: null,
      executables: [
        { name: 'matmul_dispatch_0', asmFrom: 'disassembly', kernels: [{ name: KERNEL, workgroupSize: [256, 1, 1] }] },
      ],
    });
    expect((await build(folder, BUILD)).identical).toBe(true);
    edit(asmFile(folder), /^/, '; touched\n');
    forgetPristine(folder);
    expect((await build(folder, BUILD)).executables[0].state).toBe('same-code');
    edit(asmFile(folder), ...HARMLESS);
    expect((await build(folder, BUILD)).executables[0].state).toBe('changed');
  });

  test('the host bytecode gives the same grid, constants and sizes that the compiler recorded', async () => {
    const folder = join(temporaryFolder(), 'from-module');
    await initFromModule(join(FIXTURE, 'baseline.vmfb'), folder, { force: false });
    const [fromModule, fromCompile] = [folder, FIXTURE].map((f) => readManifest(f).executables[0].kernels[0]);
    expect(fromModule.dispatches).toEqual(fromCompile.dispatches);
    expect(fromModule.dispatches[0].grid).toEqual([2, 1, 1]);
  });

  test('element types are in no module: they are asked for, then it runs', async () => {
    const folder = join(temporaryFolder(), 'from-module');
    await initFromModule(join(FIXTURE, 'baseline.vmfb'), folder, { force: false });
    await build(folder, BUILD);
    const all = { ...RUN, all: true };
    await expect(run(folder, all)).rejects.toMatchObject({
      code: 'hijack/no-type',
      message: `The element type of binding 0 of kernel '${KERNEL}' is not recorded.`,
      hint: 'Give --buffer 0=TYPE, for example --buffer 0=f16 (32768 bytes).',
    });
    const buffers = new Map([0, 1, 2].map((n) => [n, { bytes: undefined, elementType: n === 2 ? 'f32' : 'f16' }]));
    const result = await run(folder, { ...all, buffers });
    expect(result).toMatchObject({
      ok: true,
      runs: [{ verdict: 'equal', grid: [2, 1, 1], baseline: { wavefronts: 8 } }],
    });
  });

  test('an existing folder is not overwritten by accident, and a foreign one never', async () => {
    const folder = fixtureFolder();
    const module = join(FIXTURE, 'baseline.vmfb');
    await expect(initFromModule(module, folder, { force: false })).rejects.toMatchObject({
      code: 'hijack/folder-exists',
    });
    await initFromModule(module, folder, { force: true });
    expect(readManifest(folder).source.kind).toBe('vmfb');
    const foreign = temporaryFolder();
    writeFileSync(join(foreign, 'precious.txt'), 'keep');
    await expect(initFromModule(module, foreign, { force: true })).rejects.toMatchObject({
      code: 'hijack/folder-exists',
    });
    expect(readFileSync(join(foreign, 'precious.txt'), 'utf8')).toBe('keep');
  });
});
