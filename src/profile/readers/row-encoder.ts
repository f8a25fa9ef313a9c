// Makes blocks of rows from the bytes of a table. Whatever is not as profilers write it ends the block: rows behind it are read in one thread.
import { ByteTexts } from './byte-texts.ts';
import { BLOCK, MOST_ROW, type ReadInto, type RowBlock, type RowPlan } from './row-blocks.ts';

const [SPACE, QUOTE, COMMA, LF, CR, ZERO] = [0x20, 0x22, 0x2c, 0x0a, 0x0d, 0x30];
const QUOTES = 0x22222222;
/** Digits that an int32 holds, and the most that a double holds. */
const [FEW_DIGITS, MOST_DIGITS] = [9, 16];
/** Before a block this much is looked through first: most rows are shorter. */
const FEW_BYTES = 1 << 14;
const POWERS = Array.from({ length: MOST_DIGITS + 1 }, (_, i) => 10 ** i);

/** One thread's part of a table. It knows the texts that it has met. */
export class RowEncoder {
  private readonly plan: RowPlan;
  private readonly size: number;
  private readonly read: ReadInto;
  private readonly step: number;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly columns: ByteTexts[];
  /** The text of each column in the row before. */
  private readonly before: Int32Array;
  /** Of the text that was looked at last. */
  private hash = 0;
  /** What is written to: the block, how many texts it has, the bytes of those, and where in the file the bytes begin. */
  private block: RowBlock;
  private newTexts = 0;
  private room = 0;
  private base = 0;
  /** Whether a text of the block has a NUL, or bytes that are no ASCII. */
  private isOdd = false;

  /** `size` is that of the file, `first` the block that is filled first, `step` the bytes of the file that are one. */
  constructor(plan: RowPlan, size: number, read: ReadInto, first: RowBlock, step = BLOCK) {
    this.plan = plan;
    this.size = size;
    this.read = read;
    this.block = first;
    this.step = step;
    this.bytes = new Uint8Array(BLOCK + MOST_ROW + 8);
    this.view = new DataView(this.bytes.buffer);
    this.columns = Array.from({ length: plan.width }, () => new ByteTexts());
    this.before = new Int32Array(plan.width).fill(-1);
  }

  /** Puts the rows into a block that end in a step of the file: those of number `n` from 0 on. False where none can be put there. */
  encode(block: RowBlock, n: number): boolean {
    const { bytes, step } = this;
    const { from } = this.plan;
    const begin = Math.max(from, n * step);
    // The first row may begin before: behind the last line end there. One in a cell shows when the block before does not end there.
    let [base, length, first] = [begin, 0, 0];
    for (const before of [FEW_BYTES, MOST_ROW]) {
      base = Math.max(from, begin - before);
      length = this.read(bytes, base, Math.min((n + 1) * step, this.size) - base);
      bytes[length] = LF;
      first = begin === from ? 0 : bytes.lastIndexOf(LF, begin - base - 1) + 1;
      if (first > 0 || base === from) break;
    }
    if (first === 0 && base > from) return false;
    this.isOdd = false;
    this.rows(block, base, first, length);
    return !this.isOdd;
  }

  /** Puts the rows into the block that begin at `first` and end before `to`. */
  private rows(block: RowBlock, base: number, first: number, to: number): void {
    const { width } = this.plan;
    const room = block.cells.length - width;
    let [at, rows] = [first, 0];
    this.newTexts = 0;
    this.room = 0;
    this.block = block;
    this.base = base;
    while (at < to && rows * width <= room) {
      const next = this.row(at, to, rows * width);
      if (next < 0) break;
      at = next;
      rows++;
    }
    // The next block has the row that goes on behind this one.
    const isOpen = base + to < this.size && this.bytes.indexOf(LF, at) >= to;
    block.fill(rows, at < to && !isOpen, this.newTexts, base + first, base + at);
  }

  /** Puts the row from `at` on into the cells from `into` on; where the next row begins, -1 for a row that cannot be put there. */
  private row(at: number, to: number, into: number): number {
    const { bytes } = this;
    const { width, numeric, isCrLf, skipsSpaces } = this.plan;
    const { cells } = this.block;
    let from = at;
    for (let column = 0; column < width; column++) {
      if (skipsSpaces) while (bytes[from] === SPACE) from++;
      const isQuoted = bytes[from] === QUOTE;
      if (isQuoted) from++;
      // Numbers are read as they are looked through; nine digits fit an int32.
      let [end, value] = [from, 0];
      let digit = bytes[end] - ZERO;
      for (; digit >= 0 && digit <= 9 && end - from < FEW_DIGITS; digit = bytes[++end] - ZERO)
        value = (10 * value + digit) | 0;
      if (digit >= 0 && digit <= 9) {
        const few = end;
        let low = 0;
        for (; digit >= 0 && digit <= 9 && end - from <= MOST_DIGITS; digit = bytes[++end] - ZERO)
          low = 10 * low + digit;
        value = end - from > MOST_DIGITS ? -1 : value * POWERS[end - few] + low;
      }
      const hasZero = bytes[from] === ZERO && end > from + 1;
      let isNumber = end > from && value >= 0 && value <= Number.MAX_SAFE_INTEGER && !hasZero;
      isNumber &&= isQuoted ? bytes[end] === QUOTE : isEnd(bytes, end, isCrLf);
      if (!isNumber) end = isQuoted ? this.closing(from, to) : cellEnd(bytes, end, to, isCrLf && from);
      if (end >= to) return -1;
      if (isNumber) cells[into + column] = value;
      else {
        const entry = column === numeric ? -1 : this.entry(column, from, end, isQuoted);
        if (entry < 0) return -1;
        cells[into + column] = -1 - entry;
      }
      let next = isQuoted ? end + 1 : end;
      if (bytes[next] !== COMMA) {
        if (column < width - 1 || (isCrLf && bytes[next++] !== CR)) return -1;
        return next < to && bytes[next] === LF ? next + 1 : -1;
      }
      from = ++next;
    }
    return -1;
  }

  /** The number of a text of a column, -1 where it cannot be kept. */
  private entry(column: number, from: number, end: number, isHashed: boolean): number {
    const [texts, before, size] = [this.columns[column], this.before[column], end - from];
    if (before >= 0 && texts.isAt(before, this.view, from, size)) return before;
    if (!isHashed) this.hashOf(from, end);
    const { block, newTexts } = this;
    let found = texts.find(this.hash, this.view, from, size);
    if (found < 0 && newTexts < block.places.length) {
      // Bytes that are in no text are digits, or are between cells.
      this.isOdd ||= !isPlain(this.bytes, from, end);
      found = texts.add(this.hash, this.view, from, size);
      if (found < 0) return -1;
      block.texts.set(this.bytes.subarray(from, end), this.room);
      this.room += size;
      block.places[newTexts] = this.base + from;
      block.added[2 * newTexts] = column;
      block.added[2 * newTexts + 1] = this.room;
      this.newTexts++;
    }
    this.before[column] = found;
    return found;
  }

  /** The quote that closes a cell, the hash of whose bytes is made; `to` when there is none before it. */
  private closing(from: number, to: number): number {
    const { bytes, view } = this;
    let [a, b] = [0x11c9dc5, 0x50c5d1f];
    let at = from;
    for (; at + 8 <= to; at += 8) {
      const [first, second] = [view.getInt32(at, true), view.getInt32(at + 4, true)];
      const [x, y] = [first ^ QUOTES, second ^ QUOTES];
      if (((((x - 0x01010101) & ~x) | ((y - 0x01010101) & ~y)) & 0x80808080) !== 0) break;
      a = mix(a, first);
      b = mix(b, second);
    }
    for (; at < to && bytes[at] !== QUOTE; at++) a = mix(a, bytes[at]);
    this.hash = ended(a, b);
    return at;
  }

  /** Makes the hash of a cell without quotes. */
  private hashOf(from: number, to: number): void {
    const { bytes, view } = this;
    let [a, b] = [0x11c9dc5, 0x50c5d1f];
    let at = from;
    for (; at + 8 <= to; at += 8) {
      a = mix(a, view.getInt32(at, true));
      b = mix(b, view.getInt32(at + 4, true));
    }
    for (; at < to; at++) a = mix(a, bytes[at]);
    this.hash = ended(a, b);
  }
}

/** One step of FNV, of which two run side by side: each waits for its multiplication. */
function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x01000193);
  return mixed ^ (mixed >>> 15);
}

function ended(a: number, b: number): number {
  const mixed = Math.imul(a ^ (b >>> 16) ^ (b << 7), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

/** Where a cell ends that has no quotes; its digits before `at` were seen. `crLfFrom` is where it begins in a file whose line ends are CR LF, else false. */
function cellEnd(bytes: Uint8Array, at: number, to: number, crLfFrom: number | false): number {
  for (let end = at; ; end++) {
    if (bytes[end] === COMMA) return end;
    if (bytes[end] !== LF) continue;
    if (crLfFrom === false || end >= to) return end;
    if (end > crLfFrom && bytes[end - 1] === CR) return end - 1;
  }
}

/** Whether a cell ends at a place. */
function isEnd(bytes: Uint8Array, at: number, isCrLf: boolean): boolean {
  const byte = bytes[at];
  return byte === COMMA || (isCrLf ? byte === CR && bytes[at + 1] === LF : byte === LF);
}

/** Whether the bytes between two places are ASCII, without NUL. */
function isPlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] === 0 || bytes[i] >= 0x80) return false;
  return true;
}
