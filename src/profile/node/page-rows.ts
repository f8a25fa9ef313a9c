// Makes blocks of rows of a table of a database from its pages: of each row its id, the number of the text of what it shares with others (-1 for a row that the
// main thread must ask SQLite for), and two numbers for each value of its own. Source of the form of records: sqlite.org/fileformat2.html, section 2.1.
import { openSync } from 'node:fs';
import { ByteTexts, hashOf } from '../readers/byte-texts.ts';
import type { ReadInto, RowBlock } from '../readers/row-blocks.ts';
import { readerOf } from './block-thread.ts';
import { type PagePlan, type PageRow, TablePages } from './table-pages.ts';

/** Where a column's values are: the number of the value in the record, or one of these. */
export const ColumnPlace = { ROWID: -1, ABSENT: -2 } as const;

/** A table in its pages, and where in its records are the columns that are asked for. */
export interface RecordTable extends PagePlan {
  /** How many columns there are. */
  readonly width: number;
  readonly own: readonly number[];
  readonly shared: readonly number[];
}

/** Bytes of a file that are read at once. */
const NEARBY = 1 << 15;
/** More different texts are read in one thread. */
const MOST_KEYS = 1 << 16;
/** Of more rows in a block that are not as the others are, SQLite reads the table faster. */
const MOST_ODD = 64;
/** Longer heads are of tables of profilers no more. */
const MOST_HEAD = 127;

/** What the heads of records tell that are the same: of each value its type, and where it begins behind the head. */
interface Form {
  readonly types: Uint8Array;
  readonly starts: Int32Array;
  /** How long a record is without its head. */
  readonly size: number;
  /** Behind the last value that is asked for. */
  readonly needed: number;
  /** Whether all values that are asked for are whole numbers or nothing. */
  readonly isPlain: boolean;
}

const [NULL, ZERO, ONE] = [0, 8, 9];
/** Bytes of whole numbers by their type. */
const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

export class PageRows {
  private readonly table: RecordTable;
  private readonly pages: TablePages;
  private readonly heads = new ByteTexts();
  private readonly forms: Form[] = [];
  /** Shared values as their types and bytes, and the numbers of their texts. */
  private readonly shared = new ByteTexts();
  private readonly sharedKeys: number[] = [];
  private readonly scratch: Uint8Array;
  private readonly scratchView: DataView;
  private readonly keys = new Map<string, number>();
  private readonly encoder = new TextEncoder();
  private block: RowBlock | undefined;
  private rows = 0;
  private odd = 0;
  private newKeys = 0;
  private room = 0;

  /** What reads the file of the database, and its log where it has one. */
  constructor(table: RecordTable, file: ReadInto, log: ReadInto | undefined) {
    this.table = table;
    this.pages = new TablePages(table, file, log, (row) => this.add(row));
    this.scratch = new Uint8Array(9 * table.shared.length + 8);
    this.scratchView = new DataView(this.scratch.buffer);
  }

  /** Puts the rows into a block whose ids are from `from` on and below `to`; false where that cannot be done. */
  fill(block: RowBlock, from: number, to: number): boolean {
    this.block = block;
    this.rows = this.odd = this.newKeys = this.room = 0;
    if (!this.pages.rows(from, to)) return false;
    block.fill(this.rows, false, this.newKeys, from, to);
    return true;
  }

  private add(row: PageRow): boolean {
    const { own } = this.table;
    const { cells } = this.block as RowBlock;
    const at = this.rows++ * (2 + 2 * own.length);
    if (at + 2 + 2 * own.length > cells.length) return false;
    cells[at] = row.rowid;
    const form = this.formOf(row);
    if (form === undefined) return false;
    const body = row.at + row.bytes[row.at];
    if (!form.isPlain || body + form.needed > row.at + row.local || !this.ownValues(row, form, body, at + 2)) {
      cells[at + 1] = -1;
      return ++this.odd <= MOST_ODD;
    }
    const key = this.keyOf(row, form, body);
    cells[at + 1] = key;
    return key >= 0;
  }

  /** Puts the values of a row into cells; false where one is below zero. */
  private ownValues({ rowid, view }: PageRow, { types, starts }: Form, body: number, first: number): boolean {
    const { own } = this.table;
    const { cells } = this.block as RowBlock;
    for (let i = 0, at = first; i < own.length; i++, at += 2) {
      const place = own[i];
      let value = rowid;
      if (place === ColumnPlace.ABSENT) value = Number.NaN;
      else if (place >= 0) {
        const [type, start] = [types[place], body + starts[place]];
        if (type === 6) {
          const high = view.getInt32(start);
          value = high * 2 ** 32 + view.getUint32(start + 4);
          if (value > Number.MAX_SAFE_INTEGER) {
            value = -1 - high;
            cells[at + 1] = view.getUint32(start + 4);
            cells[at] = value;
            continue;
          }
        } else value = numberAt(view, type, start);
      }
      if (value < 0) return false;
      cells[at] = value;
    }
    return true;
  }

  /** The number of the text of the shared values; -1 where it cannot be kept. */
  private keyOf({ rowid, bytes, view }: PageRow, { types, starts }: Form, body: number): number {
    const { scratch, scratchView } = this;
    const places = this.table.shared;
    let size = places.length;
    for (let i = 0; i < places.length; i++) {
      const place = places[i];
      if (place === ColumnPlace.ROWID) return this.keyOfText(this.textOf(places, rowid, view, types, starts, body));
      const type = place < 0 ? NULL : types[place];
      scratch[i] = type;
      let from = body + starts[place];
      for (const end = from + SIZES[type]; from < end; ) scratch[size++] = bytes[from++];
    }
    const hash = hashOf(scratchView, 0, size);
    const found = this.shared.find(hash, scratchView, 0, size);
    if (found >= 0) return this.sharedKeys[found];
    const key = this.keyOfText(this.textOf(places, rowid, view, types, starts, body));
    if (this.shared.add(hash, scratchView, 0, size) >= 0) this.sharedKeys.push(key);
    return key;
  }

  /** Values as SQLite writes them into a JSON list. */
  private textOf(
    places: readonly number[],
    rowid: number,
    view: DataView,
    types: Uint8Array,
    starts: Int32Array,
    body: number,
  ): string {
    const texts = places.map((place) => {
      if (place === ColumnPlace.ROWID) return String(rowid);
      const type = place < 0 ? NULL : types[place];
      if (type === NULL) return 'null';
      const start = body + starts[place];
      return type === 6 ? String(view.getBigInt64(start)) : String(numberAt(view, type, start));
    });
    return texts.join();
  }

  private keyOfText(text: string): number {
    const found = this.keys.get(text);
    if (found !== undefined) return found;
    const block = this.block as RowBlock;
    const bytes = this.encoder.encode(text);
    if (this.keys.size === MOST_KEYS || this.newKeys === block.places.length) return -1;
    if (this.room + bytes.length > block.texts.length) return -1;
    block.texts.set(bytes, this.room);
    this.room += bytes.length;
    block.added[2 * this.newKeys++ + 1] = this.room;
    this.keys.set(text, this.keys.size);
    return this.keys.size - 1;
  }

  /** The form of a row's record; undefined for one that is not as SQLite writes it. */
  private formOf({ bytes, view, at, local, size }: PageRow): Form | undefined {
    const head = bytes[at];
    if (head > MOST_HEAD || head === 0 || head > local) return undefined;
    const hash = hashOf(view, at, head);
    const found = this.heads.find(hash, view, at, head);
    const form = found >= 0 ? this.forms[found] : this.newForm(bytes, at, head);
    if (found < 0 && form !== undefined && this.heads.add(hash, view, at, head) >= 0) this.forms.push(form);
    return form !== undefined && head + form.size === size ? form : undefined;
  }

  private newForm(bytes: Uint8Array, first: number, head: number): Form | undefined {
    const { width, own, shared } = this.table;
    const [types, starts] = [new Uint8Array(width), new Int32Array(width)];
    let [at, size, count] = [first + 1, 0, 0];
    const sizes: number[] = [];
    for (; at < first + head; count++) {
      let type = bytes[at] & 0x7f;
      while (bytes[at] >= 0x80 && type < 2 ** 40) type = type * 128 + (bytes[++at] & 0x7f);
      at++;
      if (type === 10 || type === 11 || count === width) return undefined;
      // Texts and bytes are of one type here: rows that have them where numbers are asked for are odd.
      types[count] = Math.min(type, 12);
      starts[count] = size;
      sizes.push(type < SIZES.length ? SIZES[type] : (type - 12) >> 1);
      size += sizes[count];
    }
    if (at !== first + head) return undefined;
    const asked = [...own, ...shared].filter((place) => place >= 0);
    const isPlain = asked.every(
      (place) => place < count && (types[place] < 7 || types[place] === ZERO || types[place] === ONE),
    );
    return { types, starts, size, needed: Math.max(0, ...asked.map((place) => starts[place] + sizes[place])), isPlain };
  }
}

/** The rows of a table of a database; `files` are to be closed. */
export function openPages(path: string, table: RecordTable): { readonly rows: PageRows; readonly files: number[] } {
  const files = [openSync(path, 'r')];
  if (table.logged.size > 0) files.push(openSync(`${path}-wal`, 'r'));
  const [file, log] = files.map((fd) => nearby(readerOf(fd)));
  return { rows: new PageRows(table, file, log), files };
}

/** Reads more than is asked for: pages that follow each other in a table mostly do in the file. */
function nearby(read: ReadInto): ReadInto {
  const bytes = new Uint8Array(NEARBY);
  let [from, length] = [0, 0];
  return (into, offset, size) => {
    if (size > NEARBY >> 1) return read(into, offset, size);
    if (offset < from || offset + size > from + length) {
      from = offset;
      length = read(bytes, offset, NEARBY);
    }
    const found = bytes.subarray(offset - from, Math.min(offset - from + size, length));
    into.set(found);
    return found.length;
  };
}

/** A whole number of less than eight bytes, NaN for nothing. */
function numberAt(view: DataView, type: number, start: number): number {
  switch (type) {
    case 1:
      return view.getInt8(start);
    case 2:
      return view.getInt16(start);
    case 3:
      return view.getInt8(start) * 65536 + view.getUint16(start + 1);
    case 4:
      return view.getInt32(start);
    case 5:
      return view.getInt16(start) * 2 ** 32 + view.getUint32(start + 2);
    case ZERO:
    case ONE:
      return type - ZERO;
    default:
      return Number.NaN;
  }
}
