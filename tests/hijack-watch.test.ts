// `hijack watch` in a process of its own: a save is built, run and compared; a mistake is told and the next save mends it.
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, fixtureFolder, root } from './hijack-support.ts';
import { hasNativeBuild } from './support/native.ts';

const canRun = findIreeTool('iree-run-module') !== undefined && hasNativeBuild();
if (!canRun) console.warn("skipped: IREE or the native libraries are missing ('npm run setup' installs them)");

test.skipIf(!canRun)('each save is built, run and compared', { timeout: 180_000 }, async () => {
  const folder = fixtureFolder();
  const file = asmFile(folder);
  const pristine = readFileSync(file, 'utf8');
  const child = spawn(process.execPath, [join(root, 'bin', 'wavesmith'), 'hijack', 'watch', folder]);
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
  /** As editors save: a new file takes the old one's name. */
  const save = (text: string): void => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  };
  try {
    expect(await cycle()).toContain('byte-identical to the baseline');
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
