// A capture as the target of every tool: run with schedules, times, traces, strict mode, the debugger, probes and a profile; prove. Each with input
// that cannot be used, too: damaged captures, and outputs that cannot be written.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);
const capture = path('k.wscap');

beforeAll(async () => {
  await record(folder, 'k.wscap', { finish: { orders: false } });
});

describe('a capture', () => {
  test('runs in seeded schedules', async () => {
    for (const command of [['run'], ['replay', 'full-vm']]) {
      const { code, out } = await wavesmith(...command, capture, '--schedules', '2');
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/schedules: 2 .*leave the same memory.*EQUAL|EQUAL.*same memory/s),
      ]);
    }
  });

  test('has modelled times, and a thread trace that is read back', async () => {
    const { code, out } = await wavesmith('run', capture, '--timing', '--att', path('att'));
    expect([code, out]).toEqual([0, expect.stringMatching(/modelled on mi300x: [\d.]+ .s/)]);
    expect(readdirSync(path('att'))).toContain('code.json');
    expect((await wavesmith('trace', path('att'))).out).toMatch(/global_store_dword/);
    const profile = await wavesmith('profile', capture, '--timing', '--chip', 'mi300a', '-o', path('profile'));
    expect([profile.code, profile.out]).toEqual([
      0,
      expect.stringMatching(/modelled on mi300a.*Results in .*profile: /s),
    ]);
    expect(JSON.parse(readFileSync(path('profile/profile.json'), 'utf8'))).toMatchObject({ simulated: true });
  });

  test('is checked, traced, stopped in, probed and proved', async () => {
    expect((await wavesmith('run', capture, '--strict')).out).toMatch(/strict mode: 0 errors.*EQUAL: 4000 bytes/s);
    await wavesmith('run', capture, `--trace=${path('trace.txt')}`, '--trace-limit', '9');
    expect(readFileSync(path('trace.txt'), 'utf8')).toMatch(/s_load_dwordx4/);
    writeFileSync(path('commands'), 'step 2\ninfo arguments\nquit\n');
    const stopped = await wavesmith('run', capture, '--break', 'k', '--commands', path('commands'));
    expect(stopped.out + stopped.err).toMatch(
      /breakpoint 1: workgroup 0,0,0 wave 0.*arg0 = 0x[0-9a-f]+ .buffer of 4096 bytes/s,
    );
    const probed = await wavesmith('probe', '--tool', 'block-coverage', '--', 'run', capture);
    expect([probed.code, probed.out]).toEqual([0, expect.stringMatching(/blocksRun: \d/)]);
    expect((await wavesmith('prove', capture, capture)).out).toMatch(/k: proved/);
  });

  test('whose outputs cannot be written is told by a sentence', async () => {
    writeFileSync(path('file'), 'mine');
    for (const bad of [path('file'), '/proc/none']) {
      for (const args of [
        ['run', capture, '--timing', '--att', bad],
        ['profile', capture, '-o', bad],
        ['run', capture, `--trace=${join(bad, 'x')}`],
        ['disasm', capture, '-o', join(bad, 'x.s')],
        ['capture', 'slim', capture, '-o', join(bad, 'x.wscap')],
        ['capture', 'export', capture, '-o', join(bad, 'x.safetensors')],
      ]) {
        const { code, err } = await wavesmith(...args);
        expect([args.join(' '), code, err]).toEqual([args.join(' '), 1, expect.stringContaining('error[io/write]')]);
      }
    }
    expect(readFileSync(path('file'), 'utf8')).toBe('mine');
    expect(existsSync('/proc/none')).toBe(false);
  });

  test('that is damaged is told by its name', async () => {
    for (const [name, file, code] of [
      ['short.wscap', 'pages.pack', 'capture/incomplete'],
      ['text.wscap', 'manifest.json', 'capture/bad-manifest'],
      ['end.wscap', 'trailer.json', 'capture/bad-manifest'],
    ] as const) {
      cpSync(capture, path(name), { recursive: true });
      truncateSync(join(path(name), file), 50);
      for (const args of [
        ['run', path(name), '--timing'],
        ['run', path(name), '--schedules', '2'],
        ['replay', 'full-vm', path(name)],
        ['replay', 'reserve-check', path(name)],
        ['profile', path(name), '-o', path('none')],
        ['probe', '--tool', 'block-coverage', '--', 'run', path(name)],
        ['capture', 'diff', capture, path(name)],
        ['capture', 'slim', path(name), '-o', path('none.wscap')],
        ['hijack', 'init', path(name), '-o', path('none')],
      ]) {
        const { code: status, err } = await wavesmith(...args);
        const wanted = [args.join(' '), 1, expect.stringContaining(`${path(name)}: error[${code}]`)];
        expect([args.join(' '), status, err]).toEqual(wanted);
      }
    }
    mkdirSync(path('empty.wscap'));
    expect((await wavesmith('run', path('empty.wscap'))).err).toMatch(/error\[capture\//);
    expect(readdirSync(folder).filter((name) => /none|partial/.test(name))).toEqual([]);
  });
});
