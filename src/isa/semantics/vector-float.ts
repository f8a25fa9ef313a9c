// Vector floating-point operations: arithmetic, fused and unfused multiply-add, min/max, rounding, transcendental, division steps,
// packed and dot products. Source: AMD CDNA3/CDNA4 Instruction Set Architecture, VOP1, VOP2, VOP3 and VOP3P chapters.
import * as e from './expr.ts';
import { type Expr, float, i32, source } from './expr.ts';
import { at, vector } from './registry.ts';

const TYPES = ['f16', 'f32', 'f64'] as const;
type Body = (a: Expr, b: Expr) => Expr;

// Arithmetic
for (const type of TYPES) {
  vector(`v_add_${type}`, [type, type], type, e.add);
  vector(`v_mul_${type}`, [type, type], type, e.mul);
  vector(`v_min_${type}`, [type, type], type, smallest);
  vector(`v_max_${type}`, [type, type], type, largest);
  vector(`v_fma_${type}`, [type, type, type], type, e.fma, type === 'f16' ? { highBits: 'preserve' } : {});
  if (type === 'f64') continue;
  vector(`v_sub_${type}`, [type, type], type, e.sub);
  vector(`v_subrev_${type}`, [type, type], type, (a, b) => e.sub(b, a));
  const options = type === 'f16' ? ({ highBits: 'preserve' } as const) : {};
  vector(`v_min3_${type}`, [type, type, type], type, smallest, options);
  vector(`v_max3_${type}`, [type, type, type], type, largest, options);
  vector(`v_med3_${type}`, [type, type, type], type, median, options);
}

// Results that keep the bits of a NaN operand
function extreme(choose: typeof e.minBits, operands: readonly Expr[]): Expr {
  const { type } = operands[0] as Expr;
  return operands.map(e.rawBits).reduce((a, b) => choose(type, a, b));
}
function smallest(...operands: Expr[]): Expr {
  return e.fromBits((operands[0] as Expr).type, extreme(e.minBits, operands));
}
function largest(...operands: Expr[]): Expr {
  return e.fromBits((operands[0] as Expr).type, extreme(e.maxBits, operands));
}
/** Of equal largest operands the first one is left out, as the manual does: that decides the sign of a zero. */
function median(a: Expr, b: Expr, c: Expr): Expr {
  const anyNaN = e.operate('or', 'bool', [e.operate('or', 'bool', [e.isNan(a), e.isNan(b)]), e.isNan(c)]);
  const top = e.fmax(e.fmax(a, b), c);
  const middle = e.select(e.eq(top, a), e.fmax(b, c), e.select(e.eq(top, b), e.fmax(a, c), e.fmax(a, b)));
  return e.fromBits(a.type, e.select(anyNaN, extreme(e.minBits, [a, b, c]), e.bits(middle)));
}
vector('v_minimum3_f32', ['f32', 'f32', 'f32'], 'f32', (a, b, c) => e.minimum(e.minimum(a, b), c));
vector('v_maximum3_f32', ['f32', 'f32', 'f32'], 'f32', (a, b, c) => e.maximum(e.maximum(a, b), c));
vector('v_pk_minimum3_f16', ['f16x2', 'f16x2', 'f16x2'], 'f16x2', (a, b, c) => e.minimum(e.minimum(a, b), c));
vector('v_pk_maximum3_f16', ['f16x2', 'f16x2', 'f16x2'], 'f16x2', (a, b, c) => e.maximum(e.maximum(a, b), c));
const legacyMul: Body = (a, b) => {
  const zero = float('f32', 0);
  return e.select(e.operate('or', 'bool', [e.eq(a, zero), e.eq(b, zero)]), zero, e.mul(a, b));
};
vector('v_mul_legacy_f32', ['f32', 'f32'], 'f32', legacyMul);
vector('v_fmac_f32', ['f32', 'f32', 'f32'], 'f32', e.fma);
vector('v_fmac_f64', ['f64', 'f64', 'f64'], 'f64', e.fma);
vector('v_fmaak_f32', ['f32', 'f32', at('imm', 'f32')], 'f32', e.fma);
vector('v_fmamk_f32', ['f32', at('imm', 'f32'), at('src1', 'f32')], 'f32', e.fma);
vector('v_fma_legacy_f16', ['f16', 'f16', 'f16'], 'f16', e.fma);
// The unfused forms round twice and, for f32, always flush denormals (MODE does not apply to v_mad_f32).
const mad = (a: Expr, b: Expr, c: Expr): Expr => e.add(e.mul(a, b), c);
const flush = { denormals: 'flush' } as const;
const keep = { denormals: 'keep' } as const;
vector('v_mad_f32', ['f32', 'f32', 'f32'], 'f32', mad, flush);
vector('v_mac_f32', ['f32', 'f32', 'f32'], 'f32', mad, flush);
vector('v_madak_f32', ['f32', 'f32', at('imm', 'f32')], 'f32', mad, flush);
vector('v_madmk_f32', ['f32', at('imm', 'f32'), at('src1', 'f32')], 'f32', mad, flush);
vector('v_mad_legacy_f32', ['f32', 'f32', 'f32'], 'f32', (a, b, c) => e.add(legacyMul(a, b), c), flush);
const keepHigh = { highBits: 'preserve' } as const;
vector('v_mad_f16', ['f16', 'f16', 'f16'], 'f16', mad, keepHigh);
vector('v_mac_f16', ['f16', 'f16', 'f16'], 'f16', mad, keepHigh);
vector('v_madak_f16', ['f16', 'f16', at('imm', 'f16')], 'f16', mad, keepHigh);
vector('v_madmk_f16', ['f16', at('imm', 'f16'), at('src1', 'f16')], 'f16', mad, keepHigh);
vector('v_mad_legacy_f16', ['f16', 'f16', 'f16'], 'f16', mad);

// One operand
const one =
  (op: string) =>
  (a: Expr): Expr =>
    e.operate(op, a.type, [a]);
for (const type of TYPES) {
  for (const op of ['ceil', 'floor', 'trunc', 'rndne', 'fract', 'rcp', 'rsq', 'sqrt'] as const) {
    // The f32 reciprocal, root and logarithm units neither read nor write denormals.
    const unit = type === 'f32' && (op === 'rcp' || op === 'rsq' || op === 'sqrt');
    vector(`v_${op}_${type}`, [type], type, one(op === 'rndne' ? 'rint' : op), unit ? flush : {});
  }
  vector(`v_frexp_mant_${type}`, [type], type, (a) =>
    e.fromBits(type, e.select(e.isNan(a), e.rawBits(a), e.bits(one('frexp_mant')(a)))),
  );
  if (type === 'f64') continue;
  for (const op of ['exp', 'log', 'sin', 'cos'] as const) {
    // The operators themselves neither read nor write f32 denormals.
    const unit = type === 'f32' && (op === 'exp' || op === 'log');
    const name = op === 'exp' ? 'exp2' : op === 'log' ? 'log2' : op === 'sin' ? 'sin_turns' : 'cos_turns';
    vector(`v_${op}_${type}`, [type], type, one(name), unit ? keep : {});
  }
}
vector('v_exp_legacy_f32', ['f32'], 'f32', one('exp2'), keep);
vector('v_log_legacy_f32', ['f32'], 'f32', one('log2'), keep);
vector('v_rcp_iflag_f32', ['f32'], 'f32', one('rcp'), flush);
const frexpExp = (a: Expr): Expr => e.operate('frexp_exp', 'i32', [a]);
vector('v_frexp_exp_i32_f32', ['f32'], 'i32', frexpExp);
vector('v_frexp_exp_i32_f64', ['f64'], 'i32', frexpExp);
vector('v_frexp_exp_i16_f16', ['f16'], 'i16', frexpExp);
vector('v_ldexp_f32', ['f32', 'i32'], 'f32', (a, b) => e.operate('ldexp', 'f32', [a, b]));
vector('v_ldexp_f64', ['f64', 'i32'], 'f64', (a, b) => e.operate('ldexp', 'f64', [a, b]));
vector('v_ldexp_f16', ['f16', 'i16'], 'f16', (a, b) => e.operate('ldexp', 'f16', [a, b]));
vector('v_trig_preop_f64', ['f64', 'i32'], 'f64', (a, b) => e.operate('trig_preop', 'f64', [a, b]));

// Division: scale, fused steps, fix-up
for (const type of ['f32', 'f64'] as const) {
  vector(`v_div_scale_${type}`, [type, type, type], type, (a, b, c) => e.operate('div_scale', type, [a, b, c]), {
    mask: (a, b, c) => e.operate('div_scale_flag', 'bool', [a, b, c]),
  });
  // The scale v_div_scale applied is undone: by the quotient's exponent, up or down (the CDNA manual's fixed 2^32 is wrong; RDNA's is this).
  const step = type === 'f32' ? 64 : 128;
  vector(`v_div_fmas_${type}`, [type, type, type], type, (a, b, c) => {
    const large = e.ge(e.abs(c), float(type, 2));
    const scale = e.select(large, i32(step), i32(-step));
    // Fused: multiply, add, scale, one rounding.
    return e.operate('fma_scaled', type, [a, b, c, e.select(e.carry, scale, i32(0))]);
  });
}
/** The bit that makes a NaN quiet, and the NaN of an invalid division. */
const NANS = {
  f16: { quiet: i32(0x200), invalid: i32(0xfe00) },
  f32: { quiet: i32(0x400000), invalid: i32(0xffc00000) },
  f64: { quiet: e.i64(1n << 51n), invalid: e.i64(0xfff8n << 48n) },
};
/** A NaN operand comes out quiet, the numerator's first. */
function fixup(a: Expr, b: Expr, c: Expr): Expr {
  const { quiet, invalid } = NANS[a.type as keyof typeof NANS];
  const ratio = e.operate('div_fixup', a.type, [a, b, c]);
  const bits = e.select(e.isNan(ratio), invalid, e.bits(ratio));
  const kept = (x: Expr, otherwise: Expr): Expr => e.select(e.isNan(x), e.or(e.rawBits(x), quiet), otherwise);
  return e.fromBits(a.type, kept(c, kept(b, bits)));
}
vector('v_div_fixup_f32', ['f32', 'f32', 'f32'], 'f32', fixup);
vector('v_div_fixup_f64', ['f64', 'f64', 'f64'], 'f64', fixup);
vector('v_div_fixup_f16', ['f16', 'f16', 'f16'], 'f16', fixup, keepHigh);
vector('v_div_fixup_legacy_f16', ['f16', 'f16', 'f16'], 'f16', fixup);

// Cube maps
const magnitudes = [0, 1, 2].map((n) => e.abs(source('f32', n)));
const [ax, ay, az] = magnitudes as [Expr, Expr, Expr];
const zMajor = e.operate('and', 'bool', [e.ge(az, ax), e.ge(az, ay)]);
const yMajor = e.ge(ay, ax);
const negative = (a: Expr): Expr => e.lt(a, float('f32', 0));
const byAxis = (z: Expr, y: Expr, x: Expr): Expr => e.select(zMajor, z, e.select(yMajor, y, x));
const f = (value: number): Expr => float('f32', value);
/** The bits of a coordinate that is moved, and with its sign changed. */
const moved = (a: Expr): Expr => e.select(e.isNan(a), e.rawBits(a), e.bits(a));
const negated = (a: Expr): Expr => e.xor(moved(a), i32(0x80000000));
const cube = (name: string, body: (x: Expr, y: Expr, z: Expr) => Expr): void =>
  vector(name, ['f32', 'f32', 'f32'], 'f32', body);
cube('v_cubeid_f32', (x, y, z) =>
  byAxis(e.select(negative(z), f(5), f(4)), e.select(negative(y), f(3), f(2)), e.select(negative(x), f(1), f(0))),
);
cube('v_cubesc_f32', (x, _y, z) =>
  e.fromBits(
    'f32',
    byAxis(e.select(negative(z), negated(x), moved(x)), moved(x), e.select(negative(x), moved(z), negated(z))),
  ),
);
cube('v_cubetc_f32', (_x, y, z) =>
  e.fromBits('f32', byAxis(negated(y), e.select(negative(y), negated(z), moved(z)), negated(y))),
);
cube('v_cubema_f32', (x, y, z) => e.mul(byAxis(z, y, x), f(2)));

// Packed
for (const [suffix, type] of [
  ['f16', 'f16x2'],
  ['f32', 'f32x2'],
] as const) {
  vector(`v_pk_add_${suffix}`, [type, type], type, e.add);
  vector(`v_pk_mul_${suffix}`, [type, type], type, e.mul);
  vector(`v_pk_fma_${suffix}`, [type, type, type], type, e.fma);
}
vector('v_pk_min_f16', ['f16x2', 'f16x2'], 'f16x2', smallest);
vector('v_pk_max_f16', ['f16x2', 'f16x2'], 'f16x2', largest);
vector('v_pk_fmac_f16', ['f16x2', 'f16x2', 'f16x2'], 'f16x2', e.fma);

// Mixed precision and dot products
const mixBody = (a: Expr, b: Expr, c: Expr): Expr => e.fma(a, b, c);
vector('v_fma_mix_f32', ['mix', 'mix', 'mix'], 'f32', mixBody);
const toHalf = (a: Expr): Expr => e.convert('f16', 'from_f32', a);
vector('v_fma_mixlo_f16', ['mix', 'mix', 'mix'], 'f16', (a, b, c) => toHalf(mixBody(a, b, c)), keepHigh);
vector('v_fma_mixhi_f16', ['mix', 'mix', 'mix'], 'f16', (a, b, c) => toHalf(mixBody(a, b, c)), {
  highBits: 'intoHigh',
});
/** Products rounded to f32 (those of f16 are exact) and added in the manual's order: `afterwards` the addend comes last. */
function dot2(name: string, type: 'f16' | 'bf16', order: 'before' | 'afterwards'): void {
  const wide = (index: number, part: number): Expr => e.convert('f32', `from_${type}`, source(type, index, part));
  const product = (part: number): Expr => e.mul(wide(0, part), wide(1, part));
  vector(name, [`${type}x2`, `${type}x2`, 'f32'], 'f32', (_a, _b, c) =>
    order === 'before' ? e.add(e.add(c, product(0)), product(1)) : e.add(e.add(product(0), product(1)), c),
  );
}
dot2('v_dot2_f32_f16', 'f16', 'before');
dot2('v_dot2c_f32_f16', 'f16', 'before');
dot2('v_dot2_f32_bf16', 'bf16', 'afterwards');
dot2('v_dot2c_f32_bf16', 'bf16', 'before');
