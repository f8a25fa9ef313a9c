// Missing wait states: each row is a pair of instructions and the wait that LLVM 22 inserts between them for a target.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { checkCodeObject, type Finding } from '../index.ts';

type Target = 'gfx90a' | 'gfx942' | 'gfx950';

function hazards(target: Target, code: string): Finding[] {
  const descriptor = { next_free_vgpr: 128, accum_offset: 64 };
  const codeObject = kernelObject({ target, code, descriptor, metadata: { '.vgpr_count': 128 } });
  return checkCodeObject(codeObject, { pedantic: true }).filter((f) => f.rule.startsWith('hazards/'));
}

/** Instructions that wait for `states` and touch nothing. */
function waiting(states: number): string {
  const lines: string[] = [];
  for (let left = states; left > 0; left -= 16) lines.push(`s_nop ${Math.min(left, 16) - 1}`);
  return lines.join('\n');
}

const XDL = { gfx90a: 'v_mfma_f32_16x16x16f16', gfx942: 'v_mfma_f32_16x16x16_f16', gfx950: 'v_mfma_f32_16x16x16_f16' };
const F32 = { gfx90a: 'v_mfma_f32_16x16x4f32', gfx942: 'v_mfma_f32_16x16x4_f32', gfx950: 'v_mfma_f32_16x16x4_f32' };
const D16 = { gfx90a: 'v_mfma_f64_16x16x4f64', gfx942: 'v_mfma_f64_16x16x4_f64', gfx950: 'v_mfma_f64_16x16x4_f64' };
const D4 = { gfx90a: 'v_mfma_f64_4x4x4f64', gfx942: 'v_mfma_f64_4x4x4_4b_f64', gfx950: 'v_mfma_f64_4x4x4_4b_f64' };
const xdl = (t: Target) => `${XDL[t]} v[0:3], v[10:11], v[12:13], v[0:3]`;
const f32 = (t: Target) => `${F32[t]} v[0:3], v10, v12, v[0:3]`;
const d16 = (t: Target) => `${D16[t]} v[0:7], v[10:11], v[12:13], v[0:7]`;
const d4 = (t: Target) => `${D4[t]} v[0:1], v[10:11], v[12:13], v[0:1]`;
const CMPX = 'v_cmpx_eq_u32_e64 s[8:9], v8, v9';

type Text = string | ((target: Target) => string);
/** What, rule, first, second, wait of gfx90a, gfx942 and gfx950. */
const ROWS: readonly [string, string, Text, Text, number, number, number][] = [
  ['result read', 'matrix-result', xdl, 'v_add_f32 v20, v1, v21', 11, 7, 8],
  ['result stored', 'matrix-result', xdl, 'global_store_dword v[50:51], v1, off', 11, 7, 8],
  ['result written to LDS', 'matrix-result', xdl, 'ds_write_b32 v50, v1', 11, 7, 8],
  ['result overwritten', 'matrix-overwrite', xdl, 'v_mov_b32 v1, v20', 11, 7, 8],
  [
    'C overwritten',
    'matrix-overwrite',
    (t) => `${XDL[t]} v[30:33], v[10:11], v[12:13], v[0:3]`,
    'v_mov_b32 v1, v20',
    7,
    3,
    3,
  ],
  ['result as part of C', 'matrix-source', xdl, (t) => `${XDL[t]} v[30:33], v[14:15], v[16:17], v[2:5]`, 8, 5, 6],
  ['result as A', 'matrix-source', xdl, (t) => `${XDL[t]} v[30:33], v[0:1], v[16:17], v[20:23]`, 11, 7, 8],
  ['result as the same C', 'matrix-source', xdl, xdl, 0, 0, 0],
  ['f32 result read', 'matrix-result', f32, 'v_add_f32 v20, v1, v21', 11, 10, 10],
  ['f32 result as part of C', 'matrix-source', f32, (t) => `${F32[t]} v[30:33], v14, v16, v[2:5]`, 8, 8, 8],
  [
    'f32 result as part of C of f16',
    'matrix-source',
    f32,
    (t) => `${XDL[t]} v[30:33], v[14:15], v[16:17], v[2:5]`,
    8,
    0,
    0,
  ],
  [
    'f32 C overwritten',
    'matrix-overwrite',
    (t) => `${F32[t]} v[30:33], v10, v12, v[0:3]`,
    'v_mov_b32 v1, v20',
    7,
    0,
    0,
  ],
  ['f64 result read', 'matrix-result', d16, 'v_add_f32 v20, v1, v21', 11, 11, 19],
  ['f64 result stored', 'matrix-result', d16, 'global_store_dword v[50:51], v1, off', 18, 18, 18],
  ['f64 result overwritten', 'matrix-overwrite', d16, 'v_mov_b32 v1, v20', 11, 11, 11],
  ['f64 result as part of C', 'matrix-source', d16, (t) => `${D16[t]} v[30:37], v[14:15], v[16:17], v[4:11]`, 9, 9, 17],
  ['f64 result as A', 'matrix-source', d16, (t) => `${D16[t]} v[30:37], v[0:1], v[16:17], v[20:27]`, 11, 11, 19],
  ['small f64 result read', 'matrix-result', d4, 'v_add_f32 v20, v1, v21', 6, 6, 6],
  ['small f64 result stored', 'matrix-result', d4, 'global_store_dword v[50:51], v1, off', 9, 9, 9],
  ['small f64 result as the same C', 'matrix-source', d4, d4, 4, 4, 4],
  ['f64 before fma', 'matrix-to-fma64', d4, 'v_fma_f64 v[40:41], v[42:43], v[44:45], v[46:47]', 2, 2, 2],
  ['VALU to A', 'vector-to-matrix', 'v_mov_b32 v10, v20', xdl, 2, 2, 2],
  ['EXEC to matrix', 'exec', CMPX, xdl, 4, 4, 4],
  ['EXEC to DPP', 'exec', CMPX, 'v_mov_b32_dpp v4, v7 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf', 5, 5, 5],
  ['EXEC to readfirstlane', 'exec', CMPX, 'v_readfirstlane_b32 s6, v7', 0, 4, 4],
  ['SGPR to address', 'scalar-to-memory', 'v_readfirstlane_b32 s4, v1', 'global_load_dword v2, v9, s[4:5]', 5, 5, 5],
  [
    'SGPR to resource',
    'scalar-to-memory',
    'v_readfirstlane_b32 s7, v1',
    'buffer_load_dword v2, off, s[4:7], 0',
    5,
    5,
    5,
  ],
  ['SGPR to VALU', 'scalar-to-vector', 'v_readfirstlane_b32 s4, v1', 'v_mov_b32 v2, s4', 0, 2, 2],
  ['VCC to VALU', 'scalar-to-vector', 'v_cmp_eq_u32 vcc, v1, v2', 'v_cndmask_b32 v3, v4, v5, vcc', 0, 2, 2],
  ['VCC to its zero flag', 'scalar-to-vector', 'v_cmp_eq_u32 vcc, v1, v2', 'v_mov_b32 v3, src_vccz', 5, 5, 5],
  ['SGPR as lane', 'lane-select', 'v_readfirstlane_b32 s4, v1', 'v_readlane_b32 s6, v9, s4', 4, 4, 4],
  ['VCC to div_fmas', 'div-fmas', 'v_cmp_eq_u32 vcc, v1, v2', 'v_div_fmas_f32 v4, v5, v6, v7', 4, 4, 4],
  [
    'VGPR to DPP',
    'dpp',
    'v_mov_b32 v7, v20',
    'v_mov_b32_dpp v4, v7 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf',
    2,
    2,
    2,
  ],
  ['VGPR to readlane', 'readlane', 'v_mov_b32 v9, v20', 'v_readlane_b32 s6, v9, 0', 0, 1, 1],
  ['transcendental to VALU', 'trans', 'v_exp_f32 v1, v2', 'v_add_f32 v3, v1, v4', 0, 1, 1],
  ['transcendental to another', 'trans', 'v_exp_f32 v1, v2', 'v_exp_f32 v3, v1', 0, 0, 0],
  [
    'half a register to VALU',
    'partial-write',
    'v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD',
    'v_add_f32 v3, v1, v4',
    0,
    1,
    1,
  ],
  ['data of a wide store', 'store-data', 'global_store_dwordx4 v[50:51], v[0:3], off', 'v_mov_b32 v1, v20', 1, 2, 2],
  ['data of a narrow store', 'store-data', 'global_store_dwordx2 v[50:51], v[0:1], off', 'v_mov_b32 v1, v20', 0, 0, 0],
  ['M0 to sendmsg', 'm0', 's_mov_b32 m0, 0', 's_sendmsg sendmsg(MSG_INTERRUPT)', 1, 1, 1],
  ['M0 to a load to LDS', 'm0', 's_mov_b32 m0, 0', 'buffer_load_dword off, s[4:7], 0 lds', 1, 1, 1],
  ['M0 to movrels', 'm0', 's_mov_b32 m0, 0', 's_movrels_b32 s4, s5', 1, 1, 1],
  ['M0 to an LDS read by thread', 'm0', 's_mov_b32 m0, 0', 'ds_read_addtid_b32 v1 offset:16', 1, 1, 1],
  ['trap status to the return', 'setreg', 's_setreg_b32 hwreg(HW_REG_TRAPSTS), s0', 's_rfe_b64 s[4:5]', 1, 1, 1],
  ['setreg to getreg', 'setreg', 's_setreg_b32 hwreg(HW_REG_MODE), s0', 's_getreg_b32 s1, hwreg(HW_REG_MODE)', 2, 2, 2],
  [
    'setreg to another',
    'setreg',
    's_setreg_b32 hwreg(HW_REG_MODE), s0',
    's_getreg_b32 s1, hwreg(HW_REG_STATUS)',
    0,
    0,
    0,
  ],
  ['dot product to VALU', 'dot', 'v_dot4_i32_i8 v1, v2, v3, v1', 'v_add_u32 v5, v1, v6', 3, 3, 3],
  ['dot product overwritten', 'dot', 'v_dot4_i32_i8 v1, v2, v3, v1', 'v_mov_b32 v1, v6', 3, 3, 3],
  ['dot product to its sum', 'dot', 'v_dot4_i32_i8 v1, v2, v3, v1', 'v_dot4_i32_i8 v1, v4, v5, v1', 0, 0, 0],
];

const textOf = (text: Text, target: Target): string => (typeof text === 'string' ? text : text(target));
const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;

describe.each(TARGETS)('%s', (target) => {
  test.each(ROWS)('%s', (...[, rule, first, second, a, b, c]) => {
    const wait = { gfx90a: a, gfx942: b, gfx950: c }[target];
    const between = (states: number) => `${textOf(first, target)}\n${waiting(states)}\n${textOf(second, target)}`;
    expect(hazards(target, between(wait))).toEqual([]);
    if (wait === 0) return;
    const found = hazards(target, between(wait - 1));
    expect(found.map((f) => f.rule)).toEqual([`hazards/${rule}`]);
    const { place, fix } = found[0] as Finding;
    expect(fix).toBe(`Insert s_nop 0 (or 1 independent instruction) before '${place.instruction}'.`);
  });
});

const permlane = (states: number) => `v_mov_b32 v1, v20\n${waiting(states)}\nv_permlane32_swap_b32 v1, v2`;
test('VGPR to permlane swap, which only gfx950 has', () => {
  expect(hazards('gfx950', permlane(2))).toEqual([]);
  expect(hazards('gfx950', permlane(1)).map((f) => f.rule)).toEqual(['hazards/permlane']);
});

test.each([
  ['v_mfma_f32_16x16x32_f16 v[0:3], v[40:43], v[48:51], v[0:3]', 8],
  ['v_mfma_f32_32x32x16_f16 v[0:15], v[40:43], v[48:51], v[0:15]', 12],
  ['v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[40:47], v[48:55], v[0:3]', 12],
  ['v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[40:43], v[48:51], v[0:3] cbsz:4 blgp:4', 8],
  ['v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[40:47], v[48:55], v[0:15]', 20],
  ['v_smfmac_f32_16x16x64_f16 v[0:3], v[40:43], v[48:55], v60', 8],
])('gfx950: %s needs %i', (matrix, wait) => {
  const code = (states: number) => `${matrix}\n${waiting(states)}\nv_add_f32 v20, v1, v21`;
  expect(hazards('gfx950', code(wait))).toEqual([]);
  expect(hazards('gfx950', code(wait - 1)).map((f) => f.rule)).toEqual(['hazards/matrix-result']);
});

describe('across branches', () => {
  const diamond = (then: number, other: number) =>
    `s_cbranch_scc1 .Lelse\nv_readfirstlane_b32 s4, v1\n${waiting(then)}\ns_branch .Ljoin
     .Lelse:\nv_readfirstlane_b32 s5, v1\n${waiting(other)}
     .Ljoin:\nglobal_load_dword v2, v9, s[4:5]`;
  test('every path needs the wait; a branch counts as one state', () => {
    expect(hazards('gfx942', diamond(4, 5))).toEqual([]);
    expect(hazards('gfx942', diamond(3, 5)).map((f) => f.message)).toEqual([
      'global_load_dword needs 5 wait states after v_readfirstlane_b32 (s[4:5]), there are 4.',
    ]);
    expect(hazards('gfx942', diamond(4, 4))).toHaveLength(1);
  });

  const loop = (states: number) =>
    `.Lloop:\nglobal_load_dword v2, v9, s[4:5]\nv_readfirstlane_b32 s4, v1\n${waiting(states)}\ns_cbranch_scc1 .Lloop`;
  test('the next round of a loop', () => {
    expect(hazards('gfx942', loop(4))).toEqual([]);
    expect(hazards('gfx942', loop(3))).toHaveLength(1);
  });
});

test('a wait that shipped code goes without is a note of that kind, none at all an error', () => {
  const code = (states: number) => `${xdl('gfx942')}\n${waiting(states)}\nv_add_f32 v20, v1, v21`;
  expect(hazards('gfx942', code(2)).map((f) => `${f.severity} ${f.basis}`)).toEqual(['note shipped']);
  expect(hazards('gfx942', code(1)).map((f) => `${f.severity} ${f.basis}`)).toEqual(['error manual']);
});

describe('parts of a register', () => {
  const sr = (opSel: string) => `v_cvt_sr_fp8_f32 v1, v2, v3${opSel}\nv_add_f32 v4, v1, v5`;
  /** Writes half of v1 and keeps the other. */
  const half = (word: number): string => `v_mov_b32_sdwa v1, v2 dst_sel:WORD_${word} dst_unused:UNUSED_PRESERVE`;
  test.each([
    ['a byte chosen by op_sel', 'gfx942', sr(' op_sel:[0,0,1,0]'), ['hazards/partial-write']],
    ['the first byte', 'gfx942', sr(''), []],
    ['a whole register over a part', 'gfx942', `${half(1)}\nv_mov_b32 v1, 0`, ['hazards/partial-write']],
    ['the other half, kept', 'gfx942', `${half(1)}\n${half(0)}`, ['hazards/partial-write']],
    ['another register', 'gfx942', `${half(1)}\nv_mov_b32 v4, 0`, []],
    ['a whole register over a part, one state later', 'gfx942', `${half(1)}\ns_nop 0\nv_mov_b32 v1, 0`, []],
    ['a whole register over a part', 'gfx90a', `${half(1)}\nv_mov_b32 v1, 0`, []],
    [
      'two values of 4 bits',
      'gfx950',
      'v_cvt_scalef32_sr_pk_fp4_f16 v1, v2, v3, v4\nv_add_f32 v6, v1, v5',
      ['hazards/partial-write'],
    ],
  ] as const)('%s', (_what, target, code, rules) => {
    expect(hazards(target, code).map((f) => f.rule)).toEqual(rules);
  });
});

describe('what LLVM demands after version 22', () => {
  const store = 'buffer_store_dwordx4 v[0:3], v8, s[0:3], s4 offen';
  test.each([
    ['gfx950', `${store}\nv_mov_b32 v1, v9`, ['note hazards/store-data-scalar']],
    ['gfx942', `${store}\nv_mov_b32 v1, v9`, ['note hazards/store-data-scalar']],
    ['gfx90a', `${store}\nv_mov_b32 v1, v9`, []],
    ['gfx950', `${store}\ns_nop 0\nv_mov_b32 v1, v9`, []],
    ['gfx950', `${store}\nv_mov_b32 v4, v9`, []],
    ['gfx950', 'buffer_store_dwordx2 v[0:1], v8, s[0:3], s4 offen\nv_mov_b32 v1, v9', []],
    ['gfx950', 'v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1] op_sel:[0,1,0]', ['note hazards/packed-high-half']],
    ['gfx950', 'v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1] op_sel:[1,0,0]', []],
    ['gfx950', 'v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]', ['note hazards/packed-high-half']],
    ['gfx942', 'v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]', []],
  ] as const)('%s: %s', (target, code, found) => {
    expect(hazards(target, code).map((f) => `${f.severity} ${f.rule}`)).toEqual(found);
  });
});

test('loads into half a register and s_bitset read what they keep, not register 0', () => {
  const matrix = 'v_smfmac_i32_32x32x32_i8 v[0:15], v[16:17], v[20:23], v24';
  expect(hazards('gfx950', `${matrix}\nglobal_load_short_d16 v20, v[30:31], off`)).toEqual([]);
});
