// Threads that read a large table: they make numbers of its cells, while this one takes the rows in their order.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { BLOCK, BlockState, RowBlock, type RowBlocks, type RowPlan } from '../readers/row-blocks.ts';
import type { TableTask } from './table-thread.ts';

const THREAD_FILE = 'table-thread.js';
/** To make the blocks takes twice as long as to take their rows. */
const THREADS = 2;
/** Blocks of each thread: one is made while another one is taken. */
const BLOCKS = 3;
/** Smaller files are read before threads have started. */
const LEAST_BYTES = 16 << 20;
/** A thread that makes no block in this time may have failed without a word, as where memory is short: its part is read here. */
const PATIENCE_MS = 5000;

/** The built thread beside this code: in dist/, from a bundle there or from one of its chunks. */
export function builtThread(): string | undefined {
  return [`./${THREAD_FILE}`, `../${THREAD_FILE}`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/** Threads that read rows of a file as `ByteSource.rowBlocks` says; undefined for small files, and where there is one processor. */
export function tableThreads(
  path: string,
  size: number,
  plan: RowPlan,
  file = builtThread(),
  least = LEAST_BYTES,
): RowBlocks | undefined {
  if (file === undefined || size - plan.from < least || availableParallelism() < 2) return undefined;
  return new TableThreads(path, size, plan, file);
}

class TableThreads implements RowBlocks {
  private readonly workers: Worker[] = [];
  private readonly blocks: RowBlock[][] = [];
  private readonly count: number;
  /** How many blocks were taken, and the last one of them. */
  private taken = 0;
  private last: RowBlock | undefined;

  constructor(path: string, size: number, plan: RowPlan, file: string) {
    const begin = Math.floor(plan.from / BLOCK);
    this.count = Math.ceil(size / BLOCK) - begin;
    for (let thread = 0; thread < THREADS; thread++) {
      const blocks = Array.from({ length: BLOCKS }, () => new RowBlock());
      const task: TableTask = {
        ...{ path, size, plan, first: begin + thread, step: THREADS },
        memories: blocks.map(({ memory }) => memory),
      };
      const worker = new Worker(file, { workerData: task });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Where the system gives no thread its blocks do not come, which is enough to know.
        if (error.code === undefined) throw error;
      });
      worker.unref();
      this.workers.push(worker);
      this.blocks.push(blocks);
    }
  }

  next(): { readonly block: RowBlock; readonly thread: number } | undefined {
    if (this.last !== undefined) {
      Atomics.store(this.last.head, 0, BlockState.FREE);
      Atomics.notify(this.last.head, 0);
      this.last = undefined;
    }
    if (this.taken === this.count) return undefined;
    const thread = this.taken % THREADS;
    const block = this.blocks[thread][Math.floor(this.taken++ / THREADS) % BLOCKS];
    Atomics.wait(block.head, 0, BlockState.FREE, PATIENCE_MS);
    if (Atomics.load(block.head, 0) !== BlockState.FULL) return undefined;
    this.last = block;
    return { block, thread };
  }

  end(): void {
    for (const worker of this.workers) void worker.terminate();
  }
}
