// Dot products, convolutions and attention. Sums are kept in f32 (floats) or i32 (integers) and rounded once.
// Source: rocMLIR's MIGraphX.td (dot, quant_dot, convolution, quant_convolution); IREE's LinalgExt dialect (attention).
import { affineMap, broadcastShape, type Emitter, operandMap, type View, wholeView, zeroOf } from './emit.ts';
import { computedPadding } from './layout.ts';
import { Scalars } from './scalar.ts';
import { carrierOf, ELEMENTS, type Element, isFloat, isUnsigned, tensorText } from './types.ts';

/** The element type of a sum: wide enough that one rounding at the end is all there is. */
export function accumulatorOf(element: Element): Element {
  if (isFloat(element)) return element === 'f64' ? 'f64' : 'f32';
  if (ELEMENTS[element].bits === 64) return element;
  return isUnsigned(element) && element !== 'i1' ? 'ui32' : 'i32';
}

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

/** Both factors with the batch dimensions of the larger one; undefined when they do not fit. */
export function alignBatches(emit: Emitter, a: View, b: View): readonly [View, View] | undefined {
  if (Math.min(a.shape.length, b.shape.length) < 2) return undefined;
  const batch = broadcastShape([a.shape.slice(0, -2), b.shape.slice(0, -2)]);
  if (batch === undefined) return undefined;
  const widen = (view: View): View => {
    const shape = [...batch, ...view.shape.slice(-2)];
    return shape.length === view.shape.length && shape.every((size, d) => size === view.shape[d])
      ? view
      : emit.broadcast(view, shape, shape.length - view.shape.length);
  };
  return [widen(a), widen(b)];
}

/** `[…, m, k] · […, k, n]`; batch dimensions are equal or repeat. Returns undefined when the shapes do not fit. */
export function dot(emit: Emitter, left: View, right: View, result: Element): View | undefined {
  const aligned = alignBatches(emit, left, right);
  if (aligned === undefined) return undefined;
  const [a, b] = aligned;
  const rank = a.shape.length;
  const batch = a.shape.slice(0, -2);
  const [m, k, n] = [a.shape[rank - 2], a.shape[rank - 1], b.shape[rank - 1]];
  if (b.shape[rank - 2] !== k) return undefined;
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
  /** The padding is computed for each position of the image, not a `tensor.pad`. */
  readonly computesPadding: boolean;
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

/** The input with zeros around its spatial dimensions, padded as it lies in memory: no transposed copy is made. */
function pad(emit: Emitter, view: View, c: ConvolutionShape): View {
  if (c.padding.every(([before, after]) => before === 0 && after === 0)) return view;
  if (c.computesPadding) {
    const before = [0, 0, ...c.padding.map(([first]) => first)];
    const wide = view.shape.map((size, d) => (d < 2 ? size : size + c.padding[d - 2][0] + c.padding[d - 2][1]));
    return computedPadding(emit, view, before, wide, zeroOf(view.element));
  }
  const base = [...view.base];
  const [low, high] = [base.map(() => 0), base.map(() => 0)];
  c.padding.forEach(([before, after], d) => {
    const at = view.map[2 + d];
    if (at === null) return;
    [low[at], high[at]] = [before, after];
    base[at] += before + after;
  });
  const zero = emit.scalar(zeroOf(view.element), view.element);
  const ssa = emit.fresh();
  emit.line(`${ssa} = tensor.pad ${view.ssa} low[${low.join(', ')}] high[${high.join(', ')}] {`);
  emit.line(`^bb0(${base.map(() => `${emit.fresh()}: index`).join(', ')}):`);
  emit.line(`  tensor.yield ${zero} : ${carrierOf(view.element)}`);
  emit.line(`} : ${tensorText(view.base, view.element)} to ${tensorText(base, view.element)}`);
  const shape = view.shape.map((size, d) => (d < 2 ? size : size + c.padding[d - 2][0] + c.padding[d - 2][1]));
  return { ...view, ssa, base, shape };
}

/** A view with each logical dimension in memory, none repeated. */
const isPermuted = (view: View): boolean =>
  view.map.length === view.base.length && view.map.every((from) => from !== null);

/** The map of an operand that is read at `places`, one for each logical dimension. */
function placesMap(view: View, places: readonly string[], count: number): string {
  const results: string[] = [];
  view.map.forEach((from, d) => {
    if (from !== null) results[from] = places[d];
  });
  return affineMap(count, results);
}

/** N, C, spatial… convolved with F, C/group, spatial…; the caller has checked the sizes. */
export function convolution(emit: Emitter, input: View, filter: View, c: ConvolutionShape, result: Element): View {
  const spatial = c.stride.length;
  const out = convolvedSizes(input.shape, filter.shape, c);
  const grouped = c.group > 1;
  // Groups split the channels: that needs them in the order of the logical shape.
  const inPlace = (view: View): View => (!grouped && isPermuted(view) ? view : emit.dense(view));
  let image = pad(emit, inPlace(input), c);
  let weights = inPlace(filter);
  const features = filter.shape[0];
  if (grouped) {
    const [batch, channels, ...sizes] = image.shape;
    image = emit.reshape(image, [batch, c.group, channels / c.group, ...sizes]);
    weights = emit.reshape(weights, [c.group, features / c.group, ...filter.shape.slice(1)]);
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
  const ssa = emit.generic({
    inputs: [
      { view: image, map: placesMap(image, [n, ...group, channel, ...places], count) },
      { view: weights, map: placesMap(weights, [...group, f, channel, ...dimensions.map(window)], count) },
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

/** Sizes of the spatial dimensions of a convolution run backwards: the image that the convolution would make `input` of. */
export function widenedSizes(input: readonly number[], filter: readonly number[], c: ConvolutionShape): number[] {
  return c.stride.map(
    (stride, d) =>
      (input[2 + d] - 1) * stride + c.dilation[d] * (filter[2 + d] - 1) + 1 - c.padding[d][0] - c.padding[d][1],
  );
}

/**
 * The gradient of a convolution to its image (a transposed convolution): `input` spread out by the stride with zeros between,
 * convolved with the filters turned round and with their channels exchanged. Filters are C, F/group, spatial….
 */
export function convolutionBackwards(
  emit: Emitter,
  input: View,
  filter: View,
  c: ConvolutionShape,
  result: Element,
): View {
  const s = new Scalars(emit);
  const spatial = c.stride.length;
  const dimensions = Array.from({ length: spatial }, (_, d) => d);
  const number = (value: number): string => s.constant(String(value), 'index');
  const { element } = input;
  // Spread out: position p of dimension d holds input (p - low) / stride where that is a whole number inside.
  const low = dimensions.map((d) => c.dilation[d] * (filter.shape[2 + d] - 1) - c.padding[d][0]);
  const sizes = widenedSizes(input.shape, filter.shape, c);
  const spread = [
    ...input.shape.slice(0, 2),
    ...dimensions.map((d) => sizes[d] + c.dilation[d] * (filter.shape[2 + d] - 1)),
  ];
  const source = emit.dense(input);
  const image = emit.generate(spread, element, (position) => {
    let inside: string | undefined;
    const at = dimensions.map((d) => {
      const shifted = s.binary('arith.subi', position[2 + d], number(low[d]), 'index');
      const place = s.binary('arith.floordivsi', shifted, number(c.stride[d]), 'index');
      const back = s.binary('arith.muli', place, number(c.stride[d]), 'index');
      const least = s.binary('arith.maxsi', place, number(0), 'index');
      const clamped = s.binary('arith.minsi', least, number(input.shape[2 + d] - 1), 'index');
      for (const [a, b] of [
        [back, shifted],
        [clamped, place],
      ]) {
        const holds = s.compare('eq', a, b, 'index');
        inside = inside === undefined ? holds : s.binary('arith.andi', inside, holds, 'i1');
      }
      return clamped;
    });
    const value = emit.extract(source, [...position.slice(0, 2), ...at]);
    return inside === undefined ? value : s.select(inside, value, s.constant(zeroOf(element), element), element);
  });
  const weights = emit.dense(filter);
  const features = filter.shape[1];
  const channels = filter.shape[0] / c.group;
  const turned = emit.generate([c.group * features, channels, ...filter.shape.slice(2)], filter.element, (position) => {
    const group = s.binary('arith.floordivsi', position[0], number(features), 'index');
    const feature = s.binary('arith.remsi', position[0], number(features), 'index');
    const first = s.binary('arith.muli', group, number(channels), 'index');
    const channel = s.binary('arith.addi', first, position[1], 'index');
    const window = dimensions.map((d) => mirrored(s, position[2 + d], filter.shape[2 + d]));
    return emit.extract(weights, [channel, feature, ...window]);
  });
  const forwards = { ...c, stride: c.stride.map(() => 1), padding: c.padding.map(() => [0, 0] as const) };
  return convolution(emit, image, turned, forwards, result);
}

/**
 * `size - 1 - position`, chosen and not computed: LLVM takes the constant of a difference apart and adds it in the buffer
 * instruction, where the rest is below zero and so out of range.
 */
function mirrored(s: Scalars, position: string, size: number): string {
  let place = s.constant('0', 'index');
  for (let at = size - 2; at >= 0; at--) {
    const isHere = s.compare('eq', position, s.constant(String(at), 'index'), 'index');
    place = s.select(isHere, s.constant(String(size - 1 - at), 'index'), place, 'index');
  }
  return place;
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
  /** The batch dimensions of the result; as many matrices as the operands have. */
  readonly batch: readonly number[];
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
  const whole = wholeView(name, result, shape);
  const wanted = [...block.batch, ...shape.slice(-2)];
  return wanted.length === rank && wanted.every((size, d) => size === shape[d]) ? whole : emit.reshape(whole, wanted);
}
