// Address translation: a compute unit keeps some translations and waits for the others, which its die keeps. The first vector access to a page waits until its translation has been looked up in memory. Later accesses find it, and
// so do later launches: a die remembers more pages than programs here touch. Arguments and code wait for no translation: the first scalar load
// of a launch and its first fetch take as long as memory does (gfx950 thread trace).
import { Cache } from './cache.ts';
import type { Chip } from './chip.ts';
import { LINE_UNIT_BITS } from './record.ts';

/** Accesses are looked up by pieces of 4 KB, which belong to one allocation. */
export const PIECE_BITS = 12 - LINE_UNIT_BITS;

/** What earlier launches have left, and where a launch's lines are. */
export interface PageUse {
  /** The page of a piece (line number >>> PIECE_BITS). Lines without one, as private memory, are always translated. */
  readonly pages: ReadonlyMap<number, number>;
  /** Pages that earlier launches have used. */
  readonly known: ReadonlySet<number>;
}

/** The translations of one die during a replay. Times are cycles. */
export class Translations {
  private readonly use: PageUse;
  private readonly miss: number;
  private readonly refill: number;
  private readonly entries: number;
  /** What each compute unit keeps, by its number, and how many of its places have been used. */
  private readonly kept: Cache[] = [];
  private readonly used: number[] = [];
  /** When pages that this launch has asked for are translated. */
  private readonly ready = new Map<number, number>();

  constructor(chip: Chip, use: PageUse) {
    this.use = use;
    this.miss = chip.get('tlb.miss');
    this.refill = chip.get('tlb.refill');
    this.entries = chip.get('tlb.entries');
  }

  /** When a vector access of a compute unit at `time` to a line has its translation. */
  of(unit: number, line: number, time: number): number {
    const page = this.use.pages.get(line >>> PIECE_BITS);
    if (page === undefined) return time;
    const asked = this.isKept(unit, page) ? time : time + this.refill;
    if (this.use.known.has(page)) return asked;
    let ready = this.ready.get(page);
    if (ready === undefined) {
      ready = time + this.miss;
      this.ready.set(page, ready);
    }
    return Math.max(asked, ready);
  }

  /** The same of a scalar load, which the first access to a page does not hold up. */
  ofScalar(unit: number, line: number, time: number): number {
    const page = this.use.pages.get(line >>> PIECE_BITS);
    return page === undefined || this.isKept(unit, page) ? time : time + this.refill;
  }

  /** Whether a compute unit has a translation; it keeps it from now on. Pages of earlier launches are there as far as they fit. */
  private isKept(unit: number, page: number): boolean {
    let cache = this.kept[unit];
    if (cache === undefined) {
      cache = new Cache(this.entries, this.entries, true);
      this.kept[unit] = cache;
    }
    const number = Math.floor(page / 4096) | 0;
    if (cache.find(number, false)) return true;
    cache.insert(number);
    const used = (this.used[unit] ?? 0) + 1;
    this.used[unit] = used;
    return used <= this.entries && this.use.known.has(page);
  }
}
