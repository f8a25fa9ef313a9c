// Counters and profiles of compiled code are those of the interpreter, instruction by instruction.
import { describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { type ArgumentValue, createDevice, type SimDispatchRequest } from '../src/device/index.ts';
import { type Counted, compareCounts } from './support/counted.ts';
import { kernelSource } from './support/kernel-source.ts';
import { clangSubjects, type StrictSubject, tritonSubjects } from './support/strict-kernels.ts';

const BRANCHES = `
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v2, 0
s_mov_b32 s6, 0
s_mov_b64 s[12:13], exec
s_waitcnt lgkmcnt(0)
.Louter:
v_cmp_gt_u32_e32 vcc, 40, v0
s_and_saveexec_b64 s[8:9], vcc
s_cbranch_execz .Lskip
v_add_u32_e32 v2, 1, v2
ds_write_b32 v1, v2
.Lskip:
s_or_b64 exec, exec, s[8:9]
s_and_b32 s7, s6, 1
s_cmp_eq_u32 s7, 0
s_cbranch_scc0 .Lodd
v_lshlrev_b32_e32 v1, 4, v0
s_branch .Ljoin
.Lodd:
v_lshlrev_b32_e32 v1, 2, v0
.Ljoin:
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v3, v1
ds_read2_b32 v[4:5], v1 offset1:7
s_waitcnt lgkmcnt(0)
s_getpc_b64 s[10:11]
.Lhere:
s_add_u32 s10, s10, .Lback-.Lhere
s_addc_u32 s11, s11, 0
s_setpc_b64 s[10:11]
s_nop 0
.Lback:
s_nop 0
s_setvskip 1, 0
v_add_u32_e32 v2, 1, v2
s_setvskip 0, 0
v_cmpx_gt_u32_e32 50, v0
v_add_u32_e32 v2, 1, v2
s_mov_b64 exec, s[12:13]
s_cbranch_vccz .Lnext
.Lnext:
s_barrier
s_add_u32 s6, s6, 1
s_cmp_lt_u32 s6, 30
s_cbranch_scc1 .Louter
v_cmp_eq_u32_e32 vcc, 0, v0
s_mov_b64 exec, 0
v_add_u32_e32 v2, 1, v2
`;

describe('compiled counts', () => {
  test.each(['gfx90a', 'gfx942', 'gfx950'] as const)('count branches, EXEC and LDS banks on %s', async (target) => {
    const object = assembleAndLink(
      kernelSource({
        target,
        code: BRANCHES,
        descriptor: {
          next_free_vgpr: 16,
          accum_offset: 16,
          next_free_sgpr: 32,
          system_sgpr_workgroup_id_x: 1,
          group_segment_fixed_size: 8192,
        },
        metadata: { '.group_segment_fixed_size': 8192 },
      }),
    );
    const device = await createDevice('sim', { target });
    const args: ArgumentValue[] = [device.alloc(4096, 'x')];
    const kernel = device.load(object).kernel('k');
    const [one] = await compareCounts((mode) =>
      device.dispatch({ kernel, grid: [3, 1, 1], block: [100, 1, 1], args, ...mode } as SimDispatchRequest),
    );
    const sites = (one as Counted).counts.instructions;
    const of = (name: string) => sites.find(({ instruction }) => instruction.row.operation === name);
    expect(of('s_and_saveexec_b64')?.split).toBe(3 * 30);
    expect(of('s_cbranch_scc1')?.taken).toBe(6 * 29);
    expect(of('s_setpc_b64')?.taken).toBe(6 * 30);
    device.close();
  });

  const subjects: StrictSubject[] = [
    ...clangSubjects([
      ['reduction', 'gfx942', 3],
      ['histogram', 'gfx90a', 1],
      ['transpose', 'gfx950', 2],
    ]),
    ...tritonSubjects().filter(({ name }) => /attn_fwd_fp16.gfx942/.test(name)),
  ];
  test.each(subjects)('count what the interpreter counts: $name', async (subject) => {
    const device = await createDevice('sim', { target: subject.target });
    await compareCounts((mode) => subject.run(device, subject.codeObject, undefined, mode));
    device.close();
  });
});
