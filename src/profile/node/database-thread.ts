// Entry of a thread that makes blocks of rows of a table of a database: of each its row id, the number of the text of what it shares with
// others (-1 for a row that the main thread must ask for itself), and two numbers for each value of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import type { RowBlock } from '../readers/row-blocks.ts';
import { type BlockTask, makeBlocks } from './block-thread.ts';
import { BLOCK_ROWS, JOINED, JoinedRows, joined, joinedSql, type KeyedTable } from './joined-rows.ts';
import { isSqliteError, openDatabase } from './sqlite-file.ts';

/** More different texts are read in one thread. */
const MOST_KEYS = 1 << 16;

/** What a thread is told; the row ids of the first block begin at `least`. */
export interface DatabaseTask extends BlockTask {
  readonly path: string;
  /** Where names of the database may be; the main thread removes it. */
  readonly folder: string;
  readonly keyed: KeyedTable;
  readonly least: number;
}

/** Puts joined rows into blocks. */
class KeyedEncoder {
  private readonly keys = new Map<string, number>();
  private readonly encoder = new TextEncoder();
  private rows = 0;
  private newKeys = 0;
  private room = 0;

  begin(): void {
    [this.rows, this.newKeys, this.room] = [0, 0, 0];
  }

  /** Adds rows to a block; false for one that cannot be put there. */
  add(block: RowBlock, rows: JoinedRows): boolean {
    const width = 2 + 2 * rows.own.length;
    while (rows.next()) {
      const at = this.rows++ * width;
      if (at + width > block.cells.length) return false;
      const key = rows.isPlain ? this.keyOf(block, rows.key) : -1;
      const rowid = rows.isPlain ? 0 : Number(rows.rowid);
      if (key === undefined || !Number.isSafeInteger(rowid)) return false;
      block.cells[at] = rowid;
      block.cells[at + 1] = key;
      for (let i = 0; i < rows.own.length; i++) {
        const value = rows.own[i];
        const isNumber = typeof value === 'number';
        block.cells[at + 2 + 2 * i] = isNumber ? value : -1 - Number(value >> 32n);
        if (!isNumber) block.cells[at + 3 + 2 * i] = Number(value & 0xffffffffn);
      }
    }
    return true;
  }

  end(block: RowBlock, from: number, to: number): void {
    block.fill(this.rows, false, this.newKeys, from, to);
  }

  private keyOf(block: RowBlock, key: string): number | undefined {
    const found = this.keys.get(key);
    if (found !== undefined) return found;
    const bytes = this.encoder.encode(key);
    if (this.keys.size === MOST_KEYS || this.newKeys === block.places.length) return undefined;
    if (this.room + bytes.length > block.texts.length) return undefined;
    block.texts.set(bytes, this.room);
    this.room += bytes.length;
    block.added[2 * this.newKeys++ + 1] = this.room;
    this.keys.set(key, this.keys.size);
    return this.keys.size - 1;
  }
}

function run(task: DatabaseTask): void {
  const { keyed, least } = task;
  makeBlocks(
    task,
    () => {
      const folder = join(task.folder, `thread-${task.first}`);
      mkdirSync(folder);
      const statement = openDatabase(task.path, folder).prepare(joinedSql(keyed, 'rowid >= ? AND rowid < ?'));
      const encoder = new KeyedEncoder();
      return (block, n) => {
        encoder.begin();
        const first = least + n * BLOCK_ROWS;
        for (let from = first; from < first + BLOCK_ROWS; from += JOINED) {
          const found = joined(() => statement.get([from, from + JOINED]));
          if (found === undefined) return false;
          if (found.text !== null && !encoder.add(block, new JoinedRows(found.text, keyed.own.length))) return false;
        }
        encoder.end(block, first, first + BLOCK_ROWS);
        return true;
      };
    },
    (error) => isSqliteError(error) || (error as NodeJS.ErrnoException).code !== undefined,
  );
}

run(workerData as DatabaseTask);
