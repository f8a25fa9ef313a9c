// What wavefronts tell others of their workgroup of their stores through LDS, and those other workgroups: compiled code finds what the interpreter finds.
import { expect, test } from 'vitest';
import { factsOf, onBothEngines } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';
import { WAVE_AND_LANE } from '../../../../../tests/support/strict.ts';
import type { TargetName } from '../../../../isa/types.ts';

const BUFFER_BYTES = 8192;
/** Where flags begin in the buffer. */
const FLAGS = 4096;
const LDS_BYTES = 1024;
const EVERYBODY = 16;

const WAVE = fc.constantFrom(EVERYBODY, 0, 0, 1, 1, 2);
const rest = {
  /** Which dword of data, of LDS, or which flag. */
  place: fc.constantFrom(0, 0, 0, 0, 1),
  /** Each work-item has a dword of its own from there on. */
  isSpread: fc.constantFrom(false, false, true),
  lanes: fc.constantFrom('1', '1', '1', '-1', '0xf0'),
  waits: fc.constantFrom(true, true, true, true, false),
  /** The only wavefront that executes it, or EVERYBODY. */
  wave: WAVE,
};
/** `groups`: the workgroups that execute it, a bit each. */
const groups = (...all: number[]) => fc.constantFrom(...all);
/** What the first workgroup tells the second one, and what they do by the way. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...rest, kind: fc.constant('store'), groups: groups(1, 1, 1, 3) }) },
  { weight: 4, arbitrary: fc.record({ ...rest, kind: fc.constant('load'), groups: groups(2, 2, 2, 3) }) },
  { weight: 3, arbitrary: fc.record({ ...rest, kind: fc.constant('release'), groups: groups(1, 1, 1, 3) }) },
  { weight: 3, arbitrary: fc.record({ ...rest, kind: fc.constant('acquire'), groups: groups(2, 2, 2, 3) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      ...rest,
      isSpread: fc.constant(false),
      kind: fc.constantFrom('fetch', 'fetch', 'fetch', 'fetch', 'add', 'write', 'read', 'poll'),
      groups: groups(1, 2, 3),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...rest,
      kind: fc.constantFrom('barrier', 'wait', 'wait', 'write back', 'write back', 'invalidate'),
      groups: groups(1, 2, 3),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** v5 has the address in LDS, v6 the offset in the buffer. */
function instructions(target: TargetName, { kind, waits, isSpread }: Step, n: number): readonly string[] {
  const isOld = target === 'gfx90a';
  const scope = isOld ? '' : ' sc1';
  const invalidate = isOld ? 'buffer_wbinvl1_vol' : 'buffer_inv sc1';
  const wait = waits ? ['s_waitcnt vmcnt(0)'] : [];
  const waitLds = waits ? ['s_waitcnt lgkmcnt(0)'] : [];
  switch (kind) {
    case 'store':
      return ['global_store_dword v6, v7, s[4:5]', ...wait];
    case 'load':
      return ['global_load_dword v20, v6, s[4:5]', ...wait];
    case 'wait':
      return ['s_waitcnt vmcnt(0) lgkmcnt(0)'];
    case 'write back':
      return [isOld ? 'buffer_wbl2' : 'buffer_wbl2 sc1', ...wait];
    case 'invalidate':
      return [invalidate];
    case 'fetch':
      return ['ds_add_rtn_u32 v21, v5, v7', ...waitLds];
    case 'add':
      return ['ds_add_u32 v5, v7', ...waitLds];
    case 'write':
      return ['ds_write_b32 v5, v7', ...waitLds];
    case 'read':
      return ['ds_read_b32 v21, v5', ...waitLds];
    case 'poll':
      return [
        's_mov_b32 s10, 0',
        `poll${n}:`,
        'ds_read_b32 v22, v5',
        's_waitcnt lgkmcnt(0)',
        'v_readfirstlane_b32 s11, v22',
        's_add_u32 s10, s10, 1',
        's_cmp_gt_u32 s10, 2',
        `s_cbranch_scc1 polled${n}`,
        's_cmp_eq_u32 s11, 0x7fffffff',
        `s_cbranch_scc0 poll${n}`,
        `polled${n}:`,
      ];
    case 'release':
      // By an atomic, or a store: on gfx90a one like any other.
      return [...wait, isSpread ? `global_store_dword v6, v7, s[4:5]${scope}` : 'global_atomic_add v6, v7, s[4:5]'];
    case 'acquire':
      return [
        isSpread
          ? `global_load_dword v23, v6, s[4:5] ${isOld ? 'glc' : 'sc1'}`
          : `global_atomic_add v23, v6, v7, s[4:5] ${isOld ? 'glc' : 'sc0'}`,
        's_waitcnt vmcnt(0)',
        ...(waits ? [invalidate] : []),
      ];
    default:
      throw new Error(`${kind} is no step`);
  }
}

function code(target: TargetName, all: readonly Step[]): string {
  const lines = [
    WAVE_AND_LANE,
    'v_mov_b32_e32 v7, 1',
    'v_mov_b32_e32 v8, 0',
    'v_lshlrev_b32_e32 v5, 2, v0',
    'ds_write_b32 v5, v8',
    's_waitcnt lgkmcnt(0)',
    's_barrier',
  ];
  all.forEach((one, n) => {
    if (one.kind === 'barrier') lines.push('s_waitcnt lgkmcnt(0)', 's_barrier');
    else {
      const isFlag = one.kind === 'release' || one.kind === 'acquire';
      const offset = (isFlag ? FLAGS : 0) + 256 * one.place;
      lines.push(
        `s_lshr_b32 s8, ${one.groups}, s2`,
        's_and_b32 s8, s8, 1',
        `s_cbranch_scc0 skip${n}`,
        ...(one.wave === EVERYBODY ? [] : [`s_cmp_lg_u32 s9, ${one.wave}`, `s_cbranch_scc1 skip${n}`]),
        `v_lshlrev_b32_e32 v5, ${one.isSpread ? 2 : 8}, v0`,
        ...(one.isSpread ? [] : ['v_mov_b32_e32 v5, 0']),
        `v_add_u32_e32 v6, ${offset}, v5`,
        `v_add_u32_e32 v5, ${4 * one.place}, v5`,
        'v_and_b32_e32 v5, 0x3fc, v5',
        `s_mov_b64 exec, ${one.lanes}`,
        ...instructions(target, one, n),
        's_mov_b64 exec, -1',
        `skip${n}:`,
      );
    }
  });
  // What a wavefront finds may be used.
  return [
    ...lines,
    's_waitcnt vmcnt(0) lgkmcnt(0)',
    'v_mov_b32_e32 v5, 0',
    'ds_add_rtn_u32 v8, v5, v7',
    's_waitcnt lgkmcnt(0)',
  ].join('\n');
}

test.each(['gfx90a', 'gfx942', 'gfx950'] as const)('of %s', async (target) => {
  const found = new Map<string, number>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), fc.constantFrom(2, 3), async (all, waves) => {
      const { compiled, interpreted } = await onBothEngines(code(target, all), {
        target,
        descriptor: { accum_offset: 40 },
        grid: [2, 1, 1],
        block: [64 * waves, 1, 1],
        lds: LDS_BYTES,
        bufferBytes: BUFFER_BYTES,
        isZeroed: true,
      });
      expect(factsOf(compiled)).toEqual(factsOf(interpreted));
      for (const { rule } of compiled.findings) found.set(rule, (found.get(rule) ?? 0) + 1);
      if (compiled.findings.length === 0) right++;
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 120) },
  );
  expect(right).toBeGreaterThan(5);
  expect(found.get('races/global') ?? 0).toBeGreaterThan(10);
});
