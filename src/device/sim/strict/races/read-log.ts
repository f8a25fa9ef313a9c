// The reads of pages to which nobody has stored, one after another: lanes that read where values say would each wait for the record of their dword,
// and most of what is read is never stored to. Entries are 16 bytes. The first store to such a page puts what has been logged into the records of
// dwords (race-details.ts), in its order, so that these say what they would say without the log.
//
// What an entry is, its last word says: LOG_RUN: an offset in wasm memory and bytes, none where what it had is in the records. Up to MOST_ELEMENT: who reads from here on, the place in the
// image, the actor and the epoch, and the word itself the bytes of an element. Above: the offsets of the elements of four lanes; no device memory is at
// so low an offset.
import type { Toucher } from './race-events.ts';

/** Bytes of an entry. */
export const LOG_ENTRY = 16;
/** Entries that are written together at most. */
export const LOG_TOGETHER = 2;
export const LOG_RUN = 0;
/** Bytes of the widest element. */
export const MOST_ELEMENT = 16;

/** Bytes that somebody has read, in wasm memory. */
export interface LoggedRead {
  readonly who: Toucher;
  readonly at: number;
  readonly bytes: number;
}

const WORDS = LOG_ENTRY / 4;
/** Of pages of 4 KiB. */
const PAGE_SHIFT = 12;

const isReader = (last: number): boolean => last !== LOG_RUN && last <= MOST_ELEMENT;

/** The entries of the first reader, which begin with the one that says who it is. */
export function entriesOfReader(words: Uint32Array): Uint32Array {
  let end = Math.min(WORDS, words.length);
  while (end < words.length && !isReader(words[end + WORDS - 1] as number)) end += WORDS;
  return words.subarray(0, end);
}

/** The reads of a log's entries, in their order. */
export function* loggedReads(words: Uint32Array): Iterable<LoggedRead> {
  let who: Toucher = { actor: 0, pc: 0, epoch: 0, store: 0 };
  let bytes = 0;
  for (let i = 0; i < words.length; i += WORDS) {
    const [first, second, third, last] = words.subarray(i, i + WORDS) as unknown as [number, number, number, number];
    if (last === LOG_RUN) {
      if (second > 0) yield { who, at: first, bytes: second };
    } else if (isReader(last)) [who, bytes] = [{ actor: second, pc: first, epoch: third, store: 0 }, last];
    else for (const at of [first, second, third, last]) yield { who, at, bytes };
  }
}

/**
 * Takes the reads of page `index` of wasm memory out of a log's entries, and gives them to `note` in their order; false, and some may be left, where an
 * element is of two pages. What is taken out of an entry of lanes becomes the element of another lane, which is there twice then; an entry without
 * others becomes a run of no bytes.
 */
export function takeReads(words: Uint32Array, index: number, note: (read: LoggedRead) => void): boolean {
  let who: Toucher = { actor: 0, pc: 0, epoch: 0, store: 0 };
  let bytes = 0;
  for (let i = 0; i < words.length; i += WORDS) {
    const entry = words.subarray(i, i + WORDS);
    const [first, second, third, last] = entry as unknown as [number, number, number, number];
    if (last === LOG_RUN) {
      if (second === 0 || first >>> PAGE_SHIFT !== index) continue;
      note({ who, at: first, bytes: second });
      entry[1] = 0;
    } else if (isReader(last)) [who, bytes] = [{ actor: second, pc: first, epoch: third, store: 0 }, last];
    else {
      const isThere = (at: number): boolean => at >>> PAGE_SHIFT === index;
      if (entry.some((at) => isThere(at) !== isThere(at + bytes - 1))) return false;
      if (!entry.some(isThere)) continue;
      const kept = entry.find((at) => !isThere(at));
      for (const at of entry) if (isThere(at)) note({ who, at, bytes });
      if (kept === undefined) entry.set([0, 0, 0, LOG_RUN]);
      else
        entry.forEach((at, lane) => {
          if (isThere(at)) entry[lane] = kept;
        });
    }
  }
  return true;
}
