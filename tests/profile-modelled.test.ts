// Profiles of the virtual GPU under the clock: times, counters, waves, and the thread trace that `run --att` writes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { run as runKernel } from '../src/cli/run.ts';
import { type ProfileDocument, SCHEMAS } from '../src/profile/index.ts';
import { kernelSource } from './support/kernel-source.ts';
import { hasNativeBuild, nativeTests } from './support/native.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-modelled-'));
const object = join(folder, 'k.co');
const validate = new Ajv2020({ strict: false }).compile(SCHEMAS.profile);
const cli = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'bin/wavesmith'), ...args], { encoding: 'utf8' });

/** Each of 256 work-items a group copies 16 bytes, some of the groups with a barrier between. */
const COPY = `s_load_dwordx2 s[4:5], s[0:1], 0x0
s_lshl_b32 s6, s2, 8
v_add_u32_e32 v1, s6, v0
v_lshlrev_b32_e32 v1, 4, v1
s_waitcnt lgkmcnt(0)
global_load_dwordx4 v[4:7], v1, s[4:5]
s_bitcmp1_b32 s2, 3
s_cbranch_scc1 .Lstore
s_barrier
.Lstore:
s_waitcnt vmcnt(0)
v_add_u32_e32 v1, 0x400000, v1
global_store_dwordx4 v1, v[4:7], s[4:5]`;
const RUN = [object, '--kernel', 'k', '--grid', '1024', '--block', '256', '--arg', 'f32[2097152]=random:1'];

interface WaveFile {
  readonly wave: {
    readonly begin: number;
    readonly end: number;
    readonly instructions: readonly (readonly [number, number, number, number, number])[];
    readonly timeline: readonly (readonly [number, number])[];
  };
}

const document = (path: string): ProfileDocument =>
  JSON.parse(readFileSync(join(path, 'profile.json'), 'utf8')) as ProfileDocument;

beforeAll(() => {
  writeFileSync(object, assembleAndLink(kernelSource({ code: COPY, descriptor: { system_sgpr_workgroup_id_x: 1 } })));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('run --report --timing', () => {
  const [plain, timed] = [join(folder, 'plain'), join(folder, 'timed')];

  test('counts are those without a clock; times, rates and the limiter come with it', async () => {
    expect(await runKernel([...RUN, '--report', plain])).toBe(0);
    expect(await runKernel([...RUN, '--report', timed, '--timing', '--chip', 'mi300x'])).toBe(0);
    const [a, b] = [document(plain), document(timed)];
    expect(validate(b), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    const [before, after] = [a.kernels[0], b.kernels[0]];
    for (const [name, { sum }] of Object.entries(before?.counters ?? {})) {
      expect(after?.counters[name]?.sum, name).toBe(sum);
    }
    expect(a.modelledChip).toBeNull();
    expect(before?.totalNs).toMatchObject({ unknown: expect.stringContaining('simulated') });
    expect(b.modelledChip).toBe('mi300x');
    const total = after?.totalNs;
    expect(total).toMatchObject({ value: expect.any(Number) });
    // 4 MB read and 4 MB written; stores go to L2 in whole sectors.
    expect(after?.metrics['bytes.hbm.read']?.value).toMatchObject({ value: expect.closeTo(4 * 2 ** 20, -5) });
    expect(after?.metrics['bytes.hbm.write']?.value).toMatchObject({ value: expect.closeTo(4 * 2 ** 20, -5) });
    // What L1 asks of L2 in lines of 128 bytes, and what goes there in sectors of 64: no byte twice.
    expect(after?.metrics['bytes.l2']?.value).toMatchObject({ value: expect.closeTo(8 * 2 ** 20, -5) });
    expect(after?.metrics['bytes.l2.write']?.value).toMatchObject({ value: expect.closeTo(4 * 2 ** 20, -5) });
    // A load of 1 KB looks up 8 lines and misses them all; its store sends 16 sectors.
    expect(after?.metrics['l1.miss']?.value).toMatchObject({ value: expect.closeTo(1 / 3, 2) });
    expect(after?.metrics['l1.hit']?.value).toMatchObject({ value: expect.closeTo(0, 2) });
    // Waves are idle while their code is fetched, which instructions have as idle before them, and while they are started.
    const [trace] = b.traces;
    const states = trace?.waves.flatMap(({ timeline }) => timeline) ?? [];
    const sum = (of: readonly (readonly [string, number])[]) => of.reduce((total, [, cycles]) => total + cycles, 0);
    const idle = sum(states.filter(([state]) => state === 'idle')) / sum(states);
    const share = trace?.idleShare;
    expect(share !== undefined && 'value' in share ? share.value : 0).toBeGreaterThan(0.01);
    expect(share !== undefined && 'value' in share ? share.value : 1).toBeLessThan(idle + 0.01);
    expect(b.findings.some((f) => f.code === 'sim/modelled' && f.message.includes('no measurements'))).toBe(true);
    expect(readFileSync(join(timed, 'report.html'), 'utf8')).toContain('modelled for');
  });
});

describe('run --att', () => {
  const att = join(folder, 'att');

  test('the folder is that of a decoded thread trace: waves, states that fill them, hits of the replayed waves', async () => {
    expect(await runKernel([...RUN, '--att', att])).toBe(0);
    const waves = readdirSync(att).filter((name) => /^se0_sm\d_sl\d+_wv\d+\.json$/.test(name));
    const code = JSON.parse(readFileSync(join(att, 'code.json'), 'utf8')) as { code: (string | number)[][] };
    const rows = new Map(code.code.map((row) => [Number(row[1]), String(row[0])]));
    expect(waves.length).toBeGreaterThan(8);
    let barriers = 0;
    for (const name of waves) {
      const { wave } = JSON.parse(readFileSync(join(att, name), 'utf8')) as WaveFile;
      const states = wave.timeline.reduce((sum, [, cycles]) => sum + cycles, 0);
      expect(Math.abs(states - (wave.end - wave.begin))).toBeLessThanOrEqual(64);
      let at = wave.begin;
      for (const [time, , stall, duration] of wave.instructions) {
        expect(time).toBeGreaterThanOrEqual(at);
        expect(stall).toBeLessThanOrEqual(duration);
        at = time + duration;
      }
      expect(at).toBeLessThanOrEqual(wave.end + 64);
      const texts = wave.instructions.map(([, , , , line]) => rows.get(line) ?? '');
      expect(texts.at(-1)).toContain('s_endpgm');
      if (texts.some((t) => t.startsWith('s_barrier'))) barriers++;
      // Branches say whether they were taken: 7 is JUMP, 8 NEXT.
      const branch = wave.instructions.find(([, , , , line]) => rows.get(line)?.startsWith('s_cbranch'));
      expect(branch?.[1]).toBe(texts.some((t) => t.startsWith('s_barrier')) ? 8 : 7);
    }
    expect(barriers).toBeGreaterThan(0);
    expect(barriers).toBeLessThan(waves.length);
  });

  test('wavesmith trace reads it', () => {
    const result = cli('trace', att);
    expect(result.status, result.stderr).toBe(0);
    expect(result.stdout).toMatch(/global_load_dwordx4/);
    expect(result.stdout).toMatch(/load to use \d+/);
  });

  test('a GPU of the machine has no simulated trace', async () => {
    const missing = join(folder, 'none');
    await expect(runKernel([...RUN, '--device', 'rocm', '--att', missing])).rejects.toMatchObject({
      code: expect.any(String),
    });
    expect(existsSync(missing)).toBe(false);
  });
});

describe.skipIf(!hasNativeBuild())('profile --device sim --timing', () => {
  const native = hasNativeBuild() ? nativeTests() : undefined;

  test.skipIf(native === undefined)('an unmodified program has a critical path in modelled time', () => {
    const out = join(folder, 'program');
    const program = [native?.file('hsa-dispatch') ?? '', native?.kernels('gfx942') ?? ''];
    const result = cli(
      'profile',
      '--device',
      'sim:gfx942',
      '--timing',
      '--chip',
      'mi300a',
      '-o',
      out,
      '--',
      ...program,
    );
    expect(result.status, result.stderr).toBe(0);
    const profile = document(out);
    expect(validate(profile), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(profile.modelledChip).toBe('mi300a');
    expect(profile.criticalPath.lengthNs).toMatchObject({ value: expect.any(Number) });
    expect(profile.answer.machines.join()).toContain('MI300A');
  });

  test('--timing without the virtual GPU, and a chip of another target, are refused', () => {
    expect(cli('profile', '--timing', '--', 'true').stderr).toContain('--device sim');
    expect(cli('profile', '--device', 'sim:gfx90a', '--timing', '--chip', 'mi300x', '--', 'true').stderr).toContain(
      'timing/wrong-target',
    );
  });
});
