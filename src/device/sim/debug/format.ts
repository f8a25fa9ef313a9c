// Numbers in the formats of gdb.
import type { ElementType } from '../../../base/index.ts';
import { fromBits, type Value, valueType } from './value.ts';

/** A value in a format of gdb (x z d u t o c a f), or in its own: integers of two digits in hexadecimal too. */
export function formatted(value: Value | undefined, format = ''): string {
  if (value === undefined) return '(unknown)';
  // As gdb a float without a size is an integer then.
  if (typeof value === 'number' && /[xatzocd]/.test(format) && Number.isFinite(value))
    return formatted(BigInt(Math.trunc(value)), format);
  if (typeof value === 'number') return String(value);
  const unsigned = value < 0n ? BigInt.asUintN(64, value) : value;
  switch (format) {
    case 'x':
    case 'a':
      return `0x${unsigned.toString(16)}`;
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
      return String(fromBits(value, valueType(value < 1n << 32n ? 'f32' : 'f64') as ElementType));
    case 'u':
      // An integer of the machine has no size: a negative one is taken for an int of C where it fits.
      return String(value < 0n ? BigInt.asUintN(value >= -(1n << 31n) ? 32 : 64, value) : value);
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
  39: "'",
  92: '\\',
};

/** A character of C with its code: `97 'a'`, `10 '\n'`, `0 '\000'`. */
export function letterText(value: bigint): string {
  const code = Number(BigInt.asUintN(8, value));
  const special = LETTERS[code];
  const isPlain = code >= 32 && code < 127;
  const text =
    special !== undefined
      ? `\\${special}`
      : isPlain
        ? String.fromCharCode(code)
        : `\\${code.toString(8).padStart(3, '0')}`;
  return `${value} '${text}'`;
}
