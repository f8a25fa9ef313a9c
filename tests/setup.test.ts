// Set-up and doctor on machines that lack things. Nothing is installed here.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { examine } from '../src/iree/doctor.ts';
import { root } from './hijack-support.ts';

const environment = { ...process.env };
let folder = '';
afterEach(() => {
  for (const name of ['ROCM_LLVM', 'IREE_COMPILE']) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

test('a checkout without anything says what is missing and fails only for the npm packages', () => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-setup-'));
  mkdirSync(join(folder, 'scripts'));
  for (const name of ['scripts/setup.mjs', 'scripts/requirements.txt', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(folder, name));
  }
  const run = spawnSync(process.execPath, [join(folder, 'scripts', 'setup.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, PATH: '', WAVESMITH_CHROMIUM: join(folder, 'absent'), WAVESMITH_NO_INSTALL: '1' },
  });
  expect(run.status).toBe(1);
  expect(run.stdout).toContain('setup: chromium: NOT available: Chromium is missing and WAVESMITH_NO_INSTALL=1');
  expect(run.stdout).toContain('setup: without chromium: tests of pages skip.');
  expect(run.stdout).toContain('setup: npm: NOT available: npm packages are missing and WAVESMITH_NO_INSTALL=1');
  expect(run.stdout).toContain('setup: iree: NOT available: IREE is missing and WAVESMITH_NO_INSTALL=1');
  expect(run.stdout).toContain('setup: without iree: hijack needs a compiled .vmfb; the demo uses its own.');
});

test('a checkout with everything is checked in well under a second, without a word about installing', () => {
  const run = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, WAVESMITH_NO_INSTALL: '1' },
  });
  expect(run.stdout).toContain('setup: npm: npm packages match package-lock.json');
  expect(run.stdout).not.toContain('installing');
});

test('doctor finds what is required, and missing optional programs are absent, not broken', async () => {
  process.env.ROCM_LLVM = join(tmpdir(), 'no-such-folder');
  process.env.IREE_COMPILE = join(tmpdir(), 'no-such-compiler');
  const report = await examine();
  const finding = (name: string) => report.findings.find((f) => f.name === name);
  expect(report.ok).toBe(true);
  expect(finding('Node')).toMatchObject({ ok: true, required: true, found: process.versions.node });
  expect(finding('virtual device')).toMatchObject({ ok: true, required: true });
  expect(finding('clang')).toMatchObject({ ok: false, required: false, found: 'not found' });
  expect(finding('iree-compile')).toMatchObject({
    ok: false,
    found: `not found (IREE_COMPILE=${process.env.IREE_COMPILE})`,
  });
});
