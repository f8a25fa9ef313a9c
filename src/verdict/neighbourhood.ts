// The neighbourhood that a float is judged in: its row, or a block of a row, or several short rows. Rows are along the last dimension,
// which is contiguous in memory.
import { PLAIN_BLOCK, ROW_LIMITS, SHORT_ROWS_BLOCK } from './tolerance.ts';

/** A division of elements 0 … count − 1. */
export interface Blocks {
  /** In words, after "of": `each row of 64`, `each block of 256 elements`. */
  readonly text: string;
  /** First element and the one after the last of each block, in order. */
  ranges(): Generator<readonly [number, number]>;
}

/** Divides an array of `count` elements; `shape` as far as it is known. */
export function blocksOf(count: number, shape: readonly (number | null)[] | undefined): Blocks {
  const row = shape === undefined ? null : (shape.at(-1) ?? null);
  const [shortest, longest] = ROW_LIMITS;
  let [period, length] = [count, PLAIN_BLOCK];
  let text = `each block of ${PLAIN_BLOCK} elements`;
  if (row !== null && row > longest) {
    length = Math.ceil(row / Math.ceil(row / longest));
    period = row;
    text = `each block of ${length} elements of a row`;
  } else if (row !== null && row >= shortest) {
    length = row;
    text = `each row of ${row}`;
  } else if (row !== null && row > 0) {
    length = row * Math.ceil(SHORT_ROWS_BLOCK / row);
    text = `each block of ${length} elements`;
  }
  return {
    text: count <= length ? `all ${count} elements` : text,
    *ranges() {
      for (let start = 0; start < count; start += period) {
        const end = Math.min(start + period, count);
        for (let from = start; from < end; from += length) yield [from, Math.min(from + length, end)];
      }
    },
  };
}

/**
 * The median of the finite magnitudes other than 0, 0 when there are none: what is typical, whatever a few huge elements are.
 * `magnitude(i)` is |element i|.
 */
export function medianMagnitude(magnitude: (index: number) => number, from: number, to: number): number {
  const found = new Float64Array(to - from);
  let count = 0;
  for (let i = from; i < to; i++) {
    const x = magnitude(i);
    if (x > 0 && x < Infinity) found[count++] = x;
  }
  if (count === 0) return 0;
  return found.subarray(0, count).sort()[(count - 1) >> 1] as number;
}
