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
}

/** The first `count` releases of an address have been seen. */
export interface Acquisition {
  readonly at: SharedAddress;
  readonly count: number;
}

/** What an instruction tells at all addresses that it writes. */
export interface Message {
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

  has(isIt: (by: Released) => boolean): boolean {
    return this.told.some(({ by }) => isIt(by));
  }
}
