// The steps of a division (v_div_scale, v_div_fmas, v_div_fixup) in line for lanes that need nothing of them: operands far from the ends
// of the range, or a numerator that is zero. Otherwise the functions of math-division.ts and math-exponent.ts are called.
import type { Expr } from '../../../isa/semantics/index.ts';
import type { WasmFunction } from './emit.ts';
import { matrixFeatures } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { callMath } from './math.ts';
import { F32, F64 } from './math-division.ts';
import { upper } from './math-tools.ts';

type DivisionFormat = 'f32' | 'f64';

/** Pushes a word in the lanes that have exponents, and another in the rest (the low words of f64). */
function exponentWords(fn: WasmFunction, format: DivisionFormat, value: number, low: number): void {
  if (format === 'f32') fn.v128(value, value, value, value);
  else fn.v128(low, value, low, value);
}

/** The high word of 2^n. */
const powerWord = (format: DivisionFormat, n: number): number =>
  format === 'f32' ? (127 + n) << 23 : (1023 + n) << 20;

/** Pushes a mask that is not empty when the size of some lane of a local is outside [2^low, 2^high). */
function pushOutside(fn: WasmFunction, format: DivisionFormat, x: number, low: number, high: number): void {
  const first = powerWord(format, low);
  fn.get(x);
  exponentWords(fn, format, 0x7fffffff, 0);
  fn.op('v128.and');
  exponentWords(fn, format, first, 0);
  fn.op('i32x4.sub');
  exponentWords(fn, format, powerWord(format, high) - first, 1);
  fn.op('i32x4.ge_u');
}

/** Pushes |a|, or zero for a zero numerator, with the sign of b / c. */
function pushSignedQuotient(
  fn: WasmFunction,
  format: DivisionFormat,
  [a, b, c]: readonly [number, number, number],
  isZero: number,
): void {
  fn.get(a);
  exponentWords(fn, format, 0x7fffffff, -1);
  fn.op('v128.and').get(isZero).op('v128.andnot').get(b).get(c).op('v128.xor');
  exponentWords(fn, format, -0x80000000, 0);
  fn.op('v128.and').op('v128.or');
}

/** Writes a step of a division, of one half of an f64; whether the operator is one. */
export function divisionStep(code: LaneWriter, format: DivisionFormat, name: string, e: Expr, half: number): boolean {
  const isScale = name === 'div_scale' || name === 'div_scale_flag';
  if (!isScale && name !== 'div_fixup' && !(name === 'fma_scaled' && matrixFeatures().fused)) return false;
  const { fn } = code;
  // Set before the branch: what is pushed in it first would be missing in the other.
  const locals = e.args.map((argument) => {
    code.push(argument, half);
    if (format === 'f64' && argument.type === 'i32') upper(fn, half);
    const local = fn.local('v128');
    fn.set(local);
    return local;
  });
  const [a, b, c, scale] = locals as [number, number, number, number];
  const { ordinary } = format === 'f32' ? F32 : F64;
  const vector = format === 'f32' ? 'f32x4' : 'f64x2';
  const isZero = fn.local('v128');
  if (name === 'fma_scaled') fn.get(scale);
  else {
    pushOutside(fn, format, c, -ordinary, ordinary);
    if (name === 'div_fixup') fn.get(a).get(a).op(`${vector}.ne`).op('v128.or');
    fn.get(c).v128(0, 0, 0, 0).op(`${vector}.eq`).tee(isZero).op('v128.andnot');
    pushOutside(fn, format, b, -ordinary, ordinary);
    fn.op('v128.or');
  }
  fn.op('v128.any_true').if('v128');
  for (const local of locals) fn.get(local);
  callMath(code, `${name}.${format}`);
  fn.else();
  // What is scaled for a zero numerator is no number; a NaN has all of these bits.
  if (name === 'div_scale') fn.get(a).get(isZero).op('v128.or');
  else if (name === 'div_scale_flag') fn.v128(0, 0, 0, 0);
  else if (name === 'div_fixup') pushSignedQuotient(fn, format, [a, b, c], isZero);
  else fn.get(a).get(b).get(c).op(`${vector}.relaxed_madd`);
  fn.end();
  for (const local of [...locals, isZero]) fn.release('v128', local);
  return true;
}
