// Vector integer and bit operations, moves and selects.
// Source: AMD CDNA3 Instruction Set Architecture, chapters "VOP1", "VOP2" and "VOP3A Instructions".
import * as e from './expr.ts';
import { type Expr, i32, i64 } from './expr.ts';
import { at, structural, unreachable, vector, vectorWords } from './registry.ts';

type Body = (a: Expr, b: Expr) => Expr;
const { source } = e;

/** Clamps an i64 to a signed or unsigned range and wraps it to i32. */
export function saturate(wide: Expr, bits: number, signed: boolean): Expr {
  const low = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const high = signed ? 2n ** BigInt(bits - 1) - 1n : 2n ** BigInt(bits) - 1n;
  return e.wrap(e.minS(e.maxS(wide, i64(low)), i64(high)));
}
const clampU =
  (body: Body, bits = 32): Body =>
  (a, b) =>
    saturate(body(e.extendU(a), e.extendU(b)), bits, false);
const clampS =
  (body: Body, bits = 32): Body =>
  (a, b) =>
    saturate(body(e.extendS(a), e.extendS(b)), bits, true);

// Moves
vector('v_mov_b32', ['i32'], 'i32', (a) => a);
vector('v_mov_b64', ['i64'], 'i64', (a) => a);
vector('v_accvgpr_read_b32', ['i32'], 'i32', (a) => a);
vector('v_accvgpr_write_b32', ['i32'], 'i32', (a) => a);
vector('v_accvgpr_mov_b32', ['i32'], 'i32', (a) => a);
vector('v_cndmask_b32', ['i32', 'i32'], 'i32', (a, b) => e.select(e.carry, b, a));
structural('v_nop', 'nop');
structural('v_clrexcp', 'nop');
structural('v_readfirstlane_b32', 'readfirstlane');
structural('v_readlane_b32', 'readlane');
structural('v_writelane_b32', 'writelane');
structural('v_swap_b32', 'swap');
structural('v_permlane16_swap_b32', 'permlaneSwap', 16);
structural('v_permlane32_swap_b32', 'permlaneSwap', 32);
unreachable('v_screen_partition_4se_b32', 'it maps screen coordinates for graphics and its table is not public');

// Logic
vector('v_not_b32', ['i32'], 'i32', e.not);
vector('v_and_b32', ['i32', 'i32'], 'i32', e.and);
vector('v_or_b32', ['i32', 'i32'], 'i32', e.or);
vector('v_xor_b32', ['i32', 'i32'], 'i32', e.xor);
vector('v_xnor_b32', ['i32', 'i32'], 'i32', (a, b) => e.not(e.xor(a, b)));
vector('v_and_or_b32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.or(e.and(a, b), c));
vector('v_or3_b32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.or(e.or(a, b), c));
vector('v_xad_u32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.add(e.xor(a, b), c));
vector('v_bfi_b32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.or(e.and(a, b), e.and(e.not(a), c)));
const bitop3: (a: Expr, b: Expr, c: Expr, table: Expr) => Expr = (a, b, c, table) => {
  let result: Expr = i32(0);
  for (let row = 0; row < 8; row++) {
    const term = e.and(
      e.and(row & 4 ? a : e.not(a), row & 2 ? b : e.not(b)),
      e.and(row & 1 ? c : e.not(c), e.neg(e.field(table, row, 1))),
    );
    result = e.or(result, term);
  }
  return result;
};
vector('v_bitop3_b32', ['i32', 'i32', 'i32', at('bitop3', 'i32')], 'i32', bitop3);
vector('v_bitop3_b16', ['u16', 'u16', 'u16', at('bitop3', 'i32')], 'i16', bitop3);
vector('v_bfm_b32', ['i32', 'i32'], 'i32', (a, b) => e.shl(e.sub(e.shl(i32(1), a), i32(1)), b));
vector('v_bfrev_b32', ['i32'], 'i32', e.bitrev);
vector('v_bfe_u32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.and(e.shrU(a, b), e.sub(e.shl(i32(1), c), i32(1))));
vector('v_bfe_i32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => {
  const width = e.and(c, i32(31));
  const unused = e.sub(i32(32), width);
  return e.select(e.eq(width, i32(0)), i32(0), e.shrS(e.shl(e.shrS(a, b), unused), unused));
});
const firstOr = (a: Expr, n: Expr): Expr => e.select(e.eq(a, i32(0)), i32(-1), n);
vector('v_ffbh_u32', ['i32'], 'i32', (a) => firstOr(a, e.clz(a)));
vector('v_ffbl_b32', ['i32'], 'i32', (a) => firstOr(a, e.ctz(a)));
vector('v_ffbh_i32', ['i32'], 'i32', (a) => {
  const differing = e.xor(a, e.shrS(a, i32(31)));
  return firstOr(differing, e.clz(differing));
});
vector('v_bcnt_u32_b32', ['i32', 'i32'], 'i32', (a, b) => e.add(e.popcnt(a), b));
const below = e.sub(e.shl(i64(1), e.lane), i64(1));
vector('v_mbcnt_lo_u32_b32', ['i32', 'i32'], 'i32', (a, b) => e.add(e.popcnt(e.and(a, e.wrap(below))), b));
vector('v_mbcnt_hi_u32_b32', ['i32', 'i32'], 'i32', (a, b) => e.add(e.popcnt(e.and(a, e.high(below))), b));

// Shifts
vector('v_lshlrev_b32', ['i32', 'i32'], 'i32', (a, b) => e.shl(b, a));
vector('v_lshrrev_b32', ['i32', 'i32'], 'i32', (a, b) => e.shrU(b, a));
vector('v_ashrrev_i32', ['i32', 'i32'], 'i32', (a, b) => e.shrS(b, a));
vector('v_lshlrev_b64', ['i32', 'i64'], 'i64', (a, b) => e.shl(b, a));
vector('v_lshrrev_b64', ['i32', 'i64'], 'i64', (a, b) => e.shrU(b, a));
vector('v_ashrrev_i64', ['i32', 'i64'], 'i64', (a, b) => e.shrS(b, a));
const count16 = (a: Expr): Expr => e.and(a, i32(15));
vector('v_lshlrev_b16', ['u16', 'u16'], 'i16', (a, b) => e.shl(b, count16(a)));
vector('v_lshrrev_b16', ['u16', 'u16'], 'i16', (a, b) => e.shrU(b, count16(a)));
vector('v_ashrrev_i16', ['u16', 'i16'], 'i16', (a, b) => e.shrS(b, count16(a)));
vector('v_lshl_or_b32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.or(e.shl(a, b), c));
vector('v_lshl_add_u32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.add(e.shl(a, b), c));
vector('v_add_lshl_u32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.shl(e.add(a, b), c));
vector('v_lshl_add_u64', ['i64', 'i32', 'i64'], 'i64', (a, b, c) => e.add(e.shl(a, e.and(b, i32(7))), c));
const align = (shift: (c: Expr) => Expr) => (a: Expr, b: Expr, c: Expr) => e.wrap(e.shrU(e.pack64(b, a), shift(c)));
vector(
  'v_alignbit_b32',
  ['i32', 'i32', 'i32'],
  'i32',
  align((c) => e.and(c, i32(31))),
);
vector(
  'v_alignbyte_b32',
  ['i32', 'i32', 'i32'],
  'i32',
  align((c) => e.shl(e.and(c, i32(3)), i32(3))),
);

// Add and subtract
const reverse =
  (f: Body): Body =>
  (a, b) =>
    f(b, a);
vector('v_add_u32', ['i32', 'i32'], 'i32', e.add, { clamped: clampU(e.add) });
vector('v_sub_u32', ['i32', 'i32'], 'i32', e.sub, { clamped: clampU(e.sub) });
vector('v_subrev_u32', ['i32', 'i32'], 'i32', reverse(e.sub), { clamped: clampU(reverse(e.sub)) });
vector('v_add_i32', ['i32', 'i32'], 'i32', e.add, { clamped: clampS(e.add) });
vector('v_sub_i32', ['i32', 'i32'], 'i32', e.sub, { clamped: clampS(e.sub) });
vector('v_add_u16', ['u16', 'u16'], 'i16', e.add, { clamped: clampU(e.add, 16) });
vector('v_sub_u16', ['u16', 'u16'], 'i16', e.sub, { clamped: clampU(e.sub, 16) });
vector('v_subrev_u16', ['u16', 'u16'], 'i16', reverse(e.sub), { clamped: clampU(reverse(e.sub), 16) });
vector('v_add_i16', ['i16', 'i16'], 'i16', e.add, { clamped: clampS(e.add, 16), highBits: 'preserve' });
vector('v_sub_i16', ['i16', 'i16'], 'i16', e.sub, { clamped: clampS(e.sub, 16), highBits: 'preserve' });
vector('v_add3_u32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.add(e.add(a, b), c));

const carryIn = e.extendU(e.boolToI32(e.carry));
const wideSum = (a: Expr, b: Expr): Expr => e.add(e.extendU(a), e.extendU(b));
const overflow = (wide: Expr): Expr => e.ne(e.shrU(wide, i32(32)), i64(0));
const difference = (a: Expr, b: Expr): Expr => e.sub(e.extendU(a), e.extendU(b));
vector('v_add_co_u32', ['i32', 'i32'], 'i32', e.add, {
  mask: (a, b) => overflow(wideSum(a, b)),
  clamped: clampU(e.add),
});
vector('v_addc_co_u32', ['i32', 'i32'], 'i32', (a, b) => e.wrap(e.add(wideSum(a, b), carryIn)), {
  mask: (a, b) => overflow(e.add(wideSum(a, b), carryIn)),
  clamped: (a, b) => saturate(e.add(wideSum(a, b), carryIn), 32, false),
});
for (const [name, order] of [
  ['sub', (f: Body) => f],
  ['subrev', reverse],
] as const) {
  const plain = order(difference);
  const borrow = (a: Expr, b: Expr): Expr => e.sub(plain(a, b), carryIn);
  vector(`v_${name}_co_u32`, ['i32', 'i32'], 'i32', (a, b) => e.wrap(plain(a, b)), {
    mask: (a, b) => e.ltS(plain(a, b), i64(0)),
    clamped: (a, b) => saturate(plain(a, b), 32, false),
  });
  vector(`v_${name === 'sub' ? 'subb' : 'subbrev'}_co_u32`, ['i32', 'i32'], 'i32', (a, b) => e.wrap(borrow(a, b)), {
    mask: (a, b) => e.ltS(borrow(a, b), i64(0)),
    clamped: (a, b) => saturate(borrow(a, b), 32, false),
  });
}

// Multiply
vector('v_mul_lo_u32', ['i32', 'i32'], 'i32', e.mul);
vector('v_mul_lo_i32', ['i32', 'i32'], 'i32', e.mul);
vector('v_mul_hi_u32', ['i32', 'i32'], 'i32', e.mulhiU);
vector('v_mul_hi_i32', ['i32', 'i32'], 'i32', e.mulhiS);
vector('v_mul_i32_i24', ['i24', 'i24'], 'i32', e.mul);
vector('v_mul_u32_u24', ['u24', 'u24'], 'i32', e.mul);
vector('v_mul_hi_i32_i24', ['i24', 'i24'], 'i32', e.mulhiS);
vector('v_mul_hi_u32_u24', ['u24', 'u24'], 'i32', e.mulhiU);
vector('v_mul_lo_u16', ['u16', 'u16'], 'i16', e.mul);
const mad = (a: Expr, b: Expr, c: Expr): Expr => e.add(e.mul(a, b), c);
const clampMad =
  (extend: (x: Expr) => Expr, bits: number, signed: boolean) =>
  (a: Expr, b: Expr, c: Expr): Expr =>
    saturate(mad(extend(a), extend(b), extend(c)), bits, signed);
vector('v_mad_i32_i24', ['i24', 'i24', 'i32'], 'i32', mad, { clamped: clampMad(e.extendS, 32, true) });
vector('v_mad_u32_u24', ['u24', 'u24', 'i32'], 'i32', mad, { clamped: clampMad(e.extendU, 32, false) });
vector('v_mad_u32_u16', ['u16', 'u16', 'i32'], 'i32', mad, { clamped: clampMad(e.extendU, 32, false) });
vector('v_mad_i32_i16', ['i16', 'i16', 'i32'], 'i32', mad, { clamped: clampMad(e.extendS, 32, true) });
for (const [name, highBits] of [
  ['v_mad', 'preserve'],
  ['v_mad_legacy', 'zero'],
] as const) {
  vector(`${name}_u16`, ['u16', 'u16', 'u16'], 'i16', mad, { clamped: clampMad(e.extendU, 16, false), highBits });
  vector(`${name}_i16`, ['i16', 'i16', 'i16'], 'i16', mad, { clamped: clampMad(e.extendS, 16, true), highBits });
}
const wideMad = (extend: (x: Expr) => Expr) => (a: Expr, b: Expr, c: Expr) => mad(extend(a), extend(b), c);
const unsignedWrap = (a: Expr, b: Expr, c: Expr): Expr => e.ltU(wideMad(e.extendU)(a, b, c), c);
vector('v_mad_u64_u32', ['i32', 'i32', 'i64'], 'i64', wideMad(e.extendU), { mask: unsignedWrap });
vector('v_mad_i64_i32', ['i32', 'i32', 'i64'], 'i64', wideMad(e.extendS), {
  // Bit 64 of the 65-bit signed sum: the signs of the terms, corrected by the carry between them.
  mask: (a, b, c) => {
    const product = e.mul(e.extendS(a), e.extendS(b));
    const sum = e.add(product, c);
    const overflowed = e.ltS(e.and(e.xor(product, sum), e.xor(c, sum)), i64(0));
    return e.operate('xor', 'bool', [e.ltS(sum, i64(0)), overflowed]);
  },
});

// Minimum, maximum, median
const median = (min: Body, max: Body) => (a: Expr, b: Expr, c: Expr) => max(min(a, b), min(max(a, b), c));
const three = (f: Body) => (a: Expr, b: Expr, c: Expr) => f(f(a, b), c);
for (const [suffix, type, result, min, max] of [
  ['i32', 'i32', 'i32', e.minS, e.maxS],
  ['u32', 'i32', 'i32', e.minU, e.maxU],
  ['i16', 'i16', 'i16', e.minS, e.maxS],
  ['u16', 'u16', 'i16', e.minU, e.maxU],
] as const) {
  vector(`v_min_${suffix}`, [type, type], result, min);
  vector(`v_max_${suffix}`, [type, type], result, max);
  const highBits = result === 'i16' ? 'preserve' : 'zero';
  vector(`v_min3_${suffix}`, [type, type, type], result, three(min), { highBits });
  vector(`v_max3_${suffix}`, [type, type, type], result, three(max), { highBits });
  vector(`v_med3_${suffix}`, [type, type, type], result, median(min, max), { highBits });
}

// Bytes
const byte = (a: Expr, n: number): Expr => e.field(a, 8 * n, 8);
const absDiff = (a: Expr, b: Expr): Expr => e.abs(e.sub(a, b));
const sumOf = (terms: readonly Expr[]): Expr => terms.reduce((a, b) => e.add(a, b));
const sad8 = (a: Expr, b: Expr): Expr => sumOf([0, 1, 2, 3].map((n) => absDiff(byte(a, n), byte(b, n))));
const maskedSad8 = (a: Expr, b: Expr): Expr =>
  sumOf([0, 1, 2, 3].map((n) => e.select(e.eq(byte(b, n), i32(0)), i32(0), absDiff(byte(a, n), byte(b, n)))));
const sumLimit = (a: Expr, b: Expr): Expr => saturate(e.add(e.extendU(a), e.extendU(b)), 32, false);
const sadTable: [string, Body][] = [
  ['v_sad_u8', sad8],
  ['v_msad_u8', maskedSad8],
  ['v_sad_hi_u8', (a, b) => e.shl(sad8(a, b), i32(16))],
  [
    'v_sad_u16',
    (a, b) => e.add(absDiff(e.field(a, 0, 16), e.field(b, 0, 16)), absDiff(e.field(a, 16, 16), e.field(b, 16, 16))),
  ],
  ['v_sad_u32', (a, b) => e.select(e.gtU(a, b), e.sub(a, b), e.sub(b, a))],
];
for (const [name, f] of sadTable) {
  vector(name, ['i32', 'i32', 'i32'], 'i32', (a, b, c) => e.add(f(a, b), c), {
    clamped: (a, b, c) => sumLimit(f(a, b), c),
  });
}
/** Four bytes of src0 (i64) starting at byte n. */
const window = (n: number): Expr => e.wrap(e.shrU(source('i64', 0), i32(8 * n)));
for (const [name, f] of [
  ['v_qsad_pk_u16_u8', sad8],
  ['v_mqsad_pk_u16_u8', maskedSad8],
] as const) {
  const reference = source('i32', 1);
  const element = (n: number): Expr => {
    const accumulator = e.field(source('i32', 2, n >> 1), n & 1 ? 16 : 0, 16);
    return e.and(e.add(f(window(n), reference), accumulator), i32(0xffff));
  };
  vectorWords(name, ['i64', 'i32', 'i64'], 'i32x2', [
    e.pack16(element(0), element(1)),
    e.pack16(element(2), element(3)),
  ]);
}
vectorWords(
  'v_mqsad_u32_u8',
  ['i64', 'i32', 'i128'],
  'i128',
  [0, 1, 2, 3].map((n) => e.add(maskedSad8(window(n), source('i32', 1)), source('i32', 2, n))),
);
vector('v_lerp_u8', ['i32', 'i32', 'i32'], 'i32', (a, b, c) =>
  [0, 1, 2, 3]
    .map((n) => e.shl(e.shrU(e.add(e.add(byte(a, n), byte(b, n)), e.field(c, 8 * n, 1)), i32(1)), i32(8 * n)))
    .reduce((x, y) => e.or(x, y)),
);
vector('v_perm_b32', ['i32', 'i32', 'i32'], 'i32', (a, b, c) => {
  const data = e.pack64(b, a);
  const pick = (n: number): Expr => {
    const selector = byte(c, n);
    const plain = e.and(e.wrap(e.shrU(data, e.shl(selector, i32(3)))), i32(255));
    // Selectors 8–11 replicate the sign of bytes 1, 3, 5, 7.
    const signShift = e.add(e.shl(e.and(selector, i32(3)), i32(4)), i32(15));
    const sign = e.mul(e.and(e.wrap(e.shrU(data, signShift)), i32(1)), i32(255));
    const special = e.select(e.ltU(selector, i32(12)), sign, e.select(e.eq(selector, i32(12)), i32(0), i32(255)));
    return e.shl(e.select(e.ltU(selector, i32(8)), plain, special), i32(8 * n));
  };
  return [0, 1, 2, 3].map(pick).reduce((x, y) => e.or(x, y));
});
const saturateByte = (a: Expr, signed: boolean): Expr =>
  e.and(signed ? e.minS(e.maxS(a, i32(-128)), i32(127)) : e.minS(e.maxS(a, i32(0)), i32(255)), i32(255));
for (const [name, signed] of [
  ['v_ashr_pk_i8_i32', true],
  ['v_ashr_pk_u8_i32', false],
] as const) {
  vector(
    name,
    ['i32', 'i32', 'i32'],
    'i16',
    (a, b, c) => e.or(saturateByte(e.shrS(a, c), signed), e.shl(saturateByte(e.shrS(b, c), signed), i32(8))),
    { part: 'word' },
  );
}
vector('v_sat_pk_u8_i16', ['i32'], 'i16', (a) =>
  e.or(saturateByte(e.fieldS(a, 0, 16), false), e.shl(saturateByte(e.fieldS(a, 16, 16), false), i32(8))),
);
vector('v_cvt_pk_u16_u32', ['i32', 'i32'], 'i32', (a, b) => e.pack16(e.minU(a, i32(0xffff)), e.minU(b, i32(0xffff))));
const toI16 = (a: Expr): Expr => e.minS(e.maxS(a, i32(-32768)), i32(32767));
vector('v_cvt_pk_i16_i32', ['i32', 'i32'], 'i32', (a, b) => e.pack16(toI16(a), toI16(b)));
/** The linear-feedback step of v_prng_b32. */
vector('v_prng_b32', ['i32'], 'i32', (a) => e.xor(e.shl(a, i32(1)), e.mul(e.shrU(a, i32(31)), i32(197))));
vector('v_pack_b32_f16', ['u16', 'u16'], 'i32', (a, b) => e.pack16(a, b));

// Packed 16-bit integers and dot products
const pk = (name: string, body: Body, clamped?: Body): void =>
  vector(name, ['i16x2', 'i16x2'], 'i16x2', body, clamped === undefined ? {} : { clamped });
const sx = (a: Expr): Expr => e.fieldS(a, 0, 16);
const signed2 =
  (f: Body): Body =>
  (a, b) =>
    f(sx(a), sx(b));
pk('v_pk_add_u16', e.add, clampU(e.add, 16));
pk('v_pk_sub_u16', e.sub, clampU(e.sub, 16));
pk('v_pk_add_i16', e.add, signed2(clampS(e.add, 16)));
pk('v_pk_sub_i16', e.sub, signed2(clampS(e.sub, 16)));
pk('v_pk_mul_lo_u16', e.mul);
pk('v_pk_min_i16', signed2(e.minS));
pk('v_pk_max_i16', signed2(e.maxS));
pk('v_pk_min_u16', e.minU);
pk('v_pk_max_u16', e.maxU);
pk('v_pk_lshlrev_b16', (a, b) => e.shl(b, count16(a)));
pk('v_pk_lshrrev_b16', (a, b) => e.shrU(b, count16(a)));
pk('v_pk_ashrrev_i16', (a, b) => e.shrS(sx(b), count16(a)));
vector('v_pk_mad_u16', ['i16x2', 'i16x2', 'i16x2'], 'i16x2', mad, { clamped: clampMad(e.extendU, 16, false) });
vector('v_pk_mad_i16', ['i16x2', 'i16x2', 'i16x2'], 'i16x2', mad, {
  clamped: (a, b, c) => clampMad(e.extendS, 16, true)(sx(a), sx(b), sx(c)),
});
vectorWords('v_pk_mov_b32', ['i32x2', 'i32x2'], 'i32x2', [source('i32', 0, 0), source('i32', 1, 0)]);

const dotTerms = (width: number, signed: boolean, a: Expr, b: Expr): Expr[] =>
  Array.from({ length: 32 / width }, (_, n) => {
    const part = signed ? e.fieldS : e.field;
    return e.mul(part(a, n * width, width), part(b, n * width, width));
  });
function dot(name: string, width: number, signed: boolean, accumulator: ReturnType<typeof at>): void {
  const extend = signed ? e.extendS : e.extendU;
  vector(name, ['i32', 'i32', accumulator], 'i32', (a, b, c) => sumOf([...dotTerms(width, signed, a, b), c]), {
    // Without the accumulator nothing overflows.
    clamped: (a, b, c) => saturate(e.add(extend(sumOf(dotTerms(width, signed, a, b))), extend(c)), 32, signed),
  });
}
const c2 = at('src2', 'i32');
dot('v_dot4_i32_i8', 8, true, c2);
dot('v_dot4_u32_u8', 8, false, c2);
dot('v_dot8_i32_i4', 4, true, c2);
dot('v_dot8_u32_u4', 4, false, c2);
dot('v_dot4c_i32_i8', 8, true, c2);
dot('v_dot8c_i32_i4', 4, true, c2);
for (const [name, signed] of [
  ['v_dot2_i32_i16', true],
  ['v_dot2_u32_u16', false],
  ['v_dot2c_i32_i16', true],
] as const) {
  const extend = signed ? e.extendS : e.extendU;
  const part = (index: number, n: number): Expr => (signed ? sx : (x: Expr) => x)(source('i32', index, n));
  const terms = [0, 1].map((n) => e.mul(part(0, n), part(1, n)));
  vector(name, ['i16x2', 'i16x2', c2], 'i32', (_a, _b, c) => sumOf([...terms, c]), {
    clamped: (_a, _b, c) => saturate(sumOf([...terms.map(extend), extend(c)]), 32, signed),
  });
}
