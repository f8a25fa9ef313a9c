// Rows that are read from the pages of a database are those that SQLite steps through, however it was written; of damaged pages there are none.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { afterAll, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import type { SqlValue } from '../readers/rocpd.ts';
import { type ReadInto, RowBlock } from '../readers/row-blocks.ts';
import { PageRows } from './page-rows.ts';
import { recordTable } from './record-table.ts';
import { isSqliteError, openDatabase, rowsOf, withFolder } from './sqlite-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-pages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OWN = ['id', 'a', '"end"'];
const SHARED = ['b', 'c', 'NULL AS d'];
const block = new RowBlock();
let made = 0;

/** The path of a new database, written by some statements and a function. */
function write(before: string, use: (db: InstanceType<typeof sqlite.Database>) => void): string {
  const path = join(folder, `${made++}.db`);
  const db = new sqlite.Database(path);
  db.exec(before);
  use(db);
  db.close();
  return path;
}

const memory =
  (bytes: Uint8Array): ReadInto =>
  (into, offset, length) => {
    const piece = bytes.subarray(offset, offset + length);
    into.set(piece);
    return piece.length;
  };

/** Rows as texts, from the pages: `odd` for those that SQLite is to be asked for; undefined where there are none. `bytes` stand in the place of the file. */
function fromPages(path: string, step: number, bytes: Uint8Array = readFileSync(path)): string[] | undefined {
  return withFolder((place) => {
    const db = openDatabase(path, place);
    try {
      const keyed = { table: 't', own: OWN, shared: SHARED };
      const table = recordTable(db, path, keyed);
      if (table === undefined) return undefined;
      const { first, last } = db.get('SELECT min(rowid) AS first, max(rowid) AS last FROM t') as Record<string, number>;
      const log = existsSync(`${path}-wal`) ? memory(readFileSync(`${path}-wal`)) : undefined;
      const pages = new PageRows(table, memory(bytes), log);
      const [rows, keys]: [string[], string[]] = [[], []];
      for (let from = first; from <= last; from += step) {
        if (!pages.fill(block, from, from + step)) return undefined;
        let start = 0;
        for (let i = 0; i < block.newTexts; i++) {
          const end = block.added[2 * i + 1];
          keys.push(new TextDecoder().decode(block.texts.slice(start, end)));
          start = end;
        }
        for (let row = 0; row < block.rows; row++) {
          const [rowid, key, ...cells] = block.cells.subarray(8 * row, 8 * row + 8);
          const own = [0, 2, 4].map((i) => {
            if (Number.isNaN(cells[i])) return null;
            return cells[i] >= 0 ? cells[i] : (BigInt(-1 - cells[i]) << 32n) + BigInt(cells[i + 1]);
          });
          rows.push(key < 0 ? `${rowid} odd` : `${rowid} ${own.join()} ${keys[key]}`);
        }
      }
      return rows;
    } finally {
      db.close();
    }
  });
}

/** The same from SQLite; a row is odd whose own values are not all whole numbers from 0 on or nothing, or whose shared values are others than whole ones. */
function fromSqlite(path: string): string[] {
  return withFolder((place) => {
    const db = openDatabase(path, place);
    try {
      return Array.from(
        rowsOf(db, 'SELECT rowid AS r, id, a, "end", b, c FROM t ORDER BY rowid'),
        ([rowid, ...row]) => {
          const isWhole = (value: SqlValue): boolean =>
            value === null || typeof value === 'bigint' || Number.isInteger(value);
          const [own, shared] = [row.slice(0, 3), row.slice(3)];
          const isOdd = !row.every(isWhole) || own.some((value) => value !== null && (value as number) < 0);
          return isOdd ? `${rowid} odd` : `${rowid} ${own.join()} ${shared.map(String).join()},null`;
        },
      );
    } finally {
      db.close();
    }
  });
}

const TABLE =
  'CREATE TABLE t (id INTEGER PRIMARY KEY, guid TEXT, a INTEGER, b INTEGER, "end" BIGINT, note TEXT, c INTEGER)';
const insert = (db: InstanceType<typeof sqlite.Database>, rows: Iterable<readonly unknown[]>): void => {
  db.exec('BEGIN');
  const add = db.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const row of rows) add.run(row as never[]);
  add.finalize();
  db.exec('COMMIT');
};

const whole = fc.oneof(
  fc.nat(300),
  fc.nat(),
  fc.maxSafeNat(),
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  fc.constantFrom(
    0,
    1,
    127,
    128,
    32767,
    32768,
    2 ** 23,
    2 ** 31,
    2 ** 47 - 1,
    2 ** 47,
    2 ** 53 - 1,
    2n ** 53n,
    2n ** 53n + 1n,
  ),
);
const rare = fc.oneof(
  { weight: 60, arbitrary: whole },
  { weight: 3, arbitrary: fc.constantFrom(null, -1, -(2n ** 40n)) },
  { weight: 1, arbitrary: fc.constantFrom(1.5, 'text', '12', new Uint8Array([1, 2])) },
);
const short = fc.option(fc.string({ maxLength: 30 }));
const note = fc.oneof(
  fc.constant(null),
  fc.string({ maxLength: 30 }),
  fc.nat(6000).map((n) => 'x'.repeat(n)),
);
const record = fc.record({
  gap: fc.nat(3),
  guid: fc.oneof({ weight: 20, arbitrary: short }, { weight: 1, arbitrary: note }),
  a: rare,
  b: fc.oneof(fc.nat(2), rare),
  end: rare,
  note,
  c: fc.nat(1),
});

test('property: as SQLite has them, on pages of any size, with long texts and gaps', () => {
  let read = 0;
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 5, maxLength: 80 }),
      fc.constantFrom(512, 1024, 4096, 65536),
      fc.constantFrom('NONE', 'FULL'),
      fc.integer({ min: -20, max: 2 ** 31 }),
      fc.integer({ min: 1, max: 50 }),
      (records, pageSize, vacuum, first, step) => {
        const path = write(`PRAGMA page_size = ${pageSize}; PRAGMA auto_vacuum = ${vacuum}; ${TABLE}`, (db) => {
          let id = first;
          insert(
            db,
            records.map(({ gap, guid, a, b, end, note, c }) => {
              id += 1 + gap;
              return [id, guid, a, b, end, note, c];
            }),
          );
          db.exec(`DELETE FROM t WHERE id % 5 = 1 AND id <> ${id}`);
        });
        const [found, expected] = [fromPages(path, step), fromSqlite(path)];
        expect(found?.length).toBe(expected.length);
        // A row whose values are behind what is on its page is odd, too; so is one with a row id below 0.
        found?.forEach((row, i) => {
          expect(row.endsWith(' odd') ? row.split(' ')[0] : row).toBe(
            row.endsWith(' odd') ? expected[i].split(' ')[0] : expected[i],
          );
          read += Number(!row.endsWith(' odd'));
        });
      },
    ),
    { numRuns: 60 },
  );
  expect(read).toBeGreaterThan(250);
});

function* rows(n: number): Generator<readonly unknown[]> {
  for (let i = 0; i < n; i++) yield [i + 1, null, i * 7, i % 3, 1_550_000_000_000_000 + i, null, 256];
}

test('a large table of several levels', () => {
  const path = write(`PRAGMA page_size = 512; ${TABLE}`, (db) => insert(db, rows(20_000)));
  expect(fromPages(path, 777)).toEqual(fromSqlite(path));
});

test.each([
  ['columns that rows do not have yet', TABLE.replace(', c INTEGER)', ')'), 'ALTER TABLE t ADD c INTEGER DEFAULT 9'],
  ['columns that are computed', TABLE.replace('c INTEGER)', 'c0, c AS (c0 + 1))'), ''],
  ['no row ids', `${TABLE} WITHOUT ROWID`, ''],
  ['a key that is not the row id', TABLE.replace('KEY', 'KEY DESC'), ''],
  ['fractions', TABLE.replace('a INTEGER', 'a DOUBLE'), ''],
  ['a view in its place', TABLE.replace('TABLE t', 'TABLE u'), 'CREATE VIEW t AS SELECT 1 AS rowid, * FROM u'],
])('a table with %s is left to SQLite', (_, create, then) => {
  const path = write(create, (db) => {
    const table = create.includes('TABLE u') ? 'u' : 't';
    for (let i = 1; i < 200; i++) db.exec(`INSERT INTO ${table} (id, a, b, "end") VALUES (${i}, 1, 2, 3)`);
    if (then !== '') db.exec(then);
  });
  expect(fromPages(path, 1000)).toBeUndefined();
});

test('what a journal takes back is left to SQLite', () => {
  const path = write(TABLE, (db) => insert(db, rows(500)));
  expect(fromPages(path, 100)?.length).toBe(500);
  writeFileSync(`${path}-journal`, 'x');
  expect(fromPages(path, 100)).toBeUndefined();
});

/** A database of rows some of which are in its log only; returns the path of a copy of both, and its rows. */
function withLog(): string {
  const copy = join(folder, `${made++}-log.db`);
  write(`PRAGMA page_size = 1024; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; ${TABLE}`, (db) => {
    const [{ file }] = db.all('PRAGMA database_list') as unknown as readonly { readonly file: string }[];
    insert(db, rows(300));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0');
    db.exec('UPDATE t SET a = a + 1 WHERE id % 50 = 3');
    insert(db, Array.from(rows(900)).slice(300));
    db.exec('UPDATE t SET "end" = "end" + 5 WHERE id % 9 = 1; DELETE FROM t WHERE id % 70 = 2');
    for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  });
  return copy;
}

test('pages of a log stand in the place of those of the file', () => {
  const path = withLog();
  const found = fromPages(path, 128);
  expect(found?.length).toBe(887);
  expect(found).toEqual(fromSqlite(path));
});

test('property: of a log that is cut or damaged as much is read as SQLite reads', () => {
  const path = withLog();
  const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
  const seen = new Set<number>();
  fc.assert(
    fc.property(fc.nat(log.length), fc.option(fc.tuple(fc.nat(log.length - 1), fc.nat(255))), (length, change) => {
      const damaged = join(folder, 'log.db');
      const bytes = new Uint8Array(log);
      if (change !== null) bytes[change[0]] = change[1];
      writeFileSync(damaged, file);
      writeFileSync(`${damaged}-wal`, bytes.subarray(0, change === null ? length : undefined));
      let expected: string[] | undefined;
      try {
        expected = fromSqlite(damaged);
      } catch (error) {
        if (!isSqliteError(error)) throw error;
      }
      if (expected === undefined) return;
      const found = fromPages(damaged, 128);
      if (found !== undefined) expect(found).toEqual(expected);
      seen.add(found?.length ?? 0);
    }),
    { numRuns: 150 },
  );
  expect(seen.size).toBeGreaterThan(2);
});

test('property: of a damaged page no row is read that SQLite does not read', () => {
  const path = write(`PRAGMA page_size = 1024; ${TABLE}`, (db) => insert(db, rows(400)));
  const whole = readFileSync(path);
  const good = new Set(fromSqlite(path));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const bytes = new Uint8Array(whole);
        for (const [at, byte] of changes) if (at > 1023) bytes[at] = byte;
        const found = fromPages(path, 64, bytes);
        const damaged = join(folder, 'damaged.db');
        writeFileSync(damaged, bytes);
        let expected: string[] | undefined;
        try {
          expected = fromSqlite(damaged);
        } catch (error) {
          if (!isSqliteError(error)) throw error;
        }
        if (found === undefined || found.every((row) => good.has(row))) return;
        // A changed value is one that SQLite reads, too.
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 150 },
  );
});
