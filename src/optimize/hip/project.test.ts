import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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

test('links that lead out of the folder lead to copies, and files that may not be written may be written there', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'wavesmith-outside ü-'));
  try {
    writeFileSync(join(outside, 'real.hip'), '__global__ void k() {}\n', { mode: 0o444 });
    mkdirSync(join(outside, 'objects'));
    symlinkSync('../real.hip', join(outside, 'objects', 'again.hip'));
    symlinkSync(outside, join(outside, 'objects', 'circle'));
    rmSync(join(folder, 'k.hip'));
    symlinkSync(relative(folder, join(outside, 'real.hip')), join(folder, 'k.hip'));
    symlinkSync(join(folder, 'k.hip'), join(folder, 'same.hip'));
    symlinkSync(join(outside, 'objects'), join(folder, 'objects'));
    symlinkSync('nowhere', join(folder, 'dangling'));
    symlinkSync('.', join(folder, 'self'));
    chmodSync(folder, 0o555);
    const project = Project.open(
      options('echo 1 > new && echo 2 > objects/built && cat self/k.hip same.hip && echo 3 > objects/again.hip'),
    );
    try {
      project.write('changed\n');
      const { status, stdout, stderr } = await project.build();
      expect([status, stdout, stderr]).toEqual([0, 'changed\nchanged\n', '']);
    } finally {
      project.close();
    }
    expect(readFileSync(join(outside, 'real.hip'), 'utf8')).toBe('__global__ void k() {}\n');
    expect(readdirSync(join(outside, 'objects')).sort()).toEqual(['again.hip', 'circle']);
    expect(readdirSync(folder).sort()).toEqual(['dangling', 'k.hip', 'objects', 'same.hip', 'self']);
  } finally {
    chmodSync(folder, 0o755);
    rmSync(outside, { recursive: true, force: true });
  }
});
