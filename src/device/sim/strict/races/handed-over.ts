// What a workgroup knows to come before what it does, by the numbers of events (race-events.ts): all accesses up to the barriers whose stores all other workgroups
// have handed over to it. Data that is exchanged behind a barrier of the grid is so; other orders are looked for one by one (synchronisation.ts).
import { EVENT_ACTOR, EVENT_BYTES, EVENT_EPOCH, EVENT_PC, EVENT_SHIFT, groupOf, pcOf } from './race-events.ts';
import type { CompleteStores, HandedOver, Released } from './releases.ts';
import type { Synchronisation } from './synchronisation.ts';

/** Barriers of a workgroup that are remembered. */
const MOST_BARRIERS = 8;
/** Epochs of a workgroup whose first events are remembered: more than barriers, so that the oldest of those is among them. */
const MOST_EPOCHS = 2 * MOST_BARRIERS;
/** With more workgroups nothing is known: all are asked for. */
const MOST_GROUPS = 512;

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

const NOTHING: Known = { reads: 0, writes: 0 };

/** The events of a dispatch, as RaceEvents has them: their words, and the word that the next one will have in a record. */
export interface EventTable {
  readonly words: Uint32Array;
  readonly nextWord: number;
}

/** By workgroup and barriers that it had passed, the first event that is no atomic's; of its last epochs. What atomics change has marks of its own in the records. */
class FirstEvents {
  private readonly isAtomic: (pc: number) => boolean;
  /** By workgroup, an event by epoch. */
  private readonly byGroup: Map<number, number>[] = [];
  /** By workgroup, the epoch of its last event, and the last epoch. */
  private readonly last: number[] = [];
  private readonly most: number[] = [];
  /** Events up to this one are in. */
  private next = 1;

  constructor(isAtomic: (pc: number) => boolean) {
    this.isAtomic = isAtomic;
  }

  clear(): void {
    this.byGroup.length = 0;
    this.last.length = 0;
    this.most.length = 0;
    this.next = 1;
  }

  /** Takes in the events since it was last asked. */
  follow({ words, nextWord }: EventTable): void {
    const end = nextWord >>> EVENT_SHIFT;
    for (; this.next < end; this.next++) {
      const at = (EVENT_BYTES / 4) * this.next;
      const actor = words[at + EVENT_ACTOR] as number;
      if (actor !== 0) this.add(groupOf(actor), words[at + EVENT_EPOCH] as number, words[at + EVENT_PC] as number);
    }
  }

  private add(group: number, epoch: number, pc: number): void {
    // Mostly one more of the same.
    if (this.last[group] === epoch || this.isAtomic(pcOf(pc))) return;
    this.last[group] = epoch;
    this.most[group] = Math.max(epoch, this.most[group] ?? 0);
    const all = this.byGroup[group] ?? new Map<number, number>();
    this.byGroup[group] = all;
    if (all.has(epoch)) return;
    all.set(epoch, this.next);
    if (all.size > MOST_EPOCHS) all.delete(Math.min(...all.keys()));
  }

  /** The word of the first event of a workgroup behind so many barriers, which is one of the last it has passed; `now` where there is none. */
  wordFrom(group: number, epoch: number, now: number): number {
    const all = this.byGroup[group];
    const most = this.most[group] ?? -1;
    let word = now;
    // What was noted by lines becomes an event late: a later interval may have an earlier one.
    for (let when = epoch; when <= most; when++) {
      const event = all?.get(when);
      if (event !== undefined) word = Math.min(word, event << EVENT_SHIFT);
    }
    return word;
  }
}

const newlyKnown = (): Pick<Group, 'acquired' | 'handed' | 'told' | 'bounded'> => ({
  acquired: 0,
  handed: new Map(),
  told: undefined,
  bounded: undefined,
});

/** Of a dispatch whose wavefronts can be put in order by more than barriers. */
export class HandedOverBefore {
  private readonly groups = new Map<number, Group>();
  private readonly firsts: FirstEvents;
  private renumberings = 0;

  /** `isAtomic`: whether the instruction at a place in the image is an atomic. */
  constructor(isAtomic: (pc: number) => boolean) {
    this.firsts = new FirstEvents(isAtomic);
  }

  begin(group: number, waves: readonly Meeting[]): void {
    if (this.groups.size > MOST_GROUPS) return;
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
    for (const group of this.groups.values()) {
      group.barriers.length = 0;
      group.known = NOTHING;
      group.acquired = 0;
      group.handed.clear();
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
    return group?.hasMet === true && group.hasInvalidated && this.groups.size <= MOST_GROUPS;
  }

  /** The words below which all words of readers, or writers, come before what a workgroup does; 0 for none. */
  known(number: number, renumberings: number): Known {
    this.forget(renumberings);
    return this.groups.get(number)?.known ?? NOTHING;
  }

  /** Finds it anew: the least of what the other workgroups have handed over, and not beyond the workgroup's own last barrier. */
  find(number: number, order: Synchronisation, events: EventTable): void {
    const group = this.groups.get(number);
    if (group === undefined) return;
    const now = events.nextWord;
    this.firsts.follow(events);
    group.hasInvalidated = false;
    const others = this.groups.size - 1;
    const before = group.acquired;
    let hasMore = false;
    group.acquired = order.eachFreshRelease(number, before, others, (other, by) => {
      const isNew = this.note(group, other, by, now);
      hasMore ||= isNew;
      return isNew;
    });
    if (group.acquired > before) setMet(group, false);
    else setFetched(group, false);
    /** Below what a workgroup may have done behind one of its barriers. */
    const behind = (of: number, { waves, barriers }: Group, barrier: Barrier | undefined): number => {
      if (barrier === undefined) return 0;
      // Barriers of one wavefront are not counted.
      if (waves.length === 1) return barrier.word;
      const isRemembered = barrier.epoch >= (barriers[0] as Barrier).epoch;
      return isRemembered ? this.firsts.wordFrom(of, barrier.epoch, now) : 0;
    };
    const barrier = group.barriers.at(-1);
    if (!hasMore && (group.bounded === undefined || group.bounded === barrier)) return;
    const last = behind(number, group, barrier);
    group.bounded = last <= group.known.reads || last <= group.known.writes ? barrier : undefined;
    let [reads, writes] = [last, last];
    for (const [other, one] of this.groups) {
      if (other === number) continue;
      const handed = group.handed.get(other);
      reads = Math.min(reads, behind(other, one, handed?.reads));
      writes = Math.min(writes, Math.max(handed?.word ?? 0, behind(other, one, handed?.stores)));
      if (reads <= group.known.reads && writes <= group.known.writes) return;
    }
    if (last === reads || last === writes) group.bounded = barrier;
    // What has been known once stays so.
    group.known = { reads: Math.max(group.known.reads, reads), writes: Math.max(group.known.writes, writes) };
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
    if (one.waves.every(({ plainStores }, wave) => covers(by, wave, plainStores))) handed.word = now;
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

/** Whether a release hands over so many stores of a wavefront. */
function covers({ complete, written }: HandedOver, wave: number, stores: number): boolean {
  return stores <= (complete[wave] ?? 0) && stores <= (written[wave] ?? 0);
}

/** The last barrier before which a release hands everything over. */
function lastCovered(barriers: readonly Barrier[], by: HandedOver): Barrier | undefined {
  return barriers.findLast(({ stores }) => stores.every((count, wave) => covers(by, wave, count)));
}
