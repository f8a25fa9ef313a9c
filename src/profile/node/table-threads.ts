// Threads that read a large table of text, or a large list of JSON.
import { BLOCK, type RecordPlan, type RowBlocks, type RowPlan } from '../readers/row-blocks.ts';
import { BlockThreads, builtThread, hasThreads } from './block-threads.ts';

/** Smaller files are read before threads have started; records of JSON are read faster than rows. */
const [LEAST_ROWS, LEAST_RECORDS] = [16 << 20, 64 << 20];

/** Blocks of rows that are read here while threads start. */
const AHEAD = 6;

/** Threads that read rows of a file as `ByteSource.rowBlocks` says; undefined for small files, and where there is one processor. */
export function tableThreads(
  path: string,
  size: number,
  plan: RowPlan | RecordPlan,
  file = builtThread('table-thread'),
  least = 'text' in plan ? LEAST_RECORDS : LEAST_ROWS,
  ahead = 'text' in plan ? 0 : AHEAD,
): RowBlocks | undefined {
  if (file === undefined || size - plan.from < least || !hasThreads()) return undefined;
  const first = Math.floor(plan.from / BLOCK) + ahead;
  const begin = ahead > 0 ? first * BLOCK : undefined;
  return new BlockThreads(file, first, Math.ceil(size / BLOCK), { path, size, plan }, begin);
}
