// What a workgroup knows to come before what it does, by the numbers of events (race-events.ts): all accesses up to the barriers whose stores all other workgroups
// have handed over to it. Data that is exchanged behind a barrier of the grid is so; other orders are looked for one by one (synchronisation.ts).
import { ANNOUNCES, EVENT_ACTOR, EVENT_BYTES, EVENT_EPOCH, EVENT_PC, EVENT_SHIFT, groupOf } from './race-events.ts';
import type { CompleteStores, HandedOver, Synchronisation } from './synchronisation.ts';

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

/** A wavefront, as far as its stores go. */
interface Storing {
  /** Those up to the last one that is no atomic: what atomics change has marks of its own in the records. */
  readonly plainStores: number;
}

interface Group {
  readonly waves: readonly Storing[];
  /** The last ones. */
  readonly barriers: Barrier[];
  /** Of what the workgroup was asked about last: whether it has come to a barrier and invalidated its caches since. */
  hasMet: boolean;
  hasInvalidated: boolean;
  /** Words of readers and of writers below these come before. */
  known: Known;
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
  private readonly last: number[] = [];
  /** Events up to this one are in. */
  private next = 1;

  constructor(isAtomic: (pc: number) => boolean) {
    this.isAtomic = isAtomic;
  }

  clear(): void {
    this.byGroup.length = 0;
    this.last.length = 0;
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
    if (this.last[group] === epoch || this.isAtomic(pc & ~ANNOUNCES)) return;
    this.last[group] = epoch;
    const all = this.byGroup[group] ?? new Map<number, number>();
    this.byGroup[group] = all;
    if (all.has(epoch)) return;
    all.set(epoch, this.next);
    if (all.size > MOST_EPOCHS) all.delete(Math.min(...all.keys()));
  }

  /** The word of the first event of a workgroup behind so many barriers, which is one of the last it has passed; `now` where there is none. */
  wordFrom(group: number, epoch: number, now: number): number {
    let word = now;
    this.byGroup[group]?.forEach((event, when) => {
      if (when >= epoch) word = Math.min(word, event << EVENT_SHIFT);
    });
    return word;
  }
}

/** Of a dispatch whose wavefronts can be put in order by more than barriers. */
export class HandedOverBefore {
  private readonly groups = new Map<number, Group>();
  private readonly firsts: FirstEvents;
  private renumberings = 0;

  /** `isAtomic`: whether the instruction at a place in the image is an atomic. */
  constructor(isAtomic: (pc: number) => boolean) {
    this.firsts = new FirstEvents(isAtomic);
  }

  begin(group: number, waves: readonly Storing[]): void {
    if (this.groups.size > MOST_GROUPS) return;
    this.groups.set(group, { waves, barriers: [], hasMet: false, hasInvalidated: false, known: NOTHING });
  }

  /** All wavefronts of a workgroup have ended: theirs are those of other workgroups from now on. */
  end(number: number): void {
    const group = this.groups.get(number);
    if (group === undefined) return;
    this.groups.set(number, { ...group, waves: group.waves.map(({ plainStores }) => ({ plainStores })) });
  }

  /** Events have other numbers when `renumberings` is another one than before: what is known is not known any more. */
  private forget(renumberings: number): void {
    if (renumberings === this.renumberings) return;
    this.renumberings = renumberings;
    this.firsts.clear();
    for (const group of this.groups.values()) {
      group.barriers.length = 0;
      group.known = NOTHING;
    }
  }

  /** A workgroup has come to a barrier; `word` is the one that the next event will have. */
  passBarrier(number: number, epoch: number, word: number, renumberings: number): void {
    this.forget(renumberings);
    const group = this.groups.get(number);
    if (group === undefined) return;
    if (group.barriers.length === MOST_BARRIERS) group.barriers.shift();
    group.barriers.push({ epoch, word, stores: group.waves.map(({ plainStores }) => plainStores) });
    group.hasMet = true;
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
    group.hasMet = false;
    group.hasInvalidated = false;
    /** Below what a workgroup may have done behind one of its barriers. */
    const behind = (of: number, { waves }: Group, barrier: Barrier | undefined): number => {
      if (barrier === undefined) return 0;
      // Barriers of one wavefront are not counted.
      return waves.length > 1 ? this.firsts.wordFrom(of, barrier.epoch, now) : barrier.word;
    };
    const last = behind(number, group, group.barriers.at(-1));
    let [reads, writes] = [last, last];
    for (const [other, one] of this.groups) {
      if (other === number) continue;
      const { barriers, waves } = one;
      let [mostReads, mostWrites] = [0, 0];
      order.eachFreshRelease(number, other, (by) => {
        const handsAll = waves.every(({ plainStores }, wave) => covers(by, wave, plainStores));
        mostWrites = Math.max(mostWrites, handsAll ? now : behind(other, one, lastCovered(barriers, by)));
        // What was read before the barrier that came before.
        const before = barriers.findLast(({ epoch }) => epoch <= by.epoch);
        mostReads = Math.max(mostReads, behind(other, one, before));
      });
      [reads, writes] = [Math.min(reads, mostReads), Math.min(writes, mostWrites)];
      if (reads === 0 && writes === 0) break;
    }
    // What has been known once stays so.
    group.known = { reads: Math.max(group.known.reads, reads), writes: Math.max(group.known.writes, writes) };
  }
}

/** Whether a release hands over so many stores of a wavefront. */
function covers({ complete, written }: HandedOver, wave: number, stores: number): boolean {
  return stores <= (complete[wave] ?? 0) && stores <= (written[wave] ?? 0);
}

/** The last barrier before which a release hands everything over. */
function lastCovered(barriers: readonly Barrier[], by: HandedOver): Barrier | undefined {
  return barriers.findLast(({ stores }) => stores.every((count, wave) => covers(by, wave, count)));
}
