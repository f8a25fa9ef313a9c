// A program on the virtual GPU as a profile: from counts to the document and its files; exact counts, no times.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { run as runProfile } from '../src/cli/profile.ts';
import { writeResults } from '../src/cli/profile-output.ts';
import { run as runKernel } from '../src/cli/run.ts';
import { analyse, type ProfileDocument, recordSimulated, type SimulatedProgram } from '../src/profile/index.ts';
import fc from './support/fast-check.ts';
import { kernelSource } from './support/kernel-source.ts';
import { hasNativeBuild, nativeTests } from './support/native.ts';

type Dispatch = SimulatedProgram['dispatches'][number];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const schema = JSON.parse(readFileSync(join(root, 'src/profile/schema/profile-1.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ allErrors: true, strictTuples: false }).compile(schema);
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-simulated-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ZERO = ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((kind) =>
  ['F16', 'F32', 'F64'].map((type) => [`SQ_INSTS_VALU_${kind}_${type}`, { value: 0 }] as const),
);
const lines = (hits: number) =>
  new Map([
    [0, { address: 0, text: 's_load_dwordx2 s[4:5], s[0:1], 0x0', source: '/src/a.hip:3', hits }],
    [8, { address: 8, text: 'v_fma_f32 v4, v2, v2, v2', source: '/src/a.hip:4', hits: 2 * hits, lanes: 96 * hits }],
  ]);
const kernels = ['scale', 'reduce', '<img src=x>'].map((name) => ({ name, lines: lines(name.length) }));

function dispatch(more: Partial<Dispatch> = {}): Dispatch {
  return {
    kernel: kernels[0],
    queue: 1,
    barrier: true,
    dependencies: [],
    workgroup: [256, 1, 1],
    grid: [1024, 1, 1],
    lds: 1024,
    scratch: 0,
    vgprs: 16,
    agprs: 0,
    sgprs: 32,
    instructions: 1000,
    wavefronts: 16,
    counters: {
      ...Object.fromEntries(ZERO),
      SQ_WAVES: { value: 16 },
      SQ_INSTS: { value: 1000 },
      SQ_INSTS_VALU_FMA_F32: { value: 100 },
      SQ_INSTS_MFMA: { value: 0 },
      SQ_INSTS_FLAT: { value: 7 },
      SQ_INSTS_LDS: { unknown: 'whether it counts flat_load_dword (3) is not public' },
    },
    flops: { F16: { value: 0 }, F32: { value: 12000 }, F64: { value: 0 } },
    bytes: { global: { load: 4096, store: 2048, atomic: 0 }, lds: { load: 512, store: 512, atomic: 0 } },
    formattedAccesses: 0,
    ldsBanks: { phases: 100, conflictCycles: 50, notModelled: 0 },
    valu: 100,
    valuLanes: 3200,
    hostStart: 123_456.5,
    hostEnd: 123_987.5,
    ...more,
  };
}

const program = (dispatches: readonly Dispatch[], more: Partial<SimulatedProgram> = {}): SimulatedProgram => ({
  program: './app --size 4',
  target: 'gfx942',
  device: 'AMD Instinct MI300X (virtual)',
  computeUnits: 304,
  dispatches,
  failures: [],
  ...more,
});
const documentOf = (run: SimulatedProgram): ProfileDocument => analyse(recordSimulated(run));

describe('a simulated profile', () => {
  test('has exact counts, and no time of a GPU anywhere', () => {
    const document = documentOf(program([dispatch(), dispatch({ kernel: kernels[1] }), dispatch()]));
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(document.simulated).toBe(true);
    const scale = document.kernels.find((k) => k.name === 'scale');
    expect(scale?.calls).toBe(2);
    expect(scale?.counters.SQ_WAVES).toEqual({ sum: 32, dispatches: 2 });
    expect(scale?.roofline.flops).toEqual({ value: 24_000 });
    const requested = scale?.roofline.points.find((p) => p.level === 'Requested');
    expect(requested).toMatchObject({ bytes: { value: 2 * 6144 }, intensity: { value: 12_000 / 6144 } });
    expect(scale?.roofline.points.find((p) => p.level === 'LDS')?.bytes).toEqual({ value: 2048 });
    expect(scale?.metrics['lanes.active']).toMatchObject({ value: { value: 32 } });
    expect(scale?.metrics['lds.conflicts']).toMatchObject({ value: { value: 0.5 } });
    expect(scale?.metrics['bytes.hbm.read'].value).toMatchObject({ unknown: expect.stringMatching(/virtual GPU/) });
    expect(scale?.metrics['insts.lds'].value).toEqual({
      unknown: 'SQ_INSTS_LDS: whether it counts flat_load_dword (3) is not public',
    });
    expect(scale?.launches[0]).toMatchObject({
      workgroup: [256, 1, 1],
      grid: [1024, 1, 1],
      vgpr: 16,
      sgpr: 32,
      calls: 2,
    });
    expect(scale?.occupancy.share).toMatchObject({ value: expect.any(Number) });
    const why = { unknown: expect.stringMatching(/simulated/) };
    for (const kernel of document.kernels) {
      for (const time of [kernel.totalNs, kernel.meanNs, kernel.minNs, kernel.maxNs]) expect(time).toMatchObject(why);
      expect(kernel.roofline.gflops).toMatchObject(why);
      for (const point of kernel.roofline.points)
        expect(point).toMatchObject({ bandwidth: { unknown: expect.any(String) } });
      expect(kernel.roofline.headroom).toMatchObject({ unknown: expect.any(String) });
    }
    for (const one of document.dispatches.shown) {
      expect(one).toMatchObject({ startNs: why, durationNs: why, simulated: { instructions: 1000, hostMs: 531 } });
    }
    expect(document.criticalPath.spanNs).toMatchObject({ unknown: expect.any(String) });
    expect(document.criticalPath.timeline).toEqual([]);
    // The host's clock appears only under names that say so.
    const text = JSON.stringify(document, (key, value: unknown) =>
      key === 'hostMs' || key === 'hostStartMs' ? 0 : value,
    );
    expect(text).not.toMatch(/\b531\b|123456|123987/);
  });

  test('classes rest on counts only: divergence, bank conflicts and empty compute units, none that needs time', () => {
    const document = documentOf(program([dispatch({ valuLanes: 800 })]));
    const [kernel] = document.kernels;
    expect(kernel.bottleneck.classes.map((c) => c.class).sort()).toEqual(['divergence', 'lds', 'under-occupied']);
    for (const name of ['memory-bandwidth', 'compute', 'launch']) {
      expect(kernel.bottleneck.undecided.map((u) => u.class)).toContain(name);
    }
  });

  test('what a formula misses in one dispatch is unknown, not zero', () => {
    const open = dispatch({
      formattedAccesses: 9,
      ldsBanks: undefined,
      flops: { F16: { value: 0 }, F32: { unknown: 'because' }, F64: { value: 0 } },
    });
    const [kernel] = documentOf(program([open])).kernels;
    expect(kernel.roofline.flops).toMatchObject({ unknown: expect.stringContaining('because') });
    expect(kernel.metrics['bytes.requested.read'].value).toMatchObject({
      unknown: expect.stringContaining('typed buffer'),
    });
    expect(kernel.metrics['lds.conflicts'].value).toMatchObject({ unknown: expect.stringContaining('not published') });
  });

  test('the listing has executions and source lines, no cycles', () => {
    const document = documentOf(program([dispatch()]));
    expect(document.traces[0]).toMatchObject({
      kind: 'simulated',
      hits: 15,
      latency: 0,
      stallShare: { unknown: expect.any(String) },
    });
    expect(document.traces[0].lines[1]).toMatchObject({
      hits: 10,
      meanLanes: 48,
      source: '/src/a.hip:4',
      kernel: 'scale',
    });
  });

  test('the longest chain follows queues and waits, in instructions', () => {
    const [a, b, c] = kernels;
    const run = [
      dispatch({ kernel: a, queue: 1, instructions: 100 }),
      dispatch({ kernel: b, queue: 2, instructions: 30 }),
      dispatch({ kernel: c, queue: 2, instructions: 50, dependencies: [0] }),
      dispatch({ kernel: a, queue: 1, instructions: 20 }),
    ];
    const path = documentOf(program(run)).dependencyPath;
    expect(path).toMatchObject({ unit: 'instructions', length: 150, work: 200, nodes: 4, pathNodes: 2 });
    expect(path?.edges).toEqual({ queueOrder: 2, recorded: 1 });
    expect(path?.timeline.map((e) => [e.node, e.start, e.length, e.critical, e.after])).toEqual([
      [0, 0, 100, true, []],
      [1, 0, 30, false, []],
      [2, 100, 50, true, [1, 0]],
      [3, 100, 20, false, [0]],
    ]);
  });

  test('property: the chain is the longest path of the recorded graph', () => {
    const one = fc.record({
      queue: fc.integer({ min: 1, max: 3 }),
      instructions: fc.integer({ min: 1, max: 50 }),
      wait: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 10 }), (all) => {
        const run = all.map((d, i) =>
          dispatch({ ...d, dependencies: d.wait < i && all[d.wait].queue !== d.queue ? [d.wait] : [] }),
        );
        const ends: number[] = [];
        run.forEach((d, i) => {
          const before = run.flatMap((other, n) => (n < i && other.queue === d.queue ? [ends[n]] : []));
          ends.push(Math.max(0, ...before, ...d.dependencies.map((n) => ends[n])) + d.instructions);
        });
        expect(documentOf(program(run)).dependencyPath?.length).toBe(Math.max(...ends));
      }),
      { numRuns: 300 },
    );
  });

  test('a program without dispatches, and one whose kernel failed', () => {
    const document = documentOf(program([], { failures: [{ kernel: 'k', reason: 'a memory fault' }] }));
    expect(validate(document)).toBe(true);
    expect(document.dependencyPath).toBeNull();
    expect(document.findings.map((f) => f.code)).toContain('sim/failed');
  });

  test('the five files say that it is simulated', () => {
    const recording = recordSimulated(program([dispatch()]));
    writeResults(folder, analyse(recording), undefined);
    for (const name of ['profile', 'roofline', 'dag', 'analysis']) {
      expect(JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))).toMatchObject({ simulated: true });
    }
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('"simulated":true');
  });
});

describe('--device', () => {
  test.each([
    [['--device', 'sim'], 'cli/usage'],
    [['--device', 'gpu', '--', './app'], 'cli/bad-option'],
    [['--device', 'sim:gfx1100', '--', './app'], 'cli/bad-option'],
    [['--device', 'sim', '--deep', '--', './app'], 'cli/usage'],
    [['x', '--device', 'sim', '--', './app'], 'cli/usage'],
  ])('%j is refused', async (argv, code) => {
    await expect(runProfile(argv)).rejects.toMatchObject({ code });
  });
});

describe('run --report', () => {
  const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_cvt_f32_u32_e32 v2, v0
  v_fma_f32 v2, v2, v2, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
`;
  const object = join(folder, 'k.co');
  const out = join(folder, 'report');
  const args = [object, '--kernel', 'k', '--grid', '4', '--block', '96', '--arg', 'f32[96]'];

  test('one kernel with the counts of its instructions', async () => {
    writeFileSync(object, assembleAndLink(kernelSource({ code: CODE })));
    vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    expect(await runKernel([...args, '--report', out])).toBe(0);
    vi.restoreAllMocks();
    expect(readdirSync(out).sort()).toEqual([
      'analysis.json',
      'dag.json',
      'profile.json',
      'report.html',
      'roofline.json',
    ]);
    const document = JSON.parse(readFileSync(join(out, 'profile.json'), 'utf8')) as ProfileDocument;
    expect(validate(document)).toBe(true);
    // 4 workgroups of 2 waves; 96 work-items do one FMA and store 4 bytes each; every wave loads 8 bytes of arguments.
    const [kernel] = document.kernels;
    expect(kernel.counters.SQ_WAVES.sum).toBe(8);
    expect(kernel.roofline.flops).toEqual({ value: 4 * 96 * 2 });
    expect(kernel.metrics['bytes.requested.write'].value).toEqual({ value: 4 * 96 * 4 });
    expect(kernel.metrics['bytes.requested.read'].value).toEqual({ value: 8 * 8 });
    expect(kernel.metrics['lanes.active'].value).toEqual({ value: 48 });
  });

  test.each([['--counters'], ['--profile'], ['--check']])('%s beside it is refused', async (flag) => {
    writeFileSync(object, assembleAndLink(kernelSource({ code: CODE })));
    await expect(runKernel([...args, '--report', out, flag])).rejects.toMatchObject({ code: 'cli/usage' });
  });
});

describe.skipIf(!hasNativeBuild())('a program on the native build', () => {
  const native = hasNativeBuild() ? nativeTests() : undefined;
  test.skipIf(native === undefined)('an unmodified HSA program: its dispatch, its counts, its status', () => {
    const out = join(folder, 'native');
    const program = [native?.file('hsa-dispatch') ?? '', native?.kernels('gfx942') ?? ''];
    const args = [join(root, 'bin/wavesmith'), 'profile', '--device', 'sim:gfx942', '-o', out, '--', ...program];
    const result = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(result.status, result.stderr).toBe(0);
    expect(result.stdout).toContain('simulated: exact counts, no times');
    const clock = args.flatMap((a) => (a === '-o' ? ['--timing', a] : a === out ? [`${out}-timed`] : [a]));
    const timed = spawnSync(process.execPath, clock, { encoding: 'utf8' });
    expect(timed.stdout, timed.stderr).toContain('simulated: exact counts, times modelled for mi300x;');
    const document = JSON.parse(readFileSync(join(out, 'profile.json'), 'utf8')) as ProfileDocument;
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(document.simulated).toBe(true);
    expect(document.dispatches.total).toBeGreaterThan(0);
    const scale = document.kernels.find((kernel) => kernel.name === 'scale');
    const [launch] = scale?.launches ?? [];
    const items = launch.grid.reduce((a, b) => a * b);
    expect(scale?.counters.SQ_WAVES.sum).toBe(Math.ceil(items / 64) * launch.calls);
    expect(scale?.roofline.flops).toMatchObject({ value: expect.any(Number) });
    expect(scale?.totalNs).toMatchObject({ unknown: expect.stringContaining('simulated') });
  });
});
