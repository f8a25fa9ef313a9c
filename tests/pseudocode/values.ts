// Values of the pseudo-code's evaluator.
import * as x from './exact.ts';

/** Bits that hold a NaN of unsaid payload, or a function's approximation. */
export interface Soft {
  readonly low: number;
  readonly width: number;
  readonly why: 'nan' | 'approximate';
}

export interface Value {
  readonly width: number;
  /** `U` and `I`: `n` is the integer; others: its bits. */
  readonly type: string;
  readonly n: bigint;
  readonly soft: readonly Soft[];
  /** 2 to this power: the result of `**`, never rounded. */
  readonly power?: number;
}

export const WIDE = 1024;
export const mask = (width: number): bigint => (1n << BigInt(width)) - 1n;
export const integer = (n: bigint, type: 'U' | 'I', width: number): Value => ({ width, type, n, soft: [] });
export const truth = (b: boolean): Value => integer(b ? 1n : 0n, 'U', 1);
export const raw = (n: bigint, width: number, soft: readonly Soft[] = []): Value => ({ width, type: 'B', n, soft });
export const isInteger = (v: Value): boolean => v.type === 'U' || v.type === 'I';
export const bitsOf = (v: Value, width = v.width): bigint =>
  isInteger(v) ? BigInt.asUintN(width, v.n) : v.n & mask(width);

export const TWO_OVER_PI_BITS = 1201;
let twoOverPiBits: bigint | undefined;
/** The first bits of 2/π, by Euler's formula: arctan(1/2) + arctan(1/3) = π/4. */
export function twoOverPi(): bigint {
  if (twoOverPiBits === undefined) {
    const one = 1n << BigInt(TWO_OVER_PI_BITS + 100);
    const arctan = (n: bigint): bigint => {
      let [sum, power] = [0n, one / n];
      for (let k = 1n; power !== 0n; k += 2n, power = -power / (n * n)) sum += power / k;
      return sum;
    };
    const pi = 4n * (arctan(2n) + arctan(3n));
    twoOverPiBits = (2n * one * (1n << BigInt(TWO_OVER_PI_BITS))) / pi;
  }
  return twoOverPiBits;
}

export function reversed(bits: bigint, width: number): bigint {
  return BigInt(`0b${[...bits.toString(2).padStart(width, '0')].reverse().join('')}`);
}

export function isNaNValue(v: Value): boolean {
  return x.decode(v.n, x.formatOf(v.width)).kind === 'nan';
}

export function isQuiet(v: Value): boolean {
  return ((v.n >> BigInt(x.formatOf(v.width).fraction - 1)) & 1n) === 1n;
}

export function isDenormal(v: Value): boolean {
  const f = x.formatOf(v.width);
  return x.exponentField(v.n, f) === 0 && (v.n & mask(f.fraction)) !== 0n;
}
