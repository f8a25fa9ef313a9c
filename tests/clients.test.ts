// Clients of PyPI on the virtual GPU: Triton with its own AMD driver, where `npm run clients` has installed it (nothing is installed here), and
// IREE's compiler and runtime in one process.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run } from './support/hip.ts';

const python = join(root, '.wavesmith/clients/bin/python');
const isInstalled = existsSync(join(root, '.wavesmith/clients/.stamp'));
if (!isInstalled) console.warn("skipped: Triton is not installed ('npm run clients' installs it).");

const ireePython = join(root, '.wavesmith/venv/bin/python');
const hasIree = existsSync(ireePython);
if (!hasIree) console.warn("skipped: IREE is not installed ('npm run setup' installs it).");

describe.skipIf(!hasIree)("IREE's compiler and runtime in one process", () => {
  it.each(['gfx942', 'gfx90a', 'gfx950'])('gives on %s what its CPU device gives', async (target) => {
    const program = [ireePython, join(root, 'tests/clients/iree_programs.py'), target];
    const args = [join(root, 'bin/wavesmith'), 'exec', '--device', `sim:${target}`, '--', ...program];
    const { status, stdout, stderr } = await run(process.execPath, args, {});
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toContain('6 passed, 0 failed');
  });
});

describe.skipIf(!isInstalled)('Triton, unmodified', () => {
  it('compiles, launches and reads back a kernel', async () => {
    const program = [python, '-W', 'ignore', join(root, 'tests/clients/triton/tutorials.py'), 'vector_add'];
    const args = [join(root, 'bin/wavesmith'), 'exec', '--device', 'sim:gfx942', '--', ...program];
    const environment = {
      PYTHONPATH: join(root, 'tests/clients/triton'),
      TRITON_CACHE_DIR: join(root, '.wavesmith/triton-cache'),
    };
    const { status, stdout, stderr } = await run(process.execPath, args, environment);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^gfx942\S* vector_add: ok/m);
    expect(stdout).toContain('1 passed, 0 failed');
  });
});
