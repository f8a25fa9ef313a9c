// The flags of short commands are changed while V8 compiles on another thread: it ends the process when a limit that it has looked at shrinks.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { expect, test, vi } from 'vitest';

vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }));

const root = join(import.meta.dirname, '../../..');

test('should change flags while functions are inlined on another thread', async () => {
  const program = [join(root, 'scripts/run-ts.mjs'), join(root, 'tests/support/flags-while-compiling.ts'), '6000'];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
  expect(stdout).toBe('ok\n');
}, 300_000);

test('should start the first thread of a process under its own flags and compile relaxed SIMD meanwhile', async () => {
  const program = [join(root, 'scripts/run-ts.mjs'), join(root, 'tests/support/compile-while-starting.ts'), root];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
  const { begun, ended, features, areSums, areSquares } = JSON.parse(stdout);
  expect({ ended, areSums, areSquares }).toEqual({ ended: true, areSums: true, areSquares: true });
  expect(features.relaxed).toBe(true);
  // Later versions of Node need no flag.
  expect(begun).toEqual([!process.versions.v8.startsWith('11.')]);
}, 300_000);

test('should have V8 optimize later while the virtual GPU compiles, and as before behind that', async () => {
  // What has been loaded before has V8's own.
  vi.resetModules();
  const { compileSimCode } = await import('./v8-flags.ts');
  const isOld = process.versions.v8.startsWith('11.');
  const said = (): string[] => vi.mocked(setFlagsFromString).mock.calls.map(([flag]) => flag);
  const inside = compileSimCode(() => compileSimCode(said));
  expect(inside).toEqual(isOld ? ['--experimental-wasm-relaxed-simd', '--interrupt-budget=260000'] : []);
  expect(said()).toEqual(isOld ? [...inside, '--interrupt-budget=67584'] : []);
  const fail = (): never => {
    throw new Error('no');
  };
  expect(() => compileSimCode(fail)).toThrow('no');
  expect(said().at(-1)).toBe(isOld ? '--interrupt-budget=67584' : undefined);
  expect(said().length).toBe(isOld ? 5 : 0);
});
