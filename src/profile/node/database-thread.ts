// Entry of a thread that makes blocks of rows of a table of a database.
import { openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { type BlockTask, makeBlocks, readerOf } from './block-thread.ts';
import { BLOCK_ROWS } from './joined-rows.ts';
import { PageRows, type RecordTable } from './page-rows.ts';

/** What a thread is told; the row ids of the first block begin at `least`. */
export interface DatabaseTask extends BlockTask {
  readonly path: string;
  readonly table: RecordTable;
  readonly least: number;
}

const task = workerData as DatabaseTask;
makeBlocks(
  task,
  () => {
    const log = task.table.logged.size > 0 ? readerOf(openSync(`${task.path}-wal`, 'r')) : undefined;
    const rows = new PageRows(task.table, readerOf(openSync(task.path, 'r')), log);
    return (block, n) => {
      const first = task.least + n * BLOCK_ROWS;
      return rows.fill(block, first, first + BLOCK_ROWS);
    };
  },
  (error) => (error as NodeJS.ErrnoException).code !== undefined,
);
