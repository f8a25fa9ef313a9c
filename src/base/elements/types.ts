// What an element of an array is: its name, how many bits it has, how it is read and written. One description for `.npy` files,
// `wavesmith run`, MLIR tensors and every comparison. Names are MLIR's builtin types (`f16`, `f8E4M3FNUZ`, `i32`, `complex<f32>`);
// unsigned integers are `u8` … `u64`. Widths below a byte lie as IREE packs them: powers of two densely, element 0 in the lowest
// bits, all others (and `i1`) in a byte each. Sources: MLIR BuiltinTypes.td; iree/compiler/Utils/ElementPackingUtils.cpp.
import { WavesmithError } from '../error.ts';
import {
  BF6,
  BF8_FNUZ,
  BF8_OCP,
  BF16,
  decodeSmall,
  encodeSmall,
  F16,
  FP4,
  FP6,
  FP8_FNUZ,
  FP8_OCP,
  pow2,
  type SmallFormat,
} from './formats.ts';

/** One type of array elements. Little-endian. */
export interface ElementType {
  readonly name: string;
  readonly kind: 'float' | 'integer' | 'complex';
  /** Bits of an element that carry its value. */
  readonly bits: number;
  /** Bits from one element to the next. */
  readonly storageBits: number;
  readonly isSigned: boolean;
  /** Fraction bits of a float (or of a complex element's parts), 0 for integers. */
  readonly fraction: number;
  /** Numbers in an element: 2 for complex types (real part first), else 1. `read`, `exact` and `write` count NUMBERS. */
  readonly numbers: 1 | 2;
  /** Number `index` of the array as the nearest double. */
  read(view: DataView, index: number): number;
  /** Number `index` of the array without loss: a bigint for integers of more than 32 bits. */
  exact(view: DataView, index: number): number | bigint;
  /** Writes number `index`: floats round to nearest even, integers wrap, `i1` and `bool` become 0 or 1. */
  write(view: DataView, index: number, value: number | bigint): void;
}

interface Codes {
  get(view: DataView, index: number): number;
  set(view: DataView, index: number, code: number): void;
}

/** Access to the bit patterns of elements of up to 32 bits. */
function codesOf(storageBits: number): Codes {
  if (storageBits === 32) {
    return { get: (v, i) => v.getUint32(4 * i, true), set: (v, i, code) => v.setUint32(4 * i, code, true) };
  }
  if (storageBits === 16) {
    return { get: (v, i) => v.getUint16(2 * i, true), set: (v, i, code) => v.setUint16(2 * i, code, true) };
  }
  if (storageBits === 8) return { get: (v, i) => v.getUint8(i), set: (v, i, code) => v.setUint8(i, code) };
  const perByte = 8 / storageBits;
  const mask = (1 << storageBits) - 1;
  return {
    get: (v, i) => (v.getUint8(Math.floor(i / perByte)) >> ((i % perByte) * storageBits)) & mask,
    set: (v, i, code) => {
      const at = Math.floor(i / perByte);
      const shift = (i % perByte) * storageBits;
      v.setUint8(at, (v.getUint8(at) & ~(mask << shift)) | ((code & mask) << shift));
    },
  };
}

/** Bits an element of this width takes: dense for 2 and 4, else the next power of two from 8. */
function storageOf(bits: number): number {
  if (bits === 2 || bits === 4) return bits;
  return bits <= 8 ? 8 : 2 ** Math.ceil(Math.log2(bits));
}

function integer(name: string, bits: number, isSigned: boolean): ElementType {
  const storageBits = storageOf(bits);
  const common = { name, kind: 'integer', bits, storageBits, isSigned, fraction: 0, numbers: 1 } as const;
  if (storageBits === 64) {
    const exact = (view: DataView, index: number): bigint =>
      isSigned
        ? BigInt.asIntN(bits, view.getBigInt64(8 * index, true))
        : BigInt.asUintN(bits, view.getBigUint64(8 * index, true));
    return {
      ...common,
      exact,
      read: (view, index) => Number(exact(view, index)),
      write: (view, index, value) => view.setBigUint64(8 * index, BigInt.asUintN(64, wholeOf(value)), true),
    };
  }
  const { get, set } = codesOf(storageBits);
  const spare = 32 - bits;
  const read = isSigned
    ? (view: DataView, index: number) => (get(view, index) << spare) >> spare
    : (view: DataView, index: number) => (get(view, index) << spare) >>> spare;
  return {
    ...common,
    read,
    exact: read,
    write: (view, index, value) => set(view, index, Number(BigInt.asUintN(bits, wholeOf(value)))),
  };
}

function wholeOf(value: number | bigint): bigint {
  return typeof value === 'bigint' ? value : Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

/** A truth value in a byte of its own; reading gives the byte. */
function truth(name: string): ElementType {
  const read = (view: DataView, index: number): number => view.getUint8(index);
  return {
    name,
    kind: 'integer',
    bits: 1,
    storageBits: 8,
    isSigned: false,
    fraction: 0,
    numbers: 1,
    read,
    exact: read,
    write: (view, index, value) => view.setUint8(index, Number(value) === 0 ? 0 : 1),
  };
}

function smallFloat(name: string, format: SmallFormat): ElementType {
  const { get, set } = codesOf(storageOf(format.bits));
  const values = Float64Array.from({ length: 2 ** Math.min(format.bits, 8) }, (_, code) => decodeSmall(format, code));
  const read =
    format.bits > 8
      ? (view: DataView, index: number) => decodeSmall(format, get(view, index))
      : (view: DataView, index: number) => values[get(view, index) & (values.length - 1)] as number;
  return {
    name,
    kind: 'float',
    bits: format.bits,
    storageBits: storageOf(format.bits),
    isSigned: true,
    fraction: format.fraction,
    numbers: 1,
    read,
    exact: read,
    write: (view, index, value) => set(view, index, encodeSmall(format, Number(value))),
  };
}

/** Powers of two from 2^-127 to 2^127, and NaN: the scales of OCP Microscaling Formats 1.0. */
function scaleFloat(name: string): ElementType {
  const read = (view: DataView, index: number): number => {
    const code = view.getUint8(index);
    return code === 255 ? Number.NaN : pow2(code - 127);
  };
  return {
    name,
    kind: 'float',
    bits: 8,
    storageBits: 8,
    isSigned: false,
    fraction: 0,
    numbers: 1,
    read,
    exact: read,
    write: (view, index, value) => {
      const x = Number(value);
      const exponent = x > 0 ? Math.round(Math.log2(x)) : x === 0 ? -127 : Number.NaN;
      view.setUint8(index, Number.isNaN(exponent) ? 255 : Math.min(254, Math.max(0, exponent + 127)));
    },
  };
}

const F32: ElementType = {
  name: 'f32',
  kind: 'float',
  bits: 32,
  storageBits: 32,
  isSigned: true,
  fraction: 23,
  numbers: 1,
  read: (view, index) => view.getFloat32(4 * index, true),
  exact: (view, index) => view.getFloat32(4 * index, true),
  write: (view, index, value) => view.setFloat32(4 * index, Number(value), true),
};
const F64: ElementType = {
  name: 'f64',
  kind: 'float',
  bits: 64,
  storageBits: 64,
  isSigned: true,
  fraction: 52,
  numbers: 1,
  read: (view, index) => view.getFloat64(8 * index, true),
  exact: (view, index) => view.getFloat64(8 * index, true),
  write: (view, index, value) => view.setFloat64(8 * index, Number(value), true),
};

function complex(part: ElementType): ElementType {
  const size = { bits: 2 * part.bits, storageBits: 2 * part.storageBits };
  return { ...part, ...size, name: `complex<${part.name}>`, kind: 'complex', numbers: 2 };
}

/** Names that are listed where a type is asked for; integers of other widths (`i2`, `u4`, `i24`) are known too. */
export const ELEMENT_NAMES = [
  'f16',
  'bf16',
  'f32',
  'f64',
  'f8E4M3FNUZ',
  'f8E5M2FNUZ',
  'f8E4M3FN',
  'f8E5M2',
  'f8E4M3',
  'f8E3M4',
  'f8E4M3B11FNUZ',
  'f8E8M0FNU',
  'f6E2M3FN',
  'f6E3M2FN',
  'f4E2M1FN',
  'i1',
  'bool',
  'i4',
  'u4',
  'i8',
  'u8',
  'i16',
  'u16',
  'i32',
  'u32',
  'i64',
  'u64',
  'complex<f32>',
  'complex<f64>',
] as const;
export type ElementName = (typeof ELEMENT_NAMES)[number];

const known = new Map<string, ElementType>(
  [
    smallFloat('f16', F16),
    smallFloat('bf16', BF16),
    F32,
    F64,
    smallFloat('f8E4M3FNUZ', FP8_FNUZ),
    smallFloat('f8E5M2FNUZ', BF8_FNUZ),
    smallFloat('f8E4M3FN', FP8_OCP),
    smallFloat('f8E5M2', BF8_OCP),
    smallFloat('f8E4M3', { bits: 8, fraction: 3, bias: 7, specials: 'ieee' }),
    smallFloat('f8E3M4', { bits: 8, fraction: 4, bias: 3, specials: 'ieee' }),
    smallFloat('f8E4M3B11FNUZ', { bits: 8, fraction: 3, bias: 11, specials: 'fnuz' }),
    scaleFloat('f8E8M0FNU'),
    smallFloat('f6E2M3FN', FP6),
    smallFloat('f6E3M2FN', BF6),
    smallFloat('f4E2M1FN', FP4),
    truth('i1'),
    truth('bool'),
    complex(F32),
    complex(F64),
  ].map((type) => [type.name, type]),
);

/**
 * The element type of a name, undefined when there is none. Also MLIR's signed and unsigned spellings (`si8` is `i8`, `ui8` is
 * `u8`), `index` (64 bits), and integers of any width from 1 to 64.
 */
export function findElementType(name: string): ElementType | undefined {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = makeInteger(name === 'index' ? 'i64' : name);
  if (made !== undefined) known.set(name, made);
  return made;
}

function makeInteger(name: string): ElementType | undefined {
  const match = /^(s?i|ui?)([1-9]\d?)$/.exec(name);
  if (match === null) return undefined;
  const bits = Number(match[2]);
  const isSigned = match[1] !== 'u' && match[1] !== 'ui';
  if (bits > 64) return undefined;
  return bits === 1 ? known.get('i1') : integer(`${isSigned ? 'i' : 'u'}${bits}`, bits, isSigned);
}

/** The element type of a name; an unknown one is `elements/unknown-type`. */
export function elementType(name: string): ElementType {
  const type = findElementType(name);
  if (type !== undefined) return type;
  throw new WavesmithError('elements/unknown-type', `There is no element type '${name}'.`, { hint: KNOWN_TYPES });
}

/** A sentence that lists the element types. */
export const KNOWN_TYPES = `Known are ${ELEMENT_NAMES.join(', ')}, index, and integers of other widths (i2, u6).`;

/** Bytes that `count` elements take; the last byte may have unused bits. */
export function bytesOfElements(type: ElementType, count: number): number {
  return Math.ceil((count * type.storageBits) / 8);
}
