// Elements of several dwords that lanes go to where values say, in a page of which each dword has its own records: each of their dwords counts.
import { expect, it } from 'vitest';
import { strictFindings } from '../../../../tests/support/strict.ts';

const WIDTHS = [2, 3, 4] as const;
const registers = (dwords: number): string => (dwords === 1 ? 'v7' : `v[8:${7 + dwords}]`);
const access = (kind: 'load' | 'store', dwords: number, at: number): string => {
  const name = `global_${kind}_dword${dwords > 1 ? `x${dwords}` : ''}`;
  const operands = kind === 'load' ? `${registers(dwords)}, v3` : `v3, ${registers(dwords)}`;
  return `${name} ${operands}, s[4:5] offset:${at}`;
};

/** Two wavefronts have dwords of all lines of the page; then one has an element a lane, and the other a dword of the same element or of the next 16 bytes. */
const kernel = (first: string, second: string): string => `v_and_b32_e32 v0, 0x3ff, v0
v_and_b32_e32 v2, 63, v0
v_lshrrev_b32_e32 v4, 6, v0
v_lshlrev_b32_e32 v3, 6, v2
v_lshl_add_u32 v3, v4, 2, v3
v_mov_b32_e32 v7, 7
v_mov_b32_e32 v8, 1
v_mov_b32_e32 v9, 2
v_mov_b32_e32 v10, 3
v_mov_b32_e32 v11, 4
global_load_dword v5, v3, s[4:5]
s_waitcnt vmcnt(0)
global_store_dword v3, v8, s[4:5]
s_waitcnt vmcnt(0)
s_barrier
v_mul_u32_u24_e32 v3, 5, v2
v_and_b32_e32 v3, 63, v3
v_lshlrev_b32_e32 v3, 6, v3
v_readfirstlane_b32 s6, v4
s_cmp_eq_u32 s6, 0
s_cbranch_scc1 .Lfirst
${second}
s_waitcnt vmcnt(0)
s_branch .Lafter
.Lfirst:
${first}
s_waitcnt vmcnt(0)
.Lafter:`;

it.each(
  (['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) =>
    (['interpreter', 'compiled'] as const).flatMap((engine) => WIDTHS.map((dwords) => ({ target, engine, dwords }))),
  ),
)('each of $dwords dwords: $target, $engine', async ({ target, engine, dwords }) => {
  for (const [wide, narrow] of [
    ['store', 'load'],
    ['load', 'store'],
    ['store', 'store'],
  ] as const) {
    for (let dword = 0; dword < 6; dword++) {
      const [element, part] = [access(wide, dwords, 16), access(narrow, 1, 16 + 4 * dword)];
      for (const code of [kernel(element, part), kernel(part, element)]) {
        const findings = await strictFindings(code, { target, engine, block: [128, 1, 1], bufferBytes: 4096 });
        const expected = dword < dwords ? ['races/global'] : [];
        expect([wide, narrow, dword, ...findings.map(({ rule }) => rule)]).toEqual([wide, narrow, dword, ...expected]);
      }
    }
  }
});
