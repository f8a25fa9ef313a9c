// Sets of bytes of a chunk: one flag for each byte in memory, starts and ends or a page of bits in a manifest.
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import type { Mask } from './manifest.ts';
import type { PageSource, PageWriter } from './pages.ts';

/** Runs that a manifest holds itself; more become a page of bits. */
const MAX_RUNS = 16;

/** The first byte from `at` on that has one of the `bits` (or, with `negate`, has none); the length when there is none. */
function next(flags: Uint8Array, words: Uint32Array | undefined, bits: number, at: number, negate: boolean): number {
  const word = bits * 0x01010101;
  const all = negate ? word >>> 0 : 0;
  let i = at;
  while (i < flags.length) {
    // Whole words of bytes that are alike, when there are such: chunks are mostly empty or mostly full.
    if (words !== undefined && (i & 3) === 0) {
      let w = i >>> 2;
      while (w < words.length && ((words[w] as number) & word) >>> 0 === all) w++;
      i = 4 * w;
      if (i >= flags.length) break;
    }
    if ((((flags[i] as number) & bits) !== 0) !== negate) return i;
    i++;
  }
  return flags.length;
}

/** Starts and ends of the bytes that have one of the bits, in turn. For `bits` of one bit. */
export function runsOf(flags: Uint8Array, bits = 1): number[] {
  const isAligned = flags.byteOffset % 4 === 0;
  const words = isAligned ? new Uint32Array(flags.buffer, flags.byteOffset, flags.length >>> 2) : undefined;
  const runs: number[] = [];
  for (let at = 0; ; ) {
    const start = next(flags, words, bits, at, false);
    if (start === flags.length) return runs;
    at = next(flags, words, bits, start, true);
    runs.push(start, at);
  }
}

/** The mask of the bytes that have a bit. */
export function maskOf(flags: Uint8Array, bit: number, pages: PageWriter): Mask {
  const runs = runsOf(flags, bit);
  if (runs.length <= 2 * MAX_RUNS) return runs;
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (let i = 0; i < runs.length; i += 2) {
    for (let at = runs[i] as number; at < (runs[i + 1] as number); at++)
      bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
  }
  return pages.store(bits);
}

/** One flag (0 or 1) for each byte of a chunk. */
export function flagsOf(mask: Mask, length: number, pages: PageSource): Uint8Array {
  const flags = new Uint8Array(length);
  if (typeof mask !== 'string') {
    for (let i = 0; i < mask.length; i += 2) flags.fill(1, mask[i], mask[i + 1]);
    return flags;
  }
  const bits = pages.page(mask, Math.ceil(Math.min(length, CHUNK_BYTES) / 8));
  for (let at = 0; at < length; at++) flags[at] = ((bits[at >>> 3] as number) >> (at & 7)) & 1;
  return flags;
}

/** How many bytes are in runs. */
export function bytesOfRuns(runs: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < runs.length; i += 2) sum += (runs[i + 1] as number) - (runs[i] as number);
  return sum;
}
