// Entry of a thread that makes blocks of rows of a table of a database.
import { workerData } from 'node:worker_threads';
import { type BlockTask, makeBlocks } from './block-thread.ts';
import { BLOCK_ROWS } from './joined-rows.ts';
import { openPages, type RecordTable } from './page-rows.ts';

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
    const { rows } = openPages(task.path, task.table);
    return (block, n) => {
      const first = task.least + n * BLOCK_ROWS;
      return rows.fill(block, first, first + BLOCK_ROWS);
    };
  },
  (error) => (error as NodeJS.ErrnoException).code !== undefined,
);
