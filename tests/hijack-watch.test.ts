// `hijack watch` in a process of its own: a save is built, run and compared; a mistake is told and the next save mends it.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, fixtureFolder, root, temporaryFolder } from './hijack-support.ts';
import { wavesmith } from './support/command.ts';
import { hasNativeBuild, nativeTests } from './support/native.ts';

const native = nativeTests();
const canRun = findIreeTool('iree-run-module') !== undefined && hasNativeBuild();
if (!canRun) console.warn("skipped: IREE or the native libraries are missing ('npm run setup' installs them)");

/** `hijack watch` in a process of its own. */
function watching(
  folder: string,
  ...options: string[]
): {
  child: ChildProcess;
  cycle: () => Promise<string>;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [join(root, 'bin', 'wavesmith'), 'hijack', 'watch', folder, ...options]);
  let out = '';
  let wake = (): void => {};
  const note = (chunk: Buffer): void => {
    out += chunk.toString();
    wake();
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  /** What one cycle prints, up to its last line. */
  const cycle = async (): Promise<string> => {
    for (;;) {
      const end = /^── .*\n/m.exec(out);
      if (end !== null) {
        const text = out.slice(0, end.index + end[0].length);
        out = out.slice(text.length);
        return text;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { child, cycle, ended };
}

/** As editors save: a new file takes the old one's name. */
function saver(file: string): (text: string) => void {
  return (text) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  };
}

test.skipIf(!canRun)('each save is built, run and compared', async () => {
  const folder = fixtureFolder();
  const file = asmFile(folder);
  const pristine = readFileSync(file, 'utf8');
  const { child, cycle, ended } = watching(folder);
  const save = saver(file);
  try {
    const first = await cycle();
    expect(first).toContain('byte-identical to the baseline');
    expect(first).toContain('── nothing is edited, in');
    // A file of an editor's own is no save.
    writeFileSync(`${file}~`, 'half');
    await new Promise((resolve) => setTimeout(resolve, 300));
    save(pristine.replace(/^\tv_mfma_/m, '\ts_nop 1\n$&'));
    const equal = await cycle();
    expect(equal).toContain('EQUAL: 1 function(s)');
    expect(equal).toContain('── ok in');
    save(pristine.replace(/^\ts_endpgm$/m, '\ts_endpgn'));
    const wrong = await cycle();
    expect(wrong).toMatch(/\.s:\d+:\d+: error\[hijack\/assemble\]/);
    expect(wrong).toContain('── not ok in');
    save(pristine.replace(/^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x40000000, $1\n$&'));
    expect(await cycle()).toContain('DIFFERENT: ');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});

test.skipIf(native === undefined)('a program is run and compared on each save, too', async () => {
  const folder = join(temporaryFolder(), 'work');
  const program = [native?.file('hsa-dispatch') ?? '', native?.kernels('gfx942') ?? ''];
  const made = await wavesmith('hijack', 'init', '-o', folder, '--kernel', '^scale$', '--', ...program);
  expect(made.status, made.err).toBe(0);
  const file = asmFile(folder, 'scale');
  const pristine = readFileSync(file, 'utf8');
  // The program prints times.
  const { child, cycle, ended } = watching(folder, '--no-stdout', '--dispatch', 'every:50');
  const save = saver(file);
  try {
    expect(await cycle()).toContain('── nothing is edited, in');
    save(pristine.replace(/^\ts_endpgm$/m, '\ts_nop 1\n$&'));
    const equal = await cycle();
    expect(equal).toContain('scale: the edited kernel was launched 201 time(s), 5 of them compared');
    expect(equal).toContain('── ok in');
    save(pristine.replace(/^\tv_mul_f32/m, '\tv_add_f32'));
    const different = await cycle();
    expect(different).toMatch(/^DIFFERENT: /m);
    expect(different).toContain('── not ok in');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});

/** Lines without their figures: times, hashes and sizes differ from one machine to the next. */
const shapes = (text: string): string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .trimEnd()
        .replace(/[0-9a-f]{64}/g, '#')
        .replace(/\d+(?:\.\d+)?/g, '#'),
    )
    .filter((line) => line !== '');

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('skipped: tmux is not installed');

test.skipIf(!canRun || !hasTmux || findIreeTool('iree-compile') === undefined)(
  'the transcript in docs/hijack.md is what a terminal shows',
  async () => {
    const work = temporaryFolder();
    const input = join(root, 'examples', 'two_matmuls.mlir');
    expect((await wavesmith('hijack', 'init', input, '-o', join(work, 'work'), '--target', 'gfx942')).status).toBe(0);
    const file = asmFile(join(work, 'work'), 'dispatch_1');
    const pristine = readFileSync(file, 'utf8');
    const documented = /```console\n(\$ wavesmith hijack watch work\n[\s\S]*?)```/.exec(
      readFileSync(join(root, 'docs', 'hijack.md'), 'utf8'),
    )?.[1];
    const [, ...cycles] = (documented ?? '').split(/^(?:\$ |# ).*\n/m);
    expect(cycles).toHaveLength(4);
    // A terminal of nobody: no settings of the user's, and no shell that complains of a locale.
    const env = { ...process.env, LC_ALL: 'C.UTF-8', SHELL: '/bin/sh' };
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-f', '/dev/null', '-L', `wavesmith-${process.pid}`, ...args], { encoding: 'utf8', env });
    const command = `'${process.execPath}' '${join(root, 'bin', 'wavesmith')}' hijack watch work; sleep 600`;
    tmux('new-session', '-d', '-x', '220', '-y', '200', '-c', work, command);
    try {
      const shown = async (count: number): Promise<string[]> => {
        for (;;) {
          const text = tmux('capture-pane', '-p', '-J', '-S', '-');
          const parts = text.split(/(?<=; waiting for the next save *\n)/);
          if (parts.filter((part) => part.includes('waiting for the next save')).length >= count) return parts;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      };
      const save = saver(file);
      const edits = [
        pristine.replace(/^\tv_mfma_/m, '\ts_nop 1\n$&'),
        pristine.replace(/^\tv_mfma_/m, '\tv_mfmb_'),
        pristine.replace(/^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 2.0, $1\n$&'),
      ];
      for (const [n, cycle] of cycles.entries()) {
        const parts = await shown(n + 1);
        expect(shapes(parts[n] ?? '')).toEqual(shapes(cycle));
        if (n < edits.length) save(edits[n] as string);
      }
    } finally {
      tmux('kill-server');
    }
  },
);
