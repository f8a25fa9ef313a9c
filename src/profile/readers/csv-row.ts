// A row of a CSV file as the bytes it was written in: cells become text when that is asked for, numbers are read from their digits.
import { ByteTexts, hashOf } from './byte-texts.ts';
import { count } from './values.ts';

const [SPACE, QUOTE, COMMA, LF, CR, ZERO] = [0x20, 0x22, 0x2c, 0x0a, 0x0d, 0x30];
/** Four quotes. */
const QUOTES = 0x22222222;
/** A number of more digits is none that a double holds exactly. */
export const MOST_DIGITS = 16;

/** What `Row.scan` returns in the place of where the next row begins. */
export const RowEnd = {
  /** The row goes on behind the bytes. */
  OPEN: -1,
  /** A quote that closes a cell has something else than the cell's end behind it. */
  ODD: -2,
} as const;

/** One row of a table. It is the same object for all of them: what is kept of a row must be taken out of it. */
export interface TableRow {
  /** How many cells there are. */
  readonly length: number;
  /** How many headers the file has repeated so far: tables that were joined into one file have them. */
  readonly part: number;
  /** Whether a cell is there and has nothing in it. */
  isEmptyAt(index: number): boolean;
  /** The text of a cell; undefined for one that the row does not have. */
  text(index: number): string | undefined;
  /** The texts of all cells. */
  texts(): string[];
  /** A count or id, as `count` reads it from a text. */
  count(index: number): number;
  /** A number where the cell has digits only and a double holds it, else the text. */
  value(index: number): number | string | undefined;
  /** The number of a cell that has digits only, and not too many for a double; -1 for other cells. */
  digits(index: number): number;
  /** The id that `ids` has for a cell's text. */
  id(ids: CellIds, index: number): number;
}

/** A row in the bytes of the file. */
export class Row implements TableRow {
  length = 0;
  part = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private view = new DataView(this.bytes.buffer);
  /** Whether there are spaces before cells that are no part of them. */
  skipsSpaces = false;
  private starts = new Int32Array(64);
  private ends = new Int32Array(64);
  /** Whether a quoted cell has quotes in it, which are written twice. */
  private hasDoubled = false;
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** The bytes that the next rows are in. */
  use(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Makes this the row from `from` on, which ends before `to`; returns where the next one begins, or one of `RowEnd`. */
  scan(from: number, to: number, isCrLf: boolean): number {
    const { bytes } = this;
    this.hasDoubled = false;
    let cells = 0;
    for (let at = from; ; ) {
      if (cells === this.starts.length) this.grow();
      if (this.skipsSpaces) while (at < to && bytes[at] === SPACE) at++;
      let end = at;
      if (at < to && bytes[at] === QUOTE) {
        end = this.closing(at, to);
        if (end < 0) return RowEnd.OPEN;
        this.starts[cells] = at + 1;
        this.ends[cells++] = end;
        const next = bytes[end + 1];
        at = end + 2;
        if (next === COMMA) continue;
        this.length = cells;
        if (!isCrLf) return next === LF ? at : RowEnd.ODD;
        if (next !== CR) return RowEnd.ODD;
        if (at >= to) return RowEnd.OPEN;
        return bytes[at] === LF ? at + 1 : RowEnd.ODD;
      }
      let byte = 0;
      for (; ; end++) {
        if (end >= to) return RowEnd.OPEN;
        byte = bytes[end];
        if (byte === COMMA || (byte === LF && (!isCrLf || (end > at && bytes[end - 1] === CR)))) break;
      }
      this.starts[cells] = at;
      at = end + 1;
      this.ends[cells++] = byte === LF && isCrLf ? end - 1 : end;
      if (byte === COMMA) continue;
      this.length = cells;
      return at;
    }
  }

  /** The quote that closes the cell whose first quote is at `open`; -1 when it is not before `to`, or has nothing behind it. */
  private closing(open: number, to: number): number {
    const { bytes, view } = this;
    for (let at = open + 1; ; at += 2) {
      // Four bytes without a quote at a time.
      for (; at + 4 <= to; at += 4) {
        const word = view.getInt32(at) ^ QUOTES;
        if (((word - 0x01010101) & ~word & 0x80808080) !== 0) break;
      }
      while (at < to && bytes[at] !== QUOTE) at++;
      if (at + 1 >= to) return -1;
      if (bytes[at + 1] !== QUOTE) return at;
      this.hasDoubled = true;
    }
  }

  /** Makes this a row of the given cells. */
  fill(cells: readonly string[]): void {
    const encoder = new TextEncoder();
    const pieces = cells.map((cell) => encoder.encode(cell));
    const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    this.length = 0;
    this.hasDoubled = false;
    let at = 0;
    for (const piece of pieces) {
      if (this.length === this.starts.length) this.grow();
      bytes.set(piece, at);
      this.starts[this.length] = at;
      at += piece.length;
      this.ends[this.length++] = at;
    }
    this.use(bytes);
  }

  private grow(): void {
    for (const name of ['starts', 'ends'] as const) {
      const bigger = new Int32Array(2 * this[name].length);
      bigger.set(this[name]);
      this[name] = bigger;
    }
  }

  /** Whether there is nothing in the row. */
  get isEmpty(): boolean {
    return this.length === 1 && this.starts[0] === this.ends[0];
  }

  isEmptyAt(index: number): boolean {
    return index >= 0 && index < this.length && this.starts[index] === this.ends[index];
  }

  text(index: number): string | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const [start, end] = [this.starts[index], this.ends[index]];
    const text = this.decoder.decode(this.bytes.subarray(start, end));
    return this.hasDoubled && this.bytes[start - 1] === QUOTE ? text.replaceAll('""', '"') : text;
  }

  texts(): string[] {
    const { length } = this;
    const first = this.starts[0];
    const line = this.decoder.decode(this.bytes.subarray(first, this.ends[length - 1]));
    const texts = new Array<string>(length);
    // A character is a byte where there are as many of both.
    const isPlain = line.length === this.ends[length - 1] - first && !this.hasDoubled;
    for (let i = 0; i < length; i++) {
      texts[i] = isPlain ? line.slice(this.starts[i] - first, this.ends[i] - first) : (this.text(i) as string);
    }
    return texts;
  }

  /** Whether the cells are these. */
  equals(texts: readonly string[]): boolean {
    return this.length === texts.length && texts.every((text, i) => this.is(i, text));
  }

  private is(index: number, text: string): boolean {
    const start = this.starts[index];
    const size = Math.min(this.ends[index] - start, text.length);
    for (let i = 0; i < size; i++) {
      const [byte, code] = [this.bytes[start + i], text.charCodeAt(i)];
      if (byte !== code && byte < 0x80 && code < 0x80 && !this.hasDoubled) return false;
    }
    return this.text(index) === text;
  }

  count(index: number): number {
    const value = this.digits(index);
    return value >= 0 ? value : count(this.text(index));
  }

  value(index: number): number | string | undefined {
    const value = this.digits(index);
    return value >= 0 ? value : this.text(index);
  }

  digits(index: number): number {
    if (index < 0 || index >= this.length) return -1;
    const [start, end] = [this.starts[index], this.ends[index]];
    if (end === start || end - start > MOST_DIGITS) return -1;
    let value = 0;
    for (let at = start; at < end; at++) {
      const digit = this.bytes[at] - ZERO;
      if (digit < 0 || digit > 9) return -1;
      value = 10 * value + digit;
    }
    return value <= Number.MAX_SAFE_INTEGER ? value : -1;
  }

  id(ids: CellIds, index: number): number {
    if (index < 0 || index >= this.length) return ids.absent();
    // Of two cells of the same bytes, the quoted one has other text when there are quotes in it.
    if (this.hasDoubled) return ids.make(this.text(index));
    const [start, size] = [this.starts[index], this.ends[index] - this.starts[index]];
    const hash = hashOf(this.view, start, size);
    return ids.find(hash, this.view, start, size) ?? ids.add(hash, this.view, start, size, this.text(index) as string);
  }
}

/** Small numbers that an array has the ids of. */
const FEW = 1 << 10;
const NONE = -(2 ** 31);

/** The ids of a column's texts. A text is made of the bytes of a cell when it is new; further cells have the same bytes. */
export class CellIds {
  /** The id of a text; undefined for a column that is not there. Asked a few times for a text at most, as a rule. */
  readonly make: (text: string | undefined) => number;
  private ofNone: number | undefined;
  private readonly texts = new ByteTexts();
  private readonly ids: number[] = [];
  /** The ids of cells of digits, by their number. */
  private readonly few = new Int32Array(FEW).fill(NONE);
  private readonly many = new Map<number, number>();
  /** The ids of the texts that each thread has numbered. */
  private readonly ofThreads = new Map<CellTexts, Int32Array>();

  constructor(make: (text: string | undefined) => number) {
    this.make = make;
  }

  absent(): number {
    this.ofNone ??= this.make(undefined);
    return this.ofNone;
  }

  /** The id of a cell's bytes that were seen before. */
  find(hash: number, view: DataView, start: number, size: number): number | undefined {
    const entry = this.texts.find(hash, view, start, size);
    return entry < 0 ? undefined : this.ids[entry];
  }

  /** The id of a new cell's text; keeps its bytes. */
  add(hash: number, view: DataView, start: number, size: number, text: string): number {
    const id = this.make(text);
    if (this.texts.add(hash, view, start, size) >= 0) this.ids.push(id);
    return id;
  }

  /** The id of a cell that has the digits of a number. */
  ofNumber(value: number): number {
    if (value < FEW) {
      if (this.few[value] === NONE) this.few[value] = this.make(String(value));
      return this.few[value];
    }
    let id = this.many.get(value);
    if (id === undefined) {
      id = this.make(String(value));
      this.many.set(value, id);
    }
    return id;
  }

  /** The id of a text that a thread has numbered. */
  ofText(texts: CellTexts, entry: number): number {
    let ids = this.ofThreads.get(texts) ?? NO_IDS;
    if (entry >= ids.length) {
      const bigger = new Int32Array(Math.max(64, 2 * entry)).fill(NONE);
      bigger.set(ids);
      ids = bigger;
      this.ofThreads.set(texts, ids);
    }
    if (ids[entry] === NONE) ids[entry] = this.make(texts.text(entry));
    return ids[entry];
  }
}

const NO_IDS = new Int32Array(0);

/** The texts of a column by their numbers. */
export interface CellTexts {
  text(entry: number): string;
}

/** The end of a dispatch, copy or call; rocprof 2 calls it otherwise. */
export const END = ['End_Timestamp', 'Stop_Timestamp'] as const;
