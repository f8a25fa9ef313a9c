// Filling arrays with values: seeded inputs, and the named fills of `wavesmith run`.
import { randomNumbers } from './random.ts';
import { bytesOfElements, type ElementType, elementType } from './types.ts';

/** Writes number `index` of an array. 64-bit integers may be given as bigint. */
export function putElement(view: DataView, type: string, index: number, value: number | bigint): void {
  elementType(type).write(view, index, value);
}

/** Reads number `index` of an array without loss. */
export function getElement(view: DataView, type: string, index: number): number | bigint {
  return elementType(type).exact(view, index);
}

/** What to put into a buffer. Random floats are uniform in [-1, 1), random integers in 0 … 99, random bools 0 or 1. */
export type Fill =
  | { readonly kind: 'zeros' }
  | { readonly kind: 'iota' }
  | { readonly kind: 'random'; readonly seed: number }
  | { readonly kind: 'value'; readonly value: number | bigint };

/** The bytes of `count` elements. Parts of complex elements are filled one after the other. */
export function fillElements(name: string, count: number, fill: Fill): Uint8Array<ArrayBuffer> {
  const type = elementType(name);
  const bytes = new Uint8Array(bytesOfElements(type, count));
  if (fill.kind === 'zeros') return bytes;
  if (fill.kind === 'random') {
    fillRandom(bytes, type, randomNumbers(fill.seed), integersBelow(type, 100));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < count * type.numbers; n++) type.write(view, n, fill.kind === 'iota' ? n : fill.value);
  return bytes;
}

/** Whole numbers from `low` to `high`, both included. */
export interface IntegerRange {
  readonly low: number;
  readonly high: number;
}

function largestOf(type: ElementType): number {
  return type.bits === 1 ? 1 : 2 ** (type.bits - (type.isSigned ? 1 : 0)) - 1;
}

/** 0 … count − 1, or as far as the type goes. */
function integersBelow(type: ElementType, count: number): IntegerRange {
  return { low: 0, high: Math.min(count - 1, largestOf(type)) };
}

/**
 * Integers that a kernel whose purpose is unknown can take: every value of types up to 16 bits, so that a mistaken sign shows,
 * and 0 … 7 of wider ones, which may be indices.
 */
export function plausibleIntegers(type: ElementType): IntegerRange {
  if (type.bits > 16) return { low: 0, high: 7 };
  const high = largestOf(type);
  return { low: type.isSigned ? -high - 1 : 0, high };
}

/**
 * Fills bytes with seeded elements, as many as fit: floats uniform in [-1, 1); floats of at most 6 bits any value; scales
 * (`f8E8M0FNU`) 1/4 … 2; integers in `range`.
 */
export function fillRandom(
  bytes: Uint8Array,
  type: ElementType,
  random: () => number,
  range = plausibleIntegers(type),
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = Math.floor((8 * bytes.length) / type.storageBits) * type.numbers;
  const count = range.high - range.low + 1;
  for (let n = 0; n < numbers; n++) type.write(view, n, randomValue(type, random, range.low, count));
}

function randomValue(type: ElementType, random: () => number, low: number, count: number): number {
  if (type.kind === 'integer') return low + Math.floor(random() * count);
  if (!type.isSigned) return 2 ** (Math.floor(random() * 4) - 2);
  if (type.bits > 6) return random() * 2 - 1;
  const sign = random() < 0.5 ? -1 : 1;
  return sign * (SMALLEST_MAGNITUDES[Math.floor(random() * SMALLEST_MAGNITUDES.length)] as number);
}

/** The magnitudes of `f4E2M1FN`, which the 6-bit floats hold too. */
const SMALLEST_MAGNITUDES = [0, 0.5, 1, 1.5, 2, 3, 4, 6] as const;
