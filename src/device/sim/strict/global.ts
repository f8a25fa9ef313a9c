// Shadow of global memory during a strict dispatch: written bytes, and the wavefronts that touched each dword, to find races. Bounded: so
// much memory is followed as race-pages.ts says, page by page as it is touched.
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import { type MemoryHistory, setBits } from './history.ts';
import { Announcements } from './races/announcements.ts';
import { FoundOrders } from './races/found-orders.ts';
import { HandedOverBefore } from './races/handed-over.ts';
import {
  ATOMIC_WRITE,
  BYTES,
  MANY_GROUPS_SHIFT,
  MANY_UPDATE_GROUPS,
  MANY_UPDATE_WAVES,
  MANY_WAVES,
  PAGE,
  type RaceDetails,
  STORED,
  UPDATE,
} from './races/race-details.ts';
import { ANNOUNCES, actorOf, earlyOf, groupOf, isSameGroup, pcOf, type Toucher, waveOf } from './races/race-events.ts';
import type { RacePage } from './races/race-page.ts';
import { RacePages } from './races/race-pages.ts';
import { SyncLog } from './races/sync-log.ts';
import { type Order, type OrderReader, Synchronisation } from './races/synchronisation.ts';
import type { WaveShadow } from './registers/wave-shadow.ts';

/** The other side of a race. */
export interface GlobalConflict {
  /** -1 when it is one of several. */
  readonly workgroup: number;
  /** -1 when it is one of several. */
  readonly wave: number;
  readonly pc: number;
  readonly other: 'read' | 'write';
  /** How the store stands to the access when something orders the workgroups, but not enough. */
  readonly order?: Exclude<Order, 'ordered' | 'unordered'> | undefined;
}

/**
 * How bytes are written: by a plain store, a store with device scope, an atomic, or an atomic that leaves them as they are, which is a comparison that
 * fails.
 */
export type WriteKind = 'store' | 'scoped' | 'update' | 'attempt';

/**
 * Whether a load at a place of the image may read what atomics of its own workgroup, or of others, are changing; `isKnown`: the last one comes before it, so that it has
 * nothing to learn.
 */
export type LooksAhead = (pc: number, isOwn: boolean, isKnown?: boolean) => boolean;

/** Who has written last: the wavefront, where, the number of its stores before, and whether by an atomic. */
export interface LastWrite {
  readonly actor: number;
  readonly pc: number;
  readonly epoch: number;
  readonly store: number;
  readonly isUpdate: boolean;
  /** The place of its event: it may be an announcement (ANNOUNCES, EARLY). */
  readonly place: number;
}

/** The shadow of one allocation. */
export class RegionShadow {
  readonly region: Region;
  /** One bit per byte; undefined when everything has been written. */
  readonly written: Uint8Array | undefined;
  readonly pages: (RacePage | undefined)[] = [];

  constructor(region: Region, written: Uint8Array | undefined) {
    this.region = region;
    this.written = written;
  }

  /** Whether a byte has been written with a defined value. */
  isWritten(at: number): boolean {
    const { written } = this;
    return written === undefined || (((written[at >>> 3] as number) >>> (at & 7)) & 1) !== 0;
  }

  /** Whether every dword has a written byte. */
  hasDwords(from: number, bytes: number): boolean {
    const { written } = this;
    if (written === undefined) return true;
    for (let at = from; at < from + bytes; at += 4) {
      if ((((written[at >>> 3] as number) >>> (at & 4)) & 15) === 0) return false;
    }
    return true;
  }

  /** Whole dwords have been written. */
  setDwords(from: number, bytes: number): void {
    if (this.written !== undefined) setBits(this.written, from, from + bytes);
  }

  /** All bytes of the pages of an access count as written. */
  fillPages(from: number, bytes: number): void {
    const { written, region } = this;
    if (written === undefined) return;
    const size = 4 * PAGE;
    setBits(written, from - (from % size), Math.min(Math.ceil((from + bytes) / size) * size, region.size));
  }

  setWritten(from: number, bytes: number, isDefined: boolean): void {
    const { written } = this;
    if (written === undefined) return;
    if (bytes === 4 && (from & 3) === 0) {
      const mask = 15 << (from & 4);
      const old = written[from >>> 3] as number;
      written[from >>> 3] = isDefined ? old | mask : old & ~mask;
      return;
    }
    for (let at = from; at < from + bytes; at++) {
      const bit = 1 << (at & 7);
      const old = written[at >>> 3] as number;
      written[at >>> 3] = isDefined ? old | bit : old & ~bit;
    }
  }
}

/** What the code of a dispatch may do. */
interface Kernel {
  /** Of dwords that several workgroups have read (frozenReader). */
  readonly readersStay: boolean;
  /** Wavefronts can be put in order by more than barriers. */
  readonly learns: boolean;
  /** They wait in loops for others. */
  readonly polls: boolean;
  /** Those of a workgroup can through LDS. */
  readonly handsOver: boolean;
  /** Any store may announce something. */
  readonly announces: boolean;
  /** Whether the instruction at a place in the image is an atomic. */
  readonly isAtomic: (pc: number) => boolean;
  /** Of the dispatch. */
  readonly workgroups: number;
}

export class GlobalShadow {
  private readonly history: MemoryHistory;
  private readonly shadows = new Map<number, RegionShadow>();
  private last: RegionShadow | undefined;
  readonly pages: RacePages;
  private readonly memory: DeviceMemory;
  /** The bits of the scratch of workgroups, by where that begins. */
  private readonly scratchBits = new Map<number, Uint8Array>();
  private readonly order: Synchronisation;
  private readonly handedOver: HandedOverBefore | undefined;
  private readonly found: FoundOrders;
  /** Where any store may announce something. */
  private readonly announcements: Announcements | undefined;
  /** What compiled code has added to it, to be worked off before somebody asks. */
  readonly log: SyncLog;

  constructor(
    history: MemoryHistory,
    memory: DeviceMemory,
    { readersStay, learns, polls, handsOver, announces, isAtomic, workgroups }: Kernel,
  ) {
    this.found = new FoundOrders(memory);
    this.order = new Synchronisation(handsOver, this.tellFound());
    this.history = history;
    this.memory = memory;
    this.pages = new RacePages(memory, readersStay);
    this.log = new SyncLog(memory, learns);
    this.handedOver = learns && polls ? new HandedOverBefore(isAtomic, workgroups) : undefined;
    this.announcements = announces ? new Announcements() : undefined;
    history.hold();
  }

  /** What is found of orders goes where compiled code sees it. */
  private tellFound(): OrderReader {
    const { found } = this;
    const told = (): void => {
      this.log.found = found.place;
    };
    return {
      early: () => this.log.setEarly(),
      learn: (group) => {
        found.learn(group);
        told();
      },
      stores: (group, other, by, isForLoads) => {
        found.stores(group, other, by, isForLoads);
        told();
      },
      reads: (group, other, by) => {
        found.reads(group, other, by);
        told();
      },
      handedOver: (group, other, by) => {
        found.handedOver(group, other, by);
        told();
      },
    };
  }

  /** The dispatch is over. */
  release(): void {
    this.pages.release();
    this.found.release();
    this.log.release();
    for (const bits of this.scratchBits.values()) this.memory.release(bits);
    this.history.letGo();
  }

  /** What atomics and accesses with device scope have put in order. */
  get synchronisation(): Synchronisation {
    this.log.workOff();
    return this.order;
  }

  /** The caches of a workgroup's compute unit have been invalidated, in the order of the log. */
  invalidated(group: number): void {
    this.order.invalidate(group);
    this.handedOver?.invalidate(group);
  }

  /** The caches of a workgroup's compute unit are invalidated. */
  invalidate(group: number): void {
    this.log.behind(() => this.order.invalidate(group));
    this.handedOver?.invalidate(group);
    // What comes now mostly accesses what others have handed over.
    this.findHandedOver(group);
  }

  /** A workgroup begins. */
  begin(group: number, waves: readonly WaveShadow[]): void {
    this.announcements?.begin(group, waves);
    this.handedOver?.begin(
      group,
      waves.map(({ registers }) => registers),
    );
  }

  /** All wavefronts of a workgroup have ended. */
  end(group: number): void {
    this.handedOver?.end(group);
    this.announcements?.end(group);
  }

  /** A running workgroup has acquired something. */
  acquired(group: number): void {
    this.announcements?.acquire(group, this.order.acquiredBy(group));
  }

  /** What the last store to a dword tells who reads it is released there, if it may be an announcement; also what comes too early where `isAwaited` says that the read at `readPc` waits for it. */
  releaseAnnounced(shadow: RegionShadow, offset: number, readPc: number, isAwaited: (pc: number) => boolean): void {
    const { announcements, order } = this;
    if (announcements === undefined) return;
    const last = this.lastWrite(shadow, offset, 4 - (offset & 3));
    if (last === undefined) return;
    const early = earlyOf(last.place);
    if ((last.place & ANNOUNCES) === 0 && (early === 0 || !isAwaited(readPc))) return;
    const group = groupOf(last.actor);
    const address = shadow.region.base + offset;
    if (order.isReleased(group, address, waveOf(last.actor), last.store)) return;
    const { by, acquired } = announcements.told({ ...last, early });
    order.release(group, address, by, acquired);
  }

  /** A wavefront goes on, where another one may have run. */
  run(group: number, wave: number): void {
    const { events } = this.pages;
    events.run(actorOf(group, wave));
    if (this.handedOver !== undefined) this.tellKnown(group, this.handedOver);
  }

  /** A workgroup has come to a barrier; `areIdle`: nothing of its wavefronts is outstanding. */
  passBarrier(group: number, epoch: number, areIdle: boolean): void {
    const { events } = this.pages;
    const { handedOver } = this;
    events.passBarrier(group);
    if (handedOver?.passBarrier(group, epoch, events.nextWord, events.renumberings) !== true) return;
    // Wavefronts that have waited for others mostly let their workgroup access now what those have handed over.
    handedOver.findAtBarrier(group, this.synchronisation, events, areIdle);
  }

  /** A workgroup may access what others have handed over: it asks once behind each barrier and invalidation what has been. */
  private findHandedOver(group: number): void {
    if (this.handedOver?.mayKnowMore(group) !== true) return;
    this.handedOver.find(group, this.synchronisation, this.pages.events);
    this.tellKnown(group, this.handedOver);
  }

  private tellKnown(group: number, handedOver: HandedOverBefore): void {
    const { events } = this.pages;
    const { reads, writes } = handedOver.known(group, events.renumberings);
    events.know(reads, writes);
  }

  of(region: Region): RegionShadow {
    const { last } = this;
    if (last !== undefined && last.region.base === region.base) return last;
    let shadow = this.shadows.get(region.base);
    if (shadow === undefined) {
      shadow = new RegionShadow(region, this.history.bits(region.base));
      this.shadows.set(region.base, shadow);
    }
    this.last = shadow;
    return shadow;
  }

  /** The scratch of a new workgroup: nothing has been written. The bits of its bytes, where compiled code can see them. */
  resetScratch(region: Region): Uint8Array | undefined {
    const { memory, scratchBits } = this;
    const bytes = (region.size + 7) >>> 3;
    const known = scratchBits.get(region.base);
    const bits = known ?? memory.tryReserve(bytes);
    if (known !== undefined) memory.clear(known.byteOffset, known.length);
    else if (bits !== undefined) scratchBits.set(region.base, bits);
    this.shadows.set(region.base, new RegionShadow(region, bits ?? new Uint8Array(bytes)));
    this.last = undefined;
    return bits;
  }

  private page(shadow: RegionShadow, dword: number): RacePage | undefined {
    const index = Math.floor(dword / PAGE);
    let page = shadow.pages[index];
    if (page === undefined) {
      page = this.pages.open(shadow.region, index, shadow.written);
      if (page !== undefined) shadow.pages[index] = page;
    }
    return page;
  }

  /** Where the record of the page of a byte is, made when there was none; 0 where compiled code does not see it. */
  openPage(region: Region, offset: number): number {
    const index = Math.floor(offset / (4 * PAGE));
    return this.page(this.of(region), index * PAGE) === undefined ? 0 : this.pages.recordOf(region, index);
  }

  /** The reads of the page of a byte leave the log; false where compiled code would not see the records, or events that it has begun to use might go. */
  unlogPage(region: Region, offset: number): boolean {
    const page = this.page(this.of(region), Math.floor(offset / 4));
    if (page?.isLogged !== true || !this.pages.hasEventsForLog) return false;
    this.detailed(this.of(region), Math.floor(offset / 4));
    return !page.isHidden;
  }

  private detailed(shadow: RegionShadow, dword: number): RaceDetails | undefined {
    const page = this.page(shadow, dword);
    const details = page?.detailed;
    if (page?.isHidden) this.pages.close(shadow.region, Math.floor(dword / PAGE));
    return details;
  }

  /**
   * Whole dwords are accessed; false at the first one whose records ask for a closer look, those before it being recorded.
   */
  accessDwords(shadow: RegionShadow, offset: number, bytes: number, who: Toucher, isWrite: boolean): boolean {
    for (let at = offset; at < offset + bytes; ) {
      const dword = Math.floor(at / 4);
      const page = this.page(shadow, dword);
      if (page === undefined) return true;
      const first = dword % PAGE;
      const end = Math.min(PAGE, first + (offset + bytes - at) / 4);
      const isRecorded =
        !isWrite && page.isLogged && this.pages.tryLog(page, who, shadow.region, at, 4 * (end - first));
      if (!isRecorded && !page.note(who, first, end, isWrite)) {
        const details = this.detailed(shadow, dword) as RaceDetails;
        const isQuick = isWrite ? details.writeDwords(first, end, who) : details.readDwords(first, end, who);
        if (!isQuick && !this.accessInOrder(details, first, end, who, isWrite)) return false;
      }
      at += (end - first) * 4;
    }
    return true;
  }

  /** Dwords of which others have handed over what they have stored or read are accessed; false at the first one that asks for a closer look. */
  private accessInOrder(page: RaceDetails, first: number, end: number, who: Toucher, isWrite: boolean): boolean {
    if (!this.synchronisation.isActive(groupOf(who.actor))) return false;
    const event = page.event(who, isWrite);
    // Dwords in a row have mostly been touched by the same.
    let [lastWriter, lastReader] = [0, 0];
    for (let dword = first; dword < end; dword++) {
      const [writer, reader] = [page.writerWord(dword), page.readerWord(dword)];
      if (dword > first && writer === lastWriter && reader === lastReader) {
        if (isWrite) page.setWriter(dword, event, BYTES);
        else page.noteRead(dword, event, who, BYTES);
        continue;
      }
      [lastWriter, lastReader] = [writer, reader];
      // What atomics have written stands for more than one access.
      if ((page.writerMarks(dword) & ~BYTES) !== 0) return false;
      if (this.againstWriter(page, dword, who, !isWrite) !== undefined) return false;
      if (!isWrite) page.noteRead(dword, event, who, BYTES);
      else if (this.againstReaders(page, dword, BYTES, who) === undefined) page.setWriter(dword, event, BYTES);
      else return false;
    }
    this.findHandedOver(groupOf(who.actor));
    return true;
  }

  /** A whole dword that the dispatch has not stored to is read; false where a closer look is needed. */
  readUnstored(shadow: RegionShadow, offset: number, who: Toucher): boolean {
    const dword = Math.floor(offset / 4);
    const page = this.page(shadow, dword);
    if (page === undefined) return true;
    return !page.isStored(dword % PAGE) && this.accessDwords(shadow, offset, 4, who, false);
  }

  /**
   * Up to 4 bytes of one dword are read; the write that nothing orders before it, or undefined. What atomics update may be read at the
   * places that `mayLookAhead` names: that is how compare-and-swap loops begin.
   */
  read(
    shadow: RegionShadow,
    offset: number,
    bytes: number,
    who: Toucher,
    mayLookAhead: LooksAhead,
  ): GlobalConflict | undefined {
    const read = this.page(shadow, Math.floor(offset / 4));
    if (read === undefined || this.pages.tryLog(read, who, shadow.region, offset, bytes)) return undefined;
    const page = this.detailed(shadow, Math.floor(offset / 4)) as RaceDetails;
    const dword = Math.floor(offset / 4) % PAGE;
    const mask = ((1 << bytes) - 1) << (offset & 3);
    const event = page.event(who, false);
    page.noteRead(dword, event, who, mask);
    const marks = page.writerMarks(dword);
    if ((marks & mask) === 0) return undefined;
    // Asked first: compare-and-swap loops read so, and who comes before whom takes long to find where many have told others something.
    const isUpdate = (marks & UPDATE) !== 0;
    const isOwn = isSameGroup(page.writer(dword), who.actor);
    if (isUpdate) {
      const isKnown =
        page.isWriterBefore(dword, who) ||
        this.found.hasStore(groupOf(who.actor), page.writer(dword), page.writerStore(dword));
      // Loads may look ahead of atomics of their own workgroup, but not of those of others before.
      const isOfOthers =
        isOwn && (marks & MANY_UPDATE_GROUPS) !== 0 && page.writerWord(dword) >= this.pages.events.knownWrites;
      if (mayLookAhead(who.pc, isOwn && !isOfOthers, isKnown)) return undefined;
      const earlier = isOfOthers
        ? this.againstEarlierUpdates(page, dword, shadow.region.base + offset - (offset & 3), who)
        : undefined;
      if (earlier !== undefined || mayLookAhead(who.pc, isOwn, isKnown)) return earlier;
    }
    return this.againstWriter(page, dword, who, true);
  }

  /**
   * Up to 4 bytes of one dword are read past the caches; the store of another workgroup that something has announced before it was
   * complete, or undefined.
   */
  readPast(shadow: RegionShadow, offset: number, bytes: number, { actor }: Toucher): GlobalConflict | undefined {
    const last = this.lastWrite(shadow, offset, bytes);
    if (last === undefined || last.isUpdate || isSameGroup(last.actor, actor)) return undefined;
    const [workgroup, wave] = [groupOf(last.actor), waveOf(last.actor)];
    const address = shadow.region.base + offset;
    const group = groupOf(actor);
    const releasePc = this.synchronisation.announcedEarly(group, workgroup, wave, last.store, address);
    if (releasePc === undefined) return undefined;
    // Others may have passed on that it is done.
    if (this.order.orderOf(group, workgroup, wave, last.store, false, true) === 'ordered') return undefined;
    return { workgroup, wave, pc: last.pc, other: 'write', order: { releasePc, isComplete: false } };
  }

  /** The last write to any of up to 4 bytes of one dword. */
  lastWrite(shadow: RegionShadow, offset: number, bytes: number): LastWrite | undefined {
    const page = this.detailed(shadow, Math.floor(offset / 4));
    if (page === undefined) return undefined;
    const dword = Math.floor(offset / 4) % PAGE;
    const mask = ((1 << bytes) - 1) << (offset & 3);
    const actor = page.writer(dword);
    const marks = page.writerMarks(dword);
    if (actor === 0 || (marks & mask) === 0) return undefined;
    const place = page.writerPlace(dword);
    return {
      actor,
      pc: pcOf(place),
      epoch: page.writerEpoch(dword),
      store: page.writerStore(dword),
      isUpdate: (marks & UPDATE) !== 0,
      place,
    };
  }

  /**
   * Up to 4 bytes of one dword are written; the access that nothing orders before it, or undefined. What a wavefront has stored stays a store
   * when its own updates follow: those of others may come between the two, or before.
   */
  write(
    shadow: RegionShadow,
    offset: number,
    bytes: number,
    who: Toucher,
    kind: WriteKind,
    mayLookAhead: LooksAhead,
  ): GlobalConflict | undefined {
    const page = this.detailed(shadow, Math.floor(offset / 4));
    if (page === undefined) return undefined;
    const isAtomic = kind !== 'store';
    const isUpdate = kind === 'update' || kind === 'attempt';
    const dword = Math.floor(offset / 4) % PAGE;
    const mask = ((1 << bytes) - 1) << (offset & 3);
    const address = shadow.region.base + offset - (offset & 3);
    const event = page.event(who, true);
    if (!isAtomic && page.isStored(dword, who, mask)) return undefined;
    const marks = page.writerMarks(dword);
    const bothAtomic = isAtomic && (marks & ATOMIC_WRITE) !== 0;
    const conflict =
      (marks & mask) === 0
        ? undefined
        : bothAtomic
          ? this.againstStored(page, dword, address, who)
          : (this.againstWriter(page, dword, who, false) ??
            (isAtomic ? undefined : this.againstUpdaters(page, dword, who)));
    const isOwn = page.writer(dword) === who.actor;
    const isKept = isUpdate && isOwn && (marks & ATOMIC_WRITE) === 0 && page.writerEpoch(dword) === who.epoch;
    if (kind !== 'attempt' && !isKept) {
      const others = isUpdate ? page.updaters(dword, who) | this.stored(page, dword, address, who) : 0;
      const own = isOwn ? marks & BYTES : 0;
      page.setWriter(dword, event, own | mask | others | (isAtomic ? ATOMIC_WRITE : 0) | (isUpdate ? UPDATE : 0));
    }
    if (conflict !== undefined || kind === 'scoped') return conflict;
    const isOwnReader = isSameGroup(page.reader(dword), who.actor);
    if (isUpdate && mayLookAhead(page.readerPc(dword), isOwnReader)) return undefined;
    const read = this.againstReaders(page, dword, mask, who);
    return isUpdate && read?.pc === -1 ? undefined : read;
  }

  /** The mark of an update of a dword at an address which its workgroup has stored there before. */
  private stored(page: RaceDetails, dword: number, address: number, { actor }: Toucher): number {
    const marks = page.writerMarks(dword);
    if ((marks & BYTES) === 0 || !isSameGroup(page.writer(dword), actor)) return 0;
    if ((marks & ATOMIC_WRITE) !== 0) return marks & STORED;
    this.log.noteStored(address, page.writerPc(dword));
    return STORED;
  }

  /**
   * The store of another workgroup that stands before that workgroup's updates of a dword, for an update. When it was is not kept: workgroups that learn
   * from others are taken to have learnt of it.
   */
  private againstStored(
    page: RaceDetails,
    dword: number,
    address: number,
    { actor }: Toucher,
  ): GlobalConflict | undefined {
    const writer = page.writer(dword);
    if ((page.writerMarks(dword) & STORED) === 0 || isSameGroup(writer, actor)) return undefined;
    if (this.synchronisation.isActive(groupOf(actor))) return undefined;
    const pc = this.log.storedBy(address) ?? page.writerPc(dword);
    return { workgroup: groupOf(writer), wave: -1, pc, other: 'write' };
  }

  /** The last write of a dword, when nothing orders it before an access. */
  private againstWriter(
    page: RaceDetails,
    dword: number,
    { actor, epoch, before }: Toucher,
    isRead: boolean,
  ): GlobalConflict | undefined {
    const writer = page.writer(dword);
    if (writer === 0 || writer === actor) return undefined;
    const conflict = {
      workgroup: groupOf(writer),
      wave: waveOf(writer),
      pc: page.writerPc(dword),
      other: 'write',
    } as const;
    const store = page.writerStore(dword);
    if (isSameGroup(writer, actor)) {
      if (page.writerEpoch(dword) !== epoch || store < (before?.[conflict.wave] ?? 0)) return undefined;
      // A flag that another wavefront has seen. Who of the workgroup it was is not looked at.
      const own = groupOf(actor);
      const order = this.synchronisation.orderOf(own, own, conflict.wave, store, false, true);
      return order === 'ordered' ? undefined : conflict;
    }
    const isPast = (page.writerMarks(dword) & ATOMIC_WRITE) !== 0;
    const group = groupOf(actor);
    const order = this.synchronisation.orderOf(group, conflict.workgroup, conflict.wave, store, isRead, isPast);
    if (order === 'ordered') return undefined;
    return order === 'unordered' ? conflict : { ...conflict, order };
  }

  /**
   * Updates of a dword before its last one, when nothing orders them before a store. Who made them is not kept: workgroups and wavefronts that
   * learn from others are taken to have learnt of these.
   */
  private againstUpdaters(page: RaceDetails, dword: number, { actor, epoch }: Toucher): GlobalConflict | undefined {
    const marks = page.writerMarks(dword);
    const group = groupOf(actor);
    if (this.synchronisation.isActive(group)) return undefined;
    const pc = page.writerPc(dword);
    const isOwn = isSameGroup(page.writer(dword), actor) && page.writerEpoch(dword) === epoch;
    if ((marks & MANY_UPDATE_WAVES) !== 0 && isOwn) {
      return { workgroup: group, wave: -1, pc, other: 'write' };
    }
    return (marks & MANY_UPDATE_GROUPS) === 0 ? undefined : { workgroup: -1, wave: -1, pc, other: 'write' };
  }

  /**
   * An atomic of another workgroup on a dword at an address which the reader's own has changed last, when nothing orders it before the load. Where all come before it is
   * not asked again before the next one: for other readers the last one counts. Atomics of 64 bits have told what they have at their first dword.
   */
  private againstEarlierUpdates(
    page: RaceDetails,
    dword: number,
    address: number,
    { actor }: Toucher,
  ): GlobalConflict | undefined {
    const { synchronisation } = this;
    const group = groupOf(actor);
    if (!synchronisation.isActive(group)) {
      return { workgroup: -1, wave: -1, pc: page.writerPc(dword), other: 'write' };
    }
    const found = synchronisation.updateNotBefore(group, address);
    if (found === undefined) {
      page.forgetUpdaters(dword);
      return undefined;
    }
    const { other, by, order } = found;
    const conflict = { workgroup: other, wave: by.wave, pc: by.pc, other: 'write' } as const;
    return order === 'unordered' ? conflict : { ...conflict, order };
  }

  /** A read of a dword, when nothing orders it before a write. */
  private againstReaders(page: RaceDetails, dword: number, mask: number, who: Toucher): GlobalConflict | undefined {
    const { actor } = who;
    const { synchronisation } = this;
    const reader = page.reader(dword);
    const marks = page.readerMarks(dword);
    const pc = page.readerPc(dword);
    const group = groupOf(actor);
    if (reader !== 0 && (marks & mask) !== 0) {
      if (!isSameGroup(reader, actor)) {
        const workgroup = groupOf(reader);
        const wave = waveOf(reader);
        const [epoch, releases] = [page.readerEpoch(dword), page.readerReleases(dword)];
        const read = { wave, epoch, releases, isMany: (marks & MANY_WAVES) !== 0 };
        if (synchronisation.isReadBefore(group, workgroup, read)) return undefined;
        return { workgroup, wave: read.isMany ? -1 : wave, pc, other: 'read' };
      }
      const isMany = (marks & MANY_WAVES) !== 0;
      if (page.readerEpoch(dword) === who.epoch && (isMany || reader !== actor)) {
        return { workgroup: group, wave: isMany ? -1 : waveOf(reader), pc, other: 'read' };
      }
    }
    if (((marks >>> MANY_GROUPS_SHIFT) & mask) !== 0 && !synchronisation.isActive(group)) {
      return { workgroup: -1, wave: -1, pc, other: 'read' };
    }
    return undefined;
  }
}
