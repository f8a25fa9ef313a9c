// Dot products, convolutions and attention. Sums are kept in f32 (floats) or i32 (integers) and rounded once.
// Source: rocMLIR's MIGraphX.td (dot, quant_dot, convolution, quant_convolution); IREE's LinalgExt dialect (attention).
import { affineMap, type Emitter, operandMap, type View, wholeView, zeroOf } from './emit.ts';
import { Scalars } from './scalar.ts';
import { type Element, isFloat, tensorText } from './types.ts';

/** The element type of a sum of products. */
export const accumulatorOf = (element: Element): Element => (isFloat(element) ? 'f32' : 'i32');

/** acc + a·b, with the factors widened to the accumulator's type. */
export function multiplyAccumulate(
  s: Scalars,
  [a, b, sum]: readonly string[],
  types: readonly [Element, Element],
  accumulator: Element,
): string {
  const [x, y] = [s.convert(a, types[0], accumulator), s.convert(b, types[1], accumulator)];
  const product = s.binary(isFloat(accumulator) ? 'arith.mulf' : 'arith.muli', x, y, accumulator);
  return s.binary(isFloat(accumulator) ? 'arith.addf' : 'arith.addi', sum, product, accumulator);
}

/** The view with its elements converted. */
export function convertView(emit: Emitter, view: View, to: Element): View {
  if (view.element === to) return view;
  return emit.elementwise([view], to, ([a]) => new Scalars(emit).convert(a, view.element, to));
}

/** `[…, m, k] · […, k, n]`; batch dimensions are equal or repeat. Returns undefined when the shapes do not fit. */
export function dot(emit: Emitter, a: View, b: View, result: Element): View | undefined {
  const rank = a.shape.length;
  const batch = a.shape.slice(0, -2);
  const [m, k, n] = [a.shape[rank - 2], a.shape[rank - 1], b.shape[rank - 1]];
  if (rank < 2 || b.shape.length !== rank || b.shape[rank - 2] !== k) return undefined;
  if (batch.some((size, d) => size !== b.shape[d])) return undefined;
  const accumulator = accumulatorOf(a.element);
  const shape = [...batch, m, n];
  const count = batch.length + 3;
  const loops = batch.map((_, d) => d);
  const [lm, ln, lk] = [batch.length, batch.length + 1, batch.length + 2];
  const ssa = emit.generic({
    inputs: [
      { view: a, map: operandMap(a, [...loops, lm, lk], count) },
      { view: b, map: operandMap(b, [...loops, lk, ln], count) },
    ],
    into: emit.filled(shape, accumulator, zeroOf(accumulator)),
    shape,
    element: accumulator,
    map: affineMap(
      count,
      [...loops, lm, ln].map((d) => `d${d}`),
    ),
    iterators: [...loops.map(() => 'parallel' as const), 'parallel', 'parallel', 'reduction'],
    body: (args) => multiplyAccumulate(new Scalars(emit), args, [a.element, b.element], accumulator),
  });
  return convertView(emit, wholeView(ssa, accumulator, shape), result);
}

export interface ConvolutionShape {
  readonly group: number;
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  /** Before and after, per spatial dimension. */
  readonly padding: readonly (readonly [number, number])[];
}

/** Sizes of the spatial dimensions after a convolution. */
export function convolvedSizes(input: readonly number[], filter: readonly number[], c: ConvolutionShape): number[] {
  return c.stride.map((stride, d) => {
    const padded = input[2 + d] + c.padding[d][0] + c.padding[d][1];
    return Math.floor((padded - c.dilation[d] * (filter[2 + d] - 1) - 1) / stride) + 1;
  });
}

/** The input with zeros around its spatial dimensions. */
function pad(emit: Emitter, view: View, c: ConvolutionShape): View {
  if (c.padding.every(([before, after]) => before === 0 && after === 0)) return view;
  const shape = view.shape.map((size, d) => (d < 2 ? size : size + c.padding[d - 2][0] + c.padding[d - 2][1]));
  const zero = emit.scalar(zeroOf(view.element), view.element);
  const result = emit.fresh();
  const low = [0, 0, ...c.padding.map(([before]) => before)].join(', ');
  const high = [0, 0, ...c.padding.map(([, after]) => after)].join(', ');
  emit.line(`${result} = tensor.pad ${view.ssa} low[${low}] high[${high}] {`);
  emit.line(`^bb0(${shape.map(() => `${emit.fresh()}: index`).join(', ')}):`);
  emit.line(`  tensor.yield ${zero} : ${view.element}`);
  emit.line(`} : ${tensorText(view.shape, view.element)} to ${tensorText(shape, view.element)}`);
  return wholeView(result, view.element, shape);
}

/** N, C, spatial… convolved with F, C/group, spatial…; the caller has checked the sizes. */
export function convolution(emit: Emitter, input: View, filter: View, c: ConvolutionShape, result: Element): View {
  const spatial = c.stride.length;
  const out = convolvedSizes(input.shape, filter.shape, c);
  let image = pad(emit, emit.dense(input), c);
  let weights = filter;
  const grouped = c.group > 1;
  const features = filter.shape[0];
  if (grouped) {
    const [batch, channels, ...sizes] = image.shape;
    image = emit.reshape(image, [batch, c.group, channels / c.group, ...sizes]);
    weights = emit.reshape(filter, [c.group, features / c.group, ...filter.shape.slice(1)]);
  }
  // Loops: n, (g,) f, spatial… in parallel; c, window… reduced.
  const g = grouped ? 1 : 0;
  const count = 3 + g + 2 * spatial;
  const n = 'd0';
  const group = grouped ? ['d1'] : [];
  const f = `d${1 + g}`;
  const position = (d: number): string => `d${2 + g + d}`;
  const channel = `d${2 + g + spatial}`;
  const window = (d: number): string => `d${3 + g + spatial + d}`;
  const scaled = (name: string, factor: number): string => (factor === 1 ? name : `${name} * ${factor}`);
  const dimensions = Array.from({ length: spatial }, (_, d) => d);
  const places = dimensions.map((d) => `${scaled(position(d), c.stride[d])} + ${scaled(window(d), c.dilation[d])}`);
  const shape = grouped ? [image.shape[0], c.group, features / c.group, ...out] : [image.shape[0], features, ...out];
  const accumulator = accumulatorOf(input.element);
  const denseWeights = emit.dense(weights);
  const ssa = emit.generic({
    inputs: [
      { view: image, map: affineMap(count, [n, ...group, channel, ...places]) },
      { view: denseWeights, map: affineMap(count, [...group, f, channel, ...dimensions.map(window)]) },
    ],
    into: emit.filled(shape, accumulator, zeroOf(accumulator)),
    shape,
    element: accumulator,
    map: affineMap(count, [n, ...group, f, ...dimensions.map(position)]),
    iterators: [
      ...shape.map(() => 'parallel' as const),
      ...Array.from({ length: 1 + spatial }, () => 'reduction' as const),
    ],
    body: (args) => multiplyAccumulate(new Scalars(emit), args, [input.element, filter.element], accumulator),
  });
  const converted = convertView(emit, wholeView(ssa, accumulator, shape), result);
  return grouped ? emit.reshape(converted, [image.shape[0], features, ...out]) : converted;
}

/** An attention block, as IREE's one operation for it. */
export interface Attention {
  readonly query: View;
  /** `[…, k, keys]`, as the first dot product takes it. */
  readonly key: View;
  readonly value: View;
  /** Factor of the scores. */
  readonly scale: number;
  /** Added to the scores. */
  readonly mask: View | undefined;
}

/** Emits `iree_linalg_ext.attention`: only IREE knows it, and only as it fuses the whole block into one kernel. */
export function attention(emit: Emitter, block: Attention, result: Element): View {
  const { query, key, value, mask } = block;
  const rank = query.shape.length;
  const batch = query.shape.slice(0, -2);
  const loops = batch.map((_, d) => d);
  const count = batch.length + 4;
  const [m, n, k1, k2] = [0, 1, 2, 3].map((d) => batch.length + d);
  const shape = [...batch, query.shape[rank - 2], value.shape[rank - 1]];
  const scale = emit.scalar(block.scale.toExponential(8), 'f32');
  const maps = [
    operandMap(query, [...loops, m, k1], count),
    operandMap(key, [...loops, k1, k2], count),
    operandMap(value, [...loops, k2, n], count),
    affineMap(count, []),
    ...(mask === undefined ? [] : [operandMap(mask, [...loops, m, k2], count)]),
    affineMap(
      count,
      [...loops, m, n].map((d) => `d${d}`),
    ),
  ];
  const views = [query, key, value];
  const types = views.map((view) => tensorText(view.base, view.element));
  const inputs = [...views.map((view) => view.ssa), scale, ...(mask === undefined ? [] : [mask.ssa])];
  const inputTypes = [...types, 'f32', ...(mask === undefined ? [] : [tensorText(mask.base, mask.element)])];
  const type = tensorText(shape, result);
  const into = emit.empty(shape, result);
  const name = emit.fresh();
  const score = emit.fresh();
  emit.line(
    `${name} = iree_linalg_ext.attention <{indexing_maps = [${maps.join(', ')}]}> ` +
      `ins(${inputs.join(', ')} : ${inputTypes.join(', ')}) outs(${into} : ${type}) {`,
  );
  emit.line(`^bb0(${score}: f32):`);
  emit.line(`  iree_linalg_ext.yield ${score} : f32`);
  emit.line(`} -> ${type}`);
  return wholeView(name, result, shape);
}
