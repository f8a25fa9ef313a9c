// i64 operators of lane expressions in SIMD, by halves of two lanes; comparisons give masks of 32-bit lanes.
import type { Expr } from '../../../isa/semantics/index.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { floatOperator } from './lanes-float.ts';
import { NoCode } from './scalar.ts';

/** Writes the i64 operator `name` of expression `e` for one half. */
export function wideOperator(code: LaneWriter, name: string, e: Expr, half: number): void {
  const { fn } = code;
  const [a, b] = e.args as [Expr, Expr];
  const place = half === 0 ? 'low' : 'high';
  switch (name) {
    case 'extend_s':
    case 'extend_u':
      code.push(a);
      fn.op(`i64x2.extend_${place}_i32x4_${name.slice(-1)}`);
      return;
    case 'not':
      code.push(a, half);
      fn.op('v128.not');
      return;
    case 'neg':
      code.push(a, half);
      fn.op('i64x2.neg');
      return;
    case 'and':
    case 'or':
    case 'xor':
      code.push(a, half);
      code.push(b, half);
      fn.op(`v128.${name}`);
      return;
    case 'mul':
      if (/^i64\.extend_[su]$/.test(a.op) && a.op === b.op) {
        code.push(a.args[0] as Expr);
        code.push(b.args[0] as Expr);
        fn.op(`i64x2.extmul_${place}_i32x4_${a.op.slice(-1)}`);
        return;
      }
      code.push(a, half);
      code.push(b, half);
      fn.op('i64x2.mul');
      return;
    case 'add':
    case 'sub':
      code.push(a, half);
      code.push(b, half);
      fn.op(`i64x2.${name}`);
      return;
    case 'shl':
    case 'shr_s':
    case 'shr_u':
      shift64(code, name, a, b, half);
      return;
    case 'min_s':
    case 'max_s':
    case 'min_u':
    case 'max_u':
      choose64(code, name, a, b, half);
      return;
    case 'eq':
    case 'ne':
      code.joinLow((h) => {
        code.push(a, h);
        code.push(b, h);
        fn.op(`i64x2.${name}`);
      });
      return;
    case 'lt_s':
    case 'lt_u':
      code.joinLow((h) => {
        push64(code, a, h, name === 'lt_u');
        push64(code, b, h, name === 'lt_u');
        fn.op('i64x2.lt_s');
      });
      return;
    case 'bits':
      floatOperator(code, 'f64', 'bits', e, half);
      return;
    default:
      throw new NoCode(`i64.${name}`);
  }
}

/** Pushes half a value, for unsigned comparisons with its sign bit flipped. */
function push64(code: LaneWriter, a: Expr, half: number, flip: boolean): void {
  code.push(a, half);
  if (flip) code.fn.v128(0, -0x80000000, 0, -0x80000000).op('v128.xor');
}

function choose64(code: LaneWriter, name: string, a: Expr, b: Expr, half: number): void {
  const { fn } = code;
  const [x, y] = [fn.local('v128'), fn.local('v128')];
  const sign = (): void => {
    if (name.endsWith('u')) fn.v128(0, -0x80000000, 0, -0x80000000).op('v128.xor');
  };
  code.push(a, half);
  fn.set(x);
  code.push(b, half);
  const isMin = name.startsWith('min');
  fn.set(y)
    .get(x)
    .get(y)
    .get(isMin ? x : y);
  sign();
  fn.get(isMin ? y : x);
  sign();
  fn.op('i64x2.lt_s').op(choosing());
  fn.release('v128', x);
  fn.release('v128', y);
}

function shift64(code: LaneWriter, name: string, a: Expr, count: Expr, half: number): void {
  const { fn } = code;
  code.push(a, half);
  if (code.isUniform(count)) {
    code.pushUniform(count);
    fn.op(`i64x2.${name}`);
    return;
  }
  const [x, n] = [fn.local('v128'), fn.local('v128')];
  fn.set(x);
  code.push(count);
  fn.set(n);
  for (const lane of [0, 1]) {
    fn.get(x).lane('i64x2.extract_lane', lane);
    fn.get(n)
      .lane('i32x4.extract_lane', 2 * half + lane)
      .op('i64.extend_i32_u')
      .op(`i64.${name}`);
    if (lane === 0) fn.op('i64x2.splat');
    else fn.lane('i64x2.replace_lane', lane);
  }
  fn.release('v128', x);
  fn.release('v128', n);
}
