// `wavesmith run --timing` as a user sees it, bad chips included.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { wavesmith } from './support/cli.ts';
import { canCompileHip, compileHip, execHip } from './support/hip.ts';

const root = join(import.meta.dirname, '..');
const module = join(root, 'fixtures/matmul_f16.gfx942/baseline.vmfb');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-timing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KERNEL = 'matmul_dispatch_0_matmul_128x128x128_f16xf16xf32';
const run = (...more: string[]) =>
  wavesmith(
    ...['run', module, '--kernel', KERNEL, '--grid', '2,1,1', '--block', '256,1,1'],
    ...['--arg', 'f16[128,128]=random:1', '--arg', 'f16[128,128]=random:2', '--arg', 'f32[128,128]', ...more],
  );

describe('wavesmith run --timing', () => {
  it('should print time, interval, limiter and what was sampled', async () => {
    const { code, out } = await run('--timing', '--chip', 'mi300x');
    expect(code).toBe(0);
    expect(out).toMatch(/modelled on mi300x: [\d.]+ µs \([\d.]+ µs to [\d.]+ µs; .*\)/);
    expect(out).toMatch(/limited by \w+; busy: /);
    expect(out).toMatch(/2 of 2 workgroups replayed|1 of 2 workgroups replayed/);
  });
  it('should list every instruction with what it waited for', async () => {
    const { out } = await run('--timing-listing');
    expect(out).toMatch(/v_mfma_f32_\S+ .*/);
    expect(out).toMatch(/; .*(vmcnt|lgkmcnt|barrier) \d+/);
  });
  it('should be the same in JSON at every run', async () => {
    const timing = async (): Promise<Record<string, unknown>> =>
      (JSON.parse((await run('--timing', '--json')).out) as { timing: Record<string, unknown> }).timing;
    const first = await timing();
    expect(await timing()).toEqual(first);
    expect(first.chip).toBe('mi300x');
    expect(first.microseconds).toBeGreaterThan(1);
  });
  it.each([
    ['mi9000', /timing\/unknown-chip/],
    ['mi355x', /timing\/wrong-target/],
    [join(folder, 'none.json'), /no such file/],
  ])('should refuse --chip %s', async (chip, expected) => {
    const { code, err } = await run('--timing', '--chip', chip);
    expect(code).toBe(1);
    expect(err).toMatch(expected);
  });
  it('should name the field of a chip file that is wrong, and take one that is right', async () => {
    const own = join(folder, 'own.json');
    writeFileSync(own, JSON.stringify({ name: 'own', base: 'mi300x', numbers: { clockMhz: [-1, 'me'] } }));
    expect((await run('--timing', '--chip', own)).err).toMatch(/'clockMhz' of chip 'own' is -1/);
    writeFileSync(own, JSON.stringify({ name: 'own', base: 'mi300x', numbers: { clockMhz: [1050, 'me'] } }));
    expect((await run('--timing', '--chip', own)).out).toMatch(/modelled on own: /);
  });
  it('should refuse --chip without --timing', async () => {
    expect((await run('--chip', 'mi300x')).err).toMatch(/--chip and --time model need --timing/);
  });
});

describe('the clock of captures and hijack folders', () => {
  const capture = join(folder, 'one.wscap');
  const timed = /modelled on mi300a: [\d.]+ µs/;
  it('should time a captured dispatch when it is run or replayed, also in JSON', async () => {
    expect((await run('--capture', capture)).code).toBe(0);
    const again = await wavesmith('run', capture, '--timing', '--chip', 'mi300a');
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(timed)]);
    const replayed = await wavesmith('replay', 'full-vm', capture, '--timing-listing', '--chip', 'mi300a');
    expect(replayed.out).toMatch(timed);
    expect(replayed.out).toMatch(/; .*lgkmcnt \d+/);
    const { out } = await wavesmith('replay', 'full-vm', capture, '--timing', '--json');
    const { dispatch } = JSON.parse(out) as { dispatch: { timing: { chip: string; microseconds: number } } };
    expect(dispatch.timing.chip).toBe('mi300x');
    expect(dispatch.timing.microseconds).toBeGreaterThan(1);
  });
  it('should compare the times of both sides of a hijack folder, and refuse other chips', async () => {
    const hijacked = join(folder, 'hijack');
    expect((await wavesmith('hijack', 'init', module, '-o', hijacked)).code).toBe(0);
    expect((await wavesmith('hijack', 'build', hijacked)).code).toBe(0);
    const types = ['--buffer', '0=f16', '--buffer', '1=f16', '--buffer', '2=f32'];
    const { code, out } = await wavesmith('hijack', 'run', hijacked, '--all', ...types, '--timing', '--chip', 'mi300a');
    expect(code).toBe(0);
    // The same code takes the same time.
    expect(out).toMatch(/modified: 1\.000 of the baseline's modelled time/);
    expect(out.match(new RegExp(timed.source, 'g'))).toHaveLength(2);
    const bad = await wavesmith('hijack', 'run', hijacked, '--all', ...types, '--timing', '--chip', 'mi210');
    expect([bad.code, bad.err]).toEqual([1, expect.stringMatching(/timing\/wrong-target/)]);
  });
});

describe('wavesmith exec --timing', () => {
  it.skipIf(!canCompileHip())('should give events modelled time and leave results as they are', async () => {
    const program = await compileHip({ sources: ['vector_add'], targets: ['gfx942'] });
    const file = join(folder, 'times.json');
    const { status, stdout, stderr } = await execHip(
      'gfx942',
      program,
      [],
      ['--timing-json', file, '--chip', 'mi300a'],
    );
    expect(stderr).toBe('');
    expect([status, stdout]).toEqual([0, 'ok\n']);
    const { dispatches } = JSON.parse(readFileSync(file, 'utf8')) as { dispatches: { microseconds: number }[] };
    expect(dispatches.length).toBeGreaterThan(0);
    for (const d of dispatches) expect(d.microseconds).toBeGreaterThan(0.1);
  });
  it.skipIf(!canCompileHip())('should show a program nothing of the samples: lines are printed once', async () => {
    for (const flags of [[], ['-mprintf-kind=buffered']]) {
      const program = await compileHip({ sources: ['printf'], targets: ['gfx942'], flags });
      const lines = async (...more: string[]) => (await execHip('gfx942', program, [], more)).stdout.split('\n').sort();
      const plain = await lines();
      expect(plain.length).toBeGreaterThan(100);
      expect(await lines('--timing')).toEqual(plain);
    }
  });
  it.skipIf(!canCompileHip())('should time kernels that wait for the host or for each other', async () => {
    // `concurrent` has a kernel that waits for one of another stream.
    for (const source of ['atomics', 'concurrent']) {
      const program = await compileHip({ sources: [source], targets: ['gfx942'] });
      const { status, stdout } = await execHip('gfx942', program, [], ['--timing']);
      expect([source, status, stdout]).toEqual([source, 0, 'ok\n']);
    }
  });
  it.skipIf(!canCompileHip())('should show the same times of two streams at every run', async () => {
    const program = await compileHip({ sources: ['stream_times'], targets: ['gfx942'] });
    const runs = [];
    for (let n = 0; n < 3; n++) runs.push(await execHip('gfx942', program, [], ['--timing', '--chip', 'mi300a']));
    expect(runs[0]?.stdout).toMatch(/^(?:\d\.\d{5} ){3}\d\.\d{5}\n(?:\d\.\d{5} ){3}\d\.\d{5}\n$/);
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1);
  });
  it.skipIf(!canCompileHip())('should time programs that need more than 4 GiB', async () => {
    const program = await compileHip({ sources: ['large_memory'], targets: ['gfx942'] });
    const { status, stdout } = await execHip('gfx942', program, [], ['--timing']);
    expect([status, stdout]).toEqual([0, 'ok\n']);
  });
  it('should refuse more memory than it can model', async () => {
    const { code, err } = await wavesmith('exec', '--timing', '--memory', '128', '--', 'true');
    expect([code, err]).toEqual([2, expect.stringMatching(/--memory takes at most 64 GiB, not 128/)]);
  });
});
