// Liveness: scalar registers and flags, and vector registers whose lanes are written in parts.
import { describe, expect, test } from 'vitest';
import { liftBody } from '../../tests/support/program.ts';
import { hasSlot, livenessOf } from './liveness.ts';
import { Slot, slotNames } from './slots.ts';
import type { CodeInstruction } from './types.ts';

/** Names of the live registers before the `at`-th instruction. */
function live(body: string, at: number): string[] {
  const { program, main } = liftBody(`${body}\ns_endpgm`);
  const set = livenessOf(program, main).before(program.instructions[at] as CodeInstruction);
  return slotNames(
    [...Array(768).keys()].filter(
      (slot) => (hasSlot(set, slot) && slot !== Slot.MODE && slot < Slot.EXEC) || (slot >= 253 && hasSlot(set, slot)),
    ),
  );
}

describe('scalar registers', () => {
  test('from the definition to the last read', () => {
    const body = 's_mov_b32 s4, 1\ns_mov_b32 s5, 2\ns_add_u32 s6, s4, s5\ns_mov_b32 s7, s6';
    expect([0, 1, 2, 3].map((i) => live(body, i))).toEqual([[], ['s4'], ['s[4:5]'], ['s6']]);
  });

  test('SCC, VCC and M0', () => {
    expect(live('s_cmp_eq_u32 s0, 0\ns_cselect_b32 s4, 1, 2', 1)).toEqual(['scc']);
    expect(live('v_cmp_eq_u32 vcc, 0, v0\nv_cndmask_b32 v1, v2, v3, vcc', 1)).toEqual(['vcc_lo', 'vcc_hi', 'v[2:3]']);
    expect(live('s_mov_b32 m0, 0\nglobal_load_lds_dword v[0:1], off', 1)).toEqual(['m0', 'v[0:1]']);
  });

  test('around a loop', () => {
    const body = 's_mov_b32 s4, 9\n.L0:\ns_sub_u32 s4, s4, s5\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 .L0';
    expect(live(body, 1)).toEqual(['s[4:5]']);
    expect(live(body, 3)).toEqual(['s[4:5]', 'scc']);
  });
});

describe('vector registers', () => {
  test('a write with the same lanes ends the old value', () => {
    expect(live('v_mov_b32 v1, 0\nv_add_u32 v2, v1, v1', 0)).toEqual([]);
  });

  test('a write with fewer lanes than the read does not', () => {
    const body = 's_and_saveexec_b64 s[2:3], vcc\nv_mov_b32 v1, 0\ns_mov_b64 exec, s[2:3]\nv_add_u32 v2, v1, v1';
    expect(live(body, 1)).toEqual(['s[2:3]', 'v1']);
  });

  test('a write with more lanes than the read does', () => {
    const body = 'v_mov_b32 v1, 0\ns_and_saveexec_b64 s[2:3], vcc\nv_add_u32 v2, v1, v1';
    expect(live(body, 0)).toEqual(['vcc_lo', 'vcc_hi']);
  });

  test('one lane, and every lane', () => {
    expect(live('v_writelane_b32 v1, s0, 0\nv_add_u32 v2, v1, v1', 0)).toEqual(['s0', 'v1']);
    const matrix = 'v_mfma_f32_16x16x4_f32 a[0:3], v1, v2, 0\ns_mov_b64 exec, s[2:3]\nv_accvgpr_read_b32 v3, a0';
    expect(live(matrix, 0)).toEqual(['s[2:3]', 'v[1:2]']);
  });
});
