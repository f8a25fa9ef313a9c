// The library example runs on every target and prints what it says.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { square } from '../examples/library.ts';

test.each(['gfx90a', 'gfx942', 'gfx950'] as const)(
  'squares on %s, also in a partly filled workgroup',
  async (target) => {
    const values = Float32Array.from({ length: 1000 }, (_, i) => Math.fround(i / 7 - 50));
    expect(await square(values, target)).toEqual(values.map((x) => Math.fround(x * x)));
  },
);

test('as a script it prints its result', () => {
  const root = join(import.meta.dirname, '..');
  const run = spawnSync(process.execPath, [join(root, 'scripts/run-ts.mjs'), join(root, 'examples/library.ts')], {
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  expect(run.stdout).toBe('0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5\nsquared: 0.25 2.25 6.25 12.25 20.25 30.25 42.25 56.25\n');
});
