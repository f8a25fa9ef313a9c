// Workgroups take over the shadows and the registers of those that have ended: nothing of these is left.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../../../tests/support/kernel-source.ts';
import { PROLOGUE, shortFindings } from '../../../../../tests/support/strict.ts';
import { createDevice } from '../../../index.ts';

const WORKGROUPS = 4;
const ITEMS = 128;
/** Words that a workgroup stores: three registers of each work-item. */
const WORDS = 3 * ITEMS;

/** Workgroup 0 writes registers that all store: the later ones have not written them. */
const code = `${PROLOGUE}
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 .Lread
v_mov_b32_e32 v20, 7
v_accvgpr_write_b32 a3, v20
s_mov_b32 s20, 9
.Lread:
s_nop 4
v_accvgpr_read_b32 v21, a3
v_mov_b32_e32 v22, s20
s_mul_i32 s6, s2, ${4 * WORDS}
v_mul_u32_u24_e32 v23, 12, v0
v_add_u32_e32 v23, s6, v23
global_store_dword v23, v20, s[4:5]
global_store_dword v23, v21, s[4:5] offset:4
global_store_dword v23, v22, s[4:5] offset:8
s_waitcnt vmcnt(0)`;

test.each(['compiled', 'interpreter'] as const)('later workgroups do not see what was left (%s)', async (engine) => {
  const descriptor = { next_free_vgpr: 40, accum_offset: 32, next_free_sgpr: 32, system_sgpr_workgroup_id_x: 1 };
  const object = kernelObject({ target: 'gfx942', code, descriptor });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const buffer = device.alloc(4 * WORDS * WORKGROUPS, 'x');
    const kernel = device.load(object.bytes).kernel('k');
    const dispatch = async (groups: number): Promise<string[]> => {
      device.write(buffer, new Uint8Array(buffer.size));
      const request = { kernel, grid: [groups, 1, 1] as const, block: [ITEMS, 1, 1] as const, args: [buffer] };
      const { findings = [] } = await device.dispatch({ ...request, engine, strict: {} });
      return shortFindings(findings).sort();
    };
    for (let n = 0; n < 3; n++) {
      const found = await dispatch(WORKGROUPS);
      expect(found).toEqual(['v20', 'v21', 'v22'].map((register) => `registers/uninitialised ${register}`));
      const words = new Int32Array(device.read(buffer).slice().buffer);
      const expected = Array.from({ length: WORKGROUPS * WORDS }, (_, i) => (i >= WORDS ? 0 : i % 3 === 2 ? 9 : 7));
      expect([...words]).toEqual(expected);
    }
    expect(await dispatch(1)).toEqual([]);
  } finally {
    device.close();
  }
});
