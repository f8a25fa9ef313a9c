// The session of docs/debugging.md, typed again: the page shows what the debugger says today.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-debugging-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(root, 'docs', 'debugging.md'), 'utf8');
const sessions = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map((match) => match[1] as string);

function wavesmith(line: string, input: string): string {
  const words = line.replace('examples/', `${join(root, 'examples')}/`).split(' ');
  const run = spawnSync(process.execPath, [join(root, 'bin/wavesmith'), ...words], {
    encoding: 'utf8',
    cwd: folder,
    input,
  });
  expect(run.stderr).toBe('');
  return run.stdout;
}

describe('docs/debugging.md', () => {
  test('has a session', () => expect(sessions.length).toBeGreaterThan(0));
  test.each(sessions.map((session, i) => [i + 1, session] as const))('session %i', (_, session) => {
    // Each command line with what follows it up to the next one.
    for (const [, line = '', shown = ''] of session.matchAll(/^\$ wavesmith (.*)\n((?:(?!\$ ).*\n?)*)/gm)) {
      const commands = [...shown.matchAll(/^\(wavesmith\) (.*)$/gm)].map((match) => match[1]);
      if (commands.length > 0) writeFileSync(join(folder, 'commands.txt'), `${commands.join('\n')}\n`);
      const printed = wavesmith(`${line}${commands.length > 0 ? ' --commands commands.txt' : ''}`, '');
      // After `quit` comes the report of what was done, with times.
      expect(printed.startsWith(shown) ? shown : printed).toBe(shown);
    }
  });
});
