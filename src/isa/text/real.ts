// Values of floating-point tokens, decimal and hexadecimal, as doubles (llvm/Support/APFloat conversions).
const scratch = new DataView(new ArrayBuffer(8));

/** Value of a Real token's text: decimal or hexadecimal floating point, rounded to the nearest double. */
export function realValue(text: string): number {
  if (!/^0[xX]/.test(text)) return Number.parseFloat(text);
  const [significand, exponent] = text.slice(2).toLowerCase().split('p');
  const [whole, fraction = ''] = significand.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const power = clampExponent(exponent) - 4 * fraction.length;
  if (digits === '') return 0;
  return scaled(digits, power);
}

function clampExponent(text: string): number {
  return Math.max(-1e6, Math.min(1e6, Number.parseInt(text, 10) || 0));
}

/** hex digits × 2^power, rounded once (round half to even) into double precision, denormals included. */
function scaled(digits: string, power: number): number {
  let value = BigInt(`0x${digits.slice(0, 40)}`);
  const dropped = digits.length > 40 ? 4 * (digits.length - 40) : 0;
  if (dropped > 0 && /[1-9a-f]/.test(digits.slice(40))) value |= 1n;
  const exponent = power + dropped;
  const bits = value.toString(2).length;
  const top = exponent + bits - 1;
  if (top > 1023) return Number.POSITIVE_INFINITY;
  const keep = top >= -1022 ? 53 : 53 - (-1022 - top);
  const shift = bits - keep;
  if (shift > 0) {
    if (keep < 0) return 0;
    const half = 1n << BigInt(shift - 1);
    const rest = value & ((1n << BigInt(shift)) - 1n);
    value >>= BigInt(shift);
    if (rest > half || (rest === half && (value & 1n) === 1n)) value += 1n;
    return timesPowerOfTwo(Number(value), exponent + shift);
  }
  return timesPowerOfTwo(Number(value), exponent);
}

function timesPowerOfTwo(value: number, power: number): number {
  let out = value;
  let rest = power;
  for (; rest > 1000; rest -= 1000) out *= 2 ** 1000;
  for (; rest < -1000; rest += 1000) out *= 2 ** -1000;
  return out * 2 ** rest;
}

/** The 64 bits of a double. */
export function doubleBits(value: number): bigint {
  scratch.setFloat64(0, value);
  return scratch.getBigUint64(0);
}
