// Element values for the direct evaluation: rounding to each type as `base/elements` writes it, and `erf`, which JavaScript lacks.
import { elementType } from '../../base/index.ts';
import type { Element } from '../lower/types.ts';

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The nearest whole number, ties to even. */
export function roundToEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/** The largest finite value of each 8-bit float: they saturate. */
const LARGEST: Partial<Record<Element, number>> = { f8E4M3FN: 448, f8E4M3FNUZ: 240, f8E5M2: 57344, f8E5M2FNUZ: 57344 };
const cell = new DataView(new ArrayBuffer(8));

/** A value as the element type holds it: floats round to nearest (8-bit floats saturate), integers keep their low bits, exponents are cut off. */
export function roundTo(element: Element, value: number): number {
  if (element === 'f8E8M0FNU') return exponentAlone(value);
  const type = elementType(element);
  const largest = LARGEST[element];
  type.write(cell, 0, largest === undefined ? value : Math.min(Math.max(value, -largest), largest));
  return type.read(cell, 0);
}

/** The power of two of an f32's exponent field: fraction and sign are cut off. */
function exponentAlone(value: number): number {
  if (!Number.isFinite(value)) return Number.NaN;
  cell.setFloat32(0, value);
  const field = (cell.getUint32(0) >>> 23) & 255;
  return field === 255 ? Number.NaN : 2 ** (field - 127);
}

/** The lowest and highest value of an integer type. */
export function integerRange(element: Element): readonly [number, number] {
  const { bits, isSigned } = elementType(element);
  return isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

/** Element `index` of a buffer. */
export function readElement(bytes: Uint8Array, element: Element, index: number): number {
  return elementType(element).read(viewOf(bytes), index);
}

/** Writes element `index` of a buffer; the value is rounded to the type. */
export function writeElement(bytes: Uint8Array, element: Element, index: number, value: number): void {
  elementType(element).write(viewOf(bytes), index, roundTo(element, value));
}

/** The value that a hexadecimal literal's bits mean. */
export function valueOfBits(element: Element, bits: bigint): number {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, bits), true);
  return readElement(bytes, element, 0);
}

/** The Gauss error function: its series near zero, a continued fraction of its complement elsewhere. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let [term, sum] = [x, x];
    for (let n = 1; n < 100; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-x * x) / Math.sqrt(Math.PI) / (size + fraction));
}
