// Rows of a table of many: joined to texts, and those of a large table by threads.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyedRow, SqlValue } from '../readers/rocpd.ts';
import type { RowBlock } from '../readers/row-blocks.ts';
import { BlockThreads, builtThread, hasThreads } from './block-threads.ts';
import { BLOCK_ROWS, JoinedRows, joined, joinedSql, type KeyedTable } from './joined-rows.ts';
import { type Connection, rowsOf } from './sqlite-file.ts';

/** Fewer rows are read before threads have started. */
const LEAST_ROWS = 100_000;
/** Row ids that are far apart would be blocks without rows. */
const MOST_BLOCKS = 1 << 14;

/** How large tables are read. */
export interface ThreadOptions {
  readonly file?: string | undefined;
  readonly least?: number;
}

/** The rows of a table in the order of their row ids. `path` is that of the database. */
export function* keyedRows(
  db: Connection,
  path: string,
  keyed: KeyedTable,
  threads: ThreadOptions = {},
): Generator<KeyedRow> {
  const { table, own, shared } = keyed;
  const columns = [...own, ...shared].join(', ');
  const plain = (where: string): Generator<KeyedRow> =>
    plainRows(db, `SELECT ${columns} FROM "${table}" WHERE ${where} ORDER BY rowid`, own.length);
  const one = (rowid: string): Generator<KeyedRow> => plain(`rowid = ${rowid}`);
  const sql = joinedSql(keyed, 'rowid > ?');
  for (let after: SqlValue = yield* ofThreads(db, path, keyed, one, threads); ; ) {
    const step = joined(() => db.get(sql, [after]));
    if (step === undefined) {
      yield* plain(`rowid > ${after}`);
      return;
    }
    if (step.text === null) return;
    const read = new JoinedRows(step.text, own.length);
    while (read.next()) {
      if (read.isPlain) yield keyedRow(read.own, read.key);
      else yield* one(read.rowid);
    }
    after = step.last;
  }
}

const keyedRow = (own: readonly SqlValue[], key: string): KeyedRow => ({
  own,
  key,
  shared: () => JSON.parse(`[${key}]`) as SqlValue[],
});

function* plainRows(db: Connection, sql: string, count: number): Generator<KeyedRow> {
  for (const row of rowsOf(db, sql)) {
    const rest = row.slice(count);
    yield { own: row.slice(0, count), key: rest.map(String).join('\0'), shared: () => rest };
  }
}

/** The rows that threads read, as far as they can; returns the row id behind which the others are. */
function* ofThreads(
  db: Connection,
  path: string,
  keyed: KeyedTable,
  one: (rowid: string) => Iterable<KeyedRow>,
  { file = builtThread('database-thread'), least = LEAST_ROWS }: ThreadOptions,
): Generator<KeyedRow, SqlValue> {
  const before = -(2n ** 63n);
  if (file === undefined || !hasThreads()) return before;
  const ids = `SELECT (SELECT min(rowid) FROM "${keyed.table}") AS first, (SELECT max(rowid) FROM "${keyed.table}") AS last`;
  const { first, last } = db.get(ids) as { readonly first: SqlValue; readonly last: SqlValue };
  if (typeof first !== 'number' || typeof last !== 'number') return before;
  const count = Math.ceil((last - first + 1) / BLOCK_ROWS);
  if (last - first < least || count > MOST_BLOCKS) return before;
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-db-'));
  const threads = new BlockThreads(file, 0, count, { path, folder, keyed, least: first });
  const keys: string[][] = [];
  let end = first;
  try {
    for (let found = threads.next(); found !== undefined; found = threads.next()) {
      const { block, thread } = found;
      keys[thread] ??= [];
      addKeys(block, keys[thread]);
      yield* ofBlock(block, keyed.own.length, keys[thread], one);
      end = block.range[1];
    }
  } finally {
    threads.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return end - 1;
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

function* ofBlock(
  { rows: count, cells }: RowBlock,
  width: number,
  keys: readonly string[],
  one: (rowid: string) => Iterable<KeyedRow>,
): Generator<KeyedRow> {
  const own = new Array<number | bigint>(width).fill(0);
  for (let row = 0; row < count; row++) {
    const at = row * (2 + 2 * width);
    const key = cells[at + 1];
    if (key < 0) {
      yield* one(String(cells[at]));
      continue;
    }
    for (let i = 0; i < width; i++) {
      const value = cells[at + 2 + 2 * i];
      own[i] = value >= 0 ? value : (BigInt(-1 - value) << 32n) + BigInt(cells[at + 3 + 2 * i]);
    }
    yield keyedRow(own, keys[key]);
  }
}
