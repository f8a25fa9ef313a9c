import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSubstitutions, commandLine, compile, probeCompiler, takeTarget, targetFlags } from './compiler.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-compiler-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that answers --version and --help like an iree-compile of some release. */
function compilerLike(name: string, version: string, flags: readonly string[]) {
  const path = join(folder, name);
  const help = flags.map((flag) => `  ${flag}=<string>   - a flag`).join('\n');
  const answer = version === '' ? 'something else' : `IREE (https://iree.dev):\n  IREE compiler version ${version}`;
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then cat <<'E'\n${answer}\nE\nelse cat <<'E'\n${help}\nE\nfi\n`,
  );
  chmodSync(path, 0o755);
  return { name: 'iree-compile', path, foundBy: 'PATH' };
}

test.each([
  ['3.10.0', ['--iree-hip-target', '--iree-hal-target-backends'], '--iree-hip-target'],
  ['3.11.0', ['--iree-hip-target', '--iree-rocm-target', '--iree-hal-target-backends'], '--iree-rocm-target'],
  ['3.13.0', ['--iree-rocm-target', '--iree-hal-target-backends'], '--iree-rocm-target'],
])('IREE %s: the target flag is the one it knows', async (version, flags, expected) => {
  const compiler = await probeCompiler(compilerLike(`iree-${version}`, version, flags));
  expect(compiler).toMatchObject({ version, targetFlag: expected, backendFlag: '--iree-hal-target-backends=rocm' });
  expect(targetFlags(compiler, 'gfx942', [])).toEqual(['--iree-hal-target-backends=rocm', `${expected}=gfx942`]);
  expect(targetFlags(compiler, 'gfx942', ['--iree-hal-target-device=hip'])).toEqual([`${expected}=gfx942`]);
});

test('a compiler without the ROCm backend is said to be one', async () => {
  const tool = compilerLike('iree-cpu', '3.13.0', ['--iree-llvmcpu-target-cpu']);
  await expect(probeCompiler(tool)).rejects.toMatchObject({ code: 'hijack/no-rocm-backend' });
});

test('a program that is not iree-compile is said not to be', async () => {
  await expect(probeCompiler(compilerLike('other', '', []))).rejects.toMatchObject({ code: 'hijack/not-iree' });
});

test('a failing compile reports its first error line and the command', async () => {
  const path = join(folder, 'failing');
  writeFileSync(path, '#!/bin/sh\necho "in.mlir:3:5: error: custom op is unknown" >&2\necho "more" >&2\nexit 1\n');
  chmodSync(path, 0o755);
  const compiler = {
    path,
    version: '3',
    targetFlag: '--iree-rocm-target',
    backendFlag: '--iree-hal-target-device=hip',
    elideFlags: [],
  } as const;
  await expect(compile(compiler, ['in.mlir', '-o', 'out file'])).rejects.toMatchObject({
    code: 'hijack/compile-failed',
    message: 'iree-compile failed (exit code 1): in.mlir:3:5: error: custom op is unknown',
    hint: `The command was: ${path} in.mlir -o 'out file'`,
  });
});

test('silent non-substitution: the warning (exit code 0) is an error that lists the executables', () => {
  const stderr =
    'WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable `wrong` was not found in the module\n';
  expect(() => checkSubstitutions(stderr, ['wrong'], ['matmul_dispatch_0'])).toThrowError(
    expect.objectContaining({
      code: 'hijack/not-substituted',
      message:
        "Nothing was substituted: the module has no executable 'wrong' (iree-compile only warns about this, and exits 0).",
      hint: 'The module’s executables are: matmul_dispatch_0.',
    }),
  );
});

test('silent non-substitution: no note at all is an error too', () => {
  expect(() => checkSubstitutions('', ['matmul_dispatch_0'], [])).toThrowError(
    expect.objectContaining({ code: 'hijack/not-substituted' }),
  );
});

test('the note proves the substitution, for every executable', () => {
  const note = (name: string): string =>
    `NOTE: hal.executable \`${name}\` substituted with object file at \`/x/0.hsaco\`\n`;
  expect(() => checkSubstitutions(note('a') + note('b'), ['a', 'b'], [])).not.toThrow();
  expect(() => checkSubstitutions(note('a'), ['a', 'b'], [])).toThrowError(/'b'/);
});

test('a target among the extra flags is taken, in either spelling, and must agree', () => {
  const taken = { target: 'gfx950', rest: ['--iree-opt-level=O3'] };
  expect(takeTarget(['--iree-hip-target=gfx950', '--iree-opt-level=O3'], undefined)).toEqual(taken);
  expect(takeTarget(['--iree-opt-level=O3', '--iree-rocm-target=gfx950'], 'gfx950')).toEqual(taken);
  const refused = expect.objectContaining({ code: 'hijack/target-flag' });
  expect(() => takeTarget(['--iree-rocm-target=gfx942'], 'gfx950')).toThrowError(refused);
  expect(() => takeTarget(['--iree-rocm-target'], undefined)).toThrowError(refused);
  expect(() => takeTarget(['-o=x'], undefined)).toThrowError(expect.objectContaining({ code: 'hijack/output-flag' }));
});

test('commands are quoted for a shell', () => {
  expect(commandLine(['a', '--b=c d', "it's"])).toBe("a '--b=c d' 'it'\\''s'");
});
