// What threads that make blocks have in common: every so many of a file, in turns in memory of their own.
import { readSync } from 'node:fs';
import { BlockState, type ReadInto, RowBlock } from '../readers/row-blocks.ts';

/** Which blocks a thread makes: those of number `first`, `first + step` and so on, of `count` in all. */
export interface BlockTask {
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly memories: readonly SharedArrayBuffer[];
}

/**
 * Makes the blocks of a thread. `open` is called once, with the first one; what it returns fills a block, and returns false where that cannot be done.
 * `isExpected` tells errors of the file, which the main thread meets itself and says what is wrong, from mistakes of the program.
 */
export function makeBlocks(
  { first, step, count, memories }: BlockTask,
  open: (block: RowBlock) => (block: RowBlock, n: number) => boolean,
  isExpected: (error: unknown) => boolean,
): void {
  const blocks = memories.map((memory) => new RowBlock(memory));
  let block = blocks[0];
  try {
    const fill = open(block);
    for (let n = first, turn = 0; n < count; n += step) {
      block = blocks[turn++ % blocks.length];
      waitForRoom(block);
      setState(block, fill(block, n) ? BlockState.FULL : BlockState.FAILED);
    }
  } catch (error) {
    if (!isExpected(error)) throw error;
    waitForRoom(block);
    setState(block, BlockState.FAILED);
  }
}

/** Waits until the main thread has taken what is in a block. */
function waitForRoom({ head }: RowBlock): void {
  for (let state = Atomics.load(head, 0); state !== BlockState.FREE; state = Atomics.load(head, 0))
    Atomics.wait(head, 0, state);
}

function setState({ head }: RowBlock, state: number): void {
  Atomics.store(head, 0, state);
  Atomics.notify(head, 0);
}

/** Reads an open file, as far as it goes. */
export function readerOf(fd: number): ReadInto {
  return (into, offset, length) => {
    let got = 0;
    for (let n = 1; got < length && n > 0; got += n) n = readSync(fd, into, got, length - got, offset + got);
    return got;
  };
}
