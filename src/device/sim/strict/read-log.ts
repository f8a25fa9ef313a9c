// The reads of pages to which nobody has stored, one after another: lanes that read where values say would each wait for the record of their dword,
// and most of what is read is never stored to. Entries are 16 bytes. The first store to such a page puts what has been logged into the records of
// dwords (race-details.ts), in its order, so that these say what they would say without the log.
import type { Toucher } from './race-events.ts';

/** Bytes of an entry. */
export const LOG_ENTRY = 16;
/** Entries that are written together at most. */
export const LOG_TOGETHER = 2;
/**
 * In the first word of an entry that says who reads from here on: place in the image and this, actor, epoch, 0. Without it, the entry is the
 * offsets in wasm memory of four dwords, or LOG_RUN, an offset and bytes.
 */
export const LOG_READER = 1;
export const LOG_RUN = 2;

/** Bytes that somebody has read, in wasm memory. */
export interface LoggedRead {
  readonly who: Toucher;
  readonly at: number;
  readonly bytes: number;
}

const DWORD = 4;

/** The entries of the first reader, which begin with the one that says who it is. */
export function entriesOfReader(words: Uint32Array): Uint32Array {
  const step = LOG_ENTRY / DWORD;
  let end = Math.min(step, words.length);
  while (end < words.length && ((words[end] as number) & LOG_READER) === 0) end += step;
  return words.subarray(0, end);
}

/** The reads of a log's entries, in their order. */
export function* loggedReads(words: Uint32Array): Iterable<LoggedRead> {
  let who: Toucher = { actor: 0, pc: 0, epoch: 0, store: 0 };
  for (let i = 0; i < words.length; i += LOG_ENTRY / DWORD) {
    const [first, second, third, fourth] = words.subarray(i, i + 4) as unknown as [number, number, number, number];
    if ((first & LOG_READER) !== 0) who = { actor: second, pc: first & ~LOG_READER, epoch: third, store: 0 };
    else if (first === LOG_RUN) yield { who, at: second, bytes: third };
    else for (const at of [first, second, third, fourth]) yield { who, at, bytes: DWORD };
  }
}
