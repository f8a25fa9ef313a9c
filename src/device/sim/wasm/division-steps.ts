// Steps of a division (v_div_scale, v_div_fmas) in line for lanes that need nothing of them: operands far from the ends of the range, or a
// numerator that is zero. Otherwise the functions of math-division.ts and math-fused.ts are called.
import type { Expr } from '../../../isa/semantics/index.ts';
import { matrixFeatures } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { callMath } from './math.ts';
import { type DivisionFormat, pushNeedsScale } from './math-division.ts';
import { upper } from './math-tools.ts';

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

/** The results of v_div_scale in locals: the halves of the number, then the mask of lanes that are scaled back. */
function scaleStep(code: LaneWriter, format: DivisionFormat, e: Expr): readonly number[] {
  const known = code.kept.get('div_scale');
  if (known !== undefined) return known;
  const { fn } = code;
  const [a, b, c] = halvesOf(code, format, e.args) as [number[], number[], number[]];
  const results = [...a, 0].map(() => code.temporary());
  const zeros = pushNeedsScale(fn, format, b, c);
  fn.op('v128.any_true').if();
  for (const local of [...a, ...b, ...c]) fn.get(local);
  callMath(code, `div_scale.${format}`);
  for (const local of [...results].reverse()) fn.set(local);
  fn.else();
  // What is scaled for a zero numerator is no number; a NaN has all of these bits.
  a.forEach((x, half) => {
    fn.get(x)
      .get(zeros[half] as number)
      .op('v128.or')
      .set(results[half] as number);
  });
  fn.v128(0, 0, 0, 0)
    .set(results[a.length] as number)
    .end();
  for (const local of [...a, ...b, ...c, ...zeros]) fn.release('v128', local);
  code.kept.set('div_scale', results);
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
  else if (name === 'div_scale_flag') code.fn.get(scaleStep(code, format, e).at(-1) as number);
  else if (name === 'div_scale') code.fn.get(scaleStep(code, format, e)[half] as number);
  else return false;
  return true;
}
