// A program that allocates 52 GiB: counted, timed, probed and captured, with what it touches alone taking memory of the host.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCapture } from '../src/snapshot/index.ts';
import { replayOnce } from './support/capture-subjects.ts';
import { canCompileHip, compileHip, type HipRun, run } from './support/hip.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-large-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const wavesmith = (...args: readonly string[]): Promise<HipRun> => run(process.execPath, ['bin/wavesmith', ...args]);

describe.skipIf(!canCompileHip())('a program with more memory than 4 GiB', () => {
  let program: string;
  beforeAll(async () => {
    program = await compileHip({ sources: ['large_memory'], targets: ['gfx942'] });
  });

  test('has the same counts in a profile, with and without a clock, and in a probe', async () => {
    const probed = await wavesmith('probe', '--tool', 'instr-count', '--', program);
    const instructions = Number(/^instructions: (\d+)$/m.exec(probed.stdout)?.[1]);
    expect([probed.status, instructions]).toEqual([0, 502_805]);
    for (const clock of [[], ['--timing']]) {
      const out = join(folder, `profile${clock.length}`);
      const { status, stdout } = await wavesmith('profile', '--device', 'sim', ...clock, '-o', out, '--', program);
      expect([status, stdout]).toEqual([0, expect.stringContaining(`; ${instructions} instructions,`)]);
      expect(stdout).not.toContain('sim/exit');
    }
  });

  test('is captured, and its dispatches give the same memory again', async () => {
    const out = join(folder, 'large.wscap');
    const options = ['--kernel', 'Add|Count|Write', '--dispatch', '0-2', '--no-orders', '-o', out];
    const { status, stderr } = await wavesmith('capture', ...options, '--', program);
    expect([status, stderr.match(/proved complete/g)]).toEqual([0, Array(3).fill('proved complete')]);
    const captures = readdirSync(folder).filter((name) => name.endsWith('.wscap'));
    expect(captures).toHaveLength(3);
    for (const name of captures) {
      const capture = openCapture(join(folder, name));
      expect(capture.manifest.memory.allocations.some((a) => a.size >= 2 ** 28)).toBe(true);
      expect(await replayOnce(capture)).toMatchObject({ verdict: 'equal', reasons: [] });
    }
  });
});
