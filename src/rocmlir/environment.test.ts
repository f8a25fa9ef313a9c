// The environment variables and flags of the integration.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeFlag, findCompiler, readConfig, readEnvironment, resolveFlags } from './environment.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-environment-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [{}, { debug: 0, disabled: false, ireeBin: undefined, config: undefined }],
  [
    { IREE_DEBUG: '2', IREE_DISABLE: '1' },
    { debug: 2, disabled: true },
  ],
  [
    { IREE_DEBUG: '1x', IREE_DISABLE: '0' },
    { debug: 1, disabled: false },
  ],
  [
    { IREE_DEBUG: 'yes', IREE_DISABLE: 'yes' },
    { debug: 0, disabled: false },
  ],
  [
    { IREE_BIN: '/b', IREE_CONFIG: '/c' },
    { ireeBin: '/b', config: '/c' },
  ],
])('%j', (variables, expected) => expect(readEnvironment(variables)).toMatchObject(expected));

test('IREE_BIN is the only place that is searched when it is set', () => {
  const environment = readEnvironment({ IREE_BIN: folder });
  expect(() => findCompiler(environment)).toThrow(expect.objectContaining({ code: 'rocmlir/no-compiler' }));
  writeFileSync(join(folder, 'iree-compile'), '#!/bin/sh\n', { mode: 0o755 });
  expect(findCompiler(environment)).toMatchObject({ path: join(folder, 'iree-compile'), foundBy: 'IREE_BIN' });
});

describe('IREE_CONFIG', () => {
  const read = (text: string): string[] => {
    const path = join(folder, 'config.yaml');
    writeFileSync(path, text);
    return readConfig(path);
  };
  test('a list of flags', () => expect(read('---\n# flags\n- "--a=true"\n- --b\n')).toEqual(['--a=true', '--b']));
  test.each([['a: 1'], ['- 1\n- --b'], ['- "unclosed'], ['just text']])('%j is refused', (text) =>
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'rocmlir/config' })),
  );
  test('a missing file is refused', () =>
    expect(() => readConfig(join(folder, 'absent'))).toThrow(expect.objectContaining({ code: 'rocmlir/config' })));
});

describe('flags', () => {
  const known = new Set([
    '--keep',
    '--iree-llvmgpu-prefetch-num-stages',
    '--iree-dispatch-creation-enable-aggressive-fusion',
    '--iree-dispatch-creation-fuse-multi-use',
    '--iree-opt-const-eval',
  ]);
  test('known ones pass, old names are mapped, the others are dropped by name', () => {
    const asked = ['--keep=1', '--iree-llvmgpu-enable-prefetch', '--iree-flow-fuse-multi-use', '--iree-gone=true'];
    const { flags, notes } = resolveFlags(asked, known);
    expect(flags).toContain('--keep=1');
    expect(flags).toContain('--iree-llvmgpu-prefetch-num-stages=2');
    expect(notes.map(describeFlag)).toEqual([
      "iree-compile no longer knows '--iree-llvmgpu-enable-prefetch'; '--iree-llvmgpu-prefetch-num-stages=2' is passed instead",
      "iree-compile no longer knows '--iree-flow-fuse-multi-use'; '--iree-dispatch-creation-fuse-multi-use' is passed instead",
      "iree-compile no longer knows '--iree-gone=true'; it is left out",
    ]);
  });
  test('each flag is passed once; the config wins over this project’s own', () => {
    const { flags } = resolveFlags(['-iree-opt-const-eval=true', '--iree-flow-enable-aggressive-fusion=false'], known);
    expect(flags.filter((flag) => flag.includes('const-eval'))).toEqual(['-iree-opt-const-eval=true']);
    expect(flags.filter((flag) => flag.includes('aggressive'))).toEqual([
      '--iree-dispatch-creation-enable-aggressive-fusion=false',
    ]);
  });
  test('a switched off switch becomes no stages', () => {
    expect(resolveFlags(['--iree-llvmgpu-enable-prefetch=false'], known).flags).toContain(
      '--iree-llvmgpu-prefetch-num-stages=0',
    );
  });
});
