// Tensor types of kernels: `tensor<…>` and MIGraphX's `!migraphx.shaped<…>` with strides, their element types and memory layout.
// Source: rocMLIR's MIGraphXTypes.td (shape, strides, element type; stride 0 is a broadcast dimension).
import { mlirError } from '../../mlir/lex.ts';
import type { Document } from '../../mlir/parse.ts';

/** What an element is, how many bits it takes in memory, and the MLIR type that carries it inside the lowered code. */
interface ElementFacts {
  readonly kind: 'float' | 'signed' | 'unsigned';
  /** Elements of fewer than 8 bits lie two in a byte, the first in the low half. */
  readonly bits: number;
  readonly carrier: string;
}

const float = (bits: number, carrier: string): ElementFacts => ({ kind: 'float', bits, carrier });
const signed = (bits: number, carrier = `i${bits}`): ElementFacts => ({ kind: 'signed', bits, carrier });
const unsigned = (bits: number, carrier = `i${bits}`): ElementFacts => ({ kind: 'unsigned', bits, carrier });

/** The element types that are lowered. MLIR's arithmetic has integers without a sign: `ui8` is carried as `i8`. */
export const ELEMENTS = {
  f64: float(64, 'f64'),
  f32: float(32, 'f32'),
  f16: float(16, 'f16'),
  bf16: float(16, 'bf16'),
  f8E4M3FN: float(8, 'f8E4M3FN'),
  f8E5M2: float(8, 'f8E5M2'),
  f8E4M3FNUZ: float(8, 'f8E4M3FNUZ'),
  f8E5M2FNUZ: float(8, 'f8E5M2FNUZ'),
  // Exponents alone: carried as they lie in memory, since IREE 3.13 made NaN of them on the GPU.
  f8E8M0FNU: float(8, 'i8'),
  // Every value of it is an f16; IREE's runtime has no such buffers.
  f4E2M1FN: float(4, 'f16'),
  i1: unsigned(8, 'i1'),
  i4: signed(4, 'i8'),
  i8: signed(8),
  i16: signed(16),
  i32: signed(32),
  i64: signed(64),
  ui4: unsigned(4, 'i8'),
  ui8: unsigned(8),
  ui16: unsigned(16),
  ui32: unsigned(32),
  ui64: unsigned(64),
} as const satisfies Readonly<Record<string, ElementFacts>>;

export type Element = keyof typeof ELEMENTS;

export const isFloat = (element: Element): boolean => ELEMENTS[element].kind === 'float';
export const isUnsigned = (element: Element): boolean => ELEMENTS[element].kind === 'unsigned';
/** True when two elements share a byte. */
export const isPacked = (element: Element): boolean => ELEMENTS[element].bits < 8;
/** A scalar of the lowered code. */
export type ScalarType = Element | 'index';
/** The type that carries an element in the lowered code. */
export const carrierOf = (element: ScalarType): string => (element === 'index' ? 'index' : ELEMENTS[element].carrier);
/** Bits of the type that carries an integer. */
export const carrierBits = (element: Element): number => (element === 'i1' ? 1 : Math.max(8, ELEMENTS[element].bits));

/** Bytes that a dense tensor takes in memory. */
export const bytesOf = (shape: readonly number[], element: Element): number =>
  (elementsOf(shape) * ELEMENTS[element].bits) / 8;

/** A tensor value's type. */
export interface TensorType {
  readonly element: Element;
  readonly shape: readonly number[];
  /** Only of `!migraphx.shaped`: elements between neighbours of each dimension. */
  readonly strides: readonly number[] | undefined;
}

const MAX_RANK = 12;
const MAX_ELEMENTS = 2 ** 31;

export const elementsOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** `tensor<2x3xf32>`, of the type that carries the element. */
export function tensorText(shape: readonly number[], element: Element): string {
  return `tensor<${shape.map((size) => `${size}x`).join('')}${carrierOf(element)}>`;
}

/** `2x3xui8`, for messages. */
export const shapeText = (shape: readonly number[], element: Element): string => [...shape, element].join('x');

/** Row-major strides. */
export function standardStrides(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1);
  for (let d = shape.length - 2; d >= 0; d--) strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/** Parses a type's text; `offset` is where it stands, for errors. Dynamic and unranked shapes are refused by name. */
export function parseTensorType(document: Document, text: string, offset: number): TensorType {
  const compact = text.replaceAll(/\s/g, '');
  const bad = (code: string, message: string, hint: string) => mlirError(document, offset, code, message, hint);
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  if (/[<x]\?x/.test(compact) || compact.includes('<*x')) {
    throw bad(
      'rocmlir/dynamic-shape',
      `The shape of ${shown} is not known at compile time.`,
      'rocMLIR kernels have static shapes: give every dimension a number.',
    );
  }
  const match = /^(?:(tensor)|!migraphx\.shaped)?<((?:\d{1,10}x)*)([a-zA-Z]\w*)(?:,((?:\d{1,12}x)*\d{1,12}))?>$/.exec(
    compact,
  );
  if (match === null || (match[1] === 'tensor' && match[4] !== undefined)) {
    throw bad(
      'rocmlir/type',
      `'${shown}' is no tensor type that can be lowered.`,
      'Use tensor<…> or !migraphx.shaped<…>.',
    );
  }
  const element = match[3].replace(/^si/, 'i');
  if (!Object.hasOwn(ELEMENTS, element)) {
    throw bad(
      'rocmlir/element-type',
      `Elements of type ${match[3]} are not supported.`,
      `Supported are ${Object.keys(ELEMENTS).join(', ')}.`,
    );
  }
  const shape = match[2]
    .split('x')
    .filter((part) => part !== '')
    .map(Number);
  const strides = match[4]?.split('x').map(Number);
  const isScalar = strides?.length === 1 && shape.length === 0;
  if (shape.length > MAX_RANK || elementsOf(shape) > MAX_ELEMENTS || shape.includes(0)) {
    throw bad(
      'rocmlir/type',
      `The shape of ${shown} is not supported.`,
      `At most ${MAX_RANK} dimensions, none of them 0.`,
    );
  }
  if (strides !== undefined && strides.length !== shape.length && !isScalar) {
    throw bad(
      'rocmlir/type',
      `${shown} has ${shape.length} dimensions but ${strides.length} strides.`,
      'Give one stride a dimension.',
    );
  }
  return { element: element as Element, shape, strides: isScalar ? undefined : strides };
}

/** How a logical shape lies in memory: a dense tensor, which part of it, and which of its dimensions each logical one is. */
export interface MemoryLayout {
  /** The dense tensor in memory. */
  readonly shape: readonly number[];
  /** What of it belongs to the value (equal to `shape` unless rows are padded). */
  readonly used: readonly number[];
  /** Per logical dimension: the dimension of `shape`, or null where the value repeats (or the size is 1). */
  readonly map: readonly (number | null)[];
}

/** The memory layout of a type; undefined when the strides form no padded, permuted rectangle. */
export function memoryLayout(type: TensorType): MemoryLayout | undefined {
  const { shape, strides } = type;
  const standard = standardStrides(shape);
  if (strides === undefined || strides.every((stride, d) => stride === standard[d] || shape[d] === 1)) {
    return { shape, used: shape, map: shape.map((_, d) => d) };
  }
  const kept = shape.map((_, d) => d).filter((d) => strides[d] !== 0 && shape[d] !== 1);
  kept.sort((a, b) => strides[b] - strides[a] || a - b);
  const memory: number[] = [];
  for (let at = 0; at < kept.length; at++) {
    // The size in memory of all but the outermost dimension is told by the next outer stride.
    const outer = at === 0 ? undefined : strides[kept[at - 1]];
    const size = outer === undefined ? shape[kept[at]] : outer / strides[kept[at]];
    if (!Number.isInteger(size) || size < shape[kept[at]]) return undefined;
    memory.push(size);
  }
  // A last stride above 1 is a dimension of its own, of which the first element is used.
  const innermost = kept.length === 0 ? 1 : strides[kept[kept.length - 1]];
  if (innermost > 1) memory.push(innermost);
  const used = kept.map((d) => shape[d]);
  if (innermost > 1) used.push(1);
  return { shape: memory, used, map: shape.map((_, d) => (kept.includes(d) ? kept.indexOf(d) : null)) };
}
