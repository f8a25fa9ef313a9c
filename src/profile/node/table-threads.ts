// Threads that read a large table of text, or a large list of JSON.
import { BLOCK, type RecordPlan, type RowBlocks, type RowPlan } from '../readers/row-blocks.ts';
import { BlockThreads, builtThread, hasThreads } from './block-threads.ts';

/** Smaller files are read before threads have started; records of JSON are read faster than rows. */
const [LEAST_ROWS, LEAST_RECORDS] = [16 << 20, 64 << 20];

/** Threads that read rows of a file as `ByteSource.rowBlocks` says; undefined for small files, and where there is one processor. */
export function tableThreads(
  path: string,
  size: number,
  plan: RowPlan | RecordPlan,
  file = builtThread('table-thread'),
  least = 'text' in plan ? LEAST_RECORDS : LEAST_ROWS,
): RowBlocks | undefined {
  if (file === undefined || size - plan.from < least || !hasThreads()) return undefined;
  return new BlockThreads(file, Math.floor(plan.from / BLOCK), Math.ceil(size / BLOCK), { path, size, plan });
}
