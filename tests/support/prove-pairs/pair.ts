// A pair of kernels that are not the same function and look as if they were. The files beside this one have them by what differs.
import type { Variant } from '../prove-kernel.ts';

/** What the two differ in, and the two. */
export type Pair = readonly [name: string, a: string | Variant, b: string | Variant];
