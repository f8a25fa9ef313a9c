// What counts as a rounding difference, per element type. Thresholds per type are IREE's idea (runtime/src/iree/tooling/comparison.cc:
// f16 1e-3, f32 1e-4, bf16 1e-2); here they are relative, to the element or to its neighbourhood (compare.ts).
import type { ElementType } from '../base/index.ts';

/**
 * Allowed difference relative to the larger of the element and the scale of its neighbourhood. Floats of at most 16 bits: two
 * units in the last place, at most half; 0 for integers and for scales (`f8E8M0FNU`).
 */
export function toleranceOf(type: ElementType): number {
  if (type.kind === 'integer') return 0;
  if (type.fraction >= 52) return 1e-10;
  if (type.fraction >= 23) return 1e-4;
  if (type.fraction === 10) return 2e-3;
  if (type.fraction === 7) return 1.6e-2;
  return type.fraction === 0 ? 0 : Math.min(0.5, 2 ** (1 - type.fraction));
}

/** An element has changed beyond rounding when it differs by more than this part of the larger of its two values. */
export const CHANGED_BY = 0.5;

/**
 * The share of elements that may have changed by more than half. Sums that cancel do it by luck: with a rounding error of 1e-5 of
 * the typical sum, 1 element in 12,500 of a normal distribution does.
 */
export const CHANGED_SHARE = 0.001;

/** A neighbourhood is a row when rows have from 16 to 1024 elements. */
export const ROW_LIMITS = [16, 1024] as const;
/** Rows shorter than that are judged together, in blocks of about this many elements. */
export const SHORT_ROWS_BLOCK = 64;
/** Without a shape. */
export const PLAIN_BLOCK = 256;

/** A smallest positive number of a float type: what its lowest code reads as. */
export function quantumOf(type: ElementType): number {
  const bytes = new Uint8Array(16);
  bytes[0] = 1;
  return type.read(new DataView(bytes.buffer), 0);
}
