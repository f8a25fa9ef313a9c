// Data that a lock protects: workgroups read it and change it one after the other. With a mistake around the lock they race, with none they do not.
import { describe, expect, test } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import type { TargetName } from '../../../../isa/types.ts';

const MISTAKES = ['none', 'no wait', 'no invalidation', 'early unlock', 'no lock', 'late store'] as const;
type Mistake = (typeof MISTAKES)[number];

const CDNA3 = (target: TargetName): boolean => target !== 'gfx90a';

/** The lock is at 2048. Every wavefront goes through `rounds` sections, in which each lane adds to its dword `width` bytes wide. */
function code(mistake: Mistake, target: TargetName, rounds: number, width: 2 | 4): string {
  const scope = CDNA3(target) ? 'sc1' : '';
  const wait = 's_waitcnt vmcnt(0)';
  const [load, store] = width === 4 ? ['dword', 'dword'] : ['ushort', 'short'];
  const access = (what: string): string => `global_${what}`;
  const unlock = [
    ...(CDNA3(target) && mistake !== 'no wait' ? ['buffer_wbl2 sc1'] : []),
    ...(mistake === 'no wait' ? [] : [wait]),
    's_mov_b64 exec, 1',
    `global_store_dword v10, v10, s[4:5] offset:2048 ${scope}`,
    's_mov_b64 exec, -1',
  ];
  const change = [
    access(`load_${load} v4, v1, s[4:5]`),
    wait,
    'v_add_u32_e32 v4, v4, v11',
    access(`store_${store} v1, v4, s[4:5]`),
  ];
  return [
    'v_mov_b32_e32 v10, 0',
    'v_mov_b32_e32 v11, 1',
    'v_mov_b32_e32 v12, 1',
    'v_mov_b32_e32 v13, 0',
    ...(width === 2 ? ['v_lshrrev_b32_e32 v1, 1, v1'] : []),
    `s_movk_i32 s8, ${rounds}`,
    'section:',
    ...(mistake === 'no lock'
      ? []
      : [
          's_mov_b64 exec, 1',
          'again:',
          `global_atomic_cmpswap v2, v10, v[12:13], s[4:5] offset:2048 ${CDNA3(target) ? 'sc0 sc1' : 'glc'}`,
          wait,
          'v_cmp_ne_u32_e32 vcc, 0, v2',
          's_cbranch_vccnz again',
          's_mov_b64 exec, -1',
          ...(mistake === 'no invalidation' ? [] : [CDNA3(target) ? 'buffer_inv sc1' : 'buffer_wbinvl1_vol']),
        ]),
    ...(mistake === 'early unlock' ? [...unlock, ...change] : change),
    ...(mistake === 'no lock' || mistake === 'early unlock' ? [] : unlock),
    ...(mistake === 'late store' ? [access(`store_${store} v1, v4, s[4:5]`)] : []),
    's_sub_u32 s8, s8, 1',
    's_cmp_lg_u32 s8, 0',
    's_cbranch_scc1 section',
  ].join('\n');
}

const CASES = (['gfx90a', 'gfx942'] as const).flatMap((target) =>
  MISTAKES.flatMap((mistake) =>
    ([2, 4] as const).flatMap((width) => [1, 4].map((rounds) => ({ target, mistake, width, rounds }))),
  ),
);

describe('sections under a lock', () => {
  test.each(CASES)(
    '$target, $width bytes, $rounds rounds, mistake: $mistake',
    async ({ target, mistake, width, rounds }) => {
      const options = { target, grid: [5, 1, 1], bufferBytes: 4096, isZeroed: true } as const;
      const text = code(mistake, target, rounds, width);
      const found = async (engine: 'compiled' | 'interpreter', more = {}) =>
        (await strictFindings(text, { ...options, ...more, engine })).map(({ rule, place }) => [
          rule,
          place?.instruction,
        ]);
      const compiled = await found('compiled');
      expect(new Set(compiled.map(([rule]) => rule?.split('/')[0]))).toEqual(
        new Set(mistake === 'none' ? [] : ['races']),
      );
      const byRule = (all: typeof compiled) => [...new Set(all.map((one) => one.join(' ')))].sort();
      expect(byRule(compiled)).toEqual(byRule(await found('interpreter')));
      // Code that has been made for one workgroup tells others nothing.
      expect(await found('compiled', { gridBefore: [1, 1, 1] })).toEqual(compiled);
    },
  );
});
