// What a workgroup has told at an address that is written atomically or with device scope, in order: what compiled kernels do thousands of times in a dispatch.

/** Releases of an address that are kept of a workgroup, at least. */
const MAX_RELEASES = 256;

/** The stores of a workgroup that a release hands over: by wavefront, how many from its first on; 0 for wavefronts beyond the end. */
export type CompleteStores = readonly number[];

/** What a release hands over. */
export interface HandedOver {
  readonly complete: CompleteStores;
  /** Stores that other dies see; the same as `complete` where all compute units share a cache. */
  readonly written: CompleteStores;
}

/** What an instruction of a wavefront tells others at the addresses that it writes atomically or with device scope. */
export interface Released extends HandedOver {
  /** As of Toucher. */
  readonly epoch: number;
  readonly releases: number;
  readonly pc: number;
  /** The wavefront, and the stores that it had issued before, complete or not. */
  readonly wave: number;
  readonly issued: number;
  /** Not all of these were complete. */
  readonly isEarly: boolean;
}

/** Who tells others something, as Released has it. */
export type Telling = Omit<Released, keyof HandedOver | 'isEarly'>;

/** What a wavefront hands over that knows so much of its workgroup's stores, and so many of its own to be complete. Made up when it is asked for: most is not. */
export class HandedOverByWave implements HandedOver {
  private readonly known: CompleteStores;
  private readonly knownWritten: CompleteStores | undefined;
  private readonly wave: number;
  readonly storesComplete: number;
  private all: CompleteStores | undefined;

  /** `written`: undefined where all compute units share a cache. */
  constructor(known: CompleteStores, written: CompleteStores | undefined, wave: number, storesComplete: number) {
    this.known = known;
    this.knownWritten = written;
    this.wave = wave;
    this.storesComplete = storesComplete;
  }

  get complete(): CompleteStores {
    if (this.all === undefined) {
      const all = this.known.slice();
      all[this.wave] = this.storesComplete;
      this.all = all;
    }
    return this.all;
  }

  get written(): CompleteStores {
    return this.knownWritten ?? this.complete;
  }
}

/**
 * What an access tells. Who reads what it has written knows that it is done, too, and of what comes before it that what was known to be is. Made up when it is asked
 * for.
 */
export class ReleasedByAccess implements Released {
  readonly epoch: number;
  readonly releases: number;
  readonly pc: number;
  readonly wave: number;
  readonly issued: number;
  readonly isEarly: boolean;
  private readonly of: HandedOver;
  private withItself: HandedOver | undefined;

  /** `storesComplete`: of the wavefront's own. */
  constructor(of: HandedOver, storesComplete: number, { epoch, releases, pc, wave, issued }: Telling) {
    this.of = of;
    this.epoch = epoch;
    this.releases = releases;
    this.pc = pc;
    this.wave = wave;
    this.issued = issued;
    this.isEarly = issued > storesComplete;
  }

  private get handedOver(): HandedOver {
    this.withItself ??= this.makeUp();
    return this.withItself;
  }

  private makeUp(): HandedOver {
    const { complete, written } = this.of;
    const { wave, issued } = this;
    if (complete[wave] !== issued) return this.of;
    const known = complete.slice();
    known[wave] = issued + 1;
    return { complete: known, written: written === complete ? known : written };
  }

  get complete(): CompleteStores {
    return this.handedOver.complete;
  }
  get written(): CompleteStores {
    return this.handedOver.written;
  }
}

/** What a workgroup has acquired: of a list that grows, so many. */
export interface Acquired {
  readonly list: readonly Acquisition[];
  readonly count: number;
}

/** An address that is touched atomically. */
export interface SharedAddress {
  count: number;
  /** By workgroup, in their order. */
  readonly releases: Map<number, Releases>;
  /** The last one of all. */
  last: Message | undefined;
  /** All of its releases. */
  seen: Acquisition | undefined;
  /** As lastReleases has been asked for last. */
  lasts: { readonly count: number; readonly releases: readonly Message[] } | undefined;
}

/** The first `count` releases of an address have been seen. */
export interface Acquisition {
  readonly at: SharedAddress;
  readonly count: number;
  /** The last one of these. */
  readonly last: Message;
}

/** Of each workgroup, the last one of the releases of an address that have been seen. Workgroups that have met have mostly seen the same. */
export function lastReleases({ at, count }: Acquisition): readonly Message[] {
  if (at.lasts?.count === count) return at.lasts.releases;
  const releases: Message[] = [];
  for (const all of at.releases.values()) {
    const told = all.lastBefore(count);
    if (told !== undefined) releases.push(told);
  }
  at.lasts = { count, releases };
  return releases;
}

/** What an instruction tells at all addresses that it writes. */
export interface Message {
  readonly group: number;
  readonly by: Released;
  /** What the workgroup itself had acquired: the first so many of its acquisitions. */
  readonly acquired: readonly Acquisition[];
  readonly acquiredCount: number;
  /** Of the messages of a dispatch. */
  readonly number: number;
}

/** Of one address and one workgroup. */
export class Releases {
  /** By release, its number among those of its address, and what it tells: an instruction tells the same at many addresses. */
  private readonly numbers: number[] = [];
  private readonly told: Message[] = [];

  get last(): Message | undefined {
    return this.told[this.told.length - 1];
  }

  add(number: number, told: Message): void {
    if (this.told.length === 2 * MAX_RELEASES) {
      this.numbers.splice(0, MAX_RELEASES);
      this.told.splice(0, MAX_RELEASES);
    }
    this.numbers.push(number);
    this.told.push(told);
  }

  /** The last one with a number below `count`, and of which `isIt` says yes. */
  lastBefore(count: number, isIt?: (by: Released) => boolean): Message | undefined {
    const { numbers, told } = this;
    for (let i = told.length - 1; i >= 0; i--) {
      const one = told[i] as Message;
      if ((numbers[i] as number) < count && (isIt === undefined || isIt(one.by))) return one;
    }
    return undefined;
  }

  /** Those with numbers below `count`, in their order. */
  eachBefore(count: number, see: (by: Released) => void): void {
    const { numbers, told } = this;
    for (let i = 0; i < told.length && (numbers[i] as number) < count; i++) see((told[i] as Message).by);
  }

  /** The last one of each wavefront. */
  lastOfWaves(): Released[] {
    const last = new Map<number, Released>();
    for (const { by } of this.told) last.set(by.wave, by);
    return [...last.values()];
  }

  has(isIt: (by: Released) => boolean): boolean {
    return this.told.some(({ by }) => isIt(by));
  }
}
