// Threads that read a large table of text.
import { BLOCK, type RowBlocks, type RowPlan } from '../readers/row-blocks.ts';
import { BlockThreads, builtThread, hasThreads } from './block-threads.ts';

/** Smaller files are read before threads have started. */
const LEAST_BYTES = 16 << 20;

/** Threads that read rows of a file as `ByteSource.rowBlocks` says; undefined for small files, and where there is one processor. */
export function tableThreads(
  path: string,
  size: number,
  plan: RowPlan,
  file = builtThread('table-thread'),
  least = LEAST_BYTES,
): RowBlocks | undefined {
  if (file === undefined || size - plan.from < least || !hasThreads()) return undefined;
  return new BlockThreads(file, Math.floor(plan.from / BLOCK), Math.ceil(size / BLOCK), { path, size, plan });
}
