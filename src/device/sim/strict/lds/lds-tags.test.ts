// Bytes of LDS that a wavefront has touched belong to nobody behind the next barrier, whichever way its lanes went there.
import { describe, expect, test } from 'vitest';
import { type StrictRun, shortFindings, strictFindings } from '../../../../../tests/support/strict.ts';

const TWO_WAVES: StrictRun = { block: [128, 1, 1], lds: 4096 };

/** v5: of the first four lanes of a wavefront from 2048 on, of the next four from 1024 on, of the others every second dword. */
const ADDRESSES = `s_movk_i32 s20, 0x400
v_lshrrev_b32_e32 v4, 2, v1
v_and_b32_e32 v6, 63, v4
v_lshlrev_b32_e32 v5, 3, v6
v_lshl_add_u32 v7, v6, 2, s20
v_cmp_gt_u32_e32 vcc, 8, v6
v_cndmask_b32_e32 v5, v5, v7, vcc
v_add_u32_e32 v7, s20, v7
v_cmp_gt_u32_e32 vcc, 4, v6
v_cndmask_b32_e32 v5, v5, v7, vcc
v_mov_b32_e32 v8, v4`;

/** Each of the wavefronts stores in an interval of its own between barriers, or both do in one. */
const kernel = (isApart: boolean): string =>
  `${ADDRESSES}
v_cmp_gt_u32_e32 vcc, 64, v4
s_mov_b64 exec, vcc
s_nop 4
ds_write_b32 v5, v8
s_mov_b64 exec, -1
s_waitcnt lgkmcnt(0)${isApart ? '\ns_barrier' : ''}
v_cmp_le_u32_e32 vcc, 64, v4
s_mov_b64 exec, vcc
s_nop 4
ds_write_b32 v5, v8
s_mov_b64 exec, -1
s_waitcnt lgkmcnt(0)`;

describe('stores whose lanes partly follow each other', () => {
  for (const engine of ['interpreter', 'compiled'] as const) {
    const findings = async (isApart: boolean): Promise<string[]> =>
      shortFindings(await strictFindings(kernel(isApart), { ...TWO_WAVES, engine }));

    test(engine, async () => {
      expect(await findings(true)).toEqual([]);
      expect(await findings(false)).toEqual(['races/lds']);
    });
  }
});
