// Where the rows of a table of a database are in its file, for threads that read them from its pages.
import { closeSync, openSync, statSync } from 'node:fs';
import type { SqlValue } from '../readers/rocpd.ts';
import type { ReadInto } from '../readers/row-blocks.ts';
import { readerOf } from './block-thread.ts';
import type { KeyedTable } from './joined-rows.ts';
import { ColumnPlace, type RecordTable } from './page-rows.ts';
import type { Connection } from './sqlite-file.ts';
import { type PagePlan, pagePlan } from './table-pages.ts';

interface Column {
  readonly cid: number;
  readonly name: string;
  readonly type: string;
  readonly pk: number;
  readonly hidden: number;
}

/** Where the rows are; undefined for a table whose pages do not tell all of them alone, or whose values are not read as they are stored. */
export function recordTable(db: Connection, path: string, { table, own, shared }: KeyedTable): RecordTable | undefined {
  // What a journal has is to be taken back.
  if (sizeOf(`${path}-journal`) > 0) return undefined;
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
  if (known.length < places.length) return undefined;
  const plan = planOf(path, rootpage);
  const [ownPlaces, sharedPlaces] = [known.slice(0, own.length), known.slice(own.length)];
  return plan && { ...plan, width: columns.length, own: ownPlaces, shared: sharedPlaces };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The pages of a database, those of its log among them. */
function planOf(path: string, root: number): PagePlan | undefined {
  const open: number[] = [];
  const read = (name: string): ReadInto => readerOf(open[open.push(openSync(name, 'r')) - 1]);
  try {
    const size = sizeOf(`${path}-wal`);
    const log = size === 0 ? undefined : { read: read(`${path}-wal`), size };
    return pagePlan(read(path), sizeOf(path), root, log);
  } finally {
    for (const fd of open) closeSync(fd);
  }
}
