// Makes blocks of records from the bytes of a list of JSON. Whatever is not of their text ends the block: records behind it are read in one thread.
import { MOST_RECORD, RecordText } from './record-text.ts';
import { BLOCK, type ReadInto, type RecordPlan, type RowBlock } from './row-blocks.ts';

const [SPACE, COMMA, CLOSE_LIST] = [0x20, 0x2c, 0x5d];
/** Spaces between two records. */
const MOST_SPACE = 1 << 12;
/** Places in a block that look like the beginning of a record and are none. */
const MOST_TRIED = 1 << 10;
/** Runs of records in a block: of more, most records are read in one thread. */
const MOST_RUNS = 16;

/** One thread's part of a list. */
export class RecordEncoder {
  private readonly from: number;
  private readonly text: RecordText;
  private readonly size: number;
  private readonly read: ReadInto;
  private readonly step: number;
  private readonly room: Uint8Array;
  private readonly tried: Float64Array;
  private tries = 0;

  /** `size` is that of the file, `step` the bytes of the file that are a block. */
  constructor({ from, text }: RecordPlan, size: number, read: ReadInto, step = BLOCK) {
    this.from = from;
    this.text = RecordText.of(text) as RecordText;
    this.size = size;
    this.read = read;
    this.step = step;
    this.room = new Uint8Array(step + MOST_RECORD + MOST_SPACE);
    this.tried = new Float64Array(this.text.integers);
  }

  /**
   * Puts the records into a block whose commas, those before them, are in a step of the file: those of number `n` from 0 on. They are in runs of records that follow
   * each other: in `places` is where the first comma of each run is and where the one behind its last record, in `added` how many records it has.
   */
  encode(block: RowBlock, n: number): boolean {
    const { step, size, text } = this;
    const begin = Math.max(this.from, n * step);
    const to = (n + 1) * step - begin;
    const length = this.read(this.room, begin, Math.min(this.room.length, size - begin));
    const bytes = this.room.subarray(0, length);
    const view = new DataView(bytes.buffer, 0, length);
    const most = Math.floor(block.cells.length / Math.max(1, text.integers));
    let [runs, rows, isOpen] = [0, 0, false];
    this.tries = 0;
    const first = this.next(bytes, view, 0, to);
    for (let comma = first; comma >= 0 && runs < MOST_RUNS && rows < most; comma = this.next(bytes, view, comma, to)) {
      const [from, before] = [comma, rows];
      while (comma < to && rows < most) {
        const read = text.read(bytes, view, behindSpace(bytes, comma + 1), block.cells, rows * text.integers);
        const end = read < 0 ? length : behindSpace(bytes, read);
        if (bytes[end] !== COMMA && bytes[end] !== CLOSE_LIST) break;
        comma = end;
        rows++;
        if (bytes[end] !== COMMA) break;
      }
      if (rows > before) {
        block.places[2 * runs] = begin + from;
        block.places[2 * runs + 1] = begin + comma;
        block.added[runs++] = rows - before;
      }
      isOpen = bytes[comma] === COMMA && comma >= to;
      if (comma >= to) break;
    }
    block.fill(rows, !isOpen, runs, begin + Math.max(first, 0), begin + to);
    return true;
  }

  /** The first comma before `to` with a record behind it, which begins behind `from`; -1 where there is none. */
  private next(bytes: Uint8Array, view: DataView, from: number, to: number): number {
    let at = from;
    while (this.tries++ < MOST_TRIED) {
      at = this.text.find(bytes, at + 1, bytes.length);
      if (at < 0) return -1;
      let comma = at - 1;
      while (bytes[comma] <= SPACE) comma--;
      if (comma >= to) return -1;
      if (bytes[comma] === COMMA && this.text.read(bytes, view, at, this.tried, 0) >= 0) return comma;
    }
    return -1;
  }
}

/** The next place that is no space. */
export function behindSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] <= SPACE) at++;
  return at;
}
