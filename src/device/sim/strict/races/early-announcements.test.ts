// gfx90a: a store that others wait for in a loop, while stores before it are outstanding: who then reads what these have stored past its caches may find older
// bytes. Nothing is said of who waits for the data itself, has not waited for the flag, or has been told by something else that the data is there.
import { describe, expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { earlyOf, earlyPlace, pcOf } from './race-events.ts';

/** Bytes of the buffer: the data, the flag beside the second piece of it or far away, and a flag that comes later. */
const [DATA, LATER] = [[0, 64] as const, 2048];

/** v10 is 0, v3 is 7. */
const store = (offset: number): string => `global_store_dword v10, v3, s[4:5] offset:${offset}`;
const load = (offset: number): string => `global_load_dword v4, v10, s[4:5] offset:${offset} glc\ns_waitcnt vmcnt(0)`;
const poll = (label: string, offset: number): string => `${label}:
s_sleep 1
${load(offset)}
v_cmp_eq_u32_e32 vcc, 0, v4
s_cbranch_vccnz ${label}`;

/** How the reader comes to the data: by the flag; by that and a later one, of the same workgroup or of one that has waited for it; by the flag, waiting for the data, too; or it looks at the flag once. */
const WAYS = ['flag', 'later flag', 'passed on', 'data', 'no wait'] as const;

interface Scene {
  readonly flag: number;
  /** Of the two stores of data, so many are outstanding at the flag. */
  readonly outstanding: 0 | 1 | 2;
  readonly reads: 0 | 1;
  readonly way: (typeof WAYS)[number];
}

function code({ flag, outstanding, reads, way }: Scene): string {
  const data = DATA[reads] as number;
  const wait = 's_waitcnt vmcnt(0)';
  const producer = [
    ...DATA.map(store),
    `s_waitcnt vmcnt(${outstanding})`,
    store(flag),
    ...(way === 'flag' ? [] : [wait, store(LATER)]),
  ];
  const between = way === 'flag' ? [] : [poll('told', LATER), wait, store(LATER + 512)];
  const reader = {
    flag: [poll('wait', flag), load(data)],
    'later flag': [poll('wait', flag), poll('later', LATER), load(data)],
    'passed on': [poll('wait', flag), poll('later', LATER + 512), load(data)],
    data: [poll('wait', flag), poll('later', data)],
    'no wait': [load(flag), load(data)],
  }[way];
  return [
    'v_mov_b32_e32 v10, 0',
    'v_mov_b32_e32 v3, 7',
    's_mov_b64 exec, 1',
    's_cmp_eq_u32 s2, 0',
    's_cbranch_scc0 others',
    ...producer,
    's_endpgm',
    'others:',
    's_cmp_eq_u32 s2, 1',
    's_cbranch_scc0 reader',
    ...between,
    's_endpgm',
    'reader:',
    ...reader,
    ...(way === 'no wait' ? [poll('end', LATER)] : []),
  ].join('\n');
}

const SCENES = [DATA[1] + 4, 1024].flatMap((flag) =>
  ([0, 1, 2] as const).flatMap((outstanding) =>
    ([0, 1] as const).flatMap((reads) => WAYS.map((way): Scene => ({ flag, outstanding, reads, way }))),
  ),
);

describe('a flag of gfx90a that may come too early', () => {
  test.each(SCENES)('at $flag, outstanding: $outstanding, reads: $reads, by: $way', async (scene) => {
    const options = {
      target: 'gfx90a',
      grid: [3, 1, 1],
      block: [64, 1, 1],
      bufferBytes: 4096,
      isZeroed: true,
    } as const;
    const text = code(scene);
    const compiled = await strictFindings(text, { ...options, engine: 'compiled' });
    const interpreted = await strictFindings(text, { ...options, engine: 'interpreter' });
    expect(compiled).toEqual(interpreted);
    const isOutstanding = scene.reads >= DATA.length - scene.outstanding;
    expect(compiled.map(({ rule }) => rule)).toEqual(scene.way === 'flag' && isOutstanding ? ['races/unreleased'] : []);
  });
});

/** The first workgroup stores pieces of data and flags, one each, and waits; the other one waits for flags, and reads data. */
const SLOTS = 6;
const dataAt = (slot: number): number => 256 * slot;
const flagAt = (flag: number, isNear: boolean): number => (isNear ? dataAt(flag) + 8 : 2048 + 64 * flag);
const told = fc.record({
  isNear: fc.boolean(),
  isWide: fc.boolean(),
  areFlagsWide: fc.boolean(),
  steps: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('data' as const), n: fc.nat(SLOTS - 1) }),
      fc.record({ kind: fc.constant('flag' as const), n: fc.nat(SLOTS - 1) }),
      fc.record({ kind: fc.constant('wait' as const), n: fc.constantFrom(0, 0, 1, 2, 3) }),
    ),
    { minLength: 4, maxLength: 14 },
  ),
  reads: fc.array(fc.record({ kind: fc.constantFrom('data' as const, 'flag' as const), n: fc.nat(SLOTS - 1) }), {
    minLength: 2,
    maxLength: 8,
  }),
});
type Step = { readonly kind: 'data' | 'flag' | 'wait'; readonly n: number };

/** Each piece and each flag only once; of flags those that are stored. */
function once<T extends Step>(steps: readonly T[], mayBe: (step: T) => boolean = () => true): T[] {
  const isFirst = (step: T, at: number): boolean =>
    step.kind === 'wait' || steps.findIndex(({ kind, n }) => kind === step.kind && n === step.n) === at;
  return steps.filter((step, at) => isFirst(step, at) && mayBe(step));
}

/** A store, those of its wavefront before it, and of these the complete ones. */
interface Stored {
  readonly issued: number;
  readonly complete: number;
}

/**
 * The pieces of data that are read because of a flag that came too early for them, and of nothing that did not: of other flags, and of data before which all stores were
 * complete.
 */
function expectedOf(steps: readonly Step[], reads: readonly Step[]): number[] {
  const stores = { data: new Map<number, Stored>(), flag: new Map<number, Stored>() };
  let [issued, complete] = [0, 0];
  for (const { kind, n } of steps) {
    if (kind === 'wait') complete = Math.max(complete, issued - n);
    else stores[kind].set(n, { issued: issued++, complete });
  }
  const storeOf = ({ kind, n }: Step): Stored | undefined => (kind === 'wait' ? undefined : stores[kind].get(n));
  const found: number[] = [];
  reads.forEach((read, at) => {
    const store = storeOf(read)?.issued;
    if (read.kind !== 'data' || store === undefined) return;
    const isTold = (one: Step): boolean => {
      const by = storeOf(one);
      return by !== undefined && store < by.complete && (one.kind === 'flag' || by.complete === by.issued);
    };
    const isEarly = (one: Step): boolean => one.kind === 'flag' && store < (storeOf(one)?.issued ?? 0);
    const before = reads.slice(0, at);
    if (before.some(isEarly) && !before.some(isTold)) found.push(dataAt(read.n));
  });
  return found.sort((a, b) => a - b);
}

test('what is found is what was outstanding', async () => {
  let [finds, silent] = [0, 0];
  await fc.assert(
    fc.asyncProperty(told, async ({ isNear, isWide, areFlagsWide, steps: all, reads: wanted }) => {
      const steps = once(all);
      const isStored = ({ n }: Step): boolean => steps.some((step) => step.kind === 'flag' && step.n === n);
      const reads = once(wanted, (read) => read.kind === 'data' || isStored(read));
      const lines = [
        'v_mov_b32_e32 v10, 0',
        'v_mov_b32_e32 v3, 7',
        'v_lshlrev_b32_e32 v11, 12, v0',
        's_mov_b64 exec, 1',
      ];
      lines.push('s_cmp_eq_u32 s2, 0', 's_cbranch_scc0 reader');
      // Two lanes, far away from each other.
      const stored = (offset: number, isWide: boolean): string =>
        isWide
          ? `s_mov_b64 exec, 3\nglobal_store_dword v11, v3, s[4:5] offset:${offset}\ns_mov_b64 exec, 1`
          : store(offset);
      for (const { kind, n } of steps) {
        if (kind === 'wait') lines.push(`s_waitcnt vmcnt(${n})`);
        if (kind === 'flag') lines.push(stored(flagAt(n, isNear), areFlagsWide));
        if (kind === 'data') lines.push(stored(dataAt(n), isWide));
      }
      lines.push('s_endpgm', 'reader:');
      for (const { kind, n } of reads)
        lines.push(kind === 'flag' ? poll(`wait${n}`, flagAt(n, isNear)) : load(dataAt(n)));
      const text = lines.join('\n');
      const options = {
        target: 'gfx90a',
        grid: [2, 1, 1],
        block: [64, 1, 1],
        bufferBytes: 8192,
        isZeroed: true,
      } as const;
      const compiled = await strictFindings(text, { ...options, engine: 'compiled' });
      expect(compiled).toEqual(await strictFindings(text, { ...options, engine: 'interpreter' }));
      const places = compiled.map(({ rule, place }) => {
        expect(rule).toBe('races/unreleased');
        return Number(/ offset:(\d+) glc/.exec(place.instruction ?? '')?.[1] ?? 0);
      });
      expect(
        places.sort((a, b) => a - b),
        text,
      ).toEqual(expectedOf(steps, reads));
      if (places.length > 0) finds++;
      else silent++;
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 100) },
  );
  expect(finds).toBeGreaterThan(0);
  expect(silent).toBeGreaterThan(0);
});

test('a place says how many stores were outstanding, and no more than can be', () => {
  expect([pcOf(0x1234), earlyOf(0x1234)]).toEqual([0x1234, 0]);
  expect([pcOf(0x1235), earlyOf(0x1235)]).toEqual([0x1234, 0]);
  for (const early of [1, 31, 32, 63]) {
    const place = earlyPlace(0x3fffffc, early);
    expect([pcOf(place), earlyOf(place)]).toEqual([0x3fffffc, early]);
  }
  expect(earlyOf(earlyPlace(64, 70))).toBe(63);
});
