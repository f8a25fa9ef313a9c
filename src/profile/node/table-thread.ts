// Entry of a thread that makes blocks of rows of a table: every so many of them, in its own memory.
import { openSync, readSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { BLOCK, BlockState, RowBlock, type RowPlan } from '../readers/row-blocks.ts';
import { RowEncoder } from '../readers/row-encoder.ts';

/** What a thread is told. */
export interface TableTask {
  readonly path: string;
  readonly size: number;
  readonly plan: RowPlan;
  /** The number of the thread's first block, and how far apart its blocks are. */
  readonly first: number;
  readonly step: number;
  readonly memories: readonly SharedArrayBuffer[];
}

/** Waits until the reader has taken what is in a block. */
function waitForRoom({ head }: RowBlock): void {
  for (let state = Atomics.load(head, 0); state !== BlockState.FREE; state = Atomics.load(head, 0))
    Atomics.wait(head, 0, state);
}

function setState({ head }: RowBlock, state: number): void {
  Atomics.store(head, 0, state);
  Atomics.notify(head, 0);
}

function run({ path, size, plan, first, step, memories }: TableTask): void {
  const blocks = memories.map((memory) => new RowBlock(memory));
  let turn = 0;
  try {
    const fd = openSync(path, 'r');
    const read = (into: Uint8Array, offset: number, length: number): number => {
      let got = 0;
      for (let n = 1; got < length && n > 0; got += n) n = readSync(fd, into, got, length - got, offset + got);
      return got;
    };
    const encoder = new RowEncoder(plan, size, read, blocks[0]);
    for (let n = first; n * BLOCK < size; n += step) {
      const block = blocks[turn++ % blocks.length];
      waitForRoom(block);
      setState(block, encoder.encode(block, n) ? BlockState.FULL : BlockState.FAILED);
    }
  } catch (error) {
    // What the system does not give here, the reader of bytes asks for itself, and says what is wrong.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const block = blocks[Math.max(0, turn - 1) % blocks.length];
    waitForRoom(block);
    setState(block, BlockState.FAILED);
  }
}

run(workerData as TableTask);
