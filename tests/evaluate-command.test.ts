// `wavesmith evaluate` as a command: what it takes, what it prints, its exit codes, and its ledger.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { WavesmithError } from '../src/base/index.ts';
import { Ledger } from '../src/optimize/index.ts';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';
import { objectOf, SUBJECTS } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-evaluate-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

/** The elementwise kernel with time wasted before its load. */
const slow = variantObject({
  name: 'slow',
  of: 'elementwise',
  replace: [['s_lshl_b32', `${'s_nop 15\n  '.repeat(20)}s_lshl_b32`]],
});

/** A wrong one that the checker has nothing against. */
const CONSTANT = {
  name: 'constant',
  of: 'elementwise',
  replace: [['v_fma_f32 v2, s9, v2, v3', 'v_mov_b32_e32 v2, 1.0']],
} as const;

beforeAll(async () => {
  const { args, grid, block } = SUBJECTS.elementwise;
  await record(folder, 'slow.wscap', { code: slow, args, grid, block });
  writeFileSync(path('slow.co'), slow);
  writeFileSync(path('fast.co'), objectOf('elementwise'));
  const wrong = variantObject({ name: 'wrong', of: 'elementwise', replace: [['s_waitcnt vmcnt(0)', 's_nop 0']] });
  writeFileSync(path('wrong.co'), wrong);
});

test('accepted, rejected, not faster', async () => {
  const fast = await wavesmith('evaluate', path('slow.wscap'), path('fast.co'));
  expect([fast.code, fast.err, fast.out]).toEqual([
    0,
    '',
    expect.stringMatching(/^ACCEPTED: ×\d\.\d+ modelled on mi300x, proved$/m),
  ]);
  const wrong = await wavesmith('evaluate', path('slow.wscap'), path('wrong.co'));
  expect([wrong.code, wrong.out]).toEqual([
    1,
    expect.stringMatching(/waits\/read-before-return.*\nREJECTED: at static\n$/s),
  ]);
  const same = await wavesmith('evaluate', path('slow.wscap'), path('slow.co'));
  expect([same.code, same.out]).toEqual([3, expect.stringMatching(/^CORRECT, NOT FASTER: ×1\.000/m)]);
});

test('a folder, text and a patch; the same verdict for the same code', async () => {
  expect((await wavesmith('hijack', 'init', path('slow.wscap'), '-o', path('work'))).code).toBe(0);
  const [before, after] = [disassembleCodeObject(slow), disassembleCodeObject(objectOf('elementwise'))];
  writeFileSync(path('fast.s'), after);
  writeFileSync(path('fast.patch'), createTwoFilesPatch('a.s', 'b.s', before, after));
  const results = [];
  for (const file of ['fast.s', 'fast.patch']) {
    const { code, out, err } = await wavesmith('evaluate', path('work'), path(file), '--json');
    expect([code, err]).toEqual([0, '']);
    results.push(JSON.parse(out));
  }
  const [text, patch] = results;
  expect(text).toMatchObject({ verdict: 'accepted', reached: 'proved', kernel: 'k', target: 'gfx942' });
  expect(patch).toEqual(text);
});

test('the ledger keeps verdicts, is the same for the same work, and is not made twice', async () => {
  writeFileSync(path('cut.s'), disassembleCodeObject(variantObject(CONSTANT)));
  const digests: string[] = [];
  for (const name of ['one.db', 'two.db']) {
    for (const file of ['wrong.co', 'cut.s', 'wrong.co'])
      await wavesmith('evaluate', path('slow.wscap'), path(file), '--ledger', path(name));
    const ledger = Ledger.open(path(name));
    expect(ledger.counts).toEqual({ candidates: 2, evaluations: 2 });
    digests.push(ledger.digest());
    ledger.close();
  }
  // What a candidate was given as is part of the record, and is the same path both times.
  expect(digests[0]).toBe(digests[1]);
  expect(Buffer.compare(readFileSync(path('one.db')), readFileSync(path('two.db')))).toBe(0);
});

test('a ledger of a process that was killed opens; one that is in use does not', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  mkdirSync(path('killed.db.lock'));
  writeFileSync(path('killed.db.owner'), String(child.pid));
  expect(() => Ledger.open(path('killed.db'))).toThrow(expect.objectContaining({ code: 'ledger/busy' }));
  child.kill('SIGKILL');
  await ended;
  const ledger = Ledger.open(path('killed.db'));
  expect(ledger.counts.evaluations).toBe(0);
  ledger.close();
});

test.each([
  ['absent.wscap', 'fast.co', 'io/read'],
  ['slow.wscap', 'absent.co', 'io/read'],
  ['slow.co', 'fast.co', 'capture/not-a-capture'],
  ['slow.wscap', 'bad.s', 'evaluate/assembly'],
  ['slow.wscap', 'bad.patch', 'evaluate/patch'],
  ['slow.wscap', 'nonsense.patch', 'evaluate/patch'],
  ['slow.wscap', 'text.patch', 'evaluate/patch'],
] as const)('%s beside %s is %s', async (baseline, candidate, code) => {
  writeFileSync(path('bad.s'), '\tv_nonsense v0\n');
  writeFileSync(path('text.patch'), disassembleCodeObject(slow));
  writeFileSync(path('bad.patch'), createTwoFilesPatch('a', 'b', 'one\ntwo\n', 'one\nthree\n'));
  writeFileSync(path('nonsense.patch'), '--- a\n+++ b\n@@ -1,9 +1,1 @@\nx\n');
  const { code: status, err } = await wavesmith('evaluate', path(baseline), path(candidate));
  expect([status, err]).toEqual([1, expect.stringContaining(code)]);
});

test('a candidate that is no code object is rejected by the contract', async () => {
  writeFileSync(path('cut.co'), objectOf('elementwise').subarray(0, 700));
  const { code, out } = await wavesmith('evaluate', path('slow.wscap'), path('cut.co'), '--json').catch((error) => {
    if (error instanceof WavesmithError) return { code: 1, out: error.code };
    throw error;
  });
  expect(code).toBe(1);
  expect(out).not.toContain('accepted');
});

test('a file that is no ledger stays as it is', async () => {
  writeFileSync(path('text.db'), 'not a database');
  const { code, err } = await wavesmith('evaluate', path('slow.wscap'), path('fast.co'), '--ledger', path('text.db'));
  expect([code, err]).toEqual([1, expect.stringContaining('ledger/damaged')]);
  expect(readFileSync(path('text.db'), 'utf8')).toBe('not a database');
});

test('unknown classes are named', async () => {
  expect((await wavesmith('evaluate', path('slow.wscap'), path('fast.co'), '--class', 'close')).code).toBe(2);
});

test('bounded allows the rounding of a sum and no more', async () => {
  const { args, grid, block } = SUBJECTS.dot;
  await record(folder, 'dot.wscap', { code: objectOf('dot'), args, grid, block });
  const inner = 'v_fmac_f32_e32 v2, s17, v3';
  const apart = variantObject({
    name: 'apart',
    of: 'dot',
    replace: [[inner, 'v_mul_f32_e32 v3, s17, v3\n  v_add_f32_e32 v2, v2, v3']],
  });
  const cut = variantObject({
    name: 'cut',
    of: 'dot',
    replace: [[inner, `v_and_b32_e32 v3, 0xffff0000, v3\n  ${inner}`]],
  });
  writeFileSync(path('apart.co'), apart);
  writeFileSync(path('cut.co'), cut);
  const judge = (file: string) => wavesmith('evaluate', path('dot.wscap'), path(file), '--class', 'bounded', '--json');
  const [close, far] = [JSON.parse((await judge('apart.co')).out), JSON.parse((await judge('cut.co')).out)];
  expect([close.verdict, close.reached], JSON.stringify(close.rungs)).toEqual(['not-faster', 'bounded']);
  expect([far.verdict, far.rung]).toEqual(['rejected', 'equivalence']);
});
