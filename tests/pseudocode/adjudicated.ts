// Where the virtual GPU does not follow the letter of AMD's pseudo-code. Each entry has the text that it does follow, which the test
// evaluates in the place of AMD's, and why. docs/pseudocode.md is made of this list.

export interface Adjudication {
  /** Operations, as in the manual. */
  readonly operations: readonly string[];
  /** What AMD's text gives and what is done here, in one or two sentences. */
  readonly difference: string;
  /** Why, with the source. */
  readonly reason: string;
  /** The text of an operation. */
  readonly text: (operation: string) => string;
}

const typeOf = (operation: string): string => (/F(16|32|64)/.exec(operation)?.[0] ?? 'F32').toLowerCase();

/** f32 units that neither read nor write denormals. */
const UNIT: Readonly<Record<string, string>> = {
  V_RCP_F32: '1.0F / flush(S0.f32)',
  V_RCP_IFLAG_F32: '1.0F / flush(S0.f32)',
  V_RSQ_F32: 'rsqrt(flush(S0.f32))',
  V_SQRT_F32: 'sqrt(flush(S0.f32))',
  V_LOG_F32: 'log2(flush(S0.f32))',
  V_EXP_F32: 'pow(2.0F, flush(S0.f32))',
};

const BELOW_ONE: Readonly<Record<string, string>> = {
  f16: "16'F(0x3bff)",
  f32: "32'F(0x3f7fffff)",
  f64: "64'F(0x3fefffffffffffffLL)",
};

function divisionScale(operation: string): string {
  const type = typeOf(operation);
  const [far, step, tiny] = type === 'f32' ? [96, 64, 23] : [768, 128, 53];
  const smallest = type === 'f32' ? "64'F(0x3810000000000000LL)" : "64'F(0x10000000000000LL)";
  const [s0, s1, s2] = ['S0', 'S1', 'S2'].map((s) => `${s}.${type}`) as [string, string, string];
  const [n, d] = type === 'f32' ? [`64'F(${s2})`, `64'F(${s1})`] : [s2, s1];
  const reciprocal = `(abs(1.0 / ${d}) < ${smallest} && ${d} <> 0.0 && abs(1.0 / ${d}) > 0.0)`;
  const quotient = `(abs(${n} / ${d}) < ${smallest} && ${n} / ${d} == ${n} / ${d} && exponent(${s1}) != ${type === 'f32' ? 255 : 2047})`;
  return `VCC = 0x0LL; D0.${type} = ${s0} * ${type === 'f32' ? '1.0F' : '1.0'};
if (${n} == 0.0) || (${d} == 0.0) then D0.${type} = NAN.${type}
elsif exponent(${s2}) - exponent(${s1}) >= ${far} then
VCC = 0x1LL; if ${s0} == ${s1} then D0.${type} = ldexp(${s0}, ${step}) endif
elsif ${s1} == DENORM.${type} then D0.${type} = ldexp(${s0}, ${step})
elsif ${reciprocal} && ${quotient} then
VCC = 0x1LL; if ${s0} == ${s1} then D0.${type} = ldexp(${s0}, -${step}) endif
elsif ${reciprocal} then D0.${type} = ldexp(${s0}, -${step})
elsif ${quotient} then
VCC = 0x1LL; if ${s0} == ${s2} then D0.${type} = ldexp(${s0}, ${step}) endif
elsif exponent(${s2}) <= ${tiny} then D0.${type} = ldexp(${s0}, ${step})
endif`;
}

function divisionFixup(operation: string): string {
  const type = typeOf(operation);
  const width = type.slice(1);
  const invalid = { f16: '0xfe00', f32: '0xffc00000', f64: '0xfff8000000000000LL' }[type] as string;
  const underflow = { f16: undefined, f32: -150, f64: -1075 }[type];
  const [s0, s1, s2] = ['S0', 'S1', 'S2'].map((s) => `${s}.${type}`) as [string, string, string];
  const [infinity, zero] = [`INF.${type}`, `${width}'F(0.0)`];
  return `sign_out = (sign(${s1}) ^ sign(${s2}));
if isNAN(${s2}) then D0.${type} = cvtToQuietNAN(${s2})
elsif isNAN(${s1}) then D0.${type} = cvtToQuietNAN(${s1})
elsif (64'F(${s1}) <> 0.0) == (64'F(${s2}) <> 0.0) && !(64'F(${s1}) <> 0.0) then D0.${type} = ${width}'F(${invalid})
elsif abs(${s1}) == ${infinity} && abs(${s2}) == ${infinity} then D0.${type} = ${width}'F(${invalid})
elsif !(64'F(${s1}) <> 0.0) || abs(${s2}) == ${infinity} then D0.${type} = sign_out ? -${infinity} : ${infinity}
elsif abs(${s1}) == ${infinity} || !(64'F(${s2}) <> 0.0) then D0.${type} = sign_out ? -${zero} : ${zero}
elsif isNAN(${s0}) then D0.${type} = sign_out ? -${infinity} : ${infinity}
${underflow === undefined ? '' : `elsif exponent(${s2}) - exponent(${s1}) < ${underflow} then D0.${type} = sign_out ? -${zero} : ${zero}`}
else D0.${type} = sign_out ? -abs(${s0}) : abs(${s0})
endif`;
}

export const ADJUDICATED: readonly Adjudication[] = [
  {
    operations: ['V_RNDNE_F16', 'V_RNDNE_F32', 'V_RNDNE_F64'],
    difference: 'The text adds 0.5 and takes the floor, which loses the sign of a zero. Here a zero keeps it.',
    reason: 'LLVM lowers `llvm.rint` and `llvm.roundeven` to the instruction, and both keep the sign.',
    text: (o) => `D0.${typeOf(o)} = rint(S0.${typeOf(o)})`,
  },
  {
    operations: ['V_FRACT_F16', 'V_FRACT_F32', 'V_FRACT_F64'],
    difference:
      'For tiny negative numbers the text gives 1.0, and -0 for integers when MODE rounds down. Here the result stays below 1, and zeros are positive.',
    reason:
      'The sign of the zero is nowhere said. LLVM replaces `fmin(x - floor(x), the number below 1)` by the instruction on every target without the fract bug of the first GCN chips (AMDGPUCodeGenPrepare, matchFractPat).',
    text: (o) => {
      const type = typeOf(o);
      const one = type === 'f16' ? "16'1.0" : type === 'f32' ? '1.0F' : '1.0';
      return `D0.${type} = abs(S0.${type} + -floor(S0.${type})); if D0.${type} >= ${one} then D0.${type} = ${BELOW_ONE[type]} endif`;
    },
  },
  {
    operations: Object.keys(UNIT),
    difference: 'The text says nothing of denormals. Here operands and results that are denormal become zeros.',
    reason:
      'LLVM scales operands and results around these instructions because the units have no denormals, whatever MODE says (AMDGPULegalizerInfo, AMDGPUISelLowering: "v_log_f32 is not precise for denormals").',
    text: (o) => `D0.f32 = flush(${UNIT[o]})`,
  },
  {
    operations: ['V_RSQ_F16'],
    difference: 'The text rounds the root and then its reciprocal. Here the result is rounded once.',
    reason: 'The manual gives one rounding error for the instruction; two roundings can exceed it.',
    text: () => 'D0.f16 = rsqrt(S0.f16)',
  },
  {
    operations: ['V_FREXP_EXP_I16_F16', 'V_FREXP_EXP_I32_F32', 'V_FREXP_EXP_I32_F64'],
    difference:
      "The text reads the exponent field, which is 0 for zeros and denormals. Here a zero's exponent is 0 and a denormal has that of its value.",
    reason: 'LLVM lowers `llvm.frexp` to the instruction alone, and `frexp` of the C standard is defined so.',
    text: (o) => {
      const type = typeOf(o);
      const to = type === 'f16' ? 'i16' : 'i32';
      return `if (64'F(abs(S0.${type})) == INF) || isNAN(S0.${type}) || !(64'F(S0.${type}) <> 0.0) then D0.${to} = 0 else D0.${to} = true_exponent(S0.${type}) endif`;
    },
  },
  {
    operations: ['V_DIV_FIXUP_F16', 'V_DIV_FIXUP_LEGACY_F16', 'V_DIV_FIXUP_F32', 'V_DIV_FIXUP_F64'],
    difference:
      'The text passes a NaN quotient on. Here it becomes an infinity when numerator and denominator are ordinary numbers.',
    reason:
      'Between two numbers only an overflow on the way makes a NaN, and the division that compilers emit must give infinity then.',
    text: divisionFixup,
  },
  {
    operations: ['V_DIV_FMAS_F32', 'V_DIV_FMAS_F64'],
    difference:
      'The text multiplies by 2^32 (2^64). Here the scale is 2^64 (2^128) or its reciprocal, by the size of the addend, in one rounding.',
    reason: "Only that undoes v_div_scale. The pseudo-code of AMD's RDNA manuals has it so.",
    text: (o) => {
      const [type, half, step] = o.endsWith('32') ? ['f32', 128, 64] : ['f64', 1024, 128];
      return `if VCC.u64[laneId] then
if exponent(S2.${type}) >= ${half} then D0.${type} = fma_scaled(S0.${type}, S1.${type}, S2.${type}, ${step})
else D0.${type} = fma_scaled(S0.${type}, S1.${type}, S2.${type}, -${step}) endif
else D0.${type} = fma(S0.${type}, S1.${type}, S2.${type}) endif`;
    },
  },
  {
    operations: [
      'DS_MIN_RTN_F32',
      'DS_MAX_RTN_F32',
      'DS_MIN_RTN_F64',
      'DS_MAX_RTN_F64',
      'GLOBAL_ATOMIC_MIN_F64',
      'GLOBAL_ATOMIC_MAX_F64',
    ],
    difference:
      'The text keeps a NaN that is in memory. Here a number takes its place, two NaNs become a quiet one, and of two zeros the one of the lower or higher sign is left.',
    reason:
      'LLVM lowers `atomicrmw fmin` and `fmax` to the instruction alone, and they are `llvm.minnum` and `llvm.maxnum`.',
    text: (o) => {
      const type = typeOf(o);
      const [m, d] = [`S0.${type}`, `S1.${type}`];
      const isMin = o.includes('_MIN_');
      return `if isNAN(${d}) && isNAN(${m}) then D0.${type} = ${d} + ${m}
elsif isNAN(${d}) then D0.${type} = ${m}
elsif isNAN(${m}) then D0.${type} = ${d}
elsif ${d} == ${m} then D0.${type} = sign(${d}) == ${isMin ? "1'1U" : "1'0U"} ? ${d} : ${m}
else D0.${type} = ${d} ${isMin ? '<' : '>'} ${m} ? ${d} : ${m} endif`;
    },
  },
  {
    operations: ['V_DIV_SCALE_F32', 'V_DIV_SCALE_F64'],
    difference:
      'The text tests the quotient after rounding, scales a huge denominator up, and does not say what is written when nothing is scaled. Here the exact quotient is tested, the huge denominator is scaled down, and operand 0 is written, a NaN as a quiet one.',
    reason:
      'The division that compilers emit is exact in these cases only then: tests/sim and the examples divide random and edge operands.',
    text: divisionScale,
  },
  {
    operations: ['V_TRIG_PREOP_F64'],
    difference:
      'Read to the letter, the text takes the last bits of 2/π. Here it takes 53 bits from the place that segment and exponent give, as the comment in the text says. Bits beyond the 1,201 that the manual has are zeros.',
    reason: 'The sum of the segments must be 2/π for the reduction that compilers emit.',
    text: () => `shift = 32'I(S1[4 : 0].u32) * 53;
if exponent(S0.f64) > 1077 then shift += exponent(S0.f64) - 1077 endif;
digits = { 1201'B(2.0 / PI), 1600'0U };
result = 64'F({ 1000'0U, digits[2800 - shift : 2748 - shift] });
scale = -53 - shift;
if exponent(S0.f64) >= 1968 then scale += 128 endif;
D0.f64 = ldexp(result, scale)`,
  },
];

/** Operations that are not compared, by what stops it. */
export const NOT_COMPARED: Readonly<Record<string, readonly RegExp[]>> = {
  'The text multiplies by a rounded 2π before a sine without a body. The unit takes turns; its error is tested against exact values.':
    [/^V_(SIN|COS)_F(16|32)$/],
  'The text names a conversion that it does not define. The formats are tested against tables of all their values.': [
    /^V_CVT_(PK_)?F32_(FP8|BF8)$/,
    /^V_CVT_(PK|SR)_(FP8|BF8|F16|BF16)_F32$/,
    /^V_CVT_SCALEF32_/,
  ],
  'The table that the text reads has no values in it.': [/^V_CVT_OFF_F32_I4$/],
  'The text adds bf16, which the evaluator has no arithmetic for. tests of atomics hold them.': [
    /_PK_ADD_(RTN_)?BF16$/,
  ],
  'The text calls an operation that the manual of these targets does not have.': [
    /^V_(PK_)?(MINIMUM|MAXIMUM)3_F(16|32)$/,
  ],
  'The matrix operations have a formula in the place of a text. They are tested against the vectors of ../shared and integer products.':
    [/^V_S?MFMA/],
  'It moves data between lanes or registers or changes control flow. tests of structural operations hold it.': [
    /^V_(READ|WRITE|PERMLANE|SWAP)/,
    /^S_(GETPC|SETPC|SWAPPC|RFE|MOVREL|CBRANCH|SET_GPR|SETVSKIP|GETREG|SETREG|CALL)/,
  ],
  'No target here has it under this name.': [/^V_MAD_MIX/],
};

/** What the texts do not say of MODE and the modifiers, and what is done here. The fuzz of modifiers.ts compares with this. */
export const MODIFIERS: readonly string[] = [
  'MODE rounds each operation of a text to the format it works in, and exact zeros of a sum are negative when it rounds down.',
  'Denormals that MODE does not read are zeros of their sign, in what is added to as well. Those that it does not write become zeros at the end, also in results that the text moves or chooses from operands: min, max, med3, the cube coordinates, div_fixup, and f16 that are converted and packed.',
  '`v_pack_b32_f16`, `v_cvt_f32_bf16`, the class tests and moves of integers leave the bits as they are.',
  '`v_div_scale` and `v_trig_preop_f64` scale to nearest in every mode. Approximations (`rcp`, `rsq`, `sqrt`, `exp`, `log`) are right to one unit in every mode.',
  'An output modifier scales the rounded result, with its denormals already zeros, and rounds as MODE says. It does nothing with MODE.IEEE or where denormal results are kept. No zero is negative after it.',
  'Clamping makes negative zeros positive ones. A NaN becomes 0 with MODE.DX10_CLAMP; without it, it stays a NaN of any payload.',
  'Integers among the inline constants have 32 bits with the sign in all. Floats are of the format of the operand, f16 with zeros above, and f32 in operands of 16-bit integers. LLVM says so of the hardware (AMDGPUBaseInfo.cpp, `getInlineEncodingV216`).',
  "With MODE.FP16_OVFL an f16 result that overflows is the largest number; it is infinite where an operand is, or where it divides by zero (LLVM's AMDGPUUsage, compute_pgm_rsrc1).",
  'A lane that DPP does not write has a 0 in a carry or compare mask.',
  'dst_sel of `v_pk_fmac_f16_sdwa` is not followed. Nothing emits it.',
];
