// The hijack loop for a captured kernel: init, edit, build, run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hijack-capture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const work = join(folder, 'work');
const text = join(work, 'asm', 'k.s');

function edit(from: string | RegExp, to: string): void {
  const before = readFileSync(text, 'utf8');
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  writeFileSync(text, after);
}

describe('a captured kernel', () => {
  beforeAll(async () => {
    await record(folder, 'k.wscap');
    expect((await wavesmith('hijack', 'init', join(folder, 'k.wscap'), '-o', work)).code).toBe(0);
  });

  test('is built and replayed equal when nothing is edited, and when the edit keeps the result', async () => {
    expect((await wavesmith('hijack', 'build', work)).out).toMatch(/k: not edited/);
    expect((await wavesmith('hijack', 'run', work)).out).toMatch(/^EQUAL: 4000 bytes/m);
    edit('v_add_u32_e32 v2, v2, v0', 'v_add_u32_e32 v2, v0, v2');
    const built = await wavesmith('hijack', 'build', work);
    expect(built.out).toMatch(/k: changed/);
    expect(built.out).toMatch(/same function: k: proved/);
    const { code, out } = await wavesmith('hijack', 'run', work);
    expect(out).toMatch(/^EQUAL: /m);
    expect(code).toBe(0);
  });

  test('that was edited and not built is no verdict about the edit', async () => {
    edit('v_add_u32_e32 v2, v0, v2', 'v_sub_u32_e32 v2, v2, v0');
    const { code, out } = await wavesmith('hijack', 'run', work);
    expect(out).toMatch(/^NOT BUILT: /m);
    expect(code).toBe(1);
    expect((await wavesmith('hijack', 'build', work)).code).toBe(0);
    const wrong = await wavesmith('hijack', 'run', work);
    expect(wrong.out).toMatch(/^DIFFERENT: /m);
    expect(wrong.code).toBe(1);
  });

  test('whose edit forgets a wait is refused, and an objection when it is forced', async () => {
    edit(/\ts_waitcnt vmcnt\(0\)\n/, '');
    expect((await wavesmith('hijack', 'build', work)).err).toMatch(/error\[hijack\/check\]/);
    expect((await wavesmith('hijack', 'build', work, '--force')).code).toBe(0);
    expect((await wavesmith('hijack', 'run', work)).code).toBe(1);
  });

  test('takes no options that are for modules', async () => {
    expect((await wavesmith('hijack', 'run', work, '--grid', '2')).err).toMatch(/error\[cli\/usage\]/);
    expect((await wavesmith('hijack', 'init', join(folder, 'k.wscap'), '-o', work)).err).toMatch(
      /hijack\/folder-exists/,
    );
    expect((await wavesmith('hijack', 'init', join(folder, 'k.wscap'), '-o', work, '--target', 'gfx942')).err).toMatch(
      /cli\/usage/,
    );
  });
});
