// Floating point of the pseudo-code's evaluator: exact dyadic numbers, rounded once. It shares nothing with the simulator.

export interface Format {
  readonly width: number;
  /** Bits of the fraction field. */
  readonly fraction: number;
  readonly bias: number;
}
const FORMATS: Readonly<Record<number, Format>> = {
  16: { width: 16, fraction: 10, bias: 15 },
  32: { width: 32, fraction: 23, bias: 127 },
  64: { width: 64, fraction: 52, bias: 1023 },
};

export function formatOf(width: number): Format {
  const format = FORMATS[width];
  if (format === undefined) throw new Error(`no float of ${width} bits`);
  return format;
}

/** m · 2^e, or what is not finite. A zero keeps its sign. */
export type Real =
  | { readonly kind: 'finite'; readonly m: bigint; readonly e: number; readonly negativeZero: boolean }
  | { readonly kind: 'infinite'; readonly negative: boolean }
  | { readonly kind: 'nan' };

export type RoundingMode = 'even' | 'up' | 'down' | 'zero';

const finite = (m: bigint, e: number, negativeZero = false): Real => ({ kind: 'finite', m, e, negativeZero });
const infinite = (negative: boolean): Real => ({ kind: 'infinite', negative });
const NAN: Real = { kind: 'nan' };

export function exponentField(bits: bigint, f: Format): number {
  return Number((bits >> BigInt(f.fraction)) & ((1n << BigInt(f.width - 1 - f.fraction)) - 1n));
}

export function decode(bits: bigint, f: Format): Real {
  const top = 2 * f.bias + 1;
  const exponent = exponentField(bits, f);
  const fraction = bits & ((1n << BigInt(f.fraction)) - 1n);
  const negative = ((bits >> BigInt(f.width - 1)) & 1n) === 1n;
  if (exponent === top) return fraction === 0n ? infinite(negative) : NAN;
  const m = exponent === 0 ? fraction : fraction | (1n << BigInt(f.fraction));
  return finite(negative ? -m : m, Math.max(exponent, 1) - f.bias - f.fraction, negative && m === 0n);
}

const bitLength = (x: bigint): number => x.toString(2).length;

/** The bits of a number, rounded. A NaN is the default quiet one. */
export function encode(x: Real, f: Format, mode: RoundingMode): bigint {
  const infinity = BigInt(2 * f.bias + 1) << BigInt(f.fraction);
  const sign = 1n << BigInt(f.width - 1);
  if (x.kind === 'nan') return infinity | (1n << BigInt(f.fraction - 1));
  if (x.kind === 'infinite') return x.negative ? infinity | sign : infinity;
  const negative = x.m < 0n || x.negativeZero;
  let m = x.m < 0n ? -x.m : x.m;
  if (m === 0n) return negative ? sign : 0n;
  const emin = 1 - f.bias - f.fraction;
  const e = Math.max(emin, x.e + bitLength(m) - 1 - f.fraction);
  if (e > x.e) {
    const shift = BigInt(e - x.e);
    const rest = m & ((1n << shift) - 1n);
    m >>= shift;
    const half = 1n << (shift - 1n);
    const isUp =
      mode === 'even' ? rest > half || (rest === half && (m & 1n) === 1n) : rest !== 0n && isAway(mode, negative);
    if (isUp) m += 1n;
  } else m <<= BigInt(x.e - e);
  // A carry out of the fraction is the next exponent; a denormal that grew is the smallest normal number.
  const bits = (BigInt(e - emin) << BigInt(f.fraction)) + m;
  const result = bits >= infinity ? (mode === 'even' || isAway(mode, negative) ? infinity : infinity - 1n) : bits;
  return negative ? result | sign : result;
}

/** Whether a directed rounding makes a number of that sign larger in size. */
const isAway = (mode: RoundingMode, negative: boolean): boolean => mode === (negative ? 'down' : 'up');

const isNegative = (x: Real): boolean =>
  x.kind === 'infinite' ? x.negative : x.kind === 'finite' && (x.m < 0n || x.negativeZero);

export function negate(x: Real): Real {
  if (x.kind === 'infinite') return infinite(!x.negative);
  return x.kind === 'nan' ? x : finite(-x.m, x.e, x.m === 0n && !x.negativeZero);
}

/** The exact sum. Numbers of different signs that cancel are a positive zero but when rounding down. */
export function add(a: Real, b: Real, mode: RoundingMode = 'even'): Real {
  if (a.kind === 'nan' || b.kind === 'nan') return NAN;
  if (a.kind === 'infinite') return b.kind === 'infinite' && a.negative !== b.negative ? NAN : a;
  if (b.kind === 'infinite') return b;
  const e = Math.min(a.e, b.e);
  const m = (a.m << BigInt(a.e - e)) + (b.m << BigInt(b.e - e));
  if (m !== 0n) return finite(m, e);
  const isNegativeZero = mode === 'down' ? isNegative(a) || isNegative(b) : isNegative(a) && isNegative(b);
  return finite(m, e, isNegativeZero);
}

export function multiply(a: Real, b: Real): Real {
  if (a.kind === 'nan' || b.kind === 'nan') return NAN;
  const negative = isNegative(a) !== isNegative(b);
  if (a.kind === 'infinite' || b.kind === 'infinite') {
    const zero = (a.kind === 'finite' && a.m === 0n) || (b.kind === 'finite' && b.m === 0n);
    return zero ? NAN : infinite(negative);
  }
  const m = a.m * b.m;
  return finite(m, a.e + b.e, m === 0n && negative);
}

/** A power of two times a number. */
export function scale(x: Real, exponent: number): Real {
  // Beyond these every format has overflowed or is zero.
  const limited = Math.max(-5000, Math.min(5000, exponent));
  return x.kind === 'finite' ? finite(x.m, x.e + limited, x.negativeZero) : x;
}

/** The nearest double, for functions that JavaScript has. */
export function toNumber(x: Real): number {
  const f = formatOf(64);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, encode(x, f, 'even'));
  return view.getFloat64(0);
}

export function fromNumber(x: number): Real {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  return decode(view.getBigUint64(0), formatOf(64));
}
