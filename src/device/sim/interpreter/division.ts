// The division and range-reduction helpers of the vector ALU: v_div_scale, v_div_fixup, v_trig_preop.
// Source: AMD CDNA3 Instruction Set Architecture, VOP3 chapter (V_DIV_SCALE_F32/F64, V_DIV_FIXUP_F32/F64/F16, V_TRIG_PREOP_F64).
import { exponentOf, pow2 } from '../../../base/elements/formats.ts';

interface Range {
  readonly emin: number;
  readonly bias: number;
  /** Exponent distance at which the quotient nears the largest number. */
  readonly farApart: number;
  /** Scale factor's exponent. */
  readonly step: number;
  /** Biased exponent up to which a numerator is tiny. */
  readonly tiny: number;
  /** Exponent distance below which the quotient underflows to zero. */
  readonly underflow: number;
}
const F32: Range = { emin: -126, bias: 127, farApart: 96, step: 64, tiny: 23, underflow: -150 };
const F64: Range = { emin: -1022, bias: 1023, farApart: 768, step: 128, tiny: 53, underflow: -1075 };

type Format = 'f16' | 'bf16' | 'f32' | 'f64';
const rangeOf = (format: Format): Range => (format === 'f64' ? F64 : F32);

/** The biased exponent field. */
function field(x: number, r: Range): number {
  if (x === 0) return 0;
  if (!Number.isFinite(x)) return 2 * r.bias + 1;
  const e = exponentOf(x);
  return e < r.emin ? 0 : e + r.bias;
}
const isDenormal = (x: number, r: Range): boolean => x !== 0 && Math.abs(x) < pow2(r.emin);

/**
 * v_div_scale: `a` is the operand to scale (numerator or denominator), `b` the denominator, `c` the numerator. The flag asks
 * v_div_fmas to undo the scale. Where the manual scales a huge denominator further up, it is scaled down: only that divides right.
 */
export function divScale(a: number, b: number, c: number, format: Format): { value: number; flag: boolean } {
  const r = rangeOf(format);
  const up = a * pow2(r.step);
  if (b === 0 || c === 0) return { value: NaN, flag: false };
  if (field(c, r) - field(b, r) >= r.farApart) return { value: a === b ? up : a, flag: true };
  if (isDenormal(b, r)) return { value: up, flag: false };
  const tinyReciprocal = isDenormal(1 / b, r);
  const tinyQuotient = isDenormal(c / b, r) || (c / b === 0 && Number.isFinite(b));
  if (tinyReciprocal && tinyQuotient) return { value: a === b ? a * pow2(-r.step) : a, flag: true };
  if (tinyReciprocal) return { value: a * pow2(-r.step), flag: false };
  if (tinyQuotient) return { value: a === c ? up : a, flag: true };
  if (field(c, r) <= r.tiny) return { value: up, flag: false };
  return { value: a, flag: false };
}

/** v_div_fixup: `a` is the computed quotient, `b` the denominator, `c` the numerator. */
export function divFixup(a: number, b: number, c: number, format: Format): number {
  const negative = isNegative(b) !== isNegative(c);
  if (Number.isNaN(c) || Number.isNaN(b)) return NaN;
  if (b === 0 && c === 0) return NaN;
  const infiniteB = Math.abs(b) === Infinity;
  const infiniteC = Math.abs(c) === Infinity;
  if (infiniteB && infiniteC) return NaN;
  const sign = negative ? -1 : 1;
  if (b === 0 || infiniteC) return sign * Infinity;
  if (infiniteB || c === 0) return sign * 0;
  // The operands are ordinary numbers here: a quotient that became a NaN on the way had overflowed.
  if (Number.isNaN(a)) return sign * Infinity;
  if (format !== 'f16') {
    const r = rangeOf(format);
    if (field(c, r) - field(b, r) < r.underflow) return sign * 0;
  }
  return sign * Math.abs(a);
}

function isNegative(x: number): boolean {
  return x < 0 || Object.is(x, -0);
}

/** The manual's constant has these bits; what is shifted past them is zero. */
export const DIGITS = 1201;
let twoOverPi: bigint | undefined;

/** floor(2/π · 2^DIGITS), by Machin's formula. */
function twoOverPiDigits(): bigint {
  if (twoOverPi === undefined) {
    const guard = DIGITS + 64;
    const one = 1n << BigInt(guard);
    const arctanInverse = (n: bigint): bigint => {
      let term = one / n;
      let sum = term;
      for (let k = 3n, sign = -1n; term !== 0n; k += 2n, sign = -sign) {
        term /= n * n;
        sum += (sign * term) / k;
      }
      return sum;
    };
    const pi = 4n * (4n * arctanInverse(5n) - arctanInverse(239n));
    twoOverPi = (2n << BigInt(guard + DIGITS)) / pi;
  }
  return twoOverPi;
}

/** Up to this biased exponent the bits depend on the segment alone. */
export const TRIG_EXPONENT = 1077;

/** From this biased exponent on the result is 2^128 times as large. */
export const TRIG_LARGE = 1968;

/** v_trig_preop_f64: 53 bits of 2/π chosen by the segment and the operand's exponent. */
export function trigPreop(x: number, segment: number): number {
  const exponent = field(x, F64);
  return trigDigits((segment & 31) * 53 + Math.max(0, exponent - TRIG_EXPONENT), exponent >= TRIG_LARGE);
}

/** The 53 bits of 2/π behind the first `shift`, where they stand in it, of large operands times 2^128. */
export function trigDigits(shift: number, isLarge: boolean): number {
  const beyond = shift + 53 - DIGITS;
  const kept = beyond > 0 ? twoOverPiDigits() << BigInt(beyond) : twoOverPiDigits() >> BigInt(-beyond);
  const digits = kept & 0x1fffffffffffffn;
  if (digits === 0n) return 0;
  const scale = -53 - shift + (isLarge ? 128 : 0);
  const value = Number(digits);
  return scale < -1022 ? value * pow2(-1022) * pow2(scale + 1022) : value * pow2(scale);
}
