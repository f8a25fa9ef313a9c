// The command check end to end: places in the source, output forms, exit codes; and that every rule has its page.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { main } from '../src/cli/main.ts';
import { kernelSource } from './support/kernel-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Runs a command line; returns the exit code and what it printed. */
async function wavesmith(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const capture = (chunk: string | Uint8Array): boolean => {
    out += chunk.toString();
    return true;
  };
  const spies = [process.stdout, process.stderr].map((s) => vi.spyOn(s, 'write').mockImplementation(capture));
  try {
    return { code: await main(argv), out };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const WRONG = kernelSource({ code: 's_nop 0\nv_mov_b32 v20, 0', metadata: { '.wavefront_size': 32 } });
const lineOf = (text: string, part: string): number => text.split('\n').findIndex((line) => line.includes(part)) + 1;

it('names the line of the instruction, and of the metadata key', async () => {
  const file = write('wrong.s', WRONG);
  const { code, out } = await wavesmith('check', file);
  expect(code).toBe(1);
  expect(out).toContain(`${file}:${lineOf(WRONG, 'v20')}: error[resources/vgprs]: Kernel 'k' uses v20, but`);
  expect(out).toContain(`${file}:${lineOf(WRONG, '.wavefront_size')}: error[resources/metadata]:`);
  expect(out).toContain('2 errors, 0 warnings, 0 notes');
});

it('names the line of the call for an instruction of a macro', async () => {
  const text = kernelSource({ code: '.macro clear r\ns_nop 0\nv_mov_b32 \\r, 0\n.endm\ns_nop 1\nclear v20' });
  const file = write('macro.s', text);
  const { out } = await wavesmith('check', file);
  expect(out).toContain(`${file}:${lineOf(text, 'clear v20')}: error[resources/vgprs]`);
});

it('passes a right kernel, also as a code object', async () => {
  const text = kernelSource({ code: 'v_mov_b32 v7, 0' });
  expect(await wavesmith('check', write('right.s', text))).toEqual({ code: 0, out: '0 errors, 0 warnings, 0 notes\n' });
  expect((await wavesmith('check', write('right.co', assembleAndLink(text)))).code).toBe(0);
});

it('compares with a baseline', async () => {
  const baseline = write('baseline.co', assembleAndLink(kernelSource()));
  const edited = kernelSource({ args: [[4, 'by_value']] });
  const { code, out } = await wavesmith('check', write('edited.s', edited), '--against', baseline);
  expect(code).toBe(1);
  expect(out).toContain(`edited.s:${lineOf(edited, '.args:')}: error[abi/kernarg-layout]`);
});

it('says of changed kernels whether they are proved to be the same functions', async () => {
  const baseline = write('first.co', assembleAndLink(kernelSource({ code: 'v_mov_b32 v1, 0\nv_mov_b32 v2, 1' })));
  const moved = write('moved.s', kernelSource({ code: 'v_mov_b32 v2, 1\nv_mov_b32 v1, 0' }));
  const other = write('other.s', kernelSource({ code: 'v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_trap 2' }));
  expect((await wavesmith('check', moved, '--against', baseline)).out).toContain('same function: k: proved (');
  expect((await wavesmith('check', other, '--against', baseline)).out).toContain('same function: k: not proved. ');
  const { out } = await wavesmith('check', moved, '--against', baseline, '--json');
  expect(JSON.parse(out).proofs).toEqual([{ kernel: 'k', verdict: 'proved', reason: null }]);
  for (const argv of [
    ['--against', moved],
    ['--against', baseline, '--no-prove'],
  ]) {
    expect((await wavesmith('check', moved, ...argv)).out).not.toContain('same function');
  }
});

it('leaves out what a proof settles, and keeps it without one', async () => {
  const body = (register: number, added: number): string =>
    kernelSource({
      code: `s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v0, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v1, v0, s[2:3]
s_waitcnt vmcnt(0)\nv_add_u32 v${register}, ${added}, v1\nglobal_store_dword v0, v${register}, s[2:3]`,
    });
  const baseline = write('own.co', assembleAndLink(body(1, 1)));
  const [renamed, wrong] = [write('renamed.s', body(2, 1)), write('wrong.s', body(2, 3))];
  const proved = await wavesmith('check', renamed, '--against', baseline, '--fail-on', 'note');
  expect(proved).toMatchObject({ code: 0, out: expect.stringContaining('0 notes (2 settled by the proof)') });
  const silent = await wavesmith('check', renamed, '--against', baseline, '--no-prove');
  expect(silent).toMatchObject({ code: 0, out: expect.stringContaining('warning[memory/store-lost]') });
  const open = await wavesmith('check', wrong, '--against', baseline);
  expect(open.out).toContain('warning[memory/store-lost]');
  expect(open.out).not.toContain('definition-lost');
});

it('prints JSON and SARIF', async () => {
  const file = write('forms.s', WRONG);
  const json = JSON.parse((await wavesmith('check', file, '--json')).out);
  expect(json).toMatchObject({ ok: false, counts: { error: 2 }, findings: [{ rule: 'resources/vgprs', file }, {}] });
  const sarif = JSON.parse((await wavesmith('check', file, '--sarif')).out);
  expect(sarif).toMatchObject({
    version: '2.1.0',
    runs: [{ results: [{ ruleId: 'resources/vgprs', level: 'error' }, { ruleId: 'resources/metadata' }] }],
  });
  const [result] = sarif.runs[0].results;
  expect(result.locations[0].physicalLocation.region).toMatchObject({ startLine: lineOf(WRONG, 'v20') });
});

it('refuses text that cannot be assembled', async () => {
  const { code, out } = await wavesmith('check', write('broken.s', 's_nopp 0\n'), '--target', 'gfx942');
  expect(code).not.toBe(0);
  expect(out).toContain('error[check/assemble]');
});

it('says what could be better only when asked', async () => {
  const file = write('notes.s', kernelSource({ code: 'v_mov_b32 v7, 0\ns_waitcnt vmcnt(0)' }));
  expect((await wavesmith('check', file)).out).toBe('0 errors, 0 warnings, 0 notes\n');
  const { code, out } = await wavesmith('check', '--notes', file);
  expect(code).toBe(0);
  expect(out).toContain(
    "note[waits/too-strong]: 's_waitcnt vmcnt(0)' waits for more than the code behind it needs: no vmcnt would be as safe.",
  );
});

it('every rule has a page', () => {
  const rules = new Set<string>();
  for (const file of readdirSync('src/check', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )) {
    const text = readFileSync(join('src/check', file), 'utf8');
    for (const [, rule] of text.matchAll(/'((?:resources|abi|hazards|waits|control-flow|memory)\/[a-z-]+)'/g))
      rules.add(rule as string);
  }
  expect(rules.size).toBeGreaterThan(10);
  expect([...rules].filter((rule) => !existsSync(`docs/check/${rule}.md`))).toEqual([]);
});
