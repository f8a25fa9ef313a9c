// Pairs of kernels that differ: the floating point modes, set earlier, later, on one way or to another value.
import { LGKM } from '../prove-kernel.ts';
import { BACK, mode, on, SOME, W } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const late = on('gfx950');

export const PAIRS: readonly Pair[] = [
  p(
    'a mode set where lanes are on',
    `${SOME}; s_cbranch_execz .La; ${mode('0, 2', 1)}; .La:; ${BACK}; v_add_f32_e32 v2, v3, v4`,
    `${SOME}; ${mode('0, 2', 1)}; ${BACK}; v_add_f32_e32 v2, v3, v4`,
  ),
  p(
    'one product before the mode',
    `v_mul_f32_e32 v2, v3, v4; ${mode('4, 2', 3)}; v_mul_f32_e32 v2, v2, v5`,
    `${mode('4, 2', 3)}; v_mul_f32_e32 v2, v3, v4; v_mul_f32_e32 v2, v2, v5`,
  ),
  p('a trap on division by zero', 'v_rcp_f32_e32 v2, v3', `${mode('12, 7', 4)}; v_rcp_f32_e32 v2, v3`),
  p(
    'restored and not restored',
    `s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8); ${mode('0, 2', 1)}; v_add_f32_e32 v2, v3, v4; s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s14; v_add_f32_e32 v2, v2, v5`,
    `s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8); ${mode('0, 2', 1)}; v_add_f32_e32 v2, v3, v4; v_add_f32_e32 v2, v2, v5`,
  ),
  p(
    'restored in part',
    `s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8); ${mode('0, 8', 0x51)}; v_add_f32_e32 v2, v3, v4; s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s14; v_add_f32_e32 v2, v2, v5`,
    `s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8); ${mode('0, 8', 0x51)}; v_add_f32_e32 v2, v3, v4; s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s14; v_add_f32_e32 v2, v2, v5`,
  ),
  p(
    'rounding of halves and doubles',
    `${mode('2, 2', 1)}; v_cvt_f32_f64_e32 v2, v[4:5]`,
    `${mode('0, 2', 1)}; v_cvt_f32_f64_e32 v2, v[4:5]`,
  ),
  p(
    'denormals of halves in mixed fma',
    `${mode('6, 2', 0)}; v_fma_mix_f32 v2, v3, v4, v5 op_sel_hi:[1,1,0]`,
    'v_fma_mix_f32 v2, v3, v4, v5 op_sel_hi:[1,1,0]',
  ),
  p(
    'denormals of an addition in LDS',
    `${mode('4, 2', 3)}; ds_add_f32 v1, v3; ${W}; ds_read_b32 v2, v1; ${LGKM}`,
    `ds_add_f32 v1, v3; ${mode('4, 2', 3)}; ${W}; ds_read_b32 v2, v1; ${LGKM}`,
  ),
  p(
    'denormals of a minimum in LDS',
    `${mode('4, 2', 3)}; ds_min_rtn_f32 v2, v1, v3; ${W}`,
    `ds_min_rtn_f32 v2, v1, v3; ${W}`,
  ),
  p(
    'a mode round a loop',
    `s_mov_b32 s14, 3; .Ll:; v_add_f32_e32 v2, v2, v3; ${mode('0, 2', 1)}; s_sub_u32 s14, s14, 1; s_cmp_lg_u32 s14, 0; s_cbranch_scc1 .Ll`,
    `s_mov_b32 s14, 3; ${mode('0, 2', 1)}; .Ll:; v_add_f32_e32 v2, v2, v3; s_sub_u32 s14, s14, 1; s_cmp_lg_u32 s14, 0; s_cbranch_scc1 .Ll`,
  ),
  p(
    'a mode on one way',
    `s_bitcmp1_b32 s12, 3; s_cbranch_scc1 .La; ${mode('0, 2', 2)}; .La:; v_add_f32_e32 v2, v3, v4`,
    `s_bitcmp0_b32 s12, 3; s_cbranch_scc1 .La; ${mode('0, 2', 2)}; .La:; v_add_f32_e32 v2, v3, v4`,
  ),
  p(
    'a mode that a number says',
    's_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s12; v_add_f32_e32 v2, v3, v4',
    's_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s13; v_add_f32_e32 v2, v3, v4',
  ),
  p(
    'conversion to fp8 with clamping',
    `${mode('23, 1', 1)}; v_cvt_pk_bf8_f32 v2, v3, v4`,
    'v_cvt_pk_bf8_f32 v2, v3, v4',
  ),
  late('bf16 rounding', `${mode('2, 2', 3)}; v_cvt_pk_bf16_f32 v2, v3, v4`, 'v_cvt_pk_bf16_f32 v2, v3, v4'),
  p('another hardware register', 's_setreg_b32 hwreg(HW_REG_STATUS, 0, 1), s12', 's_nop 0'),
  p('a square root in another mode', `${mode('4, 2', 3)}; v_sqrt_f32_e32 v2, v3`, 'v_sqrt_f32_e32 v2, v3'),
  p(
    'fract and rounding',
    `${mode('0, 2', 3)}; v_rndne_f32_e32 v2, v3; v_add_f32_e32 v2, v2, v4`,
    `v_rndne_f32_e32 v2, v3; v_add_f32_e32 v2, v2, v4; ${mode('0, 2', 3)}`,
  ),
  p(
    'a packed sum in another mode',
    `${mode('0, 2', 1)}; v_pk_add_f32 v[2:3], v[4:5], v[8:9]`,
    `v_pk_add_f32 v[2:3], v[4:5], v[8:9]`,
  ),
  p(
    'a matrix product in another mode',
    `${mode('4, 4', 0)}; v_mfma_f32_4x4x1f32 v[8:11], v3, v4, v[8:11]; s_nop 7; v_mov_b32_e32 v2, v8`,
    `v_mfma_f32_4x4x1f32 v[8:11], v3, v4, v[8:11]; s_nop 7; v_mov_b32_e32 v2, v8`,
  ),
];
