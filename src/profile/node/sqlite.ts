// SQLite in WebAssembly with access to the file through Node, page by page: the database is never in memory as a whole.
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import type { KeyedRow, SqlDatabase, SqlValue } from '../readers/rocpd.ts';
import { readWhole } from '../source.ts';
import type { DiskFile } from './files.ts';

type Sqlite = typeof import('node-sqlite3-wasm');
type Connection = InstanceType<Sqlite['Database']>;

/** Whether bytes start like a SQLite 3 database. */
export function isSqlite(bytes: Uint8Array): boolean {
  const MAGIC = 'SQLite format 3\0';
  return bytes.length >= 16 && [...MAGIC].every((c, i) => bytes[i] === c.charCodeAt(0));
}

/** Opens a database read-only, calls `use`, closes it; SQLite's own failures become `sqlite/…` errors. */
export function withDatabase<T>(file: DiskFile, use: (db: SqlDatabase) => T): T {
  const require = createRequire(import.meta.url);
  const { Database, SQLite3Error } = require('node-sqlite3-wasm') as Sqlite;
  const fail = (error: unknown): WavesmithError => {
    const reason = error instanceof Error ? error.message : String(error);
    return new WavesmithError('sqlite/damaged', `${file.path} cannot be read as a SQLite database: ${reason}.`, {
      file: file.path,
      hint: 'The file is truncated or damaged; get a fresh copy.',
      cause: error,
    });
  };
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-db-'));
  try {
    const path = place(file, folder);
    let db: Connection;
    try {
      db = new Database(path, { readOnly: true, fileMustExist: true });
    } catch (error) {
      throw fail(error);
    }
    try {
      // Nothing defined inside the file may run: no functions in its schema, no triggers, no views are used. A database with a write-ahead log
      // is only read by one that has it for itself, and this name of it nobody else has.
      db.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON',
      );
      return use({
        rows: (sql) => rows(db, sql),
        keyed: (table, own, shared) => keyed(db, table, own, shared),
      });
    } catch (error) {
      if (error instanceof SQLite3Error) throw fail(error);
      throw error;
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A name for the database in a folder of our own: the library locks a file by a folder beside it, which must not be left in somebody's
 * profile, cannot be made in a folder that is read-only, and keeps a second reader out. Compressed ones are unpacked there.
 */
function place(file: DiskFile, folder: string): string {
  const path = join(folder, 'profile.db');
  const MAX_UNPACKED = 1 << 30;
  const isPacked = file.open((source) => {
    if (source.size === file.size) return false;
    writeFileSync(path, readWhole(source, MAX_UNPACKED));
    return true;
  });
  if (isPacked) return path;
  const real = resolve(file.realPath);
  for (const part of ['', '-wal', '-journal']) {
    if (part === '' || existsSync(real + part)) symlinkSync(real + part, path + part);
  }
  return path;
}

function* rows(db: Connection, sql: string): Generator<readonly SqlValue[]> {
  const statement = db.prepare(sql);
  try {
    // Our own statements name each column once, and none by a number: values are in the order of the columns.
    for (const row of statement.iterate()) yield Object.values(row as Record<string, SqlValue>);
  } finally {
    statement.finalize();
  }
}

/** Rows that one step of a statement joins to a text: a value that crosses into JavaScript costs more than one that SQLite writes. Longer texts
 * are large objects, which V8 collects late. */
const JOINED = 1024;

function* keyed(db: Connection, table: string, own: readonly string[], shared: readonly string[]): Generator<KeyedRow> {
  const columns = [...own, ...shared].join(', ');
  // Absent columns are asked for as `NULL AS name`.
  const values = [...own, ...shared].map((column) => column.replace(/ AS .*/, '')).join(', ');
  const some = `SELECT json_array(rowid, ${values}) AS line, rowid AS id FROM "${table}" WHERE rowid > ? ORDER BY rowid LIMIT ${JOINED}`;
  const sql = `SELECT group_concat(line, char(10)) AS text, max(id) AS last FROM (${some})`;
  for (let after: SqlValue = -(2n ** 63n); ; ) {
    const step = joined(db, sql, after);
    if (step === undefined) {
      yield* plain(db, `SELECT ${columns} FROM "${table}" WHERE rowid > ${after} ORDER BY rowid`, own.length);
      return;
    }
    if (step.text === null) return;
    yield* splitLines(step.text, own.length, (rowid) =>
      plain(db, `SELECT ${columns} FROM "${table}" WHERE rowid = ${rowid}`, own.length),
    );
    after = step.last;
  }
}

/** The next rows as text; undefined when a value is bytes, which JSON cannot hold. */
function joined(
  db: Connection,
  sql: string,
  after: SqlValue,
): { readonly text: string | null; readonly last: SqlValue } | undefined {
  try {
    return db.get(sql, [after]) as { readonly text: string | null; readonly last: SqlValue };
  } catch (error) {
    if (error instanceof Error && error.message.includes('BLOB')) return undefined;
    throw error;
  }
}

function* plain(db: Connection, sql: string, count: number): Generator<KeyedRow> {
  for (const row of rows(db, sql)) {
    const rest = row.slice(count);
    yield { own: row.slice(0, count), key: rest.map(String).join('\0'), shared: () => rest };
  }
}

const [COMMA, ZERO] = [0x2c, 0x30];

/** Rows of a text with one JSON list on a line: row id, `count` values, the rest. Those with other than integers in them are `one`'s. */
function* splitLines(text: string, count: number, one: (rowid: string) => Iterable<KeyedRow>): Generator<KeyedRow> {
  const own = new Array<number | bigint>(count).fill(0);
  for (let line = 0; line < text.length; ) {
    let at = line;
    let isPlain = true;
    // The row id is field -1.
    for (let field = -1; field < count && isPlain; field++) {
      const from = ++at;
      let value = 0;
      let digit = text.charCodeAt(at) - ZERO;
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = text.charCodeAt(++at) - ZERO;
      }
      isPlain = at > from && digit === COMMA - ZERO;
      if (field >= 0) own[field] = value <= Number.MAX_SAFE_INTEGER ? value : BigInt(text.slice(from, at));
    }
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    if (isPlain) {
      const key = text.slice(at + 1, end - 1);
      yield { own, key, shared: () => JSON.parse(`[${key}]`) as SqlValue[] };
    } else yield* one(/-?[0-9]+/.exec(text.slice(line, line + 24))?.[0] ?? '');
    line = end + 1;
  }
}
