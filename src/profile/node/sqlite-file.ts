// A database file as SQLite in WebAssembly opens it: page by page through Node, never in memory as a whole.
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SqlValue } from '../readers/rocpd.ts';

type Sqlite = typeof import('node-sqlite3-wasm');
export type Connection = InstanceType<Sqlite['Database']>;

const sqlite = (): Sqlite => createRequire(import.meta.url)('node-sqlite3-wasm') as Sqlite;

/** Whether an error is one that SQLite reports. */
export const isSqliteError = (error: unknown): boolean => error instanceof sqlite().SQLite3Error;

/** Calls `use` with a new folder that is gone afterwards. */
export function withFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-db-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Opens a database read-only under a name in a folder of our own: the library locks a file by a folder beside it, which must not be left in somebody's
 * profile, cannot be made in a folder that is read-only, and keeps a second reader out.
 */
export function openDatabase(path: string, folder: string): Connection {
  const [real, name] = [resolve(path), join(folder, 'profile.db')];
  for (const part of ['', '-wal', '-journal']) {
    if (part === '' || existsSync(real + part)) symlinkSync(real + part, name + part);
  }
  const db = new (sqlite().Database)(name, { readOnly: true, fileMustExist: true });
  try {
    // Nothing defined inside the file may run: no functions in its schema, no triggers, no views are used. A database with a write-ahead log
    // is only read by one that has it for itself, and this name of it nobody else has.
    db.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON',
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The rows of a statement, in order. */
export function* rowsOf(db: Connection, sql: string): Generator<readonly SqlValue[]> {
  const statement = db.prepare(sql);
  try {
    // Our own statements name each column once, and none by a number: values are in the order of the columns.
    for (const row of statement.iterate()) yield Object.values(row as Record<string, SqlValue>);
  } finally {
    statement.finalize();
  }
}
