// Room `device/sim/reference`: floats beside what they would be without rounding: an f64 evaluation of a kernel while it runs, with a bound of what
// rounding in any order may add. Begin with this file (one number), then expression.ts (one operation) and float-reference.ts (a dispatch).
//
// A number that a kernel computed. The bound is that of N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapters 3 and 4: a sum
// of n terms in any order is off by at most (n - 1)·u·Σ|terms|, to first order.

/** Formats of numbers in registers and memory. */
export type FloatType = 'f16' | 'bf16' | 'f32' | 'f64';

export interface Real {
  readonly type: FloatType;
  /** Without rounding, in f64. */
  readonly value: number;
  /** Bound of the errors that its terms brought. */
  readonly inherited: number;
  /** Sum of the magnitudes of its finite terms; its own for what is no sum. */
  readonly magnitude: number;
  /** Roundings of that magnitude. */
  readonly roundings: number;
}

/** Half a unit in the last place, relative; the smallest step, or where denormals may be flushed the smallest normal number; the largest number. */
const FORMATS: Readonly<Record<FloatType, readonly [unit: number, step: number, largest: number]>> = {
  f16: [2 ** -11, 2 ** -24, 65_504],
  bf16: [2 ** -8, 2 ** -126, (2 - 2 ** -7) * 2 ** 127],
  f32: [2 ** -24, 2 ** -126, (2 - 2 ** -23) * 2 ** 127],
  f64: [2 ** -53, 2 ** -1022, Number.MAX_VALUE],
};

export const unitOf = (type: FloatType): number => FORMATS[type][0];

/** How far rounding may take a number from its value. */
export function errorOf({ type, inherited, magnitude, roundings }: Real): number {
  if (roundings === 0) return inherited;
  const [unit, step] = FORMATS[type];
  return inherited + roundings * (unit * magnitude + step);
}

/** Whether the terms of a sum may pass the largest number in some order. */
export const mayOverflow = ({ type, magnitude }: Real): boolean => !(magnitude <= FORMATS[type][2] / 2);

/** Infinities overflow no sum. */
const sizeOf = (value: number): number => (Number.isFinite(value) ? Math.abs(value) : 0);

/** An error that nobody can tell has no bound. */
const known = (error: number): number => (Number.isNaN(error) ? Number.POSITIVE_INFINITY : error);

/** A number that was given. */
export function given(value: number, type: FloatType): Real {
  return { type, value, inherited: 0, magnitude: sizeOf(value), roundings: 0 };
}

/** What rounds once (`roundings` times) to a type. `inherited`: what its operands bring. */
export function rounded(value: number, inherited: number, type: FloatType, roundings = 1): Real {
  return { type, value, inherited: known(inherited), magnitude: sizeOf(value), roundings };
}

/** A number as a term of a sum in a type. */
function termOf(a: Real, type: FloatType): Real {
  return a.type === type ? a : { ...given(a.value, type), inherited: errorOf(a) };
}

export function sum(left: Real, right: Real, type: FloatType): Real {
  const [a, b] = [termOf(left, type), termOf(right, type)];
  return {
    type,
    value: a.value + b.value,
    inherited: known(a.inherited + b.inherited),
    magnitude: a.magnitude + b.magnitude,
    roundings: a.roundings + b.roundings + 1,
  };
}

export const negated = (a: Real): Real => ({ ...a, value: -a.value });

export function product(a: Real, b: Real, type: FloatType): Real {
  const [x, y] = [errorOf(a), errorOf(b)];
  return rounded(a.value * b.value, Math.abs(a.value) * y + Math.abs(b.value) * x + x * y, type);
}

/** A function of one number with its slope there. `roundings`: of what hardware gives, in half units. */
export function mapped(a: Real, value: number, slope: number, type: FloatType, roundings: number): Real {
  return rounded(value, Math.abs(slope) * errorOf(a), type, roundings);
}

/** Whether what was computed can be this number. Twice the bound: it holds to first order. */
export function isPossible(actual: number, real: Real): boolean {
  const { value } = real;
  if (actual === value || (Number.isNaN(actual) && Number.isNaN(value))) return true;
  if (mayOverflow(real)) return !Number.isNaN(value);
  return Math.abs(actual - value) <= 2 * errorOf(real);
}
