// Sums and products of f32 and f64 in the directed roundings, in line: rounded to nearest, then one step where the result is on the wrong side of
// the exact one.
import type { WasmFunction } from './emit.ts';
import { KeptLocals } from './kept-locals.ts';
import { inEachDirection, type MathFunction } from './math-tools.ts';
import { type Directed, type FloatVector, stepFloat } from './rounding.ts';

/**
 * Pushes a ± b. The sum has more than a, or than b, what the other one is but for the error. One of the two differences is the error, and the
 * other has its sign or is zero: rounding keeps the order (Dekker 1971 for the larger term). Sums that overflow have infinite errors.
 */
function directedSum(
  fn: WasmFunction,
  type: FloatVector,
  rounding: Directed,
  [a, b]: readonly number[],
  isDifference: boolean,
): void {
  const w = new KeptLocals(fn);
  const [way, back] = isDifference ? (['sub', 'add'] as const) : (['add', 'sub'] as const);
  const sum = w.keep(() => {
    if (rounding !== 2) fn.get(a).get(b).op(`${type}.${way}`);
    else {
      // The sum of the opposite terms: exact zeros are positive in it.
      if (isDifference) fn.get(b).get(a);
      else fn.get(a).neg(type).get(b);
      fn.op(`${type}.sub`).neg(type);
    }
  });
  fn.get(sum).get(a).op(`${type}.sub`).get(b).op(`${type}.${back}`);
  fn.get(sum).get(b).op(`${type}.${back}`).get(a).op(`${type}.sub`).op(`${type}.add`);
  stepFloat(fn, type, rounding, sum);
  w.release();
}

/**
 * Pushes a · b, where the host has a fused multiply-add. Of products smaller than that which `least` pushes the error may vanish: `general` is
 * called, but for those of zeros.
 */
export function directedProduct(
  fn: WasmFunction,
  type: FloatVector,
  rounding: Directed,
  [a, b]: readonly number[],
  least: () => void,
  general: WasmFunction,
): void {
  const w = new KeptLocals(fn);
  const product = w.keep(() => void fn.get(a).get(b).op(`${type}.mul`));
  const result = w.keep(() => {
    fn.get(a).get(b).get(product).op(`${type}.relaxed_nmadd`);
    stepFloat(fn, type, rounding, product);
  });
  const isSmall = w.keep(() => {
    fn.get(product).abs(type);
    least();
    fn.op(`${type}.lt`);
  });
  fn.get(isSmall).anyLane().if();
  for (const factor of [a, b]) fn.get(factor).v128(0, 0, 0, 0).op(`${type}.ne`);
  fn.op('v128.and').get(isSmall).op('v128.and').anyLane().if();
  fn.get(a).get(b).call(general).set(result).end().end().get(result);
  w.release();
}

/** `add.f32.up` and the like of a format. */
export function directedSums(format: 'f32' | 'f64', type: FloatVector): Record<string, MathFunction> {
  const sums = (name: string, isDifference: boolean): Record<string, MathFunction> =>
    inEachDirection(
      `${name}.${format}`,
      2,
      (fn, _module, rounding, places) => directedSum(fn, type, rounding, places, isDifference),
      true,
    );
  return { ...sums('add', false), ...sums('sub', true) };
}
