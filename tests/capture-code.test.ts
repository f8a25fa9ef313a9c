// A capture stands wherever a file with code does: the commands say of it what they say of its code object.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { addIndex, captureObject, record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  await record(folder, 'k.wscap', { finish: { orders: false } });
  await wavesmith('capture', 'export', path('k.wscap'), '-o', path('k.zip'));
  writeFileSync(path('k.co'), captureObject());
  const broken = addIndex({ load: 's_load_dwordx4 s[4:7], s[0:1], 0x0\n global_store_dword v1, v2, s[4:5]' });
  writeFileSync(path('broken.co'), captureObject(broken));
});

const without = (text: string, name: string): string => text.replaceAll(path(name), 'FILE').replaceAll(name, 'FILE');

describe('a capture as code', () => {
  test.each([
    ['disasm', []],
    ['disasm', ['--listing']],
    ['inspect', ['--json']],
    ['check', []],
    ['mca', []],
  ] as const)('%s %j', async (command, options) => {
    const file = await wavesmith(command, path('k.co'), ...options);
    for (const name of ['k.wscap', 'k.zip']) {
      const capture = await wavesmith(command, path(name), ...options);
      expect(capture.code, capture.err).toBe(file.code);
      expect(without(capture.out, name)).toBe(without(file.out, 'k.co'));
    }
    expect(file.out).not.toBe('');
  });

  test('diff and prove', async () => {
    expect((await wavesmith('diff', path('k.wscap'), path('k.co'))).code).toBe(0);
    expect((await wavesmith('diff', path('k.wscap'), path('broken.co'))).code).toBe(1);
    const proof = await wavesmith('prove', path('k.wscap'), path('k.co'));
    expect([proof.code, proof.err]).toEqual([0, '']);
  });

  test('extract and probe write its code', async () => {
    expect((await wavesmith('extract', path('k.wscap'), '-o', path('out'))).code).toBe(0);
    const probed = await wavesmith('probe', path('k.wscap'), '--tool', 'instr-count', '-o', path('probed.co'));
    expect(probed.code, probed.err).toBe(0);
    expect((await wavesmith('inspect', path('probed.co'))).code).toBe(0);
  });

  test('probes and the profile run its dispatch', async () => {
    for (const [tool, expected] of [
      ['instr-count', /^instructions: \d+$/m],
      // Its records need more room than there is behind the captured code.
      ['mem-trace', /^\d+ accesses, 0 dropped$/m],
    ] as const) {
      const { code, out, err } = await wavesmith('probe', '--tool', tool, '--self-check', '--', 'run', path('k.wscap'));
      expect(code, err).toBe(0);
      expect(out).toMatch(expected);
      expect(out).toMatch(/^EQUAL: 4000 bytes/m);
      expect(err).toContain('self-check: every buffer is as the original leaves it');
    }
    for (const name of ['k.wscap', 'k.zip']) {
      const profile = await wavesmith('profile', path(name), '-o', path('profile'));
      expect([profile.code, profile.out], profile.err).toEqual([0, expect.stringMatching(/^EQUAL/m)]);
      const { kernels } = JSON.parse(readFileSync(join(path('profile'), 'profile.json'), 'utf8')) as ProfileDocument;
      expect(kernels.map((k) => k.name)).toEqual(['k']);
    }
  });

  test('replay takes edited code as a file, a capture or text', async () => {
    const text = await wavesmith('disasm', path('k.wscap'), '-o', path('k.s'));
    expect(text.code).toBe(0);
    for (const name of ['k.co', 'k.wscap', 'k.s']) {
      const replay = await wavesmith('replay', 'full-vm', path('k.wscap'), '--code', path(name));
      expect(replay.out, replay.err).toMatch(/^EQUAL/m);
    }
    const wrong = await wavesmith('replay', 'full-vm', path('k.wscap'), '--code', path('broken.co'));
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringMatching(/^DIFFERENT/m)]);
  });

  test('what is no capture is told so', async () => {
    mkdirSync(path('empty.wscap'));
    mkdirSync(path('folder'));
    writeFileSync(path('text.wscap'), 'not a capture');
    for (const [name, code] of [
      ['empty.wscap', 'capture/bad-manifest'],
      ['folder', 'io/read'],
      ['text.wscap', 'capture/not-a-capture'],
      ['absent.wscap', 'io/read'],
    ] as const) {
      const { err, code: status } = await wavesmith('disasm', path(name));
      expect([status, err]).toEqual([1, expect.stringContaining(code)]);
    }
  });
});
