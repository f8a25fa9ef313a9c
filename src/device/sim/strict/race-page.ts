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

/**
 * By dword a cell of CELL words: the last writer and reader, and the bytes they touched. A cell lies in one cache line: lanes that go where
 * values say touch as little as can be.
 */
export type RaceDetails = Uint32Array;

export const CELL = 8;
/** Words of a cell (compiled-details.ts reads and writes them too): who wrote last, where, when, and its stores before. */
export const CELL_WRITER = 0;
export const CELL_WRITER_PC = 1;
export const CELL_WRITER_EPOCH = 2;
export const CELL_WRITER_STORE = 3;
/** Who read last, where, when. */
export const CELL_READER = 4;
export const CELL_READER_PC = 5;
export const CELL_READER_EPOCH = 6;
/**
 * Marks: bits 0 to 3 the bytes written, 4 to 7 the bytes read, then ATOMIC_WRITE, MANY_WAVES and UPDATE, and in bits 12 to 15 the bytes that
 * several workgroups have read; MANY_UPDATE_WAVES and MANY_UPDATE_GROUPS beside UPDATE.
 */
export const CELL_MARKS = 7;
export const CELL_BYTES = 4 * CELL;
export const DETAILS_SIZE = CELL_BYTES * PAGE;

// In front of the table of pages (race-pages.ts), in bytes from it: where the next details may be, and the end of the room for them.
export const POOL_NEXT = -16;
export const POOL_END = -12;

export const ATOMIC_WRITE = 0x100;
/** Several wavefronts of the reader's workgroup have read in its barrier interval. */
export const MANY_WAVES = 0x200;
/** An atomic that reads and writes has written, no store with device scope: what it works on may be read first. */
export const UPDATE = 0x400;
/** Further wavefronts of the writer's workgroup have updated in its barrier interval. */
export const MANY_UPDATE_WAVES = 0x800;
/** Further workgroups than the writer's have updated. */
export const MANY_UPDATE_GROUPS = 0x10000;
/** Where the bytes that several workgroups have read are. */
export const MANY_GROUPS_SHIFT = 12;

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

/** The room for details where compiled code sees them. */
export interface DetailRoom {
  /** Zeroed bytes for the details of a page, when there are any left. */
  reserve(): Uint8Array | undefined;
  /** The details at an offset in wasm memory, which may have grown since the page's record was made. */
  at(offset: number): RaceDetails;
}

const NO_ROOM: DetailRoom = {
  reserve: () => undefined,
  at: (offset) => {
    throw new Error(`there are no details at ${offset}`);
  },
};

export class RacePage {
  private readonly words: Uint32Array;
  private details: RaceDetails | undefined;
  private readonly room: DetailRoom;

  /** Over the page's record. */
  constructor(words: Uint32Array = new Uint32Array(PAGE_WORDS), room: DetailRoom = NO_ROOM) {
    this.words = words;
    this.room = room;
  }

  /** Whether the records are by dword, where compiled code does not see them. */
  get isHidden(): boolean {
    return this.known !== undefined && this.words[PAGE_DETAILS] === 0;
  }

  /** The records by dword, when there are any; compiled code may have made them. */
  private get known(): RaceDetails | undefined {
    const at = this.words[PAGE_DETAILS] as number;
    if (this.details === undefined && at !== 0) this.details = this.room.at(at);
    return this.details;
  }

  /** Whether somebody has stored to a dword, or to its line as far as that is known. */
  isStored(dword: number): boolean {
    const { known } = this;
    if (known !== undefined) return known[CELL * dword + CELL_WRITER] !== 0;
    return this.words[LINE_WRITER + (dword >> LINE_SHIFT)] !== 0;
  }

  /**
   * Notes whole dwords as long as a line's record can say who touched them; false at the first line that needs records by dword.
   * Compiled code does the same (compiled-pages.ts).
   */
  note(who: Toucher, first: number, end: number, isWrite: boolean): boolean {
    if (this.known !== undefined) return false;
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

  /** The records by dword, from now on. Compiled code makes them the same way (compiled-details.ts). */
  get detailed(): RaceDetails {
    if (this.known !== undefined) return this.known;
    const { words } = this;
    const reserved = this.room.reserve();
    words[PAGE_DETAILS] = reserved?.byteOffset ?? 0;
    const { buffer, byteOffset } = reserved ?? new Uint8Array(DETAILS_SIZE);
    const details = new Uint32Array(buffer, byteOffset, CELL * PAGE);
    for (let i = 0; i < PAGE; i++) {
      const bit = 1 << (i & (LINE - 1));
      const line = i >> LINE_SHIFT;
      const bits = words[LINE_BITS + line] as number;
      const cell = CELL * i;
      if ((bits & bit) !== 0) {
        details[cell + CELL_WRITER] = words[LINE_WRITER + line] as number;
        details[cell + CELL_WRITER_PC] = words[LINE_WRITER_PC + line] as number;
        details[cell + CELL_WRITER_EPOCH] = words[LINE_WRITER_EPOCH + line] as number;
        details[cell + CELL_WRITER_STORE] = words[LINE_WRITER_STORE + line] as number;
        details[cell + CELL_MARKS] = 15;
      }
      if (((bits >>> 16) & bit) === 0) continue;
      const many = words[LINE_MANY + line] as number;
      details[cell + CELL_READER] = words[LINE_READER + line] as number;
      details[cell + CELL_READER_PC] = words[LINE_READER_PC + line] as number;
      details[cell + CELL_READER_EPOCH] = words[LINE_READER_EPOCH + line] as number;
      const byGroups = (many & bit) === 0 ? 0 : 15 << MANY_GROUPS_SHIFT;
      const byWaves = ((many >>> 16) & bit) === 0 ? 0 : MANY_WAVES;
      details[cell + CELL_MARKS] = (details[cell + CELL_MARKS] as number) | 0xf0 | byGroups | byWaves;
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
  for (let cell = CELL * first; cell < CELL * end; cell += CELL) {
    const w = page[cell + CELL_WRITER] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || page[cell + CELL_WRITER_EPOCH] === epoch)) return false;
    if (page[cell + CELL_READER] !== actor || page[cell + CELL_READER_EPOCH] !== epoch) {
      noteReader(page, cell, who);
      page[cell + CELL_READER] = actor;
      page[cell + CELL_READER_PC] = pc;
      page[cell + CELL_READER_EPOCH] = epoch;
    }
    page[cell + CELL_MARKS] = (page[cell + CELL_MARKS] as number) | 0xf0;
  }
  return true;
}

/** What is known of readers before `actor` becomes the last one; `mask` has the bytes that it reads. */
export function noteReader(page: RaceDetails, cell: number, { actor, epoch }: Toucher, mask = 15): void {
  const before = page[cell + CELL_READER] as number;
  const marks = page[cell + CELL_MARKS] as number;
  if (before === 0) return;
  if (!isSameGroup(before, actor)) {
    const both = (marks >>> 4) & mask;
    page[cell + CELL_MARKS] = (marks & ~MANY_WAVES) | (both << MANY_GROUPS_SHIFT);
  } else if (page[cell + CELL_READER_EPOCH] !== epoch) page[cell + CELL_MARKS] = marks & ~MANY_WAVES;
  else if (before !== actor) page[cell + CELL_MARKS] = marks | MANY_WAVES;
}

/** What is known of updates before `actor` updates a dword: the marks of the writers that its cell does not name. */
export function updaters(page: RaceDetails, cell: number, { actor, epoch }: Toucher): number {
  const marks = page[cell + CELL_MARKS] as number;
  const writer = page[cell + CELL_WRITER] as number;
  if ((marks & UPDATE) === 0) return 0;
  if (!isSameGroup(writer, actor)) return MANY_UPDATE_GROUPS;
  const groups = marks & MANY_UPDATE_GROUPS;
  if (page[cell + CELL_WRITER_EPOCH] !== epoch) return groups;
  return groups | (writer === actor ? marks & MANY_UPDATE_WAVES : MANY_UPDATE_WAVES);
}

/** Writes of dwords that nobody else has touched since a barrier. */
export function writeDwords(page: RaceDetails, first: number, end: number, who: Toucher): boolean {
  const { actor, epoch, store, pc } = who;
  for (let cell = CELL * first; cell < CELL * end; cell += CELL) {
    const w = page[cell + CELL_WRITER] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || page[cell + CELL_WRITER_EPOCH] === epoch)) return false;
    const r = page[cell + CELL_READER] as number;
    const isNow = page[cell + CELL_READER_EPOCH] === epoch;
    if (r !== 0 && r !== actor && (!isSameGroup(r, actor) || isNow)) return false;
    const marks = page[cell + CELL_MARKS] as number;
    if (marks >>> 8 !== 0 && ((marks >>> 8) << 8 !== MANY_WAVES || isNow)) return false;
    page[cell + CELL_WRITER] = actor;
    page[cell + CELL_WRITER_PC] = pc;
    page[cell + CELL_WRITER_EPOCH] = epoch;
    page[cell + CELL_WRITER_STORE] = store;
    page[cell + CELL_MARKS] = marks | 15;
  }
  return true;
}
