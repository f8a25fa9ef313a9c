// One instruction at a time: text in, registers before, registers after. Expected values are written out or computed independently.
import { describe, expect, it, test } from 'vitest';
import {
  DEFAULT_MODE,
  execute,
  f32,
  lanes,
  makeWave,
  type Registers,
  step,
} from '../../../../tests/support/one-instruction.ts';
import type { TargetName } from '../../../isa/types.ts';
import { VCC } from '../state/wave.ts';

const h = (text: string): number => Number.parseInt(text, 16);
const ramp = Array.from({ length: 64 }, (_, lane) => lane);
const unsigned = (x: number): number => x >>> 0;

type Row = readonly [text: string, before: Registers, after: Readonly<Record<string, number | bigint>>];

function check(target: TargetName, [text, before, after]: Row): void {
  const w = execute(target, text, before);
  for (const [name, expected] of Object.entries(after)) {
    const index = Number(name.slice(1));
    let got: number | bigint;
    if (name === 'scc') got = w.scc ? 1 : 0;
    else if (name === 'vcc') got = w.s64(VCC);
    else if (name === 'exec') got = w.s64(126);
    else if (name[0] === 's') got = typeof expected === 'bigint' ? w.s64(index) : unsigned(w.sgprs[index] as number);
    else got = lanes(w, index)[0] as number;
    const value = typeof expected === 'bigint' ? expected : unsigned(expected);
    expect({ [name]: got.toString(16) }).toEqual({ [name]: value.toString(16) });
  }
}

describe('MODE', () => {
  // Roundings in bits 0 to 3, denormals read and written in 4 to 7 (f32, then f16 and f64), DX10_CLAMP 0x100, IEEE 0x200.
  test.each<Row>([
    ['v_med3_f32 v0, v1, v2, v3', { mode: 0x1d0, v1: 5, v2: f32(-1), v3: f32(1) }, { v0: 0 }],
    ['v_div_fixup_f32 v0, v1, v2, v3', { mode: 0x1d0, v1: 5, v2: f32(-1), v3: f32(1) }, { v0: h('80000000') }],
    ['v_cubetc_f32 v0, v1, v2, v3', { mode: 0x1d0, v1: f32(2), v2: 7, v3: 0 }, { v0: h('80000000') }],
    ['v_cvt_pkrtz_f16_f32 v0, v1, v1', { mode: 0x170, v1: h('b8000000') }, { v0: h('80008000') }],
    // -1 in the lowest place: below 1 by less than a half of the last place.
    ['v_fract_f64_e32 v[0:1], v[2:3]', { mode: 0x3fc, v2: 0, v3: h('bca00000') }, { v0: -1, v1: h('3fefffff') }],
    ['v_fract_f64_e32 v[0:1], v[2:3]', { mode: 0x3f8, v2: 0, v3: h('40080000') }, { v0: 0, v1: 0 }],
    ['v_add_f64 v[0:1], v[2:3], 0 mul:2', { mode: 0x7c, v2: -1, v3: h('7fefffff') }, { v0: -1, v1: h('7fefffff') }],
    ['v_add_f32_e64 v0, v1, 0 mul:4', { mode: 0x1d0, v1: h('00400000') }, { v0: 0 }],
    ['v_exp_f16_e32 v0, v1', { mode: 0x3f4, v1: h('fc00') }, { v0: 0 }],
    ['v_exp_f16_e32 v0, v1', { mode: 0x3fc, v1: h('7c00') }, { v0: h('7c00') }],
    // FP16_OVFL.
    ['v_add_f16_e32 v0, v1, v1', { mode: 0x8003f0, v1: h('7bff') }, { v0: h('7bff') }],
    ['v_add_f16_e32 v0, v1, v1', { mode: 0x8003f0, v1: h('fc00') }, { v0: h('fc00') }],
    ['v_pk_mul_f16 v0, v1, v1', { mode: 0x8003f0, v1: h('7c007bff') }, { v0: h('7c007bff') }],
    ['v_rcp_f16_e32 v0, v1', { mode: 0x8003f0, v1: h('8000') }, { v0: h('fc00') }],
    ['v_rcp_f16_e32 v0, v1', { mode: 0x8003f0, v1: 1 }, { v0: h('7bff') }],
    ['v_cvt_f16_f32_e32 v0, v1', { mode: 0x8003f0, v1: f32(-1e6) }, { v0: h('fbff') }],
    ['v_div_fmas_f32 v0, v1, v1, v2', { mode: 0x3f2, v1: 0, v2: h('80000000') }, { v0: h('80000000') }],
  ])('%s', (...row) => check('gfx942', row));
});

describe('scalar', () => {
  test.each<Row>([
    ['s_add_u32 s0, s1, s2', { s1: -1, s2: 1 }, { s0: 0, scc: 1 }],
    ['s_addc_u32 s0, s1, s2', { s1: 5, s2: 6, scc: 1 }, { s0: 12, scc: 0 }],
    ['s_subb_u32 s0, s1, s2', { s1: 0, s2: 0, scc: 1 }, { s0: -1, scc: 1 }],
    ['s_add_i32 s0, s1, s2', { s1: h('7fffffff'), s2: 1 }, { s0: h('80000000'), scc: 1 }],
    ['s_sub_i32 s0, s1, s2', { s1: h('80000000') | 0, s2: 1 }, { s0: h('7fffffff'), scc: 1 }],
    ['s_min_i32 s0, s1, s2', { s1: -5, s2: 3 }, { s0: -5, scc: 1 }],
    ['s_max_u32 s0, s1, s2', { s1: -5, s2: 3 }, { s0: -5, scc: 1 }],
    ['s_mul_hi_u32 s0, s1, s2', { s1: -1, s2: -1 }, { s0: -2 }],
    ['s_mul_hi_i32 s0, s1, s2', { s1: -1, s2: -1 }, { s0: 0 }],
    ['s_bfe_u32 s0, s1, 0x80004', { s1: h('12345678') }, { s0: h('67'), scc: 1 }],
    ['s_bfe_i32 s0, s1, 0x40004', { s1: h('f0') }, { s0: -1, scc: 1 }],
    ['s_bfe_u64 s[0:1], s[2:3], 0x280010', { s2: 0x123456789abcdef0n }, { s0: 0x3456789abcn, scc: 1 }],
    ['s_bfm_b32 s0, 8, 4', {}, { s0: h('ff0') }],
    ['s_bcnt1_i32_b64 s0, s[2:3]', { s2: 0xff00000000000001n }, { s0: 9, scc: 1 }],
    ['s_ff1_i32_b32 s0, s1', { s1: 0 }, { s0: -1 }],
    ['s_ff0_i32_b32 s0, s1', { s1: 7 }, { s0: 3 }],
    ['s_flbit_i32_b32 s0, s1', { s1: 1 }, { s0: 31 }],
    ['s_flbit_i32 s0, s1', { s1: -2 }, { s0: 31 }],
    ['s_brev_b32 s0, s1', { s1: 1 }, { s0: h('80000000') }],
    ['s_wqm_b64 s[0:1], s[2:3]', { s2: 0x8000000000000021n }, { s0: 0xf0000000000000ffn, scc: 1 }],
    ['s_quadmask_b64 s[0:1], s[2:3]', { s2: 0x8000000000000021n }, { s0: 0x8003n, scc: 1 }],
    ['s_quadmask_b32 s0, s1', { s1: h('10000100') }, { s0: h('84'), scc: 1 }],
    ['s_bitreplicate_b64_b32 s[0:1], s2', { s2: h('80000005') | 0 }, { s0: 0xc000000000000033n }],
    ['s_bitset1_b64 s[0:1], s2', { s0: 0n, s2: 40 }, { s0: 1n << 40n }],
    ['s_and_saveexec_b64 s[0:1], s[2:3]', { exec: 0xffn, s2: 0xf0fn }, { s0: 0xffn, exec: 0xfn, scc: 1 }],
    ['s_andn1_saveexec_b64 s[0:1], s[2:3]', { exec: 0xffn, s2: 0xfn }, { s0: 0xffn, exec: 0xf0n, scc: 1 }],
    ['s_andn2_wrexec_b64 s[0:1], s[2:3]', { exec: 0xfn, s2: 0xffn }, { s0: 0xf0n, exec: 0xf0n, scc: 1 }],
    ['s_cselect_b32 s0, 1, 2', { scc: 1 }, { s0: 1 }],
    ['s_cmov_b32 s0, 7', { s0: 1, scc: 0 }, { s0: 1 }],
    ['s_cmpk_lt_i32 s0, -3', { s0: -4 }, { scc: 1 }],
    ['s_cmpk_gt_u32 s0, 0xfffe', { s0: h('ffff') }, { scc: 1 }],
    ['s_addk_i32 s0, -1', { s0: h('80000000') | 0 }, { s0: h('7fffffff'), scc: 1 }],
    ['s_mulk_i32 s0, -2', { s0: 21 }, { s0: -42 }],
    ['s_absdiff_i32 s0, s1, s2', { s1: 3, s2: 10 }, { s0: 7, scc: 1 }],
    ['s_lshl3_add_u32 s0, s1, s2', { s1: h('20000000'), s2: 5 }, { s0: 5, scc: 1 }],
    ['s_pack_lh_b32_b16 s0, s1, s2', { s1: h('aaaa1111'), s2: h('2222bbbb') }, { s0: h('22221111') }],
    ['s_sext_i32_i8 s0, s1', { s1: h('80') }, { s0: -128 }],
    ['s_mov_b64 s[0:1], 1.0', {}, { s0: 0x3ff0000000000000n }],
    ['s_mov_b64 s[0:1], -7', {}, { s0: 0xfffffffffffffff9n }],
    ['s_mov_b64 s[0:1], src_shared_base', {}, { s0: 0x0001000000000000n }],
    ['s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)', {}, { s0: 15 }],
    ['s_movrels_b32 s0, s4', { m0: 3, s7: 99 }, { s0: 99 }],
    ['s_movreld_b32 s4, s1', { m0: 2, s1: 55 }, { s6: 55 }],
  ])('should execute `%s`', (...row) => check('gfx942', row as unknown as Row));

  it('should change rounding and denormals with s_setreg', () => {
    const w = makeWave('gfx942', { v1: f32(1), v2: f32(2 ** -30) });
    step(w, 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1');
    expect(w.mode & 0xf).toBe(1);
    step(w, 'v_add_f32 v0, v1, v2');
    expect(lanes(w, 0)[0]).toBe(f32(1) + 1);
  });
});

describe('vector integer', () => {
  test.each<Row>([
    ['v_add_u32 v0, v1, v2', { v1: -1, v2: 2 }, { v0: 1 }],
    ['v_add_u32_e64 v0, v1, v2 clamp', { v1: -1, v2: 2 }, { v0: -1 }],
    ['v_sub_u32_e64 v0, v1, v2 clamp', { v1: 1, v2: 2 }, { v0: 0 }],
    ['v_add_i32 v0, v1, v2 clamp', { v1: h('7fffffff'), v2: 1 }, { v0: h('7fffffff') }],
    ['v_subrev_u32 v0, 1, v2', { v2: 5 }, { v0: 4 }],
    ['v_add_co_u32 v0, vcc, v1, v2', { v1: -1, v2: 1 }, { v0: 0, vcc: 0xffffffffffffffffn }],
    ['v_addc_co_u32 v0, vcc, v1, v2, vcc', { v1: 1, v2: 1, vcc: 1n }, { v0: 3, vcc: 0n }],
    ['v_subb_co_u32 v0, vcc, v1, v2, vcc', { v1: 0, v2: 0, vcc: 1n }, { v0: -1, vcc: 1n }],
    ['v_subbrev_co_u32 v0, vcc, v1, v2, vcc', { v1: 1, v2: 3, vcc: 1n }, { v0: 1, vcc: 0n }],
    [
      'v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]',
      { v2: -1, v3: -1, v4: -1, v5: 1 },
      { v0: 0, v1: 0, vcc: 0xffffffffffffffffn },
    ],
    ['v_mad_i64_i32 v[0:1], vcc, v2, v3, v[4:5]', { v2: -2, v3: 3, v4: 1, v5: 0 }, { v0: -5, v1: -1 }],
    ['v_mul_hi_u32 v0, v1, v2', { v1: -1, v2: -1 }, { v0: -2 }],
    ['v_mul_i32_i24 v0, v1, v2', { v1: h('ffffff'), v2: 5 }, { v0: -5 }],
    ['v_mul_hi_u32_u24 v0, v1, v2', { v1: h('ffffffff') | 0, v2: h('ffffff') }, { v0: h('ffff') }],
    ['v_mad_u32_u24 v0, v1, v2, 3', { v1: 4, v2: 5 }, { v0: 23 }],
    ['v_lshl_add_u32 v0, v1, 3, v2', { v1: 4, v2: 5 }, { v0: 37 }],
    ['v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]', { v2: h('40000000'), v3: 0, v4: 1, v5: 0 }, { v0: 1, v1: 1 }],
    ['v_ashrrev_i64 v[0:1], 4, v[2:3]', { v2: 0, v3: h('80000000') | 0 }, { v0: 0, v1: h('f8000000') }],
    ['v_alignbit_b32 v0, v1, v2, 8', { v1: h('12'), v2: h('34567890') }, { v0: h('12345678') }],
    ['v_alignbyte_b32 v0, v1, v2, 3', { v1: h('aabbccdd') | 0, v2: h('11223344') }, { v0: h('bbccdd11') }],
    ['v_bfe_u32 v0, v1, 8, 8', { v1: h('12345678') }, { v0: h('56') }],
    ['v_bfe_i32 v0, v1, 4, 4', { v1: h('80') }, { v0: -8 }],
    ['v_bfi_b32 v0, v1, v2, v3', { v1: h('ff00'), v2: h('1234'), v3: h('5678') }, { v0: h('1278') }],
    ['v_bfm_b32 v0, 4, 8', {}, { v0: h('f00') }],
    [
      'v_perm_b32 v0, v1, v2, v3',
      { v1: h('87654321') | 0, v2: h('0f0e0d0c'), v3: h('0b0c0700') },
      { v0: h('ff00870c') },
    ],
    ['v_ffbh_u32 v0, v1', { v1: 0 }, { v0: -1 }],
    ['v_ffbh_i32 v0, v1', { v1: -1 }, { v0: -1 }],
    ['v_ffbl_b32 v0, v1', { v1: 8 }, { v0: 3 }],
    ['v_bcnt_u32_b32 v0, v1, v2', { v1: h('ff'), v2: 1 }, { v0: 9 }],
    ['v_sad_u8 v0, v1, v2, v3', { v1: h('01020304'), v2: h('04030201'), v3: 100 }, { v0: 108 }],
    ['v_msad_u8 v0, v1, v2, 0', { v1: h('01020304'), v2: h('00030200') }, { v0: 2 }],
    ['v_sad_hi_u8 v0, v1, v2, 1', { v1: 5, v2: 3 }, { v0: h('20001') }],
    ['v_sad_u16 v0, v1, v2, 0', { v1: h('00050001'), v2: h('00010009') }, { v0: 12 }],
    ['v_lerp_u8 v0, v1, v2, v3', { v1: h('ff01'), v2: h('ff02'), v3: h('0001') }, { v0: h('ff02') }],
    ['v_med3_i32 v0, v1, v2, v3', { v1: 9, v2: -4, v3: 2 }, { v0: 2 }],
    ['v_min3_u32 v0, v1, v2, v3', { v1: 9, v2: -4, v3: 2 }, { v0: 2 }],
    ['v_mad_i16 v0, v1, v2, v3', { v0: h('abcd0000') | 0, v1: -3, v2: 5, v3: 1 }, { v0: h('abcdfff2') }],
    ['v_add_u16 v0, v1, v2', { v0: -1, v1: h('ffff'), v2: 2 }, { v0: 1 }],
    ['v_pk_add_u16 v0, v1, v2', { v1: h('ffff0001'), v2: h('00010002') }, { v0: 3 }],
    ['v_pk_add_i16 v0, v1, v2 clamp', { v1: h('7fff8000'), v2: h('0001ffff') }, { v0: h('7fff8000') }],
    [
      'v_pk_add_u16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]',
      { v1: h('00100020'), v2: h('00010002') },
      { v0: h('00210012') },
    ],
    ['v_pk_ashrrev_i16 v0, v1, v2', { v1: h('00040001'), v2: h('80008000') | 0 }, { v0: h('f800c000') }],
    ['v_dot4_i32_i8 v0, v1, v2, v3', { v1: h('ff02fe01'), v2: h('05040302'), v3: 10 }, { v0: 10 - 5 + 8 - 6 + 2 }],
    ['v_dot4_u32_u8 v0, v1, v2, 0', { v1: h('ff000000') | 0, v2: h('02000000') }, { v0: 510 }],
    ['v_dot2_i32_i16 v0, v1, v2, 1', { v1: h('ffff0002'), v2: h('00030004') }, { v0: 6 }],
    ['v_dot8_i32_i4 v0, v1, v2, 0', { v1: h('f0000001') | 0, v2: h('20000003') }, { v0: 1 }],
    ['v_sat_pk_u8_i16 v0, v1', { v1: h('012cffff') }, { v0: h('ff00') }],
    ['v_cndmask_b32 v0, v1, v2, vcc', { v1: 1, v2: 2, vcc: 1n }, { v0: 2 }],
    ['v_cndmask_b32_e64 v0, v1, -v2, s[4:5]', { v1: 1, v2: f32(2), s4: 1n }, { v0: f32(-2) }],
    ['v_xad_u32 v0, v1, v2, v3', { v1: 6, v2: 3, v3: 10 }, { v0: 15 }],
    ['v_add3_u32 v0, v1, v2, v3', { v1: 1, v2: 2, v3: 3 }, { v0: 6 }],
    [
      'v_qsad_pk_u16_u8 v[0:1], v[2:3], v4, v[6:7]',
      { v2: h('04030201'), v3: h('08070605'), v4: h('04030201'), v6: 1, v7: 0 },
      { v0: h('00040001'), v1: h('000c0008') },
    ],
  ])('should execute `%s`', (...row) => check('gfx942', row as unknown as Row));

  test.each<Row>([
    [
      'v_bitop3_b32 v0, v1, v2, v3 bitop3:0xca',
      { v1: h('f0f0f0f0') | 0, v2: h('12345678'), v3: h('9abcdef0') | 0 },
      { v0: h('1abc5e70') & h('ffffffff') },
    ],
    ['v_ashr_pk_u8_i32 v0, v1, v2, 4', { v0: h('abcd0000') | 0, v1: h('7fff'), v2: -1 }, { v0: h('abcd00ff') }],
    ['v_prng_b32 v0, v1', { v1: h('80000001') | 0 }, { v0: 2 ^ 197 }],
  ])('should execute `%s` on gfx950', (text, before, after) => {
    if (text.startsWith('v_bitop3')) {
      const [a, b, c] = [before.v1, before.v2, before.v3] as number[];
      check('gfx950', [text, before, { v0: ((a as number) & (b as number)) | (~(a as number) & (c as number)) }]);
    } else check('gfx950', [text, before, after]);
  });

  it('should count lower lanes with v_mbcnt', () => {
    const w = makeWave('gfx942');
    step(w, 'v_mbcnt_lo_u32_b32 v0, -1, 0');
    step(w, 'v_mbcnt_hi_u32_b32 v0, -1, v0');
    expect(lanes(w, 0)).toEqual(ramp);
  });
});

describe('vector float', () => {
  const third = Math.fround(1 / 3);
  test.each<Row>([
    [
      'v_add_f32 v0, v1, v2',
      { v1: f32(0.1), v2: f32(0.2) },
      { v0: f32(Math.fround(Math.fround(0.1) + Math.fround(0.2))) },
    ],
    ['v_fma_f32 v0, v1, v2, v3', { v1: f32(third), v2: f32(3), v3: f32(-1) }, { v0: f32(third * 3 - 1) }],
    ['v_mul_f32_e64 v0, |v1|, -v2 mul:2', { v1: f32(-3), v2: f32(4) }, { v0: f32(-12) }],
    ['v_add_f32_e64 v0, v1, v2 clamp', { v1: f32(0.75), v2: f32(0.5) }, { v0: f32(1) }],
    ['v_min_f32 v0, v1, v2', { v1: h('7fc00000'), v2: f32(2) }, { v0: f32(2) }],
    ['v_max_f32 v0, v1, v2', { v1: f32(-0), v2: f32(0) }, { v0: f32(0) }],
    // NaN operands: 0x7f8… is signalling; MODE 0x1f0 is without IEEE.
    ['v_min_f32 v0, v1, v2', { v1: h('7f812345'), v2: f32(2) }, { v0: h('7fc12345') }],
    ['v_max_f32 v0, v1, v2', { v1: h('7fc00001'), v2: h('ff812345') }, { v0: h('ffc12345') }],
    ['v_min_f32 v0, v1, v2', { mode: h('1f0'), v1: h('7f812345'), v2: f32(2) }, { v0: f32(2) }],
    ['v_max_f32 v0, v1, v2', { mode: h('1f0'), v1: h('7f812345'), v2: h('7fc00077') }, { v0: h('7fc00077') }],
    ['v_max_f32_e64 v0, v1, -v2', { v1: h('7fc00001'), v2: h('7fc00077') }, { v0: h('ffc00077') }],
    ['v_max_f32_e64 v0, v1, v1 clamp', { v1: h('7f812345') }, { v0: 0 }],
    ['v_min3_f32 v0, v1, v2, v3', { v1: h('7f812345'), v2: h('7fc00001'), v3: f32(3) }, { v0: f32(3) }],
    ['v_med3_f32 v0, v1, v2, v3', { v1: f32(5), v2: f32(1), v3: h('ff800001') }, { v0: h('ffc00001') }],
    ['v_med3_f32 v0, v1, v2, v3', { v1: f32(-0), v2: f32(0), v3: f32(-1) }, { v0: 0 }],
    ['v_pk_max_f16 v0, v1, v2', { v1: h('7c013c00'), v2: h('40007e05') }, { v0: h('7e013c00') }],
    ['v_min_f64 v[0:1], v[2:3], v[4:5]', { v2: 1, v3: h('7ff00000'), v5: h('40000000') }, { v0: 1, v1: h('7ff80000') }],
    ['v_frexp_mant_f32 v0, v1', { v1: h('ff812345') }, { v0: h('ff812345') }],
    ['v_div_fixup_f32 v0, v1, v2, v3', { v1: f32(1), v2: h('7fc00002'), v3: h('ff800001') }, { v0: h('ffc00001') }],
    ['v_div_fixup_f32 v0, v1, v2, v3', { v1: f32(1), v2: 0, v3: 0 }, { v0: h('ffc00000') }],
    // Output modifiers act without IEEE and where denormal results are flushed, and leave no negative zero.
    ['v_add_f32_e64 v0, v1, v1 mul:2', { mode: h('1c0'), v1: f32(1) }, { v0: f32(4) }],
    ['v_add_f32_e64 v0, v1, v1 mul:2', { mode: h('3c0'), v1: f32(1) }, { v0: f32(2) }],
    ['v_add_f32_e64 v0, v1, v1 mul:2', { mode: h('1e0'), v1: f32(1) }, { v0: f32(2) }],
    ['v_mul_f32_e64 v0, v1, v2 div:2', { mode: h('1c0'), v1: f32(-0), v2: f32(1) }, { v0: 0 }],
    ['v_mul_f32_e64 v0, v1, 1.0 div:2', { mode: h('1c0'), v1: f32(-(2 ** -126)) }, { v0: 0 }],
    ['v_cvt_pk_f32_bf8_e64 v[0:1], v2 mul:2', { mode: h('1c0'), v2: h('4440') }, { v0: f32(2), v1: f32(4) }],
    ['v_cvt_pk_f32_bf8_e64 v[0:1], v2 mul:2', { mode: h('1f0'), v2: h('4440') }, { v0: f32(1), v1: f32(2) }],
    ['v_add_f16_e64 v0, v1, v1 mul:4', { mode: h('130'), v1: h('3c00') }, { v0: h('4800') }],
    ['v_add_f16_e64 v0, v1, v1 mul:4', { mode: h('1f0'), v1: h('3c00') }, { v0: h('4000') }],
    ['v_med3_f32 v0, v1, v2, v3', { v1: f32(5), v2: f32(-1), v3: f32(2) }, { v0: f32(2) }],
    ['v_rndne_f32 v0, v1', { v1: f32(2.5) }, { v0: f32(2) }],
    ['v_fract_f32 v0, v1', { v1: f32(-1e-20) }, { v0: h('3f7fffff') }],
    ['v_frexp_exp_i32_f32 v0, v1', { v1: f32(12) }, { v0: 4 }],
    ['v_frexp_mant_f32 v0, v1', { v1: f32(-12) }, { v0: f32(-0.75) }],
    ['v_ldexp_f32 v0, v1, v2', { v1: f32(1.5), v2: -149 }, { v0: 2 }],
    ['v_exp_f32 v0, v1', { v1: f32(3) }, { v0: f32(8) }],
    ['v_log_f32 v0, v1', { v1: f32(8) }, { v0: f32(3) }],
    ['v_rcp_f32 v0, v1', { v1: f32(4) }, { v0: f32(0.25) }],
    ['v_rsq_f32 v0, v1', { v1: f32(4) }, { v0: f32(0.5) }],
    ['v_sin_f32 v0, v1', { v1: f32(0.25) }, { v0: f32(1) }],
    ['v_cos_f32 v0, v1', { v1: f32(0.5) }, { v0: f32(-1) }],
    ['v_cvt_i32_f32 v0, v1', { v1: f32(-3.9) }, { v0: -3 }],
    ['v_cvt_u32_f32 v0, v1', { v1: f32(-1) }, { v0: 0 }],
    ['v_cvt_i32_f32 v0, v1', { v1: f32(3e9) }, { v0: h('7fffffff') }],
    ['v_cvt_flr_i32_f32 v0, v1', { v1: f32(-3.1) }, { v0: -4 }],
    ['v_cvt_rpi_i32_f32 v0, v1', { v1: f32(2.5) }, { v0: 3 }],
    ['v_cvt_f32_ubyte2 v0, v1', { v1: h('00800000') }, { v0: f32(128) }],
    ['v_cvt_off_f32_i4 v0, v1', { v1: 8 }, { v0: f32(-0.5) }],
    ['v_cvt_f16_f32 v0, v1', { v1: f32(65520) }, { v0: h('7c00') }],
    ['v_cvt_f32_f16 v0, v1', { v1: h('0001') }, { v0: f32(2 ** -24) }],
    ['v_cvt_pkrtz_f16_f32 v0, v1, v2', { v1: f32(1.9999), v2: f32(-1.9999) }, { v0: h('bfff3fff') }],
    ['v_cvt_pk_u8_f32 v0, v1, 2, v3', { v1: f32(300), v3: h('11223344') }, { v0: h('11ff3344') }],
    ['v_cvt_pknorm_i16_f32 v0, v1, v2', { v1: f32(1), v2: f32(-2) }, { v0: h('80017fff') }],
    ['v_cvt_pk_i16_i32 v0, v1, v2', { v1: 70000, v2: -70000 }, { v0: h('80007fff') }],
    ['v_cvt_f64_f32 v[0:1], v2', { v2: f32(1.5) }, { v0: 0, v1: h('3ff80000') }],
    [
      'v_fma_f64 v[0:1], v[2:3], v[4:5], 1.0',
      { v2: 0, v3: h('40000000'), v4: 0, v5: h('40080000') },
      { v0: 0, v1: h('401c0000') },
    ],
    ['v_cmp_class_f32 vcc, v1, v2', { v1: h('7f800001'), v2: 1 }, { vcc: 0xffffffffffffffffn }],
    ['v_cmp_lt_f32 vcc, v1, v2', { v1: f32(1), v2: ramp.map((x) => f32(x)) }, { vcc: 0xfffffffffffffffcn }],
    ['v_cmp_nlt_f32 vcc, v1, v2', { v1: h('7fc00000'), v2: 0 }, { vcc: 0xffffffffffffffffn }],
    ['v_cmpx_eq_u32 exec, v1, v2', { v1: ramp, v2: 5 }, { exec: 0x20n }],
    ['v_cmp_gt_i16 vcc, v1, v2', { v1: 1, v2: h('ffff') }, { vcc: 0xffffffffffffffffn }],
    ['v_add_f16 v0, v1, v2', { v0: -1, v1: h('3c00'), v2: h('3c00') }, { v0: h('4000') }],
    [
      'v_fma_f16 v0, v1, v2, v3 op_sel:[1,0,0,1]',
      { v0: h('1234'), v1: h('40000000'), v2: h('4000'), v3: h('3c00') },
      { v0: h('45001234') },
    ],
    [
      'v_pk_fma_f16 v0, v1, v2, v3 neg_lo:[1,0,0]',
      { v1: h('3c003c00'), v2: h('40004000'), v3: 0 },
      { v0: h('4000c000') },
    ],
    [
      'v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel_hi:[1,0]',
      { v2: f32(2), v3: f32(3), v4: f32(5), v5: f32(7) },
      { v0: f32(10), v1: f32(15) },
    ],
    ['v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]', { v2: 1, v3: 2, v4: 3, v5: 4 }, { v0: 2, v1: 3 }],
    ['v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,0,0]', { v1: h('3c00'), v2: f32(2), v3: f32(0.5) }, { v0: f32(2.5) }],
    ['v_fma_mixhi_f16 v0, v1, v2, v3', { v0: 7, v1: f32(1), v2: f32(2), v3: f32(0) }, { v0: h('40000007') }],
    ['v_dot2_f32_f16 v0, v1, v2, v3', { v1: h('40003c00'), v2: h('42004000'), v3: f32(1) }, { v0: f32(9) }],
    ['v_cvt_pk_fp8_f32 v0, v1, v2', { v0: h('ffff0000') | 0, v1: f32(1), v2: f32(-2) }, { v0: h('ffffc840') }],
    ['v_cvt_pk_bf8_f32 v0, v1, v2 op_sel:[0,0,1]', { v0: h('1234'), v1: f32(1), v2: f32(1000) }, { v0: h('68401234') }],
    ['v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_1', { v1: h('4000') }, { v0: f32(1) }],
    ['v_cvt_pk_f32_bf8 v[0:1], v2', { v2: h('4440') }, { v0: f32(1), v1: f32(2) }],
    ['v_cubeid_f32 v0, v1, v2, v3', { v1: f32(1), v2: f32(-3), v3: f32(2) }, { v0: f32(3) }],
    ['v_mul_legacy_f32 v0, v1, v2', { v1: 0, v2: h('7f800000') }, { v0: 0 }],
  ])('should execute `%s`', (...row) => check('gfx942', row as unknown as Row));

  test.each<Row>([
    ['v_cvt_pk_fp8_f32 v0, v1, v2', { v1: f32(1), v2: f32(-2) }, { v0: h('c038') }],
    ['v_cvt_pk_bf16_f32 v0, v1, v2', { v1: f32(1), v2: f32(-2) }, { v0: h('c0003f80') }],
    ['v_maximum3_f32 v0, v1, v2, v3', { v1: f32(1), v2: h('7fc00000'), v3: f32(3) }, { v0: h('7fc00000') }],
    ['v_cvt_scalef32_pk_fp4_f32 v0, v1, v2, v3', { v0: 0, v1: f32(3), v2: f32(-12), v3: f32(2) }, { v0: h('f3') }],
    ['v_cvt_scalef32_pk_f32_fp4 v[0:1], v2, v3', { v2: h('f3'), v3: f32(2) }, { v0: f32(3), v1: f32(-12) }],
    [
      'v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]',
      { v0: h('5678'), v1: f32(4), v2: f32(8), v3: f32(4) },
      { v0: h('40385678') },
    ],
    ['v_cvt_scalef32_f16_fp8 v0, v1, v2', { v0: h('ffff0000') | 0, v1: h('38'), v2: f32(4) }, { v0: h('ffff4400') }],
  ])('should execute `%s` on gfx950', (...row) => check('gfx950', row as unknown as Row));

  it('should flush denormals when MODE says so', () => {
    const before = { v1: 5, v2: 7 };
    expect(lanes(execute('gfx942', 'v_add_f32 v0, v1, v2', before), 0)[0]).toBe(12);
    const flushed = { ...before, mode: DEFAULT_MODE & ~0x30 };
    expect(lanes(execute('gfx942', 'v_add_f32 v0, v1, v2', flushed), 0)[0]).toBe(0);
  });
  it('should round the unfused v_mad_f32 twice', () => {
    const before = { v1: f32(third), v2: f32(3), v3: f32(-1) };
    expect(lanes(execute('gfx90a', 'v_mad_f32 v0, v1, v2, v3', before), 0)[0]).toBe(0);
  });
});

describe('cross-lane', () => {
  const dpp = (text: string, before: Registers = {}): number[] =>
    lanes(execute('gfx942', `v_mov_b32_dpp v0, v1 ${text}`, { v0: 99, v1: ramp, ...before }), 0);
  it('should move lanes with DPP', () => {
    expect(dpp('quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf').slice(0, 4)).toEqual([3, 2, 1, 0]);
    expect(dpp('row_shl:1 row_mask:0xf bank_mask:0xf').slice(13, 17)).toEqual([14, 15, 99, 17]);
    expect(dpp('row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0').slice(0, 4)).toEqual([0, 0, 0, 1]);
    expect(dpp('row_ror:1 row_mask:0xf bank_mask:0xf').slice(0, 2)).toEqual([15, 0]);
    expect(dpp('row_bcast:15 row_mask:0xa bank_mask:0xf').filter((_, i) => i % 16 === 0)).toEqual([99, 15, 99, 47]);
    expect(dpp('row_bcast:31 row_mask:0xc bank_mask:0xf').filter((_, i) => i % 16 === 0)).toEqual([99, 99, 31, 31]);
    expect(dpp('row_newbcast:3 row_mask:0xf bank_mask:0xf').slice(16, 18)).toEqual([19, 19]);
    expect(dpp('row_mirror row_mask:0xf bank_mask:0xf').slice(0, 2)).toEqual([15, 14]);
    expect(dpp('wave_ror:1 row_mask:0xf bank_mask:0xf').slice(0, 2)).toEqual([63, 0]);
  });
  it('should read the old value when a DPP destination is its source', () => {
    const w = execute('gfx942', 'v_add_u32_dpp v0, v0, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf', {
      v0: ramp,
    });
    expect(lanes(w, 0).slice(0, 4)).toEqual([1, 1, 5, 5]);
  });
  it('should not read inactive lanes with DPP', () => {
    expect(dpp('row_shl:1 row_mask:0xf bank_mask:0xf', { exec: 0b101n }).slice(0, 3)).toEqual([99, 99, 99]);
  });
  it('should select and sign-extend with SDWA', () => {
    const w = execute(
      'gfx942',
      'v_add_u32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1',
      {
        v0: h('aaaabbbb') | 0,
        v1: h('ff00'),
        v2: h('00050000'),
      },
    );
    expect(lanes(w, 0)[0]).toBe(h('0004bbbb'));
  });
  it('should permute through LDS hardware', () => {
    const address = ramp.map((lane) => 4 * (63 - lane));
    expect(lanes(execute('gfx942', 'ds_bpermute_b32 v0, v1, v2', { v1: address, v2: ramp }), 0)[0]).toBe(63);
    expect(lanes(execute('gfx942', 'ds_permute_b32 v0, v1, v2', { v1: address, v2: ramp }), 0)[1]).toBe(62);
    expect(lanes(execute('gfx942', 'ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)', { v1: ramp }), 0)[0]).toBe(16);
    expect(
      lanes(execute('gfx942', 'ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,1,0,3,2)', { v1: ramp }), 0).slice(0, 2),
    ).toEqual([1, 0]);
  });
  it('should read and write single lanes', () => {
    expect(execute('gfx942', 'v_readlane_b32 s0, v1, 9', { v1: ramp }).sgprs[0]).toBe(9);
    expect(execute('gfx942', 'v_readfirstlane_b32 s0, v1', { v1: ramp, exec: 0xff00n }).sgprs[0]).toBe(8);
    expect(lanes(execute('gfx942', 'v_writelane_b32 v0, 33, 5', {}), 0)[5]).toBe(33);
  });
  it('should swap rows on gfx950', () => {
    const w = execute('gfx950', 'v_permlane32_swap_b32 v0, v1', { v0: ramp, v1: ramp.map((x) => x + 100) });
    expect([lanes(w, 0)[32], lanes(w, 1)[0], lanes(w, 0)[0], lanes(w, 1)[40]]).toEqual([100, 32, 0, 140]);
  });
  it('should pass over vector instructions under s_setvskip', () => {
    const w = makeWave('gfx942', { v0: 1, s0: 8, s1: 0 });
    step(w, 's_setvskip s0, 3');
    step(w, 'v_mov_b32 v0, 2');
    step(w, 's_mov_b32 s1, 5');
    expect([lanes(w, 0)[0], w.sgprs[1]]).toEqual([1, 5]);
    step(w, 's_setvskip 0, 0');
    step(w, 'v_mov_b32 v0, 2');
    expect(lanes(w, 0)[0]).toBe(2);
  });
  it('should move VGPRs by index under s_set_gpr_idx_on', () => {
    const w = makeWave('gfx90a', { v5: 55, s0: 3 });
    step(w, 's_set_gpr_idx_on s0, gpr_idx(SRC0)');
    step(w, 'v_mov_b32 v0, v2');
    step(w, 's_set_gpr_idx_off');
    expect(lanes(w, 0)[0]).toBe(55);
  });
  it('should write a lane of an indexed VGPR under s_set_gpr_idx_on', () => {
    const w = makeWave('gfx942', { v5: 55, v6: 66, s0: 1, s1: 7 });
    step(w, 's_set_gpr_idx_on s0, gpr_idx(DST)');
    step(w, 'v_writelane_b32 v5, 0, s1');
    step(w, 's_set_gpr_idx_off');
    expect([lanes(w, 5)[7], lanes(w, 6)[7], lanes(w, 6)[8]]).toEqual([55, 0, 66]);
  });
});

describe('memory', () => {
  const global = (offset = 0): Registers => ({ v2: ramp.map((lane) => 4 * lane + offset) });
  it('should store, load and add atomically in global memory', () => {
    const w = makeWave('gfx942', { ...global(), v3: ramp });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    step(w, 'global_atomic_add v4, v2, v3, s[96:97] sc0');
    step(w, 'global_load_dword v5, v2, s[96:97]');
    expect(lanes(w, 4)).toEqual(ramp);
    expect(lanes(w, 5)).toEqual(ramp.map((x) => 2 * x));
    step(w, 'global_load_ubyte_d16_hi v5, v2, s[96:97]');
    expect(lanes(w, 5)[3]).toBe(h('00060000'));
  });
  it('should zero the half of a register that a D16 load does not fill', () => {
    const w = makeWave('gfx90a', { ...global(), v3: h('12345678'), v5: -1, v6: -1 });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    step(w, 'global_load_short_d16 v5, v2, s[96:97]');
    step(w, 'global_load_short_d16_hi v6, v2, s[96:97]');
    expect([lanes(w, 5)[9], lanes(w, 6)[9]]).toEqual([h('5678'), h('56780000')]);
  });
  it('should compare and swap', () => {
    const w = makeWave('gfx942', { ...global(), v4: 7, v5: 0 });
    step(w, 'global_atomic_cmpswap v6, v2, v[4:5], s[96:97] sc0');
    step(w, 'global_load_dword v7, v2, s[96:97]');
    expect([lanes(w, 6)[0], lanes(w, 7)[0]]).toEqual([0, 7]);
  });
  it('should bound buffer loads by num_records', () => {
    const w = makeWave('gfx942', { ...global(), v3: ramp.map((x) => x + 1) });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    w.sgprs.set([w.sgprs[96] as number, w.sgprs[97] as number, 64, 0x27000], 8);
    step(w, 'buffer_load_dword v4, v2, s[8:11], 0 offen offset:4');
    expect(lanes(w, 4).slice(0, 20)).toEqual(ramp.slice(0, 20).map((x) => (x < 15 ? x + 2 : 0)));
  });
  it('should add the offsets of a buffer access without wrapping', () => {
    const w = makeWave('gfx942', { ...global(), v3: ramp.map((x) => x + 1), v5: h('fffffffc') });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    w.sgprs.set([w.sgprs[96] as number, w.sgprs[97] as number, 64, 0x27000], 8);
    step(w, 'buffer_load_dword v4, v5, s[8:11], 0 offen offset:8');
    expect(lanes(w, 4)[0]).toBe(0);
  });
  it('should load into LDS directly', () => {
    const w = makeWave('gfx942', { ...global(), v3: ramp.map((x) => 3 * x), m0: 256 });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    step(w, 'global_load_lds_dword v2, s[96:97]');
    step(w, 'ds_read_b32 v4, v2 offset:256');
    expect(lanes(w, 4)).toEqual(ramp.map((x) => 3 * x));
  });
  it('should keep lanes apart in scratch', () => {
    const w = makeWave('gfx942', { v3: ramp });
    step(w, 'scratch_store_dword off, v3, off offset:16');
    step(w, 'scratch_load_dword v4, off, off offset:16');
    expect(lanes(w, 4)).toEqual(ramp);
    // The same bytes through the flat aperture.
    for (let lane = 0; lane < 64; lane++) {
      w.vgprs[6 * 64 + lane] = 16;
      w.vgprs[7 * 64 + lane] = 0x20000;
    }
    step(w, 'flat_load_ubyte v5, v[6:7]');
    expect(lanes(w, 5)).toEqual(ramp);
  });
  it('should wrap an LDS address: a negative base with a larger offset', () => {
    const w = makeWave('gfx942', {
      v1: ramp.map((lane) => 4 * lane - 4096),
      v2: ramp,
      v3: ramp.map((lane) => 4 * lane),
    });
    step(w, 'ds_write_b32 v1, v2 offset:4096');
    step(w, 'ds_read_b32 v4, v3');
    expect(lanes(w, 4)).toEqual(ramp);
  });
  it('should access LDS in pairs and atomically', () => {
    const w = makeWave('gfx942', { v1: ramp.map((x) => 8 * x), v2: ramp, v3: ramp.map((x) => x + 1) });
    step(w, 'ds_write2_b32 v1, v2, v3 offset1:1');
    step(w, 'ds_read_b64 v[4:5], v1');
    expect([lanes(w, 4)[9], lanes(w, 5)[9]]).toEqual([9, 10]);
    step(w, 'ds_read2st64_b32 v[4:5], v1 offset1:1');
    expect(lanes(w, 5)[0]).toBe(32);
    step(w, 'v_mov_b32 v1, 0');
    step(w, 'ds_add_u32 v1, v2');
    step(w, 'ds_read_b32 v6, v1');
    expect(lanes(w, 6)[0]).toBe((63 * 64) / 2);
    step(w, 'ds_cmpst_rtn_b32 v7, v1, v6, v3');
    step(w, 'ds_read_b32 v6, v1');
    expect(lanes(w, 6)[0]).toBe(1);
  });
  it('should convert by buffer format', () => {
    const w = makeWave('gfx942', { ...global(), v3: h('ff8000c0') | 0 });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    // Data format 8_8_8_8 (10), unorm, x y z w.
    w.sgprs.set([w.sgprs[96] as number, w.sgprs[97] as number, 256, 0xfac | (10 << 15)], 8);
    step(w, 'buffer_load_format_xyzw v[4:7], v2, s[8:11], 0 offen');
    expect([4, 5, 6, 7].map((n) => lanes(w, n)[0])).toEqual([f32(192 / 255), 0, f32(128 / 255), f32(1)]);
  });
  it('should read scalars and return zero beyond a scalar buffer', () => {
    const w = makeWave('gfx942', { ...global(), v3: ramp });
    step(w, 'global_store_dword v2, v3, s[96:97]');
    step(w, 's_load_dwordx2 s[0:1], s[96:97], 0x10');
    expect([w.sgprs[0], w.sgprs[1]]).toEqual([4, 5]);
    w.sgprs.set([w.sgprs[96] as number, w.sgprs[97] as number, 8, 0], 8);
    step(w, 's_buffer_load_dwordx4 s[0:3], s[8:11], 0x4');
    expect([...w.sgprs.subarray(0, 4)]).toEqual([1, 0, 0, 0]);
  });
  it('should transpose on read on gfx950', () => {
    // 16 lanes hold a 4 × 16 matrix of 16-bit numbers, row-major over the lanes; lane l gets column l.
    const w = makeWave('gfx950', {
      v1: ramp.map((x) => 8 * x),
      v2: ramp.map((x) => (4 * x) | ((4 * x + 1) << 16)),
      v3: ramp.map((x) => (4 * x + 2) | ((4 * x + 3) << 16)),
    });
    step(w, 'ds_write_b64 v1, v[2:3]');
    step(w, 'ds_read_b64_tr_b16 v[4:5], v1');
    expect([lanes(w, 4)[1], lanes(w, 5)[1]]).toEqual([1 | (17 << 16), 33 | (49 << 16)]);
  });
});
