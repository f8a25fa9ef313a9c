// Threads that read a large file: they make numbers of what stands in it, while this one takes the rows in their order.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { BlockState, RowBlock, type RowBlocks } from '../readers/row-blocks.ts';
import type { BlockTask } from './block-thread.ts';

/** To make blocks takes about twice as long as to take their rows. */
const THREADS = 2;
/** Blocks of each thread: one is made while another one is taken. */
const BLOCKS = 3;
/** A thread that makes no block in this time may have failed without a word, as where memory is short: its part is read here. */
const PATIENCE_MS = 5000;

/** The built thread of a name beside this code: in dist/, from a bundle there or from one of its chunks. */
export function builtThread(name: string): string | undefined {
  return [`./${name}.js`, `../${name}.js`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/** Whether there is a processor for threads. */
export const hasThreads = (): boolean => availableParallelism() >= 2;

/** Threads that make the blocks of number `from` to `count`; `rest` is what else they are told. */
export class BlockThreads implements RowBlocks {
  readonly begin: number | undefined;
  private readonly workers: Worker[] = [];
  private readonly blocks: RowBlock[][] = [];
  private readonly left: number;
  /** How many blocks were taken, and the last one of them. */
  private taken = 0;
  private last: RowBlock | undefined;

  constructor(file: string, from: number, count: number, rest: object, begin?: number) {
    this.begin = begin;
    this.left = count - from;
    for (let thread = 0; thread < THREADS; thread++) {
      const blocks = Array.from({ length: BLOCKS }, () => new RowBlock());
      const memories = blocks.map(({ memory }) => memory);
      const task: BlockTask = { ...rest, first: from + thread, step: THREADS, count, memories };
      // What a thread makes dies soon: of a larger young generation it would keep 20 MB.
      const worker = new Worker(file, { workerData: task, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
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
    if (this.taken >= this.left) return undefined;
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
