// `wavesmith optimize`: moves on machine code. What it finds by itself, that every kept step is right, that the same search makes the same
// ledger, and that one that was killed goes on.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCodeObject } from '../src/codeobject/index.ts';
import { KernelView, Ledger, type Move, movesOf } from '../src/optimize/index.ts';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';
import { SUBJECTS } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-optimize-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

/** A kernel with a barrier, waits, idle states and instructions that nobody needs. */
const wasteful = variantObject({
  name: 'wasteful',
  of: 'reverse',
  replace: [
    [
      's_waitcnt lgkmcnt(0)\n  s_barrier',
      's_waitcnt vmcnt(0) lgkmcnt(0)\n  s_barrier\n  s_nop 7\n  s_barrier\n  s_setprio 1',
    ],
    ['v_mul_f32_e32 v6, s9, v6', 'v_mov_b32_e32 v7, v6\n  s_nop 15\n  s_nop 15\n  v_mul_f32_e32 v6, s9, v6'],
  ],
});

beforeAll(async () => {
  const { args, grid, block } = SUBJECTS.reverse;
  await record(folder, 'wasteful.wscap', { code: wasteful, args, grid, block });
});

const optimize = (...args: string[]) => wavesmith('optimize', path('wasteful.wscap'), ...args);

test('drops the barrier that is not needed and keeps the one that is', async () => {
  const { code, out, err } = await optimize('--budget', '40', '--beam', '1', '-o', path('better.s'), '--json');
  expect([code, err]).toEqual([0, '']);
  const result = JSON.parse(out);
  expect(result.evaluation).toMatchObject({ verdict: 'accepted' });
  const text = readFileSync(path('better.s'), 'utf8');
  expect(text.match(/s_barrier/g)).toHaveLength(1);
  expect(text).not.toContain('s_nop 15');
  expect(result.steps.length).toBeGreaterThan(0);
  for (const step of result.steps) expect(step.diff).toMatch(/^[-+]\t/m);
  // The ladder says the same of the written text.
  expect((await wavesmith('evaluate', path('wasteful.wscap'), path('better.s'))).code).toBe(0);
});

test('the same search makes the same ledger; one that is in the ledger is not made again', async () => {
  const digests: string[] = [];
  for (const name of ['one.db', 'two.db', 'two.db']) {
    const { out } = await optimize('--budget', '4', '--beam', '1', '--ledger', path(name), '--json');
    digests.push(JSON.parse(out).ledger);
  }
  expect(new Set(digests).size).toBe(1);
  expect(Buffer.compare(readFileSync(path('one.db')), readFileSync(path('two.db')))).toBe(0);
});

test('a search that was killed goes on, and its ledger is that of one that was not', async () => {
  await optimize('--budget', '4', '--beam', '1', '--ledger', path('whole.db'));
  const bin = join(import.meta.dirname, '..', 'bin', 'wavesmith');
  const args = ['optimize', path('wasteful.wscap'), '--budget', '4', '--beam', '1', '--ledger', path('killed.db')];
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const hasBegun = () => existsSync(path('killed.db')) && readFileSync(path('killed.db')).length > 0;
  while (!hasBegun() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill('SIGKILL');
  await ended;
  expect((await optimize('--budget', '4', '--beam', '1', '--ledger', path('killed.db'))).err).toBe('');
  const [whole, killed] = ['whole.db', 'killed.db'].map((name) => {
    const ledger = Ledger.open(path(name));
    const digest = ledger.digest();
    ledger.close();
    return digest;
  });
  expect(killed).toBe(whole);
});

test('a full disk is a sentence, and the same command goes on where there is room', async () => {
  await optimize('--budget', '4', '--beam', '1', '--ledger', path('roomy.db'));
  const bin = join(import.meta.dirname, '..', 'bin', 'wavesmith');
  const command = ['optimize', path('wasteful.wscap'), '--budget', '4', '--beam', '1', '--ledger', path('full.db')];
  const before = readFileSync(join(path('wasteful.wscap'), 'manifest.json'));
  // No file of the process may have more than a kilobyte: as on a disk that is full behind it.
  const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, bin, ...command];
  const { status, stderr } = spawnSync('bash', limited, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/error\[io\/write\]: Cannot write .*full\.db/)]);
  expect(readFileSync(join(path('wasteful.wscap'), 'manifest.json'))).toEqual(before);
  expect((await optimize('--budget', '4', '--beam', '1', '--ledger', path('full.db'))).err).toBe('');
  const [roomy, full] = ['roomy.db', 'full.db'].map((name) => {
    const ledger = Ledger.open(path(name));
    const digest = ledger.digest();
    ledger.close();
    return digest;
  });
  expect(full).toBe(roomy);
});

test('a kernel with nothing to gain', async () => {
  const { args, grid, block } = SUBJECTS.elementwise;
  const code = variantObject({ name: 'plain', of: 'elementwise' });
  await record(folder, 'plain.wscap', { code, args, grid, block });
  const result = await wavesmith(
    'optimize',
    path('plain.wscap'),
    '--budget',
    '5',
    '--moves',
    'drop-barrier',
    '-o',
    path('none.co'),
  );
  expect([result.code, result.out]).toEqual([3, expect.stringMatching(/NOTHING FASTER FOUND\n$/)]);
  expect(existsSync(path('none.co'))).toBe(false);
});

test.each([
  [['--budget', '0'], 2, 'cli/usage'],
  [['--moves', 'magic'], 2, 'cli/usage'],
  [['--class', 'bounded'], 2, 'cli/usage'],
  [['--chip', 'mi210'], 1, 'timing/wrong-target'],
] as const)('%j is refused', async (args, code, error) => {
  expect(await optimize(...args)).toMatchObject({ code, err: expect.stringContaining(error) });
});

test('what is no capture is refused', async () => {
  writeFileSync(path('k.co'), wasteful);
  expect(await wavesmith('optimize', path('k.co'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('capture/not-a-capture'),
  });
});

test('a code object with its launch is recorded and made faster; the same launch makes the same ledger', async () => {
  writeFileSync(path('w.co'), wasteful);
  const { args } = SUBJECTS.reverse;
  const launch = ['--', '--grid', '4', '--block', '256', ...args.flatMap((arg) => ['--arg', arg])];
  const flags = ['--budget', '6', '--beam', '1', '--moves', 'trim-nop,drop-barrier', '--json', '--ledger'];
  const runs = [];
  for (const name of ['co1.db', 'co2.db']) {
    runs.push(await wavesmith('optimize', path('w.co'), ...flags, path(name), ...launch));
  }
  expect(runs.map((r) => r.code)).toEqual([0, 0]);
  const [one, two] = runs.map((r) => JSON.parse(r.out));
  expect(one.evaluation.verdict).toBe('accepted');
  expect(one.ledger).toBe(two.ledger);
  expect(await wavesmith('optimize', path('w.co'), '--', '--grid', '4')).toMatchObject({ code: 2 });
});

describe('moves', () => {
  const movesIn = (name: keyof typeof SUBJECTS, ...replace: (readonly [string, string])[]): Move[] =>
    movesOf(new KernelView(readCodeObject(variantObject({ name: 'moves', of: name, replace }), ['test']), 'k'));
  const texts = (moves: readonly Move[], kind: string): string[] =>
    moves.filter((m) => m.kind === kind).map((m) => m.text);

  test('a wait sinks to what first needs it', () => {
    const early = [
      'global_load_dword v2, v1, s[6:7]\n',
      'global_load_dword v2, v1, s[6:7]\n  s_waitcnt vmcnt(0)\n',
    ] as const;
    expect(texts(movesIn('elementwise', early), 'sink-wait')).toContain(
      's_waitcnt vmcnt(0) behind v_cvt_f32_u32_e32 v3, v0',
    );
  });

  test('arithmetic fills a wait unless it needs what is waited for', () => {
    const late = [
      'v_cvt_f32_u32_e32 v3, v0\n  s_waitcnt vmcnt(0)',
      's_waitcnt vmcnt(0)\n  v_cvt_f32_u32_e32 v3, v0',
    ] as const;
    expect(texts(movesIn('elementwise', late), 'fill-wait')).toContain('1 instruction before s_waitcnt vmcnt(0)');
    expect(texts(movesIn('inPlace'), 'fill-wait')).not.toContain('1 instruction before s_waitcnt vmcnt(0)');
  });

  test('a load passes arithmetic that it does not need, and no store', () => {
    const late = [
      [
        'global_load_dword v2, v1, s[6:7]\n  v_cvt_f32_u32_e32 v3, v0',
        'v_cvt_f32_u32_e32 v3, v0\n  global_load_dword v2, v1, s[6:7]',
      ],
    ] as const;
    expect(texts(movesIn('elementwise', ...late), 'hoist-load')).toEqual([
      expect.stringMatching(/^global_load_dword v2, v1, s\[6:7\] before v_cvt_f32/),
    ]);
    expect(texts(movesIn('dot'), 'hoist-load').filter((t) => t.includes('s_load_dword s17'))).toEqual([]);
  });

  test('neighbouring loads become one', () => {
    const two = [
      'global_load_dword v2, v1, s[6:7]',
      'global_load_dword v4, v1, s[6:7]\n  global_load_dword v5, v1, s[6:7] offset:4\n  global_load_dword v2, v1, s[6:7]',
    ] as const;
    expect(texts(movesIn('elementwise', two), 'merge-loads')).toEqual(['global_load_dwordx2 v[4:5], v1, s[6:7]']);
  });

  test('a result that nobody reads goes, one that is read stays', () => {
    const dead = ['v_cvt_f32_u32_e32 v3, v0', 'v_mov_b32_e32 v7, v0\n  v_cvt_f32_u32_e32 v3, v0'] as const;
    expect(texts(movesIn('elementwise', dead), 'drop-dead')).toEqual(['v_mov_b32_e32 v7, v0 → nothing']);
  });
});
