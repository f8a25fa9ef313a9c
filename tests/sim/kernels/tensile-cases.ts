// The hipBLASLt kernels that run, with shapes small enough for a test: f64, int8 and f16, edges, batches, mappings, a staggered K loop.
import type { Outcome } from './support.ts';
import { type TensileCase, tensileGemm } from './tensile.ts';

const file = (name: string): string => `TensileLibrary_${name}_gfx90a.co`;
const DOUBLE = file('DD_DD_UA_Type_DD_Contraction_l_Alik_Bljk_Cijk_Dijk');
const INT8 = file('I8I8_II8_UA_Type_I8I_HPA_Contraction_l_Alik_Bljk_Cijk_Dijk');
const HALF = file('HH_HH_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk');
const BIAS = file('HH_HH_HA_Bias_Aux_SAV_Type_HH_HPA_Contraction_l_Ailk_Bjlk_Cijk_Dijk');
const CUT = file('HH_HB_HA_Bias_SAV_UA_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk_CU104');

const double = { input: 'f64', output: 'f64', scalar: 'f64' } as const;
const int8 = { input: 'i8', output: 'i32', scalar: 'i32' } as const;
const half = { input: 'f16', output: 'f16', scalar: 'f32' } as const;
const plain = { alpha: 1.5, beta: 0.5, mapping: 1, stagger: 0 };
const integer = { alpha: 2, beta: 1, mapping: 1, stagger: 0 };
const HALF_RESULT = 2 ** -10;

const CASES: readonly [string, number, TensileCase][] = [
  [
    'f64, edges, batch of two',
    1e-15,
    { file: DOUBLE, kernel: 'MT16x16x16', formats: double, sizes: [40, 24, 2, 36], ...plain },
  ],
  [
    'f64, beta 0, mapping 8',
    1e-15,
    { file: DOUBLE, kernel: 'MT16x16x8', formats: double, sizes: [48, 32, 1, 64], ...plain, beta: 0, mapping: 8 },
  ],
  ['int8 64x64', 1e-15, { file: INT8, kernel: 'MT64x64x64', formats: int8, sizes: [128, 64, 1, 128], ...integer }],
  ['int8 128x128', 1e-15, { file: INT8, kernel: 'MT128x128x64', formats: int8, sizes: [128, 128, 1, 192], ...integer }],
  [
    'f16 64x128',
    HALF_RESULT,
    { file: HALF, kernel: 'MT64x128x64', formats: half, sizes: [128, 128, 1, 128], ...plain },
  ],
  [
    'f16 256x128',
    HALF_RESULT,
    { file: HALF, kernel: 'MT256x128x32', formats: half, sizes: [256, 128, 1, 96], ...plain, beta: 0 },
  ],
  [
    'f16 32x16, staggered, mapping 4',
    HALF_RESULT,
    { file: HALF, kernel: 'MT32x16x64', formats: half, sizes: [64, 64, 1, 512], ...plain, mapping: 4, stagger: 4 },
  ],
  [
    'f16 64x16, edges, batch of two',
    HALF_RESULT,
    { file: HALF, kernel: 'MT64x16x64', formats: half, sizes: [72, 24, 2, 136], ...plain },
  ],
  [
    'f16 with bias, scale vector and auxiliary output',
    HALF_RESULT,
    { file: BIAS, kernel: 'MT128x256x32', formats: half, sizes: [128, 256, 1, 64], ...plain },
  ],
  [
    'f16 cut to bf16, with bias and scale vector',
    HALF_RESULT,
    { file: CUT, kernel: 'MT16x16x64', formats: { ...half, cutInputs: true }, sizes: [32, 32, 1, 128], ...plain },
  ],
];

/** Name, largest relative error, run. */
export const TENSILE_KERNELS: readonly (readonly [string, number, () => Promise<Outcome>])[] = CASES.map(
  ([name, tolerance, c]) => [name, tolerance, () => tensileGemm(c)] as const,
);
