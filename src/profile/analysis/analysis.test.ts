import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { sharedPath } from '../../../tests/support/shared.ts';
import { compile, namesOf, parseExpression } from '../arch/expression.ts';
import { counterPasses, METRICS } from '../arch/metrics.ts';
import { isKnown, known, type Measure, unknown } from '../measure.ts';
import { Recording } from '../recording.ts';
import { classify } from './bottleneck.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { type MetricSum, MetricTable } from './metrics.ts';
import { fitting, kernelOccupancy, launchedGroups } from './occupancy.ts';
import { ceilings, kernelRoofline } from './roofline.ts';
import { classOf, traceFeatures } from './trace-features.ts';

const value = (m: Measure): number | undefined => (isKnown(m) ? m.value : undefined);

describe('formulas', () => {
  test('precedence, left association and parentheses', () => {
    const run = (text: string) => compile(parseExpression(text), () => () => 3)(0);
    expect(run('2 + 3 * 4 - 1')).toBe(13);
    expect(run('100 / 5 / 2')).toBe(10);
    expect(run('(2 + A) * (A - 1)')).toBe(10);
    expect(run('X:Y_1 / $cu')).toBe(1);
    for (const wrong of ['', '2 +', '(1', '1 2', '3 % 2'])
      expect(() => parseExpression(wrong)).toThrow(/is wrong at column/);
  });

  test('every formula parses and every architecture knows its memory counters', () => {
    for (const [arch, metrics] of Object.entries(METRICS)) {
      const names = metrics.flatMap((m) => [...namesOf(parseExpression(m.formula))]);
      const prefix = arch === 'gfx90a' || arch === 'gfx908' ? 'TCC_EA_RDREQ' : 'TCC_EA0_RDREQ';
      expect(names.some((name) => name.startsWith(prefix))).toBe(true);
      expect(names.includes('TCC_BUBBLE')).toBe(arch === 'gfx942');
      expect(names.includes('TCC_EA0_RDREQ_128B')).toBe(arch === 'gfx950');
      expect(new Set(metrics.map((m) => m.id)).size).toBe(metrics.length);
      for (const metric of metrics) expect(metric.source).not.toBe('');
    }
  });

  test('counter passes respect the limits of each block and ask for every counter once', () => {
    for (const arch of Object.keys(METRICS)) {
      const passes = counterPasses(arch);
      const all = passes.flat();
      expect(new Set(all).size).toBe(all.length);
      for (const pass of passes) {
        const count = (prefix: string) => pass.filter((name) => name.startsWith(prefix)).length;
        expect(count('SQ')).toBeLessThanOrEqual(8);
        expect(count('TCC_')).toBeLessThanOrEqual(4);
        expect(count('TCP_')).toBeLessThanOrEqual(4);
      }
    }
    expect(counterPasses('gfx950').flat()).toContain('TCC_EA0_RDREQ_128B_sum');
    // 44 counters of SQ and two for the derived occupancy, eight in a pass.
    expect(counterPasses('gfx942')).toHaveLength(6);
  });

  // rocprofv3 ends a run that asks for a counter which the GPU lacks.
  const definitions = sharedPath('profiles', 'rocpd-schema', 'counter_defs.yaml');
  test.skipIf(definitions === undefined)('rocprofiler-sdk knows every counter of the passes (needs ../shared)', () => {
    const known = new Map<string, Set<string>>();
    let name = '';
    for (const line of readFileSync(definitions ?? '', 'utf8').split('\n')) {
      const entry = /^ {2}- name: (\S+)/.exec(line)?.[1];
      if (entry !== undefined) name = entry;
      const arch = /^ +- (gfx\w+)$/.exec(line)?.[1];
      if (arch !== undefined) known.set(arch, (known.get(arch) ?? new Set()).add(name));
    }
    for (const arch of Object.keys(METRICS)) {
      expect(
        counterPasses(arch)
          .flat()
          .filter((counter) => known.get(arch)?.has(counter) !== true),
      ).toEqual([]);
    }
  });
});

/** Dispatches of 1000 ns each with the given counters, undefined where not collected, on an agent of `arch`. */
function recordingWith(arch: string, ...dispatches: Readonly<Record<string, number>>[]): Recording {
  const r = new Recording();
  const agent = r.agent('Agent 0');
  Object.assign(agent, {
    arch,
    cuCount: 100,
    xccCount: 1,
    maxClockMhz: 1000,
    memoryClockMhz: 1000,
    hbmChannels: 32,
    l2Channels: 16,
  });
  const d = r.dispatches;
  dispatches.forEach((counters, row) => {
    d.start.push(1000 * (row + 1));
    d.end.push(1000 * (row + 2));
    d.timing.push(0);
    for (const column of [d.stream, d.process, d.correlation]) column.push(0);
    d.dispatchId.push(row);
    d.kernel.push(r.kernels.id('k'));
    d.agent.push(r.agentKeys.id('Agent 0'));
    d.queue.push(r.queues.id('q'));
    d.config.push(0);
    for (const [name, amount] of Object.entries(counters)) r.counters.add(name, row, amount, 'f');
  });
  return r;
}

const sums = (arch: string, counters: Readonly<Record<string, number>>) =>
  new MetricTable(recordingWith(arch, counters)).sum(arch, Int32Array.of(0));
const of = (arch: string, id: string, counters: Readonly<Record<string, number>>) =>
  sums(arch, counters).find((sum) => sum.metric.id === id)?.value ?? unknown('no metric');

describe('metrics', () => {
  test('gfx950 without the 128-byte counter: unknown, with the reason, not a number', () => {
    const some = { TCC_EA0_RDREQ_sum: 65612, TCC_EA0_RDREQ_32B_sum: 0, TCC_EA0_RDREQ_64B_sum: 0, TCC_BUBBLE_sum: 0 };
    expect(of('gfx950', 'bytes.hbm.read', some)).toEqual({
      unknown: 'not collected: TCC_EA0_RDREQ_128B, so the sizes of the read requests are unknown',
    });
    expect(of('gfx950', 'bytes.hbm.read', { ...some, TCC_EA0_RDREQ_128B_sum: 65536 })).toEqual({ value: 65536 * 128 });
  });

  test('an FMA of a wave is 128 operations; an MFMA counts by type', () => {
    const kinds = Object.fromEntries(['ADD', 'MUL', 'TRANS', 'FMA'].map((k) => [`SQ_INSTS_VALU_${k}_F32`, 0]));
    expect(of('gfx942', 'flops.valu.f32', { ...kinds, SQ_INSTS_VALU_FMA_F32: 10 })).toEqual({ value: 1280 });
    expect(of('gfx942', 'flops.mfma.f8', { SQ_INSTS_VALU_MFMA_MOPS_F8: 3 })).toEqual({ value: 1536 });
  });

  test('no MFMA at all proves that there are no MFMA FLOPs of a type whose counter was not collected', () => {
    expect(of('gfx942', 'flops.mfma.f8', { SQ_INSTS_MFMA: 0 })).toEqual({ value: 0 });
    expect(of('gfx942', 'flops.mfma.f8', { SQ_INSTS_MFMA: 5 })).toMatchObject({ unknown: expect.any(String) });
  });

  test('counters that contradict each other give no negative bytes', () => {
    const wrong = {
      TCC_EA0_RDREQ_sum: 10,
      TCC_EA0_RDREQ_32B_sum: 10,
      TCC_BUBBLE_sum: 0,
      TCC_EA0_WRREQ_sum: 0,
      TCC_EA0_WRREQ_64B_sum: 0,
    };
    expect(of('gfx942', 'bytes.hbm.read', wrong)).toEqual({ value: 320 });
    expect(of('gfx90a', 'bytes.hbm.write', { TCC_EA_WRREQ_sum: 0, TCC_EA_WRREQ_64B_sum: -5 })).toMatchObject({
      unknown: expect.stringContaining('contradict'),
    });
  });
});

describe('roofline', () => {
  test('ratios use the dispatches that have all their terms', () => {
    const flops = {
      ...Object.fromEntries(
        ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((k) => ['F16', 'F32', 'F64'].map((t) => [`SQ_INSTS_VALU_${k}_${t}`, 0])),
      ),
      SQ_INSTS_MFMA: 0,
      SQ_INSTS_VALU_FMA_F32: 1000,
    };
    const bytes = { TCC_EA_RDREQ_sum: 200, TCC_EA_RDREQ_32B_sum: 0, TCC_EA_WRREQ_sum: 0, TCC_EA_WRREQ_64B_sum: 0 };
    const both = { ...flops, ...bytes };
    // FLOPs of 3 dispatches, bytes of 10: 128,000 FLOP to 12,800 bytes in each that has both.
    const r = recordingWith('gfx90a', both, both, both, ...Array.from({ length: 7 }, () => bytes));
    const rows = Int32Array.from({ length: 10 }, (_, i) => i);
    const hbm = kernelRoofline(new MetricTable(r).sum('gfx90a', rows), ceilings(undefined)).points[0];
    expect(value(hbm.bytes)).toBe(128_000);
    expect(hbm.dispatches).toBe(3);
    expect(value(hbm.intensity)).toBe(10);
    // Nothing in common.
    const apart = recordingWith('gfx90a', flops, bytes);
    const none = kernelRoofline(new MetricTable(apart).sum('gfx90a', Int32Array.of(0, 1)), ceilings(undefined))
      .points[0];
    expect(none.intensity).toMatchObject({
      unknown: expect.stringContaining('no dispatch has the counters of all of'),
    });
  });

  const zero = Object.fromEntries(
    ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((k) => ['F16', 'F32', 'F64'].map((t) => [`SQ_INSTS_VALU_${k}_${t}`, 0])),
  );
  const counters = {
    ...zero,
    SQ_INSTS_MFMA: 0,
    SQ_INSTS_VALU_FMA_F32: 1000,
    TCC_EA_RDREQ_sum: 1000,
    TCC_EA_RDREQ_32B_sum: 0,
    TCC_EA_WRREQ_sum: 0,
    TCC_EA_WRREQ_64B_sum: 0,
  };

  test('intensity, achieved rates and shares of the peaks', () => {
    const r = recordingWith('gfx90a', counters);
    const roofs = ceilings(r.agent('Agent 0'));
    const k = kernelRoofline(new MetricTable(r).sum('gfx90a', Int32Array.of(0)), roofs);
    expect(value(k.flops)).toBe(128_000);
    expect(value(k.gflops)).toBe(128);
    const [hbm] = k.points;
    expect(value(hbm.intensity)).toBe(2);
    expect(value(hbm.bandwidth)).toBe(64);
    expect(value(hbm.ofPeak)).toBeCloseTo(64 / 1024, 9);
    // 100 CUs at 1 GHz: 12.8 TFLOP/s one by one, 25.6 packed; the packed roof bounds.
    expect(value(roofs.rates.find((x) => x.id === 'fp32-valu')?.peak ?? unknown(''))).toBe(12_800);
    expect(value(roofs.rates.find((x) => x.id === 'fp32-packed')?.peak ?? unknown(''))).toBe(25_600);
    expect(value(k.computeOfPeak)).toBeCloseTo(128 / 25_600, 9);
    expect(k.boundBy).toBe('HBM bandwidth');
    expect(value(k.headroom)).toBeCloseTo(1 - 64 / 1024, 9);
  });

  test('known peaks: MI300X and MI200', () => {
    const r = new Recording();
    const mi300 = Object.assign(r.agent('a'), {
      arch: 'gfx942',
      cuCount: 304,
      maxClockMhz: 2100,
      memoryClockMhz: 1300,
      hbmChannels: 128,
    });
    const peaks = new Map(ceilings(mi300).rates.map((x) => [x.id, value(x.peak)]));
    expect(peaks.get('f16-mfma')).toBeCloseTo(1_307_443, 0);
    expect(peaks.get('f8-mfma')).toBeCloseTo(2_614_886, 0);
    expect(peaks.get('fp32-packed')).toBeCloseTo(163_430, 0);
    expect(value(ceilings(mi300).bandwidths[0].peak)).toBeCloseTo(5324.8, 6);
    const mi350 = Object.assign(r.agent('b'), { arch: 'gfx950', cuCount: 256, maxClockMhz: 2400 });
    expect(value(ceilings(mi350).rates.find((x) => x.id === 'f6f4-mfma')?.peak ?? unknown(''))).toBeCloseTo(
      10_066_330,
      0,
    );
    // As rocprof-compute names them, where the clock of the memory is not recorded.
    for (const [name, arch, peak] of [
      ['MI350', 'gfx950', 8000],
      ['MI355X', 'gfx950', 8000],
      ['MI300A_A1', 'gfx942', 5300],
      ['MI100', 'gfx908', 1228.8],
    ] as const) {
      expect(value(ceilings({ ...mi350, name, arch }).bandwidths[0].peak)).toBe(peak);
    }
    // The name of a GPU of another architecture tells nothing.
    expect(isKnown(ceilings({ ...mi350, name: 'MI300X' }).bandwidths[0].peak)).toBe(false);
  });

  test('without clocks nothing is made up', () => {
    const r = recordingWith('gfx90a', counters);
    const agent = { ...r.agent('Agent 0'), maxClockMhz: undefined, memoryClockMhz: undefined };
    const roofs = ceilings(agent);
    expect([...roofs.bandwidths, ...roofs.rates].every((roof) => !isKnown(roof.peak))).toBe(true);
    const k = kernelRoofline(new MetricTable(r).sum('gfx90a', Int32Array.of(0)), roofs);
    expect(value(k.points[0].bandwidth)).toBe(64);
    expect(k.headroom).toMatchObject({ unknown: expect.any(String) });
  });
});

describe('occupancy of recorded launches', () => {
  const launch = {
    workgroup: [256, 1, 1],
    grid: [1024, 1, 1],
    lds: 0,
    scratch: 0,
    vgpr: 32,
    agpr: 0,
    sgpr: 48,
    calls: 1,
  };

  test.each([
    [{ vgpr: 32 }, 1, null],
    [{ vgpr: 128 }, 0.5, 'VGPRs'],
    [{ vgpr: 128, agpr: 128 }, 0.25, 'VGPRs'],
    [{ lds: 65536 }, 0.125, 'LDS'],
  ] as const)('%o on gfx942', (change, share, limiter) => {
    const o = kernelOccupancy({ ...launch, ...change }, 'gfx942');
    expect(value(o.share)).toBe(share);
    expect(o.limiter).toBe(limiter);
  });

  test('gfx950 has more LDS', () => {
    expect(value(kernelOccupancy({ ...launch, lds: 65536 }, 'gfx950').share)).toBe(0.25);
  });

  test('workgroups that fit, in waves, and how far a launch fills the GPU', () => {
    const alone = { ...launch, lds: 60_000, workgroup: [64, 1, 1], grid: [64 * 912, 1, 1] };
    expect(value(fitting(kernelOccupancy(alone, 'gfx942'), alone))).toBe(1 / 32);
    const { groupsPerCu, wavesPerGroup } = launchedGroups({ ...alone, workgroup: [100, 2, 1], grid: [950, 4, 1] }, 10);
    expect([value(groupsPerCu), value(wavesPerGroup)]).toEqual([2, 4]);
    expect(isKnown(launchedGroups({ ...launch, grid: [-1, -1, -1] }, 304).groupsPerCu)).toBe(false);
    expect(isKnown(launchedGroups(launch, undefined).groupsPerCu)).toBe(false);
  });

  test('what was not recorded or cannot be is unknown', () => {
    for (const change of [
      { vgpr: -1 },
      { lds: -1 },
      { workgroup: [-1, -1, -1] },
      { workgroup: [4096, 1, 1] },
      { lds: 1 << 20 },
    ]) {
      expect(isKnown(kernelOccupancy({ ...launch, ...change }, 'gfx942').share)).toBe(false);
    }
    expect(kernelOccupancy(launch, 'gfx1100').share).toMatchObject({ unknown: 'gfx1100 is not a known chip' });
  });
});

describe('bottleneck classes', () => {
  const nothing = unknown('nothing was measured');
  const input = (change: Partial<ClassifierInput>): ClassifierInput => ({
    metrics: [],
    roofline: kernelRoofline([], ceilings(undefined)),
    trace: undefined,
    sampledStalls: undefined,
    fits: nothing,
    meanNs: nothing,
    gapShare: nothing,
    occupancy: nothing,
    groupsPerCu: nothing,
    wavesPerGroup: nothing,
    ...change,
  });
  const withMetric = (id: string, amount: number) => {
    const metric = METRICS.gfx942.find((m) => m.id === id);
    if (metric === undefined) throw new Error(id);
    const sum: MetricSum = {
      metric,
      value: known(amount),
      dispatches: 1,
      timedNs: 0,
      timed: 0,
      timedValue: 0,
      covered: Uint8Array.of(1),
      within: () => sum,
    };
    return sum;
  };
  const rooflineWith = (hbm: number, headroom: Measure) => ({
    ...kernelRoofline([], ceilings(undefined)),
    points: [
      {
        level: 'HBM' as const,
        bytes: nothing,
        intensity: nothing,
        dispatches: 1,
        bandwidth: nothing,
        ofPeak: known(hbm),
        isMeasured: false,
      },
    ],
    headroom,
  });

  test('without measurements there is no class, and every class says what is missing', () => {
    const result = classify(input({}));
    expect(result.classes).toEqual([]);
    expect(result.undecided).toHaveLength(11);
  });

  test.each([
    ['divergence', { metrics: [withMetric('lanes.active', 20)] }],
    ['lds', { metrics: [withMetric('lds.conflicts', 1)] }],
    ['scalar', { metrics: [withMetric('share.salu', 0.7)] }],
    ['instruction-fetch', { metrics: [withMetric('icache.miss', 0.2)] }],
    ['memory-latency', { metrics: [withMetric('wait.any', 0.9), withMetric('vmem.latency', 2000)] }],
    ['atomics', { metrics: [withMetric('share.atomic', 0.8)] }],
    ['under-occupied', { occupancy: known(0.1) }],
    ['launch', { gapShare: known(0.8), meanNs: known(3000) }],
    ['barrier', { sampledStalls: new Map([['BARRIER_WAIT', 0.5]]) }],
    ['memory-bandwidth', { roofline: rooflineWith(0.8, known(0.2)) }],
  ] as const)('%s', (name, change) => {
    const { classes } = classify(input(change as Partial<ClassifierInput>));
    expect(classes.map((c) => c.class)).toEqual([name]);
    expect(classes[0].evidence[0].formula).not.toBe('');
    expect(classes[0].evidence[0].source).not.toBe('');
  });

  test('waiting alone is no evidence for memory', () => {
    const alone = classify(input({ metrics: [withMetric('wait.any', 0.95)] }));
    expect(alone.classes).toEqual([]);
    expect(alone.undecided.find((u) => u.class === 'memory-latency')?.reason).toMatch(/SQ_WAIT_ANY alone/);
    const short = classify(input({ metrics: [withMetric('wait.any', 0.95), withMetric('vmem.latency', 100)] }));
    expect(short.classes).toEqual([]);
  });

  test('every class names what would refute it, and the counters', () => {
    const far = { metrics: [withMetric('wait.any', 0.95), withMetric('vmem.latency', 2000)] };
    const [latency] = classify(input(far)).classes;
    expect(latency.refutedBy.map((r) => r.value)).toEqual([null, null, null, null, null, null]);
    expect(latency.refutedBy.every((r) => r.formula !== '')).toBe(true);
    const checked = { metrics: [...far.metrics, withMetric('issue.valu', 0.1), withMetric('mfma.busy', 0)] };
    const [sure] = classify(input(checked)).classes;
    expect(sure.confidence).toBeGreaterThan(latency.confidence);
    const busy = { metrics: [...far.metrics, withMetric('issue.valu', 0.9)] };
    expect(classify(input(busy)).classes.map((c) => c.class)).toEqual(['compute']);
  });

  // What a kernel written to be limited by one thing shows: the class that must come first.
  const quiet = {
    'issue.valu': 0.1,
    'mfma.busy': 0,
    'issue.salu': 0.05,
    'lanes.active': 64,
    'lds.busy': 0.05,
    'icache.miss': 0.001,
  };
  test.each([
    ['streaming copy', 'memory-bandwidth', 0.85, { 'wait.any': 0.95, 'vmem.latency': 3000, 'l1.miss': 0.5 }, 0.6],
    ['streaming copy at few waves', 'memory-bandwidth', 0.7, { 'wait.any': 0.9, 'vmem.latency': 900 }, 0.2],
    ['pointer chase', 'memory-latency', 0.02, { 'wait.any': 0.97, 'vmem.latency': 900, 'share.salu': 0.3 }, 0.4],
    ['LDS conflicts', 'lds', 0.01, { 'wait.any': 0.8, 'vmem.latency': 600, 'lds.conflicts': 7, 'lds.busy': 0.9 }, 0.8],
    ['divergent branches', 'divergence', 0.02, { 'lanes.active': 4, 'issue.valu': 0.55, 'wait.any': 0.2 }, 0.8],
    ['VALU chain', 'compute', 0.01, { 'issue.valu': 0.96, 'wait.any': 0.1 }, 0.8],
    ['matrix products', 'compute', 0.2, { 'mfma.busy': 0.92, 'wait.any': 0.6, 'vmem.latency': 700 }, 0.25],
    [
      'tickets from one counter, then stores',
      'atomics',
      0.01,
      { 'wait.any': 0.99, 'vmem.latency': 20_000, 'share.atomic': 0.06, 'share.atomic.awaited': 1 },
      0.2,
    ],
    [
      'loads, and one atomic at the end',
      'memory-latency',
      0.2,
      { 'wait.any': 0.9, 'vmem.latency': 900, 'share.atomic': 0.05, 'share.atomic.awaited': 0.1 },
      0.6,
    ],
    [
      'random lines that stand in the queues of memory',
      'memory-bandwidth',
      0.4,
      { 'wait.any': 0.97, 'vmem.latency': 2900, 'vmem.lines': 60, 'l1.hit': 0, 'l2.hit': 0.05 },
      0.12,
    ],
    [
      'random lines as fast as from an idle memory',
      'memory-latency',
      0.55,
      { 'wait.any': 0.95, 'vmem.latency': 1200, 'vmem.lines': 60, 'l1.hit': 0, 'l2.hit': 0.05 },
      0.12,
    ],
    [
      'compare and swap on one word',
      'atomics',
      0.001,
      { 'wait.any': 0.9, 'vmem.latency': 1600, 'l1.hit': 0.7, 'l2.hit': 0.97, 'share.atomic': 0.2 },
      0.05,
    ],
    ['LDS that is busy without conflicts', 'lds', 0.01, { 'wait.any': 0.4, 'lds.busy': 0.75, 'lds.conflicts': 0 }, 0.8],
    ['registers allow one wave', 'under-occupied', 0.1, { 'wait.any': 0.4 }, 0.03],
    ['atomics on one line', 'atomics', 0.02, { 'wait.any': 0.4, 'share.atomic': 0.95 }, 0.8],
    [
      'hardly any atomics, which a line is busy with all the time',
      'atomics',
      0.06,
      {
        'wait.any': 0.96,
        'vmem.latency': 12_400,
        'vmem.lines': 22,
        'l1.hit': 0,
        'l2.hit': 0.83,
        'share.atomic': 0.003,
        'atomics.per-cycle': 0.054,
      },
      0.11,
    ],
    [
      'as few that a line takes in a fiftieth of the time',
      'memory-latency',
      0.06,
      {
        'wait.any': 0.96,
        'vmem.latency': 12_400,
        'vmem.lines': 22,
        'l1.hit': 0,
        'l2.hit': 0.83,
        'share.atomic': 0.003,
        'atomics.per-cycle': 0.001,
      },
      0.5,
    ],
    ['code beyond the instruction cache', 'instruction-fetch', 0.01, { 'icache.miss': 0.4, 'wait.any': 0.3 }, 0.8],
    ['scalar loop', 'scalar', 0.01, { 'share.salu': 0.9, 'issue.salu': 0.8, 'wait.any': 0.1 }, 0.8],
  ] as const)('%s is %s', (_, expected, hbm, values, occupancy) => {
    const metrics = Object.entries({ ...quiet, ...values }).map(([id, amount]) => withMetric(id, amount));
    const roofline = { ...rooflineWith(hbm, known(1 - hbm)), computeOfPeak: known(0.05), integerOfPeak: known(0) };
    const { classes } = classify(input({ metrics, roofline, occupancy: known(occupancy) }));
    expect(classes[0]?.class).toBe(expected);
  });

  describe('bandwidth, latency and few waves by what each would save', () => {
    const waiting = {
      ...quiet,
      waves: 1000,
      'insts.vmem': 8000,
      'cycles.per-wave': 20_000,
      'wait.any': 0.9,
      'l1.hit': 0,
      'l2.hit': 0,
      'vmem.lines': 1,
    };
    const first = (values: Readonly<Record<string, number>>, hbm: number, occupancy: number) => {
      const metrics = Object.entries({ ...waiting, ...values }).map(([id, n]) => withMetric(id, n));
      const roofline = { ...rooflineWith(hbm, known(1 - hbm)), computeOfPeak: known(0) };
      return classify(input({ metrics, roofline, occupancy: known(occupancy) })).classes;
    };

    test('requests that take as long as of an idle memory, all slots in use: latency', () => {
      const classes = first({ 'vmem.latency': 900 }, 0.1, 0.9);
      expect(classes.map((c) => c.class)).toEqual(['memory-latency']);
    });

    test('the same with requests that take four times as long: bandwidth', () => {
      expect(first({ 'vmem.latency': 3600, 'cycles.per-wave': 40_000 }, 0.3, 0.9)[0]?.class).toBe('memory-bandwidth');
    });

    test('no one is sure where a counter of the estimate is missing, and the page says which', () => {
      const [sure] = first({ 'vmem.latency': 900 }, 0.1, 0.9);
      const metrics = Object.entries({ ...waiting, 'vmem.latency': 900 })
        .filter(([id]) => id !== 'cycles.per-wave')
        .map(([id, n]) => withMetric(id, n));
      const roofline = { ...rooflineWith(0.1, known(0.9)), computeOfPeak: known(0) };
      const [latency] = classify(input({ metrics, roofline, occupancy: known(0.9) })).classes;
      expect(latency?.class).toBe('memory-latency');
      expect(latency?.confidence).toBeLessThan(Math.min(0.75, sure?.confidence ?? 0));
      const open = latency?.refutedBy.filter((r) => r.value === null).map((r) => r.formula);
      expect(open?.some((formula) => formula.includes('SQ_WAVE_CYCLES'))).toBe(true);
    });

    test('what is counted while there are no waves is not theirs: a copy that fills the memory while it runs', () => {
      const values = { 'vmem.latency': 1700, 'vmem.lines': 16, 'l1.hit': 0.5, 'l2.hit': 0.35 };
      expect(first({ ...values, 'sq.busy': 0.64 }, 0.48, 0.55)[0]?.class).toBe('memory-bandwidth');
    });
  });

  test('LDS that lets one wave in goes before the latency that more waves would hide', () => {
    const metrics = Object.entries({ ...quiet, 'wait.any': 0.95, 'vmem.latency': 900, 'lds.conflicts': 0 }).map(
      ([id, n]) => withMetric(id, n),
    );
    const roofline = { ...rooflineWith(0.2, known(0.8)), computeOfPeak: known(0) };
    const classesAt = (occupancy: number, fits: number) =>
      classify(input({ metrics, roofline, occupancy: known(occupancy), fits: known(fits) })).classes.map(
        (c) => c.class,
      );
    expect(classesAt(0.12, 0.125)).toEqual(['under-occupied', 'memory-latency']);
    expect(classesAt(0.1, 1)[0]).toBe('memory-latency');
  });

  test('CUs without a workgroup go before the latency of the others', () => {
    const metrics = Object.entries({ ...quiet, 'wait.any': 0.93, 'vmem.latency': 840 }).map(([id, n]) =>
      withMetric(id, n),
    );
    const roofline = { ...rooflineWith(0.04, known(0.96)), computeOfPeak: known(0) };
    const first = (groupsPerCu: number, wavesPerGroup: number) =>
      classify(
        input({
          metrics,
          roofline,
          occupancy: known((groupsPerCu * wavesPerGroup) / 32),
          fits: known(1),
          groupsPerCu: known(groupsPerCu),
          wavesPerGroup: known(wavesPerGroup),
        }),
      ).classes[0]?.class;
    expect(first(20 / 304, 4)).toBe('under-occupied');
    expect(first(1, 4)).toBe('memory-latency');
  });

  test('waves that last longer than the others leave CUs empty', () => {
    const metrics = Object.entries({ ...quiet, 'issue.valu': 0.4, 'wait.any': 0.2 }).map(([id, n]) =>
      withMetric(id, n),
    );
    const at = (occupancy: number) =>
      classify(
        input({
          metrics,
          occupancy: known(occupancy),
          fits: known(1),
          groupsPerCu: known(12),
          wavesPerGroup: known(4),
        }),
      ).classes.map((c) => c.class);
    expect(at(0.35)).toEqual(['under-occupied']);
    expect(at(0.7)).toEqual([]);
  });

  test.each([
    ['of a short kernel are the first translations', 4000, 0.2, 'memory-latency'],
    ['of a short kernel with half of the bandwidth are queues', 4000, 0.55, 'memory-bandwidth'],
    ['of a long kernel are queues', 40_000, 0.2, 'memory-bandwidth'],
  ] as const)('latencies of 2.4 times those of an idle GPU %s', (_, ns, hbm, expected) => {
    const values = { ...quiet, 'wait.any': 0.9, 'vmem.latency': 2050, 'vmem.lines': 3, 'l1.hit': 0, 'l2.hit': 0 };
    const metrics = Object.entries(values).map(([id, n]) => withMetric(id, n));
    const roofline = { ...rooflineWith(hbm, known(1 - hbm)), computeOfPeak: known(0) };
    const { classes } = classify(input({ metrics, roofline, meanNs: known(ns), occupancy: known(0.6) }));
    expect(classes[0]?.class).toBe(expected);
  });

  /** Of a traced wave's time: waits behind vector loads, and behind LDS. */
  const traced = (memory: number, lds: number) => ({
    ...traceFeatures({ lines: [], waves: [], occupancy: [] } as unknown as Parameters<typeof traceFeatures>[0]),
    latency: 100,
    waits: { memory: 100 * memory, lds: 100 * lds, scalar: 0, atomics: 0 },
    classes: [
      { class: 'wait', lines: 1, hits: 1, latency: 100 * (memory + lds), stall: 100 * (memory + lds), idle: 0 },
    ] as const,
  });

  test('few waves that wait for LDS: what is worth more goes first', () => {
    const values = { ...quiet, 'wait.any': 0.6, 'lds.conflicts': 1.5, 'lds.busy': 0.35, 'issue.salu': 0 };
    const metrics = Object.entries(values).map(([id, n]) => withMetric(id, n));
    const roofline = { ...rooflineWith(0.1, known(0.9)), computeOfPeak: known(0) };
    const first = (lds: number) =>
      classify(input({ metrics, roofline, occupancy: known(0.2), trace: traced(0.1, lds) })).classes[0]?.class;
    expect(first(0.3)).toBe('under-occupied');
    expect(first(0.7)).toBe('lds');
  });

  test('a test that speaks for bandwidth does not bring more waves before LDS, which a test speaks for, too', () => {
    const values = {
      ...quiet,
      waves: 4096,
      'insts.vmem': 65_536,
      'cycles.per-wave': 18_900,
      'wait.any': 0.953,
      'wait.issue': 0.01,
      'issue.valu': 0.034,
      'issue.salu': 0,
      'l1.hit': 0,
      'l2.hit': 0,
      'l2.busy': 0.056,
      'vmem.latency': 2800,
      'vmem.lines': 3,
      'lds.busy': 0.53,
      'lds.conflicts': 6.5,
    };
    const metrics = Object.entries(values).map(([id, n]) => withMetric(id, n));
    const roofline = { ...rooflineWith(0.24, known(0.7)), computeOfPeak: known(0) };
    const launch = { occupancy: known(0.29), fits: known(0.5), groupsPerCu: known(3.37), wavesPerGroup: known(4) };
    const { classes } = classify(input({ metrics, roofline, ...launch, trace: traced(0.31, 0.55) }));
    expect(classes.map((c) => c.class).slice(0, 2)).toEqual(['lds', 'under-occupied']);
    expect(classes[0]?.confidence).toBeLessThanOrEqual(0.7);
  });

  test('bank conflicts that no wave waits for are no limit', () => {
    const metrics = Object.entries({ ...quiet, 'lds.conflicts': 2.2, 'lds.busy': 0.4 }).map(([id, n]) =>
      withMetric(id, n),
    );
    const classesOf = (lds: number) => classify(input({ metrics, trace: traced(0, lds) })).classes.map((c) => c.class);
    expect(classesOf(0.02)).not.toContain('lds');
    expect(classesOf(0.2)).toContain('lds');
  });

  test('bank conflicts of an LDS of which nothing says how long it works are no certain limit', () => {
    const conflicts = withMetric('lds.conflicts', 3);
    const certainty = (metrics: readonly MetricSum[]) =>
      classify(input({ metrics })).classes.find((c) => c.class === 'lds')?.confidence ?? 0;
    expect(certainty([conflicts])).toBeLessThan(0.6);
    expect(certainty([conflicts, withMetric('lds.busy', 0.5)])).toBe(0.7);
  });

  test('workgroups that start as fast as dies can be given them', () => {
    const values = { ...quiet, 'wait.any': 0.9, 'vmem.latency': 900, 'dispatch.waves': 0.46 };
    const metrics = Object.entries(values).map(([id, n]) => withMetric(id, n));
    const roofline = { ...rooflineWith(0.2, known(0.8)), computeOfPeak: known(0) };
    const first = (xccs: number | undefined, occupancy = 0.6) =>
      classify(input({ metrics, roofline, wavesPerGroup: known(4), fits: known(1), xccs, occupancy: known(occupancy) }))
        .classes[0]?.class;
    expect(first(8)).toBe('launch');
    expect(first(undefined)).toBe('memory-latency');
    // Slots are full while waves are started: what is started waits for room.
    expect(first(8, 0.85)).not.toBe('launch');
  });

  test('a unit that works and that nobody waits for is no limit where more waves fit', () => {
    const first = (waits: number) => {
      const values = {
        ...quiet,
        'issue.valu': 0.72,
        'wait.any': 0.1,
        'wait.issue': waits,
        'insts.valu': 100,
        waves: 10,
        'cycles.per-wave': 180,
        'insts.vmem': 10,
        'vmem.latency': 900,
        'lanes.active': 64,
      };
      const metrics = Object.entries(values).map(([id, n]) => withMetric(id, n));
      const roofline = { ...rooflineWith(0.05, known(0.9)), computeOfPeak: known(0.1) };
      return classify(input({ metrics, roofline, occupancy: known(0.12), fits: known(0.5) })).classes[0];
    };
    expect(first(0.7)?.class).toBe('compute');
    expect(first(0.02)?.class).toBe('under-occupied');
    // The tests say compute there, so nothing is sure.
    expect(first(0.02)?.confidence).toBeLessThanOrEqual(0.7);
  });

  test('waiting at full bandwidth is bandwidth, not latency', () => {
    const { classes } = classify(
      input({ metrics: [withMetric('wait.any', 0.95)], roofline: rooflineWith(0.85, known(0.15)) }),
    );
    expect(classes.map((c) => c.class)).toEqual(['memory-bandwidth']);
  });

  test('confidence stays within bounds, evidence passes its threshold, headroom stays below the roofline', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(share, share, share, share, fc.integer({ min: 1, max: 64 }), (wait, hbm, gap, occ, lanes) => {
        const headroom = 1 - hbm;
        const { classes } = classify(
          input({
            metrics: [withMetric('wait.any', wait), withMetric('lanes.active', lanes)],
            roofline: rooflineWith(hbm, known(headroom)),
            gapShare: known(gap),
            meanNs: known(5000),
            occupancy: known(occ),
          }),
        );
        for (const found of classes) {
          expect(found.confidence).toBeGreaterThanOrEqual(0.5 * 0.33);
          expect(found.confidence).toBeLessThanOrEqual(1);
          expect(found.evidence.length).toBeGreaterThan(0);
          for (const e of found.evidence) {
            expect(e.comparison === 'at least' ? e.value >= e.threshold : e.value <= e.threshold).toBe(true);
          }
          expect(value(found.headroom)).toBeGreaterThanOrEqual(0);
          expect(value(found.headroom)).toBeLessThanOrEqual(headroom);
        }
      }),
    );
  });
});

test('classes of instructions come from the tables', () => {
  const expected = {
    'v_mfma_f32_16x16x16_f16 v[0:3], v[0:1], v[2:3], v[0:3]': 'MFMA',
    'v_exp_f32_e32 v0, v1': 'transcendental',
    's_cbranch_scc1 3': 'branch',
    'buffer_load_dword v0, off, s[0:3], 0': 'VMEM',
    'scratch_load_dword v0, off, off': 'VMEM',
    'ds_read_b32 v0, v1': 'LDS',
    s_barrier: 'barrier',
    's_waitcnt vmcnt(0)': 'wait',
    's_load_dword s0, s[0:1], 0x0': 'SMEM',
    'flat_load_dword v0, v[0:1]': 'FLAT',
    s_endpgm: 'message',
    not_an_instruction: 'other',
  };
  for (const [text, name] of Object.entries(expected)) expect([text, classOf(text)]).toEqual([text, name]);
});
