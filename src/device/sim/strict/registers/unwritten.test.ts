import { expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';

/** Adds up 1,024 rows of 64 dwords of a buffer, 64 pages, and stores each row's sum behind them; then uses the first row by another load. */
const CODE = `s_mov_b32 s6, 0
v_mov_b32_e32 v2, v1
.Lrow:
global_load_dword v3, v2, s[4:5]
s_waitcnt vmcnt(0)
v_add_u32_e32 v4, 1, v3
v_add_u32_e32 v5, 0x40000, v2
global_store_dword v5, v4, s[4:5]
v_add_u32_e32 v2, 0x100, v2
s_add_u32 s6, s6, 1
s_cmp_lt_u32 s6, 0x400
s_cbranch_scc1 .Lrow
global_load_dword v6, v1, s[4:5]
s_waitcnt vmcnt(0)
v_add_u32_e32 v7, 1, v6
global_store_dword v2, v7, s[4:5]`;

it.each(['compiled', 'interpreter'] as const)(
  'should follow pages that nothing has written until a load of them has been reported often, on the %s engine',
  async (engine) => {
    const findings = await strictFindings(CODE, { engine, bufferBytes: 0x80000 + 0x400, written: 0 });
    const found = findings.map(({ rule, place, count }) => ({ rule, text: place.instruction, count }));
    expect(found).toMatchObject([
      { rule: 'memory/uninitialised', text: 'global_store_dword v5, v4, s[4:5]' },
      { rule: 'memory/uninitialised', text: 'global_store_dword v2, v7, s[4:5]', count: 1 },
    ]);
    // Each row of the first pages, none of the others.
    expect(found[0]?.count).toBeGreaterThanOrEqual(64);
    expect(found[0]?.count).toBeLessThan(200);
  },
);
