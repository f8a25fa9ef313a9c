// The flags of short commands are changed while V8 compiles on another thread: it ends the process when a limit that it has looked at shrinks.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

test('should change flags while functions are inlined on another thread', async () => {
  const program = [join(root, 'scripts/run-ts.mjs'), join(root, 'tests/support/flags-while-compiling.ts'), '6000'];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
  expect(stdout).toBe('ok\n');
}, 300_000);
