// Steps of a division as operators of expressions: v_div_scale by words (division-scale.ts), v_div_fmas in line where no lane is scaled,
// otherwise by a function of math-fused.ts.
import type { Expr } from '../../../isa/semantics/index.ts';
import { divScaleWords, type ScaleFormat } from './division-scale.ts';
import { pushHalfOf } from './division-words.ts';
import { matrixFeatures } from './features.ts';
import type { LaneWriter } from './lane-writer.ts';
import { callMath } from './math.ts';
import { upper } from './math-tools.ts';

/** Pushes the number of v_div_scale, of f64 a half. */
function scaleStep(code: LaneWriter, format: ScaleFormat, half: number): void {
  const { low, high } = divScaleWords(code, format).result;
  if (low === undefined) code.fn.get(high);
  else pushHalfOf(code.fn, low, high, half);
}

/** v_div_fmas where the host's multiply-add rounds once: in line where no lane of a half is scaled. */
function fusedStep(code: LaneWriter, format: ScaleFormat, e: Expr, half: number): void {
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
export function divisionStep(code: LaneWriter, format: ScaleFormat, name: string, e: Expr, half: number): boolean {
  if (name === 'fma_scaled' && matrixFeatures().fused) fusedStep(code, format, e, half);
  else if (name === 'div_scale_flag') code.fn.get(divScaleWords(code, format).flag);
  else if (name === 'div_scale') scaleStep(code, format, half);
  else return false;
  return true;
}
