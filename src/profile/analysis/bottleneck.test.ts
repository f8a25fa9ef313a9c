// Which class limits a kernel, from numbers that were made for it.
import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { METRICS } from '../arch/metrics.ts';
import { isKnown, known, type Measure, unknown } from '../measure.ts';
import { classify } from './bottleneck.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import type { MetricSum } from './metrics.ts';
import { ceilings, kernelRoofline } from './roofline.ts';
import { traceFeatures } from './trace-features.ts';

const value = (m: Measure): number | undefined => (isKnown(m) ? m.value : undefined);

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

  describe('waits that no counter explains, without a trace', () => {
    // Two waits in three are for nothing that is counted: 20 loads of 300 cycles and no LDS in 40,000 cycles.
    const waiting = {
      'wait.any': 0.8,
      waves: 1000,
      'insts.vmem': 20_000,
      'insts.smem': 2000,
      'insts.lds': 0,
      'lds.busy': 0,
      'vmem.latency': 300,
      'cycles.per-wave': 40_000,
      'issue.valu': 0.05,
      'icache.miss': 0.001,
      'icache.interval': 50_000,
    };
    const of = (change: Readonly<Record<string, number>>, rest: Partial<ClassifierInput> = {}) => {
      const metrics = Object.entries({ ...waiting, ...change }).map(([id, amount]) => withMetric(id, amount));
      const roofline = { ...rooflineWith(0.01, known(0.99)), computeOfPeak: known(0.05), integerOfPeak: known(0) };
      const found = classify(
        input({ metrics, roofline, occupancy: known(0.1), wavesPerGroup: known(8), launches: 1, ...rest }),
      );
      return found.classes.map((one) => one.class);
    };

    test('are at barriers, for workgroups of several waves', () => {
      expect(of({}).slice(0, 2)).toEqual(['barrier', 'under-occupied']);
    });

    test.each([
      ['a wave of its own waits at no barrier', {}, { wavesPerGroup: known(1) }],
      ['memory explains them', { 'vmem.latency': 1600 }, {}],
      ['scalar loads explain them', { 'insts.smem': 40_000 }, {}],
      ['LDS explains them', { 'insts.lds': 250_000 }, {}],
      ['LDS works, so that nothing says how long it is waited for', { 'lds.busy': 0.4, 'insts.lds': 1000 }, {}],
      ['code is missing all the time', { 'icache.interval': 300 }, {}],
      ['samples tell what waves wait for', {}, { sampledStalls: new Map([['WAITCNT', 0.9]]) }],
    ] as const)('not where %s', (_, change, rest) => {
      expect(of(change, rest)).not.toContain('barrier');
    });

    test('scalar loads that their cache has take little', () => {
      expect(of({ 'insts.smem': 40_000, 'dcache.hit': 1 })).toContain('barrier');
    });
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
