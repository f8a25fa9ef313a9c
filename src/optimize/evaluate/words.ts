// What 4-byte words of unknown type may be, so that other inputs are such as the kernel could get.

/** Floats of 32 bits, pairs of 16-bit floats, small integers (they may be indices), anything. */
export type WordKind = 'float' | 'halves' | 'integer' | 'other';

/** Words that are looked at. */
const LOOKED_AT = 4096;
const MOST = 0.9;
const SMALL = 2 ** 20;

/** Whether a word is a float of an ordinary size, or zero. */
export function isPlausibleFloat(word: number): boolean {
  const exponent = (word >>> 23) & 0xff;
  return word === 0 || word === 0x8000_0000 || (exponent >= 127 - 40 && exponent <= 127 + 40);
}

/** Whether 16 bits are a half or bfloat16 of an ordinary size, or zero. */
function isPlausibleHalf(half: number): boolean {
  if ((half & 0x7fff) === 0) return true;
  const exponent = (half >>> 10) & 31;
  const brain = (half >>> 7) & 0xff;
  return (exponent >= 3 && exponent <= 22) || (brain >= 107 && brain <= 137);
}

/** What most words look like. */
export function kindOfWords(words: Uint32Array): WordKind {
  const step = Math.max(1, Math.floor(words.length / LOOKED_AT));
  const counts = { looked: 0, zero: 0, float: 0, halves: 0, integer: 0 };
  for (let i = 0; i < words.length; i += step) {
    const word = words[i] as number;
    counts.looked++;
    if (word === 0) counts.zero++;
    if (isPlausibleFloat(word)) counts.float++;
    if (isPlausibleHalf(word & 0xffff) && isPlausibleHalf(word >>> 16)) counts.halves++;
    if (word < SMALL) counts.integer++;
  }
  const isMost = (n: number): boolean => n >= MOST * counts.looked;
  if (isMost(counts.integer)) return 'integer';
  if (isMost(counts.float)) return 'float';
  return isMost(counts.halves) ? 'halves' : 'other';
}

/** A word of two halves. */
export const pair = (low: number, high: number): number => ((high << 16) | low) >>> 0;

/** ±0, the smallest and largest denormals, infinities, NaNs quiet and signalling, the largest number. */
export const EDGES: Readonly<Partial<Record<WordKind, readonly number[]>>> = {
  float: [0, 0x8000_0000, 1, 0x8000_0001, 0x007f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 0x7f7f_ffff],
  halves: [
    pair(0x8000, 0x0000),
    pair(0x0001, 0x8001),
    pair(0x7c00, 0x7f80),
    pair(0xfc00, 0xff80),
    pair(0x7e00, 0x7fc0),
    pair(0x7c01, 0x7f81),
    pair(0x7bff, 0x7f7f),
  ],
};

/** The largest denormal, or two. */
export const DENORMALS: Readonly<Partial<Record<WordKind, number>>> = {
  float: 0x007f_ffff,
  halves: pair(0x03ff, 0x007f),
};

/** A word of an argument, as a number. */
export function wordText(word: number): string {
  if (!isPlausibleFloat(word) && word !== 0x7fc0_0000) return String(word);
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, word);
  return String(view.getFloat32(0));
}
