// Roundings of MODE other than to nearest, flushed denormals and stochastic conversions on both engines, on operands where their code
// takes steps of its own: results at the ends of the range, sums that cancel, products that vanish, values next to a rounding boundary.
import { expect, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { fmaF64 } from '../../../isa/semantics/exact.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const random = randomNumbers(11);
const below = (n: number): number => Math.floor(random() * n);
const sign = (): number => (random() < 0.5 ? -1 : 1);
const between = (low: number, high: number): number => sign() * (1 + random()) * 2 ** (low + below(high - low));
/** A number of few bits: its products and sums are often exact, or ties. */
const short = (low: number, high: number): number => sign() * (1 + below(16) / 16) * 2 ** (low + below(high - low));
const pick = (values: readonly number[]): number => values[below(values.length)] as number;

const SPECIAL_DOUBLES = [
  0,
  -0,
  1,
  -1,
  Infinity,
  -Infinity,
  Number.NaN,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  5e-324,
  -5e-324,
  2 ** -1022,
  2 ** -1022 - 5e-324,
];

const DOUBLES: (() => [number, number, number])[] = [
  () => [between(-1074, 1023), between(-1074, 1023), between(-1074, 1023)],
  () => [short(-20, 20), short(-20, 20), short(-40, 40)],
  () => [between(-5, 5), between(-5, 5), between(-70, 10)],
  // c takes the product away, nearly or fully.
  () => {
    const [a, b] = [between(-300, 300), between(-300, 300)];
    return [a, b, -a * b];
  },
  () => {
    const a = between(-1000, 1000);
    return [a, -a, -a * (1 + 2 ** -52 * below(4))];
  },
  // Results that are denormal or vanish, and those that overflow.
  () => [between(-540, -500), between(-560, -500), between(-1074, -1040)],
  () => [between(-1074, -1000), between(-1074, -1000), pick([0, -0, 5e-324, -5e-324, 1])],
  () => [between(500, 523), between(500, 523), between(1000, 1023)],
  () => [pick(SPECIAL_DOUBLES), pick(SPECIAL_DOUBLES), pick(SPECIAL_DOUBLES)],
  () => [pick(SPECIAL_DOUBLES), between(-1074, 1023), pick(SPECIAL_DOUBLES)],
];

function doubles(): Uint8Array {
  const values = new Float64Array(3 * LANES);
  for (let i = 0; i < LANES; i++) values.set((DOUBLES[i % DOUBLES.length] as () => number[])(), 3 * i);
  return new Uint8Array(values.buffer);
}

const setMode = (bits: number): string => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), ${0x300 | bits}`;
/** Denormals kept; rounding of both sizes in a direction. */
const direction = (rounding: number): string => setMode(0xf0 | (5 * rounding));

test.each([1, 2, 3])('f64 in rounding %i', async (rounding) => {
  const input = doubles();
  for (const code of [
    'v_add_f64 v[2:3], v[4:5], v[8:9]',
    'v_mul_f64 v[2:3], v[4:5], v[6:7]',
    'v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]',
  ]) {
    await expectAgreement(`${direction(rounding)}\n${code}`, { words: 6, input });
  }
  const counts = new Int32Array(input.slice().buffer);
  for (let i = 0; i < LANES; i++) counts[6 * i + 2] = below(2) === 0 ? below(4400) - 2200 : below(80) - 40;
  const scaled = { words: 6, input: new Uint8Array(counts.buffer) };
  await expectAgreement(`${direction(rounding)}\nv_ldexp_f64 v[2:3], v[4:5], v6`, scaled);
});

/** The last place of a number in the middle of the range. */
const lastPlace = (x: number): number => 2 ** (Math.floor(Math.log2(Math.abs(x))) - 52);

/** Operands whose sums are in the middle of the range: no lane sends its chunk to the general function, but for exact results. */
const ORDINARY: (() => [number, number, number])[] = [
  () => [between(-5, 5), between(-5, 5), between(-12, 12)],
  () => [between(-300, 300), between(-300, 300), between(-600, 600)],
  // The product has all the weight, c less than its last place; ties, and what decides them.
  () => {
    const [a, b] = [between(-20, 20), between(-20, 20)];
    const near = pick([0.25, 0.5, 1, 2]) * (1 + pick([-1, 0, 1, 2]) * 2 ** -52);
    return [a, b, sign() * near * lastPlace(a * b)];
  },
  // Short factors: an exact product, and c below it.
  () => {
    const [a, b] = [short(-20, 20), short(-20, 20)];
    return [a, b, sign() * (1 + pick([0, 1, 3]) * 2 ** -52) * 2 ** -below(60) * lastPlace(a * b)];
  },
  // c takes most of the product away.
  () => {
    const [a, b] = [between(-100, 100), between(-100, 100)];
    return [a, b, -a * b * (1 + below(5) * 2 ** -52)];
  },
  () => {
    const [a, b] = [between(-100, 100), between(-100, 100)];
    return [a, b, -a * b * (1 + sign() * 2 ** -below(53))];
  },
  // c has all the weight.
  () => {
    const c = between(-20, 20);
    return [between(-3, 3), pick([0.25, 0.5, 1]) * lastPlace(c), c];
  },
  () => [short(-4, 4), short(-4, 4), short(-4, 4)],
];

test('fma of ordinary f64 towards zero', async () => {
  const code = `${direction(3)}\nv_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]`;
  for (const operands of ORDINARY) {
    const values = new Float64Array(3 * LANES);
    for (let i = 0; i < LANES; i++) values.set(operands(), 3 * i);
    await expectAgreement(code, { words: 6, input: new Uint8Array(values.buffer) });
  }
});

const SPECIAL_SINGLES = [
  0,
  -0,
  1,
  Infinity,
  -Infinity,
  Number.NaN,
  2 ** -149,
  -(2 ** -149),
  2 ** -126,
  3.4028234663852886e38,
];

const SINGLES: (() => [number, number, number])[] = [
  () => [between(-149, 127), between(-149, 127), between(-149, 127)],
  () => [short(-10, 10), short(-10, 10), short(-40, 10)],
  () => [between(-3, 3), between(-3, 3), between(-60, 4)],
  () => [between(-75, -60), between(-80, -60), between(-149, -130)],
  () => [between(60, 64), between(60, 64), between(100, 127)],
  () => [pick(SPECIAL_SINGLES), pick(SPECIAL_SINGLES), pick(SPECIAL_SINGLES)],
];

function singles(): Uint8Array {
  const values = new Float32Array(3 * LANES);
  for (let i = 0; i < LANES; i++) values.set((SINGLES[i % SINGLES.length] as () => number[])(), 3 * i);
  return new Uint8Array(values.buffer);
}

/** Pairs of f16, every bit pattern with about the same odds. */
function halves(): Uint8Array {
  return new Uint8Array(Uint32Array.from({ length: 3 * LANES }, () => Math.floor(random() * 2 ** 32)).buffer);
}

test.each([1, 2, 3])(
  'f32 and f16 in rounding %i',
  async (rounding) => {
    const input = singles();
    for (const code of [
      'v_add_f32_e32 v2, v4, v6',
      'v_mul_f32_e32 v2, v4, v5',
      'v_fma_f32 v2, v4, v5, v6',
      'v_div_fmas_f32 v2, v4, v5, v6',
      'v_rcp_f32_e32 v2, v4',
      'v_sqrt_f32_e32 v2, v4',
      'v_exp_f32_e32 v2, v4',
      'v_sin_f32_e32 v2, v4',
      'v_cvt_f32_i32_e32 v2, v4',
      'v_fract_f32_e32 v2, v4',
      'v_cvt_f16_f32_e32 v2, v4',
    ]) {
      await expectAgreement(`${direction(rounding)}\n${code}`, { words: 3, input });
    }
    const pairs = halves();
    for (const code of [
      'v_pk_add_f16 v2, v4, v5',
      'v_pk_mul_f16 v2, v4, v5',
      'v_pk_fma_f16 v2, v4, v5, v6',
      'v_rcp_f16_e32 v2, v4',
      'v_sqrt_f16_e32 v2, v4',
      'v_rsq_f16_e32 v2, v4',
    ]) {
      await expectAgreement(`${direction(rounding)}\n${code}`, { words: 3, input: pairs });
    }
  },
  60_000,
);

test.each([0, 0x40, 0x80])('f64 and f16 with denormals %i of MODE', async (denormals) => {
  const input = doubles();
  for (const code of [
    'v_add_f64 v[2:3], v[4:5], v[8:9]',
    'v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]',
    'v_min_f64 v[2:3], v[4:5], v[6:7]',
    'v_cmp_eq_f64_e32 vcc, v[4:5], v[8:9]\nv_cndmask_b32_e64 v2, 0, 1, vcc',
  ]) {
    await expectAgreement(`${setMode(0x30 | denormals)}\n${code}`, { words: 6, input });
  }
  const pairs = halves();
  for (const code of ['v_pk_add_f16 v2, v4, v5', 'v_pk_max_f16 v2, v4, v5', 'v_pk_fma_f16 v2, v4, v5, v6']) {
    await expectAgreement(`${setMode(0x30 | denormals)}\n${code}`, { words: 3, input: pairs });
  }
});

test.each(['gfx942', 'gfx950'] as const)('stochastic conversions of %s', async (target) => {
  const words = new Uint32Array(2 * LANES);
  const floats = new Float32Array(words.buffer);
  for (let i = 0; i < LANES; i++) {
    floats[2 * i] = pick([
      between(-12, 18),
      between(-149, 127),
      short(-12, 18),
      pick(SPECIAL_SINGLES),
      448,
      464,
      57344,
      240,
    ]);
    words[2 * i + 1] = pick([0, 0xffffffff, Math.floor(random() * 2 ** 32)]);
  }
  const operands = { words: 2, input: new Uint8Array(words.buffer) };
  const names = ['v_cvt_sr_fp8_f32', 'v_cvt_sr_bf8_f32'];
  if (target === 'gfx950') names.push('v_cvt_sr_f16_f32', 'v_cvt_sr_bf16_f32');
  for (const name of names) await expectAgreement(`${name} v2, v4, v5`, operands, target);
});

test('an exact zero sum is negative when rounded down', () => {
  expect(Object.is(fmaF64(1, 1, -1, 2), -0)).toBe(true);
});

test('division of f32 and f64', async () => {
  const wide = { words: 6, input: doubles() };
  for (const [a, b] of [
    ['v[4:5]', 'v[6:7]'],
    ['v[8:9]', 'v[6:7]'],
  ]) {
    // The scaled operand is the denominator or the numerator.
    await expectAgreement(`v_div_scale_f64 v[2:3], vcc, ${b}, ${b}, ${a}`, wide);
    await expectAgreement(`v_div_scale_f64 v[2:3], vcc, ${a}, ${b}, ${a}\nv_cndmask_b32_e64 v2, v2, 1, vcc`, wide);
  }
  await expectAgreement('v_div_fixup_f64 v[2:3], v[8:9], v[6:7], v[4:5]', wide);
  const single = { words: 3, input: singles() };
  await expectAgreement('v_div_scale_f32 v2, vcc, v5, v5, v4', single);
  await expectAgreement('v_div_scale_f32 v2, vcc, v4, v5, v4\nv_cndmask_b32_e64 v3, 0, 1, vcc', single);
  await expectAgreement('v_div_fmas_f32 v2, v4, v5, v6', single);
  await expectAgreement('v_div_fixup_f32 v2, v6, v5, v4', single);
  const mixed = halves();
  const words = new Uint32Array(mixed.buffer);
  for (const input of [mixed, new Uint8Array(words.map((x) => (x & 0xbfff) | 0x0400).buffer)]) {
    for (const rounding of [0, 3]) {
      await expectAgreement(`${direction(rounding)}\nv_div_fixup_f16 v2, v4, v5, v6`, { words: 3, input });
    }
  }
});

test('exponents of f64', async () => {
  await expectAgreement('v_frexp_exp_i32_f64 v2, v[4:5]', { words: 6, input: doubles() });
  // Normal numbers in all lanes.
  const normal = new Float64Array(3 * LANES).map(() => between(-1000, 1000));
  await expectAgreement('v_frexp_exp_i32_f64 v2, v[4:5]', { words: 6, input: new Uint8Array(normal.buffer) });
});

test('f16 fused multiply-add to nearest', async () => {
  const input = halves();
  const small = new Uint32Array(input.buffer);
  // Short numbers: many sums lie in the middle of two f16.
  for (let i = 0; i < small.length; i += 2) small[i] = ((small[i] as number) & 0xbfc0bfc0) | 0x20002000;
  for (const code of [
    'v_pk_fma_f16 v2, v4, v5, v6',
    'v_pk_fma_f16 v2, v4, v5, v6 op_sel:[1,0,1] op_sel_hi:[0,1,1] neg_lo:[1,0,0]',
  ]) {
    await expectAgreement(code, { words: 3, input });
  }
});

test('v_trig_preop_f64 of all segments and exponents', async () => {
  const words = new Uint32Array(3 * LANES);
  for (let i = 0; i < LANES; i++) {
    const exponent = below(2) === 0 ? below(2048) : 1060 + below(40);
    words[3 * i] = below(2 ** 32);
    words[3 * i + 1] = (exponent << 20) | below(2 ** 20);
    words[3 * i + 2] = below(64);
  }
  // The places behind the last digit, by segment, where the scale of their zeros would be less than any f64.
  for (let segment = 21; segment < 32; segment++) {
    words[3 * segment + 1] = (1077 + 2044 - 53 * segment) << 20;
    words[3 * segment + 2] = segment;
  }
  const operands = { words: 3, input: new Uint8Array(words.buffer) };
  await expectAgreement('v_trig_preop_f64 v[2:3], v[4:5], v6', operands);
});

test.each([0xc0, 0xd0, 0xe0, 0xf0])('atomics of f32 with denormals as in MODE %i', async (mode) => {
  const words = new Uint32Array(2 * LANES);
  const special = [0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f800000, 0x7fc00001, 0x3f800000];
  for (let i = 0; i < words.length; i++) {
    words[i] = i % 3 === 0 ? below(2 ** 24) + 2 ** 31 * below(2) : i % 3 === 1 ? pick(special) : below(2 ** 32);
  }
  const input = new Uint8Array(words.buffer);
  for (const operation of ['global_atomic_add_f32 v2, v12, v5, s[6:7] sc0', 'ds_add_rtn_f32 v2, v13, v5']) {
    const isLds = operation.startsWith('ds');
    const code = `v_mbcnt_lo_u32_b32 v13, -1, 0
v_mbcnt_hi_u32_b32 v13, -1, v13
v_lshlrev_b32_e32 v13, 2, v13
${isLds ? 'ds_write_b32 v13, v4' : 'global_store_dword v12, v4, s[6:7]'}
s_waitcnt vmcnt(0) lgkmcnt(0)
${operation}
s_waitcnt vmcnt(0) lgkmcnt(0)
${isLds ? 'ds_read_b32 v3, v13' : 'global_load_dword v3, v12, s[6:7]'}
s_waitcnt vmcnt(0) lgkmcnt(0)`;
    await expectAgreement(`${setMode(mode)}\n${code}`, { words: 2, input, lds: 256 });
  }
});

test.each([0xc0, 0xd0, 0x00])(
  'compare-and-swap of floats in LDS moves bits, with denormals as in MODE %i',
  async (mode) => {
    const special = [
      0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x7f800000, 0x7fc00001, 0xffc12345, 0x7f812345, 0x3f800000,
    ];
    const addresses = `v_mbcnt_lo_u32_b32 v13, -1, 0
v_mbcnt_hi_u32_b32 v13, -1, v13
v_lshlrev_b32_e32 v13, 3, v13`;
    for (const bits of [32, 64] as const) {
      const words = new Uint32Array(6 * LANES);
      for (let i = 0; i < words.length; i++) words[i] = pick(special);
      // Half of the comparisons are with what is there.
      for (let i = 0; i < words.length; i += 12) words.copyWithin(i + 2, i, i + 2);
      const [memory, expected, next] = bits === 32 ? ['v4', 'v6', 'v8'] : ['v[4:5]', 'v[6:7]', 'v[8:9]'];
      // What was there, or its lower word, is joined with what is there then.
      const results =
        bits === 32
          ? ['v2', 'ds_read_b32 v3, v13']
          : ['v[10:11]', 'ds_read_b64 v[2:3], v13\ns_waitcnt lgkmcnt(0)\nv_xor_b32_e32 v2, v2, v10'];
      const code = `${addresses}
ds_write_b${bits} v13, ${memory}
s_waitcnt lgkmcnt(0)
ds_cmpst_rtn_f${bits} ${results[0]}, v13, ${expected}, ${next}
s_waitcnt lgkmcnt(0)
${results[1]}
s_waitcnt lgkmcnt(0)`;
      await expectAgreement(`${setMode(mode)}\n${code}`, { words: 6, input: new Uint8Array(words.buffer), lds: 512 });
    }
  },
);
