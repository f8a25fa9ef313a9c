// API calls and markers: the sums of each function, and the calls one by one as far as the timeline shows them.
import { f64, i32, StringTable } from './columns.ts';

/** Calls of each domain that are kept one by one. */
const MAX_CALLS = 200_000;

/** The domains of sums that a profiler made of the work of GPUs, or of everything; `kernel_stats.csv` becomes `kernel (stats)`. */
const SUMS_OF_WORK = /(?:^|_)(?:kernel|memory_copy|memory_allocation|scratch_memory|domain) \(stats\)$/;

/** Whether a domain is of sums that are no calls of an API and no markers. */
export const isSumOfWork = (domain: string): boolean => SUMS_OF_WORK.test(domain);

/** Calls of one API function or marker, summed. */
export interface CallEntry {
  readonly domain: string;
  readonly name: string;
  readonly calls: number;
  readonly totalNs: number;
  /** 0 when no call has a known time. */
  readonly minNs: number;
  readonly maxNs: number;
  /** Calls whose times were unusable; not part of the sums. */
  readonly untimed: number;
}

/** The sums of API functions and markers, by their domain and name; of a million names they take 60 bytes each. */
export class CallSums {
  private readonly domains = new StringTable();
  /** Of each domain, the ids of its names. */
  private readonly ids: Map<string, number>[] = [];
  private readonly names: string[] = [];
  private readonly domain = i32();
  private readonly calls = f64();
  private readonly totals = f64();
  private readonly least = f64();
  private readonly greatest = f64();
  private readonly untimed = f64();
  /** Calls of all functions, and their known time. */
  total = 0;
  totalNs = 0;

  /** How much of `total` is of sums that a profiler made of other work than calls and markers. */
  get sumsOfWork(): number {
    let sum = 0;
    for (let id = 0; id < this.names.length; id++) if (isSumOfWork(this.domainOf(id))) sum += this.calls.get(id);
    return sum;
  }

  /** How many functions and markers there are. */
  get size(): number {
    return this.names.length;
  }

  /** Adds calls of the function that has the id: `ns` is their known time in all, `least` and `greatest` are those of one call. */
  add(id: number, calls: number, untimed: number, ns: number, least: number, greatest: number): void {
    this.total += calls;
    this.totalNs += ns;
    this.calls.set(id, this.calls.get(id) + calls);
    if (untimed > 0) this.untimed.set(id, this.untimed.get(id) + untimed);
    this.totals.set(id, this.totals.get(id) + ns);
    if (least < this.least.get(id)) this.least.set(id, least);
    if (greatest > this.greatest.get(id)) this.greatest.set(id, greatest);
  }

  /** The id of a function or marker; new ones count up from 0. */
  id(domain: string, name: string): number {
    const of = this.domains.id(domain);
    let names = this.ids[of];
    if (names === undefined) {
      names = new Map();
      this.ids[of] = names;
    }
    const found = names.get(name);
    if (found !== undefined) return found;
    const id = this.names.push(name) - 1;
    names.set(name, id);
    this.domain.push(of);
    this.least.push(Number.POSITIVE_INFINITY);
    for (const column of [this.calls, this.totals, this.greatest, this.untimed]) column.push(0);
    return id;
  }

  domainOf(id: number): string {
    return this.domains.get(this.domain.get(id));
  }

  nameOf(id: number): string {
    return this.names[id];
  }

  /** The known time of the calls of a function, which are numbered from 0. */
  timeOf(id: number): number {
    return this.totals.get(id);
  }

  get(id: number): CallEntry {
    const least = this.least.get(id);
    return {
      domain: this.domainOf(id),
      name: this.names[id],
      calls: this.calls.get(id),
      totalNs: this.totals.get(id),
      minNs: Number.isFinite(least) ? least : 0,
      maxNs: this.greatest.get(id),
      untimed: this.untimed.get(id),
    };
  }
}

/** API calls and markers with known times, one row each, as far as they are kept one by one: the first of each domain. */
export class CallTable {
  readonly start = f64();
  readonly end = f64();
  readonly name = i32();
  readonly lane = i32();
  readonly domain = i32();
  readonly process = i32();
  /** As the system numbers it; -1 where it is not recorded, like the next. */
  readonly thread = f64();
  readonly correlation = f64();
  /** Calls that are only in the sums. */
  omitted = 0;
  /** Lanes of which calls are only in the sums. */
  readonly cutLanes = new Set<number>();
  private readonly kept: number[] = [];
  /** The lane and the name of a function by its id in the sums, where it has been asked for. */
  readonly laneOf: number[] = [];
  readonly nameOf: number[] = [];

  get length(): number {
    return this.start.length;
  }

  /** Whether a further call of a lane is kept; counts it either way. */
  takes(lane: number): boolean {
    const kept = this.kept[lane] ?? 0;
    if (kept >= MAX_CALLS) {
      this.omitted++;
      this.cutLanes.add(lane);
      return false;
    }
    this.kept[lane] = kept + 1;
    return true;
  }
}
