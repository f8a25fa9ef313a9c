// What `wavesmith check` shows and how it ends: groups, kinds of findings, known findings, comments that allow, settings, exit status.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { main } from '../src/cli/main.ts';
import { kernelSource } from './support/kernel-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function write(text: string): string {
  const path = join(folder, `k${++files}.s`);
  writeFileSync(path, text);
  return path;
}

async function check(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const capture = (chunk: string | Uint8Array): boolean => {
    out += chunk.toString();
    return true;
  };
  const spies = [process.stdout, process.stderr].map((s) => vi.spyOn(s, 'write').mockImplementation(capture));
  try {
    return { code: await main(['check', ...argv]), out };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const LOAD = 'global_load_dword v2, v0, s[0:1]\n';
const EARLY = `${LOAD}v_mov_b32 v3, v2\n`;
const SHIPPED = 'v_cmp_eq_u32 vcc, v0, v0\nv_cndmask_b32 v3, v0, v0, vcc';
const source = (code: string): string => kernelSource({ code });

describe('output', () => {
  it('is one line for each rule and kernel with its first three places; --all has every finding', async () => {
    const file = write(source(EARLY.repeat(5)));
    const grouped = (await check(file)).out;
    expect(grouped.match(/error\[waits\/read-before-return\]/g)).toHaveLength(1);
    expect(grouped).toMatch(/ {2}5 places in 'k': line \d+, line \d+, line \d+, …\n/);
    const all = (await check('--all', file)).out;
    expect(all.match(/error\[waits\/read-before-return\]/g)).toHaveLength(5);
    expect(all).toContain('see: CDNA3 ISA manual');
  });

  it('puts what is forbidden on every path before what may never happen', async () => {
    const maybe = 's_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .L0\ns_waitcnt vmcnt(0)\n.L0:\nv_mov_b32 v4, v2';
    const { out } = await check(write(source(`${LOAD}${maybe}\n${EARLY.replaceAll('v2', 'v5')}`)));
    expect(out.indexOf('error[waits')).toBeLessThan(out.indexOf('warning[waits'));
  });
});

describe('two kinds of finding', () => {
  it('what ships and was never seen to fail is a note, with --pedantic only', async () => {
    const file = write(source(SHIPPED));
    expect(await check(file)).toEqual({
      code: 0,
      out: '0 errors, 0 warnings, 0 notes (1 more with --pedantic)\n',
    });
    const { code, out } = await check('--pedantic', file);
    expect(code).toBe(0);
    expect(out).toContain('note[hazards/scalar-to-vector]');
  });

  it.each([
    ['VCC written by a lane read', 'v_readlane_b32 vcc_lo, v0, 0\nv_cndmask_b32 v3, v0, v0, vcc'],
    ['an SGPR written by a lane read into an addition', 'v_readlane_b32 s4, v0, 0\nv_add_u32 v3, s4, v0'],
    ['M0 of a message', 's_mov_b32 m0, 0\ns_sendmsg sendmsg(MSG_INTERRUPT)'],
  ])('%s, which was never seen, is an error', async (_what, code) => {
    const found = await check(write(source(code)));
    expect(found.code).toBe(1);
    expect(found.out).toContain('error[hazards/');
  });
});

describe('known findings', () => {
  it('--baseline leaves the findings of an earlier run out, wherever they have moved', async () => {
    const known = join(folder, 'known.json');
    writeFileSync(known, (await check('--json', write(source(EARLY)))).out);
    const moved = write(source(`s_nop 0\ns_nop 1\n${EARLY}`));
    expect(await check(moved, '--baseline', known)).toEqual({
      code: 0,
      out: '0 errors, 0 warnings, 0 notes (1 in the baseline)\n',
    });
    const more = await check(write(source(EARLY.repeat(2))), '--baseline', known);
    expect(more.code).toBe(1);
    expect(more.out).toContain('1 error, 0 warnings, 0 notes (1 in the baseline)');
  });

  it.each([
    ['no JSON', 'x', 'check/config'],
    ['JSON without findings', '{}', 'check/baseline'],
    ['findings that are none', '{ "findings": [1, null] }', 'check/baseline'],
  ])('a baseline that is %s is refused', async (_what, text, code) => {
    const known = join(folder, 'bad.json');
    writeFileSync(known, text);
    const found = await check(write(source(EARLY)), '--baseline', known);
    expect(found.code).toBe(1);
    expect(found.out).toContain(code);
  });
});

describe('comments that allow', () => {
  const reason = 'the barrier before it takes longer';
  it.each([
    ['on the line', `${LOAD}v_mov_b32 v3, v2 // wavesmith: allow waits/read-before-return – ${reason}`],
    ['above the line', `${LOAD}// wavesmith: allow waits/read-before-return - ${reason}\n\n; more\nv_mov_b32 v3, v2`],
    ['of an area, in another comment', `${LOAD}v_mov_b32 v3, v2 /* wavesmith: allow waits: ${reason} */`],
    ['for the file', `; wavesmith: allow-file waits/*, hazards — ${reason}\n${EARLY}`],
  ])('%s', async (_what, code) => {
    expect(await check(write(source(code)))).toEqual({
      code: 0,
      out: '0 errors, 0 warnings, 0 notes (1 allowed by comments)\n',
    });
  });

  it('speak for their line and rule only, and complain about what they do not name', async () => {
    const other = `${LOAD}v_mov_b32 v3, v2 // wavesmith: allow hazards – ${reason}\n${EARLY}`;
    expect((await check(write(source(other)))).out).toContain('2 errors');
    const unknown = await check(write(source(`${LOAD}v_mov_b32 v3, v2 // wavesmith: allow wait – ${reason}`)));
    expect(unknown.out).toContain("warning: 'wait' is no rule");
    expect(unknown.code).toBe(1);
    const none = await check(write(source(`${LOAD}v_mov_b32 v3, v2 // wavesmith: allow waits`)));
    expect(none.out).toContain('gives no reason');
  });
});

describe('settings', () => {
  const configured = async (settings: unknown, code: string): Promise<{ code: number; out: string }> => {
    const own = join(folder, `c${++files}`, 'deeper');
    mkdirSync(own, { recursive: true });
    writeFileSync(
      join(own, '..', 'wavesmith.json'),
      typeof settings === 'string' ? settings : JSON.stringify(settings),
    );
    writeFileSync(join(own, 'k.s'), source(code));
    return check(join(own, 'k.s'));
  };

  it('give rules and areas a severity, a rule before its area', async () => {
    const rules = { 'waits/*': 'off', 'waits/read-before-return': 'note' };
    const { code, out } = await configured({ check: { rules } }, EARLY);
    expect(code).toBe(0);
    expect(out).toContain('note[waits/read-before-return]');
    expect((await configured({ check: { rules: { waits: 'off' } } }, EARLY)).out).toBe(
      '0 errors, 0 warnings, 0 notes\n',
    );
  });

  it('say what fails and what is shown', async () => {
    expect((await configured({ check: { failOn: 'none' } }, EARLY)).code).toBe(0);
    expect((await configured({ check: { pedantic: true } }, SHIPPED)).out).toContain('note[hazards/scalar-to-vector]');
  });

  it.each([
    ['no JSON', '{', 'check/config'],
    ['an unknown key', { check: { rule: {} } }, "no setting 'rule'"],
    ['an unknown rule', { check: { rules: { 'waits/x': 'off' } } }, 'finding/unknown-rule'],
    ['an unknown severity', { check: { rules: { waits: 'bad' } } }, 'finding/policy'],
    ['a list', [], 'check/config'],
    ['an unknown section', { chek: {} }, "no section 'chek'"],
    ['a misspelt severity', { check: { failOn: 'eror' } }, 'Did you mean error?'],
    ['a misspelt rule', { check: { rules: { 'waits/too-strnog': 'off' } } }, 'Did you mean waits/too-strong?'],
  ])('%s is an error that names the file', async (_what, settings, text) => {
    const { code, out } = await configured(settings, EARLY);
    expect(code).toBe(1);
    expect(out).toContain(text);
    expect(out).toContain('wavesmith.json');
  });

  it('are not looked for with --no-config', async () => {
    const file = write(source(EARLY));
    const config = join(folder, 'off.json');
    writeFileSync(config, JSON.stringify({ check: { rules: { waits: 'off' } } }));
    expect((await check(file, '--config', config)).code).toBe(0);
    expect((await check(file, '--no-config')).code).toBe(1);
  });
});

describe('exit status', () => {
  it.each([
    ['error', 1],
    ['none', 0],
    ['never', 0],
    ['waits', 1],
    ['hazards,abi/target', 0],
  ])('--fail-on %s', async (what, code) => {
    expect((await check(write(source(EARLY)), '--fail-on', what)).code).toBe(code);
  });

  it('--fail-on warning counts warnings, and an unknown rule is refused', async () => {
    const file = write(source('ds_write_b32 v0, v0\ns_barrier\nds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)'));
    expect((await check(file)).code).toBe(0);
    expect((await check(file, '--fail-on', 'warning')).code).toBe(1);
    expect((await check(file, '--fail-on', 'wait')).out).toContain('finding/unknown-rule');
    expect((await check(file, '--fail-on', 'wiats')).out).toContain('Did you mean waits?');
    expect((await check(file, '--fail-on', 'something')).out).toContain('one of the areas abi, ');
  });
});

describe('what is right is not reported', () => {
  const clean = async (code: string): Promise<string> => (await check('--no-config', write(source(code)))).out;
  it('the same scalar load of one address twice into one register', async () => {
    const load = 's_load_dword s4, s[0:1], 0x0\n';
    expect(await clean(`${load}${load}s_waitcnt lgkmcnt(0)\ns_add_u32 s5, s4, 1`)).toContain('0 errors, 0 warnings');
    expect(await clean(`${load}s_add_u32 s0, s0, 4\n${load}s_waitcnt lgkmcnt(0)`)).toContain('write-before-return');
    const over = 's_load_dwordx2 s[0:1], s[0:1], 0x0\n';
    expect(await clean(`${over}${over}s_waitcnt lgkmcnt(0)`)).toContain('read-before-return');
  });

  it('a product with a known zero', async () => {
    expect(await clean('s_mul_i32 s4, s9, 0')).toContain('0 errors, 0 warnings');
    expect(await clean('s_mov_b32 s5, 0\ns_mul_i32 s4, s9, s5')).toContain('0 errors, 0 warnings');
    expect(await clean('v_mov_b32 v3, 0\nv_mul_lo_u32 v4, v3, v5')).toContain('0 errors, 0 warnings');
    expect(await clean('v_mad_u32_u24 v4, 0, v5, v5')).toContain('uninitialised');
    expect(await clean('s_mul_i32 s4, s9, 1')).toContain('uninitialised');
  });
});
