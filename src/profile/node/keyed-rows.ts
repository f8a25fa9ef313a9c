// Rows of a table of many: from its pages, those of a large table by threads; what is not there as SQLite writes tables is joined to texts by it.
import { closeSync } from 'node:fs';
import type { KeyedRow, SqlValue } from '../readers/rocpd.ts';
import { RowBlock } from '../readers/row-blocks.ts';
import { BlockThreads, builtThread, hasThreads } from './block-threads.ts';
import { BLOCK_ROWS, JoinedRows, joined, joinedSql, type KeyedTable } from './joined-rows.ts';
import { openPages } from './page-rows.ts';
import { recordTable } from './record-table.ts';
import { type Connection, rowsOf } from './sqlite-file.ts';

/** Of fewer rows SQLite joins texts before their pages are found. */
const FEW_ROWS = 4096;
/** Fewer rows are read before threads have started. */
const LEAST_ROWS = 250_000;
/** To start threads takes as long as to make these blocks. */
const AHEAD = 10;
/** Row ids that are far apart would be blocks without rows. */
const MOST_BLOCKS = 1 << 14;

/** How large tables are read. */
export interface ThreadOptions {
  readonly file?: string | undefined;
  readonly least?: number;
  /** Blocks that are made here while threads start. */
  readonly ahead?: number;
}

/** Hands the rows of a table over in the order of their row ids. `path` is that of the database. */
export function keyedRows(
  db: Connection,
  path: string,
  keyed: KeyedTable,
  onRow: (row: KeyedRow) => void,
  threads: ThreadOptions = {},
): void {
  new KeyedReader(db, path, keyed, onRow).read(threads);
}

/** The row that is handed over. */
class Row implements KeyedRow {
  own: readonly SqlValue[] = [];
  key = '';
  /** The shared values where they are not those of the key. */
  values: readonly SqlValue[] | undefined;

  shared(): readonly SqlValue[] {
    return this.values ?? (JSON.parse(`[${this.key}]`) as SqlValue[]);
  }
}

class KeyedReader {
  private readonly db: Connection;
  private readonly path: string;
  private readonly keyed: KeyedTable;
  private readonly onRow: (row: KeyedRow) => void;
  private readonly row = new Row();

  constructor(db: Connection, path: string, keyed: KeyedTable, onRow: (row: KeyedRow) => void) {
    this.db = db;
    this.path = path;
    this.keyed = keyed;
    this.onRow = onRow;
  }

  read(threads: ThreadOptions): void {
    const { db, keyed } = this;
    const sql = joinedSql(keyed, 'rowid > ?');
    for (let after: SqlValue = this.ofPages(threads); ; ) {
      const step = joined(() => db.get(sql, [after]));
      if (step === undefined) {
        this.plain(`rowid > ${after}`);
        return;
      }
      if (step.text === null) return;
      const read = new JoinedRows(step.text, keyed.own.length);
      while (read.next()) {
        if (read.isPlain) this.hand(read.own, read.key);
        else this.plain(`rowid = ${read.rowid}`);
      }
      after = step.last;
    }
  }

  private hand(own: readonly SqlValue[], key: string, values?: readonly SqlValue[]): void {
    const { row } = this;
    row.own = own;
    row.key = key;
    row.values = values;
    this.onRow(row);
  }

  /** Rows as SQLite steps through them. */
  private plain(where: string): void {
    const { table, own, shared } = this.keyed;
    const sql = `SELECT ${[...own, ...shared].join(', ')} FROM "${table}" WHERE ${where} ORDER BY rowid`;
    for (const row of rowsOf(this.db, sql)) {
      const rest = row.slice(own.length);
      this.hand(row.slice(0, own.length), rest.map(String).join('\0'), rest);
    }
  }

  /** The rows that stand in pages as SQLite writes them; returns the row id behind which the others are. */
  private ofPages({
    file = builtThread('database-thread'),
    least = LEAST_ROWS,
    ahead = AHEAD,
  }: ThreadOptions): SqlValue {
    const { db, path, keyed } = this;
    const before = -(2n ** 63n);
    const ids = `SELECT (SELECT min(rowid) FROM "${keyed.table}") AS first, (SELECT max(rowid) FROM "${keyed.table}") AS last`;
    const { first, last } = db.get(ids) as { readonly first: SqlValue; readonly last: SqlValue };
    if (typeof first !== 'number' || typeof last !== 'number') return before;
    const count = Math.ceil((last - first + 1) / BLOCK_ROWS);
    const isFit = last - first >= FEW_ROWS && count <= MOST_BLOCKS;
    const table = isFit ? recordTable(db, path, keyed) : undefined;
    if (table === undefined) return before;
    const isMany = file !== undefined && hasThreads() && last - first >= least && count > ahead;
    const here = isMany ? ahead : count;
    const threads = isMany ? new BlockThreads(file, here, count, { path, table, least: first }) : undefined;
    let end = first;
    const take = (block: RowBlock, keys: string[]): void => {
      addKeys(block, keys);
      this.ofBlock(block, keys);
      end = block.range[1];
    };
    const { rows, files } = openPages(path, table);
    try {
      const [block, keys]: [RowBlock, string[]] = [new RowBlock(), []];
      for (let n = 0; n < here; n++) {
        if (!rows.fill(block, first + n * BLOCK_ROWS, first + (n + 1) * BLOCK_ROWS)) return end - 1;
        take(block, keys);
      }
      const ofThreads: string[][] = [];
      for (let found = threads?.next(); found !== undefined; found = threads?.next()) {
        ofThreads[found.thread] ??= [];
        take(found.block, ofThreads[found.thread]);
      }
    } finally {
      threads?.end();
      for (const fd of files) closeSync(fd);
    }
    return end - 1;
  }

  private ofBlock({ rows: count, cells }: RowBlock, keys: readonly string[]): void {
    const width = this.keyed.own.length;
    const own = new Array<number | bigint | null>(width).fill(0);
    for (let row = 0; row < count; row++) {
      const at = row * (2 + 2 * width);
      const key = cells[at + 1];
      if (key < 0) {
        this.plain(`rowid = ${cells[at]}`);
        continue;
      }
      for (let i = 0; i < width; i++) {
        const value = cells[at + 2 + 2 * i];
        if (value >= 0) own[i] = value;
        else own[i] = value < 0 ? (BigInt(-1 - value) << 32n) + BigInt(cells[at + 3 + 2 * i]) : null;
      }
      this.hand(own, keys[key]);
    }
  }
}

function addKeys(block: RowBlock, keys: string[]): void {
  const decoder = new TextDecoder();
  let start = 0;
  for (let i = 0; i < block.newTexts; i++) {
    const end = block.added[2 * i + 1];
    keys.push(decoder.decode(block.texts.slice(start, end)));
    start = end;
  }
}
