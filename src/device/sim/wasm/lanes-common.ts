// Floating-point operators that f32 and f64 vectors share, rounding to nearest even, and comparisons of f32.
import type { Expr } from '../../../isa/semantics/index.ts';
import { choosing } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';

const splat4 = (word: number): [number, number, number, number] => [word, word, word, word];

/** min or max where a NaN loses; both operands are on the stack. */
function minMax(fn: LaneWriter['fn'], type: 'f32x4' | 'f64x2', name: string): void {
  const [a, b] = [fn.local('v128'), fn.local('v128')];
  fn.set(b).set(a);
  // In both orders: two zeros give the operand that the host takes, and their signs are joined. A second operand that is a NaN is in neither.
  fn.get(b).get(a).get(b).op(`${type}.p${name}`).get(b).get(a).op(`${type}.p${name}`).get(b).get(b);
  if (name === 'max') fn.op(`${type}.ne`).op('v128.or').op('v128.and');
  else fn.op(`${type}.eq`).op('v128.and').op('v128.or');
  fn.get(a).get(a).op(`${type}.ne`).op(choosing());
  fn.release('v128', a);
  fn.release('v128', b);
}

/** Tests and operators that f32 and f64 vectors share: true when written. */
export function common(code: LaneWriter, type: 'f32x4' | 'f64x2', name: string, e: Expr, half: number): boolean {
  const { fn } = code;
  const [a, b] = e.args as [Expr, Expr];
  switch (name) {
    case 'add':
    case 'sub':
    case 'mul':
      code.push(a, half);
      code.push(b, half);
      fn.op(`${type}.${name}`);
      return true;
    case 'minimum':
    case 'maximum':
      code.push(a, half);
      code.push(b, half);
      fn.op(`${type}.${name.slice(0, 3)}`);
      return true;
    case 'min':
    case 'max':
      code.push(a, half);
      code.push(b, half);
      minMax(fn, type, name);
      return true;
    case 'neg':
    case 'abs':
      code.push(a, half);
      fn[name](type);
      return true;
    case 'floor':
    case 'ceil':
    case 'trunc':
    case 'sqrt':
      code.push(a, half);
      fn.op(`${type}.${name}`);
      return true;
    case 'rint':
      code.push(a, half);
      fn.op(`${type}.nearest`);
      return true;
    case 'rcp':
      if (type === 'f32x4') fn.v128(...splat4(0x3f800000));
      else fn.v128(0, 0x3ff00000, 0, 0x3ff00000);
      code.push(a, half);
      fn.op(`${type}.div`);
      return true;
    case 'fract': {
      const x = fn.local('v128');
      code.push(a, half);
      fn.tee(x).get(x).op(`${type}.floor`).op(`${type}.sub`);
      if (type === 'f32x4') fn.v128(...splat4(0x3f7fffff));
      else fn.v128(-1, 0x3fefffff, -1, 0x3fefffff);
      fn.op(`${type}.min`);
      fn.release('v128', x);
      return true;
    }
  }
  return false;
}

export const TESTS = new Set(['eq', 'ne', 'lt', 'le', 'is_nan']);

/** A comparison of f32 values (f16 and bf16 too). */
export function test32(code: LaneWriter, name: string, e: Expr): void {
  const [a, b] = e.args as [Expr, Expr];
  code.push(a);
  if (name === 'is_nan') {
    const x = code.fn.local('v128');
    code.fn.tee(x).get(x).op('f32x4.ne');
    code.fn.release('v128', x);
    return;
  }
  code.push(b);
  code.fn.op(`f32x4.${name}`);
}
