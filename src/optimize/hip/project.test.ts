import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Project, type ProjectOptions } from './project.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-project-'));
  writeFileSync(join(folder, 'k.hip'), '__global__ void k() {}\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = (build: string): ProjectOptions => ({
  folder,
  source: 'k.hip',
  build,
  run: 'true',
  wavesmith: ['false'],
  device: 'sim:gfx942',
  timeout: 20,
});

test('a build goes to the copy, and what cmake configured elsewhere is not in it', async () => {
  mkdirSync(join(folder, 'out'));
  writeFileSync(join(folder, 'out', 'CMakeCache.txt'), `CMAKE_HOME_DIRECTORY:INTERNAL=${folder}\n`);
  const project = Project.open(options('touch built && ls -d out built'));
  try {
    expect(project.leftOut).toEqual(['out']);
    const { status, stdout, stderr } = await project.build();
    expect([status, stdout.trim(), stderr]).toEqual([2, 'built', expect.stringContaining("'out'")]);
    expect(readdirSync(folder).sort()).toEqual(['k.hip', 'out']);
  } finally {
    project.close();
  }
});

test('a project that is configured in its own folder is refused', () => {
  writeFileSync(join(folder, 'CMakeCache.txt'), '');
  expect(() => Project.open(options('make'))).toThrow(expect.objectContaining({ code: 'optimize/configured' }));
});
