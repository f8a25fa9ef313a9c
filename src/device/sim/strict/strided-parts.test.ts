// Elements of parts of dwords, and dwords that are not aligned, the same distance apart, as members of packed structures and the colours of pixels are: wavefronts and
// workgroups have parts of one dword. Compiled code finds what the interpreter finds, and leaves what is left without checks.
import { expect, test } from 'vitest';
import { countedBytes, onAllEngines } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';
import { resolvedSteps } from '../../../../tests/support/steps.ts';
import { WAVE_AND_LANE } from '../../../../tests/support/strict.ts';

const BYTES = 65_536;
/** What is loaded comes to be behind it, a dword for each work-item. */
const SUMS = BYTES - 2048;

interface Step {
  readonly kind: 'load' | 'store' | 'high' | 'barrier';
  readonly bytes: 1 | 2 | 4 | 8;
  /** In bytes: from lane to lane, of the first lane, and what a further wavefront and workgroup add to where the last lane ends. */
  readonly stride: number;
  readonly first: number;
  readonly wave: number;
  readonly group: number;
  /** All wavefronts have the same elements. */
  readonly isShared: boolean;
  /** Without the first lane, and one in the middle. */
  readonly isMasked: boolean;
  /** Loads so often that the log of reads becomes long. */
  readonly isLong: boolean;
  /** The elements are those of the step before. */
  readonly isAgain: boolean;
}

const LOADS = { 1: 'ubyte v8', 2: 'ushort v8', 4: 'dword v8', 8: 'dwordx2 v[8:9]' } as const;
const STORES = { 1: 'byte', 2: 'short', 4: 'dword', 8: 'dword' } as const;

const END = `v_lshl_add_u32 v5, s2, 7, v0
v_lshlrev_b32_e32 v5, 2, v5
v_add_u32_e32 v5, ${SUMS}, v5
global_store_dword v5, v6, s[4:5]`;

function textOf({ kind, bytes, stride, first, wave, group, isShared, isMasked, isLong }: Step, n: number): string {
  const label = `again${n}`;
  if (kind === 'barrier') return 's_waitcnt vmcnt(0)\ns_barrier';
  const place = `s_mul_i32 s10, s9, ${isShared ? 0 : 64 * stride + wave}
s_mul_i32 s11, s2, ${isShared ? 0 : 2 * (64 * stride + wave) + group}
s_add_i32 s10, s10, s11
s_add_i32 s10, s10, ${first}
v_mul_u32_u24_e32 v5, ${stride}, v3
v_add_u32_e32 v5, s10, v5
v_add_u32_e32 v10, ${77 + 13 * n}, v6`;
  // The engines look at the dwords of wider stores in another order.
  const store = kind === 'high' && bytes < 4 ? `${STORES[bytes]}_d16_hi` : STORES[bytes];
  const access =
    kind === 'load'
      ? `global_load_${LOADS[bytes]}, v5, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v6, v8, v6`
      : `global_store_${store} v5, v10, s[4:5]\ns_waitcnt vmcnt(0)`;
  const all = isMasked ? `s_mov_b64 exec, 0xfffe\n${access}\ns_mov_b64 exec, -1` : access;
  if (kind !== 'load' || !isLong) return `${place}\n${all}`;
  return `${place}\ns_movk_i32 s12, 40\n${label}:\n${all}\ns_sub_i32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 ${label}`;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('load', 'load', 'store', 'store', 'store', 'high', 'barrier'),
    bytes: fc.constantFrom<Step['bytes']>(1, 1, 2, 2, 2, 4, 8),
    stride: fc.constantFrom(0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 10, 12, 16, 20, 21, 34, 62),
    first: fc.oneof(
      fc.integer({ min: 12, max: 24 }),
      fc.integer({ min: 12, max: 24 }),
      fc.constantFrom(2000, 4090, 4091, 4095),
    ),
    // Mostly what follows.
    wave: fc.constantFrom(0, 0, 0, 1, 2, 4, 40, -1, -2),
    group: fc.constantFrom(0, 0, 0, 1, 2, 64, -1, -3),
    isShared: fc.constantFrom(false, false, false, false, false, true),
    isMasked: fc.constantFrom(false, false, false, false, true),
    isLong: fc.constantFrom(false, false, false, true),
    isAgain: fc.boolean(),
  }),
  { minLength: 2, maxLength: 7 },
);

/** Two wavefronts, or workgroups, use elements in turn; each has others elsewhere meanwhile. */
const turns = fc
  .record({
    stride: fc.constantFrom(1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 10, 21),
    /** The first byte. */
    begin: fc.constantFrom(5000, 5000, 8100, 8150, 8191),
    byGroup: fc.boolean(),
    isLong: fc.constantFrom(false, false, false, true),
    all: fc.array(
      fc.record({
        kind: fc.constantFrom<Step['kind']>('load', 'load', 'store', 'store', 'store', 'barrier'),
        bytes: fc.constantFrom<Step['bytes']>(1, 1, 1, 2, 2, 4),
        isOther: fc.boolean(),
        more: fc.oneof(fc.nat(1), fc.nat(5)),
        /** Lanes further on: all are where those of the others are, or the first ones are where their last ones are. */
        lanes: fc.oneof(fc.constant(0), fc.integer({ min: 59, max: 64 }), fc.integer({ min: -64, max: -59 })),
      }),
      { minLength: 2, maxLength: 5 },
    ),
  })
  .map(({ stride, begin, byGroup, isLong, all }): readonly Step[] =>
    all.map(({ kind, bytes, isOther, more, lanes }) => {
      const plain = { kind, bytes, stride, isShared: false, isMasked: false, isLong, isAgain: false };
      const place = begin + more + stride * lanes;
      const size = 64 * stride;
      const far = 2000;
      if (!isOther) return { ...plain, first: place, wave: 6000, group: 0 };
      return byGroup
        ? { ...plain, first: far, wave: 0, group: place - far - 2 * size }
        : { ...plain, first: far, wave: place - far - size, group: 0 };
    }),
  );

/** A dword of each page, by which pages have records by dword from the start. */
const SPREAD: Step = {
  ...{ kind: 'store', bytes: 1, stride: 128, first: 0, wave: 0, group: 0 },
  ...{ isShared: false, isMasked: false, isLong: false, isAgain: false },
};
const BARRIER: Step = { ...SPREAD, kind: 'barrier' };

/** The last element that is loaded goes on in the next page. */
const INTO_PAGE: Step = { ...SPREAD, kind: 'load', bytes: 2, stride: 3, first: 4095 - 63 * 3, wave: 6000 };
const LONG: Step = { ...INTO_PAGE, isLong: true };
/** Another wavefront stores there. */
const IN_PAGE: Step = { ...SPREAD, bytes: 1, stride: 3, first: 9000, wave: 4096 - 9000 - 64 * 3, group: 15_000 };
/** Of two dwords that elements are in, all have read the first. */
const HALF_READ: readonly Step[] = [
  LONG,
  { ...SPREAD, kind: 'load', bytes: 4, stride: 8, first: 16, isShared: true, isLong: true },
  { ...SPREAD, kind: 'load', bytes: 4, stride: 8, first: 18, isShared: true, isLong: true },
  { ...SPREAD, bytes: 1, stride: 8, first: 12_000, wave: 100, group: 20 - 12_000 - 2 * (64 * 8 + 100) },
];
/** One wavefront has stored other bytes of the dwords before a barrier, and loads them: they are not those of the other one, which has stored in between. */
const BESIDE = [
  { ...SPREAD, stride: 4, first: 2000, wave: 3000 - 4 * 64 },
  { ...SPREAD, stride: 4, first: 5000, wave: 6000 },
].map((one, n, both): readonly Step[] => {
  const other = both[1 - n] as Step;
  return [
    { ...SPREAD, stride: 64 },
    BARRIER,
    one,
    BARRIER,
    { ...other, first: other.first + 1 },
    { ...one, kind: 'load' },
  ];
});
/** Elements overlap: the last byte is stored to. */
const LAST_BYTE: readonly Step[] = [
  { ...SPREAD, kind: 'load', bytes: 4, stride: 2, first: 5000, wave: 6000 },
  { ...SPREAD, stride: 4, first: 2000, wave: 3000 - 4 * 64 + 63 * 2 + 3 },
];
/** Of the first dword that is touched of a page, two bytes that do not follow each other. */
const FIRST_DWORD: readonly Step[] = [
  { ...SPREAD, stride: 2, first: 5000, wave: 6000 },
  { ...SPREAD, stride: 4, first: 2000, wave: 3002 - 4 * (63 + 64) },
];
/** Elements go on in a page whose reads are not logged. */
const ACROSS: readonly Step[] = [
  { ...SPREAD, kind: 'load', stride: 3, first: 100, wave: 6000 },
  { ...SPREAD, stride: 3, first: 5000, wave: 6000 },
  { ...SPREAD, kind: 'load', stride: 3, first: 4000, wave: 6000 },
  { ...SPREAD, stride: 3, first: 9000, wave: 4099 - 9000 - 64 * 3 },
];
const EXAMPLES = [[INTO_PAGE, IN_PAGE], [LONG, IN_PAGE], HALF_READ, ...BESIDE, LAST_BYTE, FIRST_DWORD, ACROSS].map(
  (steps) => [{ target: 'gfx942' as const, groups: steps === HALF_READ ? 2 : 1, begin: [], steps, written: BYTES }],
) as never;

test('parts of dwords the same distance apart are found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom('gfx90a' as const, 'gfx942' as const),
        groups: fc.constantFrom(1, 2),
        begin: fc.constantFrom<readonly Step[]>([], [], [SPREAD, BARRIER]),
        steps: fc.oneof(steps, turns, turns),
        written: fc.constantFrom(0, 1000, 4097, 7000, BYTES, BYTES, BYTES),
      }),
      async ({ target, groups, begin, steps, written }) => {
        const lines = resolvedSteps([...begin, ...steps])
          .map(textOf)
          .join('\n');
        const { compiled, interpreted, plain } = await onAllEngines(`${WAVE_AND_LANE}\n${lines}\n${END}`, {
          target,
          descriptor: { next_free_vgpr: 16, accum_offset: 16 },
          grid: [groups, 1, 1],
          block: [128, 1, 1],
          bufferBytes: BYTES,
          input: [[0, countedBytes(written)]],
        });
        const [all, expected] = [compiled, interpreted].map(({ findings }) =>
          findings.map(({ rule, place, message }) => [rule, place.pc, message]),
        ) as [string[][], string[][]];
        expect(compiled.bytes).toEqual(plain);
        expect(all).toEqual(expected);
        if (all.length === 0) right++;
        for (const [rule] of all) found.set(rule as string, (found.get(rule as string) ?? 0) + 1);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 120), examples: EXAMPLES },
  );
  expect(right).toBeGreaterThan(10);
  expect([...found.keys()].sort()).toEqual(['memory/uninitialised', 'races/global', 'races/lanes']);
});
