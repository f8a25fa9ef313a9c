// Stores that announce something where cache policies have no scope: on gfx90a LLVM's atomic and volatile stores are plain ones, so that any store of a kernel that
// waits may be one, if all stores before it are done. Its event says so (ANNOUNCES); what its wavefront knew then is only made up when somebody reads what it has
// stored. One that comes before stores in front of it are done (EARLY) tells who waits for it in a loop: of others nobody says that they mean anything.
// Source: LLVM's AMDGPUUsage, "Memory Model gfx90a", store atomic.
import { actorOf, groupOf, waveOf } from './race-events.ts';
import type { Acquired, CompleteStores, Released } from './releases.ts';

/**
 * From so many stores of a wavefront on, the stores of its workgroup that it knows to be complete, and how often it has told something apart from its stores
 * (RegisterShadow.counted).
 */
export interface KnownSince {
  readonly stores: number;
  readonly known: CompleteStores;
  readonly counted: number;
}

/** A wavefront, as far as it is asked. */
interface Storing {
  readonly knownSince: readonly KnownSince[] | undefined;
  readonly storesIssued: number;
}

/** From so many stores of its wavefronts on, what a workgroup has acquired. */
interface AcquiredSince {
  readonly stores: readonly number[];
  readonly acquired: Acquired;
}

/** Such a store, as its event names it. */
export interface Announcement {
  readonly actor: number;
  readonly pc: number;
  readonly store: number;
  readonly epoch: number;
  /** So many stores before it were outstanding. */
  readonly early: number;
}

const NOTHING: Acquired = { list: [], count: 0 };

export class Announcements {
  private readonly known = new Map<number, readonly KnownSince[]>();
  private readonly acquired = new Map<number, AcquiredSince[]>();
  private readonly running = new Map<number, readonly Storing[]>();

  /** A workgroup begins. */
  begin(group: number, waves: readonly Storing[]): void {
    this.running.set(group, waves);
    waves.forEach(({ knownSince = [] }, wave) => {
      this.known.set(actorOf(group, wave), knownSince);
    });
  }

  /** A running workgroup has acquired something. */
  acquire(group: number, acquired: Acquired): void {
    const waves = this.running.get(group);
    if (waves === undefined) return;
    const all = this.acquired.get(group) ?? [];
    this.acquired.set(group, all);
    all.push({ stores: waves.map(({ storesIssued }) => storesIssued), acquired });
  }

  /** All wavefronts of a workgroup have ended. */
  end(group: number): void {
    this.running.delete(group);
  }

  /** What a store tells who reads what it has stored, and what its workgroup had acquired. */
  told({ actor, pc, store, epoch, early }: Announcement): { readonly by: Released; readonly acquired: Acquired } {
    const wave = waveOf(actor);
    const since = this.known.get(actor)?.findLast(({ stores }) => stores <= store);
    const complete = [...(since?.known ?? [])];
    const isEarly = early > 0;
    // Who reads it knows that it is done, too.
    complete[wave] = isEarly ? store - early : store + 1;
    const acquired = this.acquired
      .get(groupOf(actor))
      ?.findLast(({ stores }) => (stores[wave] ?? 0) <= store)?.acquired;
    const releases = store + (since?.counted ?? 0);
    const by = { complete, written: complete, pc, wave, issued: store, isEarly, epoch, releases };
    return { by, acquired: acquired ?? NOTHING };
  }
}
