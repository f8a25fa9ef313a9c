// `wavesmith mc` against llvm-mc: the same output, errors and exit codes for the files in this folder.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { llvmTool } from '../support/llvm.ts';

const folder = dirname(fileURLToPath(import.meta.url));
const ours = join(dirname(dirname(folder)), 'bin', 'wavesmith');
const theirs = llvmTool('llvm-mc');

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(tool: string, args: readonly string[]): Result {
  const { status, stdout, stderr } = spawnSync(tool, [...args], { encoding: 'latin1', cwd: folder });
  return { status, stdout, stderr };
}

function compare(args: readonly string[]): void {
  expect(run(ours, ['mc', ...args])).toEqual(run(theirs as string, args));
}

describe.skipIf(theirs === undefined)('same output as llvm-mc', () => {
  const files = readdirSync(folder);
  const cases = files
    .filter((name) => /\.(s|txt)$/.test(name))
    .flatMap((name) => ['gfx90a', 'gfx942', 'gfx950'].map((target) => [name, target] as const));
  test.each(cases)('%s for %s', (name, target) => {
    const disassemble = name.endsWith('.txt') ? ['-disassemble'] : [];
    compare(['-triple=amdgcn-amd-amdhsa', `-mcpu=${target}`, '-show-encoding', ...disassemble, name]);
  });

  test('double dashes and separate values', () => {
    compare(['--triple', 'amdgcn', '--mcpu', 'gfx942', '--show-encoding', 'errors.s']);
  });
  test('without encodings', () => {
    compare(['-triple=amdgcn', '-mcpu=gfx90a', 'operands.s']);
  });
});

test('an unknown processor or option is a usage error', () => {
  expect(run(ours, ['mc', '-triple=amdgcn', '-mcpu=gfx1100', 'errors.s']).status).toBe(2);
  expect(run(ours, ['mc', '-triple=amdgcn', '-mcpu=gfx942', '-show-inst', 'errors.s']).stderr).toContain(
    "Option '-show-inst' is not supported.",
  );
  expect(run(ours, ['mc', '-triple=x86_64', '-mcpu=gfx942', 'errors.s']).status).toBe(2);
});
