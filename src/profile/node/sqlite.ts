// Databases of profilers: what readers ask of them, and what is wrong with them in words.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import type { SqlDatabase } from '../readers/rocpd.ts';
import { readWhole } from '../source.ts';
import type { DiskFile } from './files.ts';
import { keyedRows } from './keyed-rows.ts';
import { isSqliteError, openDatabase, rowsOf, withFolder } from './sqlite-file.ts';

/** Whether bytes start like a SQLite 3 database. */
export function isSqlite(bytes: Uint8Array): boolean {
  const MAGIC = 'SQLite format 3\0';
  return bytes.length >= 16 && [...MAGIC].every((c, i) => bytes[i] === c.charCodeAt(0));
}

/** Opens a database read-only, calls `use`, closes it; SQLite's own failures become `sqlite/…` errors. */
export function withDatabase<T>(file: DiskFile, use: (db: SqlDatabase) => T): T {
  return withFolder((folder) => {
    const path = unpacked(file, folder);
    try {
      const db = openDatabase(path, folder);
      try {
        return use({
          rows: (sql) => rowsOf(db, sql),
          keyed: (table, own, shared, onRow) => keyedRows(db, path, { table, own, shared }, onRow),
        });
      } finally {
        db.close();
      }
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new WavesmithError('sqlite/damaged', `${file.path} cannot be read as a SQLite database: ${reason}.`, {
        file: file.path,
        hint: 'The file is truncated or damaged; get a fresh copy.',
        cause: error,
      });
    }
  });
}

/** The path of a database; a compressed one is unpacked into the folder. */
function unpacked(file: DiskFile, folder: string): string {
  const MAX_UNPACKED = 1 << 30;
  const path = join(folder, 'unpacked.db');
  const isPacked = file.open((source) => {
    if (source.size === file.size) return false;
    writeFileSync(path, readWhole(source, MAX_UNPACKED));
    return true;
  });
  return isPacked ? path : file.realPath;
}
