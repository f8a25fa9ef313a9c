// Softmax and reductions, computed in f32 (floats) or i32 (integers).
// Source: MLIR's linalg dialect; rocMLIR's MIGraphX.td: reduced dimensions stay, with size 1.
import { accumulatorOf, convertView } from './contract.ts';
import { affineMap, type Emitter, type View, wholeView, zeroOf } from './emit.ts';
import { Scalars } from './scalar.ts';
import { tensorText } from './types.ts';

/** Softmax over one dimension. */
export function softmax(emit: Emitter, view: View, axis: number): View {
  const wide = emit.dense(convertView(emit, view, 'f32'));
  const type = tensorText(wide.shape, 'f32');
  const into = emit.empty(wide.shape, 'f32');
  const ssa = emit.value(
    `linalg.softmax dimension(${axis}) ins(${wide.ssa} : ${type}) outs(${into} : ${type}) -> ${type}`,
  );
  return convertView(emit, wholeView(ssa, 'f32', wide.shape), view.element);
}

export type ReductionKind = 'sum' | 'mean' | 'max';

/** Sum, mean or maximum over some dimensions. */
export function reduce(emit: Emitter, view: View, axes: ReadonlySet<number>, kind: ReductionKind): View {
  const rank = view.shape.length;
  const sum = accumulatorOf(view.element);
  const isFloatSum = sum === 'f32';
  const kept = view.shape.flatMap((_, d) => (axes.has(d) ? [] : [d]));
  const shape = kept.map((d) => view.shape[d]);
  const s = new Scalars(emit);
  const lowest = isFloatSum ? '0xFF800000' : '-2147483648';
  const combine =
    kind === 'max' ? (isFloatSum ? 'arith.maximumf' : 'arith.maxsi') : isFloatSum ? 'arith.addf' : 'arith.addi';
  const dense = emit.dense(view);
  const loops = (dimensions: readonly number[]): string[] => dimensions.map((d) => `d${d}`);
  const ssa = emit.generic({
    inputs: [{ view: dense, map: affineMap(rank, loops(view.shape.map((_, d) => d))) }],
    into: emit.filled(shape, sum, kind === 'max' ? lowest : zeroOf(sum)),
    shape,
    element: sum,
    map: affineMap(rank, loops(kept)),
    iterators: view.shape.map((_, d) => (axes.has(d) ? 'reduction' : 'parallel')),
    body: ([x, so]) => s.binary(combine, so, s.convert(x, view.element, sum), sum),
  });
  let total = wholeView(ssa, sum, shape);
  if (kind === 'mean') {
    const count = [...axes].reduce((product, d) => product * view.shape[d], 1);
    const divide = isFloatSum ? 'arith.divf' : 'arith.divsi';
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
