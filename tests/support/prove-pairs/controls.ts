// Pairs of kernels that differ: modes, controls of one instruction, time and traps, preloaded arguments, resources of buffers, and what
// gfx950 and gfx90a have of their own.
import { all, LGKM, STORE, VM } from '../prove-kernel.ts';
import { mode, on } from './loaded.ts';
import type { Pair } from './pair.ts';

const same =
  (target: string) =>
  (x: string, y: string, behind = ''): Pair =>
    on(target)(`${x} | ${y}`, x, y, behind);
const [plain, old, late] = [same('gfx942'), same('gfx90a'), same('gfx950')];
const resource = (words: readonly string[], access = 'buffer_load_dword v2, v1, s[16:19], 0 offen'): string =>
  [...words.map((word, i) => `s_mov_b32 s${16 + i}, ${word}`), access, VM].join('; ');
const buffer = (x: readonly string[], y: readonly string[], access?: string): Pair =>
  plain(resource(x, access), resource(y, access));
/** Arguments are in registers already: `count` dwords from dword `first` on. Such kernels are entered 256 bytes further. */
const preloaded = (count: number, first: number) => ({
  body: all('v_mov_b32_e32 v2, s2', STORE),
  directives: `.amdhsa_user_sgpr_kernarg_preload_length ${count}\n.amdhsa_user_sgpr_kernarg_preload_offset ${first}`,
  change: (text: string) =>
    text
      .replace('user_sgpr_count 2', `user_sgpr_count ${2 + count}`)
      .replace('\nk:\n', '\nk:\n\ts_branch .Lmain\n\t.p2align 8\n.Lmain:\n'),
});

export const PAIRS: readonly Pair[] = [
  // Modes.
  plain('v_add_f32_e32 v2, v3, v4', `${mode('0, 2', 1)}; v_add_f32_e32 v2, v3, v4`),
  plain('v_add_f32_e32 v2, v3, v4', `${mode('0, 2', 3)}; v_add_f32_e32 v2, v3, v4; ${mode('0, 2', 0)}`),
  plain('v_mul_f32_e32 v2, v3, v4', `${mode('4, 2', 3)}; v_mul_f32_e32 v2, v3, v4`),
  plain('v_cvt_f16_f32_e32 v2, v3', `${mode('2, 2', 2)}; v_cvt_f16_f32_e32 v2, v3`),
  plain('v_pk_fma_f16 v2, v3, v4, v5', `${mode('6, 2', 0)}; v_pk_fma_f16 v2, v3, v4, v5`),
  plain('v_max_f32_e32 v2, v3, v4', `${mode('9, 1', 0)}; v_max_f32_e32 v2, v3, v4`),
  plain('v_add_f32_e64 v2, v3, v4 clamp', `${mode('8, 1', 0)}; v_add_f32_e64 v2, v3, v4 clamp`),
  plain('v_cvt_pk_fp8_f32 v2, v3, v4', `${mode('23, 1', 1)}; v_cvt_pk_fp8_f32 v2, v3, v4`),
  plain(
    `s_bitcmp1_b32 s12, 0; s_cbranch_scc1 .La; ${mode('0, 2', 1)}; .La:; ${mode('0, 2', 0)}; v_add_f32_e32 v2, v3, v4`,
    `s_bitcmp1_b32 s12, 0; ${mode('0, 2', 0)}; s_cbranch_scc1 .La; ${mode('0, 2', 1)}; .La:; v_add_f32_e32 v2, v3, v4`,
  ),
  plain(
    's_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s12; v_add_f32_e32 v2, v3, v4',
    's_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s12; v_add_f32_e32 v2, v3, v4',
  ),
  plain(
    's_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 4); v_mov_b32_e32 v2, s14',
    `${mode('0, 2', 1)}; s_nop 1; s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 4); v_mov_b32_e32 v2, s14`,
  ),

  // Controls of one instruction.
  plain(
    'v_mov_b32_dpp v2, v3 row_shl:1 row_mask:0x5 bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shl:1 row_mask:0xa bank_mask:0xf',
  ),
  plain(
    'v_add_u32_dpp v2, v3, v4 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0',
    'v_add_u32_dpp v2, v3, v4 row_shl:1 row_mask:0xf bank_mask:0xf',
  ),
  plain(
    'v_mov_b64_dpp v[2:3], v[4:5] row_newbcast:3 row_mask:0xf bank_mask:0xf',
    'v_mov_b64_dpp v[2:3], v[4:5] row_newbcast:4 row_mask:0xf bank_mask:0xf',
  ),
  plain(
    'v_mov_b32_dpp v2, v3 wave_shr:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf',
  ),
  plain(
    'v_mov_b32_sdwa v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2',
    'v_mov_b32_sdwa v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_2',
  ),
  plain(
    'v_mov_b32_sdwa v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2',
    'v_mov_b32_e32 v2, 0; v_mov_b32_sdwa v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2',
  ),
  plain(
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2',
    'v_mov_b32_sdwa v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_2',
  ),
  plain(
    'v_cmp_eq_u32_sdwa s[14:15], v3, v4 src0_sel:BYTE_0 src1_sel:BYTE_0; v_cndmask_b32_e64 v2, 1, 2, s[14:15]',
    'v_cmp_eq_u32_sdwa s[14:15], v3, v4 src0_sel:BYTE_0 src1_sel:BYTE_1; v_cndmask_b32_e64 v2, 1, 2, s[14:15]',
    's_nop 0',
  ),
  plain('v_pk_add_f16 v2, v3, v4 op_sel:[0,1]', 'v_pk_add_f16 v2, v3, v4 op_sel:[1,0]'),
  plain(
    'v_pk_mul_f32 v[2:3], v[8:9], v[10:11] op_sel_hi:[0,1]',
    'v_pk_mul_f32 v[2:3], v[8:9], v[10:11] op_sel_hi:[1,0]',
  ),
  plain('v_add_f16_e64 v2, |v3|, v4', 'v_add_f16_e64 v2, v3, |v4|'),
  plain('v_fma_mix_f32 v2, v3, v4, v5 op_sel_hi:[1,0,0]', 'v_fma_mix_f32 v2, v3, v4, v5 op_sel_hi:[0,1,0]'),
  plain('v_perm_b32 v2, v3, v4, s12', 'v_perm_b32 v2, v4, v3, s12'),
  plain('v_alignbit_b32 v2, v3, v4, 8', 'v_alignbyte_b32 v2, v3, v4, 8'),
  plain('v_lshl_add_u32 v2, v3, 2, v4', 'v_add_lshl_u32 v2, v3, v4, 2'),
  plain('v_mul_f32_e64 v2, v3, v4 mul:2', 'v_mul_f32_e64 v2, v3, v4 div:2'),
  plain('v_sad_u32 v2, v3, v4, v5', 'v_sad_u16 v2, v3, v4, v5'),
  plain('v_add_f32_e32 v2, v3, v4; v_add_f32_e32 v2, v2, v5', 'v_add_f32_e32 v2, v4, v5; v_add_f32_e32 v2, v3, v2'),
  plain('v_fma_f32 v2, v3, v4, v5', 'v_mul_f32_e32 v2, v3, v4; v_add_f32_e32 v2, v2, v5'),
  plain('v_mul_f32_e32 v2, 2.0, v3', 'v_mul_f32_e32 v2, 0.5, v3'),
  plain('v_sub_f32_e32 v2, 0, v3', 'v_xor_b32_e32 v2, 0x80000000, v3'),
  plain('v_mov_b32_e32 v2, v3', 'v_max_f32_e32 v2, v3, v3'),

  // Time, traps and what a run decides.
  plain(
    's_memtime s[14:15]; s_memtime s[16:17]; s_waitcnt lgkmcnt(0); s_sub_u32 s14, s16, s14; v_mov_b32_e32 v2, s14',
    's_memtime s[14:15]; s_waitcnt lgkmcnt(0); s_sub_u32 s14, s14, s14; v_mov_b32_e32 v2, s14',
  ),
  plain(
    's_memtime s[14:15]; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v2, s14',
    's_memrealtime s[14:15]; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v2, s14',
  ),
  plain('s_nop 0', 's_trap 2'),
  plain('s_trap 2', 's_trap 3'),
  plain(
    's_getreg_b32 s14, hwreg(HW_REG_HW_ID); v_mov_b32_e32 v2, s14',
    's_getreg_b32 s14, hwreg(HW_REG_GPR_ALLOC); v_mov_b32_e32 v2, s14',
  ),
  plain('s_nop 0', 's_setvskip s12, 0'),
  plain('s_nop 0', 's_sethalt 1'),
  plain('s_getpc_b64 s[14:15]; v_mov_b32_e32 v2, s14', 's_nop 0; s_getpc_b64 s[14:15]; v_mov_b32_e32 v2, s14'),

  // Buffers.
  buffer(['s4', 's5', '0x400', '0x20000'], ['s4', 's5', '0x3fc', '0x20000']),
  buffer(['s4', 's5', '-1', '0x20000'], ['s4', 's5', '0', '0x20000']),
  buffer(['s4', 's5', '0x400', '0x20000'], ['s4', 's6', '0x400', '0x20000']),
  buffer(
    ['s4', 's5', '0x400', '0x20000'],
    ['s4', 's5', '0x400', '0x27000'],
    'buffer_load_format_x v2, v1, s[16:19], 0 offen',
  ),
  buffer(['s4', 's5', '0x400', '0x820000'], ['s4', 's5', '0x400', '0x20000']),
  buffer(
    ['s4', 's5', '0x400', '0x20000'],
    ['s4', 's5', '0x400', '0x20000'].map((w) => (w === 's5' ? 's12' : w)),
  ),
  plain(
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_dword v2, v1, s[16:19], 0 offen offset:4'),
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_dword v2, v1, s[16:19], 4 offen'),
  ),
  plain(
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_dword v2, v1, s[16:19], 0 offen'),
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_dword v2, v1, s[16:19], 0 idxen'),
  ),
  plain(
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_dwordx2 v[2:3], v1, s[16:19], 0 offen'),
    resource(
      ['s4', 's5', '0x400', '0x20000'],
      'buffer_load_dword v2, v1, s[16:19], 0 offen; buffer_load_dword v3, v1, s[16:19], 0 offen offset:8',
    ),
    'v_add_u32_e32 v2, v2, v3',
  ),
  plain(
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_sbyte v2, v1, s[16:19], 0 offen'),
    resource(['s4', 's5', '0x400', '0x20000'], 'buffer_load_ubyte v2, v1, s[16:19], 0 offen'),
  ),

  // Merged accesses.
  plain(
    'global_load_dwordx2 v[2:3], v1, s[4:5] offset:4; s_waitcnt vmcnt(0)',
    'global_load_dword v2, v1, s[4:5] offset:4; global_load_dword v3, v1, s[4:5] offset:12; s_waitcnt vmcnt(0)',
    'v_xor_b32_e32 v2, v2, v3',
  ),
  plain(
    'global_load_ushort v2, v1, s[4:5]; global_load_short_d16_hi v2, v1, s[4:5] offset:2; s_waitcnt vmcnt(0)',
    'global_load_dword v2, v1, s[4:5] offset:2; s_waitcnt vmcnt(0)',
  ),
  plain(
    'ds_read2_b32 v[2:3], v1 offset1:1; s_waitcnt lgkmcnt(0)',
    'ds_read2_b32 v[2:3], v1 offset0:1; s_waitcnt lgkmcnt(0)',
  ),
  plain(
    'ds_read2_b32 v[2:3], v1 offset1:2; s_waitcnt lgkmcnt(0)',
    'ds_read_b64 v[2:3], v1; s_waitcnt lgkmcnt(0)',
    'v_add_u32_e32 v2, v2, v3',
  ),
  plain(
    'ds_read2st64_b32 v[2:3], v1 offset1:1; s_waitcnt lgkmcnt(0)',
    'ds_read2_b32 v[2:3], v1 offset1:63; s_waitcnt lgkmcnt(0)',
    'v_add_u32_e32 v2, v2, v3',
  ),
  plain(
    'ds_write_b64 v1, v[8:9]',
    'ds_write2_b32 v1, v9, v8 offset1:1',
    `s_waitcnt lgkmcnt(0); ds_read_b32 v2, v1; ${LGKM}`,
  ),

  // Preloaded arguments.
  ['another number of preloaded arguments', preloaded(2, 0), preloaded(4, 0)],
  ['other preloaded arguments', preloaded(2, 0), preloaded(2, 2)],

  // gfx950.
  late('v_cvt_scalef32_pk_f32_fp8 v[2:3], v4, v8', 'v_cvt_scalef32_pk_f32_fp8 v[2:3], v4, v9'),
  late('v_cvt_scalef32_pk_f32_fp8 v[2:3], v4, v8', 'v_cvt_scalef32_pk_f32_bf8 v[2:3], v4, v8'),
  late('v_cvt_scalef32_pk_f32_fp8 v[2:3], v4, v8', 'v_cvt_scalef32_pk_f32_fp8 v[2:3], v4, v8 op_sel:[1,0,0]'),
  late('v_cvt_scalef32_pk_fp8_f32 v2, v4, v5, v8', 'v_cvt_scalef32_pk_fp8_f32 v2, v5, v4, v8'),
  late('v_cvt_scalef32_sr_fp8_f32 v2, v4, v5, v8', 'v_cvt_scalef32_sr_fp8_f32 v2, v4, v9, v8'),
  late('v_cvt_scalef32_pk_fp4_f32 v2, v4, v5, v8', 'v_cvt_scalef32_pk_fp4_f32 v2, v4, v5, v8 op_sel:[0,0,1,0]'),
  late('v_cvt_pk_bf16_f32 v2, v3, v4', 'v_cvt_pk_bf16_f32 v2, v4, v3'),
  late('v_cvt_pk_f16_f32 v2, v3, v4', 'v_cvt_pk_bf16_f32 v2, v3, v4'),
  late('v_permlane32_swap_b32 v2, v3', 'v_permlane16_swap_b32 v2, v3', 's_nop 1'),
  late('v_permlane32_swap_b32 v2, v3', 'v_permlane32_swap_b32 v3, v2', 's_nop 1'),
  late('v_bitop3_b32 v2, v3, v4, v5 bitop3:0x96', 'v_bitop3_b32 v2, v3, v4, v5 bitop3:0x97'),
  late('v_bitop3_b32 v2, v3, v4, v5 bitop3:0xca', 'v_bitop3_b32 v2, v4, v3, v5 bitop3:0xca'),
  late('v_prng_b32_e32 v2, v3', 'v_prng_b32_e32 v2, v4'),
  late('v_maximum3_f32 v2, v3, v4, v5', 'v_max3_f32 v2, v3, v4, v5'),
  late('v_ashr_pk_i8_i32 v2, v3, v4, 4', 'v_ashr_pk_u8_i32 v2, v3, v4, 4'),
  late('ds_read_b64_tr_b16 v[2:3], v1; s_waitcnt lgkmcnt(0)', 'ds_read_b64_tr_b8 v[2:3], v1; s_waitcnt lgkmcnt(0)'),
  late('ds_read_b64_tr_b16 v[2:3], v1; s_waitcnt lgkmcnt(0)', 'ds_read_b64 v[2:3], v1; s_waitcnt lgkmcnt(0)'),
  late(
    'v_mfma_f32_16x16x32_f16 v[2:5], v[8:11], v[12:15], v[2:5]',
    'v_mfma_f32_16x16x32_f16 v[2:5], v[12:15], v[8:11], v[2:5]',
    's_nop 15',
  ),
  late(
    'v_mfma_scale_f32_16x16x128_f8f6f4 v[2:5], v[8:15], v[16:23], v[2:5], v24, v25',
    'v_mfma_scale_f32_16x16x128_f8f6f4 v[2:5], v[8:15], v[16:23], v[2:5], v25, v24',
    's_nop 15; s_nop 15',
  ),
  late(
    'v_mfma_f32_16x16x32_bf16 v[2:5], v[8:11], v[12:15], v[2:5]',
    'v_mfma_f32_16x16x32_f16 v[2:5], v[8:11], v[12:15], v[2:5]',
    's_nop 15',
  ),
  late(
    's_mov_b32 m0, s12; s_nop 0; global_load_lds_dword v1, s[8:9]',
    's_mov_b32 m0, s13; s_nop 0; global_load_lds_dword v1, s[8:9]',
    `${VM}; ds_read_b32 v2, v1; ${LGKM}`,
  ),

  // gfx90a.
  old('v_mfma_f32_4x4x1f32 v[2:5], v8, v9, v[2:5]', 'v_mfma_f32_4x4x1f32 v[2:5], v9, v8, v[2:5]', 's_nop 15'),
  old(
    'v_mov_b32_dpp v2, v3 wave_ror:1 row_mask:0xf bank_mask:0xf',
    'v_mov_b32_dpp v2, v3 wave_rol:1 row_mask:0xf bank_mask:0xf',
  ),
  old('global_atomic_add_f64 v1, v[2:3], s[8:9]', 'global_atomic_max_f64 v1, v[2:3], s[8:9]'),
  old('ds_add_f64 v1, v[2:3]', 'ds_min_f64 v1, v[2:3]', `s_waitcnt lgkmcnt(0); ds_read_b32 v2, v1; ${LGKM}`),
];
