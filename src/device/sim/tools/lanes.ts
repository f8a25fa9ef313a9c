// Bit counting and number texts that the run tools share.

/** Ones in a 32-bit word. */
export function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** A number of at most 53 bits as `0x…`; 32-bit values are taken as unsigned. */
export function hex(value: number): string {
  return `0x${(value < 0 ? value >>> 0 : value).toString(16)}`;
}

/** A 32-bit word as eight hexadecimal digits. */
export function hexWord(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
