// The instruction parser: bytes and errors of single lines, as llvm-mc 22 gives them.
import { describe, expect, test } from 'vitest';
import { decode } from '../codec/decode.ts';
import { encode } from '../codec/encode.ts';
import { printInstruction } from '../print/print.ts';
import { Lexer } from '../text/lexer.ts';
import type { TargetName } from '../types.ts';
import { type ParseContext, parseInstruction } from './parse.ts';

function parse(text: string, target: TargetName = 'gfx942', constants: Record<string, bigint> = {}, wave32 = false) {
  const lexer = new Lexer(text);
  lexer.nextStatement();
  const context: ParseContext = {
    target,
    xnack: false,
    wave32,
    constant: (name) => constants[name],
    here: () => '.Ltmp0',
    numericLabel: (label, direction) => (direction === 'f' ? `.L${label}` : undefined),
  };
  const parsed = parseInstruction(lexer, context);
  return { parsed, errors: lexer.diagnostics.map((d) => `${d.column}: ${d.message}`) };
}

function assemble(text: string, target: TargetName = 'gfx942', constants: Record<string, bigint> = {}): string {
  const { parsed, errors } = parse(text, target, constants);
  return parsed === undefined ? errors.join('; ') : Buffer.from(encode(parsed.instruction)).toString('hex');
}

describe('the shortest encoding that takes the operands is chosen', () => {
  test.each<[string, string]>([
    ['v_add_f32 v0, v1, v2', '01050002'],
    ['v_add_f32 v0, v1, s2', '000001d101050000'],
    ['v_add_f32 v0, v1, v2 clamp mul:2', '008001d101050208'],
    ['v_add_f32 v0, 0x447a0000, v1', 'ff02000200007a44'],
    ['v_add_f32_e64 v0, |v1|, -v2', '000101d101050240'],
    ['v_mov_b32 v0, v1 quad_perm:[0,1,2,3] row_mask:0xf', 'error'],
    ['v_cmp_eq_f32 vcc, v1, v2', '0105847c'],
    ['v_cmp_eq_f32 s[0:1], v1, v2', '000042d001050200'],
    ['v_add_co_u32 v0, vcc, v1, v2', '01050032'],
    ['v_readlane_b32 s5, v1, 3', '050089d201070100'],
  ])('%s', (text, hex) => {
    if (hex === 'error') expect(parse(text).parsed?.instruction.row.encoding).toBe('DPP');
    else expect(assemble(text)).toBe(hex);
  });
});

describe('constants take the form of their operand', () => {
  test.each<[string, string]>([
    ['s_mov_b32 s0, 64', 'c00080be'],
    ['s_mov_b32 s0, -17', 'ff0080beefffffff'],
    ['s_mov_b32 s0, 1.0', 'f20080be'],
    ['s_mov_b32 s0, lit(4)', 'ff0080be04000000'],
    ['s_mov_b64 s[0:1], 0x3fe0000000000000', 'f00180be'],
    ['v_add_f16 v0, -17, v1', 'ff02003eefff0000'],
    ['v_add_u16 v0, -17, v1', 'ff02004cefffffff'],
    ['v_add_u16 v0, 0.5, v1', 'f002004c'],
    ['v_add_f64 v[0:1], 0.5, v[2:3]', '000080d2f0040200'],
    ['v_mul_f32 v0, 0.15915494, v1', 'f802000a'],
    ['s_mov_b32 s0, src_shared_base', 'eb0080be'],
  ])('%s', (text, hex) => expect(assemble(text)).toBe(hex));
});

describe('operand syntax', () => {
  test.each<[string, string]>([
    ['s_mov_b64 [s0,s1], s[2:3]', '020180be'],
    ['s_mov_b64 vcc, [exec_lo,exec_hi]', '7e01eabe'],
    ['s_mov_b32 s[x+1], 0', '800084be'],
    ['s_waitcnt vmcnt(1) & lgkmcnt(0)', '71008cbf'],
    ['s_waitcnt vmcnt(0), expcnt(0)', '000f8cbf'],
    ['s_waitcnt vmcnt_sat(100)', '7fcf8cbf'],
    ['s_getreg_b32 s0, hwreg(HW_REG_MODE, 2, 5)', '812080b8'],
    ['s_getreg_b32 s0, {id: 1, offset: 2, size: 5}', '812080b8'],
    ['s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)', '220190bf'],
    ['s_load_dword s0, s[2:3], s4 offset:0x10', '014002c010000008'],
    ['ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)', '1f407ad801000000'],
    ['ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"01pip")', '07097ad801000000'],
    ['buffer_load_dword v0, v1, s[0:3], 0 offen sc0 nt sc1', '00d052e001000080'],
    ['global_load_dword v0, v1, s[2:3] offset:-1', 'ff9f50dc01000200'],
    ['v_mfma_f32_16x16x16f16 a[0:3], v[4:5], v[6:7], a[0:3] cbsz:1', '0081cdd3040d0204'],
    ['v_pk_add_f16 v0, v1, v2 op_sel:[1,0] neg_lo:[0,1]', '00488fd301050258'],
    ['v_mov_b32_sdwa v0, sext(v1) dst_sel:BYTE_1 src0_sel:WORD_1', 'f902007e01110d00'],
  ])('%s', (text, hex) => expect(assemble(text, 'gfx942', { x: 3n })).toBe(hex));
});

describe('what llvm-mc refuses is refused with its words at its column', () => {
  test.each<[string, string, TargetName?]>([
    ['v_ad_f32 v0, v1, v2', '1: invalid instruction, did you mean: v_add_f32?', 'gfx90a'],
    ['v_dual_add_f32 v0, v1, v2', '1: instruction not supported on this GPU'],
    ['s_nop', '1: too few operands for instruction'],
    ['v_fma_f32_e32 v0, v1, v2, v3', '1: e32 variant of this instruction is not supported'],
    ['v_add_f32 v0, s1, s2', '19: invalid operand (violates constant bus restrictions)'],
    ['v_fma_f32 v0, v1, 100.0, v2', '19: literal operands are not supported'],
    ['v_add_f32_e64 v5, s1, lit(1)', '27: invalid operand (violates constant bus restrictions)'],
    ['v_add_f64 v[0:1], v[2:3], lit(1.0)', '31: literal operands are not supported'],
    ['v_addc_co_u32 v0, v1, v2', '19: invalid operand for instruction'],
    ['s_add_u32 s0, 0x1234, 0x5678', '23: only one unique literal operand is allowed'],
    ['s_mov_b64 s[1:2], 0', '11: invalid register alignment'],
    ['v_mov_b32 v256, 0', '11: register index is out of range'],
    ['s_mov_b32 s102, 0', '11: s102 register not available on this GPU'],
    ['s_mov_b64 s[3:2], 0', '13: first register index should not exceed second index'],
    ['s_waitcnt vmcnt(64)', '17: too large value for vmcnt'],
    ['s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)', '24: invalid hardware register: not supported on this GPU', 'gfx90a'],
    ['global_load_dword v0, v[2:3], off offset:4096', '35: expected a 13-bit signed offset'],
    ['buffer_load_dword v0, off, s[0:3], 0 glc glc', '42: duplicate cache policy modifier', 'gfx90a'],
    ['ds_read_b32 v0, v1 gds', '20: gds modifier is not supported on this GPU'],
    ['v_mov_b32 v0, v1 quad_perm:[0,1,2,4]', '35: expected a 2-bit value'],
    ['v_add_f32 v0, --1, v1', "15: invalid syntax, expected 'neg' modifier"],
  ])('%s', (text, error, target) => expect(assemble(text, target)).toBe(error));
});

test.each([
  ['ds_read_b64_tr_b4 v[0:1], v2', '1: instruction not supported on this GPU'],
  ['v_cndmask_b32 v0, v1, v2, vcc', '1: lane masks of 32 lanes are not supported by this assembler'],
  ['v_add_f32 v0, v1, v2', undefined],
])('with 32 lanes: %s', (text, error) => expect(parse(text, 'gfx950', {}, true).errors[0]).toBe(error));

test('symbols become fixups', () => {
  const branch = parse('s_branch loop').parsed;
  expect(branch?.fixups).toEqual([
    { operandIndex: 0, kind: 'branch16', byteOffset: 0, expr: { kind: 'symbol', name: 'loop' } },
  ]);
  const literal = parse('s_add_u32 s0, s1, data@rel32@lo+4').parsed;
  expect(literal?.fixups[0]).toMatchObject({ operandIndex: 2, kind: 'literal32', byteOffset: 4 });
  expect(literal?.instruction.size).toBe(8);
});

test('registers are reported with their last index', () => {
  const seen: string[] = [];
  const lexer = new Lexer('v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]');
  lexer.nextStatement();
  parseInstruction(lexer, {
    target: 'gfx942',
    xnack: false,
    constant: () => undefined,
    here: () => '.',
    numericLabel: () => undefined,
    usesRegister: (file, last) => seen.push(`${file}${last}`),
  });
  expect(seen).toEqual(['a3', 'v5', 'v7', 'a3']);
});

test('text, parsed and encoded, decodes to the same text', () => {
  for (const text of [
    'v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0x3',
    'v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]',
    'tbuffer_load_format_x v0, off, s[4:7], s1 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offset:8',
    'v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21 op_sel:[1,0,0] op_sel_hi:[0,1,0]',
  ]) {
    const bytes = encode(parse(text, 'gfx950').parsed!.instruction);
    expect(printInstruction('gfx950', decode('gfx950', bytes)!)).toBe(text);
  }
});
