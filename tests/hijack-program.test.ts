// The hijack loop for programs: what a HIP or HSA program loads becomes a folder, edited kernels take the place of its own.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { wavesmith } from './support/cli.ts';
import { canCompileHip, compileHip, nativeLibraries } from './support/hip.ts';
import { exec, nativeTests } from './support/native.ts';

const native = nativeTests();
const hasHip = native !== undefined && canCompileHip();
const work = mkdtempSync(join(tmpdir(), 'wavesmith-hijack-program-'));
afterAll(() => rmSync(work, { recursive: true }));

/** The file of a folder's assembly that defines a kernel's code. */
function textOf(folder: string, kernel: string): string {
  const found = readdirSync(join(folder, 'asm'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.s'))
    .map((name) => join(folder, 'asm', name))
    .filter((path) => readFileSync(path, 'utf8').includes(`\n${kernel}:`));
  expect(found).toHaveLength(1);
  return found[0] as string;
}

function edit(path: string, from: RegExp, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
}

/** Puts an instruction before the first wait of a kernel. */
const nop = (path: string): void => edit(path, /\ts_waitcnt /, '\ts_nop 1\n\ts_waitcnt ');

describe.skipIf(!hasHip)('hijack of a program that compiles its kernels', () => {
  it('the code is the same in every run, so that the edit takes its place', async () => {
    const folder = join(work, 'rtc');
    const program = await compileHip({
      sources: ['runtime_compile'],
      targets: ['gfx942'],
      flags: [`-L${nativeLibraries}`, '-l:libhiprtc.so.5'],
    });
    const made = await wavesmith('hijack', 'init', '-o', folder, '--', program);
    expect(made.code, made.err).toBe(0);
    const path = textOf(folder, 'scale');
    nop(path);
    expect((await wavesmith('hijack', 'build', folder)).code).toBe(0);
    expect((await wavesmith('hijack', 'run', folder)).out).toMatch(/^EQUAL/m);
  });
});

describe.skipIf(!hasHip)('hijack of a HIP program', () => {
  const folder = join(work, 'hip');
  let program = '';

  it('init: every code object that it loads, with the shapes of its launches', async () => {
    program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    const made = await wavesmith('hijack', 'init', '-o', folder, '--json', '--', program, 'plain');
    expect(made.code, made.err).toBe(0);
    const { executables } = JSON.parse(made.out);
    expect(executables).toHaveLength(1);
    const step = executables[0].kernels.find((k: { name: string }) => k.name === '_Z4stepPfi');
    expect(step.launches).toEqual([{ grid: [256, 1, 1], block: [64, 1, 1], ldsBytes: 0 }]);
    const never = executables[0].kernels.find((k: { name: string }) => k.name === '_Z5neverPf');
    expect(never.launches).toEqual([]);
    const built = await wavesmith('hijack', 'build', folder);
    expect(built.out).toContain('0 code object(s) changed, 1 as they were');
    expect((await wavesmith('hijack', 'run', folder)).out).toMatch(/^NOTHING COMPARED/m);
  });

  it('a harmless edit with more registers is equal, in output and in every byte of memory; variables stay those of the program', async () => {
    const path = textOf(folder, '_Z4stepPfi');
    nop(path);
    edit(path, /(\.amdhsa_next_free_vgpr) \d+/, '$1 64');
    edit(path, /(\.amdhsa_accum_offset) \d+/, '$1 64');
    expect((await wavesmith('hijack', 'run', folder)).out).toMatch(/^NOT BUILT/m);
    const built = await wavesmith('hijack', 'build', folder);
    expect(built.code, built.err).toBe(0);
    expect(built.out).toContain('instructions changed outside the edited lines: 0');
    const run = await wavesmith('hijack', 'run', folder);
    expect(run.out).toContain('_Z4stepPfi: the edited kernel was launched 3 time(s)\n');
    expect(run.out).toMatch(/memory: 3 of 3 dispatch\(es\) left the same bytes everywhere \(\d{4} bytes written\)/);
    expect(run.out).toMatch(/^EQUAL: 3 dispatch\(es\), 1 output\(s\)$/m);
    expect(run.code).toBe(0);
  });

  it.each([
    ['streams', 6],
    ['graph', 4],
    ['exit', 3],
    ['fork', 6],
    ['forked', 4],
  ])('%s: the edited kernel runs %i times', async (mode, times) => {
    const run = await wavesmith('hijack', 'run', folder, '--', program, mode);
    expect(run.out).toContain(`_Z4stepPfi: the edited kernel was launched ${times} time(s)\n`);
    expect(run.out).toMatch(new RegExp(`^EQUAL: ${times} dispatch`, 'm'));
  });

  it('a queue that waits for the program does not stop it, and all dispatches are compared', async () => {
    const run = await wavesmith('hijack', 'run', folder, '--', program, 'wait');
    expect(run.out).toContain('the edited kernel was launched 5 time(s)\n');
    expect(run.out).toMatch(/^EQUAL: 5 dispatch\(es\), 1 output\(s\)$/m);
  });

  it('a program that does not launch the edited kernel proves nothing', async () => {
    const run = await wavesmith('hijack', 'run', folder, '--', program, 'dynamic');
    expect(run.out).toMatch(/^EDITED KERNEL NOT LAUNCHED/m);
    expect(run.code).toBe(1);
  });

  it('a wrong edit shows which dispatch differs, where; ranges choose dispatches', async () => {
    const path = textOf(folder, '_Z4stepPfi');
    const good = readFileSync(path, 'utf8');
    edit(path, /v_and_b32_e32 (v\d+), 3, /, 'v_and_b32_e32 $1, 1, ');
    const built = await wavesmith('hijack', 'build', folder);
    expect(built.code, built.err).toBe(0);
    const run = await wavesmith('hijack', 'run', folder, '--dispatch', '1', '--buffer', '0=f32', '--no-stdout');
    expect(run.out).toMatch(/dispatch 1 of _Z4stepPfi, grid 256×1×1, workgroup 64×1×1/);
    expect(run.out).toMatch(/argument 0, 4096 bytes from 0x[0-9a-f]+: \d+ outside the f32 tolerance/);
    expect(run.out).toMatch(/^DIFFERENT: 1 of 1 dispatch\(es\) differ/m);
    expect(run.code).toBe(1);
    writeFileSync(path, good);
  });

  it('an edit that never ends is stopped, the queue failing in the middle of an isolated dispatch', async () => {
    const path = textOf(folder, '_Z4stepPfi');
    const good = readFileSync(path, 'utf8');
    edit(path, /\ts_waitcnt /, '.Lforever:\n\ts_branch .Lforever\n\ts_waitcnt ');
    await wavesmith('hijack', 'build', folder, '--force');
    const run = await wavesmith('hijack', 'run', folder);
    expect(run.out).toContain('error[sim/budget]');
    expect(run.out).toContain("_Z4stepPfi: dispatch 0 ended as 'failed'");
    expect(run.out).toMatch(/^DIFFERENT/m);
    writeFileSync(path, good);
  });

  it('the first value of a variable cannot be edited', async () => {
    const shared = textOf(folder, 'scale');
    const good = readFileSync(shared, 'utf8');
    edit(shared, /(\nscale:\n\t\.long )0x3f800000/, '$10x40000000');
    await wavesmith('hijack', 'build', folder, '--force');
    const run = await wavesmith('hijack', 'run', folder);
    expect(run.err).toContain("error[hijack/variable]: The edit changes the first value of variable 'scale'");
    writeFileSync(shared, good);
  });

  it('a kernel that calls the host runs once', async () => {
    const other = join(work, 'printf');
    await wavesmith('hijack', 'init', '-o', other, '--', program, 'printf');
    nop(textOf(other, '_Z4talkPi'));
    expect((await wavesmith('hijack', 'build', other)).code).toBe(0);
    const run = await wavesmith('hijack', 'run', other);
    expect(run.out).toContain('_Z4talkPi: the edited kernel was launched 1 time(s), 0 of them compared');
    expect(run.out).toMatch(/^EQUAL: .*_Z4talkPi calls the host/m);
  });

  it('dynamic LDS keeps its size when the static one grows', async () => {
    const other = join(work, 'dynamic');
    await wavesmith('hijack', 'init', '-o', other, '--', program, 'dynamic');
    const path = textOf(other, '_Z4turnPi');
    nop(path);
    edit(path, /(\.amdhsa_group_segment_fixed_size) 0/, '$1 1024');
    const built = await wavesmith('hijack', 'build', other, '--force');
    expect(built.code, built.err).toBe(0);
    const run = await wavesmith('hijack', 'run', other, '--force');
    expect(run.out).toMatch(/^EQUAL/m);
  });

  it('code objects with kernels of the same name are told apart', async () => {
    const other = join(work, 'modules');
    const first = await compileHip({ sources: ['same_kernel'], targets: ['gfx942'], deviceOnly: true });
    const second = await compileHip({
      sources: ['same_kernel'],
      targets: ['gfx942'],
      deviceOnly: true,
      flags: ['-DFACTOR=5'],
    });
    const command = [program, 'modules', first, 'same', second, 'same'];
    await wavesmith('hijack', 'init', '-o', other, '--', ...command);
    const path = join(other, 'asm', 'same-2.s');
    edit(path, /\ts_endpgm/, '\ts_nop 0\n\ts_endpgm');
    expect((await wavesmith('hijack', 'build', other)).code).toBe(0);
    const run = await wavesmith('hijack', 'run', other);
    expect(run.out).toContain('same (same-2): the edited kernel was launched 1 time(s)\n');
    expect(run.out).toMatch(/^EQUAL: 1 dispatch/m);
  });
});

describe.skipIf(native === undefined)('hijack of an HSA program', () => {
  const { file, kernels } = native ?? { file: String, kernels: String };

  it('replaces the kernel of 201 dispatches and counts them', async () => {
    const folder = join(work, 'hsa');
    const made = await wavesmith('hijack', 'init', '-o', folder, '--', file('hsa-dispatch'), kernels('gfx942'));
    expect(made.code, made.err).toBe(0);
    nop(textOf(folder, 'scale'));
    expect((await wavesmith('hijack', 'build', folder)).code).toBe(0);
    const run = await wavesmith('hijack', 'run', folder, '--no-stdout', '--dispatch', 'every:50');
    expect(run.out).toContain('scale: the edited kernel was launched 201 time(s), 5 of them compared');
    expect(run.out).toMatch(/^EQUAL: 5 dispatch\(es\), 0 output\(s\)$/m);
  });

  it('an edit may use scratch where the kernel had none: the packets get its size', async () => {
    const folder = join(work, 'scratch');
    await wavesmith('hijack', 'init', '-o', folder, '--', file('hsa-dispatch'), kernels('gfx942'));
    const path = textOf(folder, 'scale');
    edit(
      path,
      /\ts_waitcnt /,
      '\tscratch_store_dword off, v0, off offset:64\n\ts_waitcnt vmcnt(0)\n\tv_mov_b32_e32 v0, -1\n\tscratch_load_dword v0, off, off offset:64\n\ts_waitcnt vmcnt(0)\n$&',
    );
    // Without the size in the text the access is outside of what the kernel has.
    await wavesmith('hijack', 'build', folder);
    const options = ['--no-stdout', '--dispatch', '0-3'];
    const without = await wavesmith('hijack', 'run', folder, ...options);
    expect(without.code).toBe(1);
    const all = [path, join(folder, 'asm', 'empty', 'shared.s')].find((f) =>
      /kernel scale[\s\S]*private_segment_fixed_size/.test(readFileSync(f, 'utf8')),
    ) as string;
    edit(all, /(\.amdhsa_kernel scale[\s\S]*?\.amdhsa_private_segment_fixed_size) \d+/, '$1 128');
    edit(all, /(\.amdhsa_kernel scale[\s\S]*?\.amdhsa_enable_private_segment) \d/, '$1 1');
    const built = await wavesmith('hijack', 'build', folder);
    expect(built.code, built.err).toBe(0);
    const run = await wavesmith('hijack', 'run', folder, ...options);
    expect(run.out + run.err).toMatch(/^EQUAL: 4 dispatch/m);
    expect(run.code).toBe(0);
  });

  it('a folder of a file needs a program', async () => {
    const folder = join(work, 'file-of-kernels');
    await wavesmith('hijack', 'init', kernels('gfx942'), '-o', folder);
    nop(textOf(folder, 'scale'));
    await wavesmith('hijack', 'build', folder);
    expect((await wavesmith('hijack', 'run', folder)).err).toContain('error[hijack/no-program]');
    const run = await wavesmith('hijack', 'run', folder, '--no-stdout', '--', file('hsa-dispatch'), kernels('gfx942'));
    expect(run.out).toMatch(/^EQUAL: 201 dispatch/m);
  });

  it('a program without GPU code is an error, one that is not there too', async () => {
    const none = await wavesmith('hijack', 'init', '-o', join(work, 'none'), '--', 'true');
    expect(none.err).toContain("error[hijack/no-code]: 'true' loaded no code object.");
    const absent = await wavesmith('hijack', 'init', '-o', join(work, 'none'), '--', './no-such-program');
    expect(absent.err).toContain('status 127');
  });

  it('the library serves any runtime: under exec it works with --device rocm', async () => {
    const folder = join(work, 'rocm');
    const args = ['hijack', 'init', '-o', folder, '--device', 'rocm', '--', file('hsa-dispatch'), kernels('gfx942')];
    const run = await exec([process.execPath, 'bin/wavesmith', ...args]);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toContain('asm/empty/shared.s');
  });

  it('does nothing where nobody asked for it, and says when nobody answers', async () => {
    const library = join(nativeLibraries, 'libwavesmith-tool.so');
    const quiet = await exec([file('hsa-dispatch'), kernels('gfx942')], { env: { HSA_TOOLS_LIB: library } });
    expect(quiet.status, quiet.stderr).toBe(0);
    expect(quiet.stderr).toBe('');
    const env = { HSA_TOOLS_LIB: library, WAVESMITH_TOOL_SOCKET: '@wavesmith-nobody' };
    const alone = await exec([file('hsa-dispatch'), kernels('gfx942')], { env });
    expect(alone.status).toBe(0);
    expect(alone.stderr).toContain('the tools library sees nothing of this program');
  });

  it('a program outlives the Wavesmith that watched it', async () => {
    // kill -9 of the outer process in the middle: the inner program, a child of a shell under exec, goes on.
    const inner = `${process.execPath} bin/wavesmith hijack init -o ${join(work, 'killed')} --device rocm -- sleep 30 & sleep 1; kill -9 $!; echo over`;
    const run = await exec(['sh', '-c', inner]);
    expect(run.stdout).toBe('over\n');
    expect(readdirSync(work).filter((name) => name.startsWith('killed'))).toEqual([]);
  });
});
