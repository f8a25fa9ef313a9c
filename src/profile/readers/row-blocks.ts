// Rows of a table in memory that threads share: one thread makes numbers of cells, another one takes them in the order of the file.

/** Bytes of a file that are a block: that of the rows that end in them. They are some of the pieces in which the reader of bytes reads. */
export const BLOCK = 1 << 19;
/** How much before them a row may begin. */
export const MOST_ROW = 1 << 18;

const [HEAD, MOST_CELLS, MOST_TEXTS] = [64, BLOCK >> 1, BLOCK >> 4];
const BYTES = HEAD + 8 * MOST_CELLS + 16 * MOST_TEXTS + BLOCK + MOST_ROW;

/** How rows of a table are written, and where in the file the first one begins that is asked for. */
export interface RowPlan {
  readonly from: number;
  /** How many cells rows have. */
  readonly width: number;
  /** A column that has a number in each row. */
  readonly numeric: number;
  readonly isCrLf: boolean;
  /** Whether there are spaces before cells that are no part of them. */
  readonly skipsSpaces: boolean;
}

/** How records of a list of JSON are written, and from where on in the file they are asked for. */
export interface RecordPlan {
  readonly from: number;
  /** A record like them (`RecordText`). */
  readonly text: Uint8Array;
}

/** Reads up to `length` bytes at `offset` of a file into an array; returns how many. */
export type ReadInto = (into: Uint8Array, offset: number, length: number) => number;

/** Blocks of rows that other threads make, in the order of the file. */
export interface RowBlocks {
  /** Where in the file the piece of the first block begins: what ends before it is read while threads start. Undefined where it begins as was asked. */
  readonly begin?: number | undefined;
  /** The next block and the number of the thread that made it, which has texts of its own; undefined where there is none. */
  next(): { readonly block: RowBlock; readonly thread: number } | undefined;
  /** Ends the threads. */
  end(): void;
}

/** What is done with a block. */
export const BlockState = { FREE: 0, FULL: 1, FAILED: 2 } as const;

/**
 * Cells of one block. A cell of digits is its number, if a double holds that and no zero is before it; another one is the number of its text, below
 * zero: -1 for text 0 of its column. Texts that a thread has not met before come with the block.
 */
export class RowBlock {
  /** `BlockState`, rows, whether rows behind them are not to be read so, new texts. */
  readonly head: Int32Array;
  /** Where in the file the rows begin and end. */
  readonly range: Float64Array;
  readonly cells: Float64Array;
  /** Of each new text its column, and where it ends in `texts`. */
  readonly added: Int32Array;
  /** Where in the file each of them is. */
  readonly places: Float64Array;
  readonly texts: Uint8Array;

  readonly memory: SharedArrayBuffer;

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.head = new Int32Array(memory, 0, 4);
    this.range = new Float64Array(memory, 16, 2);
    this.cells = new Float64Array(memory, HEAD, MOST_CELLS);
    this.places = new Float64Array(memory, HEAD + 8 * MOST_CELLS, MOST_TEXTS);
    this.added = new Int32Array(memory, HEAD + 8 * (MOST_CELLS + MOST_TEXTS), 2 * MOST_TEXTS);
    this.texts = new Uint8Array(memory, HEAD + 8 * MOST_CELLS + 16 * MOST_TEXTS, BLOCK + MOST_ROW);
  }

  get rows(): number {
    return this.head[1];
  }

  /** Whether the rows behind the block must be read from the bytes of the file. */
  get isLast(): boolean {
    return this.head[2] === 1;
  }

  get newTexts(): number {
    return this.head[3];
  }

  /** Says what is in the block. */
  fill(rows: number, isLast: boolean, newTexts: number, from: number, to: number): void {
    this.head[1] = rows;
    this.head[2] = Number(isLast);
    this.head[3] = newTexts;
    this.range[0] = from;
    this.range[1] = to;
  }
}
