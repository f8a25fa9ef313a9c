import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sharedPath } from '../../../tests/support/shared.ts';
import { compile, namesOf, parseExpression } from '../arch/expression.ts';
import { counterPasses, METRICS } from '../arch/metrics.ts';
import { isKnown, type Measure, unknown } from '../measure.ts';
import { Recording } from '../recording.ts';
import { classOf } from './instruction-class.ts';
import { MetricTable } from './metrics.ts';
import { fitting, kernelOccupancy, launchedGroups } from './occupancy.ts';
import { ceilings, kernelRoofline } from './roofline.ts';

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
    // Workload folders have the products of the sizes.
    const products = launchedGroups({ ...alone, workgroup: [256, -1, -1], grid: [1048576, -1, -1] }, 104);
    expect(products).toEqual({ groupsPerCu: { value: 4096 / 104 }, wavesPerGroup: { value: 4 } });
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
