// Numbers in the formats of gdb.
import type { ElementType } from '../../../base/index.ts';
import { fromBits, type Value, valueType } from './value.ts';

const bits = (value: bigint, type: string): Value => fromBits(value, valueType(type) as ElementType);

/** The shortest text that is the same f32. */
export function shortest(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}

const floatText = (value: Value, bytes: number): string =>
  typeof value === 'number' && bytes < 8 ? shortest(value) : String(value);

/**
 * A value of a type of so many bytes in a format of gdb (x z d u t o c a f): x z d u t o show its bits, as an integer of that size. f reads
 * those of integers that are as long as a float or a double, c and a take the value.
 */
export function formattedBits(value: Value, word: bigint, bytes: number, format: string): string {
  const size = 8 * bytes;
  const unsigned = BigInt.asUintN(size, word);
  switch (format) {
    case 'z':
      return `0x${unsigned.toString(16).padStart(2 * bytes, '0')}`;
    case 'd':
      return String(BigInt.asIntN(size, unsigned));
    case 'u':
      return String(unsigned);
    case 'a':
      return formatted(value, 'a');
    case 'c': {
      if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
      const whole = BigInt(typeof value === 'number' ? Math.trunc(value) : value);
      return letterText(typeof value === 'number' || value < 0n ? BigInt.asIntN(8, whole) : BigInt.asUintN(8, whole));
    }
    case 'f':
      if (typeof value === 'number') return floatText(value, bytes);
      return bytes === 4
        ? floatText(bits(unsigned, 'f32'), 4)
        : bytes === 8
          ? String(bits(unsigned, 'f64'))
          : String(value);
    default:
      return formatted(unsigned, format);
  }
}

/** A value in a format of gdb (x z d u t o c a f), or in its own: integers of two digits in hexadecimal too. */
export function formatted(value: Value | undefined, format = ''): string {
  if (value === undefined) return '(unknown)';
  // As gdb a float without a size is an integer then.
  if (typeof value === 'number' && /[xatzocd]/.test(format) && Number.isFinite(value))
    return formatted(BigInt(Math.trunc(value)), format);
  if (typeof value === 'number') return String(value);
  // An integer of the machine has no size: a negative one is taken for an int of C where it fits.
  const unsigned = value < 0n ? BigInt.asUintN(value >= -(1n << 31n) ? 32 : 64, value) : value;
  switch (format) {
    case 'x':
      return `0x${unsigned.toString(16)}`;
    case 'a':
      // An address has 64 bits.
      return `0x${(value < 0n ? BigInt.asUintN(64, value) : value).toString(16)}`;
    case 'z':
      return `0x${unsigned.toString(16).padStart(unsigned < 1n << 32n ? 8 : 16, '0')}`;
    case 't':
      return `0b${unsigned.toString(2)}`;
    case 'o':
      return unsigned === 0n ? '0' : `0${unsigned.toString(8)}`;
    case 'c':
      return letterText(BigInt.asUintN(8, value));
    case 'd':
      return String(value >= 1n << 31n && value < 1n << 32n ? BigInt.asIntN(32, value) : BigInt.asIntN(64, value));
    case 'f':
      return value < 1n << 32n ? floatText(bits(value, 'f32'), 4) : String(bits(value, 'f64'));
    case 'u':
      return String(unsigned);
    default:
      return value >= 10n ? `${value} (0x${value.toString(16)})` : String(value);
  }
}

const LETTERS: Readonly<Record<number, string>> = {
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  39: "'",
  92: '\\',
};

/** A letter as C writes it between quotes of a kind. */
function letter(code: number, quote: string): string {
  const special = LETTERS[code];
  if (special !== undefined && (special === quote || !/["']/.test(special))) return `\\${special}`;
  return code >= 32 && code < 127 ? String.fromCharCode(code) : `\\${code.toString(8).padStart(3, '0')}`;
}

/** A character of C with its code: `97 'a'`, `10 '\n'`, `0 '\000'`. */
export const letterText = (value: bigint): string => `${value} '${letter(Number(BigInt.asUintN(8, value)), "'")}'`;

/** Letters between double quotes, as C writes them. */
export const escaped = (bytes: Uint8Array): string => `"${[...bytes].map((code) => letter(code, '"')).join('')}"`;
