// Operations that move elements and compute nothing: constants, reshapes, transposes, repetitions, slices, padding.
// Source: rocMLIR's MIGraphX.td; MIGraphX operator reference (negative axes and bounds count from the end).
import { rangeText } from '../../mlir/parse.ts';
import { axisOf, type LowerContext } from './context.ts';
import { type Emitter, type View, wholeView, zeroOf } from './emit.ts';
import { integerAttribute, integerList } from './read.ts';
import { Scalars } from './scalar.ts';
import { elementsOf, isFloat, isPacked, shapeText, tensorText } from './types.ts';

/** A constant: splat, list, hexadecimal bytes or resource. */
export function literal({ document, emit, read, type, error }: LowerContext): View {
  const attribute = read.attributes.find((entry) => entry.name === 'value')?.value ?? read.literal;
  const text =
    attribute !== undefined
      ? rangeText(document, attribute.first, attribute.last)
      : rangeText(document, read.operation.nameToken + 1, read.operation.last);
  const splat = /^\s*dense<\s*([-+.\w]+)\s*>/.exec(text)?.[1];
  if (splat !== undefined && type.element !== 'f8E8M0FNU') {
    const ssa = emit.value(`arith.constant dense<${splat}> : ${tensorText([], type.element)}`);
    return { ssa, element: type.element, base: [], map: type.shape.map(() => null), shape: type.shape };
  }
  const match = /^\s*(dense(?:_resource)?<[\s\S]*>)\s*:\s*tensor<((?:\d+x)*)(\w+)>\s*$/.exec(text);
  const shape = match?.[2]
    .split('x')
    .filter((part) => part !== '')
    .map(Number);
  const isSame = match?.[3].replace(/^si/, 'i') === type.element && elementsOf(shape ?? []) === elementsOf(type.shape);
  if (match === null || shape === undefined || !isSame || isPacked(type.element) || type.element === 'f8E8M0FNU') {
    throw error('rocmlir/literal', `This literal is no dense tensor of ${shapeText(type.shape, type.element)}.`);
  }
  const ssa = emit.value(`arith.constant ${match[1]} : ${tensorText(shape, type.element)}`);
  return emit.reshape(wholeView(ssa, type.element, shape), type.shape);
}

/** The same elements in another shape, which the result's type tells. */
export function reshape({ emit, type, operands, error }: LowerContext): View {
  const [view] = operands(1);
  if (elementsOf(view.shape) !== elementsOf(type.shape)) {
    throw error('rocmlir/shape', `${view.shape.join('x')} cannot be reshaped to ${type.shape.join('x')}.`);
  }
  return emit.reshape(view, type.shape);
}

export function transpose({ document, read, operands, error }: LowerContext): View {
  const [view] = operands(1);
  const permutation = integerList(document, read, 'permutation');
  const isPermutation = [...permutation].sort((a, b) => a - b).every((d, i) => d === i);
  if (!isPermutation || permutation.length !== view.shape.length) {
    throw error('rocmlir/shape', `[${permutation.join(', ')}] is no permutation of ${view.shape.length} dimensions.`);
  }
  return { ...view, shape: permutation.map((d) => view.shape[d]), map: permutation.map((d) => view.map[d]) };
}

export function multibroadcast({ document, emit, read, operands, type, error }: LowerContext): View {
  const [view] = operands(1);
  const out = integerList(document, read, 'out_lens');
  const first = firstRepeated(view.shape, out, type.strides);
  if (first !== undefined) return emit.broadcast(view, out, first);
  throw error('rocmlir/shape', `${view.shape.join('x')} cannot be broadcast to ${out.join('x')}.`);
}

/**
 * The dimension of `out` where those of `shape` begin: they are the last ones, or, where they do not fit there, those that the
 * result's strides do not repeat (`1x32` to `1x32x1x1024, 32x1x0x0` in rocMLIR's tests with a KV cache).
 */
export function firstRepeated(
  shape: readonly number[],
  out: readonly number[],
  strides: readonly number[] | undefined,
): number | undefined {
  const fits = (first: number): boolean =>
    first >= 0 && shape.every((size, d) => size === out[d + first] || size === 1);
  const last = out.length - shape.length;
  if (fits(last)) return last;
  for (let first = last - 1; first >= 0 && strides?.length === out.length; first--) {
    const isRepeated = (size: number, d: number): boolean =>
      (d >= first && d < first + shape.length) || size === 1 || strides[d] === 0;
    if (fits(first) && out.every(isRepeated)) return first;
  }
  return undefined;
}

export function broadcast(context: LowerContext): View {
  const { document, emit, read, operands, error } = context;
  const [view] = operands(1);
  const out = integerList(document, read, 'out_lens');
  const axis = axisOf(context, integerAttribute(document, read, 'axis'), out.length);
  const fits =
    axis + view.shape.length <= out.length && view.shape.every((size, d) => size === out[axis + d] || size === 1);
  if (fits) return emit.broadcast(view, out, axis);
  throw error('rocmlir/shape', `${view.shape.join('x')} at axis ${axis} does not fit ${out.join('x')}.`);
}

export function slice(context: LowerContext): View {
  const { document, emit, read, operands, error } = context;
  const [view] = operands(1);
  const [axes, starts, ends] = ['axes', 'starts', 'ends'].map((name) => integerList(document, read, name));
  if (axes.length !== starts.length || axes.length !== ends.length) {
    throw error('rocmlir/shape', `${read.name} has ${axes.length} axes, ${starts.length} starts, ${ends.length} ends.`);
  }
  const offsets = view.shape.map(() => 0);
  const shape = [...view.shape];
  axes.forEach((value, i) => {
    const d = axisOf(context, value, shape.length);
    const clamp = (at: number): number => Math.min(Math.max(at < 0 ? at + view.shape[d] : at, 0), view.shape[d]);
    [offsets[d], shape[d]] = [clamp(starts[i]), clamp(ends[i]) - clamp(starts[i])];
    if (shape[d] < 1) throw error('rocmlir/shape', `The slice of dimension ${d} is empty.`);
  });
  return emit.part(view, offsets, shape);
}

/** Constant padding; `pads` holds what comes before each dimension, then what comes behind. */
export function pad({ document, emit, read, operands, error }: LowerContext): View {
  const [view] = operands(1);
  const pads = integerList(document, read, 'pads');
  const rank = view.shape.length;
  if (pads.length !== 2 * rank || pads.some((size) => size < 0)) {
    throw error(
      'rocmlir/shape',
      `The attribute 'pads' of ${read.name} needs ${2 * rank} numbers that are not negative.`,
    );
  }
  if (integerAttribute(document, read, 'mode', 0) !== 0) {
    throw error('rocmlir/unsupported-operation', `${read.name} is lowered with the mode constant_pad (0) only.`);
  }
  const value = read.attributes.find((entry) => entry.name === 'value')?.value;
  const isNumber = value?.kind === 'float' || value?.kind === 'integer';
  if (value !== undefined && (!isNumber || !Number.isFinite(Number(value.value)))) {
    throw error('rocmlir/missing-attribute', `The attribute 'value' of ${read.name} is no finite number.`);
  }
  const number = isNumber ? Number(value.value) : 0;
  const text = number === 0 ? zeroOf(view.element) : isFloat(view.element) ? number.toExponential(9) : `${number}`;
  const shape = view.shape.map((size, d) => size + pads[d] + pads[rank + d]);
  // A `tensor.pad` in front of a dimension that is not the first came out of IREE 3.13 without its offset.
  return computedPadding(emit, view, pads.slice(0, rank), shape, text);
}

/** The view inside a larger shape, from `before` on, and elsewhere the constant `text`: computed for each position. */
export function computedPadding(
  emit: Emitter,
  view: View,
  before: readonly number[],
  shape: readonly number[],
  text: string,
): View {
  const dense = emit.dense(view);
  const s = new Scalars(emit);
  const index = (value: number): string => s.constant(String(value), 'index');
  return emit.generate(shape, view.element, (position) => {
    let inside: string | undefined;
    const at = position.map((place, d) => {
      const shifted = s.binary('arith.subi', place, index(before[d]), 'index');
      const least = s.binary('arith.maxsi', shifted, index(0), 'index');
      const clamped = s.binary('arith.minsi', least, index(view.shape[d] - 1), 'index');
      const holds = s.compare('eq', clamped, shifted, 'index');
      inside = inside === undefined ? holds : s.binary('arith.andi', inside, holds, 'i1');
      return clamped;
    });
    const element = emit.extract(dense, at);
    return inside === undefined ? element : s.select(inside, element, s.constant(text, view.element), view.element);
  });
}
