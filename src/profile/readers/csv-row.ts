// A row of a CSV file as the bytes it was written in: cells become text when that is asked for, numbers are read from their digits.
import { count } from './values.ts';

const [SPACE, QUOTE, COMMA, LF, CR, ZERO] = [0x20, 0x22, 0x2c, 0x0a, 0x0d, 0x30];
/** Four quotes. */
const QUOTES = 0x22222222;
/** A number of more digits is none that a double holds exactly. */
const MOST_DIGITS = 16;

/** What `Row.scan` returns in the place of where the next row begins. */
export const RowEnd = {
  /** The row goes on behind the bytes. */
  OPEN: -1,
  /** A quote that closes a cell has something else than the cell's end behind it. */
  ODD: -2,
} as const;

/** One row of a file. It is the same object for all of them: what is kept of a row must be taken out of it. */
export class Row {
  /** How many cells there are. */
  length = 0;
  /** How many headers the file has repeated so far: tables that were joined into one file have them. */
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

  /** Whether a cell is there and has nothing in it. */
  isEmptyAt(index: number): boolean {
    return index >= 0 && index < this.length && this.starts[index] === this.ends[index];
  }

  /** The text of a cell; undefined for one that the row does not have. */
  text(index: number): string | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const [start, end] = [this.starts[index], this.ends[index]];
    const text = this.decoder.decode(this.bytes.subarray(start, end));
    return this.hasDoubled && this.bytes[start - 1] === QUOTE ? text.replaceAll('""', '"') : text;
  }

  /** The texts of all cells. */
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

  /** A count or id, as `count` reads it from a text. */
  count(index: number): number {
    const value = this.digits(index);
    return value >= 0 ? value : count(this.text(index));
  }

  /** A number where the cell has digits only and a double holds it, else the text. */
  value(index: number): number | string | undefined {
    const value = this.digits(index);
    return value >= 0 ? value : this.text(index);
  }

  /** The number of a cell that has digits only, and not too many for a double; -1 for other cells. */
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

  /** The id that `ids` has for a cell's text. */
  id(ids: CellIds, index: number): number {
    if (index < 0 || index >= this.length) return ids.absent();
    // Of two cells of the same bytes, the quoted one has other text when there are quotes in it.
    if (this.hasDoubled) return ids.make(this.text(index));
    const [start, size] = [this.starts[index], this.ends[index] - this.starts[index]];
    const hash = hashOf(this.view, start, size);
    return ids.find(hash, this.view, start, size) ?? ids.add(hash, this.view, start, size, this.text(index) as string);
  }
}

/** FNV over words of four bytes, in two interleaved halves, because each step waits for its multiplication. */
function hashOf(view: DataView, start: number, size: number): number {
  const PRIME = 0x01000193;
  let [a, b] = [size ^ 0x11c9dc5, 0x50c5d1f];
  let at = start;
  const end = start + size;
  for (; at + 8 <= end; at += 8) {
    a = Math.imul(a ^ view.getUint32(at, true), PRIME);
    b = Math.imul(b ^ view.getUint32(at + 4, true), PRIME);
    a ^= a >>> 15;
    b ^= b >>> 13;
  }
  for (; at < end; at++) a = Math.imul(a ^ view.getUint8(at), PRIME);
  a = Math.imul(a ^ (b >>> 16) ^ (b << 7), 0x85ebca6b);
  return a ^ (a >>> 13);
}

function isSame(a: DataView, from: number, b: DataView, start: number, size: number): boolean {
  let i = 0;
  for (; i + 4 <= size; i += 4) if (a.getInt32(from + i, true) !== b.getInt32(start + i, true)) return false;
  for (; i < size; i++) if (a.getUint8(from + i) !== b.getUint8(start + i)) return false;
  return true;
}

/** Of a column with more texts, most are there once: their bytes are not kept. */
const MOST_KEPT = 1 << 18;
/** Bytes of texts that are kept together. */
const KEPT = 1 << 18;

/** The ids of a column's texts. A text is made of the bytes of a cell when it is new; further cells have the same bytes. */
export class CellIds {
  /** The id of a text; undefined for a column that is not there. Asked once for a text, as a rule. */
  readonly make: (text: string | undefined) => number;
  private ofNone: number | undefined;
  /** Numbers of entries from 1 on, by their hash; 0 for none. */
  private slots = new Int32Array(1 << 8);
  private readonly ids: number[] = [];
  private hashes = new Int32Array(1 << 7);
  private sizes = new Int32Array(1 << 7);
  private places = new Int32Array(1 << 7);
  private readonly kept: DataView[] = [];
  private readonly pieceOf: number[] = [];
  private room = 0;

  constructor(make: (text: string | undefined) => number) {
    this.make = make;
  }

  absent(): number {
    this.ofNone ??= this.make(undefined);
    return this.ofNone;
  }

  /** The id of a cell's bytes that were seen before. */
  find(hash: number, view: DataView, start: number, size: number): number | undefined {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const entry = slots[slot] - 1;
      if (this.hashes[entry] !== hash || this.sizes[entry] !== size) continue;
      if (isSame(this.kept[this.pieceOf[entry]], this.places[entry], view, start, size)) return this.ids[entry];
    }
    return undefined;
  }

  /** The id of a new cell's text; keeps its bytes. */
  add(hash: number, view: DataView, start: number, size: number, text: string): number {
    const entry = this.ids.length;
    const id = this.make(text);
    if (entry === MOST_KEPT) return id;
    if (entry === this.hashes.length) this.grow();
    this.ids.push(id);
    this.hashes[entry] = hash;
    this.sizes[entry] = size;
    let piece = this.kept.at(-1);
    if (piece === undefined || piece.byteLength - this.room < size) {
      piece = new DataView(new ArrayBuffer(Math.max(KEPT, size)));
      this.kept.push(piece);
      this.room = 0;
    }
    this.pieceOf.push(this.kept.length - 1);
    this.places[entry] = this.room;
    new Uint8Array(piece.buffer).set(new Uint8Array(view.buffer, view.byteOffset + start, size), this.room);
    this.room += size;
    this.place(entry);
    return id;
  }

  private place(entry: number): void {
    const mask = this.slots.length - 1;
    let slot = this.hashes[entry] & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = entry + 1;
  }

  private grow(): void {
    for (const name of ['hashes', 'sizes', 'places'] as const) {
      const bigger = new Int32Array(2 * this[name].length);
      bigger.set(this[name]);
      this[name] = bigger;
    }
    this.slots = new Int32Array(2 * this.slots.length);
    for (let entry = 0; entry < this.ids.length; entry++) this.place(entry);
  }
}

/** The end of a dispatch, copy or call; rocprof 2 calls it otherwise. */
export const END = ['End_Timestamp', 'Stop_Timestamp'] as const;
