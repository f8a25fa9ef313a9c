// The operations of the `migraphx` dialect by name: how each is lowered, or why rocMLIR's own kernel is used instead.
// Source: rocMLIR's MIGraphX.td (branches develop and iree-rocMLIR) and its migraphx-to-tosa tests for what they mean.
import { matchAttention } from './attention.ts';
import { axisOf, cannotMultiply, type LowerContext, sameShape } from './context.ts';
import {
  attention,
  type ConvolutionShape,
  convertView,
  convolution,
  convolutionBackwards,
  convolvedSizes,
  dot,
  widenedSizes,
} from './contract.ts';
import { broadcastShape, type View } from './emit.ts';
import { broadcast, literal, multibroadcast, pad, reshape, slice, transpose } from './layout.ts';
import { integerAttribute, integerList } from './read.ts';
import { type ReductionKind, reduce, softmax } from './reduce.ts';
import { dequantize, ELEMENTWISE, type ElementwiseOperation, quantize, Scalars, unpackNibbles } from './scalar.ts';
import { type Element, isFloat } from './types.ts';

/** Lowers one operation. */
export type Lowering = (context: LowerContext) => View;

/** The operands repeated to one shape, as MIGraphX and TOSA do it. */
function aligned({ emit, read, error }: LowerContext, views: readonly View[]): View[] {
  const shape = broadcastShape(views.map((view) => view.shape));
  if (shape === undefined) {
    const shapes = views.map((view) => view.shape.join('x')).join(', ');
    throw error('rocmlir/shape', `The operands of ${read.name} do not fit together: ${shapes}.`);
  }
  return views.map((view) =>
    sameShape(view.shape, shape) ? view : emit.broadcast(view, shape, shape.length - view.shape.length),
  );
}

/** An elementwise operation on operands of one element type. */
export function elementwise(context: LowerContext, operation: ElementwiseOperation): View {
  const { emit, read, error } = context;
  const views = aligned(context, context.operands(operation.operands));
  const [{ element }] = views;
  checkMade(context, element);
  if (views.some((view) => view.element !== element)) {
    const types = views.map((view) => view.element).join(', ');
    throw error('rocmlir/element-type', `The operands of ${read.name} differ in their element type: ${types}.`);
  }
  const body = isFloat(element) ? operation.float : operation.integer;
  if (body === undefined) {
    throw error('rocmlir/element-type', `${read.name} is not defined for elements of type ${element}.`);
  }
  const s = new Scalars(emit);
  return emit.elementwise(views, element, (args) =>
    s.in(element, operation.wide, args.slice(0, views.length), (a, e) => body(s, a, e)),
  );
}

/** An 8-bit exponent is made by `convert` alone, a 4-bit float never. */
function checkMade({ read, error }: LowerContext, element: Element): void {
  if (element !== 'f4E2M1FN' && element !== 'f8E8M0FNU') return;
  throw error(
    'rocmlir/element-type',
    `${read.name} to ${element} is not lowered here: such values are read, not made.`,
  );
}

const convert: Lowering = (context) => {
  const [view] = context.operands(1);
  const isExponent = context.type.element === 'f8E8M0FNU';
  if (view.element !== context.type.element && !isExponent) checkMade(context, context.type.element);
  return convertView(context.emit, view, context.type.element);
};

export const where: Lowering = (context) => {
  const { emit, read, type, error } = context;
  const [condition, a, b] = aligned(context, context.operands(3));
  if (isFloat(condition.element)) throw error('rocmlir/element-type', `The condition of ${read.name} is no integer.`);
  if (a.element !== type.element || b.element !== type.element) {
    throw error('rocmlir/element-type', `${read.name} chooses between ${a.element} and ${b.element}.`);
  }
  const s = new Scalars(emit);
  return emit.elementwise([condition, a, b], type.element, ([c, x, y]) => {
    const zero = emit.scalar(condition.element === 'i1' ? 'false' : '0', condition.element);
    return s.select(s.compare('ne', c, zero, condition.element), x, y, type.element);
  });
};

const quantizelinear: Lowering = (context) => {
  const { read, type, error } = context;
  const [given, scale, ...bias] = aligned(context, context.operands(2, 3));
  if (!isFloat(scale.element)) throw error('rocmlir/element-type', `The scale of ${read.name} is no float.`);
  checkMade(context, type.element);
  // rocMLIR of 2022 gave the integers of a convolution as they were.
  const input = isFloat(given.element) ? given : convertView(context.emit, given, scale.element);
  return quantize(context.emit, [input, scale, ...bias], type.element);
};

const dequantizelinear: Lowering = (context) => {
  const views = aligned(context, context.operands(2, 3));
  if (!isFloat(context.type.element)) throw context.error('rocmlir/element-type', `${context.read.name} makes floats.`);
  checkMade(context, context.type.element);
  return dequantize(context.emit, views, context.type.element);
};

const unpack: Lowering = (context) => {
  const { document, read, type, error } = context;
  const [view] = context.operands(1);
  const axis = axisOf(context, integerAttribute(document, read, 'axis'), view.shape.length);
  if (view.element !== 'i8' && view.element !== 'ui8') {
    throw error('rocmlir/element-type', `${read.name} takes bytes, not ${view.element}.`);
  }
  // Zeros come in from above unless the operation says that the halves are signed.
  const flag = read.attributes.find((entry) => entry.name === 'isUnsigned')?.value;
  const isSigned = flag?.kind === 'boolean' && !flag.value;
  const halves = unpackNibbles(context.emit, view, axis, isSigned ? 'i8' : 'ui8');
  return { ...halves, element: type.element === 'ui8' ? 'ui8' : 'i8' };
};

/** `dot` and `quant_dot`; a factor with a scale is multiplied by it first. */
const dotProduct: Lowering = (context) => {
  const { emit, read, type } = context;
  const views = context.operands(2, 4);
  if (views.length === 2) {
    const block = context.fuseAttention ? matchAttention(context, read) : undefined;
    if (block !== undefined) return attention(emit, block, type.element);
  }
  // Pretty: `%a scaled by %sa, %b scaled by %sb`; generic: a, b, sa, sb.
  const [a, b, scaleA, scaleB] =
    views.length === 2 || read.operation.generic ? views : [views[0], views[2], views[1], views[3]];
  const scaled = (view: View, scale: View | undefined): View => {
    if (scale === undefined) return view;
    const s = new Scalars(emit);
    const pair = aligned(context, [view, scale]);
    return emit.elementwise(pair, 'f32', (args) => {
      const [x, y] = pair.map((operand, i) => s.convert(args[i], operand.element, 'f32'));
      return s.binary('arith.mulf', x, y, 'f32');
    });
  };
  const view = dot(emit, scaled(a, scaleA), scaled(b, scaleB), type.element);
  if (view === undefined) throw cannotMultiply(context, a, b);
  return view;
};

/** Image, filters and attributes of a convolution, checked but for the channels. */
function convolutionOperands(context: LowerContext): { input: View; filter: View; shape: ConvolutionShape } {
  const { document, read } = context;
  const [input, filter] = context.operands(2);
  const spatial = input.shape.length - 2;
  if (spatial < 1 || spatial > 3 || filter.shape.length !== spatial + 2) {
    throw context.error('rocmlir/shape', `${read.name} takes an image and filters of one rank from 3 to 5.`);
  }
  const list = (name: string, count: number): number[] => {
    const values = integerList(document, read, name);
    if (values.length === count && values.every((value) => value >= (name === 'padding' ? 0 : 1))) return values;
    const least = name === 'padding' ? 'that are not negative' : 'above 0';
    throw context.error('rocmlir/shape', `The attribute '${name}' of ${read.name} needs ${count} numbers ${least}.`);
  };
  const given = integerList(document, read, 'padding');
  const padding = given.length === spatial ? [...given, ...given] : list('padding', 2 * spatial);
  const shape = {
    computesPadding: context.computesPadding,
    group: integerAttribute(document, read, 'group', 1),
    stride: list('stride', spatial),
    dilation: list('dilation', spatial),
    padding: Array.from({ length: spatial }, (_, d) => [padding[d], padding[d + spatial]] as const),
  };
  return { input, filter, shape };
}

/** `padding` says it all; a `padding_mode` that asks for other sizes than it gives is refused. */
function checkConvolved(context: LowerContext, sizes: readonly number[]): void {
  const { document, read, type } = context;
  if (sizes.some((size) => size < 1))
    throw context.error('rocmlir/shape', 'The filters are larger than the padded image.');
  const isDefault = integerAttribute(document, read, 'padding_mode', 0) === 0;
  if (isDefault || sameShape(sizes, type.shape.slice(2))) return;
  throw context.error(
    'rocmlir/unsupported-operation',
    `${read.name} with this padding_mode makes ${type.shape.slice(2).join('x')}, its padding ${sizes.join('x')}.`,
    'Write the padding out and use padding_mode 0.',
  );
}

const convolve: Lowering = (context) => {
  const { input, filter, shape } = convolutionOperands(context);
  const { group } = shape;
  if (group < 1 || input.shape[1] !== filter.shape[1] * group || filter.shape[0] % group !== 0) {
    throw context.error(
      'rocmlir/shape',
      `${input.shape[1]} channels in ${group} group(s) do not fit filters of ${filter.shape.join('x')}.`,
    );
  }
  checkConvolved(context, convolvedSizes(input.shape, filter.shape, shape));
  return convolution(context.emit, input, filter, shape, context.type.element);
};

const convolveBackwards: Lowering = (context) => {
  const { input, filter, shape } = convolutionOperands(context);
  if (shape.group < 1 || input.shape[1] !== filter.shape[0] || input.shape[1] % shape.group !== 0) {
    throw context.error(
      'rocmlir/shape',
      `${input.shape[1]} channels in ${shape.group} group(s) do not fit filters of ${filter.shape.join('x')}.`,
    );
  }
  checkConvolved(context, widenedSizes(input.shape, filter.shape, shape));
  return convolutionBackwards(context.emit, input, filter, shape, context.type.element);
};

const softmaxOver: Lowering = (context) => {
  const [view] = context.operands(1);
  if (!isFloat(view.element)) throw context.error('rocmlir/element-type', 'softmax is defined for floats.');
  const axis = axisOf(context, integerAttribute(context.document, context.read, 'axis'), view.shape.length);
  return softmax(context.emit, view, axis);
};

/** `migraphx.reduce_…`, or TOSA's with its one axis. */
export function reduceOver(context: LowerContext, list: readonly number[]): View {
  const [view] = context.operands(1);
  const axes = new Set(list.map((axis) => axisOf(context, axis, view.shape.length)));
  const kind = context.read.name.replace(/^.*reduce_/, '') as ReductionKind;
  return reduce(context.emit, view, axes, kind);
}

const reduction: Lowering = (context) => reduceOver(context, integerList(context.document, context.read, 'axes'));

/** (x - mean) / sqrt(variance + epsilon) * scale + bias, per channel (`bn_mode` 1) or per element of one image (0). */
const batchNorm: Lowering = (context) => {
  const { document, emit, read } = context;
  const [x, ...parameters] = context.operands(5);
  if (!isFloat(x.element)) throw context.error('rocmlir/element-type', `${read.name} is defined for floats.`);
  const epsilon = read.attributes.find((entry) => entry.name === 'epsilon')?.value;
  if (epsilon?.kind !== 'float' && epsilon?.kind !== 'integer') {
    throw context.error('rocmlir/missing-attribute', `${read.name} needs the number 'epsilon'.`);
  }
  const perChannel = integerAttribute(document, read, 'bn_mode', 1) === 1;
  const views = parameters.map((view) => {
    const expected = perChannel ? x.shape.slice(1, 2) : x.shape.slice(1);
    if (!sameShape(view.shape, expected)) {
      throw context.error('rocmlir/shape', `${read.name} needs parameters of shape ${expected.join('x')}.`);
    }
    return emit.broadcast(view, x.shape, 1);
  });
  const s = new Scalars(emit);
  const all = [x, ...views];
  return emit.elementwise(all, x.element, (args) => {
    const [value, scale, bias, mean, variance] = all.map((view, i) => s.convert(args[i], view.element, 'f32'));
    const wide = s.binary('arith.addf', variance, s.constant(Number(epsilon.value).toExponential(9), 'f32'), 'f32');
    const centred = s.binary('arith.subf', value, mean, 'f32');
    const normal = s.binary('arith.mulf', centred, s.unary('math.rsqrt', wide, 'f32'), 'f32');
    const scaled = s.binary('arith.mulf', normal, scale, 'f32');
    return s.convert(s.binary('arith.addf', scaled, bias, 'f32'), 'f32', x.element);
  });
};

/** A value under another type: between them lies only what views already know. */
const same: Lowering = (context) => context.operands(1)[0];

/** How each operation is lowered. */
export const LOWERINGS: Readonly<Record<string, Lowering>> = {
  ...Object.fromEntries(
    Object.entries(ELEMENTWISE).map(([name, operation]): [string, Lowering] => [
      name,
      (context) => elementwise(context, operation),
    ]),
  ),
  'migraphx.literal': literal,
  'arith.constant': literal,
  'migraphx.convert': convert,
  'migraphx.where': where,
  'migraphx.quantizelinear': quantizelinear,
  'migraphx.dequantizelinear': dequantizelinear,
  'migraphx.unpack': unpack,
  'migraphx.dot': dotProduct,
  'migraphx.quant_dot': dotProduct,
  'migraphx.convolution': convolve,
  'migraphx.quant_convolution': convolve,
  'migraphx.backwards_data_convolution': convolveBackwards,
  'migraphx.softmax': softmaxOver,
  'migraphx.reduce_sum': reduction,
  'migraphx.reduce_mean': reduction,
  'migraphx.reduce_max': reduction,
  'migraphx.batch_norm_inference': batchNorm,
  'migraphx.reshape': reshape,
  'migraphx.flatten': reshape,
  'migraphx.transpose': transpose,
  'migraphx.multibroadcast': multibroadcast,
  'migraphx.broadcast': broadcast,
  'migraphx.slice': slice,
  'migraphx.pad': pad,
  'migraphx.mlir.as.logical.shape': same,
  'migraphx.mlir.as.underlying.shape': same,
};

/** Operations that decompose-attention.ts writes out as others before anything is lowered, but for forms that it leaves. */
export const WRITTEN_OUT: ReadonlySet<string> = new Set(['migraphx.attention', 'migraphx.yield']);

/** Why an operation is not lowered. */
export const FALLS_BACK: Readonly<Record<string, string>> = {
  'migraphx.pooling': 'rocMLIR makes no kernel of it either: MIGraphX does not put pooling into a module for rocMLIR.',
  'migraphx.code_object': 'It launches a kernel that is compiled already.',
  'migraphx.attention':
    'It has a feature (sequence lengths, causal mask, window, split keys) that is not written out here.',
  'migraphx.yield': 'It ends the region of migraphx.attention.',
};
