// Room `rocmlir/reference`: what a `migraphx` function means, computed directly, to judge the kernels by.
// Begin with this file; numbers.ts rounds to each type, window.ts has the convolutions.
//
// What a `migraphx` function means, evaluated directly: each operation's definition in 64-bit floats, without the lowering and
// without IREE. Slow and plain: it judges what the kernels compute. Source: rocMLIR's MIGraphX.td, MIGraphX operator reference.
import { elementType, randomNumbers, type WavesmithError } from '../../base/index.ts';
import { type Document, fullName, rangeText } from '../../mlir/parse.ts';
import {
  type FunctionParts,
  integerAttribute,
  integerList,
  operationError,
  type ReadOperation,
  readOperation,
} from '../lower/read.ts';
import { type Element, elementsOf, isFloat, standardStrides, type TensorType } from '../lower/types.ts';
import { erf, integerRange, readElement, roundTo, roundToEven, valueOfBits, writeElement } from './numbers.ts';
import { convolve, convolveBackwards, type Tensor } from './window.ts';

/** A limit on products and sums: beyond it the evaluation would take minutes. */
export const MAX_EVALUATED = 2 ** 31;

/** Calls `visit` for every position of a shape, in row-major order. */
function forEachPosition(shape: readonly number[], visit: (position: readonly number[], index: number) => void): void {
  const position = shape.map(() => 0);
  const total = elementsOf(shape);
  for (let index = 0; index < total; index++) {
    visit(position, index);
    for (let d = shape.length - 1; d >= 0 && ++position[d] === shape[d]; d--) position[d] = 0;
  }
}

const dotOf = (position: readonly number[], strides: readonly number[]): number =>
  position.reduce((sum, at, d) => sum + at * strides[d], 0);

type Unary = (x: number) => number;
type Binary = (x: number, y: number) => number;

const UNARY: Readonly<Record<string, Unary>> = {
  relu: (x) => (Number.isNaN(x) ? x : Math.max(x, 0)),
  neg: (x) => -x,
  abs: Math.abs,
  recip: (x) => 1 / x,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  exp: Math.exp,
  log: Math.log,
  tanh: Math.tanh,
  erf,
  sqrt: Math.sqrt,
  rsqrt: (x) => 1 / Math.sqrt(x),
  ceil: Math.ceil,
  floor: Math.floor,
};
const BINARY: Readonly<Record<string, Binary>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  max: Math.max,
  min: Math.min,
  pow: (x, y) => x ** y,
  greater: (x, y) => Number(x > y),
  greater_or_equal: (x, y) => Number(x >= y),
  less: (x, y) => Number(x < y),
  less_or_equal: (x, y) => Number(x <= y),
  equal: (x, y) => Number(x === y),
};

/**
 * Where values are rounded: after `each` operation, `none` before the results, or `disturbed`: as `none`, but what an operation
 * computes, and each factor of a product, is off by a random part of half a unit in the last place of its type.
 */
type Rounding = 'each' | 'none' | 'disturbed';

/** Operations that only move elements, and so round nothing. */
const MOVES = new Set(
  ['literal', 'reshape', 'flatten', 'multibroadcast', 'broadcast', 'transpose', 'slice', 'pad', 'where', 'unpack']
    .concat(['mlir.as.logical.shape', 'mlir.as.underlying.shape'])
    .map((name) => `migraphx.${name}`)
    .concat('arith.constant'),
);

/** Evaluates one function. */
class Evaluation {
  private readonly document: Document;
  private readonly rounding: Rounding;
  private readonly random: () => number;
  private readonly values = new Map<string, Tensor>();
  private work = 0;

  /** `seed` is that of the disturbances. */
  constructor(document: Document, rounding: Rounding, seed = 0) {
    this.document = document;
    this.rounding = rounding;
    this.random = randomNumbers(seed);
  }

  run(parts: FunctionParts, inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): void {
    parts.arguments.forEach(({ name, type }, i) => {
      const strides = type.strides ?? standardStrides(type.shape);
      const data = new Float64Array(elementsOf(type.shape));
      forEachPosition(type.shape, (position, index) => {
        data[index] = readElement(inputs[i], type.element, dotOf(position, strides));
      });
      this.values.set(name, { element: type.element, shape: type.shape, data });
    });
    for (const operation of parts.operation.regions[0].operations) {
      const read = readOperation(this.document, operation);
      if (fullName(operation) === 'func.return') {
        for (const [i, type] of parts.results.entries()) this.write(this.value(read, i), type, outputs[i]);
        return;
      }
      const [type] = read.resultTypes;
      if (read.resultTypes.length !== 1) throw this.unknown(read);
      const data = this.evaluate(read, type);
      // Rounded where the operation's result is stored as its type; the exact values otherwise.
      if (this.rounding === 'each' || !isFloat(type.element)) {
        for (let i = 0; i < data.length; i++) data[i] = roundTo(type.element, data[i]);
      } else if (this.rounding === 'disturbed' && !MOVES.has(read.name)) this.disturb(data, type.element);
      this.values.set(read.results[0], { element: type.element, shape: type.shape, data });
    }
  }

  /** Moves each value by a random part of half a unit in the last place. 8-bit floats round visibly, and are left alone. */
  private disturb(data: Float64Array, element: Element): void {
    const { fraction } = elementType(element);
    if (fraction < 7) return;
    const unit = 2 ** -fraction;
    for (let i = 0; i < data.length; i++) data[i] *= 1 + unit * (this.random() - 0.5);
  }

  private write(value: Tensor, type: TensorType, bytes: Uint8Array): void {
    const strides = type.strides ?? standardStrides(type.shape);
    forEachPosition(type.shape, (position, index) => {
      writeElement(bytes, type.element, dotOf(position, strides), value.data[index]);
    });
  }

  private unknown(read: ReadOperation): WavesmithError {
    return operationError(
      this.document,
      read.operation,
      'rocmlir/not-evaluated',
      `The operation '${read.name}' is not evaluated directly.`,
      'Compare with IREE on the CPU: --reference cpu.',
    );
  }

  private value(read: ReadOperation, index: number): Tensor {
    const value = this.values.get(read.operands[index]);
    if (value !== undefined) return value;
    throw operationError(
      this.document,
      read.operation,
      'rocmlir/malformed',
      `${read.name} lacks operand ${index + 1}.`,
    );
  }

  private count(read: ReadOperation, products: number): void {
    this.work += products;
    if (this.work <= MAX_EVALUATED) return;
    throw operationError(
      this.document,
      read.operation,
      'rocmlir/too-much-work',
      'The function is too large to be evaluated directly.',
      'Compare with IREE on the CPU: --reference cpu.',
    );
  }

  /** Operands read at each position of the result, repeating dimensions of size 1. */
  private pointwise(
    read: ReadOperation,
    shape: readonly number[],
    compute: (x: readonly number[]) => number,
  ): Float64Array {
    const operands = read.operands.map((_, i) => this.value(read, i));
    const strides = operands.map((operand) => {
      const own = standardStrides(operand.shape);
      const first = shape.length - operand.shape.length;
      return shape.map((_, d) => (d < first || operand.shape[d - first] === 1 ? 0 : own[d - first]));
    });
    const data = new Float64Array(elementsOf(shape));
    forEachPosition(shape, (position, index) => {
      data[index] = compute(operands.map((operand, i) => operand.data[dotOf(position, strides[i])]));
    });
    return data;
  }

  private evaluate(read: ReadOperation, type: TensorType): Float64Array {
    const { document } = this;
    const name = read.name.replace(/^migraphx\./, '');
    const { shape, element } = type;
    if (Object.hasOwn(UNARY, name)) return this.pointwise(read, shape, ([x]) => UNARY[name](x));
    if (Object.hasOwn(BINARY, name)) return this.pointwise(read, shape, ([x, y]) => BINARY[name](x, y));
    switch (name) {
      case 'literal':
      case 'arith.constant':
        return this.literal(read, type);
      case 'clip':
        return this.pointwise(read, shape, ([x, low, high]) => Math.min(Math.max(x, low), high));
      case 'where':
        return this.pointwise(read, shape, ([c, x, y]) => (c !== 0 ? x : y));
      case 'convert':
        return this.pointwise(read, shape, ([x]) => roundTo(element, x));
      case 'quantizelinear':
        return this.pointwise(read, shape, ([x, scale, zero = 0]) => {
          if (isFloat(element)) return roundTo(element, x / scale + zero);
          const [low, high] = integerRange(element);
          return Math.min(Math.max(roundToEven(Math.fround(x / scale)) + zero, low), high);
        });
      case 'dequantizelinear':
        return this.pointwise(read, shape, ([x, scale, zero = 0]) => (x - zero) * scale);
      case 'unpack':
        return this.unpack(read, type);
      case 'dot':
      case 'quant_dot':
        return this.dot(read, type);
      case 'convolution':
      case 'quant_convolution':
      case 'backwards_data_convolution':
        return this.convolution(read, type, name.startsWith('backwards'));
      case 'softmax':
        return this.softmax(read);
      case 'reduce_sum':
      case 'reduce_mean':
      case 'reduce_max':
        return this.reduce(read, name);
      case 'batch_norm_inference':
        return this.batchNorm(read, type);
      case 'reshape':
      case 'flatten':
      case 'mlir.as.logical.shape':
      case 'mlir.as.underlying.shape':
        return this.value(read, 0).data.slice();
      case 'multibroadcast': {
        const operand = this.value(read, 0);
        // At the last dimensions, or further left where only those have its sizes.
        let first = shape.length - operand.shape.length;
        while (first > 0 && operand.shape.some((size, d) => size !== 1 && size !== shape[first + d])) first--;
        return this.gather(read, shape, (position) =>
          operand.shape.map((size, d) => (size === 1 ? 0 : position[first + d])),
        );
      }
      case 'broadcast': {
        const operand = this.value(read, 0);
        const axis = integerAttribute(document, read, 'axis');
        const first = axis < 0 ? axis + shape.length : axis;
        return this.gather(read, shape, (position) =>
          operand.shape.map((size, d) => (size === 1 ? 0 : position[first + d])),
        );
      }
      case 'transpose': {
        const permutation = integerList(document, read, 'permutation');
        return this.gather(read, shape, (position) => {
          const at: number[] = [];
          permutation.forEach((from, d) => {
            at[from] = position[d];
          });
          return at;
        });
      }
      case 'slice': {
        const [axes, starts] = ['axes', 'starts'].map((list) => integerList(document, read, list));
        const operand = this.value(read, 0);
        const begin = operand.shape.map(() => 0);
        axes.forEach((axis, i) => {
          const d = axis < 0 ? axis + operand.shape.length : axis;
          begin[d] = starts[i] < 0 ? starts[i] + operand.shape[d] : starts[i];
        });
        return this.gather(read, shape, (position) => position.map((at, d) => at + begin[d]));
      }
      case 'pad': {
        const pads = integerList(document, read, 'pads');
        const value = read.attributes.find((entry) => entry.name === 'value')?.value;
        const filling = value?.kind === 'float' || value?.kind === 'integer' ? Number(value.value) : 0;
        return this.gather(read, shape, (position) => position.map((at, d) => at - pads[d]), filling);
      }
      default:
        throw this.unknown(read);
    }
  }

  /** Elements of the first operand at computed positions; `filling` outside of it. */
  private gather(
    read: ReadOperation,
    shape: readonly number[],
    from: (position: readonly number[]) => readonly number[],
    filling = Number.NaN,
  ): Float64Array {
    const operand = this.value(read, 0);
    const strides = standardStrides(operand.shape);
    const data = new Float64Array(elementsOf(shape));
    forEachPosition(shape, (position, index) => {
      const at = from(position);
      const inside = at.every((place, d) => place >= 0 && place < operand.shape[d]);
      data[index] = inside ? operand.data[dotOf(at, strides)] : filling;
    });
    return data;
  }

  private literal(read: ReadOperation, { element, shape }: TensorType): Float64Array {
    const attribute = read.attributes.find((entry) => entry.name === 'value')?.value ?? read.literal;
    const [first, last] =
      attribute === undefined ? [read.operation.nameToken + 1, read.operation.last] : [attribute.first, attribute.last];
    const text = rangeText(this.document, first, last);
    const inner = /^\s*dense<([\s\S]*?)>\s*(?::|$)/.exec(text)?.[1];
    if (inner === undefined) throw this.unknown(read);
    const total = elementsOf(shape);
    const raw = /^\s*"0x([0-9a-fA-F]*)"\s*$/.exec(inner)?.[1];
    if (raw !== undefined) {
      const bytes = Uint8Array.from({ length: raw.length / 2 }, (_, i) =>
        Number.parseInt(raw.slice(2 * i, 2 * i + 2), 16),
      );
      return Float64Array.from({ length: total }, (_, i) => readElement(bytes, element, i));
    }
    const numbers = [...inner.matchAll(/[-+.\w]+/g)].map(([word]) => {
      if (word === 'true' || word === 'false') return Number(word === 'true');
      return /^0x/.test(word) && isFloat(element) ? valueOfBits(element, BigInt(word)) : Number(word);
    });
    return Float64Array.from({ length: total }, (_, i) => numbers[numbers.length === 1 ? 0 : i]);
  }

  /** The low half of each byte, then the high one, along an axis. */
  private unpack(read: ReadOperation, { shape }: TensorType): Float64Array {
    const given = integerAttribute(this.document, read, 'axis');
    const axis = given < 0 ? given + shape.length : given;
    const flag = read.attributes.find((entry) => entry.name === 'isUnsigned')?.value;
    const isSigned = flag?.kind === 'boolean' && !flag.value;
    const bytes = this.gather(read, shape, (position) => position.map((at, d) => (d === axis ? at >> 1 : at)));
    const data = new Float64Array(bytes.length);
    forEachPosition(shape, (position, index) => {
      const half = (bytes[index] >> (position[axis] % 2 === 0 ? 0 : 4)) & 15;
      data[index] = isSigned && half > 7 ? half - 16 : half;
    });
    return data;
  }

  private dot(read: ReadOperation, { shape, element }: TensorType): Float64Array {
    const scaled = read.operands.length === 4;
    const order = scaled && !read.operation.generic ? [0, 2, 1, 3] : [0, 1, 2, 3];
    const [a, b] = [0, 1].map((i) => {
      const factor = this.value(read, order[i]);
      if (scaled) {
        const scale = this.value(read, order[i + 2]);
        return { ...factor, data: factor.data.map((x, at) => x * scale.data[at]) };
      }
      if (this.rounding !== 'disturbed' || !isFloat(factor.element)) return factor;
      const data = factor.data.slice();
      this.disturb(data, factor.element);
      return { ...factor, data };
    });
    const rank = shape.length;
    const [m, n, k] = [shape[rank - 2], shape[rank - 1], a.shape[a.shape.length - 1]];
    this.count(read, elementsOf(shape) * k);
    const data = new Float64Array(elementsOf(shape));
    const matrixAt = (operand: Tensor, batch: readonly number[], size: number): number => {
      const own = operand.shape.slice(0, -2);
      const strides = standardStrides(own);
      const first = batch.length - own.length;
      return own.reduce((sum, length, d) => sum + (length === 1 ? 0 : batch[first + d] * strides[d]), 0) * size;
    };
    forEachPosition(shape.slice(0, -2), (batch, index) => {
      const [atA, atB] = [matrixAt(a, batch, m * k), matrixAt(b, batch, k * n)];
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let l = 0; l < k; l++) sum += a.data[atA + i * k + l] * b.data[atB + l * n + j];
          data[(index * m + i) * n + j] = isFloat(element) ? sum : roundTo('i32', sum);
        }
      }
    });
    return data;
  }

  private convolution(read: ReadOperation, type: TensorType, backwards: boolean): Float64Array {
    const [input, filter] = [this.value(read, 0), this.value(read, 1)];
    const list = (name: string): number[] => integerList(this.document, read, name);
    const settings = {
      stride: list('stride'),
      dilation: list('dilation'),
      padding: list('padding'),
      group: integerAttribute(this.document, read, 'group', 1),
    };
    this.count(read, elementsOf(backwards ? input.shape : type.shape) * elementsOf(filter.shape.slice(1)));
    return (backwards ? convolveBackwards : convolve)(input, filter, type.shape, settings);
  }

  /** Calls `visit` with the positions of each line along an axis. */
  private lines(shape: readonly number[], axis: number, visit: (indices: readonly number[]) => void): void {
    const stride = standardStrides(shape)[axis];
    const length = shape[axis];
    for (let outer = 0; outer < elementsOf(shape) / length / stride; outer++) {
      for (let inner = 0; inner < stride; inner++) {
        visit(Array.from({ length }, (_, i) => outer * length * stride + i * stride + inner));
      }
    }
  }

  private softmax(read: ReadOperation): Float64Array {
    const { shape, data } = this.value(read, 0);
    const axis = integerAttribute(this.document, read, 'axis');
    const result = new Float64Array(data.length);
    this.lines(shape, axis < 0 ? axis + shape.length : axis, (indices) => {
      const largest = Math.max(...indices.map((i) => data[i]));
      const sum = indices.reduce((total, i) => total + Math.exp(data[i] - largest), 0);
      for (const i of indices) result[i] = Math.exp(data[i] - largest) / sum;
    });
    return result;
  }

  private reduce(read: ReadOperation, name: string): Float64Array {
    const operand = this.value(read, 0);
    let { shape, data }: { shape: readonly number[]; data: Float64Array } = operand;
    let count = 1;
    for (const given of integerList(this.document, read, 'axes')) {
      const axis = given < 0 ? given + shape.length : given;
      const sums: number[] = [];
      const from = data;
      this.lines(shape, axis, (indices) => {
        const values = indices.map((i) => from[i]);
        sums.push(name === 'reduce_max' ? Math.max(...values) : values.reduce((a, b) => a + b, 0));
      });
      count *= shape[axis];
      shape = shape.map((size, d) => (d === axis ? 1 : size));
      data = Float64Array.from(sums);
    }
    if (name !== 'reduce_mean') return data;
    return data.map((sum) => (isFloat(operand.element) ? sum / count : Math.trunc(sum / count)));
  }

  private batchNorm(read: ReadOperation, { shape }: TensorType): Float64Array {
    const [x, scale, bias, mean, variance] = read.operands.map((_, i) => this.value(read, i));
    const epsilon = read.attributes.find((entry) => entry.name === 'epsilon')?.value;
    const added = epsilon?.kind === 'float' || epsilon?.kind === 'integer' ? Number(epsilon.value) : 0;
    const perChannel = integerAttribute(this.document, read, 'bn_mode', 1) === 1;
    const image = elementsOf(shape.slice(1));
    const plane = elementsOf(shape.slice(2));
    return x.data.map((value, index) => {
      const at = perChannel ? Math.floor((index % image) / plane) : index % image;
      return ((value - mean.data[at]) / Math.sqrt(variance.data[at] + added)) * scale.data[at] + bias.data[at];
    });
  }
}

/** What a function makes of its inputs, as bytes in memory: rounded after each operation, and exact up to the end. */
export interface Evaluated {
  readonly rounded: readonly Uint8Array[];
  readonly exact: readonly Uint8Array[];
}

/**
 * Evaluates a `migraphx` function on the bytes of its arguments; `sizes` are the bytes of its results. Kernels round somewhere
 * between the two answers: they keep sums and fused values wider than the operations' types say.
 */
export function evaluateFunction(
  document: Document,
  parts: FunctionParts,
  inputs: readonly Uint8Array[],
  sizes: readonly number[],
): Evaluated {
  const results = sizes.map((size) => new Uint8Array(size));
  const [rounded, exact] = (['each', 'none'] as const).map((rounding) => {
    const outputs = results.map((bytes) => bytes.slice());
    new Evaluation(document, rounding).run(parts, inputs, outputs);
    return outputs;
  });
  return { rounded, exact };
}

/** The exact evaluation with every operation's value, and every factor of a product, disturbed by what rounding may do to it. */
export function evaluateDisturbed(
  document: Document,
  parts: FunctionParts,
  inputs: readonly Uint8Array[],
  sizes: readonly number[],
  seed: number,
): readonly Uint8Array[] {
  const outputs = sizes.map((size) => new Uint8Array(size));
  new Evaluation(document, 'disturbed', seed).run(parts, inputs, outputs);
  return outputs;
}

/** The answer between rounded and exact that is nearest to what a kernel made, element by element. */
export function nearestAnswer(
  rounded: Uint8Array,
  exact: Uint8Array,
  made: Uint8Array,
  element: Element,
  elements: number,
): Uint8Array {
  const answer = rounded.slice();
  if (!isFloat(element)) return answer;
  for (let i = 0; i < elements; i++) {
    const [a, b, value] = [rounded, exact, made].map((bytes) => readElement(bytes, element, i));
    if (Number.isNaN(value) || Number.isNaN(a) || Number.isNaN(b)) continue;
    writeElement(answer, element, i, Math.min(Math.max(value, Math.min(a, b)), Math.max(a, b)));
  }
  return answer;
}
