// Tables and databases that threads read: the same rows as without them, and no rows lost where a thread fails.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { afterAll, expect, test } from 'vitest';
import { loadProfile } from '../src/profile/index.ts';
import { keyedRows } from '../src/profile/node/keyed-rows.ts';
import { openDatabase, rowsOf, withFolder } from '../src/profile/node/sqlite-file.ts';
import { tableThreads } from '../src/profile/node/table-threads.ts';
import { readCsvRows } from '../src/profile/readers/csv.ts';
import { CellIds } from '../src/profile/readers/csv-row.ts';
import { streamJson } from '../src/profile/readers/json-stream.ts';
import type { KeyedRow, SqlValue } from '../src/profile/readers/rocpd.ts';
import type { RecordPlan, RowBlocks, RowPlan } from '../src/profile/readers/row-blocks.ts';
import { readWhole } from '../src/profile/source.ts';
import { writeDatabase as change, writeRocpd } from './profile-fixtures.ts';
import { profileThread } from './support/profile-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Blocks whose rows are counted as they are taken. */
function counted(blocks: RowBlocks | undefined, count: (rows: number) => void): RowBlocks | undefined {
  if (blocks === undefined) return undefined;
  const next = () => {
    const found = blocks.next();
    count(found?.block.rows ?? 0);
    return found;
  };
  return { begin: blocks.begin, next, end: () => blocks.end() };
}

/** The rows of a file, and how many of them threads read. */
function tableOf(
  path: string,
  bytes: Uint8Array,
  thread?: string,
  ahead = 0,
): { readonly rows: string[]; readonly shared: number } {
  const rows: string[] = [];
  let shared = 0;
  const rowBlocks = (plan: RowPlan) => {
    return counted(tableThreads(path, bytes.length, plan, thread, 0, ahead), (rows) => {
      shared += rows;
    });
  };
  const source = { path, size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
  readCsvRows(thread === undefined ? source : { ...source, rowBlocks }, () => {
    const names: string[] = [];
    const ids = new CellIds((name) => names.push(name ?? '') - 1);
    return (row) => rows.push(`${row.count(0)} ${names[row.id(ids, 1)]} ${row.value(2)}`);
  });
  return { rows, shared };
}

function write(name: string, text: string): { readonly path: string; readonly bytes: Uint8Array } {
  const path = join(folder, name);
  writeFileSync(path, text);
  const size = statSync(path).size;
  return { path, bytes: readWhole({ path, size, read: () => new TextEncoder().encode(text) }, size) };
}

const lines = (n: number): string =>
  Array.from({ length: n }, (_, i) => `${i},"kernel<${(i * 7919) % 5000}, float>",${1_550_000_000_000_000 + i}\n`).join(
    '',
  );

test('threads read what is behind the first piece of a file', async () => {
  const { path, bytes } = write('plain.csv', `id,name,time\n${lines(60_000)}`);
  const found = tableOf(path, bytes, await profileThread('table-thread'));
  expect(found.shared).toBeGreaterThan(55_000);
  expect(found.rows).toEqual(tableOf(path, bytes).rows);
});

test('what threads cannot read is read here, from the row on where they end', async () => {
  const { path, bytes } = write('odd.csv', `id,name,time\n${lines(30_000)}1,"a ""b""",3\n${lines(30_000)}`);
  const found = tableOf(path, bytes, await profileThread('table-thread'));
  expect(found.shared).toBeGreaterThan(25_000);
  expect(found.shared).toBeLessThan(31_000);
  expect(found.rows).toEqual(tableOf(path, bytes).rows);
});

test.each([1, 2])('rows before block %i are read here while threads start', async (ahead) => {
  const { path, bytes } = write('ahead.csv', `id,name,time\n${lines(60_000)}`);
  const found = tableOf(path, bytes, await profileThread('table-thread'), ahead);
  expect(found.shared).toBeGreaterThan(15_000);
  expect(found.shared).toBeLessThan(60_000 - ahead * 10_000);
  expect(found.rows).toEqual(tableOf(path, bytes).rows);
});

test.each([
  ['a line end in a cell', '1,"x\ny",2\n'],
  ['a long cell over the place where they begin', `1,"${'line,\n'.repeat(40_000)}",2\n`],
  ['the header once more', 'id,name,time\n'],
  ['a quote in a cell', '1,"a ""b""",3\n'],
])('%s where rows are read while threads start', async (_, odd) => {
  // Block 1 begins half a megabyte behind the beginning of the file.
  const { path, bytes } = write('before.csv', `id,name,time\n${lines(9000)}${odd}${lines(40_000)}`);
  const found = tableOf(path, bytes, await profileThread('table-thread'), 1);
  expect(found.rows).toEqual(tableOf(path, bytes).rows);
});

test('a file that threads cannot open, and threads that do not start', async () => {
  const { path, bytes } = write('gone.csv', `id,name,time\n${lines(20_000)}`);
  const { rows } = tableOf(path, bytes);
  expect(tableOf(join(folder, 'nowhere.csv'), bytes, await profileThread('table-thread'))).toEqual({ rows, shared: 0 });
  expect(tableOf(path, bytes, join(folder, 'no-thread.mjs'))).toEqual({ rows, shared: 0 });
}, 60_000);

/** The records of a list, and how many of them threads read. */
function recordsOf(
  path: string,
  bytes: Uint8Array,
  thread?: string,
): { readonly sum: string; readonly shared: number } {
  let [shared, sum] = [0, ''];
  const recordBlocks = (plan: RecordPlan) => {
    return counted(tableThreads(path, bytes.length, plan, thread, 0), (rows) => {
      shared += rows;
    });
  };
  const source = { path, size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
  streamJson(
    thread === undefined ? source : { ...source, recordBlocks },
    ['$.list.*'],
    ([, , i], value) => {
      sum += `${i} ${JSON.stringify(value)}\n`;
    },
    0,
  );
  return { sum, shared };
}

test.each([undefined, 2])('threads read records of a list of JSON, also one that is spaced by %s', async (gap) => {
  const records = Array.from({ length: 40_000 }, (_, i) => ({ kind: 11, time: 1_550_000_000_000_000 + i, of: [i] }));
  const text = JSON.stringify(
    { before: ['{"kind":11,', records[3]], list: records, after: { list: records } },
    null,
    gap,
  );
  const { path, bytes } = write(`list-${gap}.json`, text);
  const found = recordsOf(path, bytes, await profileThread('table-thread'));
  expect(found.shared).toBeGreaterThan(10_000);
  const plain = recordsOf(path, bytes);
  expect(plain.sum.split('\n').length).toBe(40_001);
  expect(found.sum === plain.sum).toBe(true);
  expect(recordsOf(join(folder, 'nowhere.json'), bytes, await profileThread('table-thread')).sum === plain.sum).toBe(
    true,
  );
});

const COLUMNS = { table: 't', own: ['a', '"end"'], shared: ['b', 'NULL AS c', 'd'] };

/** A database of rows (row id, a, end, b, d); returns its path. */
function writeDatabase(name: string, rows: Iterable<readonly unknown[]>): string {
  const path = join(folder, name);
  const db = new sqlite.Database(path);
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a, "end", b, d); BEGIN');
  const add = db.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?)');
  for (const row of rows) add.run(row as never[]);
  add.finalize();
  db.exec('COMMIT');
  db.close();
  return path;
}

const textOf = (values: readonly SqlValue[]): string =>
  values.map((value) => `${typeof value} ${String(value)}`).join();

/** The rows as SQLite steps through them. */
function steppedOf(path: string): string[] {
  return withFolder((place) => {
    const db = openDatabase(path, place);
    try {
      return Array.from(rowsOf(db, 'SELECT a, "end", b, NULL AS c, d FROM t ORDER BY rowid'), textOf);
    } finally {
      db.close();
    }
  });
}

/** The rows, with the threads of a file or without threads; and how many times SQLite was asked for joined ones. */
function keyedOf(path: string, file?: string): { readonly rows: string[]; readonly asked: number } {
  return withFolder((place) => {
    const db = openDatabase(path, place);
    let asked = 0;
    const counted = new Proxy(db, {
      get: (of, name) => {
        const value = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'get' && String(args[0]).startsWith('SELECT group_concat')) asked++;
          return value.apply(of, args);
        };
      },
    });
    try {
      const rows: string[] = [];
      const onRow = (row: KeyedRow): void => {
        rows.push(textOf([...row.own, ...row.shared()]));
      };
      keyedRows(counted, path, COLUMNS, onRow, { file, least: 0, ahead: 1 });
      return { rows, asked };
    } finally {
      db.close();
    }
  });
}

function* plainRows(n: number): Generator<readonly unknown[]> {
  for (let i = 0; i < n; i++) yield [i + 5, i * 3, 2n ** 53n + BigInt(i), i % 7, 256 << (i % 3)];
}

test('threads read rows of a database in the order of their ids, times beyond 2^53 and gaps included', async () => {
  const path = writeDatabase('plain.db', [...plainRows(30_000), [90_000, 1, 2n ** 62n + 1n, 3, 'far']]);
  const found = keyedOf(path, await profileThread('database-thread'));
  expect(found.rows.length).toBe(30_001);
  expect(found.rows).toEqual(steppedOf(path));
  // One statement finds that nothing is left.
  expect(found.asked).toBe(1);
  expect(keyedOf(path)).toEqual(found);
  expect(keyedOf(path, join(folder, 'no-thread.mjs')).rows).toEqual(found.rows);
}, 60_000);

test('rows that are not as the others are asked for one by one, and bytes end what threads read', async () => {
  const odd = [
    [30_010, null, 5, 1, 'x'],
    [30_011, -4, 5, 1, 'x'],
    [30_012, 1.5, 'text', null, null],
    [30_013, 7, 8, 2.5, 'a "quoted"\nkey ü'],
    [30_014, null, null, 2 ** 40, -5],
  ];
  const path = writeDatabase('odd.db', [[-9, 1, 2, 3, '4'], ...plainRows(20_000), ...odd]);
  const file = await profileThread('database-thread');
  for (const threads of [file, undefined]) expect(keyedOf(path, threads)).toEqual({ rows: steppedOf(path), asked: 1 });
  const bytes = writeDatabase('bytes.db', [...plainRows(20_000), ...odd, [30_020, 1, 2, new Uint8Array([1, 2]), 3]]);
  for (const threads of [file, undefined]) expect(keyedOf(bytes, threads).rows).toEqual(steppedOf(bytes));
});

test('dispatches of a database have the number of their call, and none where it tells none', () => {
  const path = join(folder, 'calls.db');
  writeRocpd(path, 4, '');
  change(path, [
    'UPDATE rocpd_event SET stack_id = CASE id WHEN 1 THEN 71 WHEN 2 THEN NULL WHEN 3 THEN -5 ELSE 0 END',
    'INSERT INTO rocpd_region (nid, pid, tid, start, "end", name_id, event_id) VALUES (1, 1, 1, 900000, 900030, 1, NULL)',
  ]);
  const { correlation } = loadProfile([path]).recording.dispatches;
  expect([...correlation.view()]).toEqual([71, -1, -1, 0]);
});
