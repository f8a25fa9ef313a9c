// Bit counting and number texts that the run tools share.

/** Ones in a 32-bit word. */
export function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** V8 keeps whole numbers below its double as integers, and writes others in hexadecimal as fractions, two to three times as slowly. */
const PART = 2 ** 28;

/** Hexadecimal digits of a whole number that is not negative. */
function digits(value: number): string {
  if (value < PART) return value.toString(16);
  return digits(Math.floor(value / PART)) + (PART + (value % PART)).toString(16).slice(1);
}

/** A number of at most 53 bits as `0x…`; 32-bit values are taken as unsigned. */
export function hex(value: number): string {
  return `0x${digits(value < 0 ? value >>> 0 : value)}`;
}

/** A 32-bit word as eight hexadecimal digits. */
export function hexWord(value: number): string {
  return digits(value >>> 0).padStart(8, '0');
}
