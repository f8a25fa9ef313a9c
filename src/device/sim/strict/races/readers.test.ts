// A dword that all workgroups have read: what is stored there behind a barrier of the grid comes after that, what is stored without one does not.
import { expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const READ = 'global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)';
const BARRIER = 's_mov_b32 m0, 0\nv_mov_b32_e32 v4, 0\nds_gws_barrier v4 gds\ns_waitcnt lgkmcnt(0)';

/** All workgroups read; then the first one stores, and the others read again or do not. */
const phases = (barrier: string, later: string): string => `${READ}
${barrier}
s_cmp_eq_u32 s2, 0
s_cbranch_scc1 .Lstore
${later}
s_branch .Lpast
.Lstore:
global_store_dword v1, v2, s[4:5]
.Lpast:`;

it.each(
  (['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) =>
    (['interpreter', 'compiled'] as const).map((engine) => ({ target, engine })),
  ),
)("what all workgroups have read, and a grid's barrier: $target, $engine", async (on) => {
  const found = async (barrier: string, later: string): Promise<string[]> => {
    const code = phases(barrier, later);
    const findings = await strictFindings(code, { ...on, grid: [4, 1, 1], bufferBytes: 256 });
    return findings.map(({ rule }) => rule);
  };
  expect(await found(BARRIER, 's_nop 0')).toEqual([]);
  expect(await found(BARRIER, READ)).toEqual(['races/unreleased']);
  expect(await found('s_nop 0', 's_nop 0')).toEqual(['races/global']);
});
