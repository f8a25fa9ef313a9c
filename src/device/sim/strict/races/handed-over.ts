// What a workgroup knows to come before what it does, by the numbers of events (race-events.ts): all accesses up to the barriers whose stores all other workgroups
// have handed over to it. Data that is exchanged behind a barrier of the grid is so; other orders are looked for one by one (synchronisation.ts).
import type { CompleteStores, HandedOver, Synchronisation } from './synchronisation.ts';

/** Barriers of a workgroup that are remembered. */
const MOST_BARRIERS = 8;
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

/** Of a dispatch whose wavefronts can be put in order by more than barriers. */
export class HandedOverBefore {
  private readonly groups = new Map<number, Group>();
  private renumberings = 0;

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

  /** Finds it anew: the least of what the other workgroups have handed over, and not beyond the workgroup's own last barrier. `now` is the word of the next event. */
  find(number: number, order: Synchronisation, now: number): void {
    const group = this.groups.get(number);
    if (group === undefined) return;
    group.hasMet = false;
    group.hasInvalidated = false;
    const last = group.barriers.at(-1)?.word ?? 0;
    let [reads, writes] = [last, last];
    for (const [other, { barriers, waves }] of this.groups) {
      if (other === number) continue;
      let [mostReads, mostWrites] = [0, 0];
      order.eachFreshRelease(number, other, (by) => {
        const handsAll = waves.every(({ plainStores }, wave) => covers(by, wave, plainStores));
        mostWrites = Math.max(mostWrites, handsAll ? now : wordOf(barriers, by));
        // What was read before the barrier that came before.
        mostReads = Math.max(mostReads, barriers.findLast(({ epoch }) => epoch <= by.epoch)?.word ?? 0);
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

/** The word of the last barrier before which a release hands everything over; 0 for none. */
function wordOf(barriers: readonly Barrier[], by: HandedOver): number {
  for (let n = barriers.length - 1; n >= 0; n--) {
    const { word, stores } = barriers[n] as Barrier;
    if (stores.every((count, wave) => covers(by, wave, count))) return word;
  }
  return 0;
}
