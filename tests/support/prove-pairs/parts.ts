// Pairs of kernels that differ: which parts and lanes of registers one instruction takes, where the fields that say so are zero.
import { all, LGKM, STORE, VM } from '../prove-kernel.ts';
import { BACK, on, SOME } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const G = 'global_load_';
const LOADS = ['global_load_dwordx4 v[20:23], v1, s[4:5]', VM];
/** A compare of two loaded registers, and one of two numbers by what it says. */
const compare = (x: string, y: string): Pair => {
  const make = (text: string): string => all(...LOADS, text, 's_nop 4', 'v_cndmask_b32_e64 v2, 1, 2, vcc', STORE);
  return [`${x} | ${y}`, make(x), make(y)];
};
const value = (x: string, y: string): Pair => {
  const make = (text: string): string => all(...LOADS, 'v_mov_b32_e32 v2, v23', 's_nop 4', text, STORE);
  return [`${x} | ${y}`, make(x), make(y)];
};
const BYTES = 'src0_sel:BYTE_0 src1_sel:BYTE_0';

export const PAIRS: readonly Pair[] = [
  ...['eq_u32', 'lt_i32', 'lt_i16', 'ge_u16', 'lt_f32', 'neq_f16', 'class_f32'].map((name) =>
    compare(`v_cmp_${name}_sdwa vcc, v20, v21 ${BYTES}`, `v_cmp_${name}_e32 vcc, v20, v21`),
  ),
  compare(`v_cmp_eq_u32_sdwa vcc, v20, v21 ${BYTES}`, `v_cmp_eq_u32_sdwa vcc, v20, v21 src0_sel:BYTE_0 src1_sel:DWORD`),
  value(
    'v_mov_b32_sdwa v2, v20 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_0',
    'v_mov_b32_dpp v2, v20 quad_perm:[0,0,0,0] row_mask:0x0 bank_mask:0x0',
  ),
  value(
    'v_add_f16_sdwa v2, v20, v21 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_0',
    'v_add_f16_e32 v2, v20, v21',
  ),
  value(
    'v_mov_b32_dpp v2, v20 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v20 quad_perm:[0,0,0,0] row_mask:0x0 bank_mask:0xf',
  ),
  ...[
    ['short_d16', 'short_d16_hi'],
    ['short_d16_hi', 'ushort'],
    ['ubyte_d16_hi', 'ubyte'],
    ['sbyte_d16', 'ubyte_d16'],
    ['ubyte_d16', 'short_d16'],
    ['sbyte', 'ubyte'],
    ['sshort', 'ushort'],
    ['sbyte_d16_hi', 'ubyte_d16_hi'],
  ].map(([x, y]) =>
    p(`${x} ${y}`, `${G}${x} v2, v1, s[4:5] offset:64; ${VM}`, `${G}${y} v2, v1, s[4:5] offset:64; ${VM}`),
  ),
  p(
    'halves in another order',
    `${G}short_d16 v2, v1, s[4:5]; ${G}dword v2, v1, s[4:5] offset:64; ${VM}`,
    `${G}dword v2, v1, s[4:5] offset:64; ${VM}; ${G}short_d16 v2, v1, s[4:5]; ${VM}`,
  ),
  p(
    'half under lanes',
    `${SOME}; ${G}short_d16_hi v2, v1, s[4:5]; ${VM}; ${BACK}`,
    `${G}short_d16_hi v2, v1, s[4:5]; ${VM}; ${SOME}; ${BACK}`,
  ),
  p('a byte of LDS', `ds_read_u8_d16 v2, v1; ${LGKM}`, `ds_read_u8_d16_hi v2, v1; ${LGKM}`),
  p('a signed byte of LDS', `ds_read_i8_d16 v2, v1; ${LGKM}`, `ds_read_u8_d16 v2, v1; ${LGKM}`),
  p('the upper half stored', 'global_store_short_d16_hi v1, v3, s[8:9]', 'global_store_short v1, v3, s[8:9]'),
  p(
    'a byte of the upper half stored',
    'global_store_byte_d16_hi v1, v3, s[8:9]',
    'v_lshrrev_b32_e32 v6, 8, v3; global_store_byte v1, v6, s[8:9]',
  ),
  p(
    'two bytes, one short',
    `v_lshrrev_b32_e32 v6, 8, v3; global_store_byte v1, v3, s[8:9]; global_store_byte v1, v6, s[8:9] offset:2`,
    'global_store_short v1, v3, s[8:9]',
  ),
  p(
    'a byte to LDS',
    `ds_write_b8_d16_hi v1, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_write_b8 v1, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'a short over a dword in LDS',
    `ds_write_b32 v1, v3; ds_write_b16 v1, v4; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_write_b16 v1, v4; ds_write_b32 v1, v3; ${LGKM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p('mix low and high', 'v_fma_mixlo_f16 v2, v3, v4, v5', 'v_fma_mixhi_f16 v2, v3, v4, v5'),
  p(
    'mix over another half',
    'v_mov_b32_e32 v2, v3; s_nop 1; v_fma_mixhi_f16 v2, v3, v4, v5',
    'v_mov_b32_e32 v2, v4; s_nop 1; v_fma_mixhi_f16 v2, v3, v4, v5',
  ),
  p(
    'the other half of a packed fp8',
    'v_mov_b32_e32 v2, v5; s_nop 1; v_cvt_pk_fp8_f32 v2, v3, v4 op_sel:[0,0,1]',
    'v_mov_b32_e32 v2, v8; s_nop 1; v_cvt_pk_fp8_f32 v2, v3, v4 op_sel:[0,0,1]',
  ),
  p('a half and its sign', 'v_mad_u16 v2, v3, v4, v5', 'v_mad_i16 v2, v3, v4, v5 clamp'),
  p(
    'SDWA: which word',
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0',
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0',
  ),
  p(
    'SDWA: sign of a source',
    'v_add_u32_sdwa v2, sext(v3), v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD',
    'v_add_u32_sdwa v2, v3, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD',
  ),
  p(
    'SDWA and the whole',
    'v_add_u32_sdwa v2, v3, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD',
    'v_add_u32_e32 v2, v3, v4',
  ),
  p(
    'SDWA: whole over part',
    'v_or_b32_sdwa v2, v3, v4 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD',
    'v_or_b32_e32 v2, v3, v4',
  ),
  p(
    'SDWA: VCC of bytes',
    'v_cmp_gt_i16_sdwa vcc, v3, v4 src0_sel:WORD_0 src1_sel:WORD_1; v_cndmask_b32_e32 v2, v3, v4, vcc',
    'v_cmp_gt_i16_sdwa vcc, v3, v4 src0_sel:WORD_1 src1_sel:WORD_0; v_cndmask_b32_e32 v2, v3, v4, vcc',
  ),
  p(
    'DPP: rows that are masked',
    'v_mov_b32_dpp v2, v3 row_shr:4 row_mask:0x3 bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:4 row_mask:0xc bank_mask:0xf',
  ),
  p(
    'DPP: banks that are masked',
    'v_add_u32_dpp v2, v3, v4 row_ror:4 row_mask:0xf bank_mask:0x1',
    'v_add_u32_dpp v2, v3, v4 row_ror:4 row_mask:0xf bank_mask:0x2',
  ),
  p(
    'DPP: nothing is written',
    'v_mov_b32_dpp v2, v3 row_shr:4 row_mask:0x0 bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:4 row_mask:0x1 bank_mask:0xf',
  ),
  p(
    'DPP under lanes',
    `${SOME}; v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf; ${BACK}`,
    `v_mov_b32_dpp v6, v3 row_shr:1 row_mask:0xf bank_mask:0xf; ${SOME}; v_mov_b32_e32 v2, v6; ${BACK}`,
  ),
  p(
    'DPP: a source of lanes that are off',
    `${SOME}; v_mov_b32_e32 v3, v8; ${BACK}; s_nop 7; v_mov_b32_dpp v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf`,
    `v_mov_b32_e32 v3, v8; ${SOME}; ${BACK}; s_nop 7; v_mov_b32_dpp v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf`,
  ),
];
