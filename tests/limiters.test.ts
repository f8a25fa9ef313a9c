// Kernels whose limiter is known, classified from their simulated profile: the quickest of each kind; `npm run bench classify` has all.
import { describe, expect, test } from 'vitest';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { analyse, recordSimulated, type SimulatedProgram } from '../src/profile/index.ts';
import { CLASSIC_KERNELS } from './limiters/classics.ts';
import { classesOf, limiterRecording } from './limiters/classify.ts';
import { COMPILED_KERNELS, compiledObject } from './limiters/compiled.ts';
import { CRAFT_KERNELS } from './limiters/crafts.ts';
import { DOMAIN_KERNELS } from './limiters/domains.ts';
import { EVERYDAY_KERNELS } from './limiters/everyday.ts';
import { HELD_OUT_KERNELS } from './limiters/held-out.ts';
import { LIMITED_KERNELS } from './limiters/kernels.ts';
import { LESSON_KERNELS } from './limiters/lessons.ts';
import { LIBRARY_KERNELS } from './limiters/library.ts';
import { MIXED_KERNELS } from './limiters/mixed.ts';
import { PUBLIC_KERNELS } from './limiters/public.ts';
import { ROUTINE_KERNELS } from './limiters/routine.ts';
import { SUITE_KERNELS } from './limiters/suites.ts';
import { TRADE_KERNELS } from './limiters/trades.ts';
import { UNSEEN_KERNELS } from './limiters/unseen.ts';
import { WIDE_KERNELS } from './limiters/wide.ts';

const QUICK = [
  'copy-dwordx4',
  'fill',
  'chase-4',
  'lds-wide',
  'lanes-4',
  'integer',
  'mfma-i8',
  'crowded-one-wave-lds',
  'scalar-adds',
  'barrier-3',
  'tiny-4',
  'atomic-histogram',
  'polynomial',
  'one-lane-in-eight',
  'index-then-value',
  'mfma-4x4',
];
const COMPILED = compiledObject('compiled.c', 'gfx942');
const KERNELS = [...LIMITED_KERNELS, ...HELD_OUT_KERNELS];

describe.skipIf(COMPILED === undefined)('compiled kernels (needs clang-22)', () => {
  test.each(['next_step', 'relay'])('%s', async (name) => {
    const kernel = COMPILED_KERNELS.find((k) => k.name === name);
    expect(kernel).toBeDefined();
    if (kernel === undefined) return;
    const [first] = await classesOf(kernel, 'mi300x', COMPILED);
    expect(first?.class, kernel.because).toBe(kernel.limiter);
  });

  test.each([
    ['small_step', 'unseen.c', UNSEEN_KERNELS],
    ['chase_waves', 'wide.c', WIDE_KERNELS],
    ['deinterleave', 'mixed.c', MIXED_KERNELS],
    ['accumulate', 'library.c', LIBRARY_KERNELS],
    ['btree', 'routine.c', ROUTINE_KERNELS],
    ['even_bins', 'suites.c', SUITE_KERNELS],
    ['select_if', 'public.c', PUBLIC_KERNELS],
    ['heart_cells', 'classics.c', CLASSIC_KERNELS],
    ['series', 'lessons.c', LESSON_KERNELS],
    ['error_rows', 'domains.c', DOMAIN_KERNELS],
  ] as const)('%s of %s', async (name, source, kernels) => {
    const [kernel] = kernels.filter((k) => k.name === name);
    const [first] = await classesOf(kernel, 'mi300x', compiledObject(source, 'gfx942'));
    expect(first?.class, kernel.because).toBe(kernel.limiter);
  });
});

/** Counters that are collected together, and may be missing together. */
const GROUPS: Readonly<Record<string, RegExp>> = {
  traces: /^$/,
  memory: /^TCC_EA|^TCC_BUBBLE/,
  L2: /^TCC_(HIT|MISS|REQ)/,
  L1: /^TCP_/,
  waits: /^SQ_WAIT/,
  latency: /LEVEL_VMEM/,
  issue: /^SQ_ACTIVE/,
  'wave cycles': /^SQ_WAVE_CYCLES/,
  LDS: /^SQ_LDS|^SIM_LDS/,
  'instruction cache': /^SQC_/,
  'GPU cycles': /^GRBM/,
  instructions: /^SQ_INSTS|^SQ_WAVES/,
  lanes: /^SIM_VALU/,
  'all but SQ': /^(?!SQ_)/,
  'all but instructions': /^(?!SQ_WAVES|SQ_INSTS|GRBM)/,
};

/** The same run with fewer counters. */
function without(program: SimulatedProgram, pattern: RegExp): SimulatedProgram {
  const rest = <T>(counters: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(counters).filter(([name]) => !pattern.test(name)));
  const dispatches = program.dispatches.map((one) => ({
    ...one,
    counters: rest(one.counters),
    modelled: one.modelled && { ...one.modelled, counters: rest(one.modelled.counters) },
  }));
  return { ...program, dispatches };
}

describe.skipIf(COMPILED === undefined)('a class that cannot be known is not sure', () => {
  test.each([
    ['even_bins', SUITE_KERNELS, 'suites.c'],
    ['tree', SUITE_KERNELS, 'suites.c'],
    ['blocks_turned', SUITE_KERNELS, 'suites.c'],
    ['bfs_level', EVERYDAY_KERNELS, 'everyday.c'],
    ['bitonic_step', EVERYDAY_KERNELS, 'everyday.c'],
    ['cumsum_thread', EVERYDAY_KERNELS, 'everyday.c'],
    ['digit_ranks', PUBLIC_KERNELS, 'public.c'],
    ['julia', PUBLIC_KERNELS, 'public.c'],
    ['lud_diagonal', CLASSIC_KERNELS, 'classics.c'],
  ] as const)('%s, with a group of counters and the trace away', async (name, kernels, source) => {
    const [kernel] = kernels.filter((k) => k.name === name);
    expect(kernel).toBeDefined();
    if (kernel === undefined) return;
    const recorded = await limiterRecording(kernel, chipNamed('mi300x'), compiledObject(source, 'gfx942'));
    for (const [group, pattern] of Object.entries(GROUPS)) {
      const recording = recordSimulated(without(recorded, pattern));
      recording.traces.length = 0;
      const [first] = analyse(recording).kernels[0]?.bottleneck.classes ?? [];
      const isWrong = first !== undefined && first.class !== kernel.limiter;
      expect(isWrong ? first.confidence : 0, `${first?.class} without ${group}`).toBeLessThan(0.75);
    }
  });
});

describe.skipIf(COMPILED === undefined)('what one counter would have told is not sure, whatever a trace tells', () => {
  test.each([
    ['line_counters', CRAFT_KERNELS, 'crafts.c', /^TCP_TCC_READ_REQ/, 'under-occupied'],
    ['turned', CRAFT_KERNELS, 'crafts.c', /^TCC_BUBBLE/, 'lds'],
    ['interpreter', ROUTINE_KERNELS, 'routine.c', /^TCC_BUBBLE/, 'instruction-fetch'],
    ['plain_gemm', SUITE_KERNELS, 'suites.c', /^TCP_TCC_READ_REQ/, 'memory-latency'],
    ['julia', PUBLIC_KERNELS, 'public.c', /^SQ_ACTIVE_INST_SCA/, 'divergence'],
  ] as const)('%s', async (name, kernels, source, pattern, wrong) => {
    const [kernel] = kernels.filter((k) => k.name === name);
    expect(kernel).toBeDefined();
    if (kernel === undefined) return;
    const recorded = await limiterRecording(kernel, chipNamed('mi300x'), compiledObject(source, 'gfx942'));
    const [first] = analyse(recordSimulated(without(recorded, pattern))).kernels[0]?.bottleneck.classes ?? [];
    expect(first?.class).toBe(wrong);
    expect(first?.confidence).toBeLessThan(0.75);
  });
});

describe('few waves without a trace', () => {
  const classesWithout = async (name: string, pattern: RegExp) => {
    const [kernel] = LIMITED_KERNELS.filter((one) => one.name === name);
    const recording = recordSimulated(without(await limiterRecording(kernel, chipNamed('mi300x')), pattern));
    recording.traces.length = 0;
    return analyse(recording).kernels[0]?.bottleneck.classes ?? [];
  };

  test.each(['barrier-1', 'barrier-3', 'code-96k', 'code-256k'])(
    '%s: waits that nothing counted explains',
    async (name) => {
      const [kernel] = LIMITED_KERNELS.filter((one) => one.name === name);
      const [first, second] = await classesWithout(name, /^$/);
      expect(first?.class).toBe(kernel?.limiter);
      expect(first?.confidence).toBeLessThan(0.75);
      expect(second?.class ?? 'under-occupied').toBe('under-occupied');
    },
  );

  test.each([
    ['barrier-1', /^SQ_INSTS_SMEM/],
    ['code-96k', /^SQC_ICACHE_MISSES/],
    ['code-96k', /^SQ_INSTS_LDS/],
  ] as const)(
    '%s without %s: what hides behind few waves is not excluded, so these are not sure',
    async (name, pattern) => {
      const [first] = await classesWithout(name, pattern);
      expect(first?.class).toBe('under-occupied');
      expect(first?.confidence).toBeLessThan(0.75);
    },
  );

  test('crowded-one-wave-lds: registers and LDS keep waves out, and what they wait for is counted', async () => {
    const classes = await classesWithout('crowded-one-wave-lds', /^$/);
    expect(classes[0]?.class).toBe('under-occupied');
    expect(classes.map((one) => one.class)).not.toContain('barrier');
  });
});

describe.skipIf(COMPILED === undefined)('waits that are not for what is counted', () => {
  test('six_by_six misses code once a wave: what is worth more goes before that, and nothing is sure', async () => {
    const [kernel] = TRADE_KERNELS.filter(({ name }) => name === 'six_by_six');
    const classes = await classesOf(kernel, 'mi300x', compiledObject('trades.c', 'gfx942'));
    const at = classes.findIndex((one) => one.class === 'instruction-fetch');
    expect(at).toBeGreaterThan(0);
    expect(classes[0]?.confidence).toBeLessThan(0.75);
    expect(classes[at]?.refutedBy.length).toBeGreaterThan(0);
    // Its loads are on their way while it has no code: that time is a wait for memory, whose bandwidth is worth most.
    expect(classes.slice(0, 2).map((one) => one.class)).toContain('memory-bandwidth');
  });

  test('hoarder waits behind LDS instructions for memory: LDS that does nothing is no limit', async () => {
    const [kernel] = COMPILED_KERNELS.filter(({ name }) => name === 'hoarder');
    const classes = await classesOf(kernel, 'mi300x', COMPILED);
    expect(classes[0]?.class).toBe('under-occupied');
    expect(classes.map((one) => one.class)).not.toContain('lds');
  });

  test('maximum waits for the translation of its one page: that is no queue behind atomics', async () => {
    const [kernel] = LIBRARY_KERNELS.filter(({ name }) => name === 'maximum');
    const [first] = await classesOf(kernel, 'mi300x', compiledObject('library.c', 'gfx942'));
    // More waves are worth as much as latency.
    expect(['under-occupied', ...(kernel?.equals?.mi300x ?? [])]).toContain(first?.class);
    expect(first?.confidence).toBeLessThan(0.75);
  });

  test('csr_rows waits in the queue of one channel while memory works little on the whole', async () => {
    const [kernel] = ROUTINE_KERNELS.filter(({ name }) => name === 'csr_rows');
    const [first] = await classesOf(kernel, 'mi300x', compiledObject('routine.c', 'gfx942'));
    expect(first?.class).toBe('memory-bandwidth');
  });
});

/** Passes of a profiler: which counters each collects (-1 is all of them), and how long and how large its launches are. */
const PASSES = {
  'of one launch, each slower than the other': {
    times: [1, 1.3, 0.85],
    sizes: [1, 1, 1],
    passOf: (name: string) =>
      /^SQ_WAVES$|^SQ_WAVE_CYCLES|^GRBM/.test(name) ? -1 : /^TCC/.test(name) ? 0 : /^TCP/.test(name) ? 1 : 2,
  },
  'that share no counter': {
    times: [1, 1.25],
    sizes: [1, 1],
    passOf: (name: string) => (/^TC/.test(name) ? 0 : 1),
  },
  'of launches of other sizes': {
    times: [1, 3.6],
    sizes: [1, 4],
    passOf: (name: string) => (/^SQ_WAVES$|^GRBM/.test(name) ? -1 : /^TC/.test(name) ? 0 : 1),
  },
} as const;

/** The run with its dispatches once for every pass, and only that pass's counters in each. */
function multiplexed(program: SimulatedProgram, { times, sizes, passOf }: (typeof PASSES)[keyof typeof PASSES]) {
  let at = 0;
  const dispatches = times.flatMap((time, pass) =>
    program.dispatches.map((one) => {
      const by = sizes[pass] ?? 1;
      const keeps = (name: string): boolean => passOf(name) === -1 || passOf(name) === pass;
      const counters = Object.fromEntries(
        Object.entries(one.counters).flatMap(([name, counter]) =>
          keeps(name) ? [[name, 'value' in counter ? { value: counter.value * by } : counter] as const] : [],
        ),
      );
      const { modelled } = one;
      if (modelled === undefined) throw new Error('the run was not modelled');
      const startNs = at;
      at += (modelled.endNs - modelled.startNs) * time + 1000;
      const estimated = Object.entries(modelled.counters).flatMap(([name, count]) =>
        keeps(name) ? [[name, count * by] as const] : [],
      );
      const [x, y, z] = one.grid;
      return {
        ...one,
        dependencies: [],
        grid: [x * by, y, z] as const,
        wavefronts: one.wavefronts * by,
        counters,
        modelled: { ...modelled, startNs, endNs: at - 1000, counters: Object.fromEntries(estimated) },
      };
    }),
  );
  return { ...program, dispatches };
}

describe.skipIf(COMPILED === undefined)('passes with other counters', () => {
  test.each([
    ['copy_rows', SUITE_KERNELS, 'suites.c'],
    ['tree', SUITE_KERNELS, 'suites.c'],
    ['btree_range', CLASSIC_KERNELS, 'classics.c'],
    ['sobol', CLASSIC_KERNELS, 'classics.c'],
  ] as const)('%s is not sure and wrong', async (name, kernels, source) => {
    const [kernel] = kernels.filter((k) => k.name === name);
    expect(kernel).toBeDefined();
    if (kernel === undefined) return;
    const recorded = await limiterRecording(kernel, chipNamed('mi300x'), compiledObject(source, 'gfx942'));
    for (const [title, passes] of Object.entries(PASSES)) {
      const recording = recordSimulated(multiplexed(recorded, passes));
      recording.traces.length = 0;
      const [first] = analyse(recording).kernels[0]?.bottleneck.classes ?? [];
      const isWrong = first !== undefined && first.class !== kernel.limiter;
      expect(isWrong ? first.confidence : 0, `${first?.class}, passes ${title}`).toBeLessThan(0.75);
      if (title.startsWith('of one launch')) expect(first, title).toBeDefined();
    }
  });
});

describe('the limiter of a kernel that was written to have it', () => {
  test('there are sixty, five of each kind, matrix products and vector operations both compute', () => {
    expect(LIMITED_KERNELS).toHaveLength(60);
    expect(new Set(LIMITED_KERNELS.map((k) => k.name)).size).toBe(60);
  });

  test.each(QUICK)('%s', async (name) => {
    const kernel = KERNELS.find((k) => k.name === name);
    expect(kernel).toBeDefined();
    if (kernel === undefined) return;
    const [first] = await classesOf(kernel, 'mi300x');
    expect(first?.class, kernel.because).toBe(kernel.limiter);
  });
});
