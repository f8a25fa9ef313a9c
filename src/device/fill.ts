// Filling buffers with values: one encoder for every element type, and the named fills of `wavesmith run`.
import { BF16, decodeSmall, encodeSmall, F16 } from '../isa/semantics/formats.ts';
import { ELEMENT_BYTES, type ElementType } from './npy.ts';

/** Writes element `index` of an array of `type`. 64-bit integers may be given as bigint. */
export function putElement(view: DataView, type: ElementType, index: number, value: number | bigint): void {
  const at = index * ELEMENT_BYTES[type];
  const n = Number(value);
  switch (type) {
    case 'f16':
      view.setUint16(at, encodeSmall(F16, n), true);
      break;
    case 'bf16':
      view.setUint16(at, encodeSmall(BF16, n), true);
      break;
    case 'f32':
      view.setFloat32(at, n, true);
      break;
    case 'f64':
      view.setFloat64(at, n, true);
      break;
    case 'i64':
    case 'u64':
      view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
      break;
    case 'bool':
      view.setUint8(at, n === 0 ? 0 : 1);
      break;
    default:
      if (ELEMENT_BYTES[type] === 1) view.setUint8(at, n);
      else if (ELEMENT_BYTES[type] === 2) view.setUint16(at, n, true);
      else view.setUint32(at, n, true);
  }
}

/** Reads element `index`. */
export function getElement(view: DataView, type: ElementType, index: number): number | bigint {
  const at = index * ELEMENT_BYTES[type];
  switch (type) {
    case 'f16':
      return decodeSmall(F16, view.getUint16(at, true));
    case 'bf16':
      return decodeSmall(BF16, view.getUint16(at, true));
    case 'f32':
      return view.getFloat32(at, true);
    case 'f64':
      return view.getFloat64(at, true);
    case 'i8':
      return view.getInt8(at);
    case 'i16':
      return view.getInt16(at, true);
    case 'u16':
      return view.getUint16(at, true);
    case 'i32':
      return view.getInt32(at, true);
    case 'u32':
      return view.getUint32(at, true);
    case 'i64':
      return view.getBigInt64(at, true);
    case 'u64':
      return view.getBigUint64(at, true);
    default:
      return view.getUint8(at);
  }
}

/** What to put into a buffer. Random floats are uniform in [-1, 1), random integers in 0 … 99, random bools 0 or 1. */
export type Fill =
  | { readonly kind: 'zeros' }
  | { readonly kind: 'iota' }
  | { readonly kind: 'random'; readonly seed: number }
  | { readonly kind: 'value'; readonly value: number | bigint };

/** A seeded generator of numbers in [0, 1) (xorshift32 after mixing the seed). */
export function randomNumbers(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  if (state === 0) state = 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let n = 0; n < 8; n++) next();
  return next;
}

/** The bytes of `count` elements. */
export function fillElements(type: ElementType, count: number, fill: Fill): Uint8Array {
  const bytes = new Uint8Array(count * ELEMENT_BYTES[type]);
  if (fill.kind === 'zeros') return bytes;
  const view = new DataView(bytes.buffer);
  const random = randomNumbers(fill.kind === 'random' ? fill.seed : 0);
  const isFloat = type.includes('f');
  const range = type === 'bool' ? 2 : 100;
  for (let n = 0; n < count; n++) {
    let value: number | bigint;
    if (fill.kind === 'iota') value = n;
    else if (fill.kind === 'value') value = fill.value;
    else value = isFloat ? random() * 2 - 1 : Math.floor(random() * range);
    putElement(view, type, n, value);
  }
  return bytes;
}
