// Tables that threads read: the same rows as without them, and no rows lost where a thread fails.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tableThreads } from '../src/profile/node/table-threads.ts';
import { readCsvRows } from '../src/profile/readers/csv.ts';
import { CellIds } from '../src/profile/readers/csv-row.ts';
import type { RowPlan } from '../src/profile/readers/row-blocks.ts';
import { readWhole } from '../src/profile/source.ts';
import { tableThread } from './support/table-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The rows of a file, and how many of them threads read. */
function rowsOf(
  path: string,
  bytes: Uint8Array,
  thread?: string,
): { readonly rows: string[]; readonly shared: number } {
  const rows: string[] = [];
  let shared = 0;
  const rowBlocks = (plan: RowPlan) => {
    const blocks = tableThreads(path, bytes.length, plan, thread, 0);
    if (blocks === undefined) return undefined;
    return {
      next: () => {
        const found = blocks.next();
        shared += found?.block.rows ?? 0;
        return found;
      },
      end: () => blocks.end(),
    };
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
  const found = rowsOf(path, bytes, await tableThread());
  expect(found.shared).toBeGreaterThan(55_000);
  expect(found.rows).toEqual(rowsOf(path, bytes).rows);
});

test('what threads cannot read is read here, from the row on where they end', async () => {
  const { path, bytes } = write('odd.csv', `id,name,time\n${lines(30_000)}1,"a ""b""",3\n${lines(30_000)}`);
  const found = rowsOf(path, bytes, await tableThread());
  expect(found.shared).toBeGreaterThan(25_000);
  expect(found.shared).toBeLessThan(31_000);
  expect(found.rows).toEqual(rowsOf(path, bytes).rows);
});

test('a file that threads cannot open, and threads that do not start', async () => {
  const { path, bytes } = write('gone.csv', `id,name,time\n${lines(20_000)}`);
  const { rows } = rowsOf(path, bytes);
  expect(rowsOf(join(folder, 'nowhere.csv'), bytes, await tableThread())).toEqual({ rows, shared: 0 });
  expect(rowsOf(path, bytes, join(folder, 'no-thread.mjs'))).toEqual({ rows, shared: 0 });
}, 60_000);
