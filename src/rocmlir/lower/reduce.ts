// Softmax and reductions, computed in f32 (floats) or i32 (integers).
// Source: MLIR's linalg dialect; rocMLIR's MIGraphX.td: reduced dimensions stay, with size 1.
import { accumulatorOf, convertView } from './contract.ts';
import { affineMap, type Emitter, type View, wholeView, zeroOf } from './emit.ts';
import { Scalars } from './scalar.ts';
import { type Element, isFloat, isUnsigned, tensorText } from './types.ts';

/** Softmax over one dimension. */
export function softmax(emit: Emitter, view: View, axis: number): View {
  const sum = accumulatorOf(view.element);
  const wide = emit.dense(convertView(emit, view, sum));
  const type = tensorText(wide.shape, sum);
  const into = emit.empty(wide.shape, sum);
  const ssa = emit.value(
    `linalg.softmax dimension(${axis}) ins(${wide.ssa} : ${type}) outs(${into} : ${type}) -> ${type}`,
  );
  return convertView(emit, wholeView(ssa, sum, wide.shape), view.element);
}

/** The text of a constant below every other value. */
function lowestOf(element: Element): string {
  if (element === 'f64') return '0xFFF0000000000000';
  if (element === 'f32') return '0xFF800000';
  if (isUnsigned(element)) return '0';
  return element === 'i64' ? '-9223372036854775808' : '-2147483648';
}

export type ReductionKind = 'sum' | 'mean' | 'max';

/** Sum, mean or maximum over some dimensions. */
export function reduce(emit: Emitter, view: View, axes: ReadonlySet<number>, kind: ReductionKind): View {
  const rank = view.shape.length;
  const sum = accumulatorOf(view.element);
  const isFloatSum = isFloat(sum);
  const kept = view.shape.flatMap((_, d) => (axes.has(d) ? [] : [d]));
  const shape = kept.map((d) => view.shape[d]);
  const s = new Scalars(emit);
  const unsigned = isUnsigned(sum);
  const add = isFloatSum ? 'arith.addf' : 'arith.addi';
  const combine = kind !== 'max' ? add : isFloatSum ? 'arith.maximumf' : unsigned ? 'arith.maxui' : 'arith.maxsi';
  const dense = emit.dense(view);
  const loops = (dimensions: readonly number[]): string[] => dimensions.map((d) => `d${d}`);
  const ssa = emit.generic({
    inputs: [{ view: dense, map: affineMap(rank, loops(view.shape.map((_, d) => d))) }],
    into: emit.filled(shape, sum, kind === 'max' ? lowestOf(sum) : zeroOf(sum)),
    shape,
    element: sum,
    map: affineMap(rank, loops(kept)),
    iterators: view.shape.map((_, d) => (axes.has(d) ? 'reduction' : 'parallel')),
    body: ([x, so]) => s.binary(combine, so, s.convert(x, view.element, sum), sum),
  });
  let total = wholeView(ssa, sum, shape);
  if (kind === 'mean') {
    const count = [...axes].reduce((product, d) => product * view.shape[d], 1);
    const divide = isFloatSum ? 'arith.divf' : unsigned ? 'arith.divui' : 'arith.divsi';
    total = emit.elementwise([total], sum, ([x]) =>
      s.binary(divide, x, s.constant(isFloatSum ? `${count}.0` : `${count}`, sum), sum),
    );
  }
  return {
    ...convertView(emit, total, view.element),
    shape: view.shape.map((size, d) => (axes.has(d) ? 1 : size)),
    map: view.shape.map((_, d) => (axes.has(d) ? null : kept.indexOf(d))),
  };
}
