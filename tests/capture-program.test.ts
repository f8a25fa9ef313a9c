// `wavesmith capture -- PROGRAM`: dispatches of a HIP program are isolated and replayed without it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCapture } from '../src/snapshot/index.ts';
import { replayOnce } from './support/capture-subjects.ts';
import { canCompileHip, compileHip, run } from './support/hip.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

describe.skipIf(!canCompileHip())('a HIP program', () => {
  let program: string;
  beforeAll(async () => {
    program = await compileHip({ sources: ['isolate'], targets: ['gfx942'] });
  }, 120_000);
  const capture = (...options: string[]) =>
    run(process.execPath, ['bin/wavesmith', 'capture', ...options, '--', program]);

  test.each(['minimal', 'chase'])('is isolated and replayed: %s', async (kernel) => {
    const { status, stdout, stderr } = await capture('--kernel', `^${kernel}$`, '-o', path(`${kernel}.wscap`));
    expect(stderr).toMatch(/proved complete/);
    expect(status).toBe(0);
    expect(stdout).toBe('1000 136 315\n');
    const made = openCapture(path(`${kernel}.wscap`));
    expect(made.manifest.dispatch.kernel).toBe(kernel);
    expect(await replayOnce(made, { iterations: 3 })).toMatchObject({ verdict: 'equal', reasons: [] });
  });

  test('gives the dispatches that are asked for, each as it was', async () => {
    const { status, stderr } = await capture(
      '--kernel',
      'step',
      '--dispatch',
      '1-3',
      '--no-orders',
      '-o',
      path('step.wscap'),
    );
    expect(stderr.match(/captured in/g)?.length).toBe(3);
    expect(status).toBe(0);
    const sequences = ['step.wscap', 'step.1.wscap', 'step.2.wscap'].map(
      (name) => openCapture(path(name)).manifest.dispatch.sequence,
    );
    expect(sequences).toEqual([3, 4, 5]);
    expect((await replayOnce(openCapture(path('step.2.wscap')))).verdict).toBe('equal');
  });

  test('without such a dispatch is told what there is', async () => {
    const { status, stderr } = await capture('--kernel', 'nothing', '-o', path('none.wscap'));
    expect(status).toBe(1);
    expect(stderr).toMatch(/capture\/no-dispatch/);
    expect(stderr).toMatch(/minimal \(1\)/);
  });
});
