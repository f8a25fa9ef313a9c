// Who touched the dwords of 4 KiB of global memory, and when: the wavefront, the barrier interval of its workgroup, and which of the
// wavefront's stores it was. Lines of 64 bytes are kept as a whole as long as that says the same.

import {
  BYTES,
  DETAILS_WORDS,
  frozenReader,
  HOLDS,
  HOLDS_STORES,
  LOGGED,
  MANY_GROUPS,
  MANY_WAVES,
  PAGE,
  PAGE_DETAILS,
  PAGE_QUICK,
  QUICK_UNWRITTEN,
  RaceDetails,
} from './race-details.ts';
import { isSameGroup, ownEvents, type RaceEvents, type Toucher } from './race-events.ts';

/** Dwords of a line. */
export const LINE = 16;
const LINE_SHIFT = 4;
export const LINES = PAGE / LINE;

// In front of the table of pages (race-pages.ts), in bytes from it: the head of the table of events (race-events.ts); where the next details
// may be, and the end of the room for them.
export const EVENTS_HEAD = -80;
export const POOL_NEXT = -16;
export const POOL_END = -12;
// Where the next entry of the log of reads is (read-log.ts), and from where on there is no room for one.
export const LOG_NEXT = -8;
export const LOG_END = -4;
/** How often the log has been begun anew. */
export const LOG_ROUND = -20;
/** The frozenReader of the dispatch. */
export const FROZEN = -32;

// Pages in a row of which the same is to be done, as loads and stores have found them (compiled/spans.ts): SPANS entries of loads by their place, and as
// many of stores, of SPAN_BYTES.
export const SPANS = 8;
export const SPAN_BYTES = 16;
export const STORE_SPANS = EVENTS_HEAD - SPANS * SPAN_BYTES;
export const LOAD_SPANS = STORE_SPANS - SPANS * SPAN_BYTES;

// Where the fields of a page's lines begin in its record (i32 words of wasm memory, which compiled code reads and writes too).
/** Word 0: where the bits of its written bytes are in wasm memory; 0 when all are written. Word 1 is PAGE_DETAILS (race-details.ts). */
export const PAGE_WRITTEN = 0;
/** Word 3, where compiled code has looked: somebody has stored to the page, so its reads are never logged. */
export const PAGE_STORED = 3;
/** Word 4: where there is room for the page's details, in a row with those of the pages around it; 0 for none. */
export const PAGE_ROOM = 4;
const FIELDS = 16;
export const LINE_WRITER = FIELDS;
export const LINE_WRITER_PC = FIELDS + LINES;
export const LINE_WRITER_EPOCH = FIELDS + 2 * LINES;
/** Of the oldest store whose bytes the line may still hold: since then the writer has passed no barrier, and told nothing of it to others. */
export const LINE_WRITER_STORE = FIELDS + 3 * LINES;
export const LINE_READER = FIELDS + 4 * LINES;
export const LINE_READER_PC = FIELDS + 5 * LINES;
export const LINE_READER_EPOCH = FIELDS + 6 * LINES;
/** By dword: low half written, high half read. */
export const LINE_BITS = FIELDS + 7 * LINES;
/** By dword: low half read by several workgroups, high half by several wavefronts of the reader's workgroup in its barrier interval. */
export const LINE_MANY = FIELDS + 8 * LINES;
export const PAGE_WORDS = FIELDS + 9 * LINES;

/** The room for details where compiled code sees them. */
export interface DetailRoom {
  /** The events that details name. */
  readonly events: RaceEvents;
  /** As `frozenReader` gives it. */
  readonly frozen: number;
  /** Where zeroed words for the details of a page are, when there are any left: in the page's PAGE_ROOM unless that is 0. */
  reserve(room: number): number | undefined;
  /** The words of details at an offset in wasm memory, which may have grown since the page's record was made. */
  at(offset: number): Uint32Array;
  /** Sets a word of the quick table. */
  setQuick(at: number, value: number): void;
  /** What has been found of pages in a row (LOAD_SPANS, STORE_SPANS) holds no longer. */
  clearSpans(): void;
  /** Words of details where compiled code does not see them. */
  hidden(): Uint32Array;
  /** Puts the reads that the log has of a page into its details, or those of all pages: the page is not LOGGED then. It is the one with this PAGE_QUICK. */
  unlog(quick: number): void;
}

/** Details in memory of their own. */
export function ownRoom(readersStay = false): DetailRoom {
  const all: Uint32Array[] = [];
  return {
    events: ownEvents(() => all),
    frozen: frozenReader(readersStay),
    reserve: () => undefined,
    at: (offset) => {
      throw new Error(`there are no details at ${offset}`);
    },
    setQuick: () => {},
    clearSpans: () => {},
    hidden: () => {
      const words = new Uint32Array(DETAILS_WORDS);
      all.push(words);
      return words;
    },
    unlog: () => {
      throw new Error('there is no log');
    },
  };
}

export class RacePage {
  private readonly words: Uint32Array;
  private details: RaceDetails | undefined;
  private readonly room: DetailRoom;

  /** Over the page's record. */
  constructor(words: Uint32Array = new Uint32Array(PAGE_WORDS), room: DetailRoom = ownRoom()) {
    this.words = words;
    this.room = room;
  }

  /** Whether the records are by dword, where compiled code does not see them. */
  get isHidden(): boolean {
    return this.known !== undefined && this.words[PAGE_DETAILS] === 0;
  }

  /** The records by dword, when there are any; compiled code may have made them. */
  private get known(): RaceDetails | undefined {
    if (this.isLogged) this.room.unlog(this.words[PAGE_QUICK] as number);
    // Offsets of 2 GiB and more are negative behind an operation on bits.
    const at = ((this.words[PAGE_DETAILS] as number) & ~HOLDS) >>> 0;
    if (this.details === undefined && at !== 0) this.details = this.over(this.room.at(at));
    return this.details;
  }

  /** Whether the page's reads are in the log. */
  get isLogged(): boolean {
    return this.words[PAGE_DETAILS] === LOGGED;
  }

  /** Whether the page's reads are in the log, from now on if they may be: when compiled code begins to log them, too (beginLogFunction). */
  isNowLogged(): boolean {
    const { words } = this;
    if (this.isLogged) return true;
    if (words[PAGE_DETAILS] !== 0 || this.details !== undefined) return false;
    if (words[PAGE_QUICK] === 0 || words[PAGE_STORED] !== 0) return false;
    for (let line = 0; line < LINES; line++) if (words[LINE_WRITER + line] !== 0) return false;
    this.setDetails(LOGGED);
    return true;
  }

  /** Whether somebody has stored to a dword, or to its line as far as that is known. */
  isStored(dword: number): boolean {
    if (this.isLogged) return false;
    const { known } = this;
    if (known !== undefined) return known.writer(dword) !== 0;
    return this.words[LINE_WRITER + (dword >> LINE_SHIFT)] !== 0;
  }

  /**
   * Notes whole dwords as long as a line's record can say who touched them; false at the first line that needs records by dword.
   * Compiled code does the same (compiled/pages.ts).
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
    return isSameGroup(writer, actor) && this.words[LINE_WRITER_EPOCH + line] !== epoch;
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
    const { actor, epoch, store, told = 0, pc } = who;
    if (!this.isBehindWriter(line, who)) return false;
    const bits = words[LINE_BITS + line] as number;
    const covers = (bits & 0xffff & ~mask) === 0;
    const writer = words[LINE_WRITER + line] as number;
    if (!covers) {
      if (writer !== actor) return false;
      // Others may know of the older bytes, and not of these.
      if (words[LINE_WRITER_EPOCH + line] !== epoch || (words[LINE_WRITER_STORE + line] as number) < told) return false;
    }
    const reader = words[LINE_READER + line] as number;
    if (((bits >>> 16) & mask) !== 0) {
      const many = words[LINE_MANY + line] as number;
      const isSameEpoch = words[LINE_READER_EPOCH + line] === epoch;
      if ((many & mask) !== 0 || (isSameEpoch && ((many >>> 16) & mask) !== 0)) return false;
      if (reader !== actor && (isSameEpoch || !isSameGroup(reader, actor))) return false;
    }
    // Where older bytes of the line stay, their store is the one that counts: it is complete no later.
    if (covers) {
      words[LINE_WRITER_EPOCH + line] = epoch;
      words[LINE_WRITER_STORE + line] = store;
    }
    words[LINE_WRITER + line] = actor;
    words[LINE_WRITER_PC + line] = pc;
    words[LINE_BITS + line] = bits | mask;
    return true;
  }

  private over(words: Uint32Array): RaceDetails {
    return new RaceDetails(
      words,
      this.room.events,
      (side) => {
        const at = this.words[PAGE_DETAILS] as number;
        if (at !== 0 && (at & side) === 0) this.setDetails(at | side);
      },
      this.room.frozen,
    );
  }

  /** The page is LOGGED no longer: its lines say what they said before. */
  leaveLogged(): void {
    if (this.isLogged) this.setDetails(0);
  }

  private setDetails(value: number): void {
    const { words } = this;
    words[PAGE_DETAILS] = value;
    const mark = words[PAGE_WRITTEN] === 0 ? 0 : QUICK_UNWRITTEN;
    // Loads may count on the page's readers to stay.
    if ((value & HOLDS_STORES) !== 0) this.room.clearSpans();
    if (words[PAGE_QUICK] !== 0) this.room.setQuick(words[PAGE_QUICK] as number, value | mark);
  }

  /** The records by dword, from now on. Compiled code makes them the same way (compiled/details.ts). */
  get detailed(): RaceDetails {
    if (this.known !== undefined) return this.known;
    const { room } = this;
    const at = room.reserve(this.words[PAGE_ROOM] as number);
    const details = this.over(at === undefined ? room.hidden() : room.at(at));
    this.setDetails(at ?? 0);
    for (let line = 0; line < LINES; line++) if (this.words[LINE_BITS + line] !== 0) this.openLine(details, line);
    this.details = details;
    return details;
  }

  /** The records of a line's dwords, from that of the line. */
  private openLine(details: RaceDetails, line: number): void {
    const { words } = this;
    const field = (first: number): number => words[first + line] as number;
    const bits = field(LINE_BITS);
    const each = (dwords: number, set: (dword: number, bit: number) => void): void => {
      for (let i = 0; i < LINE; i++) if (((dwords >>> i) & 1) !== 0) set(line * LINE + i, 1 << i);
    };
    if ((bits & 0xffff) !== 0) {
      const writer = {
        actor: field(LINE_WRITER),
        pc: field(LINE_WRITER_PC),
        epoch: field(LINE_WRITER_EPOCH),
        store: field(LINE_WRITER_STORE),
      };
      const event = details.event(writer, true);
      each(bits & 0xffff, (dword) => details.setWriter(dword, event, BYTES));
    }
    if (bits >>> 16 === 0) return;
    const reader = { actor: field(LINE_READER), pc: field(LINE_READER_PC), epoch: field(LINE_READER_EPOCH), store: 0 };
    const event = details.event(reader, false);
    const many = field(LINE_MANY);
    each(bits >>> 16, (dword, bit) => {
      const byGroups = (many & bit) === 0 ? 0 : MANY_GROUPS;
      const byWaves = ((many >>> 16) & bit) === 0 ? 0 : MANY_WAVES;
      details.setReader(dword, event, BYTES | byGroups | byWaves);
    });
  }
}
