// Who touched the dwords of a page of global memory, dword by dword: where lines (race-page.ts) do not say enough. A word for the last reader
// of each dword, and one for its last writer behind it: an event (race-events.ts), and the bytes and whom else it stands for.
import {
  EVENT_ACTOR,
  EVENT_EPOCH,
  EVENT_PC,
  EVENT_SHIFT,
  EVENT_STORE,
  isSameGroup,
  pcOf,
  type RaceEvents,
  type Toucher,
} from './race-events.ts';

/** Dwords of a page. */
export const PAGE = 1024;

/**
 * Words of the record of a dword: that of its last reader, then that of its last writer. They lie side by side: what changes its data in place where values
 * say needs both, and hosts wait for lines of memory.
 */
export const RECORD_WORDS = 2;
export const RECORD_WRITER = 1;
export const RECORD_BYTES = 4 * RECORD_WORDS;
export const DETAILS_WORDS = RECORD_WORDS * PAGE;
export const DETAILS_SIZE = 4 * DETAILS_WORDS;

/** Below the event, in both words: the bytes that were accessed. */
export const BYTES = 15;
/** In a writer's word: it was an atomic or a store with device scope. */
export const ATOMIC_WRITE = 0x10;
/** An atomic that reads and writes has written, no store with device scope: what it works on may be read first. */
export const UPDATE = 0x20;
/** Further wavefronts of the writer's workgroup have updated in its barrier interval. */
export const MANY_UPDATE_WAVES = 0x40;
/** Further workgroups than the writer's have updated. */
export const MANY_UPDATE_GROUPS = 0x80;
/** The writer's workgroup has stored there itself, in no atomic, before its updates. */
export const STORED = 0x100;
/** In a reader's word: the bytes that several workgroups have read. */
export const MANY_GROUPS = 0xf0;
export const MANY_GROUPS_SHIFT = 4;
/** Several wavefronts of the reader's workgroup have read in its barrier interval. */
export const MANY_WAVES = 0x100;
/** All of a word but the event. */
export const MARKS = (1 << EVENT_SHIFT) - 1;

/**
 * Word of a page's record: where its details are in wasm memory, 0 where compiled code does not see any; HOLDS_STORES and HOLDS_READS beside it; or
 * LOGGED.
 */
export const PAGE_DETAILS = 1;
/** Word of a page's record: where a copy of PAGE_DETAILS is, in the quick table (race-pages.ts); 0 for none. */
export const PAGE_QUICK = 2;
/** In the copy: not all bytes of the page were written before the dispatch (PAGE_WRITTEN). */
export const QUICK_UNWRITTEN = 8;
/** Some dword has a writer; a reader. Compiled code passes over the words of the others. */
export const HOLDS_STORES = 1;
export const HOLDS_READS = 2;
export const HOLDS = HOLDS_STORES | HOLDS_READS;
/** In place of where the details are: nobody has stored to the page, and its reads are in the log (read-log.ts) as long as that is so. */
export const LOGGED = 4;

/**
 * What a reader's word has of MANY_GROUPS where a read leaves it as it is; a value that no word has, where none stays. When several workgroups have
 * read all bytes of a dword, any store to it is a race, whoever reads further, unless something orders workgroups or decides by who has read last.
 */
export const frozenReader = (stays: boolean): number => (stays ? MANY_GROUPS : 1);

const WORDS = 4;

/** Whether the access of an event comes before what `who` does now: its own, or before a barrier of the workgroup. */
function isBefore(events: Uint32Array, event: number, { actor, epoch }: Toucher): boolean {
  const other = events[WORDS * event + EVENT_ACTOR] as number;
  return other === actor || (isSameGroup(other, actor) && events[WORDS * event + EVENT_EPOCH] !== epoch);
}

/** The records of one page. Compiled code reads and writes them too (compiled/cell-writer.ts). */
export class RaceDetails {
  readonly words: Uint32Array;
  private readonly events: RaceEvents;
  private readonly hold: (side: number) => void;
  private readonly frozen: number;

  /** `hold` is told that there are stores, or reads; `frozen` is a frozenReader. */
  constructor(words: Uint32Array, events: RaceEvents, hold: (side: number) => void, frozen: number) {
    this.frozen = frozen;
    this.words = words;
    this.events = events;
    this.hold = hold;
  }

  /** The number of the event that `who` accesses memory now. Asking makes room: what was read of the records before may be gone. */
  event(who: Toucher, isWrite: boolean): number {
    return this.events.of(who, isWrite ? who.store : (who.releases ?? 0));
  }

  private field(word: number, field: number): number {
    return this.events.words[WORDS * (word >>> EVENT_SHIFT) + field] as number;
  }

  /** Whether the last store is that of who accesses, or before a barrier of the workgroup. */
  isWriterBefore(dword: number, who: Toucher): boolean {
    return isBefore(this.events.words, this.writerWord(dword) >>> EVENT_SHIFT, who);
  }

  /** The words of a dword's record. */
  writerWord(dword: number): number {
    return this.words[RECORD_WORDS * dword + RECORD_WRITER] as number;
  }
  readerWord(dword: number): number {
    return this.words[RECORD_WORDS * dword] as number;
  }

  /** Whether another lane of the same store has been the last to write all these bytes of a dword. */
  isStored(dword: number, { actor, store }: Toucher, mask: number): boolean {
    const marks = this.writerMarks(dword);
    return (
      (marks & (mask | ATOMIC_WRITE)) === mask && this.writer(dword) === actor && this.writerStore(dword) === store
    );
  }

  writerMarks(dword: number): number {
    return this.writerWord(dword) & MARKS;
  }
  /** Who wrote last, 0 for nobody; where, when, and how many stores before. */
  writer(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword + RECORD_WRITER] as number, EVENT_ACTOR);
  }
  writerPc(dword: number): number {
    return pcOf(this.writerPlace(dword));
  }
  /** The place of its event: whether the last store may be an announcement (ANNOUNCES, EARLY). */
  writerPlace(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword + RECORD_WRITER] as number, EVENT_PC);
  }
  writerEpoch(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword + RECORD_WRITER] as number, EVENT_EPOCH);
  }
  writerStore(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword + RECORD_WRITER] as number, EVENT_STORE);
  }

  readerMarks(dword: number): number {
    return this.readerWord(dword) & MARKS;
  }
  /** Who read last, 0 for nobody; where, and when. */
  reader(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword] as number, EVENT_ACTOR);
  }
  readerPc(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword] as number, EVENT_PC);
  }
  readerEpoch(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword] as number, EVENT_EPOCH);
  }

  /** How often the reader had told others something before, as far as that is known. */
  readerReleases(dword: number): number {
    return this.field(this.words[RECORD_WORDS * dword] as number, EVENT_STORE);
  }

  setWriter(dword: number, event: number, marks: number): void {
    this.hold(HOLDS_STORES);
    this.words[RECORD_WORDS * dword + RECORD_WRITER] = (event << EVENT_SHIFT) | marks;
  }

  setReader(dword: number, event: number, marks: number): void {
    this.hold(HOLDS_READS);
    this.words[RECORD_WORDS * dword] = (event << EVENT_SHIFT) | marks;
  }

  /** The marks of a reader's word when `who` becomes the last one; `mask` has the bytes that it reads. */
  private marksOfRead(dword: number, { actor, epoch }: Toucher, mask: number): number {
    const before = this.reader(dword);
    const marks = this.readerMarks(dword);
    if (before === 0) return mask;
    const own = before === actor ? marks & BYTES : 0;
    const kept = marks & ~(BYTES | MANY_WAVES);
    if (!isSameGroup(before, actor)) return kept | ((marks & mask) << MANY_GROUPS_SHIFT) | own | mask;
    if (this.readerEpoch(dword) !== epoch) return kept | own | mask;
    return kept | (before === actor ? marks & MANY_WAVES : MANY_WAVES) | own | mask;
  }

  /** What is known of updates before `who` updates a dword: the marks of the writers that its word does not name. */
  updaters(dword: number, { actor, epoch }: Toucher): number {
    const marks = this.writerMarks(dword);
    const writer = this.writer(dword);
    if ((marks & UPDATE) === 0) return 0;
    if (!isSameGroup(writer, actor)) return MANY_UPDATE_GROUPS;
    const groups = marks & MANY_UPDATE_GROUPS;
    if (this.writerEpoch(dword) !== epoch) return groups;
    return groups | (writer === actor ? marks & MANY_UPDATE_WAVES : MANY_UPDATE_WAVES);
  }

  /** The updates of other workgroups before the last one of a dword are known to come before what follows. */
  forgetUpdaters(dword: number): void {
    const at = RECORD_WORDS * dword + RECORD_WRITER;
    this.words[at] = (this.words[at] as number) & ~MANY_UPDATE_GROUPS;
  }

  /** Bytes of a dword are read. */
  noteRead(dword: number, event: number, who: Toucher, mask: number): void {
    if (((this.words[RECORD_WORDS * dword] as number) & MANY_GROUPS) === this.frozen) return;
    this.setReader(dword, event, this.marksOfRead(dword, who, mask));
  }

  /** Bytes from `from` on are read, as long as nobody has stored to the page. */
  read(who: Toucher, from: number, bytes: number): void {
    const event = this.event(who, false);
    const end = from + bytes;
    for (let dword = from >> 2; 4 * dword < end; dword++) {
      const first = Math.max(0, from - 4 * dword);
      const mask = BYTES & (BYTES << first) & (BYTES >> Math.max(0, 4 * dword + 4 - end));
      this.noteRead(dword, event, who, mask);
    }
  }

  /** Reads of dwords that nobody else has written since a barrier; false at the first one of others, which is left to the closer look. */
  readDwords(first: number, end: number, who: Toucher): boolean {
    const { words } = this;
    const event = this.event(who, false);
    const events = this.events.words;
    for (let dword = first; dword < end; dword++) {
      const writer = words[RECORD_WORDS * dword + RECORD_WRITER] as number;
      if (writer !== 0 && !isBefore(events, writer >>> EVENT_SHIFT, who)) return false;
      if ((writer & MANY_UPDATE_GROUPS) !== 0) return false;
      this.noteRead(dword, event, who, BYTES);
    }
    return true;
  }

  /** Writes of dwords that nobody else has touched since a barrier; false at the first one of others. */
  writeDwords(first: number, end: number, who: Toucher): boolean {
    const { words } = this;
    const event = this.event(who, true);
    const events = this.events.words;
    for (let dword = first; dword < end; dword++) {
      const writer = words[RECORD_WORDS * dword + RECORD_WRITER] as number;
      if (writer !== 0 && !isBefore(events, writer >>> EVENT_SHIFT, who)) return false;
      const reader = words[RECORD_WORDS * dword] as number;
      if (reader !== 0 && !isBefore(events, reader >>> EVENT_SHIFT, who)) return false;
      if ((writer & MARKS & ~BYTES) !== 0 || (reader & MANY_GROUPS) !== 0) return false;
      if ((reader & MANY_WAVES) !== 0 && this.readerEpoch(dword) === who.epoch) return false;
      this.setWriter(dword, event, BYTES);
    }
    return true;
  }
}
