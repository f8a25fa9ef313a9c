// What all workgroups have handed over together: where they meet at a barrier of the grid, who sees what the last one has told knows what all have told. Found once for
// all who see it, so that a barrier of the grid does not cost every workgroup a look at every other one.
import type { Message } from './releases.ts';

/** What a message hands over, by the numbers of events: the words below which reads, and stores, of its workgroup come before who has been told, as far as is known now. */
export interface MessageBounds {
  reads(told: Message, now: number): number;
  writes(told: Message, now: number): number;
}

/** The least of some numbers, each of a workgroup, and the least of those of all other workgroups than its own. */
class Least {
  private group = -1;
  private least = Infinity;
  private next = Infinity;

  add(group: number, value: number): void {
    if (value < this.least) {
      this.next = this.least;
      this.least = value;
      this.group = group;
    } else this.next = Math.min(this.next, value);
  }

  /** Of all but one workgroup. */
  without(group: number): number {
    return group === this.group ? this.next : this.least;
  }

  /** Whether more than one of the numbers are below this one. */
  isBelow(value: number): boolean {
    return this.next < value;
  }
}

/** The last releases of an address by all workgroups, or by all but one, up to a count. */
export class Together {
  readonly count: number;
  /** Workgroups that there were then. */
  readonly groups: number;
  /** A workgroup has learnt something by them. */
  isNews = false;
  private readonly releases: readonly Message[];
  private readonly bounds: MessageBounds;
  /** By release, the word below which all stores of its workgroup were once found to be handed over. */
  private readonly stored: number[] = [];
  private reads = new Least();
  private writes = new Least();
  /** Up to which event it has been looked at. */
  private now = -1;
  /** Whatever comes after that changes nothing: of two workgroups it is known what they have done first behind what they have told. */
  private isSettled = false;

  constructor(count: number, groups: number, releases: readonly Message[], bounds: MessageBounds) {
    [this.count, this.groups, this.releases, this.bounds] = [count, groups, releases, bounds];
  }

  /** Whether all workgroups but this one are among them. */
  hasAllBut(group: number): boolean {
    const { groups, releases } = this;
    if (releases.length < groups - 1) return false;
    return releases.length === groups || !releases.some((told) => told.group === group);
  }

  /** Words of readers, and of writers, below which those of all workgroups but one come before who sees this. */
  without(group: number, now: number): readonly [reads: number, writes: number] {
    if (!this.isSettled && this.now !== now) this.look(now);
    return [this.reads.without(group), this.writes.without(group)];
  }

  private look(now: number): void {
    const { releases, bounds, stored } = this;
    const [reads, writes] = [new Least(), new Least()];
    for (let n = 0; n < releases.length; n++) {
      const told = releases[n] as Message;
      const word = Math.max(stored[n] ?? 0, bounds.writes(told, now));
      stored[n] = word;
      reads.add(told.group, bounds.reads(told, now));
      writes.add(told.group, word);
    }
    [this.reads, this.writes, this.now] = [reads, writes, now];
    this.isSettled = reads.isBelow(now) && writes.isBelow(now);
  }
}
