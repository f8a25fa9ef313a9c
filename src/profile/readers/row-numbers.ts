// Which dispatch a row of a wide file of a workload folder tells: by the numbers of rows, which profilers write in the order in which dispatches end.
import type { Recording } from '../recording.ts';
import type { CellsHandler, Header } from './csv.ts';
import { count } from './values.ts';

/** Rows that may come before one with a lower number: dispatches of several queues end in another order than they start. */
const LATE = 64;
/** Rows that are held of a file that is in no order, as somebody's sorting leaves it: its lowest number may come last. */
const MOST_HELD = 1 << 14;
/** Where a row in so many has a lower number than the one before it, a file is in no order. */
const DISORDER = 4;

/** Numbers that were seen, a bit each, in pages of those that are near each other; of numbers that are far apart, themselves. */
class Seen {
  private static readonly PAGE = 1 << 13;
  private static readonly MOST_PAGES = 1 << 12;
  private readonly pages = new Map<number, Uint8Array>();
  private readonly others = new Set<number>();

  /** Whether a number is new; it is none the next time. */
  isNew(id: number): boolean {
    const page = Math.floor(id / Seen.PAGE);
    let bits = this.pages.get(page);
    if (bits === undefined) {
      const before = this.others.size;
      if (this.pages.size >= Seen.MOST_PAGES) return this.others.add(id).size > before;
      bits = new Uint8Array(Seen.PAGE >> 3);
      this.pages.set(page, bits);
    }
    const at = id - page * Seen.PAGE;
    const [byte, bit] = [bits[at >> 3] as number, 1 << (at & 7)];
    bits[at >> 3] = byte | bit;
    return (byte & bit) === 0;
  }
}

/**
 * Numbers the rows of a wide file, counted from 0: by their dispatch numbers, counted from the lowest; files of one run begin with 0 or 1. Rows
 * may be in any order among their neighbours (AMD's dispatch_7 on MI300A has 1, 3, 2), and those of a small file in any order at all. Where GPUs or
 * processes have numbers of their own, rows are counted.
 */
export class RowNumbers {
  private readonly at: number;
  private readonly owner: readonly number[];
  private readonly name: string;
  private readonly handler: CellsHandler;
  /** The first rows, until the lowest number among them is known. */
  private held: string[][] | undefined = [];
  private first = 0;
  private last = -1;
  private rows = 0;
  /** Rows that are held whose number is lower than that of the row before. */
  private falls = 0;
  private readonly seen = new Seen();
  /** GPU and process of the last row. */
  private before = '';
  private areCounted: boolean;

  /** `handler` gets the rows of the file, some of them later than `row`, and asks `next` for the dispatch of each. */
  constructor(h: Header, handler: CellsHandler) {
    this.at = h.at('Dispatch_ID', 'Index');
    this.owner = [h.at('GPU_ID'), h.at('PID')];
    this.areCounted = this.at < 0;
    this.name = h.names[this.at] ?? '';
    this.handler = handler;
  }

  /** Takes the next row of the file. */
  row(cells: string[]): void {
    const { held } = this;
    if (held === undefined) {
      this.handler(cells);
      return;
    }
    const [before] = held.slice(-1);
    if (before !== undefined && count(cells[this.at]) < count(before[this.at])) this.falls++;
    held.push(cells);
    const most = this.falls * DISORDER > held.length ? MOST_HELD : LATE;
    if (held.length >= most) this.release();
  }

  private release(): void {
    const rows = this.held ?? [];
    this.held = undefined;
    const owner = this.ownerOf(rows[0] ?? []);
    const ids = rows
      .filter((cells) => this.ownerOf(cells) === owner)
      .map((cells) => count(cells[this.at]))
      .filter((id) => id >= 0);
    if (ids.length > 0) this.first = ids.reduce((least, id) => Math.min(least, id));
    this.last = this.first - 1;
    for (const cells of rows) this.handler(cells);
  }

  private ownerOf(cells: readonly string[]): string {
    return this.owner.map((at) => cells[at] ?? '').join();
  }

  /** The dispatch of a row, counted from 0; undefined for a row whose number another one has, or that has none. */
  next(cells: readonly string[]): number | undefined {
    const id = count(cells[this.at]);
    const owner = this.ownerOf(cells);
    if (!this.areCounted && (id < this.first || !this.seen.isNew(id))) {
      if (id < 0 || owner === this.before) return undefined;
      this.areCounted = true;
    }
    this.before = owner;
    this.last = Math.max(this.last, id);
    const row = this.rows++;
    return this.areCounted ? row : id - this.first;
  }

  /** Ends the file; says what its numbers show: dispatches without a row, and numbers that other files of the folder do not have. */
  end(r: Recording, file: string, folder: string): void {
    if (this.held !== undefined) this.release();
    const { areCounted, first, last, rows, name } = this;
    if (areCounted || rows === 0) return;
    const missing = last - first + 1 - rows;
    if (missing > 0) {
      r.report(
        'profile/missing-rows',
        file,
        `${name} goes from ${first} to ${last}, and ${missing} of these have no row here.`,
      );
    }
    const files = r.wideFiles.get(folder) ?? [];
    r.wideFiles.set(folder, [...files, { first, rows }]);
    const before = files.find((other) => other.first !== first && other.rows !== rows);
    if (before !== undefined) {
      r.report(
        'profile/missing-rows',
        file,
        `It has ${rows} rows from ${name} ${first} on, and another file of its folder ${before.rows} from ${before.first} on: which of them are of one dispatch is not certain.`,
      );
    }
  }
}
