// The records of pages of global memory (race-page.ts) in wasm memory, and the table through which compiled code finds them: for each
// 4 KiB page of the window the place of its record, 0 where TypeScript is to look at each access.
import { gpuWindow, PAGE as PAGE_BYTES } from '../../state/layout.ts';
import type { DeviceMemory } from '../../state/memory.ts';
import type { Region } from '../../state/region.ts';
import { type Unlog, unlogOf } from '../compiled/unlog.ts';
import { SHADOW_LOG, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import {
  DETAILS_SIZE,
  DETAILS_WORDS,
  frozenReader,
  HOLDS,
  PAGE_DETAILS,
  PAGE_QUICK,
  RECORD_WORDS,
  RECORD_WRITER,
} from './race-details.ts';
import type { Toucher } from './race-events.ts';
import { EVENTS_HEAD_BYTES, RaceEvents } from './race-events.ts';
import {
  type DetailRoom,
  EVENTS_HEAD,
  FROZEN,
  LOAD_SPANS,
  LOG_NEXT,
  LOG_ROUND,
  PAGE_ROOM,
  PAGE_WORDS,
  PAGE_WRITTEN,
  POOL_END,
  POOL_NEXT,
  RacePage,
  SPAN_BYTES,
  SPANS,
} from './race-page.ts';
import { entriesOfReader, LOG_ENTRY, LOG_RUN, LOG_TOGETHER, loggedReads, takeReads } from './read-log.ts';

/** Records made at a time. */
const BATCH = 64;
/** Bytes of device memory whose accesses are followed; a page of 4 KiB costs up to 11 KiB and its events. */
const MAX_TRACKED = 2 ** 28;
/** Bytes of the log of reads (read-log.ts); only what is used is touched. */
const LOG_BYTES = 2 ** 26;
/** What reads where it stores has no use for a log. */
const MAX_UNLOGS = 16;
/** Pages that are taken out of the log alone, each by a look at all of it; what stores to further ones has no use for their reads there. */
const MOST_TAKEN = 8;
/** Bytes of logs, of all dispatches of a memory, from which on compiled code puts them into the records: it has to be compiled the first time. */
const LONG_LOG = 2 ** 14;
/** Bytes of records by dword that are kept where compiled code sees them; TypeScript looks at what has further ones. */
const MAX_DETAILED = 2 ** 28;
/** Pages for whose records by dword there is room from the start; each further pool is twice as large, up to the most. Only what is used is touched. */
const FIRST_POOL = 256;
const MOST_POOL = 1024;
/** Pages in a row of one allocation whose details lie in a row, too, so that lanes that go where values say need not be asked for their pages. */
const ROOM_PAGES = 4096;

/**
 * What the words of a page's dwords are further on in a page than these: a host takes a load for one of what has just been stored when the lower
 * 12 bits of their addresses are the same.
 */
const SKEW = 33 * 64;

/** Of a memory: bytes of logs that have been put into the records, and the code that does so from so many on. */
interface Unlogging {
  bytes: number;
  code: Unlog | undefined;
}

const UNLOGGING = new WeakMap<WebAssembly.Memory, Unlogging>();

export class RacePages {
  private readonly memory: DeviceMemory;
  /** By page of the window. */
  readonly table: Uint32Array;
  /** The head of the table of events (race-events.ts). */
  readonly eventsHead: Uint32Array;
  /** Behind it, by page of the window: a copy of PAGE_DETAILS of its record (QUICK_UNWRITTEN), so that one look finds its details. */
  private readonly quick: Uint32Array;
  /** POOL_NEXT and POOL_END: the room from which records by dword are taken; who takes some clears them. */
  private readonly pool: Uint32Array;
  private poolPages = FIRST_POOL;
  /** LOG_NEXT and LOG_END. */
  private readonly log: Uint32Array;
  /** LOG_ROUND. */
  private readonly round: Uint32Array;
  /** LOAD_SPANS and STORE_SPANS. */
  private readonly spans: Uint32Array;
  private logAt = 0;
  private readonly longLog: number;
  private readonly mostTaken: number;
  private unlogs = 0;
  /** Pages that were taken out of the log alone. */
  private taken = 0;
  /** What unlogQuickly has in place of a wavefront's shadow. */
  private shadow: Uint8Array | undefined;
  /** By where they are in the table: who has records by dword that compiled code does not see keeps them here. */
  private readonly opened = new Map<number, RacePage>();
  private readonly reserved: Uint8Array[] = [];
  /** The room of all pools; what lies behind POOL_NEXT of the last one is not used. */
  private readonly pools: { readonly at: number; readonly size: number }[] = [];
  /** Room for the details of pages in a row by the first of them in the table, 0 for none; and the records of the pages with such room. */
  private readonly rooms = new Map<number, number>();
  private readonly roomed: number[] = [];
  /** The words of details that compiled code does not see. */
  private readonly hidden: Uint32Array[] = [];
  /** Tables of events, by where they are. */
  private readonly eventTables = new Map<number, Uint8Array>();
  private readonly room: DetailRoom;
  private trackedBytes = 0;
  private detailedBytes = 0;
  readonly events: RaceEvents;
  /** Accesses were made to memory that is not followed. */
  isTruncated = false;

  /** `readersStay`: of dwords that several workgroups have read (frozenReader). `longLog`: as LONG_LOG. `mostTaken`: pages that are taken out of it alone. */
  constructor(memory: DeviceMemory, readersStay = false, longLog = LONG_LOG, mostTaken = MOST_TAKEN) {
    this.memory = memory;
    this.longLog = longLog;
    this.mostTaken = mostTaken;
    // What is allocated meanwhile is left to TypeScript: clearing a table of all memory costs more than a small dispatch.
    const end = memory.spans().reduce((most, { offset, size }) => Math.max(most, offset + size), PAGE_BYTES);
    const pages = Math.ceil(end / PAGE_BYTES);
    const bytes = memory.reserve(2 * 4 * pages - LOAD_SPANS, 'strict mode');
    this.reserved.push(bytes);
    const at = bytes.byteOffset - LOAD_SPANS;
    this.table = new Uint32Array(bytes.buffer, at, pages);
    this.quick = new Uint32Array(bytes.buffer, at + 4 * pages, pages);
    this.pool = new Uint32Array(bytes.buffer, at + POOL_NEXT, 1 + (POOL_END - POOL_NEXT) / 4);
    this.log = new Uint32Array(bytes.buffer, at + LOG_NEXT, 2);
    this.round = new Uint32Array(bytes.buffer, at + LOG_ROUND, 1);
    this.spans = new Uint32Array(bytes.buffer, at + LOAD_SPANS, (2 * SPANS * SPAN_BYTES) / 4);
    this.eventsHead = new Uint32Array(bytes.buffer, at + EVENTS_HEAD, EVENTS_HEAD_BYTES / 4);
    const frozen = frozenReader(readersStay);
    new Uint32Array(bytes.buffer, at + FROZEN, 1)[0] = frozen;
    try {
      this.events = this.makeEvents(at + EVENTS_HEAD);
    } catch (error) {
      this.release();
      throw error;
    }
    this.room = {
      events: this.events,
      frozen,
      reserve: (room) => this.reserveDetails(room),
      at: (offset) => new Uint32Array(memory.wasm.buffer, offset, DETAILS_WORDS),
      setQuick: (place, value) => {
        this.quick[(place - this.quick.byteOffset) / 4] = value;
      },
      clearSpans: () => {
        this.spans.fill(0);
      },
      hidden: () => {
        const words = new Uint32Array(DETAILS_WORDS);
        this.hidden.push(words);
        return words;
      },
      unlog: (quick) => this.unlog((quick - this.quick.byteOffset) / 4),
    };
    this.fillPool();
    this.beginLog();
  }

  private beginLog(): void {
    const bytes = this.memory.tryReserveUncleared(LOG_BYTES);
    if (bytes === undefined) return;
    this.reserved.push(bytes);
    this.logAt = bytes.byteOffset;
    this.log.set([this.logAt, this.logAt + LOG_BYTES - LOG_TOGETHER * LOG_ENTRY]);
  }

  /** Logs that bytes of one page of an allocation are read; false where its reads are not logged, or the log is full. */
  tryLog(page: RacePage, { actor, epoch, pc }: Toucher, region: Region, offset: number, bytes: number): boolean {
    const [next, end] = this.log as unknown as [number, number];
    if (next >= end || !page.isNowLogged()) return false;
    const who = [pc, actor, epoch, 4];
    new Uint32Array(this.memory.wasm.buffer, next, (LOG_TOGETHER * LOG_ENTRY) / 4).set([
      ...who,
      ...[region.offset + offset, bytes, 0, LOG_RUN],
    ]);
    this.log[0] = next + LOG_TOGETHER * LOG_ENTRY;
    return true;
  }

  /**
   * Puts the reads of the log into the details of their pages; a log that was full, or often had to be, is not used again. The first few times only those of
   * page `index`: inputs and outputs that share a page leave the others in the log.
   */
  private unlog(index: number): void {
    const { log, logAt } = this;
    const [next, end] = log as unknown as [number, number];
    if (next < end && this.taken < this.mostTaken && this.take(index, next)) return;
    const pages = new Map<number, RacePage>();
    for (let from = logAt; from < next; ) {
      const unlog = this.compiledUnlog(next - from);
      if (unlog !== undefined) {
        const { byteOffset } = this.shadow as Uint8Array;
        from = this.events.ofOthers(() => unlog.all(byteOffset, from, next) >>> 0);
      }
      const words = new Uint32Array(this.memory.wasm.buffer, from, (next - from) / 4);
      // Where compiled code finds no room, it is made for one reader: then compiled code goes on.
      const entries = unlog !== undefined ? entriesOfReader(words) : words;
      for (const { who, at, bytes } of loggedReads(entries)) {
        // Wide elements may go on in the next page.
        for (let byte = at; byte < at + bytes; byte += PAGE_BYTES - (byte % PAGE_BYTES)) {
          const index = Math.floor(byte / PAGE_BYTES);
          const page = pages.get(index) ?? this.unlogged(index);
          pages.set(index, page);
          const from = byte % PAGE_BYTES;
          page.detailed.read(who, from, Math.min(at + bytes - byte, PAGE_BYTES - from));
        }
      }
      from += entries.byteLength;
    }
    // The log was full before anything of the page was in it.
    if (this.pageAt(index).isLogged) this.unlogged(index);
    this.unlogs++;
    this.spans.fill(0);
    this.round[0] = this.unlogs;
    log.set(next >= end || this.unlogs >= MAX_UNLOGS ? [0, 0] : [logAt, end]);
  }

  /** Whether the reads of the log can get events without making room for them, which might take those that no record names yet. */
  get hasEventsForLog(): boolean {
    return ((this.log[0] as number) - this.logAt) / LOG_ENTRY < this.events.left;
  }

  /** Puts what the log has of page `index` into its details; false where the rest has to follow. */
  private take(index: number, next: number): boolean {
    const { logAt, memory } = this;
    const unlog = this.compiledUnlog(next - logAt);
    this.taken++;
    this.spans.fill(0);
    const page = this.unlogged(index);
    if (unlog !== undefined) {
      const { byteOffset } = this.shadow as Uint8Array;
      return this.events.ofOthers(() => unlog.take(byteOffset, logAt, next, index) >>> 0) === next;
    }
    const words = new Uint32Array(memory.wasm.buffer, logAt, (next - logAt) / 4);
    return takeReads(words, index, ({ who, at, bytes }) => page.detailed.read(who, at % PAGE_BYTES, bytes));
  }

  /** The code for so many further bytes of a log, and its shadow; undefined where there is no room for one, or few have been asked for so far. */
  private compiledUnlog(bytes: number): Unlog | undefined {
    const all = UNLOGGING.get(this.memory.wasm) ?? { bytes: 0, code: undefined };
    UNLOGGING.set(this.memory.wasm, all);
    all.bytes += bytes;
    if (all.bytes < this.longLog) return undefined;
    if (this.shadow === undefined) {
      this.shadow = this.memory.tryReserve(SHADOW_LOG);
      if (this.shadow === undefined) return undefined;
      this.reserved.push(this.shadow);
    }
    const { table, shadow, memory } = this;
    new Uint32Array(memory.wasm.buffer, shadow.byteOffset + SHADOW_PAGES, 2).set([table.byteOffset, table.length]);
    all.code ??= unlogOf(memory.wasm);
    return all.code;
  }

  /** The record of a page whose reads are in the log; it has details from now on. */
  private unlogged(index: number): RacePage {
    const page = this.pageAt(index);
    page.leaveLogged();
    void page.detailed;
    if (page.isHidden) this.closeAt(index);
    return page;
  }

  private makeEvents(head: number): RaceEvents {
    const { memory, eventTables } = this;
    return new RaceEvents(
      {
        buffer: () => memory.wasm.buffer,
        reserve: (size) => {
          // Without a first one nothing can be noted.
          const isFirst = eventTables.size === 0;
          const bytes = isFirst ? memory.reserve(size, 'strict mode') : memory.tryReserveUncleared(size);
          if (bytes !== undefined) eventTables.set(bytes.byteOffset, bytes);
          return bytes?.byteOffset;
        },
        release: (at) => {
          memory.release(eventTables.get(at) as Uint8Array);
          eventTables.delete(at);
        },
        records: () => this.records(),
        forgotten: () => {
          this.spans.fill(0);
          this.isTruncated = true;
        },
      },
      head,
    );
  }

  /** The words of all details. */
  private *records(): Iterable<Uint32Array> {
    const next = this.pool[0] as number;
    for (const { at, size } of this.pools) {
      const used = next >= at && next <= at + size ? next - at : size;
      if (used > 0) yield new Uint32Array(this.memory.wasm.buffer, at, used / 4);
    }
    for (const record of this.roomed) {
      const at = (new Uint32Array(this.memory.wasm.buffer, record, PAGE_WORDS)[PAGE_DETAILS] as number) & ~HOLDS;
      if (at >>> 0 >= DETAILS_SIZE) yield new Uint32Array(this.memory.wasm.buffer, at >>> 0, DETAILS_WORDS);
    }
    yield* this.hidden;
  }

  /**
   * The record of page `index` of an allocation, and those of the pages around it in the table. `written` has the bits of the
   * allocation's written bytes. Undefined when no more memory can be followed.
   */
  open(region: Region, index: number, written: Uint8Array | undefined): RacePage | undefined {
    const first = (region.base - gpuWindow.base) / PAGE_BYTES + index;
    const isSeen = written === undefined || this.memory.holds(written);
    const isWindow = isSeen && region.base === gpuWindow.base + region.offset && first < this.table.length;
    if (isWindow && (this.opened.has(first) || this.table[first] !== 0)) return this.pageAt(first);
    if (this.trackedBytes >= MAX_TRACKED) {
      this.isTruncated = true;
      return undefined;
    }
    // Lanes that go where values say reach the pages around it, too.
    const batch = index - (index % BATCH);
    const end = isWindow ? Math.min(Math.ceil(region.size / PAGE_BYTES), batch + BATCH) : 0;
    const indices: number[] = [];
    for (let one = batch; one < end; one++) {
      const at = first - index + one;
      if (this.table[at] === 0 && !this.opened.has(at)) indices.push(one);
    }
    this.trackedBytes += Math.max(1, indices.length) * PAGE_BYTES;
    const records = isWindow ? this.memory.tryReserve(4 * PAGE_WORDS * indices.length) : undefined;
    if (records === undefined) return new RacePage(new Uint32Array(PAGE_WORDS), this.room);
    this.reserved.push(records);
    const words = new Uint32Array(records.buffer, records.byteOffset, PAGE_WORDS * indices.length);
    const row = batch - (batch % ROOM_PAGES);
    const room = this.roomOf(first - index + row, Math.ceil(region.size / PAGE_BYTES) - row);
    for (const [n, one] of indices.entries()) {
      const at = first - index + one;
      const record = records.byteOffset + 4 * PAGE_WORDS * n;
      this.table[at] = record;
      words[PAGE_WORDS * n + PAGE_QUICK] = this.quick.byteOffset + 4 * at;
      if (room !== 0) {
        words[PAGE_WORDS * n + PAGE_ROOM] = room + (one - row) * DETAILS_SIZE;
        this.roomed.push(record);
      }
      if (written === undefined || isAllWritten(written, one, region.size)) continue;
      words[PAGE_WORDS * n + PAGE_WRITTEN] = written.byteOffset + (one * PAGE_BYTES) / 8;
    }
    return this.pageAt(first);
  }

  /** The record of a page that is in the table, or has been. */
  private pageAt(index: number): RacePage {
    let page = this.opened.get(index);
    if (page === undefined) {
      const at = this.table[index] as number;
      page = new RacePage(new Uint32Array(this.memory.wasm.buffer, at, PAGE_WORDS), this.room);
      this.opened.set(index, page);
    }
    return page;
  }

  /** Where there is room for the details of up to so many pages in a row, of which the first has number `first` in the table; 0 where there is none. */
  private roomOf(first: number, pages: number): number {
    const known = this.rooms.get(first);
    if (known !== undefined) return known;
    const size = Math.min(pages, ROOM_PAGES) * DETAILS_SIZE;
    const fits = this.detailedBytes + size <= MAX_DETAILED;
    const bytes = fits ? this.memory.tryReserveUncleared(SKEW + size) : undefined;
    if (bytes !== undefined) {
      this.detailedBytes += size;
      this.reserved.push(bytes);
    }
    const room = bytes === undefined ? 0 : bytes.byteOffset + SKEW;
    this.rooms.set(first, room);
    return room;
  }

  /** Room for further records by dword; false when there is none. */
  private fillPool(): boolean {
    const room = Math.min(this.poolPages * DETAILS_SIZE, MAX_DETAILED - this.detailedBytes);
    const size = room - (room % DETAILS_SIZE);
    const bytes = size === 0 ? undefined : this.memory.tryReserveUncleared(SKEW + size);
    if (bytes === undefined) return false;
    this.detailedBytes += size;
    this.poolPages = Math.min(MOST_POOL, 2 * this.poolPages);
    this.reserved.push(bytes);
    const at = bytes.byteOffset + SKEW;
    this.pools.push({ at, size });
    this.pool.set([at, at + size]);
    return true;
  }

  private reserveDetails(room: number): number | undefined {
    const { pool } = this;
    if (room !== 0) {
      this.memory.clear(room, DETAILS_SIZE);
      return room;
    }
    if ((pool[0] as number) >= (pool[1] as number) && !this.fillPool()) return undefined;
    const at = pool[0] as number;
    this.memory.clear(at, DETAILS_SIZE);
    pool[0] = at + DETAILS_SIZE;
    // The next page that compiled code meets finds room, too.
    if (pool[0] === pool[1]) this.fillPool();
    return at;
  }

  /** Where the record of page `index` of an allocation is; 0 where it is not in the table. */
  recordOf(region: Region, index: number): number {
    return this.table[(region.base - gpuWindow.base) / PAGE_BYTES + index] ?? 0;
  }

  /** The words of the writers of one or two dwords of a page, where compiled code sees them and they name the same events as long as they are the same. */
  writerWords(region: Region, offset: number, bytes: number): readonly [number, number] | undefined {
    const { buffer } = this.memory.wasm;
    const record = this.recordOf(region, Math.floor(offset / PAGE_BYTES));
    const inPage = offset % PAGE_BYTES;
    if (record === 0 || inPage + bytes > PAGE_BYTES || this.events.renumberings > 0) return undefined;
    const at = ((new Uint32Array(buffer, record, PAGE_WORDS)[PAGE_DETAILS] as number) & ~HOLDS) >>> 0;
    if (at < DETAILS_SIZE) return undefined;
    const words = new Uint32Array(buffer, at, DETAILS_WORDS);
    const first = RECORD_WORDS * Math.floor(inPage / 4) + RECORD_WRITER;
    return [words[first] as number, bytes > 4 ? (words[first + RECORD_WORDS] as number) : 0];
  }

  /** TypeScript is to look at each access of page `index` of an allocation from now on. */
  close(region: Region, index: number): void {
    const at = (region.base - gpuWindow.base) / PAGE_BYTES + index;
    if (at >= 0 && at < this.table.length) this.closeAt(at);
  }

  private closeAt(index: number): void {
    this.table[index] = 0;
    this.quick[index] = 0;
    this.spans.fill(0);
  }

  /** The dispatch is over. */
  release(): void {
    for (const bytes of [...this.reserved, ...this.eventTables.values()]) this.memory.release(bytes);
    this.reserved.length = 0;
    this.eventTables.clear();
  }
}

/** Whether all bytes of page `index` of an allocation of so many bytes have been written before the dispatch. Nothing makes them unwritten again. */
function isAllWritten(written: Uint8Array, index: number, size: number): boolean {
  const from = index * PAGE_BYTES;
  const to = Math.min(from + PAGE_BYTES, size);
  const whole = Math.floor(to / 8);
  const words = new Int32Array(written.buffer, written.byteOffset + from / 8, (whole - from / 8) >> 2);
  // An iterator takes four times as long, and large allocations have many pages.
  for (let n = 0; n < words.length; n++) if (words[n] !== -1) return false;
  for (let at = from / 8 + 4 * words.length; at < whole; at++) if (written[at] !== 255) return false;
  const rest = (1 << (to & 7)) - 1;
  return ((written[whole] ?? 0) & rest) === rest;
}
