// Where compiled code finds memory that the limits table does not describe in one entry: allocations mapped outside the window, frames beyond
// it, and elements that cross a page. Each thread has a table of the ranges it found last, by address, one half for loads and one for stores.
import { FRAME } from './layout.ts';
import type { Region } from './region.ts';

/** Entries of both halves: each half names a gigabyte of frames that follow each other. */
export const ENTRIES = 2048;
/** Bytes of an entry: i64 address, i64 bytes, i32 what makes an address an offset in wasm memory. */
export const ENTRY_BYTES = 32;
export const ADDRESS_TABLE_BYTES = ENTRIES * ENTRY_BYTES;
export const ENTRY_START = 0;
export const ENTRY_SIZE = 8;
export const ENTRY_DELTA = 16;

const HIGH_WORD = 2 ** 32;

export class AddressTable {
  /** Where it is in wasm memory. */
  readonly at: number;
  private readonly words: Int32Array;
  private isEmpty = true;

  constructor(buffer: ArrayBufferLike, at: number) {
    this.at = at;
    this.words = new Int32Array(buffer, at, ADDRESS_TABLE_BYTES / 4);
  }

  /** The one entry that may name an address: that of its frame-sized piece of the addresses. */
  entryOf(address: number, isWrite: boolean): number {
    return (Math.floor(address / FRAME) % (ENTRIES / 2)) + (isWrite ? ENTRIES / 2 : 0);
  }

  /** Has an entry name a range. */
  set(entry: number, { base, size, offset }: Region): void {
    const at = (entry * ENTRY_BYTES) / 4;
    const { words } = this;
    words[at + ENTRY_START / 4] = base;
    words[at + ENTRY_START / 4 + 1] = Math.floor(base / HIGH_WORD);
    words[at + ENTRY_SIZE / 4] = size;
    words[at + ENTRY_SIZE / 4 + 1] = Math.floor(size / HIGH_WORD);
    words[at + ENTRY_DELTA / 4] = offset - base;
    this.isEmpty = false;
  }

  /** Has an entry name nothing. */
  unset(entry: number): void {
    this.words.fill(0, (entry * ENTRY_BYTES) / 4, ((entry + 1) * ENTRY_BYTES) / 4);
  }

  /** Names nothing any more. */
  clear(): void {
    if (this.isEmpty) return;
    this.words.fill(0);
    this.isEmpty = true;
  }
}
