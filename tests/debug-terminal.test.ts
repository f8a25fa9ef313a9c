// The debugger in a real terminal: Ctrl-C stops a kernel that runs, and ends nothing at the prompt.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('skipped: tmux is not installed');
const root = join(import.meta.dirname, '..');

test.skipIf(!hasTmux)('Ctrl-C in a terminal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-terminal-'));
  const source = readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8');
  const endless = source.replace('s_cmp_lt_u32 s6, 64', 's_cmp_lg_u32 s6, 0');
  writeFileSync(join(folder, 'endless.co'), assembleAndLink(endless));
  const { TMUX: _, ...environment } = process.env;
  const env = { ...environment, LC_ALL: 'C.UTF-8' };
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-f', '/dev/null', '-L', `wavesmith-debug-${process.pid}`, ...args], {
      encoding: 'utf8',
      env,
    });
  const shows = async (wanted: RegExp): Promise<void> => {
    for (let n = 0; n < 300; n++) {
      if (wanted.test(tmux('capture-pane', '-p', '-J', '-S', '-'))) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the terminal never showed ${wanted}:\n${tmux('capture-pane', '-p', '-J', '-S', '-')}`);
  };
  const command = `${process.execPath} ${join(root, 'bin/wavesmith')} run endless.co --kernel sums --grid 1 --block 64 --arg 'i32[64]' --break +0; echo "ended with $?"; sleep 100`;
  try {
    tmux('new-session', '-d', '-x', '160', '-y', '60', '-c', folder, command);
    await shows(/breakpoint 1: [\s\S]*\(wavesmith\)\s*$/);
    tmux('send-keys', 'print 1', 'C-c');
    await shows(/\^C/);
    tmux('send-keys', 'delete', 'Enter', 'continue', 'Enter');
    await shows(/workgroups \(0 %\)/);
    tmux('send-keys', 'C-c');
    await shows(/interrupted: workgroup 0,0,0 wave 0/);
    tmux('send-keys', 'print s6 > 0', 'Enter');
    await shows(/s6 > 0 = 1/);
    tmux('send-keys', 'quit', 'Enter');
    await shows(/ended with \d+/);
    expect(tmux('capture-pane', '-p', '-J', '-S', '-')).not.toContain('error[');
  } finally {
    tmux('kill-server');
    rmSync(folder, { recursive: true, force: true });
  }
});
