// Comparing two runs' buffers: exact, and with a tolerance that fits the element type. The idea of thresholds per type is
// IREE's (runtime/src/iree/tooling/comparison.cc: f16 1e-3, f32 1e-4, bf16 1e-2); here they scale with the values.
import { WavesmithError } from '../base/index.ts';

/** How one element type is read, filled and judged. */
export interface ElementType {
  readonly name: string;
  readonly bytes: number;
  /** Allowed difference relative to the larger of the element and the buffer's root mean square; 0 for integers. */
  readonly tolerance: number;
  read(view: DataView, offset: number): number;
  write(view: DataView, offset: number, value: number): void;
  readonly integer: boolean;
}

/** A binary float of at most 16 bits. `bias` and `kind` as in MLIR's builtin float types. */
function smallFloat(
  name: string,
  bits: 8 | 16,
  exponentBits: number,
  bias: number,
  kind: 'ieee' | 'fn' | 'fnuz',
  tolerance: number,
): ElementType {
  const mantissaBits = bits - 1 - exponentBits;
  const signBit = 1 << (bits - 1);
  const topExponent = (1 << exponentBits) - 1;
  const decode = (code: number): number => {
    const sign = code & signBit ? -1 : 1;
    const exponent = (code >> mantissaBits) & topExponent;
    const mantissa = code & ((1 << mantissaBits) - 1);
    if (kind === 'fnuz' && code === signBit) return Number.NaN;
    if (kind === 'ieee' && exponent === topExponent)
      return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    if (kind === 'fn' && exponent === topExponent && mantissa === (1 << mantissaBits) - 1) return Number.NaN;
    const scale = 2 ** ((exponent === 0 ? 1 : exponent) - bias - mantissaBits);
    return sign * (exponent === 0 ? mantissa : mantissa + (1 << mantissaBits)) * scale;
  };
  /** Truncation towards zero; only used to make inputs, where which nearby value is chosen does not matter. */
  const encode = (value: number): number => {
    const sign = value < 0 ? signBit : 0;
    const size = Math.abs(value);
    if (size === 0) return 0;
    const exponent = Math.max(Math.floor(Math.log2(size)), 1 - bias);
    const mantissa = Math.floor((size / 2 ** exponent) * (1 << mantissaBits));
    if (mantissa === 0) return 0;
    const field = mantissa < 1 << mantissaBits ? 0 : exponent + bias;
    return sign | (field << mantissaBits) | (mantissa & ((1 << mantissaBits) - 1));
  };
  return {
    name,
    bytes: bits / 8,
    tolerance,
    integer: false,
    read: (view, offset) => decode(bits === 8 ? view.getUint8(offset) : view.getUint16(offset, true)),
    write: (view, offset, value) =>
      bits === 8 ? view.setUint8(offset, encode(value)) : view.setUint16(offset, encode(value), true),
  };
}

function integer(name: string, bits: 8 | 16 | 32 | 64): ElementType {
  return {
    name,
    bytes: bits / 8,
    tolerance: 0,
    integer: true,
    read: (view, offset) =>
      bits === 8
        ? view.getInt8(offset)
        : bits === 16
          ? view.getInt16(offset, true)
          : bits === 32
            ? view.getInt32(offset, true)
            : Number(view.getBigInt64(offset, true)),
    write: (view, offset, value) => {
      if (bits === 8) view.setInt8(offset, value);
      else if (bits === 16) view.setInt16(offset, value, true);
      else if (bits === 32) view.setInt32(offset, value, true);
      else view.setBigInt64(offset, BigInt(value), true);
    },
  };
}

const F32: ElementType = {
  name: 'f32',
  bytes: 4,
  tolerance: 1e-4,
  integer: false,
  read: (view, offset) => view.getFloat32(offset, true),
  write: (view, offset, value) => view.setFloat32(offset, value, true),
};
const F64: ElementType = {
  name: 'f64',
  bytes: 8,
  tolerance: 1e-10,
  integer: false,
  read: (view, offset) => view.getFloat64(offset, true),
  write: (view, offset, value) => view.setFloat64(offset, value, true),
};

/** Tolerances of the small floats are two units in the last place. */
const TYPES: readonly ElementType[] = [
  smallFloat('f16', 16, 5, 15, 'ieee', 2e-3),
  smallFloat('bf16', 16, 8, 127, 'ieee', 1.6e-2),
  F32,
  F64,
  smallFloat('f8E4M3FNUZ', 8, 4, 8, 'fnuz', 0.25),
  smallFloat('f8E5M2FNUZ', 8, 5, 16, 'fnuz', 0.5),
  smallFloat('f8E4M3FN', 8, 4, 7, 'fn', 0.25),
  smallFloat('f8E5M2', 8, 5, 15, 'ieee', 0.5),
  integer('i8', 8),
  integer('i16', 16),
  integer('i32', 32),
  integer('i64', 64),
];
const BY_NAME = new Map(TYPES.map((type) => [type.name, type]));

/** The element types by MLIR name; `i1` is stored as bytes, `index` as 64 bits, narrow types as the bytes they fill. */
export function elementType(name: string): ElementType {
  const stored = name === 'i1' || name === 'i4' || name === 'f4E2M1FN' ? 'i8' : name === 'index' ? 'i64' : name;
  const type = BY_NAME.get(stored.replace(/^[su]i/, 'i'));
  if (type === undefined) {
    throw new WavesmithError('hijack/element-type', `There is no element type '${name}'.`, {
      hint: `Known are ${[...BY_NAME.keys()].join(', ')}, i1 and index.`,
    });
  }
  return type;
}

/** A small fast generator (xorshift32 with a mixed seed), the same on every machine. */
export function randomSource(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  return next;
}

/**
 * Fills bytes with seeded values: floats uniform in [-1, 1), integers 0…7 (they may be used as indices), i1 0 or 1.
 */
export function fillRandom(bytes: Uint8Array, typeName: string, random: () => number): void {
  const type = elementType(typeName);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const range = typeName === 'i1' ? 2 : 8;
  for (let offset = 0; offset + type.bytes <= bytes.length; offset += type.bytes) {
    type.write(view, offset, type.integer ? Math.floor(random() * range) : random() * 2 - 1);
  }
}

/** Result of comparing one buffer. */
export interface Comparison {
  readonly elementType: string;
  readonly elements: number;
  /** Elements that are not the same bits. */
  readonly different: number;
  /** Elements outside the tolerance. */
  readonly outside: number;
  readonly tolerance: number;
  /** Largest |baseline − modified| and that relative to the tolerance's scale. */
  readonly maxAbsolute: number;
  readonly maxRelative: number;
  /** The first element outside the tolerance, else the first different one. */
  readonly first: { readonly index: number; readonly baseline: number; readonly modified: number } | null;
}

/**
 * Compares element by element. The scale of an element's tolerance is the larger of its magnitude and the baseline's root
 * mean square: sums that cancel are judged by the size of what was summed. NaN equals NaN; infinities equal by sign.
 */
export function compareBuffers(
  baseline: Uint8Array,
  modified: Uint8Array,
  typeName: string,
  tolerance = elementType(typeName).tolerance,
): Comparison {
  const type = elementType(typeName);
  if (baseline.length !== modified.length) {
    throw new WavesmithError(
      'hijack/compare-size',
      `Buffers of ${baseline.length} and ${modified.length} bytes cannot be compared.`,
    );
  }
  const a = new DataView(baseline.buffer, baseline.byteOffset, baseline.byteLength);
  const b = new DataView(modified.buffer, modified.byteOffset, modified.byteLength);
  const elements = Math.floor(baseline.length / type.bytes);
  let squares = 0;
  let finite = 0;
  for (let i = 0; i < elements; i++) {
    const value = type.read(a, i * type.bytes);
    if (!Number.isFinite(value)) continue;
    squares += value * value;
    finite++;
  }
  const rms = finite === 0 ? 0 : Math.sqrt(squares / finite);

  let different = 0;
  let outside = 0;
  let maxAbsolute = 0;
  let maxRelative = 0;
  let firstDifferent = -1;
  let firstOutside = -1;
  for (let i = 0; i < elements; i++) {
    const at = i * type.bytes;
    if (sameBytes(baseline, modified, at, type.bytes)) continue;
    different++;
    if (firstDifferent < 0) firstDifferent = i;
    const x = type.read(a, at);
    const y = type.read(b, at);
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    const distance = Math.abs(x - y);
    const scale = Math.max(Math.abs(x), rms);
    const relative = Number.isFinite(distance) ? distance / (scale === 0 ? Number.MIN_VALUE : scale) : Infinity;
    maxAbsolute = Math.max(maxAbsolute, Number.isNaN(distance) ? Infinity : distance);
    maxRelative = Math.max(maxRelative, relative);
    if (relative <= tolerance) continue;
    outside++;
    if (firstOutside < 0) firstOutside = i;
  }
  const index = firstOutside >= 0 ? firstOutside : firstDifferent;
  return {
    elementType: typeName,
    elements,
    different,
    outside,
    tolerance,
    maxAbsolute,
    maxRelative,
    first:
      index < 0
        ? null
        : { index, baseline: type.read(a, index * type.bytes), modified: type.read(b, index * type.bytes) },
  };
}

function sameBytes(a: Uint8Array, b: Uint8Array, at: number, size: number): boolean {
  for (let k = 0; k < size; k++) if (a[at + k] !== b[at + k]) return false;
  return true;
}
