// What the comparison of two kernels may take: processor time, which another program's load does not change, and memory. Memory is
// counted from what is made, not asked of the machine, so that it runs out at the same place everywhere.

/** What one kernel may take. */
export interface Limits {
  /** Milliseconds of processor time; of wall time where the host does not tell the former (browsers). */
  readonly milliseconds: number;
  /** Megabytes of terms and states. */
  readonly megabytes: number;
}

/** A minute and a gigabyte. */
export const DEFAULT_LIMITS: Limits = { milliseconds: 60_000, megabytes: 1_000 };

/** Addresses of the baseline and of the edited kernel. */
export type Places = readonly [number | undefined, number | undefined];

/** Ran out of the time or memory that was allowed; `places`: where the two programs were. */
export class LimitReached extends Error {
  readonly places: Places;

  constructor(message: string, places: Places) {
    super(message);
    this.places = places;
  }
}

/** Milliseconds of processor time that this process has used. */
export function processorTime(): number {
  const usage = globalThis.process?.cpuUsage?.();
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1_000;
}

const BYTES = 1e6;
/** The clock is looked at once in so many checks: it costs a microsecond, and blocks can be short. */
const CHECKS_PER_LOOK = 16;

/** Counts what a comparison takes from its making on. */
export class Budget {
  private readonly limits: Limits;
  private readonly started = processorTime();
  private held = 0;
  private checks = 0;
  /** Where the comparison is, for reasons. */
  places: Places = [undefined, undefined];

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Milliseconds that are left; none: 0. */
  get left(): number {
    return Math.max(0, this.limits.milliseconds - (processorTime() - this.started));
  }

  /** Notes bytes that are kept (or, below 0, no more). */
  hold(bytes: number): void {
    this.held += bytes;
  }

  /** Throws `LimitReached` where time or memory is used up. */
  check(): void {
    if (this.held > this.limits.megabytes * BYTES)
      throw new LimitReached('the memory that is allowed is used up', this.places);
    if (this.checks++ % CHECKS_PER_LOOK === 0 && this.left === 0)
      throw new LimitReached('the time that is allowed is used up', this.places);
  }

  /** Ends the comparison here. */
  end(why: string): never {
    throw new LimitReached(why, this.places);
  }
}
