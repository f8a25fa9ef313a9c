// How much a right kernel may differ from what a module means, from the module and its inputs alone.
//
// A kernel rounds at other places than the operations say: it keeps sums wide, rounds queries after they are scaled, and weights
// before they are divided by their sum. What that does to the results depends on the magnitude of the values: the exponential of a
// score turns the score's absolute error into a relative one. So the exact evaluation is repeated with each value moved by a random
// part of half a unit in the last place of its type (Monte Carlo arithmetic; D. Stott Parker, UCLA CSD-970002), twice. The largest
// difference of these from the exact results, relative as `verdict` measures it, is what one set of roundings does.
import { elementType } from '../../base/index.ts';
import type { Document } from '../../mlir/parse.ts';
import { compareElements, toleranceOf } from '../../verdict/index.ts';
import type { FunctionParts } from '../lower/read.ts';
import type { Element } from '../lower/types.ts';
import { evaluateDisturbed } from './evaluate.ts';

/** Two sets of roundings, the kernel's and that of the reference, may both be at their largest. */
const SETS = 2;

/**
 * No result is judged by more than this. A module whose roundings do more says nothing about its kernel, and inputs of another
 * magnitude should be taken.
 */
const MOST_DERIVED = 0.05;

/** A result: its type, its shape as it lies in memory, and its exact value. */
export interface ExactResult {
  readonly element: Element;
  readonly shape: readonly number[];
  readonly exact: Uint8Array;
}

/** The tolerance of each result: that of its type, and what roundings inside the function add. Integers keep none. */
export function derivedTolerances(
  document: Document,
  parts: FunctionParts,
  inputs: readonly Uint8Array[],
  results: readonly ExactResult[],
): number[] {
  const sizes = results.map(({ exact }) => exact.length);
  const disturbed = [1, 2].map((seed) => evaluateDisturbed(document, parts, inputs, sizes, seed));
  return results.map(({ element, shape, exact }, i) => {
    const own = toleranceOf(elementType(element));
    if (own === 0) return 0;
    const largest = Math.max(...disturbed.map((run) => compareElements(exact, run[i], element, { shape }).maxRelative));
    // An infinite difference is one of NaN and numbers, which no tolerance allows.
    return Number.isFinite(largest) ? Math.max(own, Math.min(own + SETS * largest, MOST_DERIVED)) : own;
  });
}
