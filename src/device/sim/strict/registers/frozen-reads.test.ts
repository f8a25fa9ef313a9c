import { describe, expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const WORKGROUPS = 64;
/** Of all wavefronts together, in elements: more than the log of reads holds. */
const READS = 20_000_000;
const ROUNDS = Math.ceil(READS / (WORKGROUPS * 256));
const TABLE = 4 * 4096;

/** Reads where a sequence says from the first pages of the buffer, again and again; `then` is executed by all wavefronts of workgroup 60. */
const code = (load: string, shift: number, then: string): string => `v_lshl_add_u32 v4, s2, 8, v0
v_mul_lo_u32 v4, v4, s12
s_mov_b32 s6, 0
.Lround:
v_mul_lo_u32 v4, v4, s12
v_add_u32_e32 v4, s13, v4
v_lshrrev_b32_e32 v5, 8, v4
v_and_b32_e32 v5, ${(TABLE >> shift) - 1}, v5
v_lshlrev_b32_e32 v5, ${shift}, v5
${load}
s_waitcnt vmcnt(0)
s_add_u32 s6, s6, 1
s_cmp_lt_u32 s6, ${ROUNDS}
s_cbranch_scc1 .Lround
s_cmp_lg_u32 s2, 60
s_cbranch_scc1 .Ldone
${then}
.Ldone:`;

/** Multiplier and increment. */
const NUMBERS = 's_mov_b32 s12, 0x19660d\ns_mov_b32 s13, 0x3c6ef35f\n';

const LOADS = [
  ['global_load_dword v8, v5, s[4:5]', 2],
  ['global_load_dwordx4 v[8:11], v5, s[4:5]', 4],
  ['global_load_ubyte v8, v5, s[4:5]', 0],
] as const;

describe('reads that fill the log', () => {
  it.each(LOADS)('should still race with a store: %s', async (load, shift) => {
    const run = (then: string): ReturnType<typeof strictFindings> =>
      strictFindings(NUMBERS + code(load, shift, then), {
        grid: [WORKGROUPS, 1, 1],
        block: [256, 1, 1],
        bufferBytes: TABLE + 4 * 64,
      });
    expect(await run('s_nop 0')).toEqual([]);
    // Behind the table, where nobody reads.
    expect(
      await run(
        `v_mov_b32_e32 v5, ${TABLE}\nv_readfirstlane_b32 s7, v0\ns_cmp_lg_u32 s7, 0\ns_cbranch_scc1 .Ldone\nv_lshl_add_u32 v5, v0, 2, v5\nglobal_store_dword v5, v0, s[4:5]`,
      ),
    ).toEqual([]);
    const found = await run(
      'v_mov_b32_e32 v5, 0x1234\nv_mov_b32_e32 v6, 7\ns_nop 0\nglobal_store_dword v5, v6, s[4:5]',
    );
    const rules = found.map(({ rule, place }) => `${rule} ${place.instruction}`).sort();
    expect(rules).toEqual([`races/global ${load}`, 'races/global global_store_dword v5, v6, s[4:5]'].sort());
  });
});
