// Rows of arithmetic in the directed roundings, which a kernel's MODE has from its beginning or by s_setreg.
import { OWN, RESULTS, SECOND, THIRD } from './forms.ts';
import { type Row, rowOf } from './timing.ts';

/** Numbers of the roundings in MODE. */
const ROUNDINGS = { up: 1, down: 2, 'towards zero': 3 } as const;
const pair = (n: number): string => `v[${n}:${n + 1}]`;

/** Mnemonics, the names of their registers, how many sources they have, and operations of a lane. */
const ARITHMETIC = [
  ['v_add_f32_e32', (n: number) => `v${n}`, 2, 1],
  ['v_sub_f32_e32', (n: number) => `v${n}`, 2, 1],
  ['v_mul_f32_e32', (n: number) => `v${n}`, 2, 1],
  ['v_fma_f32', (n: number) => `v${n}`, 3, 1],
  ['v_fmac_f32_e32', (n: number) => `v${n}`, 2, 1],
  ['v_pk_add_f32', pair, 2, 2],
  ['v_pk_mul_f32', pair, 2, 2],
  ['v_pk_fma_f32', pair, 3, 2],
  ['v_add_f64', pair, 2, 1],
  ['v_mul_f64', pair, 2, 1],
  ['v_fma_f64', pair, 3, 1],
] as const;

/** Sums, products and multiply-adds in each directed rounding, with denormals as they are and, of f32, as zeros. */
export function directedRounding(): Row[] {
  return Object.entries(ROUNDINGS).flatMap(([name, rounding]) =>
    ARITHMETIC.flatMap(([mnemonic, register, sources, operations]) =>
      (mnemonic.includes('f32') ? [3, 0] : [3]).map((denormals) => {
        const shared = [SECOND, THIRD].slice(0, sources - 1).map(register);
        const plain = mnemonic.replace(/_e32$/, '');
        const zeros = denormals === 0 ? ', denormals as zeros' : '';
        return rowOf(
          'directed rounding',
          `${plain}, ${name}${zeros}`,
          (n) => [`${mnemonic} ${register(RESULTS + 2 * n)}`, register(OWN + 2 * n), ...shared].join(', '),
          {
            operations,
            before: `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${0xc0 | (denormals << 4) | (5 * rounding)}`,
            reads: plain,
          },
        );
      }),
    ),
  );
}
