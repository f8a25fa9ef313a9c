// Arithmetic of matrix cores, element by element, bit-exact where it is known.
// Sources: MMA-Sim (Microsoft, arXiv 2511.10909), measured on CDNA1–CDNA3: FMA chain, FTZ pairwise (CDNA2), truncating accumulation
// (CDNA3). CDNA4 has no published numerics: it uses the CDNA3 rules. Sparse and block-scaled products, and all of the fast mode: a
// chain in f32.

import { exponentOf, pow2 } from '../../../base/elements/formats.ts';
import { fmaF64, fmaToOdd } from '../../../isa/semantics/exact.ts';

/** d = c; d = fma(a_k, b_k, d) in f32, round to nearest even. `a` and `b` start at their offsets. */
export function chainF32(a: Float64Array, ao: number, b: Float64Array, bo: number, k: number, c: number): number {
  let d = c;
  for (let n = 0; n < k; n++) d = Math.fround(fmaToOdd(a[ao + n] as number, b[bo + n] as number, d));
  return d;
}

/**
 * d = c; d = d + a_k·b_k in f32, product and sum rounded to nearest even each. The product of f16, FP8 and BF8 elements is exact, so
 * that is one rounding a step, the same bits as a fused multiply-add; bf16 and xf32 products round only outside f32's normal range.
 * Against the exact sum the result is off by at most k·u/(1 - k·u)·(|c| + Σ|a_k·b_k|), u = 2^-24, while nothing overflows or is denormal.
 */
export function chainAdd(a: Float64Array, ao: number, b: Float64Array, bo: number, k: number, c: number): number {
  let d = c;
  for (let n = 0; n < k; n++) d = Math.fround(d + Math.fround((a[ao + n] as number) * (b[bo + n] as number)));
  return d;
}

/** `chainF32` in f64. */
export function chainF64(a: Float64Array, ao: number, b: Float64Array, bo: number, k: number, c: number): number {
  let d = c;
  for (let n = 0; n < k; n++) d = fmaF64(a[ao + n] as number, b[bo + n] as number, d);
  return d;
}

const SMALLEST_F32 = 2 ** -126;
function flush(x: number): number {
  return Math.abs(x) < SMALLEST_F32 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : x;
}
const addFlushed = (a: number, b: number): number => flush(Math.fround(a + b));

/** CDNA2 f16 and bf16: flushed inputs, products and sums rounded to f32, added pairwise, then to the accumulator. */
export function pairwise(
  a: Float64Array,
  ao: number,
  b: Float64Array,
  bo: number,
  k: number,
  c: number,
  pairing: 2 | 4,
): number {
  const product = (n: number): number => flush(Math.fround((a[ao + n] as number) * (b[bo + n] as number)));
  let d = Math.abs(c) < SMALLEST_F32 ? 0 : c;
  for (let n = 0; n < k; n += pairing) {
    const low = addFlushed(product(n), product(n + 1));
    d = addFlushed(d, pairing === 2 ? low : addFlushed(low, addFlushed(product(n + 2), product(n + 3))));
  }
  return d;
}

/** Input flush of the pairwise rule: smaller than the format's smallest normal number becomes +0. */
export function flushInput(x: number, smallest: number): number {
  return Math.abs(x) < smallest ? 0 : x;
}

/** The unnormalised exponent of an operand: denormals and zeros keep the format's smallest. */
export function operandExponent(x: number, emin: number): number {
  return x === 0 || x - x !== 0 ? emin : Math.max(exponentOf(x), emin);
}

/** IEEE's answer when an operand is special or a product overflows f32, or undefined for ordinary groups. */
function special(
  a: Float64Array,
  ao: number,
  b: Float64Array,
  bo: number,
  n: number,
  c: number,
  overflow: boolean,
): number | undefined {
  let sum = Number.isFinite(c) ? 0 : c;
  let found = !Number.isFinite(c);
  for (let i = 0; i < n; i++) {
    const x = a[ao + i] as number;
    const y = b[bo + i] as number;
    const p = x * y;
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      sum += p;
      found = true;
    } else if (overflow && Math.abs(p) >= 2 ** 128) {
      sum += p * Infinity;
      found = true;
    }
  }
  return found ? sum : undefined;
}

/** Exponents of the operands beside their values. */
export interface Operands {
  readonly values: Float64Array;
  readonly exponents: Int32Array;
}

/** Largest exponent of the non-zero products start, start + step, …, or -Infinity. */
function largestExponent(
  a: Operands,
  ao: number,
  b: Operands,
  bo: number,
  start: number,
  step: number,
  n: number,
): number {
  let e = -Infinity;
  for (let i = start; i < n; i += step) {
    if (a.values[ao + i] === 0 || b.values[bo + i] === 0) continue;
    const sum = (a.exponents[ao + i] as number) + (b.exponents[bo + i] as number);
    if (sum > e) e = sum;
  }
  return e;
}

/** Sum of products cut towards zero to multiples of 2^(e-24), in those units. */
function cutSum(
  a: Operands,
  ao: number,
  b: Operands,
  bo: number,
  start: number,
  step: number,
  n: number,
  e: number,
): number {
  const scale = pow2(24 - e);
  let sum = 0;
  for (let i = start; i < n; i += step) {
    sum += Math.trunc((a.values[ao + i] as number) * (b.values[bo + i] as number) * scale);
  }
  return sum;
}

/** Adds a cut sum (in units of 2^(edot-24)) to c with the accumulator's two cuts, and rounds to f32. */
function accumulate(sum: number, edot: number, c: number, cutTinyC: boolean): number {
  const ec = operandExponent(c, -126);
  const e = Math.max(edot, ec);
  // Everything below is an integer in units of 2^(e-32), exact in f64.
  const t = edot === -Infinity ? 0 : Math.floor(sum * pow2(Math.max(-1000, edot - e + 8)));
  const cut = cutTinyC && ec < e - 25 ? 0 : Math.floor(c * pow2(24 - e)) * 256;
  let s = t + cut;
  if (s === 0) return 0;
  const es = Math.max(exponentOf(s) + e - 32, -126);
  const drop = es - 31 - (e - 32);
  if (drop > 0) s = Math.floor(s * pow2(-drop)) * pow2(drop);
  return Math.fround(s * pow2(e - 32));
}

/** CDNA3 f16, bf16, xf32: groups of `group` products, cut and added to the accumulator group by group. */
export function truncating(
  a: Operands,
  ao: number,
  b: Operands,
  bo: number,
  k: number,
  c: number,
  group: number,
): number {
  let d = c;
  for (let g = 0; g < k; g += group) {
    const n = Math.min(group, k - g);
    const answer = special(a.values, ao + g, b.values, bo + g, n, d, true);
    if (answer !== undefined) {
      d = answer;
      continue;
    }
    const edot = largestExponent(a, ao + g, b, bo + g, 0, 1, n);
    const sum = edot === -Infinity ? 0 : cutSum(a, ao + g, b, bo + g, 0, 1, n, edot);
    d = accumulate(sum, edot, d, false);
  }
  return d;
}

/** CDNA3 FP8/BF8: groups of 16, even and odd products cut separately. */
export function groupedTruncating(a: Operands, ao: number, b: Operands, bo: number, k: number, c: number): number {
  let d = c;
  for (let g = 0; g < k; g += 16) {
    const n = Math.min(16, k - g);
    const answer = special(a.values, ao + g, b.values, bo + g, n, d, false);
    if (answer !== undefined) {
      d = answer;
      continue;
    }
    const even = largestExponent(a, ao + g, b, bo + g, 0, 2, n);
    const odd = largestExponent(a, ao + g, b, bo + g, 1, 2, n);
    const edot = Math.max(even, odd);
    let sum = 0;
    if (even > -Infinity) sum += Math.floor(cutSum(a, ao + g, b, bo + g, 0, 2, n, even) * pow2(even - edot));
    if (odd > -Infinity) sum += Math.floor(cutSum(a, ao + g, b, bo + g, 1, 2, n, odd) * pow2(odd - edot));
    d = accumulate(sum, edot, d, true);
  }
  return d;
}
