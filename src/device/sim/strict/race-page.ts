// Who touched the dwords of 4 KiB of global memory, and when: the wavefront, the barrier interval of its workgroup, and which of the
// wavefront's stores it was. Lines of 64 bytes are kept as a whole as long as that says the same.

import type { CompleteStores } from './synchronisation.ts';

/** Dwords of a page, and of a line. */
export const PAGE = 1024;
export const LINE = 16;
const LINE_SHIFT = 4;
export const LINES = PAGE / LINE;

/** Wavefronts of a workgroup have numbers below this: 1,024 work-items are 16 wavefronts. */
const WAVES = 16;

/** Who accesses memory, at which moment of its workgroup. */
export interface Toucher {
  /** Workgroup × 16 + wavefront, + 1. */
  readonly actor: number;
  /** Barriers that the workgroup has passed. */
  readonly epoch: number;
  /** Stores that the wavefront has issued before. */
  readonly store: number;
  readonly pc: number;
  /** By wavefront of its workgroup: stores that it knows to be complete. */
  readonly known?: CompleteStores | undefined;
}

/** The actor of a wavefront; 0 is nobody. */
export function actorOf(group: number, wave: number): number {
  return group * WAVES + wave + 1;
}

export function groupOf(actor: number): number {
  return Math.floor((actor - 1) / WAVES);
}

export function waveOf(actor: number): number {
  return (actor - 1) % WAVES;
}

/** By dword: the last writer and reader, and the bytes they touched. */
export interface RaceDetails {
  readonly writer: Uint32Array;
  readonly reader: Uint32Array;
  readonly writerPc: Int32Array;
  readonly readerPc: Int32Array;
  readonly writerEpoch: Uint32Array;
  readonly readerEpoch: Uint32Array;
  /** Stores that the writer had issued before. */
  readonly writerStore: Uint32Array;
  /** Low nibble: bytes written; high nibble: bytes read. */
  readonly bytes: Uint8Array;
  /** ATOMIC_WRITE, MANY_WAVES, UPDATE; high nibble: bytes read by several workgroups. */
  readonly flags: Uint8Array;
}

export const ATOMIC_WRITE = 1;
/** Several wavefronts of the reader's workgroup have read in `readerEpoch`. */
export const MANY_WAVES = 2;
/** An atomic that reads and writes has written, no store with device scope: what it works on may be read first. */
export const UPDATE = 4;

// Where the fields of a dword's record are in a page's details (compiled-details.ts reads and writes them too), in bytes.
export const DETAIL_WRITER = 0;
export const DETAIL_READER = 4 * PAGE;
export const DETAIL_WRITER_PC = 8 * PAGE;
export const DETAIL_READER_PC = 12 * PAGE;
export const DETAIL_WRITER_EPOCH = 16 * PAGE;
export const DETAIL_READER_EPOCH = 20 * PAGE;
export const DETAIL_WRITER_STORE = 24 * PAGE;
export const DETAIL_BYTES = 28 * PAGE;
export const DETAIL_FLAGS = 29 * PAGE;
export const DETAILS_SIZE = 30 * PAGE;

/** Over zeroed bytes of that size. */
function detailsOver({ buffer, byteOffset }: Uint8Array): RaceDetails {
  return {
    writer: new Uint32Array(buffer, byteOffset + DETAIL_WRITER, PAGE),
    reader: new Uint32Array(buffer, byteOffset + DETAIL_READER, PAGE),
    writerPc: new Int32Array(buffer, byteOffset + DETAIL_WRITER_PC, PAGE),
    readerPc: new Int32Array(buffer, byteOffset + DETAIL_READER_PC, PAGE),
    writerEpoch: new Uint32Array(buffer, byteOffset + DETAIL_WRITER_EPOCH, PAGE),
    readerEpoch: new Uint32Array(buffer, byteOffset + DETAIL_READER_EPOCH, PAGE),
    writerStore: new Uint32Array(buffer, byteOffset + DETAIL_WRITER_STORE, PAGE),
    bytes: new Uint8Array(buffer, byteOffset + DETAIL_BYTES, PAGE),
    flags: new Uint8Array(buffer, byteOffset + DETAIL_FLAGS, PAGE),
  };
}

// Where the fields of a page's lines begin in its record (i32 words of wasm memory, which compiled code reads and writes too).
/** Word 0: where the bits of its written bytes are in wasm memory; 0 when all are written. Word 1: where its details are; 0 for none. */
export const PAGE_WRITTEN = 0;
export const PAGE_DETAILS = 1;
const FIELDS = 16;
export const LINE_WRITER = FIELDS;
export const LINE_WRITER_PC = FIELDS + LINES;
/** Of the oldest store whose bytes the line may still hold, as LINE_WRITER_STORE; then of the latest. */
export const LINE_WRITER_EPOCH = FIELDS + 2 * LINES;
export const LINE_WRITER_LATEST = FIELDS + 3 * LINES;
export const LINE_WRITER_STORE = FIELDS + 4 * LINES;
export const LINE_READER = FIELDS + 5 * LINES;
export const LINE_READER_PC = FIELDS + 6 * LINES;
export const LINE_READER_EPOCH = FIELDS + 7 * LINES;
/** By dword: low half written, high half read. */
export const LINE_BITS = FIELDS + 8 * LINES;
/** By dword: low half read by several workgroups, high half by several wavefronts of the reader's workgroup in its barrier interval. */
export const LINE_MANY = FIELDS + 9 * LINES;
export const PAGE_WORDS = FIELDS + 10 * LINES;

export class RacePage {
  private readonly words: Uint32Array;
  private details: RaceDetails | undefined;
  private readonly reserve: () => Uint8Array | undefined;

  /** Over the page's record. `reserve` gives zeroed bytes for its details where compiled code sees them, when there are any left. */
  constructor(
    words: Uint32Array = new Uint32Array(PAGE_WORDS),
    reserve: () => Uint8Array | undefined = () => undefined,
  ) {
    this.words = words;
    this.reserve = reserve;
  }

  /** Whether the records are by dword, where compiled code does not see them. */
  get isHidden(): boolean {
    return this.details !== undefined && this.words[PAGE_DETAILS] === 0;
  }

  /** Whether somebody has stored to a dword, or to its line as far as that is known. */
  isStored(dword: number): boolean {
    if (this.details !== undefined) return this.details.writer[dword] !== 0;
    return this.words[LINE_WRITER + (dword >> LINE_SHIFT)] !== 0;
  }

  /**
   * Notes whole dwords as long as a line's record can say who touched them; false at the first line that needs records by dword.
   * Compiled code does the same (compiled-pages.ts).
   */
  note(who: Toucher, first: number, end: number, isWrite: boolean): boolean {
    if (this.details !== undefined) return false;
    for (let line = first >> LINE_SHIFT; line <= (end - 1) >> LINE_SHIFT; line++) {
      const from = Math.max(first - line * LINE, 0);
      const to = Math.min(end - line * LINE, LINE);
      const mask = ((1 << (to - from)) - 1) << from;
      if (!(isWrite ? this.noteWrite(who, line, mask) : this.noteRead(who, line, mask))) return false;
    }
    return true;
  }

  /** Whether another wavefront's stores to a line come before what `actor` does now. */
  private isBehindWriter(line: number, { actor, epoch }: Toucher): boolean {
    const writer = this.words[LINE_WRITER + line] as number;
    if (writer === 0 || writer === actor) return true;
    return isSameGroup(writer, actor) && this.words[LINE_WRITER_LATEST + line] !== epoch;
  }

  private noteRead(who: Toucher, line: number, mask: number): boolean {
    const { words } = this;
    const { actor, epoch, pc } = who;
    if (!this.isBehindWriter(line, who)) return false;
    const reader = words[LINE_READER + line] as number;
    const bits = words[LINE_BITS + line] as number;
    const read = bits >>> 16;
    const many = words[LINE_MANY + line] as number;
    const isSameEpoch = words[LINE_READER_EPOCH + line] === epoch;
    const take = (next: number): true => {
      words[LINE_READER + line] = actor;
      words[LINE_READER_PC + line] = pc;
      words[LINE_READER_EPOCH + line] = epoch;
      words[LINE_BITS + line] = bits | (mask << 16);
      words[LINE_MANY + line] = next;
      return true;
    };
    const covers = (read & ~mask) === 0;
    if (reader === 0) return take(0);
    if (reader === actor) return isSameEpoch ? take(many) : covers ? take(many & 0xffff) : false;
    if (isSameGroup(reader, actor)) {
      if (!isSameEpoch) return covers ? take(many & 0xffff) : false;
      const next = many | ((mask & read) << 16);
      if ((read & ~(next | (next >>> 16)) & 0xffff) === 0) return take(next);
      if ((mask & ~read) !== 0) return false;
      words[LINE_MANY + line] = next;
      return true;
    }
    const next = (many & 0xffff) | (mask & read);
    if ((read & ~next) === 0) return take(next);
    if ((mask & ~read) !== 0) return false;
    words[LINE_MANY + line] = many | (mask & read);
    return true;
  }

  private noteWrite(who: Toucher, line: number, mask: number): boolean {
    const { words } = this;
    const { actor, epoch, store, pc } = who;
    if (!this.isBehindWriter(line, who)) return false;
    const bits = words[LINE_BITS + line] as number;
    const covers = (bits & 0xffff & ~mask) === 0;
    const writer = words[LINE_WRITER + line] as number;
    if (writer !== 0 && writer !== actor && !covers) return false;
    const reader = words[LINE_READER + line] as number;
    if (((bits >>> 16) & mask) !== 0) {
      const many = words[LINE_MANY + line] as number;
      const isSameEpoch = words[LINE_READER_EPOCH + line] === epoch;
      if ((many & mask) !== 0 || (isSameEpoch && ((many >>> 16) & mask) !== 0)) return false;
      if (reader !== actor && (isSameEpoch || !isSameGroup(reader, actor))) return false;
    }
    // Where older bytes of the line stay, their store is the one that counts: that may miss a race and invents none.
    if (covers) {
      words[LINE_WRITER_EPOCH + line] = epoch;
      words[LINE_WRITER_STORE + line] = store;
    }
    words[LINE_WRITER + line] = actor;
    words[LINE_WRITER_LATEST + line] = epoch;
    words[LINE_WRITER_PC + line] = pc;
    words[LINE_BITS + line] = bits | mask;
    return true;
  }

  /** The records by dword, from now on. */
  get detailed(): RaceDetails {
    if (this.details !== undefined) return this.details;
    const { words } = this;
    const reserved = this.reserve();
    words[PAGE_DETAILS] = reserved?.byteOffset ?? 0;
    const details = detailsOver(reserved ?? new Uint8Array(DETAILS_SIZE));
    for (let i = 0; i < PAGE; i++) {
      const bit = 1 << (i & (LINE - 1));
      const line = i >> LINE_SHIFT;
      const bits = words[LINE_BITS + line] as number;
      if ((bits & bit) !== 0) {
        details.writer[i] = words[LINE_WRITER + line] as number;
        details.writerPc[i] = words[LINE_WRITER_PC + line] as number;
        details.writerEpoch[i] = words[LINE_WRITER_EPOCH + line] as number;
        details.writerStore[i] = words[LINE_WRITER_STORE + line] as number;
        details.bytes[i] = 15;
      }
      if (((bits >>> 16) & bit) === 0) continue;
      const many = words[LINE_MANY + line] as number;
      details.reader[i] = words[LINE_READER + line] as number;
      details.readerPc[i] = words[LINE_READER_PC + line] as number;
      details.readerEpoch[i] = words[LINE_READER_EPOCH + line] as number;
      details.bytes[i] = (details.bytes[i] as number) | 0xf0;
      details.flags[i] = ((many & bit) === 0 ? 0 : 0xf0) | (((many >>> 16) & bit) === 0 ? 0 : MANY_WAVES);
    }
    this.details = details;
    return details;
  }
}

/** Whether two actors are of one workgroup. */
export function isSameGroup(a: number, b: number): boolean {
  return (a - 1) >>> 4 === (b - 1) >>> 4;
}

/** Reads of dwords that nobody else has written since a barrier; several readers are left to the closer look. */
export function readDwords(page: RaceDetails, first: number, end: number, who: Toucher): boolean {
  const { actor, epoch, pc } = who;
  const { writer, reader, readerPc, readerEpoch, writerEpoch, bytes } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || writerEpoch[i] === epoch)) return false;
    const r = reader[i] as number;
    if (r !== actor || readerEpoch[i] !== epoch) {
      noteReader(page, i, r, who);
      reader[i] = actor;
      readerPc[i] = pc;
      readerEpoch[i] = epoch;
    }
    bytes[i] = (bytes[i] as number) | 0xf0;
  }
  return true;
}

/** What is known of readers before `actor` becomes the last one; `mask` has the bytes that it reads. */
export function noteReader(page: RaceDetails, i: number, before: number, { actor, epoch }: Toucher, mask = 15): void {
  const { flags, bytes, readerEpoch } = page;
  if (before === 0) return;
  if (!isSameGroup(before, actor))
    flags[i] = ((flags[i] as number) & ~MANY_WAVES) | ((bytes[i] as number) & (mask << 4));
  else if (readerEpoch[i] !== epoch) flags[i] = (flags[i] as number) & ~MANY_WAVES;
  else if (before !== actor) flags[i] = (flags[i] as number) | MANY_WAVES;
}

/** Writes of dwords that nobody else has touched since a barrier. */
export function writeDwords(page: RaceDetails, first: number, end: number, who: Toucher): boolean {
  const { actor, epoch, store, pc } = who;
  const { writer, reader, writerPc, writerEpoch, writerStore, readerEpoch, bytes, flags } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || writerEpoch[i] === epoch)) return false;
    const r = reader[i] as number;
    if (r !== 0 && r !== actor && (!isSameGroup(r, actor) || readerEpoch[i] === epoch)) return false;
    if (((flags[i] as number) & ~MANY_WAVES) !== 0) return false;
    if (((flags[i] as number) & MANY_WAVES) !== 0 && readerEpoch[i] === epoch) return false;
    writer[i] = actor;
    writerPc[i] = pc;
    writerEpoch[i] = epoch;
    writerStore[i] = store;
    bytes[i] = (bytes[i] as number) | 15;
  }
  return true;
}
