// Workgroups that learn from each other by atomics that return values: compiled code finds what the interpreter finds, and leaves what it leaves.
import { expect, test } from 'vitest';
import { onAllEngines } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';

/** Bytes of what the steps touch; behind it, a dword of each work-item's own. */
const WINDOW = 8192;

/** By kind, the instruction, and whether it is for the device where its target has scopes. */
const KINDS = {
  fetch: 'global_atomic_add v8, v5, v6, s[4:5]',
  fetchNothing: 'global_atomic_add v8, v5, v7, s[4:5]',
  fetchWide: 'global_atomic_add_x2 v[8:9], v5, v[6:7], s[4:5]',
  subtract: 'global_atomic_sub v8, v5, v3, s[4:5]',
  swap: 'global_atomic_swap v8, v5, v6, s[4:5]',
  compare: 'global_atomic_cmpswap v8, v5, v[6:7], s[4:5]',
  compareWide: 'global_atomic_cmpswap_x2 v[8:9], v5, v[12:15], s[4:5]',
  or: 'global_atomic_or v8, v5, v6, s[4:5]',
  add: 'global_atomic_add v5, v6, s[4:5]',
  load: 'global_load_dword v8, v5, s[4:5]',
  loadPast: 'global_load_dword v8, v5, s[4:5]',
  loadWide: 'global_load_dwordx2 v[8:9], v5, s[4:5]',
  store: 'global_store_dword v5, v4, s[4:5]',
  storeSame: 'global_store_dword v5, v6, s[4:5]',
  storePast: 'global_store_dword v5, v6, s[4:5]',
} as const;
type Kind = keyof typeof KINDS | 'barrier' | 'invalidate' | 'writeBack' | 'lds';

interface Step {
  readonly kind: Kind;
  readonly factor: number;
  readonly more: number;
  /** Elements that there are. */
  readonly count: number;
  /** Who has the same elements: nobody, the workgroups, or all wavefronts, too. */
  readonly shared: 'none' | 'groups' | 'all';
  /** The only workgroup, and the only wavefront, that does it; all where there is no such one. */
  readonly group: number;
  readonly wave: number;
  readonly lanes: readonly [string, string];
  /** Operations that may be outstanding behind it; all where it does not wait. */
  readonly left: number | undefined;
}

/** v3: the lane; v4: the work-item in the grid; v10: in the workgroup; s6: the wavefront. */
const BEGIN = `v_and_b32_e32 v10, 0x3ff, v0
v_and_b32_e32 v3, 63, v10
v_lshrrev_b32_e32 v5, 6, v10
s_nop 0
v_readfirstlane_b32 s6, v5
v_lshl_add_u32 v4, s2, 7, v10
${[12, 13, 14, 15].map((n) => `v_mov_b32_e32 v${n}, 0`).join('\n')}
v_mov_b32_e32 v6, 1
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v11, 0`;

function textOf(
  { kind, factor, more, count, shared, group, wave, lanes, left }: Step,
  n: number,
  isNew: boolean,
): string {
  const wait = left === undefined ? '' : `s_waitcnt vmcnt(${left})`;
  if (kind === 'barrier') return `${wait}\ns_barrier`;
  if (kind === 'invalidate') return isNew ? 'buffer_inv sc1' : 'buffer_wbinvl1_vol';
  if (kind === 'writeBack') return isNew ? 'buffer_wbl2 sc1' : 's_nop 0';
  if (kind === 'lds') return 'v_lshlrev_b32_e32 v5, 2, v3\nds_add_rtn_u32 v8, v5, v7\ns_waitcnt lgkmcnt(0)';
  const isWide = /Wide/.test(kind);
  const isPast = kind === 'loadPast' || kind === 'storePast';
  const returns = /atomic\S* v\S+, v\S+, v/.test(KINDS[kind]);
  const policy = isPast ? (isNew ? ' sc1' : ' glc') : returns ? (isNew ? ' sc0' : ' glc') : '';
  const number = shared === 'all' ? 'v3' : shared === 'groups' ? 'v10' : 'v4';
  const guards = [
    group < 3 ? `s_cmp_lg_u32 s2, ${group}\ns_cbranch_scc1 .Lstep${n}` : '',
    wave < 2 ? `s_cmp_lg_u32 s6, ${wave}\ns_cbranch_scc1 .Lstep${n}` : '',
  ];
  return `${guards.join('\n')}
s_movk_i32 s8, ${count - 1}\ns_mov_b32 s9, ${factor}
s_mov_b32 exec_lo, ${lanes[0]}\ns_mov_b32 exec_hi, ${lanes[1]}
v_add_u32_e32 v5, ${more}, ${number}
v_mul_lo_u32 v5, v5, s9
v_and_b32_e32 v5, s8, v5
v_lshlrev_b32_e32 v5, ${isWide ? 3 : 2}, v5
${KINDS[kind]}${policy}
${/load/.test(kind) ? 's_waitcnt vmcnt(0)' : wait}
s_mov_b64 exec, -1
.Lstep${n}:\n${wait}`;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Kind>(
      ...([
        'fetch',
        'fetch',
        'fetch',
        'fetchNothing',
        'fetchWide',
        'subtract',
        'swap',
        'compare',
        'compareWide',
        'or',
      ] as const),
      ...(['add', 'load', 'load', 'loadPast', 'loadWide', 'store', 'store', 'storeSame', 'storePast'] as const),
      ...(['barrier', 'barrier', 'invalidate', 'writeBack', 'lds'] as const),
    ),
    factor: fc.constantFrom(1, 1, 3, 40503, 0),
    more: fc.constantFrom(0, 0, 1, 64),
    count: fc.constantFrom(1, 4, 64, 512, 512),
    shared: fc.constantFrom<Step['shared']>('none', 'groups', 'all'),
    group: fc.constantFrom(0, 1, 2, 3, 3, 3),
    wave: fc.constantFrom(0, 1, 2, 2, 2),
    lanes: fc.constantFrom<Step['lanes']>(
      ['-1', '-1'],
      ['-1', '-1'],
      ['0x0f0f0ff1', '0x70000001'],
      ['1', '0'],
      ['0', '1'],
    ),
    left: fc.constantFrom(0, 0, 0, 1, undefined),
  }),
  { minLength: 3, maxLength: 10 },
);

test('atomics that return values are found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  let clean = 0;
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom('gfx90a' as const, 'gfx942' as const),
      fc.boolean(),
      async (list, target, isWritten) => {
        const code = list.map((step, n) => textOf(step, n, target === 'gfx942')).join('\n');
        const text = `${BEGIN}\n${code}
v_lshlrev_b32_e32 v5, 2, v4
v_add_u32_e32 v5, ${WINDOW}, v5
s_waitcnt vmcnt(0)
global_store_dword v5, v11, s[4:5]`;
        const { compiled, interpreted, plain } = await onAllEngines(text, {
          target,
          descriptor: { next_free_vgpr: 16, accum_offset: 16 },
          grid: [3, 1, 1],
          block: [128, 1, 1],
          lds: 256,
          bufferBytes: 2 * WINDOW,
          input: isWritten ? [[0, Uint8Array.from({ length: WINDOW }, (_, i) => (i % 8 === 0 ? 1 : 0))]] : [],
        });
        const [rules, expected] = [compiled, interpreted].map(({ findings }) =>
          findings.map(({ rule, place }) => `${rule} ${place.pc}`).sort(),
        ) as [string[], string[]];
        expect(rules).toEqual(expected);
        expect(compiled.bytes).toEqual(plain);
        for (const rule of new Set(rules.map((one) => one.split(' ')[0] as string)))
          found.set(rule, (found.get(rule) ?? 0) + 1);
        if (rules.length === 0) clean++;
      },
    ),
    { numRuns: 120 },
  );
  for (const rule of ['races/global', 'races/unacquired', 'races/unreleased'])
    expect([rule, found.get(rule)]).toEqual([rule, expect.any(Number)]);
  expect(clean).toBeGreaterThan(10);
});
