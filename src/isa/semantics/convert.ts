// Conversions between number formats.
// Source: AMD CDNA3/CDNA4 Instruction Set Architecture, VOP1 and VOP3 chapters; FP8/BF8 are FNUZ on CDNA3 and OCP on CDNA4.
// Stochastic rounding adds the seed's high bits below the last kept bit and truncates (the pseudo-code leaves the carry open).
import * as e from './expr.ts';
import { type Expr, float, i32, source } from './expr.ts';
import type { ScaleConvertOperation } from './operation.ts';
import { at, define, vector, vectorWords } from './registry.ts';

// Float to float
vector('v_cvt_f32_f64', ['f64'], 'f32', (a) => e.convert('f32', 'from_f64', a));
vector('v_cvt_f64_f32', ['f32'], 'f64', (a) => e.convert('f64', 'from_f32', a));
vector('v_cvt_f32_f16', ['f16'], 'f32', (a) => e.convert('f32', 'from_f16', a));
vector('v_cvt_f16_f32', ['f32'], 'f16', (a) => e.convert('f16', 'from_f32', a));
// Its bits are moved: MODE has no denormals of bfloat16.
vector('v_cvt_f32_bf16', ['bf16'], 'f32', (a) => e.fromBits('f32', e.shl(e.rawBits(a), i32(16))), {
  denormals: 'keep',
});
const packHalves = (op: string, type: 'f16' | 'bf16') => (a: Expr, b: Expr) =>
  e.pack16(e.bits(e.convert(type, op, a)), e.bits(e.convert(type, op, b)));
vector('v_cvt_pkrtz_f16_f32', ['f32', 'f32'], 'i32', packHalves('from_f32_rtz', 'f16'));
vector('v_cvt_pk_f16_f32', ['f32', 'f32'], 'i32', packHalves('from_f32_rne', 'f16'));
vector('v_cvt_pk_bf16_f32', ['f32', 'f32'], 'i32', packHalves('from_f32_rne', 'bf16'));
vector('v_cvt_sr_f16_f32', ['f32', 'i32'], 'i16', (a, b) => e.bits(e.convert('f16', 'from_f32_sr', a, b)), {
  part: 'word',
});
vector('v_cvt_sr_bf16_f32', ['f32', 'i32'], 'i16', (a, b) => e.bits(e.convert('bf16', 'from_f32_sr', a, b)), {
  part: 'word',
});

// 8-bit floats
for (const small of ['fp8', 'bf8'] as const) {
  const decode = (a: Expr): Expr => e.convert('f32', `from_${small}`, e.and(a, i32(255)));
  vector(`v_cvt_f32_${small}`, ['i32'], 'f32', decode, { sourcePart: 'byte', denormals: 'keep' });
  vectorWords(
    `v_cvt_pk_f32_${small}`,
    ['i32'],
    'f32x2',
    [0, 1].map((n) => decode(e.shrU(source('i32', 0), i32(8 * n)))),
    { sourcePart: 'word', denormals: 'keep' },
  );
  const encode = (a: Expr): Expr => e.convert('i32', `to_${small}`, a);
  vector(`v_cvt_pk_${small}_f32`, ['f32', 'f32'], 'i16', (a, b) => e.or(encode(a), e.shl(encode(b), i32(8))), {
    part: 'word',
    denormals: 'keep',
  });
  vector(`v_cvt_sr_${small}_f32`, ['f32', 'i32'], 'i32', (a, b) => e.convert('i32', `to_${small}_sr`, a, b), {
    part: 'byte',
    denormals: 'keep',
  });
}

// Integers to floats
vector('v_cvt_f32_i32', ['i32'], 'f32', (a) => e.convert('f32', 'from_i32_s', a));
vector('v_cvt_f32_u32', ['i32'], 'f32', (a) => e.convert('f32', 'from_i32_u', a));
vector('v_cvt_f64_i32', ['i32'], 'f64', (a) => e.convert('f64', 'from_i32_s', a));
vector('v_cvt_f64_u32', ['i32'], 'f64', (a) => e.convert('f64', 'from_i32_u', a));
vector('v_cvt_f16_i16', ['i16'], 'f16', (a) => e.convert('f16', 'from_i32_s', a));
vector('v_cvt_f16_u16', ['u16'], 'f16', (a) => e.convert('f16', 'from_i32_u', a));
for (const n of [0, 1, 2, 3]) {
  vector(`v_cvt_f32_ubyte${n}`, ['i32'], 'f32', (a) => e.convert('f32', 'from_i32_u', e.field(a, 8 * n, 8)));
}
vector('v_cvt_off_f32_i4', ['i32'], 'f32', (a) =>
  e.mul(e.convert('f32', 'from_i32_s', e.fieldS(a, 0, 4)), float('f32', 1 / 16)),
);

// Floats to integers: towards zero, saturating, NaN gives 0
const toSigned = (a: Expr): Expr => e.convert('i32', 'trunc_s', a);
const toUnsigned = (a: Expr): Expr => e.convert('i32', 'trunc_u', a);
vector('v_cvt_i32_f32', ['f32'], 'i32', toSigned);
vector('v_cvt_u32_f32', ['f32'], 'i32', toUnsigned);
vector('v_cvt_i32_f64', ['f64'], 'i32', toSigned);
vector('v_cvt_u32_f64', ['f64'], 'i32', toUnsigned);
const limit = (a: Expr, low: number, high: number): Expr => e.minS(e.maxS(a, i32(low)), i32(high));
vector('v_cvt_i16_f16', ['f16'], 'i16', (a) => limit(toSigned(a), -32768, 32767));
vector('v_cvt_u16_f16', ['f16'], 'i16', (a) => limit(toSigned(a), 0, 65535));
vector('v_cvt_flr_i32_f32', ['f32'], 'i32', (a) => toSigned(e.floor(a)));
vector('v_cvt_rpi_i32_f32', ['f32'], 'i32', (a) => toSigned(e.floor(e.add(a, float('f32', 0.5)))));
const toByte = (a: Expr): Expr => e.minU(toUnsigned(a), i32(255));
const insertByte = (a: Expr, b: Expr, c: Expr): Expr => {
  const shift = e.shl(e.and(b, i32(3)), i32(3));
  return e.or(e.and(c, e.not(e.shl(i32(255), shift))), e.shl(toByte(a), shift));
};
vector('v_cvt_pk_u8_f32', ['f32', 'i32', 'i32'], 'i32', insertByte);
vector('v_cvt_pkaccum_u8_f32', ['f32', 'i32', at('vdst', 'i32')], 'i32', insertByte);
// Normalized integers of Direct3D: a NaN gives 0.
const norm = (signed: boolean) => (a: Expr) => {
  const unit = e.fmin(e.fmax(a, float(a.type, signed ? -1 : 0)), float(a.type, 1));
  const wide = e.convert('f64', `from_${a.type}`, unit);
  const integer = toSigned(e.rint(e.mul(wide, float('f64', signed ? 32767 : 65535))));
  return e.select(e.isNan(a), i32(0), integer);
};
for (const [suffix, signed] of [
  ['i16', true],
  ['u16', false],
] as const) {
  const f = norm(signed);
  vector(`v_cvt_norm_${suffix}_f16`, ['f16'], 'i16', f);
  for (const type of ['f16', 'f32'] as const) {
    vector(`v_cvt_pknorm_${suffix}_${type}`, [type, type], 'i32', (a, b) => e.pack16(f(a), f(b)));
  }
}

// Block-scaled conversions of gfx950: value × 2^(exponent of the scale operand), or divided by it on the way down.
type ScaleFormat = ScaleConvertOperation['from'];
const scale = (
  name: string,
  from: ScaleFormat,
  to: ScaleFormat,
  count: number,
  flags: { stochastic?: boolean; twoSources?: boolean } = {},
): void =>
  define(`v_cvt_scalef32_${name}`, {
    kind: 'scaleConvert',
    from,
    to,
    count,
    stochastic: flags.stochastic ?? false,
    twoSources: flags.twoSources ?? false,
  });
for (const small of ['fp8', 'bf8'] as const) {
  for (const wide of ['f32', 'f16', 'bf16'] as const) {
    scale(`pk_${small}_${wide}`, wide, small, 2, { twoSources: wide === 'f32' });
    scale(`sr_${small}_${wide}`, wide, small, 1, { stochastic: true });
    scale(`pk_${wide}_${small}`, small, wide, 2);
    if (wide !== 'bf16') scale(`${wide}_${small}`, small, wide, 1);
  }
}
for (const wide of ['f32', 'f16', 'bf16'] as const) {
  scale(`pk_fp4_${wide}`, wide, 'fp4', 2, { twoSources: wide === 'f32' });
  scale(`sr_pk_fp4_${wide}`, wide, 'fp4', 2, { stochastic: true });
  scale(`pk_${wide}_fp4`, 'fp4', wide, 2);
  for (const six of ['fp6', 'bf6'] as const) {
    if (wide !== 'f32') scale(`pk32_${six}_${wide}`, wide, six, 32);
    scale(`sr_pk32_${six}_${wide}`, wide, six, 32, { stochastic: true });
    scale(`pk32_${wide}_${six}`, six, wide, 32);
  }
}
scale('2xpk16_fp6_f32', 'f32', 'fp6', 32, { twoSources: true });
scale('2xpk16_bf6_f32', 'f32', 'bf6', 32, { twoSources: true });
