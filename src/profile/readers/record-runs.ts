// Runs of records of a list of JSON that other threads have read, in the order of the file.
import type { RecordShape } from './record-shape.ts';
import type { RowBlock, RowBlocks } from './row-blocks.ts';

/** The records of a list that are like those of a shape. */
export class RecordRuns {
  /** Where in the file the next run begins, at the earliest. What is before it is to be read here. */
  limit: number;
  /** Whether there is a comma behind the run that was taken last. */
  isBehindComma = false;
  private readonly shape: RecordShape;
  private readonly blocks: RowBlocks;
  /** The block that is taken, the run of it that is next, and which record of the block that begins with. */
  private block: RowBlock | undefined;
  private run = 0;
  private row = 0;

  constructor(shape: RecordShape, blocks: RowBlocks, from: number) {
    this.shape = shape;
    this.blocks = blocks;
    this.limit = from;
  }

  /**
   * Hands over the records of the run that begins with the comma `here`; returns where in the file it ends: at a comma, or where the list does. Undefined where no run
   * begins here; those that began before are passed over.
   */
  take(here: number, hand: (record: unknown) => void): number | undefined {
    for (;;) {
      if (this.block === undefined) {
        this.block = this.blocks.next()?.block;
        this.run = this.row = 0;
      }
      const { block, run } = this;
      this.limit = block === undefined ? Number.POSITIVE_INFINITY : beginOf(block, run);
      if (block === undefined || this.limit > here) return undefined;
      if (++this.run >= block.newTexts) this.block = undefined;
      if (run === block.newTexts) continue;
      const first = this.row;
      this.row += block.added[run];
      if (this.limit < here) continue;
      this.isBehindComma = this.block === undefined && !block.isLast;
      for (let row = first; row < this.row; row++) {
        this.shape.take(block.cells, row * this.shape.text.integers);
        hand(this.shape.record);
      }
      return block.places[2 * run + 1];
    }
  }

  /** Ends the threads. */
  end(): void {
    this.blocks.end();
  }
}

/** Where a run of a block begins; a block without runs begins with its piece of the file. */
function beginOf(block: RowBlock, run: number): number {
  return run < block.newTexts ? block.places[2 * run] : block.range[0];
}
