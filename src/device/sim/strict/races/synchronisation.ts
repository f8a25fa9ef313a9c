// What atomics and accesses with device scope have put in order between workgroups: releases at an address, and who has acquired them.
// A release hands over the stores that its wavefront knows to be complete, and written back where dies have caches of their own; a later
// one of the same address hands over more. What has been acquired is read past the reader's caches once they have been invalidated.
// Source: LLVM's AMDGPUUsage, "Memory Model gfx90a" and "gfx942".
import { Answers } from './answers.ts';
import {
  type Acquired,
  type Acquisition,
  type CompleteStores,
  lastReleases,
  type Message,
  type Released,
  type Releases,
  type SharedAddress,
} from './releases.ts';
import { ReleasesByAddress } from './releases-by-address.ts';

/** Acquisitions, of all workgroups that may be between two, among which an order is looked for; with more the two count as ordered. */
const MAX_STEPS = 200_000;
/** Of what a workgroup has acquired last, so much is looked at before who has told it: mostly that is enough. */
const DIRECT = 8;
/** Then so many workgroups who have told each other something last: who has come to a barrier of the grid as the last one has been told by all. */
const MOST_TELLERS = 4;

/** A read, of which a record knows: by which wavefront and when (Toucher). `isMany`: others of its workgroup have read in the same epoch. */
export interface Read {
  readonly wave: number;
  readonly epoch: number;
  readonly releases: number;
  readonly isMany: boolean;
}

/** A release that came while a wavefront's stores were on their way. */
interface EarlyRelease {
  readonly at: SharedAddress;
  readonly pc: number;
  /** The stores that it came too early for end before this one. */
  readonly issued: number;
}

/** What a workgroup has been told of the stores of another one, by all that it has acquired so far. */
interface Told {
  /** Of its acquisitions, the first so many are in here. */
  upTo: number;
  /** By wavefront: stores that are known to be complete. */
  readonly complete: number[];
  /** By wavefront, in the order in which they were acquired. */
  readonly early: EarlyRelease[][];
}

/** Other workgroups that it is remembered of what a workgroup has been told. */
const MAX_TOLD = 4096;

/** Tells nothing. */
const NOBODY: Released = {
  complete: [],
  written: [],
  epoch: 0,
  releases: 0,
  pc: 0,
  wave: 0,
  issued: 0,
  isEarly: false,
};

interface GroupOrder {
  readonly acquired: Acquisition[];
  readonly last: Map<SharedAddress, number>;
  /** Of `acquired`, the first so many were there when the caches were invalidated. */
  fresh: number;
  /** By workgroup. */
  readonly told: Map<number, Told>;
}

/**
 * How an earlier store of another workgroup stands to one that looks at its bytes. `stale`: it comes first, but the caches of who looks
 * may hold older bytes. With `releasePc`: that release came too early for it, or, if `isComplete`, it stayed in the caches of its die.
 */
export type Order = 'ordered' | 'unordered' | 'stale' | { readonly releasePc: number; readonly isComplete: boolean };

/** An atomic that another workgroup has told something by, and how it stands to a load. */
export interface UnorderedUpdate {
  readonly other: number;
  readonly by: Released;
  readonly order: Exclude<Order, 'ordered'>;
}

/** Who is told what has been found (found-orders.ts): another workgroup's stores that one of its wavefronts has handed over, and its reads before that. */
export interface OrderReader {
  learn(group: number): void;
  stores(group: number, other: number, by: Released, isForLoads: boolean): void;
  reads(group: number, other: number, by: Released): void;
  /** Its stores before the workgroup's loads, too, and its reads. */
  handedOver(group: number, other: number, by: Released): void;
  /** Something is told before all stores of who tells it are complete. */
  early(): void;
}

export class Synchronisation {
  /** The last answers, by what is looked for and how much has been acquired: what has been does not change. */
  private readonly answers = new Answers<Order>();
  private readonly ofStore = new StoreSearch();
  private readonly ofRead: ReadSearch;
  private readonly releases = new ReleasesByAddress();
  private readonly groups = new Map<number, GroupOrder>();
  private readonly reader: OrderReader | undefined;
  /** What has been told last. */
  private lastTold: Message = { group: -1, by: NOBODY, acquired: [], acquiredCount: 0, number: 0 };
  /** `handsOver`: wavefronts of a workgroup may be put in order through LDS without barriers. */
  constructor(handsOver = false, reader?: OrderReader) {
    this.ofRead = new ReadSearch(handsOver);
    this.reader = reader;
  }

  private group(number: number): GroupOrder {
    let order = this.groups.get(number);
    if (order === undefined) {
      order = { acquired: [], last: new Map(), fresh: 0, told: new Map() };
      this.groups.set(number, order);
    }
    return order;
  }

  /** What a running workgroup has acquired so far. */
  acquiredBy(group: number): Acquired {
    const { acquired } = this.group(group);
    return { list: acquired, count: acquired.length };
  }

  /** A wavefront of a workgroup writes an address atomically or with device scope, when the workgroup had acquired something. */
  release(group: number, address: number, by: Released, { list, count }: Acquired = this.acquiredBy(group)): void {
    this.releases.add(group, address, this.toTell(group, by, list, count));
  }

  /** The same at many addresses, which are offsets in the window. */
  releaseAll(group: number, offsets: Uint32Array, length: number, by: Released): void {
    const { list, count } = this.acquiredBy(group);
    this.releases.addAll(group, offsets, length, this.toTell(group, by, list, count));
  }

  private toTell(group: number, by: Released, list: readonly Acquisition[], count: number): Message {
    if (by.isEarly) this.reader?.early();
    let told = this.lastTold;
    if (told.by !== by || told.acquiredCount !== count || told.acquired !== list) {
      told = { group, by, acquired: list, acquiredCount: count, number: told.number + 1 };
      this.lastTold = told;
    }
    return told;
  }

  /** Whether a workgroup's store by a wavefront is among what has been released at an address. */
  isReleased(group: number, address: number, wave: number, store: number): boolean {
    const all = this.releases.find(address)?.releases.get(group);
    return all?.has((by) => by.wave === wave && by.issued === store) === true;
  }

  /** Whether a workgroup has released something at an address by the instruction at `pc`. */
  hasReleased(group: number, address: number, pc: number): boolean {
    const all = this.releases.find(address)?.releases.get(group);
    return all?.has((by) => by.pc === pc) === true;
  }

  /** Whether anybody has released anything. */
  get isTold(): boolean {
    return this.releases.isTold;
  }

  /** What a read of an address would acquire now; it has it when the value has come back. */
  seenAt(address: number): Acquisition | undefined {
    const at = this.releases.find(address);
    if (at === undefined) return undefined;
    if (at.seen?.count !== at.count) at.seen = { at, count: at.count, last: at.last as Message };
    return at.seen;
  }

  /** Whether a workgroup has not acquired all of something so far. */
  isNews(group: number, { at, count }: Acquisition): boolean {
    return (this.groups.get(group)?.last.get(at) ?? 0) < count;
  }

  /** A value has come back that was read when so much had been released: whether that is news. */
  acquire(group: number, one: Acquisition): boolean {
    const { at, count } = one;
    const { acquired, last } = this.group(group);
    if ((last.get(at) ?? 0) >= count) return false;
    last.set(at, count);
    if (acquired.length === 0) this.reader?.learn(group);
    acquired.push(one);
    return true;
  }

  /** The caches of a workgroup's compute unit are invalidated. */
  invalidate(group: number): void {
    const order = this.groups.get(group);
    if (order !== undefined) order.fresh = order.acquired.length;
  }

  /**
   * By what a running workgroup has acquired before its caches were invalidated, from the acquisition with number `from` on, the last one first. `seeAll` may take an
   * acquisition as a whole, with which there are so many, and returns the number of the message before which nothing more is to be learnt then. Of others `see` gets the last release of each of so
   * many other workgroups, and says whether it is another one than before: the stores of these, and their reads before, are known to come before what the workgroup does.
   * Those that are older than one of each need not be among them. Returns the number of the next acquisition.
   */
  eachFreshRelease(
    group: number,
    from: number,
    others: number,
    seeAll: (one: Acquisition, upTo: number) => number | undefined,
    see: (other: number, by: Released) => boolean,
  ): number {
    const order = this.groups.get(group);
    if (order === undefined) return from;
    const { acquired, fresh, last } = order;
    let least = 0;
    for (let n = fresh - 1; n >= from; n--) {
      const one = acquired[n] as Acquisition;
      const { at, count } = one;
      // A later one of the address has seen more; or all others have told something later.
      if (n < fresh - 1 && fresh === acquired.length && last.get(at) !== count) continue;
      if (one.last.number < least) continue;
      const all = seeAll(one, n + 1);
      if (all !== undefined) {
        least = Math.max(least, all);
        continue;
      }
      let oldest = Infinity;
      let told = 0;
      for (const message of lastReleases(one)) {
        const other = message.group;
        if (other === group) continue;
        told++;
        oldest = Math.min(oldest, message.number);
        if (see(other, message.by)) this.reader?.handedOver(group, other, message.by);
      }
      if (told >= others) least = Math.max(least, oldest);
    }
    return fresh;
  }

  /** A workgroup has ended. */
  end(group: number): void {
    this.groups.delete(group);
  }

  /** Whether a running workgroup has acquired anything. */
  isActive(group: number): boolean {
    return (this.groups.get(group)?.acquired.length ?? 0) > 0;
  }

  /**
   * Whether a running workgroup has acquired a store of another one: its wavefront, and the number of the store among its own. A read
   * needs the caches to be invalidated behind that, a write does not. `isPast`: the store went past the caches of its die.
   */
  orderOf(group: number, other: number, wave: number, store: number, isRead: boolean, isPast = false): Order {
    const mine = this.groups.get(group);
    if (mine === undefined) return 'unordered';
    const { acquired, fresh } = mine;
    const { length } = acquired;
    const [since, past] = [isRead ? fresh : -1, isPast ? 1 : 0];
    const known = this.answers.find(group, length, since, other, wave, store, past, -1);
    if (known !== undefined) return known;
    const { ofStore } = this;
    ofStore.begin(wave, store, isPast);
    const isFresh = isRead && searchReleases(acquired, fresh, other, ofStore) === 'ordered';
    const found = isFresh ? 'ordered' : searchReleases(acquired, length, other, ofStore);
    const order = found === 'ordered' && isRead && !isFresh ? 'stale' : found;
    if (found === 'ordered' && group !== other && ofStore.toldBy !== undefined && !isPast) {
      this.reader?.stores(group, other, ofStore.toldBy, isFresh);
    }
    return this.answers.add(order, group, length, since, other, wave, store, past, -1);
  }

  /**
   * The last atomic of an address by a wavefront of another workgroup that nothing orders before a load of a running one, of those that have told something there;
   * undefined when there is none.
   */
  updateNotBefore(group: number, address: number): UnorderedUpdate | undefined {
    const at = this.releases.find(address);
    if (at === undefined) return undefined;
    for (const [other, all] of at.releases) {
      if (other === group) continue;
      for (const by of all.lastOfWaves()) {
        const order = this.orderOf(group, other, by.wave, by.issued, true, true);
        if (order !== 'ordered') return { other, by, order };
      }
    }
    return undefined;
  }

  /** Whether a running workgroup has acquired something that another one has told behind a read. */
  isReadBefore(group: number, other: number, read: Read): boolean {
    const mine = this.groups.get(group);
    if (mine === undefined) return false;
    const { acquired } = mine;
    const { length } = acquired;
    const { wave, epoch, releases, isMany } = read;
    const many = isMany ? 1 : 0;
    const known = this.answers.find(group, length, -2, other, wave, epoch, releases, many);
    if (known !== undefined) return known === 'ordered';
    const { ofRead } = this;
    ofRead.begin(read);
    const order = searchReleases(acquired, length, other, ofRead);
    if (ofRead.toldBy !== undefined) this.reader?.reads(group, other, ofRead.toldBy);
    return this.answers.add(order, group, length, -2, other, wave, epoch, releases, many) === 'ordered';
  }

  /**
   * The release of another workgroup's wavefront that a running workgroup has acquired at another address, and that was executed between
   * a store of that wavefront to `address` and its completion: its place, or undefined. For reads past the caches, which may look at what
   * is being changed as long as nothing has told them that it is there.
   */
  announcedEarly(group: number, other: number, wave: number, store: number, address: number): number | undefined {
    const mine = this.groups.get(group);
    if (mine === undefined || mine.acquired.length === 0) return undefined;
    const { complete, early } = toldOf(mine, other);
    if (store < (complete[wave] ?? 0)) return undefined;
    const here = this.releases.known(address);
    return early[wave]?.find(({ at, issued }) => at !== here && store < issued)?.pc;
  }
}

/** What is looked for among the releases of a workgroup. */
interface ReleaseSearch {
  /** What those of one address with numbers below `count` say. */
  look(releases: Releases | undefined, count: number): Order | undefined;
}

/** What is said of a store of a wavefront. One of another wavefront that is behind does not take back what one says. */
class StoreSearch implements ReleaseSearch {
  private wave = 0;
  private store = 0;
  private isPast = false;
  private early: Order | undefined;
  /** What puts it in order. */
  toldBy: Released | undefined;

  begin(wave: number, store: number, isPast: boolean): void {
    [this.wave, this.store, this.isPast] = [wave, store, isPast];
    this.toldBy = undefined;
  }

  look(releases: Releases | undefined, count: number): Order | undefined {
    this.early = undefined;
    const found = releases?.lastBefore(count, this.isInOrder);
    if (found === undefined) return this.early;
    this.toldBy = found.by;
    return 'ordered';
  }

  private readonly isInOrder = (by: Released): boolean => {
    const { wave, store } = this;
    const isComplete = store < (by.complete[wave] as number);
    if (isComplete && (this.isPast || store < (by.written[wave] as number))) return true;
    // What its wavefront has told before it stored has nothing to do with it.
    if (by.wave !== wave || store <= by.issued) this.early ??= { releasePc: by.pc, isComplete };
    return false;
  };
}

/** What is told behind a read: behind a barrier, or by the wavefront that has read. */
class ReadSearch implements ReleaseSearch {
  private readonly handsOver: boolean;
  private read: Read = { wave: 0, epoch: 0, releases: 0, isMany: false };
  toldBy: Released | undefined;

  constructor(handsOver: boolean) {
    this.handsOver = handsOver;
  }

  begin(read: Read): void {
    this.read = read;
    this.toldBy = undefined;
  }

  look(releases: Releases | undefined, count: number): Order | undefined {
    const behind = releases?.lastBefore(count, this.isBehind);
    if (behind === undefined) return undefined;
    this.toldBy = behind.by;
    return 'ordered';
  }

  private readonly isBehind = ({ epoch, wave, releases }: Released): boolean => {
    const { read } = this;
    if (epoch !== read.epoch) return epoch > read.epoch;
    if (read.isMany || wave !== read.wave) return this.handsOver;
    return releases >= read.releases;
  };
}

/** Whether what has been acquired last puts something in order, or what who has told the last of it had acquired last. */
function isToldLately(acquired: readonly Acquisition[], count: number, other: number, search: ReleaseSearch): boolean {
  let [list, length] = [acquired, count];
  for (let teller = 0; teller <= MOST_TELLERS && length > 0; teller++) {
    for (let i = length - 1; i >= 0 && i >= length - DIRECT; i--) {
      const { at, count: seen } = list[i] as Acquisition;
      if (search.look(at.releases.get(other), seen) === 'ordered') return true;
    }
    const { last } = list[length - 1] as Acquisition;
    [list, length] = [last.acquired, last.acquiredCount];
  }
  return false;
}

/** By which of the releases of a workgroup that have been acquired, directly or through others, something is in order. */
function searchReleases(acquired: readonly Acquisition[], count: number, other: number, search: ReleaseSearch): Order {
  if (isToldLately(acquired, count, other, search)) return 'ordered';
  const visited = new Map<SharedAddress, number>();
  /** By workgroup, of what it had acquired: the first so many have been looked at. */
  const scanned = new Map<readonly Acquisition[], number>();
  let early: Order = 'unordered';
  let steps = 0;
  const open: [readonly Acquisition[], number][] = [[acquired, count]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [list, length] = next;
    const first = scanned.get(list) ?? 0;
    if (first < length) scanned.set(list, length);
    for (let i = length - 1; i >= first; i--) {
      if (++steps > MAX_STEPS) return 'ordered';
      const { at, count } = list[i] as Acquisition;
      const before = visited.get(at) ?? 0;
      if (before >= count) continue;
      visited.set(at, count);
      const found = search.look(at.releases.get(other), count);
      if (found === 'ordered') return 'ordered';
      early = found ?? early;
      for (const [by, all] of at.releases) {
        if (by === other) continue;
        const through = all.lastBefore(count);
        if (through !== undefined && through.acquiredCount > 0) open.push([through.acquired, through.acquiredCount]);
      }
    }
  }
  return early;
}

/** Whether a has a later count of a wavefront than b. */
export function isLater(a: CompleteStores, b: CompleteStores): boolean {
  if (a === b) return false;
  for (let i = 0; i < a.length; i++) if ((a[i] as number) > (b[i] ?? 0)) return true;
  return false;
}

/** The later of two counts of each wavefront: the first array itself where the second has no later one, else the second where the first has none. */
export function latest(a: CompleteStores, b: CompleteStores): CompleteStores {
  if (!isLater(b, a)) return a;
  if (!isLater(a, b)) return b;
  const out = a.slice();
  for (let i = 0; i < b.length; i++) out[i] = Math.max(out[i] ?? 0, b[i] as number);
  return out;
}

/** What a workgroup has been told of another one's stores, brought up to date. */
function toldOf({ acquired, told }: GroupOrder, other: number): Told {
  let known = told.get(other);
  if (known === undefined) {
    if (told.size >= MAX_TOLD) told.clear();
    known = { upTo: 0, complete: [], early: [] };
    told.set(other, known);
  }
  for (; known.upTo < acquired.length; known.upTo++) {
    const { at, count } = acquired[known.upTo] as Acquisition;
    at.releases.get(other)?.eachBefore(count, (by) => note(known, by, at));
  }
  return known;
}

function note({ complete, early }: Told, { complete: now, wave, issued, pc }: Released, at: SharedAddress): void {
  for (let w = 0; w < now.length; w++) complete[w] = Math.max(complete[w] ?? 0, now[w] as number);
  const done = complete[wave] ?? 0;
  const left = (early[wave] ?? []).filter((e) => e.issued > done);
  if (issued > done) left.push({ at, pc, issued });
  early[wave] = left;
}
