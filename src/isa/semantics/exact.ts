// Correctly rounded add, multiply and fused multiply-add in any rounding mode.
// Sources: IEEE 754-2019 §4.3; Boldo & Melquiond, "Emulation of FMA and correctly rounded sums" (round to odd), IEEE ToC 2008.
import { bitsFromF64, f64FromWords, f64HighWord, f64LowWord, type Rounding } from '../../base/elements/formats.ts';

/** a + b in f64 rounded to odd: exact, or the neighbour with an odd last bit, so that a later rounding is correct. */
export function addToOdd(a: number, b: number): number {
  const s = a + b;
  if (s - s !== 0) return s;
  const bb = s - a;
  const error = a - (s - bb) + (b - bb);
  return error === 0 ? s : makeOdd(s, error);
}

function makeOdd(s: number, error: number): number {
  const low = f64LowWord(s);
  if ((low & 1) === 1) return s;
  // The exact sum lies between s and its neighbour on the error's side; that neighbour is odd.
  const away = error > 0 === s > 0;
  const high = f64HighWord(s);
  if (away) return f64FromWords(low | 1, high);
  return low === 0 ? f64FromWords(-1, high - 1) : f64FromWords(low - 1, high);
}

/** a·b + c for f32 or narrower operands as an f64 rounded to odd (the product is exact in f64). */
export function fmaToOdd(a: number, b: number, c: number): number {
  return addToOdd(a * b, c);
}

/** A finite f64 as mantissa · 2^exponent. */
export function decompose(x: number): [bigint, number] {
  const bits = bitsFromF64(x);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | 0x10000000000000n;
  return [bits < 0n ? -mantissa : mantissa, (field === 0 ? 1 : field) - 1075];
}

/** mantissa · 2^exponent rounded to f64. A zero mantissa gives +0. */
export function composeF64(mantissa: bigint, exponent: number, rounding: Rounding): number {
  if (mantissa === 0n) return 0;
  const negative = mantissa < 0n;
  let m = negative ? -mantissa : mantissa;
  let e = exponent;
  const length = m.toString(2).length;
  const drop = Math.max(length - 53, -1074 - e);
  if (drop > 0) {
    const shift = BigInt(drop);
    const rest = m & ((1n << shift) - 1n);
    m >>= shift;
    e += drop;
    const half = 1n << (shift - 1n);
    const up =
      rounding === 0
        ? rest > half || (rest === half && (m & 1n) === 1n)
        : rest !== 0n && ((rounding === 1 && !negative) || (rounding === 2 && negative));
    if (up) m += 1n;
  }
  // m has at most 54 bits here and is exact as a double when it is 2^53.
  let value: number;
  if (m === 0n) value = 0;
  else if (m.toString(2).length + e > 1024) {
    const toZero = rounding === 3 || (rounding === 1 && negative) || (rounding === 2 && !negative);
    value = toZero ? Number.MAX_VALUE : Infinity;
  } else {
    value = Number(m);
    // Scaling in two steps stays exact because the value is representable.
    const half = Math.trunc(e / 2);
    value = value * 2 ** half * 2 ** (e - half);
  }
  return negative ? -value : value;
}

function exactSum(a: [bigint, number], b: [bigint, number]): [bigint, number] {
  const e = Math.min(a[1], b[1]);
  return [(a[0] << BigInt(a[1] - e)) + (b[0] << BigInt(b[1] - e)), e];
}

/** Sign of an exact zero sum: -0 when both terms are negative zeros, or when rounding down; else +0. */
export function zeroSum(a: number, b: number, rounding: Rounding): number {
  const bothNegative = (a < 0 || Object.is(a, -0)) && (b < 0 || Object.is(b, -0));
  if (bothNegative) return -0;
  const bothPositive = !(a < 0 || Object.is(a, -0)) && !(b < 0 || Object.is(b, -0));
  return bothPositive ? 0 : rounding === 2 ? -0 : 0;
}

/** a + b in f64. */
export function addF64(a: number, b: number, rounding: Rounding): number {
  const s = a + b;
  if (rounding === 0 || Number.isNaN(s) || !Number.isFinite(a) || !Number.isFinite(b)) return s;
  const [m, e] = exactSum(decompose(a), decompose(b));
  return m === 0n ? zeroSum(a, b, rounding) : composeF64(m, e, rounding);
}

/** a · b in f64. */
export function mulF64(a: number, b: number, rounding: Rounding): number {
  const p = a * b;
  if (rounding === 0 || a === 0 || b === 0 || !Number.isFinite(a) || !Number.isFinite(b)) return p;
  const [ma, ea] = decompose(a);
  const [mb, eb] = decompose(b);
  return composeF64(ma * mb, ea + eb, rounding);
}

const SPLIT = 134217729;

/** Fused a · b + c in f64. */
export function fmaF64(a: number, b: number, c: number, rounding: Rounding = 0): number {
  if (!(Number.isFinite(a) && Number.isFinite(b))) return a * b + c;
  if (!Number.isFinite(c)) return c;
  if (a === 0 || b === 0) {
    const p = a * b;
    return c === 0 ? zeroSum(p, c, rounding) : c;
  }
  const p = a * b;
  const size = Math.abs(p);
  if (rounding === 0 && size > 1e-200 && size < 1e200 && Math.abs(a) < 1e250 && Math.abs(b) < 1e250) {
    const sizeC = Math.abs(c);
    if (c === 0) return p;
    if (sizeC > 1e-200 && sizeC < 1e200) return fmaInRange(a, b, c, p);
  }
  const [ma, ea] = decompose(a);
  const [mb, eb] = decompose(b);
  const [m, e] = exactSum([ma * mb, ea + eb], decompose(c));
  return m === 0n ? zeroSum(p, c, rounding) : composeF64(m, e, rounding);
}

/** (a · b + c) · 2^scale in f64 with one rounding. */
export function fmaScaledF64(a: number, b: number, c: number, scale: number, rounding: Rounding): number {
  const value = fmaF64(a, b, c, rounding);
  if (scale === 0 || ![a, b, c].every(Number.isFinite)) return value;
  const [ma, ea] = decompose(a);
  const [mb, eb] = decompose(b);
  const [m, e] = exactSum([ma * mb, ea + eb], decompose(c));
  return m === 0n ? value : composeF64(m, e + scale, rounding);
}

function fmaInRange(a: number, b: number, c: number, p: number): number {
  const ca = SPLIT * a;
  const ah = ca - (ca - a);
  const al = a - ah;
  const cb = SPLIT * b;
  const bh = cb - (cb - b);
  const bl = b - bh;
  const pl = al * bl - (p - ah * bh - al * bh - ah * bl);
  const uh = c + pl;
  const ub = uh - c;
  const ul = c - (uh - ub) + (pl - ub);
  const th = p + uh;
  const tb = th - p;
  const tl = p - (th - tb) + (uh - tb);
  return th + addToOdd(tl, ul);
}
