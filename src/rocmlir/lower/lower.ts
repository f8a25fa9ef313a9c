// Room `rocmlir/lower`: MIGraphX functions to linalg, tensor, arith and math, which iree-compile reads.
// Begin with this file; read.ts reads one operation, and each family of operations has a file.
//
// `migraphx` functions to linalg, tensor, arith and math. Everything of the module that is no such function keeps its bytes.
// Source: rocMLIR's MIGraphX.td and MIGraphXToTosa tests for what the operations mean.
import type { WavesmithError } from '../../base/index.ts';
import { Edits } from '../../mlir/edit.ts';
import { type Document, fullName, type Operation, rangeText, walk } from '../../mlir/parse.ts';
import { matchAttention } from './attention.ts';
import { attention, convertView, convolution, convolvedSizes, dot } from './contract.ts';
import { Emitter, type View, wholeView } from './emit.ts';
import {
  type FunctionParts,
  integerAttribute,
  integerList,
  operationError,
  type ReadOperation,
  readFunction,
  readOperation,
} from './read.ts';
import { type ReductionKind, reduce, softmax } from './reduce.ts';
import { dequantize, ELEMENTWISE, quantize, Scalars } from './scalar.ts';
import { lowerTosa, TOSA_ELEMENTWISE, usesOldTosa } from './tosa.ts';
import { elementsOf, isFloat, memoryLayout, type TensorType, tensorText } from './types.ts';

/** How to lower. */
export interface LowerOptions {
  /** Write an attention block as IREE's own operation, which becomes one kernel; else as plain linalg. */
  readonly fuseAttention: boolean;
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, d) => size === b[d]);

/** True when some operation of the module is of the `migraphx` dialect. */
export function usesMigraphx(document: Document): boolean {
  for (const operation of walk(document.operations)) if (operation.name.startsWith('migraphx.')) return true;
  return false;
}

/** True when iree-compile cannot read the module as it is. */
export function needsLowering(document: Document): boolean {
  return usesMigraphx(document) || usesOldTosa(document);
}

/** The functions with a body, in text order. */
export function functionsOf(document: Document): Operation[] {
  return [...walk(document.operations)].filter((o) => fullName(o) === 'func.func' && o.regions.length > 0);
}

/** The module with its `migraphx` (and old TOSA) functions lowered. Throws `rocmlir/…` at the operation that cannot be. */
export function lowerModule(document: Document, options: LowerOptions): string {
  const edits = new Edits();
  const oldTosa = usesOldTosa(document);
  const isLowered = (name: string): boolean => name.startsWith('migraphx.') || (oldTosa && name.startsWith('tosa.'));
  for (const operation of functionsOf(document)) {
    const body = operation.regions[0];
    if (!body.operations.some((o) => isLowered(o.name))) continue;
    const parts = readFunction(document, operation);
    const lowering = new FunctionLowering(document, parts, options, oldTosa);
    lowering.run();
    edits.replaceTokens(document, parts.signatureFirst, parts.signatureLast, lowering.signature());
    edits.replaceTokens(document, body.open, body.close + 1, `{\n${lowering.lines().join('\n')}\n  }`);
  }
  return edits.apply(document.text);
}

/** The dense tensor type of a function's argument or result in memory. */
export function memoryShape(document: Document, parts: FunctionParts, type: TensorType): readonly number[] {
  const layout = memoryLayout(type);
  if (layout !== undefined) return layout.shape;
  throw operationError(
    document,
    parts.operation,
    'rocmlir/strides',
    `Strides ${type.strides?.join('x')} of shape ${type.shape.join('x')} are no permuted, padded or repeated rectangle.`,
    'Make the value contiguous before the kernel.',
  );
}

class FunctionLowering {
  private readonly document: Document;
  private readonly parts: FunctionParts;
  private readonly options: LowerOptions;
  private readonly emit: Emitter;
  private readonly views = new Map<string, View>();
  private readonly definitions = new Map<string, ReadOperation>();
  private readonly oldTosa: boolean;
  private current: Operation;

  constructor(document: Document, parts: FunctionParts, options: LowerOptions, oldTosa: boolean) {
    this.oldTosa = oldTosa;
    this.document = document;
    this.parts = parts;
    this.options = options;
    this.current = parts.operation;
    this.emit = new Emitter(parts.arguments.map((argument) => argument.name));
  }

  lines(): readonly string[] {
    return this.emit.lines;
  }

  signature(): string {
    const { parts, document } = this;
    const text = (type: TensorType): string => tensorText(memoryShape(document, parts, type), type.element);
    const args = parts.arguments.map(({ name, type, attributes }) => `${name}: ${text(type)}${attributes}`);
    const results = parts.results.map(text);
    const arrow = results.length === 0 ? '' : ` -> ${results.length === 1 ? results[0] : `(${results.join(', ')})`}`;
    return `(${args.join(', ')})${arrow}`;
  }

  run(): void {
    for (const { name, type } of this.parts.arguments) this.views.set(name, this.argumentView(name, type));
    for (const operation of this.parts.operation.regions[0].operations) {
      this.current = operation;
      if (fullName(operation) === 'func.return') this.return(readOperation(this.document, operation));
      else this.operation(readOperation(this.document, operation));
    }
  }

  private error(code: string, message: string, hint?: string): WavesmithError {
    return operationError(this.document, this.current, code, message, hint);
  }

  private argumentView(name: string, type: TensorType): View {
    const memory = memoryShape(this.document, this.parts, type);
    const layout = memoryLayout(type);
    if (layout === undefined) return wholeView(name, type.element, memory);
    const { shape, element } = type;
    if (sameShape(layout.used, layout.shape)) return { ssa: name, element, base: layout.shape, map: layout.map, shape };
    // Padded rows: the used part, without the dimension that a stride above 1 of the last dimension makes.
    const kept = layout.map.filter((from) => from !== null).length;
    const base = layout.used.slice(0, kept);
    return {
      ssa: this.emit.slice(
        name,
        element,
        layout.shape,
        layout.used.map(() => 0),
        layout.used,
        base,
      ),
      element,
      base,
      map: layout.map,
      shape,
    };
  }

  private return(read: ReadOperation): void {
    const { results } = this.parts;
    if (read.operands.length !== results.length) {
      throw this.error(
        'rocmlir/malformed',
        `The function has ${results.length} result(s), this returns ${read.operands.length}.`,
      );
    }
    const values = read.operands.map((operand, i) => this.resultValue(this.view(operand), results[i]));
    const types = results.map((type) => tensorText(memoryShape(this.document, this.parts, type), type.element));
    this.emit.line(values.length === 0 ? 'return' : `return ${values.join(', ')} : ${types.join(', ')}`);
  }

  /** The value as it lies in memory. */
  private resultValue(view: View, type: TensorType): string {
    this.checkShape(view, type);
    const layout = memoryLayout(type);
    if (
      layout === undefined ||
      !sameShape(layout.used, layout.shape) ||
      elementsOf(layout.shape) !== elementsOf(type.shape)
    ) {
      throw this.error(
        'rocmlir/strides',
        'A result with padded or repeated strides cannot be written.',
        'Return it contiguous.',
      );
    }
    const order: number[] = [];
    layout.map.forEach((from, d) => {
      if (from !== null) order[from] = d;
    });
    const memory: View = { ...view, shape: layout.shape, map: order.map((d) => view.map[d]) };
    return this.emit.dense(memory).ssa;
  }

  private view(name: string): View {
    const view = this.views.get(name);
    if (view !== undefined) return view;
    throw this.error('rocmlir/malformed', `The value ${name} is not defined before its use.`);
  }

  private checkShape(view: View, type: TensorType): void {
    if (sameShape(view.shape, type.shape) && view.element === type.element) return;
    throw this.error(
      'rocmlir/shape',
      `${this.current.name} gives ${tensorText(view.shape, view.element)}, but its type says ${tensorText(type.shape, type.element)}.`,
      'Correct the operation’s types or attributes.',
    );
  }

  private operation(read: ReadOperation): void {
    if (read.resultTypes.length !== 1) throw this.unsupported(read);
    const [type] = read.resultTypes;
    const view = this.lower(read, type);
    this.checkShape(view, type);
    this.views.set(read.results[0], view);
    this.definitions.set(read.results[0], read);
  }

  private unsupported(read: ReadOperation): WavesmithError {
    return this.error(
      'rocmlir/unsupported-operation',
      `The operation '${read.name}' is not lowered here.`,
      'See docs/rocmlir.md for the operations that are; rocMLIR’s own kernel is used instead.',
    );
  }

  /** The operands' views; their number must be one of `counts`. */
  private operands(read: ReadOperation, ...counts: number[]): View[] {
    if (counts.includes(read.operands.length)) return read.operands.map((name) => this.view(name));
    throw this.error(
      'rocmlir/malformed',
      `${read.name} takes ${counts.join(' or ')} operand(s), not ${read.operands.length}.`,
    );
  }

  private lower(read: ReadOperation, type: TensorType): View {
    const simple = Object.hasOwn(ELEMENTWISE, read.name) ? ELEMENTWISE[read.name] : undefined;
    if (simple !== undefined) return this.elementwise(read, simple, this.operands(read, simple.operands));
    if (this.oldTosa && read.name.startsWith('tosa.')) return this.tosa(read, type);
    switch (read.name) {
      case 'migraphx.literal':
      case 'arith.constant':
        return this.literal(read, type);
      case 'migraphx.dot':
      case 'migraphx.quant_dot':
        return this.dot(read, type);
      case 'migraphx.convolution':
      case 'migraphx.quant_convolution':
        return this.convolution(read, type);
      case 'migraphx.convert':
        return convertView(this.emit, this.operands(read, 1)[0], type.element);
      case 'migraphx.where':
        return this.where(read, type);
      case 'migraphx.quantizelinear':
        return this.quantize(read, type);
      case 'migraphx.dequantizelinear':
        return this.dequantize(read, type);
      case 'migraphx.softmax':
        return this.softmax(read);
      case 'migraphx.reduce_sum':
      case 'migraphx.reduce_mean':
      case 'migraphx.reduce_max':
        return this.reduce(read, integerList(this.document, read, 'axes'));
      case 'migraphx.reshape':
      case 'migraphx.flatten':
        return this.reshape(read, type);
      case 'migraphx.transpose':
        return this.transpose(read);
      case 'migraphx.multibroadcast':
        return this.multibroadcast(read);
      case 'migraphx.broadcast':
        return this.broadcast(read);
      case 'migraphx.slice':
        return this.sliced(read);
      default:
        throw this.unsupported(read);
    }
  }

  private tosa(read: ReadOperation, type: TensorType): View {
    const { document, emit } = this;
    const name = TOSA_ELEMENTWISE[read.name];
    if (name !== undefined) {
      // Dimensions of size 1 repeat by themselves.
      const views = this.operands(read, ELEMENTWISE[name].operands).map((view) => {
        const fits =
          view.shape.length === type.shape.length && view.shape.every((n, d) => n === 1 || n === type.shape[d]);
        if (!fits) throw this.error('rocmlir/shape', `The operands of ${read.name} do not fit its result.`);
        return emit.broadcast(view, type.shape, 0);
      });
      return this.elementwise(read, ELEMENTWISE[name], views);
    }
    switch (read.name) {
      case 'tosa.const':
        return this.literal(read, type);
      case 'tosa.reshape':
        return this.reshape(read, type);
      case 'tosa.select':
        return this.where(read, type);
      case 'tosa.reduce_sum':
      case 'tosa.reduce_max':
        return this.reduce(read, [integerAttribute(document, read, 'axis')]);
    }
    const view = lowerTosa(
      {
        document,
        emit,
        operands: (...counts) => this.operands(read, ...counts),
        definition: (operand) => this.definitions.get(operand),
        error: (code, message) => this.error(code, message),
      },
      read,
      type,
    );
    if (view === undefined) throw this.unsupported(read);
    return view;
  }

  private elementwise(read: ReadOperation, operation: (typeof ELEMENTWISE)[string], views: readonly View[]): View {
    const { element, shape } = views[0];
    if (views.some((view) => view.element !== element || !sameShape(view.shape, shape))) {
      throw this.error('rocmlir/shape', `The operands of ${read.name} differ in shape or element type.`);
    }
    const body = isFloat(element) ? operation.float : operation.integer;
    if (body === undefined) {
      throw this.error('rocmlir/element-type', `${read.name} is not defined for elements of type ${element}.`);
    }
    const s = new Scalars(this.emit);
    return this.emit.elementwise(views, element, (args) =>
      s.in(element, operation.wide, args.slice(0, views.length), (a, e) => body(s, a, e)),
    );
  }

  private literal(read: ReadOperation, type: TensorType): View {
    const { document, emit } = this;
    const attribute = read.attributes.find((entry) => entry.name === 'value')?.value ?? read.literal;
    const text =
      attribute !== undefined
        ? rangeText(document, attribute.first, attribute.last)
        : rangeText(document, read.operation.nameToken + 1, read.operation.last);
    const splat = /^\s*dense<\s*([-+.\w]+)\s*>/.exec(text)?.[1];
    if (splat !== undefined) {
      const ssa = emit.value(`arith.constant dense<${splat}> : ${tensorText([], type.element)}`);
      return { ssa, element: type.element, base: [], map: type.shape.map(() => null), shape: type.shape };
    }
    const match = /^\s*(dense(?:_resource)?<[\s\S]*>)\s*:\s*tensor<((?:\d+x)*)(\w+)>\s*$/.exec(text);
    const shape = match?.[2]
      .split('x')
      .filter((part) => part !== '')
      .map(Number);
    if (
      match === null ||
      shape === undefined ||
      match[3] !== type.element ||
      elementsOf(shape) !== elementsOf(type.shape)
    ) {
      throw this.error(
        'rocmlir/literal',
        `This literal is no dense tensor of ${tensorText(type.shape, type.element)}.`,
      );
    }
    const ssa = emit.value(`arith.constant ${match[1]} : ${tensorText(shape, type.element)}`);
    return emit.reshape(wholeView(ssa, type.element, shape), type.shape);
  }

  private dot(read: ReadOperation, type: TensorType): View {
    const [a, b] = this.operands(read, 2);
    if (this.options.fuseAttention) {
      const block = matchAttention(this.document, read, this.definitions, (name) => this.view(name));
      if (block !== undefined) return attention(this.emit, block, type.element);
    }
    const view = dot(this.emit, a, b, type.element);
    if (view !== undefined) return view;
    throw this.error('rocmlir/shape', `Shapes ${a.shape.join('x')} and ${b.shape.join('x')} cannot be multiplied.`);
  }

  private convolution(read: ReadOperation, type: TensorType): View {
    const [input, filter] = this.operands(read, 2);
    const spatial = input.shape.length - 2;
    const bad = (message: string): WavesmithError => this.error('rocmlir/shape', message);
    if (spatial < 1 || spatial > 3 || filter.shape.length !== spatial + 2) {
      throw bad(`${read.name} takes an image and filters of one rank from 3 to 5.`);
    }
    if (integerAttribute(this.document, read, 'padding_mode', 0) !== 0) {
      throw this.error(
        'rocmlir/unsupported-operation',
        `${read.name} with a padding_mode other than 0 is not lowered here.`,
      );
    }
    const list = (name: string, count: number): number[] => {
      const values = integerList(this.document, read, name);
      if (values.length === count && values.every((value) => value >= (name === 'padding' ? 0 : 1))) return values;
      throw bad(`The attribute '${name}' of ${read.name} needs ${count} numbers that are not negative.`);
    };
    const given = integerList(this.document, read, 'padding');
    const padding = given.length === spatial ? [...given, ...given] : list('padding', 2 * spatial);
    const shape = {
      group: integerAttribute(this.document, read, 'group', 1),
      stride: list('stride', spatial),
      dilation: list('dilation', spatial),
      padding: Array.from({ length: spatial }, (_, d) => [padding[d], padding[d + spatial]] as const),
    };
    const { group } = shape;
    if (group < 1 || input.shape[1] !== filter.shape[1] * group || filter.shape[0] % group !== 0) {
      throw bad(`${input.shape[1]} channels in ${group} group(s) do not fit filters of ${filter.shape.join('x')}.`);
    }
    const out = convolvedSizes(input.shape, filter.shape, shape);
    if (out.some((size) => size < 1)) throw bad('The filters are larger than the padded image.');
    return convolution(this.emit, input, filter, shape, type.element);
  }

  private where(read: ReadOperation, type: TensorType): View {
    const views = this.operands(read, 3);
    const [condition, a, b] = views;
    if (!sameShape(condition.shape, a.shape) || !sameShape(a.shape, b.shape) || isFloat(condition.element)) {
      throw this.error('rocmlir/shape', `The operands of ${read.name} do not fit together.`);
    }
    const { emit } = this;
    return emit.elementwise(views, type.element, ([c, x, y]) => {
      const zero = emit.scalar(condition.element === 'i1' ? 'false' : '0', condition.element);
      const flag = emit.value(`arith.cmpi ne, ${c}, ${zero} : ${condition.element}`);
      return emit.value(`arith.select ${flag}, ${x}, ${y} : ${type.element}`);
    });
  }

  /** The operands brought to one shape check of (de)quantisation: value, scale, perhaps bias. */
  private quantization(read: ReadOperation): View[] {
    const views = this.operands(read, 2, 3);
    if (views.every((view) => sameShape(view.shape, views[0].shape))) return views;
    throw this.error('rocmlir/shape', `The operands of ${read.name} differ in shape.`, 'Broadcast the scale first.');
  }

  private quantize(read: ReadOperation, type: TensorType): View {
    const views = this.quantization(read);
    if (isFloat(type.element) || !isFloat(views[0].element)) {
      throw this.error('rocmlir/element-type', `${read.name} turns floats into integers.`);
    }
    return quantize(this.emit, views, type.element);
  }

  private dequantize(read: ReadOperation, type: TensorType): View {
    const views = this.quantization(read);
    if (!isFloat(type.element) || isFloat(views[0].element)) {
      throw this.error('rocmlir/element-type', `${read.name} turns integers into floats.`);
    }
    return dequantize(this.emit, views, type.element);
  }

  private axis(value: number, rank: number): number {
    const axis = value < 0 ? value + rank : value;
    if (axis >= 0 && axis < rank) return axis;
    throw this.error('rocmlir/shape', `Axis ${value} is outside a shape of ${rank} dimensions.`);
  }

  private softmax(read: ReadOperation): View {
    const [view] = this.operands(read, 1);
    if (!isFloat(view.element)) throw this.error('rocmlir/element-type', 'softmax is defined for floats.');
    const axis = this.axis(integerAttribute(this.document, read, 'axis'), view.shape.length);
    return softmax(this.emit, view, axis);
  }

  private reduce(read: ReadOperation, list: readonly number[]): View {
    const [view] = this.operands(read, 1);
    const axes = new Set(list.map((axis) => this.axis(axis, view.shape.length)));
    const kind = read.name.replace(/^.*reduce_/, '') as ReductionKind;
    return reduce(this.emit, view, axes, kind);
  }

  private reshape(read: ReadOperation, type: TensorType): View {
    const [view] = this.operands(read, 1);
    if (elementsOf(view.shape) !== elementsOf(type.shape)) {
      throw this.error('rocmlir/shape', `${view.shape.join('x')} cannot be reshaped to ${type.shape.join('x')}.`);
    }
    return this.emit.reshape(view, type.shape);
  }

  private transpose(read: ReadOperation): View {
    const [view] = this.operands(read, 1);
    const permutation = integerList(this.document, read, 'permutation');
    const isPermutation = [...permutation].sort((a, b) => a - b).every((d, i) => d === i);
    if (!isPermutation || permutation.length !== view.shape.length) {
      throw this.error(
        'rocmlir/shape',
        `[${permutation.join(', ')}] is no permutation of ${view.shape.length} dimensions.`,
      );
    }
    return { ...view, shape: permutation.map((d) => view.shape[d]), map: permutation.map((d) => view.map[d]) };
  }

  private multibroadcast(read: ReadOperation): View {
    const [view] = this.operands(read, 1);
    const out = integerList(this.document, read, 'out_lens');
    const first = out.length - view.shape.length;
    const fits = first >= 0 && view.shape.every((size, d) => size === out[d + first] || size === 1);
    if (fits) return this.emit.broadcast(view, out, first);
    throw this.error('rocmlir/shape', `${view.shape.join('x')} cannot be broadcast to ${out.join('x')}.`);
  }

  private broadcast(read: ReadOperation): View {
    const [view] = this.operands(read, 1);
    const out = integerList(this.document, read, 'out_lens');
    const axis = this.axis(integerAttribute(this.document, read, 'axis'), out.length);
    const fits =
      axis + view.shape.length <= out.length && view.shape.every((size, d) => size === out[axis + d] || size === 1);
    if (fits) return this.emit.broadcast(view, out, axis);
    throw this.error('rocmlir/shape', `${view.shape.join('x')} at axis ${axis} does not fit ${out.join('x')}.`);
  }

  private sliced(read: ReadOperation): View {
    const [view] = this.operands(read, 1);
    const [axes, starts, ends] = ['axes', 'starts', 'ends'].map((name) => integerList(this.document, read, name));
    const offsets = view.shape.map(() => 0);
    const shape = [...view.shape];
    axes.forEach((value, i) => {
      const d = this.axis(value, shape.length);
      const clamp = (at: number): number => Math.min(Math.max(at < 0 ? at + view.shape[d] : at, 0), view.shape[d]);
      [offsets[d], shape[d]] = [clamp(starts[i] ?? 0), clamp(ends[i] ?? view.shape[d]) - clamp(starts[i] ?? 0)];
      if (shape[d] < 1) throw this.error('rocmlir/shape', `The slice of dimension ${d} is empty.`);
    });
    return this.emit.part(view, offsets, shape);
  }
}
