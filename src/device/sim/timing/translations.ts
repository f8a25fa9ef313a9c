// Address translation: the first vector access to a page waits until its translation has been looked up in memory. Later accesses find it, and
// so do later launches: a die remembers more pages than programs here touch. Arguments and code wait for no translation: the first scalar load
// of a launch and its first fetch take as long as memory does (gfx950 thread trace).
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
  /** When pages that this launch has asked for are translated. */
  private readonly ready = new Map<number, number>();

  constructor(chip: Chip, use: PageUse) {
    this.use = use;
    this.miss = chip.get('tlb.miss');
  }

  /** When an access at `time` to a line has its translation. */
  of(line: number, time: number): number {
    const page = this.use.pages.get(line >>> PIECE_BITS);
    if (page === undefined || this.use.known.has(page)) return time;
    let ready = this.ready.get(page);
    if (ready === undefined) {
      ready = time + this.miss;
      this.ready.set(page, ready);
    }
    return Math.max(time, ready);
  }
}
