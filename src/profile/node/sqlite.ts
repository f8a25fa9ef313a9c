// SQLite in WebAssembly with access to the file through Node, page by page: the database is never in memory as a whole.
import { createRequire } from 'node:module';
import { WavesmithError } from '../../base/index.ts';
import type { SqlDatabase, SqlValue } from '../readers/rocpd.ts';

type Sqlite = typeof import('node-sqlite3-wasm');

/** Whether bytes start like a SQLite 3 database. */
export function isSqlite(bytes: Uint8Array): boolean {
  const MAGIC = 'SQLite format 3\0';
  return bytes.length >= 16 && [...MAGIC].every((c, i) => bytes[i] === c.charCodeAt(0));
}

/** Opens a database read-only, calls `use`, closes it; SQLite's own failures become `sqlite/…` errors. */
export function withDatabase<T>(realPath: string, file: string, use: (db: SqlDatabase) => T): T {
  const require = createRequire(import.meta.url);
  const { Database, SQLite3Error } = require('node-sqlite3-wasm') as Sqlite;
  const fail = (error: unknown): WavesmithError => {
    const reason = error instanceof Error ? error.message : String(error);
    return new WavesmithError('sqlite/damaged', `${file} cannot be read as a SQLite database: ${reason}.`, {
      file,
      hint: 'The file is truncated or damaged; get a fresh copy.',
      cause: error,
    });
  };
  let db: InstanceType<Sqlite['Database']>;
  try {
    db = new Database(realPath, { readOnly: true, fileMustExist: true });
  } catch (error) {
    throw fail(error);
  }
  try {
    // Nothing defined inside the file may run: no functions in its schema, no triggers, no views are used.
    db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON');
    return use({
      *rows(sql) {
        const statement = db.prepare(sql);
        try {
          // Our own statements name each column once, and none by a number: values are in the order of the columns.
          for (const row of statement.iterate()) yield Object.values(row as Record<string, SqlValue>);
        } finally {
          statement.finalize();
        }
      },
    });
  } catch (error) {
    if (error instanceof SQLite3Error) throw fail(error);
    throw error;
  } finally {
    db.close();
  }
}
