// TOSA as rocMLIR's migraphx-to-tosa wrote it before TOSA 1.0 (attributes where operands are today), which iree-compile no longer
// reads: what the original passes hand to iree-export. Source: MLIR's TosaOps.td of LLVM 19; rocMLIR's MIGraphXToTosa tests.
import { entryOf, parseDictionary } from '../../mlir/attribute.ts';
import { type Document, type Operation, rangeText, walk } from '../../mlir/parse.ts';
import { cannotMultiply, type LowerContext } from './context.ts';
import { convertView, convolution, convolvedSizes, dot } from './contract.ts';
import type { View } from './emit.ts';
import { literal, reshape } from './layout.ts';
import { elementwise, reduceOver, where } from './operations.ts';
import { integerAttribute, integerList } from './read.ts';
import { ELEMENTWISE, Scalars } from './scalar.ts';
import { isFloat } from './types.ts';

/** Elementwise operations under their MIGraphX names. */
const TOSA_ELEMENTWISE: Readonly<Record<string, string>> = {
  'tosa.add': 'migraphx.add',
  'tosa.sub': 'migraphx.sub',
  'tosa.mul': 'migraphx.mul',
  'tosa.pow': 'migraphx.pow',
  'tosa.maximum': 'migraphx.max',
  'tosa.minimum': 'migraphx.min',
  'tosa.int_div': 'migraphx.div',
  'tosa.intdiv': 'migraphx.div',
  'tosa.exp': 'migraphx.exp',
  'tosa.log': 'migraphx.log',
  'tosa.erf': 'migraphx.erf',
  'tosa.tanh': 'migraphx.tanh',
  'tosa.sigmoid': 'migraphx.sigmoid',
  'tosa.rsqrt': 'migraphx.rsqrt',
  'tosa.reciprocal': 'migraphx.recip',
  'tosa.ceil': 'migraphx.ceil',
  'tosa.floor': 'migraphx.floor',
  'tosa.abs': 'migraphx.abs',
  'tosa.negate': 'migraphx.neg',
};

/** Operands between the name and the types. */
function operandCount(document: Document, operation: Operation): number {
  const { tokens } = document;
  let count = 0;
  for (let at = operation.nameToken + 1; at < operation.last; at++) {
    const text = document.text.slice(tokens.starts[at], tokens.ends[at]);
    if (text === ':' || text === '{' || text === '<') break;
    if (text.startsWith('%')) count++;
  }
  return count;
}

/** True for an operation in a form that TOSA 1.0 no longer has. */
function isOld(document: Document, operation: Operation): boolean {
  const has = (name: string): boolean =>
    operation.dictionaries.some((open) => entryOf(parseDictionary(document, open), name) !== undefined);
  switch (operation.name) {
    case 'tosa.reshape':
      return has('new_shape');
    case 'tosa.matmul':
    case 'tosa.transpose':
      return operandCount(document, operation) === 2;
    case 'tosa.const':
      return has('value');
    case 'tosa.slice':
      return has('size');
    case 'tosa.clamp':
      return has('min_fp') || has('min_int');
    case 'tosa.conv2d':
    case 'tosa.conv3d':
      return operandCount(document, operation) === 3;
    case 'tosa.mul':
      return has('shift');
    default:
      return false;
  }
}

/** True when the module holds TOSA from before 1.0. */
export function usesOldTosa(document: Document): boolean {
  for (const operation of walk(document.operations)) if (isOld(document, operation)) return true;
  return false;
}

/** Lowers an operation; undefined for one that is not known. */
export function lowerTosa(context: LowerContext): View | undefined {
  const { document, emit, operands, read, type } = context;
  const name = TOSA_ELEMENTWISE[read.name];
  if (name !== undefined) return elementwise(context, ELEMENTWISE[name]);
  switch (read.name) {
    case 'tosa.const':
      return literal(context);
    case 'tosa.reshape':
      return reshape(context);
    case 'tosa.select':
      return where(context);
    case 'tosa.reduce_sum':
    case 'tosa.reduce_max':
      return reduceOver(context, [integerAttribute(document, read, 'axis')]);
    case 'tosa.cast':
      return convertView(emit, operands(1)[0], type.element);
    case 'tosa.identity':
      return operands(1)[0];
    case 'tosa.matmul': {
      const [a, b] = operands(2);
      const view = dot(emit, a, b, type.element);
      if (view !== undefined) return view;
      throw cannotMultiply(context, a, b);
    }
    case 'tosa.transpose': {
      const [view] = operands(2);
      const permutation = constantList(context, read.operands[1]);
      const sorted = [...permutation].sort((a, b) => a - b);
      if (sorted.length !== view.shape.length || sorted.some((d, i) => d !== i)) {
        throw context.error('rocmlir/shape', 'The permutation of tosa.transpose is no constant permutation.');
      }
      return { ...view, shape: permutation.map((d) => view.shape[d]), map: permutation.map((d) => view.map[d]) };
    }
    case 'tosa.slice': {
      const [view] = operands(1);
      const [start, size] = ['start', 'size'].map((name) => integerList(document, read, name));
      const fits = view.shape.every((n, d) => start[d] >= 0 && size[d] > 0 && start[d] + size[d] <= n);
      if (!fits || start.length !== view.shape.length)
        throw context.error('rocmlir/shape', 'The slice is outside the tensor.');
      return emit.part(view, start, size);
    }
    case 'tosa.clamp':
      return clamp(context);
    case 'tosa.conv2d':
    case 'tosa.conv3d':
      return convolutionChannelsLast(context);
    default:
      return undefined;
  }
}

/** The integers of a `tosa.const`. */
function constantList(context: LowerContext, name: string): number[] {
  const read = context.definition(name);
  const value = read?.attributes.find((entry) => entry.name === 'value')?.value;
  const text = value === undefined ? '' : rangeText(context.document, value.first, value.last);
  const list = /^dense<\[?([-\d,\s]*)\]?>/.exec(text)?.[1];
  return list === undefined || list.trim() === '' ? [] : list.split(',').map(Number);
}

function clamp({ emit, operands, read, error }: LowerContext): View {
  const [view] = operands(1);
  const float = isFloat(view.element);
  const [low, high] = ['min', 'max'].map((name) => {
    const value = read.attributes.find((entry) => entry.name === `${name}_${float ? 'fp' : 'int'}`)?.value;
    if (value?.kind === 'float' || value?.kind === 'integer') return Number(value.value);
    throw error('rocmlir/missing-attribute', `tosa.clamp needs the number '${name}_${float ? 'fp' : 'int'}'.`);
  });
  const s = new Scalars(emit);
  const largest = { f32: 3.4028234e38, f16: 65504, bf16: 3.3895e38, i8: 127 }[view.element as string] ?? 2147483647;
  const least = float ? -largest : -largest - 1;
  const text = (value: number): string => (float ? value.toExponential(9) : String(value));
  return emit.elementwise([view], view.element, ([a]) => {
    // A bound beyond the type's range is none.
    const above =
      low <= least
        ? a
        : s.binary(float ? 'arith.maximumf' : 'arith.maxsi', a, s.constant(text(low), view.element), view.element);
    return high >= largest
      ? above
      : s.binary(float ? 'arith.minimumf' : 'arith.minsi', above, s.constant(text(high), view.element), view.element);
  });
}

/** N, spatial…, C convolved with F, spatial…, C/group and a bias of F. */
function convolutionChannelsLast(context: LowerContext): View {
  const { document, emit, operands, read, type, error } = context;
  const [image, filter, bias] = operands(3);
  const spatial = image.shape.length - 2;
  const rank = spatial + 2;
  const first = (view: View): View => {
    const order = [0, rank - 1, ...Array.from({ length: spatial }, (_, d) => d + 1)];
    return { ...view, shape: order.map((d) => view.shape[d]), map: order.map((d) => view.map[d]) };
  };
  const pad = integerList(document, read, 'pad');
  const shape = {
    computesPadding: context.computesPadding,
    group: integerAttribute(document, read, 'group', 1),
    stride: integerList(document, read, 'stride'),
    dilation: integerList(document, read, 'dilation'),
    padding: Array.from({ length: spatial }, (_, d) => [pad[2 * d] ?? 0, pad[2 * d + 1] ?? 0] as const),
  };
  const [input, weights] = [image, filter].map(first);
  const valid =
    (spatial === 2 || spatial === 3) &&
    filter.shape.length === rank &&
    pad.length === 2 * spatial &&
    [...shape.stride, ...shape.dilation].every((n) => n > 0) &&
    shape.stride.length === spatial &&
    shape.dilation.length === spatial &&
    pad.every((n) => n >= 0) &&
    shape.group > 0 &&
    input.shape[1] === weights.shape[1] * shape.group &&
    weights.shape[0] % shape.group === 0 &&
    convolvedSizes(input.shape, weights.shape, shape).every((n) => n > 0);
  if (!valid) throw error('rocmlir/shape', `The attributes of ${read.name} do not fit its operands.`);
  const out = convolution(emit, input, weights, shape, type.element);
  const order = [0, ...Array.from({ length: spatial }, (_, d) => d + 2), 1];
  const last = { ...out, shape: order.map((d) => out.shape[d]), map: order.map((d) => out.map[d]) };
  const wide = emit.broadcast(convertView(emit, bias, type.element), last.shape, rank - bias.shape.length);
  const s = new Scalars(emit);
  const add = isFloat(type.element) ? 'arith.addf' : 'arith.addi';
  return emit.elementwise([last, wide], type.element, ([a, b]) =>
    s.in(type.element, false, [a, b], ([x, y], e) => s.binary(add, x, y, e)),
  );
}
