// Rows of a table in the pages of a SQLite file. To step a statement over a million rows takes SQLite ten times as long as to look through their pages; whatever is
// not as it writes tables is left to it. Source: sqlite.org/fileformat2.html, sections 1.3 to 2.1.
import type { ReadInto } from '../readers/row-blocks.ts';
import { loggedPages } from './wal-pages.ts';

/** Of the file. */
const HEADER = 100;
const [LEAF, INTERIOR] = [0x0d, 0x05];
const [LEAF_HEADER, INTERIOR_HEADER] = [8, 12];
/** Bytes behind a page, which two numbers of a damaged cell may reach into. */
const MARGIN = 32;
/** SQLite's own bound. */
const MOST_DEPTH = 20;

/** How a file is divided into pages, and the one that a table begins with. */
export interface PagePlan {
  readonly pageSize: number;
  /** Bytes of a page that are used. */
  readonly usable: number;
  readonly pages: number;
  readonly root: number;
  /** Where in the log of the database the pages are that are not to be read from its file. */
  readonly logged: ReadonlyMap<number, number>;
}

/** How the pages of a file are; undefined for one that is none, or whose head says what SQLite does not write. `log` reads its write-ahead log. */
export function pagePlan(
  file: ReadInto,
  size: number,
  root: number,
  log: { readonly read: ReadInto; readonly size: number } | undefined,
): PagePlan | undefined {
  const header = new Uint8Array(HEADER);
  if (file(header, 0, HEADER) < HEADER) return undefined;
  const given = new DataView(header.buffer).getUint16(16);
  const pageSize = given === 1 ? 65536 : given;
  const usable = pageSize - header[20];
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0 || usable < 480) return undefined;
  const found = log === undefined ? 'none' : loggedPages(log.read, log.size, pageSize);
  if (found === undefined) return undefined;
  const { pages, places } = found === 'none' ? { pages: Math.floor(size / pageSize), places: new Map() } : found;
  return root < 2 || root > pages ? undefined : { pageSize, usable, pages, root, logged: places };
}

/** One row: its id, and where its record is. It is the same object for all rows. */
export interface PageRow {
  rowid: number;
  /** The page. */
  bytes: Uint8Array;
  view: DataView;
  /** Where the record begins, how many bytes of it are there, and how many it has. */
  at: number;
  local: number;
  size: number;
}

/** The pages of one table. */
export class TablePages {
  private readonly plan: PagePlan;
  private readonly file: ReadInto;
  private readonly log: ReadInto | undefined;
  private readonly onRow: (row: PageRow) => boolean;
  /** A page of each depth. */
  private readonly levels: { readonly bytes: Uint8Array; readonly view: DataView }[] = [];
  private readonly row: PageRow;
  private from = 0;
  private to = 0;
  /** The row id before. */
  private last = Number.NEGATIVE_INFINITY;
  /** Behind the variable-length number that was read last. */
  private behind = 0;

  /** `onRow` returns whether rows are to be read on. */
  constructor(plan: PagePlan, file: ReadInto, log: ReadInto | undefined, onRow: (row: PageRow) => boolean) {
    this.plan = plan;
    this.file = file;
    this.log = log;
    this.onRow = onRow;
    const { bytes, view } = this.level(0);
    this.row = { rowid: 0, bytes, view, at: 0, local: 0, size: 0 };
  }

  /** Hands the rows over whose ids are from `from` on and below `to`, in their order; false where a page is not as SQLite writes it. */
  rows(from: number, to: number): boolean {
    this.from = from;
    this.to = to;
    this.last = Number.NEGATIVE_INFINITY;
    return this.page(this.plan.root, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  private level(depth: number): { readonly bytes: Uint8Array; readonly view: DataView } {
    const bytes = this.levels[depth]?.bytes ?? new Uint8Array(this.plan.pageSize + MARGIN);
    this.levels[depth] ??= { bytes, view: new DataView(bytes.buffer) };
    return this.levels[depth];
  }

  /** The rows of a page and of those below it. Their ids are above `least`, and `most` at most. */
  private page(number: number, depth: number, least: number, most: number): boolean {
    const { pageSize, usable, pages } = this.plan;
    // The first page begins with the head of the file: no table's own page does.
    if (number < 2 || number > pages || depth > MOST_DEPTH) return false;
    const { bytes, view } = this.level(depth);
    const logged = this.plan.logged.get(number);
    const read = logged === undefined ? this.file : this.log;
    if ((read?.(bytes, logged ?? (number - 1) * pageSize, pageSize) ?? 0) < pageSize) return false;
    const [kind, count] = [bytes[0], view.getUint16(3)];
    if (kind === LEAF) return this.leaf(depth, count, least, most);
    if (kind !== INTERIOR || count === 0 || INTERIOR_HEADER + 2 * count > usable) return false;
    let before = least;
    for (let i = 0; i <= count && before + 1 < this.to; i++) {
      let [child, key] = [0, most];
      if (i === count) child = view.getUint32(8);
      else {
        const cell = view.getUint16(INTERIOR_HEADER + 2 * i);
        if (cell < INTERIOR_HEADER + 2 * count || cell + 5 > usable) return false;
        child = view.getUint32(cell);
        key = this.number(bytes, cell + 4);
        if (!(key > before && key <= most) || this.behind > usable) return false;
      }
      if (key >= this.from && !this.page(child, depth + 1, before, key)) return false;
      before = key;
    }
    return true;
  }

  private leaf(depth: number, count: number, least: number, most: number): boolean {
    const { usable } = this.plan;
    const { bytes, view } = this.levels[depth];
    const { row } = this;
    const first = LEAF_HEADER + 2 * count;
    if (first > usable || (count === 0 && depth > 0)) return false;
    row.bytes = bytes;
    row.view = view;
    for (let i = 0; i < count; i++) {
      const cell = view.getUint16(LEAF_HEADER + 2 * i);
      if (cell < first || cell + 4 > usable) return false;
      row.size = this.number(bytes, cell);
      row.rowid = this.number(bytes, this.behind);
      row.at = this.behind;
      row.local = this.localSize(row.size);
      const isInOrder = row.rowid > this.last && row.rowid > least && row.rowid <= most;
      if (!isInOrder || !(row.size >= 0) || row.at + row.local + (row.local < row.size ? 4 : 0) > usable) return false;
      this.last = row.rowid;
      if (row.rowid >= this.to) return true;
      if (row.rowid >= this.from && !this.onRow(row)) return false;
    }
    return true;
  }

  /** How much of a record is on the page of its row; the rest of a long one is on pages of its own. */
  private localSize(size: number): number {
    const { usable } = this.plan;
    const most = usable - 35;
    if (size <= most) return size;
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const kept = least + ((size - least) % (usable - 4));
    return kept <= most ? kept : least;
  }

  /** A number of up to nine bytes; NaN where a double does not hold it. */
  private number(bytes: Uint8Array, at: number): number {
    let value = bytes[at] & 0x7f;
    let here = at;
    while (bytes[here] >= 0x80 && here - at < 7) value = value * 128 + (bytes[++here] & 0x7f);
    if (bytes[here] < 0x80) {
      this.behind = here + 1;
      return value <= Number.MAX_SAFE_INTEGER ? value : Number.NaN;
    }
    // The ninth byte has eight bits, and the first one the sign.
    this.behind = here + 2;
    let whole = 0n;
    for (let i = at; i <= here; i++) whole = (whole << 7n) | BigInt(bytes[i] & 0x7f);
    const signed = Number(BigInt.asIntN(64, (whole << 8n) | BigInt(bytes[here + 1])));
    return Number.isSafeInteger(signed) ? signed : Number.NaN;
  }
}
