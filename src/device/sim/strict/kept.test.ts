// Dispatches of a device find what the first one finds, whatever those before have left in what is kept.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { PROLOGUE } from '../../../../tests/support/strict.ts';
import { createDevice } from '../../../device/index.ts';

/** Workgroup 0 writes the LDS that all read. */
const LDS = `v_lshlrev_b32_e32 v1, 2, v0
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 .Lread
ds_write_b32 v1, v0
s_waitcnt lgkmcnt(0)
.Lread:
s_barrier
ds_read_b32 v2, v1
s_waitcnt lgkmcnt(0)
v_lshl_add_u32 v3, s2, 8, v1
global_store_dword v3, v2, s[4:5]
s_waitcnt vmcnt(0)`;

/** Workgroup 0 stores within the bounds of a buffer, the others beyond. */
const DROPPED = `s_mov_b32 s12, s4
s_mov_b32 s13, s5
s_movk_i32 s14, 256
s_mov_b32 s15, 0x00020000
s_lshl_b32 s6, s2, 8
v_lshlrev_b32_e32 v1, 2, v0
v_add_u32_e32 v1, s6, v1
buffer_store_dword v0, v1, s[12:15], 0 offen
s_waitcnt vmcnt(0)`;

test.each([
  ['LDS that nothing has written', LDS, 'memory/uninitialised'],
  ['lanes that a buffer drops', DROPPED, 'memory/dropped'],
] as const)('%s is found and counted in each dispatch anew', async (_, code, rule) => {
  const object = kernelObject({
    target: 'gfx942',
    code: `${PROLOGUE}\n${code}`,
    descriptor: {
      next_free_vgpr: 40,
      accum_offset: 32,
      next_free_sgpr: 32,
      system_sgpr_workgroup_id_x: 1,
      group_segment_fixed_size: 512,
    },
    metadata: { '.group_segment_fixed_size': 512 },
  });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const buffer = device.alloc(8192, 'x');
    device.write(buffer, new Uint8Array(8192));
    const kernel = device.load(object.bytes).kernel('k');
    const found = async (workgroups: number): Promise<unknown[]> => {
      const request = { kernel, grid: [workgroups, 1, 1] as const, block: [64, 1, 1] as const, args: [buffer] };
      const { findings = [] } = await device.dispatch({ ...request, strict: {} });
      return findings.map((one) => [one.rule, one.count]);
    };
    const first = await found(8);
    expect(first.flat()).toContain(rule);
    for (const workgroups of [1, 8, 8, 1, 8]) expect(await found(workgroups)).toEqual(workgroups === 1 ? [] : first);
  } finally {
    device.close();
  }
});
