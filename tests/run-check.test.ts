// `wavesmith run --check`: findings with source lines, exit codes, JSON.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../src/cli/run.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';

const SOURCE = `
static __attribute__((address_space(3), loader_uninitialized)) int tile[128];
__attribute__((amdgpu_kernel)) void bug(__attribute__((address_space(1))) int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  tile[i] = i;
  out[i] = tile[i ^ 64];
}`;

async function runBug(...flags: string[]): Promise<{ code: number; text: string }> {
  const bytes = linkWithLld([compileC(SOURCE, 'gfx942', ['-O1', '-g'])]);
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  const file = join(folder, 'bug.co');
  writeFileSync(file, bytes);
  let text = '';
  const write = process.stdout.write;
  process.stdout.write = ((chunk: string) => {
    text += chunk;
    return true;
  }) as typeof process.stdout.write;
  try {
    const args = [file, '--kernel', 'bug', '--grid', '1', '--block', '128', '--arg', 'i32[128]'];
    return { code: await run([...args, ...flags]), text };
  } finally {
    process.stdout.write = write;
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.skipIf(!hasLlvm())('run --check', () => {
  test('reports with file and line, and fails', async () => {
    const { code, text } = await runBug('--check');
    expect(code).toBe(1);
    expect(text).toMatch(
      /input\.c:6 \(pc 0x[0-9a-f]+\): error\[races\/lds\]: LDS address \d+ is read here and written/,
    );
    expect(text).toContain('fix: Put an s_barrier');
    expect(text).toMatch(/strict mode: \d errors?, 0 warnings\n/);
  });

  test('--fail-on none lets the run succeed, a code ends it at the first such finding', async () => {
    expect((await runBug('--check', '--fail-on', 'none')).code).toBe(0);
    const ended = await runBug('--check', '--fail-on', 'races');
    expect(ended.code).toBe(1);
    expect(ended.text).toContain('the run was ended');
    expect((await runBug('--check', '--fail-on', 'waits,memory/misaligned')).code).toBe(0);
    await expect(runBug('--check', '--fail-on', 'wait')).rejects.toThrow(/is no rule/);
    await expect(runBug('--fail-on', 'error')).rejects.toThrow(/--check/);
  });

  test('without --check the same kernel runs and nothing is reported', async () => {
    const { code, text } = await runBug('--json');
    expect(code).toBe(0);
    expect(JSON.parse(text)).not.toHaveProperty('findings');
    expect(JSON.parse(text)).not.toHaveProperty('diagnostics');
  });

  test('--json holds every finding', async () => {
    const { text } = await runBug('--check', '--json');
    const { findings, diagnostics } = JSON.parse(text) as Record<
      'findings' | 'diagnostics',
      { rule: string; code: string; line: number; source: { line: number }; count: number }[]
    >;
    expect(findings.find((f) => f.rule === 'races/lds')?.line).toBe(6);
    // The names that were published first.
    expect(diagnostics).toEqual(findings);
    expect(diagnostics.find((d) => d.code === 'races/lds')?.source.line).toBe(6);
  });
});
