// Stores of some lanes in a row, at the places of their lanes or one behind the other, whole or a part of a structure, and of lanes of which one is elsewhere, by several wavefronts and
// workgroups, in memory of which the host has written some: compiled code finds what the interpreter finds, and leaves what it leaves.
import { expect, test } from 'vitest';
import { countedBytes, onAllEngines, placesOf } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
const BYTES = 16_384;

interface Step {
  readonly kind: 'load' | 'store' | 'atomic' | 'barrier';
  /** The active lanes, or none. */
  readonly low: number;
  readonly high: number;
  readonly isNone: boolean;
  readonly dwords: 1 | 2 | 3 | 4;
  /** Dwords from one element to the next. */
  readonly stride: number;
  /** Elements are one behind the other, whichever lanes are active. */
  readonly isPacked: boolean;
  /** Dwords before the first lane, and from wavefront to wavefront, and from workgroup to workgroup. */
  readonly first: number;
  readonly wave: number;
  readonly group: number;
  /** A lane whose dword is that many bytes further on; none is with 64. */
  readonly lane: number;
  readonly further: number;
  /** Addresses are in pairs of registers, else behind a scalar base. */
  readonly isWide: boolean;
}

/** No lane stores, where the second wavefront does then. */
const NONE: Step = {
  ...{ kind: 'store', low: 1, high: 0, isNone: true, dwords: 1, stride: 1, isPacked: false, isWide: false },
  ...{ first: 64, wave: 0, group: 0, lane: 64, further: 4 },
};
const ALL: Step = { ...NONE, low: 0xffffffff, high: 0xffffffff, isNone: false, first: 0, wave: 64 };

/** v3: the number of the lane, s9: of the wavefront; what is loaded goes into v12, which is stored in the end. */
const BEGIN = `v_mbcnt_lo_u32_b32 v3, -1, 0
v_mbcnt_hi_u32_b32 v3, -1, v3
v_and_b32_e32 v0, 0x3ff, v0
v_lshrrev_b32_e32 v1, 6, v0
s_nop 4
v_readfirstlane_b32 s9, v1
v_lshl_add_u32 v4, s2, 7, v0
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v20, v4
v_mov_b32_e32 v21, v4
v_mov_b32_e32 v22, 5
v_mov_b32_e32 v23, v3`;
const END = `v_lshlrev_b32_e32 v5, 2, v4
v_add_u32_e32 v5, ${BYTES}, v5
global_store_dword v5, v12, s[4:5]`;

function textOf(step: Step): string {
  const { kind, low, high, isNone, dwords, stride, isPacked, first, wave, group, lane, further, isWide } = step;
  if (kind === 'barrier') return 's_waitcnt vmcnt(0)\ns_barrier';
  const number = isPacked ? 'v_mbcnt_lo_u32_b32 v6, s12, 0\nv_mbcnt_hi_u32_b32 v6, s13, v6' : 'v_mov_b32_e32 v6, v3';
  // The registers of other lanes have something else.
  const address = isWide
    ? `v_mov_b32_e32 v8, 0
v_mov_b32_e32 v9, 0
s_mov_b64 exec, s[12:13]
v_mov_b32_e32 v9, s5
v_add_co_u32_e32 v8, vcc, s4, v6
v_addc_co_u32_e32 v9, vcc, 0, v9, vcc`
    : 'v_mov_b32_e32 v8, -1\nv_mov_b32_e32 v9, v6\ns_mov_b64 exec, s[12:13]\nv_mov_b32_e32 v8, v6';
  const place = isWide ? ['v[8:9]', 'off'] : ['v8', 's[4:5]'];
  const access = {
    load: `global_load_dword v7, ${place.join(', ')}\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v12, v7, v12`,
    store: `global_store_dword${dwords === 1 ? '' : `x${dwords}`} ${place[0]}, ${dwords === 1 ? 'v20' : `v[20:${19 + dwords}]`}, ${place[1]}\ns_waitcnt vmcnt(0)`,
    atomic: `global_atomic_add ${place[0]}, v4, ${place[1]}\ns_waitcnt vmcnt(0)`,
  }[kind];
  return `s_mov_b32 s12, ${isNone ? 0 : low | 0}
s_mov_b32 s13, ${isNone ? 0 : high | 0}
${number}
v_mul_u32_u24_e32 v6, ${stride}, v6
s_mul_i32 s10, s9, ${wave}
s_mul_i32 s11, s2, ${group}
s_add_i32 s10, s10, s11
s_add_i32 s10, s10, ${first}
v_add_lshl_u32 v6, v6, s10, 2
v_cmp_eq_u32_e32 vcc, ${lane}, v3
v_mov_b32_e32 v7, ${further}
v_cndmask_b32_e32 v7, 0, v7, vcc
v_add_u32_e32 v6, v6, v7
v_and_b32_e32 v6, ${BYTES - 1}, v6
${address}
${access}
s_mov_b64 exec, -1`;
}

const mask = fc.oneof(
  fc.nat(0xffffffff),
  fc.constantFrom(0, 1, 3, 0xf, 0xf0, 0xff00ff, 0xffff, 0x55555555, 0x80000000, 0xffffffff),
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('store', 'store', 'store', 'store', 'load', 'atomic', 'barrier'),
    low: mask,
    high: mask,
    isNone: fc.constantFrom(false, false, false, false, false, false, false, true),
    dwords: fc.constantFrom<Step['dwords']>(1, 1, 1, 2, 3, 4),
    stride: fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 4, 5, 17),
    isPacked: fc.boolean(),
    first: fc.constantFrom(0, 0, 3, 5, 16, 40, 1000, 1024, 1030),
    wave: fc.constantFrom(0, 32, 64, 64, 256, 1100, 1100, 1100, 1100),
    group: fc.constantFrom(0, 128, 512, 2200, 2200, 2200, 2200),
    lane: fc.oneof({ weight: 3, arbitrary: fc.constant(64) }, fc.nat(63)),
    further: fc.constantFrom(4, 8, 256, 4096, 2, 1),
    isWide: fc.boolean(),
  }),
  { minLength: 2, maxLength: 7 },
);

test('stores of some lanes in a row are found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TARGETS),
      fc.constantFrom(1, 2),
      steps,
      fc.constantFrom([0, 2 * BYTES], [0, 2 * BYTES], [0, 900], [2000, 12_000]),
      async (target, groups, all, [from = 0, size = 0]) => {
        const text = `${BEGIN}\n${all.map(textOf).join('\n')}\n${END}`;
        const { compiled, interpreted, plain } = await onAllEngines(text, {
          target,
          descriptor: { next_free_vgpr: 24, accum_offset: 24 },
          grid: [groups, 1, 1],
          block: [128, 1, 1],
          bufferBytes: 2 * BYTES,
          input: [[from, countedBytes(Math.min(size, 2 * BYTES - from))]],
        });
        const rules = placesOf(compiled);
        expect(compiled.bytes).toEqual(plain);
        expect(rules).toEqual(placesOf(interpreted));
        if (rules.length === 0) right++;
        for (const rule of new Set(rules.map((one) => one.split(' ')[0] as string)))
          found.set(rule, (found.get(rule) ?? 0) + 1);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 120), examples: [['gfx942', 1, [NONE, ALL], [0, 2 * BYTES]]] },
  );
  expect(right).toBeGreaterThan(8);
  expect([...found.keys()]).toEqual(expect.arrayContaining(['memory/uninitialised', 'races/global']));
});
