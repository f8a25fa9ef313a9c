// What a workgroup knows to come before what it does, by the numbers of events (race-events.ts): all accesses up to the barriers whose stores all other workgroups
// have handed over to it. Data that is exchanged behind a barrier of the grid is so; other orders are looked for one by one (synchronisation.ts).
import { type EventTable, FirstEvents, MOST_EPOCHS } from './first-events.ts';
import {
  type Acquisition,
  type CompleteStores,
  type HandedOver,
  lastReleases,
  type Message,
  type Released,
  type SharedAddress,
} from './releases.ts';
import type { Synchronisation } from './synchronisation.ts';
import { type MessageBounds, Together } from './together.ts';

/** Barriers of a workgroup that are remembered: fewer than epochs, so that the oldest is behind the first events of one. */
const MOST_BARRIERS = MOST_EPOCHS / 2;
/** Times that are remembered of a workgroup when it was told what all had handed over together. */
const MOST_TOGETHER = 4;
/**
 * With no more workgroups than these each looks at what every other one has told it. That takes 0.1 µs each, and says what atomics have changed, too. Smoothing rows with barriers of the
 * grid takes as long either way with 16 workgroups, and with 128 a third as long together.
 */
const MOST_ALONE = 32;
/** With more workgroups nothing is known: all are asked for. */
const MOST_GROUPS = 4096;

interface Barrier {
  /** Barriers that the workgroup has passed then. */
  readonly epoch: number;
  /** Below the words of records of what comes later. */
  readonly word: number;
  readonly stores: CompleteStores;
}

/** A wavefront, as far as its stores and barriers go. */
interface Meeting {
  /** Stores up to the last one that is no atomic: what atomics change has marks of its own in the records. */
  readonly plainStores: number;
  /** Its workgroup has come to a barrier since it was last found to have been handed over something. */
  hasMet: boolean;
  /** It may have learnt something since nothing new was found. */
  hasFetched: boolean;
}

interface Group {
  readonly waves: readonly Meeting[];
  /** The last ones. */
  readonly barriers: Barrier[];
  /** It has come to a barrier since it was last found to have been handed over something; it has invalidated its caches since it was last asked about. */
  hasMet: boolean;
  hasInvalidated: boolean;
  /** Words of readers and of writers below these come before. */
  known: Known;
  /** Of what it has acquired, so much is in `handed`; by workgroup, what that has handed over. */
  acquired: number;
  readonly handed: Map<number, Handed>;
  /** What it has been told that all had handed over together, last, and by its acquisitions up to so many: who acquires what it tells behind these knows that, too. */
  readonly together: { readonly acquired: number; readonly all: Together }[];
  /** What it has told, as was asked last. */
  told: ToldBy | undefined;
  /** Its own barrier beyond which nothing was known when it was last looked for: behind a later one more is, without news. */
  bounded: Barrier | undefined;
}

/** What a release hands over, where the workgroup's last barrier is this one. */
interface ToldBy {
  readonly by: HandedOver;
  readonly barrier: Barrier | undefined;
  /** All stores, and all reads, before the barrier. */
  readonly stores: Barrier | undefined;
  readonly reads: Barrier | undefined;
}

/** What a workgroup has handed over to another one. */
interface Handed {
  /** What has told it last. */
  by: HandedOver | undefined;
  /** All stores below the word. */
  word: number;
  /** All stores, and all reads, before the barrier. */
  stores: Barrier | undefined;
  reads: Barrier | undefined;
}

interface Known {
  readonly reads: number;
  readonly writes: number;
}

/** Of what is looked for: nothing is known beyond `last`, and events are numbered below `now`. */
interface Bounds {
  readonly last: number;
  readonly now: number;
  /** An address has been tried at which all have told something, where it was not known that they meet there. */
  hasTried: boolean;
}

const NOTHING: Known = { reads: 0, writes: 0 };

const newlyKnown = (): Pick<Group, 'acquired' | 'handed' | 'together' | 'told' | 'bounded'> => ({
  acquired: 0,
  handed: new Map(),
  together: [],
  told: undefined,
  bounded: undefined,
});

/** Of a dispatch whose wavefronts can be put in order by more than barriers. */
export class HandedOverBefore {
  private readonly groups = new Map<number, Group>();
  private readonly firsts: FirstEvents;
  private renumberings = 0;
  /** By address, what all have told there last. */
  private together = new WeakMap<SharedAddress, Together>();
  private readonly bounds: MessageBounds = {
    reads: ({ group, by }, now) => {
      const one = this.groups.get(group) as Group;
      return this.behind(group, one, toldBy(one, by).reads, now);
    },
    writes: ({ group, by }, now) => {
      const one = this.groups.get(group) as Group;
      return areCovered(one, by) ? now : this.behind(group, one, toldBy(one, by).stores, now);
    },
  };

  private readonly workgroups: number;
  private readonly mostAlone: number;

  /** `isAtomic`: whether the instruction at a place in the image is an atomic. `workgroups`: of the dispatch. */
  constructor(isAtomic: (pc: number) => boolean, workgroups: number, mostAlone = MOST_ALONE) {
    this.firsts = new FirstEvents(isAtomic);
    this.workgroups = workgroups;
    this.mostAlone = mostAlone;
  }

  begin(group: number, waves: readonly Meeting[]): void {
    if (this.workgroups > MOST_GROUPS) return;
    this.groups.set(group, {
      waves,
      barriers: [],
      hasMet: false,
      hasInvalidated: false,
      known: NOTHING,
      ...newlyKnown(),
    });
  }

  /** All wavefronts of a workgroup have ended: theirs are those of other workgroups from now on. */
  end(number: number): void {
    const group = this.groups.get(number);
    if (group === undefined) return;
    this.groups.set(number, {
      ...group,
      waves: group.waves.map(({ plainStores }) => ({ plainStores, hasMet: false, hasFetched: false })),
    });
  }

  /** Events have other numbers when `renumberings` is another one than before: what is known is not known any more. */
  private forget(renumberings: number): void {
    if (renumberings === this.renumberings) return;
    this.renumberings = renumberings;
    this.firsts.clear();
    this.together = new WeakMap();
    for (const group of this.groups.values()) {
      group.barriers.length = 0;
      group.known = NOTHING;
      group.acquired = 0;
      group.handed.clear();
      group.together.length = 0;
      group.told = undefined;
      group.bounded = undefined;
    }
  }

  /** A workgroup has come to a barrier; `word` is the one that the next event will have. Whether it may know more than when it was last asked. */
  passBarrier(number: number, epoch: number, word: number, renumberings: number): boolean {
    this.forget(renumberings);
    const group = this.groups.get(number);
    if (group === undefined) return false;
    if (group.barriers.length === MOST_BARRIERS) group.barriers.shift();
    group.barriers.push({ epoch, word, stores: group.waves.map(({ plainStores }) => plainStores) });
    const hasFetched = group.waves.some((wave) => wave.hasFetched);
    setMet(group, true);
    if (hasFetched) setFetched(group, true);
    return hasFetched && group.waves.length > 1;
  }

  /** A workgroup that may know more has come to a barrier. `areIdle`: what its wavefronts have asked for has come back. */
  findAtBarrier(number: number, order: Synchronisation, events: EventTable, areIdle: boolean): void {
    if (!this.mayKnowMore(number)) return;
    this.find(number, order, events);
    const group = this.groups.get(number) as Group;
    if (areIdle && order.acquiredBy(number).count === group.acquired) setFetched(group, false);
  }

  invalidate(number: number): void {
    const group = this.groups.get(number);
    if (group !== undefined) group.hasInvalidated = true;
  }

  /** Whether a workgroup may know more than when it was last asked: it has come to a barrier and invalidated its caches. */
  mayKnowMore(number: number): boolean {
    const group = this.groups.get(number);
    return group?.hasMet === true && group.hasInvalidated;
  }

  /** The words below which all words of readers, or writers, come before what a workgroup does; 0 for none. */
  known(number: number, renumberings: number): Known {
    this.forget(renumberings);
    return this.groups.get(number)?.known ?? NOTHING;
  }

  /**
   * Finds it anew: the least of what the other workgroups have handed over, and not beyond the workgroup's own last barrier. Of many nothing is looked for before all have
   * begun: who begins sees what all before it have told, and who comes later tells more.
   */
  find(number: number, order: Synchronisation, events: EventTable): void {
    const group = this.groups.get(number);
    if (group === undefined) return;
    group.hasInvalidated = false;
    const { size } = this.groups;
    if (size > this.mostAlone && size < this.workgroups) {
      setFetched(group, false);
      return;
    }
    const now = events.nextWord;
    this.firsts.follow(events);
    const others = size - 1;
    const before = group.acquired;
    const barrier = group.barriers.at(-1);
    const last = this.behind(number, group, barrier, now);
    const bounds = { last, now, hasTried: false };
    const lately = group.together.at(-1);
    if (lately !== undefined) this.knowTogether(number, group, lately.all, bounds);
    let hasMore = false;
    group.acquired = order.eachFreshRelease(
      number,
      before,
      others,
      (one, acquired) => this.takeAll(number, group, one, acquired, bounds),
      (other, by) => {
        const isNew = this.note(group, other, by, now);
        hasMore ||= isNew;
        return isNew;
      },
    );
    if (group.acquired > before) setMet(group, false);
    else setFetched(group, false);
    if (!hasMore && (group.bounded === undefined || group.bounded === barrier)) return;
    group.bounded = last <= group.known.reads || last <= group.known.writes ? barrier : undefined;
    let [reads, writes] = [last, last];
    for (const [other, one] of this.groups) {
      if (other === number) continue;
      const handed = group.handed.get(other);
      reads = Math.min(reads, this.behind(other, one, handed?.reads, now));
      writes = Math.min(writes, Math.max(handed?.word ?? 0, this.behind(other, one, handed?.stores, now)));
      if (reads <= group.known.reads && writes <= group.known.writes) return;
    }
    if (last === reads || last === writes) group.bounded = barrier;
    know(group, reads, writes);
  }

  /** Below what a workgroup may have done behind one of its barriers. */
  private behind(of: number, { waves, barriers }: Group, barrier: Barrier | undefined, now: number): number {
    if (barrier === undefined) return 0;
    // Barriers of one wavefront are not counted.
    if (waves.length === 1) return barrier.word;
    const isRemembered = barrier.epoch >= (barriers[0] as Barrier).epoch;
    return isRemembered ? this.firsts.wordFrom(of, barrier.epoch, now) : 0;
  }

  /**
   * As eachFreshRelease asks: a workgroup knows what all have told at an address, or what who has told something there last had been told by all. At an address where all
   * tell something again and again, nothing is to be learnt before they have done so.
   */
  private takeAll(
    number: number,
    group: Group,
    one: Acquisition,
    acquired: number,
    bounds: Bounds,
  ): number | undefined {
    const { at, count, last } = one;
    const { size } = this.groups;
    if (size <= this.mostAlone) return undefined;
    const take = (all: Together): number | undefined => {
      if (!this.knowTogether(number, group, all, bounds)) return undefined;
      if (group.together.length === MOST_TOGETHER) group.together.shift();
      group.together.push({ acquired, all });
      return last.number;
    };
    const before = this.together.get(at);
    if (before !== undefined && before.count <= count && before.groups === size) {
      const least = before.isNews ? take(before) : undefined;
      if (least !== undefined || count < before.count + size - 1) return least ?? 0;
    }
    if (at.releases.size >= size - 1) {
      // Sums that all have added to are mostly no place where they meet.
      if (bounds.hasTried) return 0;
      const all = new Together(count, size, lastReleases(one), this.bounds);
      if (all.hasAllBut(number)) {
        this.together.set(at, all);
        bounds.hasTried = true;
        return take(all) ?? 0;
      }
    }
    return this.knowThrough(number, group, last, bounds) ? last.number : undefined;
  }

  /** A workgroup knows what all others have handed over together; whether that is news. */
  private knowTogether(number: number, group: Group, all: Together, { last, now }: Bounds): boolean {
    if (!all.hasAllBut(number)) return false;
    const [reads, writes] = all.without(number, now);
    const isNews = know(group, Math.min(last, reads), Math.min(last, writes));
    all.isNews ||= isNews;
    return isNews;
  }

  /** A workgroup knows what all had handed over together to another one that has told it something, and what that hands over itself; whether that is news. */
  private knowThrough(number: number, group: Group, told: Message, { last, now }: Bounds): boolean {
    const { group: other, acquiredCount } = told;
    const then = this.groups.get(other)?.together.findLast(({ acquired }) => acquired <= acquiredCount);
    if (then === undefined || !then.all.hasAllBut(other)) return false;
    const [reads, writes] = then.all.without(number, now);
    const { bounds } = this;
    return know(
      group,
      Math.min(last, reads, bounds.reads(told, now)),
      Math.min(last, writes, bounds.writes(told, now)),
    );
  }

  /** A workgroup has acquired what another one has told, and invalidated its caches since; whether that is another release than the last one. */
  private note(group: Group, other: number, by: Released, now: number): boolean {
    const one = this.groups.get(other);
    if (one === undefined) return true;
    let handed = group.handed.get(other);
    if (handed === undefined) {
      handed = { by: undefined, word: 0, stores: undefined, reads: undefined };
      group.handed.set(other, handed);
    }
    if (handed.by === by) return false;
    handed.by = by;
    // What has been told in an interval is mostly no news behind its barrier.
    const known = Math.min(handed.stores?.epoch ?? -1, handed.reads?.epoch ?? -1);
    if (one.waves.length > 1 && known >= by.epoch) return true;
    const told = toldBy(one, by);
    if (areCovered(one, by)) handed.word = now;
    handed.stores = later(handed.stores, told.stores);
    handed.reads = later(handed.reads, told.reads);
    return true;
  }
}

/** Up to which barriers a workgroup has handed things over by a release. Mostly one after the other asks for the same. */
function toldBy(group: Group, by: Released): ToldBy {
  const { barriers, told } = group;
  const barrier = barriers.at(-1);
  if (told?.by === by && told.barrier === barrier) return told;
  const stores = lastCovered(barriers, by);
  // What was read before the barrier that came before.
  const reads = barriers.findLast(({ epoch }) => epoch <= by.epoch);
  group.told = { by, barrier, stores, reads };
  return group.told;
}

function setMet(group: Group, hasMet: boolean): void {
  group.hasMet = hasMet;
  for (const wave of group.waves) wave.hasMet = hasMet;
}

function setFetched({ waves }: Group, hasFetched: boolean): void {
  for (const wave of waves) wave.hasFetched = hasFetched;
}

/** The later of two barriers of a workgroup. */
function later(a: Barrier | undefined, b: Barrier | undefined): Barrier | undefined {
  return a === undefined || (b !== undefined && b.word > a.word) ? b : a;
}

/** What has been known once stays so. Whether it is more. */
function know(group: Group, reads: number, writes: number): boolean {
  const { known } = group;
  if (reads <= known.reads && writes <= known.writes) return false;
  group.known = { reads: Math.max(known.reads, reads), writes: Math.max(known.writes, writes) };
  return true;
}

/** Whether a release hands over all that the wavefronts of a workgroup have stored so far. */
function areCovered({ waves }: Group, by: HandedOver): boolean {
  for (let wave = 0; wave < waves.length; wave++) {
    if (!covers(by, wave, (waves[wave] as Meeting).plainStores)) return false;
  }
  return true;
}

/** Whether a release hands over so many stores of a wavefront. */
function covers({ complete, written }: HandedOver, wave: number, stores: number): boolean {
  return stores <= (complete[wave] ?? 0) && stores <= (written[wave] ?? 0);
}

/** The last barrier before which a release hands everything over. */
function lastCovered(barriers: readonly Barrier[], by: HandedOver): Barrier | undefined {
  return barriers.findLast(({ stores }) => stores.every((count, wave) => covers(by, wave, count)));
}
