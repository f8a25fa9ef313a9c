// The releases of Node beside the one that runs these tests: the built CLI, worker threads, the virtual GPU's contract, `exec`.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFolder } from './support/build.ts';
import { countingCode, kernelObject } from './support/kernel-source.ts';
import { exec, nativeTests, root } from './support/native.ts';

const RELEASES = ['22', '24'] as const;
const nodeOf = (release: string): string =>
  join(root, 'tests/node-versions/node_modules', `node-${release}`, 'bin/node');
const native = nativeTests();

for (const release of RELEASES) {
  const node = nodeOf(release);
  const isThere = existsSync(node);
  if (!isThere) console.warn(`skipped: Node ${release} is not in tests/node-versions ('npm run setup' installs it).`);

  describe.skipIf(!isThere)(`Node ${release}`, () => {
    const run = (...args: string[]) =>
      spawnSync(node, args, { encoding: 'utf8', cwd: root, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' } });

    it('is that release', () => {
      expect(run('--version').stdout).toMatch(new RegExp(`^v${release}\\.`));
    });

    it('runs the built CLI without a word on standard error', () => {
      const { status, stdout, stderr } = run('bin/wavesmith', 'isa', 'v_add_u32', '--target', 'gfx942');
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain('v_add_u32');
    });

    it('runs a kernel on worker threads', () => {
      withFolder((folder) => {
        const file = join(folder, 'k.co');
        writeFileSync(file, kernelObject({ code: countingCode(80_000) }).bytes);
        const options = [
          '--kernel',
          'k',
          '--grid',
          '400',
          '--block',
          '64',
          '--arg',
          'u32[1]',
          '--workers',
          '2',
          '--json',
        ];
        const { status, stdout, stderr } = run('bin/wavesmith', 'run', file, ...options);
        expect(status, stderr).toBe(0);
        // A slow machine shows progress there.
        expect(stderr).not.toMatch(/unrecognized|error|warning/i);
        expect(JSON.parse(stdout)).toMatchObject({ buffers: [{ first: [25_600] }] });
      });
    });

    it('keeps the device contract and the known answers of matrix instructions', () => {
      const files = ['tests/device-contract.test.ts', 'src/device/sim/wasm/matrix/known-answers.test.ts'];
      const names = ['-t', 'sim, gfx942|known|CDNA|matrix'];
      const { status, stdout, stderr } = run('node_modules/vitest/vitest.mjs', 'run', ...files, ...names);
      expect(status, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/Test Files\D+2 passed/);
      expect(stdout + stderr).not.toContain('unrecognized flag');
    });

    it.skipIf(native === undefined)('runs a program under exec', async () => {
      const program = [native?.file('hsa-dispatch') ?? '', native?.kernels('gfx942') ?? ''];
      const { status, stdout, stderr } = await exec(program, { node });
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^ok, launch to completion/);
    });
  });
}
