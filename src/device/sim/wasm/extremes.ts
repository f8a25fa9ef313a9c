// v_min and v_max on register bits as SIMD code. Counterpart: interpreter/extremes.ts.
import type { Expr } from '../../../isa/semantics/index.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { flushDenormals } from './rounding.ts';

/** f16 is computed in the high half of each lane: infinity, the quiet bit and the order of sizes are where a 32-bit format has its own. */
const FORMATS = {
  f16: { infinity: [0x7c000000, 0x7c000000], quiet: [0x02000000, 0x02000000] },
  f32: { infinity: [0x7f800000, 0x7f800000], quiet: [0x00400000, 0x00400000] },
  f64: { infinity: [0, 0x7ff00000], quiet: [0, 0x00080000] },
} as const;

/** Writes `min` or `max` of two operands' bits: for numbers in a few instructions, and only where there are NaNs in more. */
export function extremeBits(code: LaneWriter, type: keyof typeof FORMATS, name: string, e: Expr, half: number): void {
  const { fn, mode } = code;
  const [a, b, result, aNaN, bNaN] = [1, 2, 3, 4, 5].map(() => fn.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const pair = ([low, high]: readonly [number, number]): void => void fn.v128(low, high, low, high);
  const integer = type === 'f64' ? 'i64x2' : 'i32x4';
  const format = type === 'f16' ? 'high f16' : type;
  [e.args[0] as Expr, e.args[1] as Expr].forEach((operand, k) => {
    code.push(operand, half);
    if (type === 'f16') fn.i32(16).op('i32x4.shl');
    if (!(type === 'f32' ? mode.in32 : mode.in64)) flushDenormals(fn, format);
    fn.set(k === 0 ? a : b);
  });
  const size = (x: number): void => {
    fn.get(x);
    pair(type === 'f64' ? [-1, 0x7fffffff] : [0x7fffffff, 0x7fffffff]);
    fn.op('v128.and');
  };
  if (type === 'f16') {
    smallerOf(code, name, a, b);
    fn.set(result);
    size(a);
    size(b);
    fn.op('i32x4.max_s');
    pair(FORMATS.f16.infinity);
    fn.op('i32x4.gt_s').anyLane().if();
  } else {
    // In both orders: two zeros give the operand that the host takes, and their signs are joined. A sum is a NaN where an operand is.
    const shape = type === 'f64' ? 'f64x2' : 'f32x4';
    fn.get(a).get(b).op(`${shape}.p${name}`).get(b).get(a).op(`${shape}.p${name}`);
    fn.op(name === 'max' ? 'v128.and' : 'v128.or').set(result);
    fn.get(a).get(b).op(`${shape}.add`).tee(aNaN).get(aNaN).op(`${shape}.ne`).anyLane().if();
  }
  for (const [x, nan] of [
    [a, aNaN],
    [b, bNaN],
  ] as const) {
    size(x);
    pair(FORMATS[type].infinity);
    fn.op(`${integer}.gt_s`).set(nan);
  }
  fn.get(b).get(a).get(result).get(bNaN).op(choosing()).get(aNaN).op(choosing()).set(result);
  if (mode.ieee) {
    // The second operand first: a signalling first one is put above it.
    for (const [x, nan] of [
      [b, bNaN],
      [a, aNaN],
    ] as const) {
      fn.get(x);
      pair(FORMATS[type].quiet);
      fn.op('v128.or').get(result).get(nan);
      pair([0, 0]);
      fn.get(x);
      pair(FORMATS[type].quiet);
      fn.op('v128.and').op(`${integer}.eq`).op('v128.and').op(choosing()).set(result);
    }
  }
  fn.end().get(result);
  if (!(type === 'f32' ? mode.out32 : mode.out64)) flushDenormals(fn, format);
  if (type === 'f16') fn.i32(16).op('i32x4.shr_u');
  for (const local of [a, b, result, aNaN, bNaN]) fn.release('v128', local);
}

/** The smaller or larger of floats in a 32-bit layout: integers in the same order when the bits of negative sizes are flipped. */
function smallerOf({ fn }: LaneWriter, name: string, a: number, b: number): void {
  const x = fn.local('v128');
  const flip = (): void => {
    fn.tee(x).get(x).i32(31).op('i32x4.shr_s').v128(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff);
    fn.op('v128.and').op('v128.xor');
  };
  fn.get(a);
  flip();
  fn.get(b);
  flip();
  fn.op(`i32x4.${name}_s`);
  flip();
  fn.release('v128', x);
}
