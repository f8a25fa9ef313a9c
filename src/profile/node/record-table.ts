// Where the rows of a table of a database are in its file, for threads that read them from its pages.
import { closeSync, openSync, statSync } from 'node:fs';
import type { SqlValue } from '../readers/rocpd.ts';
import { readerOf } from './block-thread.ts';
import type { KeyedTable } from './joined-rows.ts';
import { ColumnPlace, type RecordTable } from './page-rows.ts';
import type { Connection } from './sqlite-file.ts';
import { pagePlan } from './table-pages.ts';

const HEADER = 100;

interface Column {
  readonly cid: number;
  readonly name: string;
  readonly type: string;
  readonly pk: number;
  readonly hidden: number;
}

/** Where the rows are; undefined for a table whose pages do not tell all of them alone, or whose values are not read as they are stored. */
export function recordTable(db: Connection, path: string, { table, own, shared }: KeyedTable): RecordTable | undefined {
  // What was written last is in the log, and what a journal has is to be taken back.
  if (['-wal', '-journal'].some((name) => (statSync(path + name, { throwIfNoEntry: false })?.size ?? 0) > 0))
    return undefined;
  const found = db.get("SELECT rootpage, sql FROM sqlite_master WHERE type = 'table' AND name = ?", [table]);
  const { rootpage, sql } = (found ?? {}) as { readonly rootpage?: SqlValue; readonly sql?: SqlValue };
  if (typeof rootpage !== 'number' || typeof sql !== 'string') return undefined;
  // A table without row ids, or one whose first column only looks like its row id.
  if (/\bWITHOUT\b|\bDESC\b/i.test(sql)) return undefined;
  const columns = db.all(`PRAGMA table_xinfo("${table}")`) as unknown as readonly Column[];
  if (columns.some(({ hidden }) => hidden !== 0)) return undefined;
  const keys = columns.filter(({ pk }) => pk > 0);
  const rowid = keys.length === 1 && keys[0].type.toUpperCase() === 'INTEGER' ? keys[0] : undefined;
  const places = [...own, ...shared].map((name) => {
    if (/^NULL AS /.test(name)) return ColumnPlace.ABSENT;
    const column = columns.find((one) => one.name === name.replaceAll('"', ''));
    // Whole numbers of such a column are stored as that, and read as others.
    const isReal = column !== undefined && /real|floa|doub/i.test(column.type) && !/int/i.test(column.type);
    if (column === undefined || isReal) return undefined;
    return column === rowid ? ColumnPlace.ROWID : column.cid;
  });
  const known = places.filter((place) => place !== undefined);
  const fd = openSync(path, 'r');
  try {
    const header = new Uint8Array(HEADER);
    readerOf(fd)(header, 0, HEADER);
    const plan = pagePlan(header, statSync(path).size, rootpage);
    if (plan === undefined || known.length < places.length) return undefined;
    const [ownPlaces, sharedPlaces] = [known.slice(0, own.length), known.slice(own.length)];
    return { ...plan, width: columns.length, own: ownPlaces, shared: sharedPlaces };
  } finally {
    closeSync(fd);
  }
}
