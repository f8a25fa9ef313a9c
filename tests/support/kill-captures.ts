// Recordings that are killed at random moments: what is there afterwards is complete and right, or says that it is not complete.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomNumbers, WavesmithError } from '../../src/base/index.ts';
import { openCapture, verifyCapture } from '../../src/snapshot/index.ts';
import { captureObject } from './captures.ts';

export interface KillReport {
  /** Captures that were complete when the process ended. */
  complete: number;
  /** Parts of a recording that open as incomplete. */
  incomplete: number;
  /** Kills before anything was written. */
  nothing: number;
  /** What was wrong: there must be none. */
  readonly wrong: string[];
}

/** Runs the CLI in a checkout; kills it after so many milliseconds, or lets it end. Gives how long it took. */
function run(root: string, args: readonly string[], killAfter?: number): Promise<number> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'bin', 'wavesmith'), ...args], { stdio: 'ignore' });
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
    child.on('exit', () => {
      clearTimeout(timer);
      resolve(performance.now() - started);
    });
  });
}

/** Starts recordings and kills each at a random moment of the time that a whole one takes. */
export async function killCaptures(root: string, count: number, seed: number): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-kill-'));
  const report: KillReport = { complete: 0, incomplete: 0, nothing: 0, wrong: [] };
  const random = randomNumbers(seed);
  try {
    const code = join(folder, 'k.co');
    writeFileSync(code, captureObject());
    const args = (path: string): string[] => [
      ...['run', code, '--kernel', 'k', '--grid', '2048', '--block', '64', '--capture', path],
      ...['--arg', 'i32[131072]=7', '--arg', 'i32[131072]=random:3', '--arg', 'i32=131000', '--arg', 'i32=0'],
    ];
    const whole = await run(root, args(join(folder, 'whole.wscap')));
    for (let n = 0; n < count; n++) {
      const name = `${n}.wscap`;
      const path = join(folder, name);
      // Most of the time is the start of the process; the second half is where files are written, and some come to their end.
      await run(root, args(path), whole * (0.4 + 0.8 * random()));
      if (existsSync(path)) {
        const { ok, problems } = await verifyCapture(openCapture(path));
        if (ok) report.complete++;
        else report.wrong.push(`${name}: ${problems.join(' ')}`);
      }
      const parts = readdirSync(folder).filter((file) => file.startsWith(`${name}.partial-`) && !file.endsWith('.zip'));
      if (!existsSync(path) && parts.length === 0) report.nothing++;
      for (const part of parts) {
        try {
          openCapture(join(folder, part));
          // Everything was written, and the process died before the name was given.
          const { ok } = await verifyCapture(openCapture(join(folder, part)), { replay: false });
          if (ok) report.complete++;
          else report.wrong.push(`${part} opens and is not whole`);
        } catch (error) {
          if (error instanceof WavesmithError && error.code === 'capture/incomplete') report.incomplete++;
          else report.wrong.push(`${part}: ${String(error)}`);
        }
        rmSync(join(folder, part), { recursive: true });
      }
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
