// A native build is found whole or not at all.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { findNativeBuild } from './addon.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-native-'));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

it('a build without its launcher is not built', () => {
  vi.stubEnv('WAVESMITH_NATIVE', folder);
  const notBuilt = expect.objectContaining({ code: 'runtime/not-built' });
  expect(() => findNativeBuild('/')).toThrow(notBuilt);
  mkdirSync(join(folder, 'lib'), { recursive: true });
  writeFileSync(join(folder, 'lib', 'wavesmith.node'), '');
  expect(() => findNativeBuild('/')).toThrow(notBuilt);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'wavesmith-launch'), '');
  expect(findNativeBuild('/')).toEqual({
    folder,
    libraries: join(folder, 'lib'),
    launcher: join(folder, 'bin', 'wavesmith-launch'),
  });
});
