// Sets of bytes of a chunk: one flag for each byte in memory, starts and ends or a page of bits in a manifest.
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import type { Mask } from './manifest.ts';
import type { PageSource, PageWriter } from './pages.ts';

/** Runs that a manifest holds itself; more become a page of bits. */
const MAX_RUNS = 16;

/** Starts and ends of the bytes that `has`, in turn. */
export function runsOf(length: number, has: (at: number) => boolean): number[] {
  const runs: number[] = [];
  for (let at = 0; at < length; at++) {
    if (!has(at)) continue;
    const start = at;
    while (at < length && has(at)) at++;
    runs.push(start, at);
  }
  return runs;
}

/** The mask of the bytes that `has`. */
export function maskOf(length: number, pages: PageWriter, has: (at: number) => boolean): Mask {
  const runs = runsOf(length, has);
  if (runs.length <= 2 * MAX_RUNS) return runs;
  const bits = new Uint8Array(Math.ceil(length / 8));
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

/** How many flags are set. */
export function countFlags(flags: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < flags.length; i++) count += flags[i] as number;
  return count;
}
