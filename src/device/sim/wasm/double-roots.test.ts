// v_sqrt_f64 and v_rsq_f64 on both engines: all operands whose results are as near to the middle between two numbers as the fused steps may be off,
// numbers of the whole range, and special numbers beside them.
import { expect, test } from 'vitest';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { randomNumbers } from '../../../base/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const random = randomNumbers(53);
const below = (n: number): number => Math.floor(random() * n);

const INSTRUCTIONS = ['v_sqrt_f64_e32 v[2:3], v[4:5]', 'v_rsq_f64_e32 v[2:3], v[4:5]'];

async function expectRoots(operands: Float64Array, instructions = INSTRUCTIONS): Promise<void> {
  const input = new Uint8Array(operands.buffer);
  for (const code of instructions) await expectAgreement(code, { words: 2, input });
}

/** The odd z below 2^bits with z² = k modulo 2^bits, of k = 1 modulo 8. */
function squareRoots(k: bigint, bits: number): bigint[] {
  let roots = [1n, 3n, 5n, 7n];
  for (let n = 4; n <= bits; n++) {
    const one = 1n << BigInt(n);
    const candidates = new Set(roots.flatMap((z) => [z, z + one / 2n]));
    roots = [...candidates].filter((z) => (z * z - k) % one === 0n);
  }
  return roots;
}

/** The f64 x in [1, 4) whose roots are nearest to a middle m = z / 2^53: m² − x is k / 2^106. */
function nearMiddles(most: number): number[] {
  const found: number[] = [];
  for (let k = 1 - 8 * Math.ceil(most / 8); k <= most; k += 8) {
    // x below 2 is a multiple of 2^-52, above of 2^-51.
    for (const bits of [54, 55]) {
      const unit = 1n << BigInt(bits);
      for (const root of squareRoots(BigInt(k), bits)) {
        for (let z = root; z < 1n << 54n; z += unit) {
          const x = Number((z * z - BigInt(k)) / unit) * 2 ** (bits - 106);
          if (bits === 54 ? x >= 1 && x < 2 : x >= 2 && x < 4) found.push(x);
        }
      }
    }
  }
  return found;
}

/**
 * The s in [1, 2), as multiples of 2^-52, whose reciprocals are nearest to a middle m = t / 2^54: s · t is 2^106 + j with |j| at most 11. They
 * are the divisors of these 22 numbers (GNU factor) with an odd t.
 */
const NEAR_RECIPROCALS = [
  0x1ffffff8000001n,
  0x1fffffffffffffn,
  0x1014ca35e947b6n,
  0x1024a3bd98da02n,
  0x10699d36aec84en,
  0x109107683ee29en,
  0x10af911aa26396n,
  0x10d03f8a57cc76n,
  0x110af85de838cen,
  0x110d10000221a2n,
  0x1125e52b034982n,
  0x115efb8b10aa42n,
  0x11d3799c32581en,
  0x11f98ea5d9b262n,
  0x120a8f5bbf2106n,
  0x12af4d6bc06922n,
  0x12bf5907e316d2n,
  0x12e93952a2ed6en,
  0x130a0dd90e13a2n,
  0x134d8fe343ef42n,
  0x1379cb88f092f2n,
  0x13a324a526d5een,
  0x13a7a1d01d1ec2n,
  0x13d75d54b37492n,
  0x1403e897077b16n,
  0x14a6fb45f5d782n,
  0x14cad5a5fa03een,
  0x155f2490c86132n,
  0x156a8cb0234262n,
  0x159aa11aaecb86n,
  0x16026c81a85766n,
  0x163baaac17d1e2n,
  0x163dd0554d0122n,
  0x16d6422e5cf246n,
  0x16f0f27bf434d6n,
  0x16fae7ba173812n,
  0x17641c46f799een,
  0x178cb7d5d6e322n,
  0x17f52093014f0en,
  0x1806c89fcb9452n,
  0x181efe51ead722n,
  0x18401cbcdb5596n,
  0x184a12efef626en,
  0x1960a45d1a71e6n,
  0x199e1b447e99c2n,
  0x19f142d24e1352n,
  0x1a0b8ffffcbe8en,
  0x1a149bad85de72n,
  0x1a2ce4d7478a06n,
  0x1a6f41dab98cb2n,
  0x1aa7c88ee59082n,
  0x1ae6849e786ad2n,
  0x1b227794e85702n,
  0x1bea3278b789d2n,
  0x1c2693dcf34742n,
  0x1c4d3aabd478f6n,
  0x1c69bf28eba166n,
  0x1d5b9032f086ben,
  0x1da210daeb138en,
  0x1de441d5331432n,
  0x1de4a0d00fa9b2n,
  0x1e20adbc4078a2n,
  0x1e756f08df1792n,
  0x1e8d517d09c5c2n,
  0x1e9a9473949bf6n,
  0x1ef7930608393en,
  0x1f65fad23b0d86n,
  0x1f739bd459bea2n,
  0x10aadc6f562fdcn,
  0x10ed85c351e224n,
  0x12d2d2d2d2d2d4n,
  0x12e3c6a0509ca4n,
  0x132160ccc0848cn,
  0x13541c0067f83cn,
  0x14873ecade304cn,
  0x15555555555554n,
  0x172f10bf899124n,
  0x178d42e524dcdcn,
  0x194ab05a4ecedcn,
  0x194c4511fa3124n,
  0x199d2b42ffe9f4n,
  0x1c36899addce3cn,
  0x1c384d119331c4n,
  0x1c928b5b9dc714n,
  0x1fe24bffeb8794n,
  0x1ffb8a8b628dbcn,
  0x113deff6b41e35n,
  0x161c2909f39d4bn,
  0x1ef43974550f69n,
  0x1ffffffffffffdn,
];

/** The operands whose root is s. */
function operandsOf(s: number): number[] {
  const square = s * s;
  const step = square < 2 ? 2 ** -52 : 2 ** -51;
  return [-3, -2, -1, 0, 1, 2, 3].map((n) => square + n * step).filter((x) => Math.sqrt(x) === s);
}

/** Every operand in every lane of a chunk, scaled by powers of 4. */
function spread(operands: readonly number[]): Float64Array {
  return Float64Array.from({ length: LANES }, (_, i) => {
    const operand = operands[Math.floor(i / 4) % operands.length] as number;
    return operand * 4 ** (i < 4 * operands.length ? 0 : below(980) - 480);
  });
}

test('should round roots next to the middle between two numbers', async () => {
  const operands = nearMiddles(256);
  expect(operands.length).toBeGreaterThan(80);
  for (const x of operands) expect(x).toBeGreaterThanOrEqual(1);
  await expectRoots(spread(operands));
});

test('should round reciprocals of roots next to the middle between two numbers', async () => {
  const operands = NEAR_RECIPROCALS.flatMap((s) => {
    const nearest = (1n << 106n) % s;
    expect(nearest <= 11n || s - nearest <= 11n).toBe(true);
    return operandsOf(Number(s) * 2 ** -52);
  });
  expect(operands.length).toBeGreaterThan(NEAR_RECIPROCALS.length);
  await expectRoots(spread(operands));
});

const SPECIAL = [
  0,
  -0,
  -1,
  5e-324,
  -5e-324,
  2 ** -1022,
  2 ** -960,
  2 ** -961,
  2 ** 1016,
  2 ** 1017,
  Infinity,
  -Infinity,
  NaN,
];

/** Numbers of all exponents, with fractions of every kind; one of so many is special. */
function wholeRange(oneOf: number): Float64Array {
  const numbers = new Float64Array(LANES);
  const words = new Uint32Array(numbers.buffer);
  for (let i = 0; i < LANES; i++) {
    const shape = below(4);
    const fraction = shape === 0 ? 0 : shape === 1 ? 0xfffff : below(2 ** 20);
    words[2 * i] = [0, 2 ** 32 - 1, below(2 ** 32), below(2 ** 32)][below(4)] as number;
    words[2 * i + 1] = 2 ** 20 * (oneOf === 0 ? 63 + below(1984) : below(2048)) + fraction;
    if (oneOf !== 0 && below(oneOf) === 0) numbers[i] = SPECIAL[below(SPECIAL.length)] as number;
  }
  return numbers;
}

test('should agree on numbers of the whole range', async () => {
  for (const oneOf of [0, 0, 40, 3]) await expectRoots(wholeRange(oneOf));
});

test('should agree with modifiers, and with denormals flushed', async () => {
  const modified = ['sqrt', 'rsq'].flatMap((name) => [
    `v_${name}_f64_e64 v[2:3], |v[4:5]|`,
    `v_${name}_f64_e64 v[2:3], -v[4:5]`,
    `v_${name}_f64_e64 v[2:3], v[4:5] clamp`,
    `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\nv_${name}_f64_e32 v[2:3], v[4:5]`,
    `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 2\nv_${name}_f64_e32 v[2:3], v[4:5]`,
  ]);
  await expectRoots(wholeRange(10), modified);
});
