// The steps of a division (v_div_scale, v_div_fmas, v_div_fixup) in line for lanes that need nothing of them: operands far from the ends
// of the range, or a numerator that is zero. Otherwise the functions of math-division.ts and math-fused.ts are called.
import type { Expr } from '../../../isa/semantics/index.ts';
import type { WasmFunction } from './emit.ts';
import { matrixFeatures } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { callMath } from './math.ts';
import { type DivisionFormat, pushNeedsFixup, pushNeedsScale } from './math-division.ts';
import { upper } from './math-tools.ts';

/** Pushes |a|, or zero for a zero numerator, with the sign of b / c. */
function pushSignedQuotient(
  fn: WasmFunction,
  format: DivisionFormat,
  [a, b, c]: readonly [number, number, number],
  isZero: number,
): void {
  const word = (high: number, low: number): void =>
    void (format === 'f32' ? fn.v128(high, high, high, high) : fn.v128(low, high, low, high));
  fn.get(a);
  word(0x7fffffff, -1);
  fn.op('v128.and').get(isZero).op('v128.andnot').get(b).get(c).op('v128.xor');
  word(-0x80000000, 0);
  fn.op('v128.and').op('v128.or');
}

/** Locals with the halves of each argument, of f32 one. */
function halvesOf(code: LaneWriter, format: DivisionFormat, args: readonly Expr[]): number[][] {
  const halves = format === 'f32' ? [0] : [0, 1];
  return args.map((argument) =>
    halves.map((half) => {
      code.push(argument, half);
      const local = code.fn.local('v128');
      code.fn.set(local);
      return local;
    }),
  );
}

/** The results of v_div_scale (the halves of the number, then the mask of lanes that are scaled back) or v_div_fixup (the halves) in locals. */
function steps(code: LaneWriter, format: DivisionFormat, name: 'div_scale' | 'div_fixup', e: Expr): readonly number[] {
  const known = code.kept.get(name);
  if (known !== undefined) return known;
  const { fn } = code;
  const [a, b, c] = halvesOf(code, format, e.args) as [number[], number[], number[]];
  const isScale = name === 'div_scale';
  const results = [...a, ...(isScale ? [0] : [])].map(() => code.temporary());
  const zeros = isScale ? pushNeedsScale(fn, format, b, c) : pushNeedsFixup(fn, format, a, b, c);
  fn.op('v128.any_true').if();
  for (const local of [...a, ...b, ...c]) fn.get(local);
  callMath(code, `${name}.${format}`);
  for (const local of [...results].reverse()) fn.set(local);
  fn.else();
  a.forEach((x, half) => {
    const isZero = zeros[half] as number;
    // What is scaled for a zero numerator is no number; a NaN has all of these bits.
    if (isScale) fn.get(x).get(isZero).op('v128.or');
    else pushSignedQuotient(fn, format, [x, b[half] as number, c[half] as number], isZero);
    fn.set(results[half] as number);
  });
  if (isScale) fn.v128(0, 0, 0, 0).set(results[a.length] as number);
  fn.end();
  for (const local of [...a, ...b, ...c, ...zeros]) fn.release('v128', local);
  code.kept.set(name, results);
  return results;
}

/** v_div_fmas where the host's multiply-add rounds once: in line where no lane of a half is scaled. */
function fusedStep(code: LaneWriter, format: DivisionFormat, e: Expr, half: number): void {
  const { fn } = code;
  const locals = e.args.map((argument) => {
    code.push(argument, half);
    if (format === 'f64' && argument.type === 'i32') upper(fn, half);
    const local = fn.local('v128');
    fn.set(local);
    return local;
  });
  const [a, b, c, scale] = locals as [number, number, number, number];
  fn.get(scale).op('v128.any_true').if('v128');
  for (const local of locals) fn.get(local);
  callMath(code, `fma_scaled.${format}`);
  fn.else();
  fn.get(a)
    .get(b)
    .get(c)
    .op(`${format === 'f32' ? 'f32x4' : 'f64x2'}.relaxed_madd`);
  fn.end();
  for (const local of locals) fn.release('v128', local);
}

/** Writes a step of a division, of one half of an f64; whether the operator is one. The flag of v_div_scale is a mask of four lanes. */
export function divisionStep(code: LaneWriter, format: DivisionFormat, name: string, e: Expr, half: number): boolean {
  if (name === 'fma_scaled' && matrixFeatures().fused) fusedStep(code, format, e, half);
  else if (name === 'div_scale_flag') code.fn.get(steps(code, format, 'div_scale', e).at(-1) as number);
  else if (name === 'div_scale' || name === 'div_fixup') code.fn.get(steps(code, format, name, e)[half] as number);
  else return false;
  return true;
}
