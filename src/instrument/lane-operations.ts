// Vector instructions of operations on values: in all active lanes, of which a value that is one for the wave takes one.
// Source: CDNA3 ISA manual, "Vector ALU Operations"; LLVM's GCNHazardRecognizer (a mask is written some cycles before it is read).
import type { Operation } from './values.ts';

/** An operand in a pair of vector registers, of which a value of 32 bits has the first; the second is zero then. */
export interface LanePair {
  readonly first: number;
  readonly wide: boolean;
}

/** Operations that one instruction does: 32 bits to 32 bits. */
const SINGLE: Partial<Record<Operation, string>> = {
  add: 'v_add_u32_e32',
  sub: 'v_sub_u32_e32',
  mul: 'v_mul_lo_u32',
  min: 'v_min_u32_e32',
  max: 'v_max_u32_e32',
  and: 'v_and_b32_e32',
  or: 'v_or_b32_e32',
  xor: 'v_xor_b32_e32',
  'f32-add': 'v_add_f32_e32',
  'f32-mul': 'v_mul_f32_e32',
  'f32-min': 'v_min_f32_e32',
  'f32-max': 'v_max_f32_e32',
};

const pair = (first: number): string => `v[${first}:${first + 1}]`;

/**
 * Instructions that put an operation of these operands into `to`, a pair of registers that no operand has; `mask` is a pair of scalar
 * registers to work with.
 */
export function laneOperation(
  op: Operation,
  wide: boolean,
  to: number,
  args: readonly LanePair[],
  mask: number,
): string[] {
  const [a, b, c] = args as [LanePair, LanePair, LanePair];
  const carry = `s[${mask}:${mask + 1}]`;
  const test = (mnemonic: string): string[] => [
    `${mnemonic} ${carry}, ${a.wide || b.wide ? pair(a.first) : `v${a.first}`}, ${a.wide || b.wide ? pair(b.first) : `v${b.first}`}`,
    's_nop 1',
    `v_cndmask_b32_e64 v${to}, 0, 1, ${carry}`,
  ];
  const width = a.wide || b?.wide === true ? 'u64' : 'u32';
  switch (op) {
    case 'equal':
      return test(`v_cmp_eq_${width}_e64`);
    case 'less':
      return test(`v_cmp_lt_${width}_e64`);
    case 'f32-less':
      return test('v_cmp_lt_f32_e64');
    case 'select': {
      const choose = (i: number): string => `v_cndmask_b32_e64 v${to + i}, v${c.first + i}, v${b.first + i}, ${carry}`;
      return [...maskOf(a, carry), choose(0), ...(wide ? [choose(1)] : [])];
    }
    case 'popcount':
      return [
        `v_bcnt_u32_b32 v${to}, v${a.first}, 0`,
        ...(a.wide ? [`v_bcnt_u32_b32 v${to}, v${a.first + 1}, v${to}`] : []),
      ];
    case 'shl':
    case 'shr': {
      const direction = op === 'shl' ? 'lshl' : 'lshr';
      return wide
        ? [`v_${direction}rev_b64 ${pair(to)}, v${b.first}, ${pair(a.first)}`]
        : [`v_${direction}rev_b32_e32 v${to}, v${b.first}, v${a.first}`];
    }
    case 'f64-add':
    case 'f64-mul':
      return [`v_${op.slice(4)}_f64 ${pair(to)}, ${pair(a.first)}, ${pair(b.first)}`];
    case 'f32-reciprocal':
      return [`v_rcp_f32_e32 v${to}, v${a.first}`, 's_nop 1'];
    case 'f32-from-u32':
      return [`v_cvt_f32_u32_e32 v${to}, v${a.first}`, 's_nop 1'];
    case 'u32-from-f32':
      return [`v_cvt_u32_f32_e32 v${to}, v${a.first}`, 's_nop 1'];
    case 'f64-from-f32':
      return [`v_cvt_f64_f32_e32 ${pair(to)}, v${a.first}`, 's_nop 1'];
    case 'add':
    case 'sub':
      if (wide)
        return [
          `v_${op}_co_u32_e64 v${to}, ${carry}, v${a.first}, v${b.first}`,
          's_nop 1',
          `v_${op}${op === 'add' ? 'c' : 'b'}_co_u32_e64 v${to + 1}, ${carry}, v${a.first + 1}, v${b.first + 1}, ${carry}`,
          's_nop 1',
        ];
      break;
  }
  const mnemonic = SINGLE[op];
  if (mnemonic === undefined) throw new Error(`no code for ${op} by lane`);
  return [0, ...(wide ? [1] : [])].map((i) => `${mnemonic} v${to + i}, v${a.first + i}, v${b.first + i}`);
}

/** Instructions that put the lanes where a value is not zero into a pair of scalar registers. */
export function maskOf({ first, wide }: LanePair, mask: string): string[] {
  return [wide ? `v_cmp_ne_u64_e64 ${mask}, 0, ${pair(first)}` : `v_cmp_ne_u32_e64 ${mask}, 0, v${first}`, 's_nop 1'];
}
