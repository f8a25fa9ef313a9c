// What workgroups have done first behind each of their barriers, by the numbers of events (race-events.ts): what comes before such an event comes before all that the
// workgroup has done behind the barrier.
import { EVENT_ACTOR, EVENT_BYTES, EVENT_EPOCH, EVENT_PC, EVENT_SHIFT, groupOf, pcOf } from './race-events.ts';

/** Epochs of a workgroup whose first events are remembered. */
export const MOST_EPOCHS = 16;

/** The events of a dispatch, as RaceEvents has them: their words, and the word that the next one will have in a record. */
export interface EventTable {
  readonly words: Uint32Array;
  readonly nextWord: number;
}

/** By workgroup and barriers that it had passed, the first event that is no atomic's; of its last epochs. What atomics change has marks of its own in the records. */
export class FirstEvents {
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
