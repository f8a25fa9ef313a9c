// Entry of a thread that makes blocks of rows of a table, or of records of a list.
import { openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { RecordEncoder } from '../readers/record-encoder.ts';
import type { RecordPlan, RowPlan } from '../readers/row-blocks.ts';
import { RowEncoder } from '../readers/row-encoder.ts';
import { type BlockTask, makeBlocks, readerOf } from './block-thread.ts';

/** What a thread is told. */
export interface TableTask extends BlockTask {
  readonly path: string;
  readonly size: number;
  readonly plan: RowPlan | RecordPlan;
}

const task = workerData as TableTask;
makeBlocks(
  task,
  (block) => {
    const read = readerOf(openSync(task.path, 'r'));
    const { plan, size } = task;
    const encoder = 'text' in plan ? new RecordEncoder(plan, size, read) : new RowEncoder(plan, size, read, block);
    return (into, n) => encoder.encode(into, n);
  },
  (error) => (error as NodeJS.ErrnoException).code !== undefined,
);
