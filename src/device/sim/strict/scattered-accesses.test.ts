// Elements of all sizes where values say, by several wavefronts and workgroups, in memory of which the host has written some: compiled code finds what the
// interpreter finds, and leaves what it leaves.
import { expect, test } from 'vitest';
import { countedBytes, onAllEngines, placesOf } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';
import { resolvedSteps } from '../../../../tests/support/steps.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
/** Bytes of what elements are spread over: some pages. */
const WINDOW = 16384;

/** By bytes of an element. */
const SUFFIX: Readonly<Record<number, readonly [load: string, store: string, registers: string]>> = {
  1: ['ubyte', 'byte', 'v8'],
  2: ['ushort', 'short', 'v8'],
  4: ['dword', 'dword', 'v8'],
  8: ['dwordx2', 'dwordx2', 'v[8:9]'],
  16: ['dwordx4', 'dwordx4', 'v[8:11]'],
};

interface Step {
  readonly kind: 'load' | 'store' | 'atomic' | 'barrier';
  readonly bytes: number;
  /** Makes of the number of the work-item, which is that of the element then, another one. */
  readonly factor: number;
  readonly more: number;
  /** The workgroup and the wavefront are left out of the number: all have the same elements. */
  readonly isShared: boolean;
  /** The elements are those of the step before. */
  readonly isAgain: boolean;
  /** Elements of several dwords begin a dword after each other. */
  readonly isClose: boolean;
}

/** v4: the number of the work-item in the grid; v3: that of the lane. */
const BEGIN = `v_mbcnt_lo_u32_b32 v3, -1, 0
v_mbcnt_hi_u32_b32 v3, -1, v3
v_and_b32_e32 v0, 0x3ff, v0
v_lshl_add_u32 v4, s2, 7, v0
v_mov_b32_e32 v12, 0`;
const END = `v_lshlrev_b32_e32 v5, 2, v4
v_add_u32_e32 v5, ${WINDOW}, v5
global_store_dword v5, v12, s[4:5]`;

function textOf({ kind, bytes, factor, more, isShared, isClose }: Step): string {
  if (kind === 'barrier') return 's_waitcnt vmcnt(0)\ns_barrier';
  const [load, store, registers] = SUFFIX[bytes] as (typeof SUFFIX)[number];
  const unit = isClose ? Math.min(4, bytes) : bytes;
  const place = `v_add_u32_e32 v5, ${more}, ${isShared ? 'v3' : 'v4'}
v_mul_lo_u32 v5, v5, s9
v_and_b32_e32 v5, s8, v5
v_lshlrev_b32_e32 v5, ${Math.log2(unit)}, v5`;
  const numbers = `s_movk_i32 s8, ${WINDOW / unit - 1}\ns_mov_b32 s9, ${factor}\n`;
  if (kind === 'atomic') {
    // Those of two dwords may lie on a dword: no atomic may.
    const [suffix, data] = bytes === 2 || bytes > 4 ? ['_x2', 'v[8:9]'] : ['', 'v8'];
    const registers = 'v_mov_b32_e32 v8, v4\nv_mov_b32_e32 v9, v4';
    return `${numbers}${place}\n${registers}\nv_and_b32_e32 v5, -4, v5\nglobal_atomic_add${suffix} v5, ${data}, s[4:5]\ns_waitcnt vmcnt(0)`;
  }
  if (kind === 'store') {
    const data = [8, 9, 10, 11].map((n) => `v_add_u32_e32 v${n}, ${5 * n}, v4`).join('\n');
    return `${numbers}${place}\n${data}\nglobal_store_${store} v5, ${registers}, s[4:5]\ns_waitcnt vmcnt(0)`;
  }
  // What is loaded goes into a sum that is stored.
  return `${numbers}${place}\nglobal_load_${load} ${registers}, v5, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v12, v8, v12`;
}

/** Dwords here and there. */
const SPREAD: Step = {
  ...{ kind: 'store', bytes: 4, factor: 40503, more: 0 },
  ...{ isShared: false, isAgain: false, isClose: false },
};
const BARRIER: Step = { ...SPREAD, kind: 'barrier' };

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('load', 'load', 'load', 'store', 'store', 'store', 'atomic', 'barrier'),
    bytes: fc.constantFrom(1, 1, 2, 4, 4, 8, 16),
    // Odd factors take no two numbers to one.
    factor: fc.constantFrom(1, 2, 3, 5, 77, 40503, 40503, 12, 512),
    more: fc.constantFrom(0, 0, 1, 256, 1000),
    isShared: fc.constantFrom(false, false, false, false, true),
    isAgain: fc.boolean(),
    isClose: fc.constantFrom(false, false, true),
  }),
  { minLength: 2, maxLength: 6 },
);

test('elements in no order are found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom(...TARGETS),
        groups: fc.constantFrom(1, 2),
        // Stores by which pages have records by dword from the start.
        begin: fc.constantFrom<readonly Step[]>([], [SPREAD, BARRIER], [SPREAD, BARRIER]),
        steps,
        written: fc.oneof(
          fc.constant([[0, 2 * WINDOW]]),
          fc.constant([[0, WINDOW + 100]]),
          // All but some bytes.
          fc.tuple(fc.nat(WINDOW), fc.integer({ min: 1, max: 64 })).map(([from, size]) => [
            [0, from],
            [from + size, 2 * WINDOW],
          ]),
          fc.array(fc.tuple(fc.nat(WINDOW), fc.nat(WINDOW)), { maxLength: 3 }),
        ),
      }),
      async ({ target, groups, begin, steps, written }) => {
        const spans: readonly (readonly number[])[] = written;
        const lines = resolvedSteps([...begin, ...steps])
          .map(textOf)
          .join('\n');
        const { compiled, interpreted, plain } = await onAllEngines(`${BEGIN}\n${lines}\n${END}`, {
          target,
          descriptor: { next_free_vgpr: 16, accum_offset: 16 },
          grid: [groups, 1, 1],
          block: [128, 1, 1],
          bufferBytes: 2 * WINDOW,
          input: spans.map(([from = 0, size = 0]) => [from, countedBytes(Math.min(size, 2 * WINDOW - from))]),
        });
        const rules = placesOf(compiled);
        expect(compiled.bytes).toEqual(plain);
        expect(rules).toEqual(placesOf(interpreted));
        for (const rule of new Set(rules.map((one) => one.split(' ')[0] as string)))
          found.set(rule, (found.get(rule) ?? 0) + 1);
      },
    ),
    { numRuns: 100 },
  );
  expect([...found.keys()].sort()).toEqual([
    'memory/misaligned',
    'memory/uninitialised',
    'races/global',
    'races/lanes',
  ]);
});
