// NumPy .npy files: reading versions 1–3, writing version 1. Source: numpy.lib.format documentation (NEP 1).
// The header is a Python dictionary literal; only the three keys the format defines are accepted, with strict values.
import { ByteReader, type ElementName, elementType, inFile, WavesmithError } from '../base/index.ts';

/**
 * How each element type is written. Types that NumPy lacks are written as unsigned integers of their size, and read where the
 * caller says so.
 */
const DESCRIPTORS = {
  f16: '<f2',
  bf16: '<u2',
  f32: '<f4',
  f64: '<f8',
  f8E4M3FNUZ: '|u1',
  f8E5M2FNUZ: '|u1',
  f8E4M3FN: '|u1',
  f8E5M2: '|u1',
  i8: '|i1',
  u8: '|u1',
  i16: '<i2',
  u16: '<u2',
  i32: '<i4',
  u32: '<u4',
  i64: '<i8',
  u64: '<u8',
  bool: '|b1',
  'complex<f32>': '<c8',
  'complex<f64>': '<c16',
} as const satisfies Partial<Record<ElementName, string>>;

/** An element type that `.npy` files can hold. */
export type NpyType = keyof typeof DESCRIPTORS;
export const NPY_TYPES = Object.keys(DESCRIPTORS) as NpyType[];

/** True for the name of a type that `.npy` files can hold. */
export function isNpyType(name: string): name is NpyType {
  return Object.hasOwn(DESCRIPTORS, name);
}

/** True when a file of type `stored` can be read as `type`: the same, or the integer that stands for it. */
export function canReadAs(stored: NpyType, type: NpyType): boolean {
  return stored === type || KINDS[DESCRIPTORS[type].slice(1)] === stored;
}

/** Bytes of one element. */
export function npyElementBytes(type: NpyType): number {
  return elementType(type).storageBits / 8;
}

/** `V2` is how ml_dtypes stores bf16, `V1` and `f1` its 8-bit floats. */
const KINDS: Readonly<Record<string, NpyType>> = {
  f2: 'f16',
  f4: 'f32',
  f8: 'f64',
  i1: 'i8',
  u1: 'u8',
  i2: 'i16',
  u2: 'u16',
  i4: 'i32',
  u4: 'u32',
  i8: 'i64',
  u8: 'u64',
  b1: 'bool',
  V2: 'bf16',
  V1: 'u8',
  f1: 'u8',
  c8: 'complex<f32>',
  c16: 'complex<f64>',
};

/** An array as stored: little-endian elements in C order. */
export interface NpyArray {
  readonly type: NpyType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const MAX_HEADER = 65_536;
const MAX_DIMENSIONS = 32;

function bad(message: string, byteOffset: number): WavesmithError {
  return new WavesmithError('npy/bad-file', message, { byteOffset, hint: 'Write the array with numpy.save.' });
}

/** Number of elements of a shape; a product that is not a safe integer is `npy/bad-file`. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const n of shape) {
    count *= n;
    if (!Number.isSafeInteger(count)) throw bad(`The shape (${shape.join(', ')}) has too many elements.`, 0);
  }
  return count;
}

/** Reads a .npy file. Data in Fortran order or big-endian is converted. Errors name the file `name`. */
export function readNpy(file: Uint8Array, name?: string): NpyArray {
  return name === undefined ? parseNpy(file) : inFile(name, () => parseNpy(file));
}

function parseNpy(file: Uint8Array): NpyArray {
  const reader = new ByteReader(file, 'npy file', 'npy/truncated');
  if (MAGIC.some((byte, i) => reader.u8(i) !== byte)) throw bad('The file does not start with the npy magic.', 0);
  const major = reader.u8(6);
  if (major < 1 || major > 3) throw bad(`Version ${major} of the npy format is not known.`, 6);
  const start = major === 1 ? 10 : 12;
  const length = major === 1 ? reader.u16(8) : reader.u32(8);
  if (length > MAX_HEADER) throw bad(`The npy header claims ${length} bytes.`, 8);
  const header = parseHeader(reader.text(start, length), start);
  const { type, bigEndian } = elementTypeOf(header.descr, start);
  const size = npyElementBytes(type);
  const count = elementCount(header.shape);
  const stored = reader.slice(start + length, count * size);
  const bytes = header.fortran && header.shape.length > 1 ? fromFortran(stored, header.shape, size) : stored.slice();
  if (bigEndian) swapBytes(bytes, size / elementType(type).numbers);
  return { type, shape: header.shape, bytes };
}

function elementTypeOf(descr: string, byteOffset: number): { type: NpyType; bigEndian: boolean } {
  const type = /^[<>|=]/.test(descr) ? KINDS[descr.slice(1)] : undefined;
  if (type === undefined) throw bad(`The npy element type '${descr}' is not supported.`, byteOffset);
  return { type, bigEndian: descr[0] === '>' };
}

function swapBytes(bytes: Uint8Array, size: number): void {
  for (let at = 0; at + size <= bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** Column-major bytes as row-major ones. */
function fromFortran(bytes: Uint8Array, shape: readonly number[], size: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const count = bytes.length / size;
  const index = shape.map(() => 0);
  for (let to = 0; to < count; to++) {
    let from = 0;
    for (let d = shape.length - 1; d >= 0; d--) from = from * (shape[d] as number) + (index[d] as number);
    out.set(bytes.subarray(from * size, from * size + size), to * size);
    for (let d = shape.length - 1; d >= 0; d--) {
      const next = (index[d] as number) + 1;
      index[d] = next === shape[d] ? 0 : next;
      if (index[d] !== 0) break;
    }
  }
  return out;
}

interface Header {
  readonly descr: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
}

/** Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. */
function parseHeader(text: string, byteOffset: number): Header {
  const body = /^\s*\{([\s\S]*)\}\s*$/.exec(text)?.[1];
  if (body === undefined) throw bad('The npy header is not a dictionary.', byteOffset);
  const entry =
    /\s*(?:'(descr|fortran_order|shape)'|"(descr|fortran_order|shape)")\s*:\s*(?:'([^']*)'|"([^"]*)"|(True|False)|\(([\d\s,]*)\))\s*(?:,|$)\s*/y;
  const found = new Map<string, string>();
  while (entry.lastIndex < body.length) {
    const at = entry.lastIndex;
    const match = entry.exec(body);
    if (match === null) throw bad(`The npy header is damaged near '${body.slice(at, at + 20)}'.`, byteOffset);
    const key = (match[1] ?? match[2]) as string;
    const kind = match[6] !== undefined ? 'shape' : match[5] !== undefined ? 'fortran_order' : 'descr';
    if (kind !== key || found.has(key)) throw bad(`The npy header's '${key}' is damaged.`, byteOffset);
    found.set(key, match[3] ?? match[4] ?? match[5] ?? match[6] ?? '');
  }
  const [descr, fortran, shape] = ['descr', 'fortran_order', 'shape'].map((key) => found.get(key));
  if (descr === undefined || fortran === undefined || shape === undefined) {
    throw bad("The npy header lacks 'descr', 'fortran_order' or 'shape'.", byteOffset);
  }
  return { descr, fortran: fortran === 'True', shape: parseShape(shape, byteOffset) };
}

function parseShape(text: string, byteOffset: number): number[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  if (parts.length > MAX_DIMENSIONS || parts.some((part) => !/^\d{1,15}$/.test(part))) {
    throw bad(`The npy shape (${text.slice(0, 60)}) is damaged.`, byteOffset);
  }
  return parts.map(Number);
}

/** Writes an array as .npy version 1 (C order, little-endian). */
export function writeNpy(array: NpyArray): Uint8Array {
  const { type, shape, bytes } = array;
  if (elementCount(shape) * npyElementBytes(type) !== bytes.length) {
    throw new WavesmithError(
      'npy/size',
      `${bytes.length} bytes are not an array of shape (${shape.join(', ')}) of ${type}.`,
    );
  }
  const shapeText = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const dictionary = `{'descr': '${DESCRIPTORS[type]}', 'fortran_order': False, 'shape': (${shapeText}), }`;
  const used = 10 + dictionary.length + 1;
  const total = Math.ceil(used / 64) * 64;
  const out = new Uint8Array(total + bytes.length);
  out.set([...MAGIC, 1, 0, (total - 10) & 255, (total - 10) >> 8]);
  out.set(new TextEncoder().encode(`${dictionary}${' '.repeat(total - used)}\n`), 10);
  out.set(bytes, total);
  return out;
}
