// Lines of a trace as bytes in wasm memory: compiled code writes most of them there (line-code.ts), and they go on in large pieces.
import type { DeviceMemory } from '../state/memory.ts';
import { LANES } from '../state/wave.ts';
import { Records } from './records.ts';

// Bytes of the area before the lines.
/** i32: where the next byte goes. */
export const OUT = 0;
/** i32: lines that may still be written. */
export const LEFT = 4;
/** i32: bytes of `PREFIX`. */
export const PREFIX_BYTES = 8;
/** i32: bytes of `NOTE`. */
export const NOTE_BYTES = 12;
/** What every line of the running wave begins with. */
export const PREFIX = 16;
export const PREFIX_LIMIT = 48;
/** By number of active lanes 16 bytes: what is said of them, and in the last byte its length. */
export const ACTIVE = 64;
/** What the next instruction will touch in memory. */
export const NOTE = ACTIVE + 16 * (LANES + 1) + 16;
export const NOTE_LIMIT = 8192;
const LINES = NOTE + NOTE_LIMIT + 16;

/** Bytes of lines that go on together. */
const PIECE = 65536;
/** The longest line of compiled code. */
export const LINE_LIMIT = 65536;
/** Text is copied in units of 16 bytes, padding in 64. */
const SLACK = 64;

/** A text in wasm memory. */
export interface Constant {
  readonly at: number;
  readonly bytes: number;
  /** As the length of a string counts. */
  readonly units: number;
}

const encoder = new TextEncoder();

const DIGITS = encoder.encode('0123456789abcdef');
const [ZERO, LETTER_X, SPACE] = [48, 120, 32];
/** Most bytes of an address and a space. */
const ADDRESS_LIMIT = 19;

/** Hexadecimal digits of a word. */
const digitsOf = (word: number): number => Math.max(1, (35 - Math.clz32(word)) >>> 2);

/** The lines of one tracer on one device. */
export class LineBuffer {
  /** Place of the area in wasm memory. */
  readonly at: number;
  /** A line that begins before this fits, whatever its length. */
  readonly end: number;
  private readonly area: Uint8Array;
  private readonly view: DataView;
  private readonly records = new Records();
  private readonly known = new Map<string, Constant>();
  private readonly send: (lines: Uint8Array) => void;

  constructor(memory: DeviceMemory, send: (lines: Uint8Array) => void) {
    this.records.memory = memory;
    this.send = send;
    this.area = memory.reserve(LINES + PIECE + LINE_LIMIT + SLACK, 'trace').fill(0);
    this.view = new DataView(this.area.buffer, this.area.byteOffset, this.area.length);
    this.at = this.area.byteOffset;
    this.end = this.at + LINES + PIECE;
    this.view.setInt32(OUT, this.at + LINES, true);
    for (let active = 0; active < LANES; active++) {
      const text = encoder.encode(active === 1 ? ' (1 lane)' : ` (${active} lanes)`);
      this.area.set(text, ACTIVE + 16 * active);
      this.area[ACTIVE + 16 * active + 15] = text.length;
    }
  }

  /** The place of a text that stays. */
  constant(text: string): Constant {
    let constant = this.known.get(text);
    if (constant === undefined) {
      const bytes = encoder.encode(text);
      const at = this.records.take((bytes.length + 31) & ~15);
      const view = this.records.viewAt(at);
      new Uint8Array(view.buffer, view.byteOffset, bytes.length).set(bytes);
      constant = { at, bytes: bytes.length, units: text.length };
      this.known.set(text, constant);
    }
    return constant;
  }

  /** What lines begin with from now on. */
  setPrefix(text: string): void {
    this.put(text, PREFIX, PREFIX_BYTES, PREFIX_LIMIT);
  }

  /** The line that compiled code ends next says nothing of memory. */
  clearNote(): void {
    this.view.setInt32(NOTE_BYTES, 0, true);
  }

  /** Adds to what it says: a text, the first `count` addresses, a text. */
  addNote(before: Uint8Array, addresses: Float64Array, count: number, after: Uint8Array): void {
    const { area } = this;
    let at = NOTE + this.view.getInt32(NOTE_BYTES, true);
    if (at + before.length + ADDRESS_LIMIT * count + after.length > NOTE + NOTE_LIMIT)
      throw new Error(`a note of a trace has more than ${NOTE_LIMIT} bytes`);
    area.set(before, at);
    at += before.length;
    for (let n = 0; n < count; n++) {
      if (n > 0) area[at++] = SPACE;
      at = this.putAddress(addresses[n] as number, at);
    }
    area.set(after, at);
    this.view.setInt32(NOTE_BYTES, at + after.length - NOTE, true);
  }

  /** Writes an address as `hex` of lanes.ts does; the place behind it. */
  private putAddress(address: number, at: number): number {
    const { area } = this;
    area[at] = ZERO;
    area[at + 1] = LETTER_X;
    let low = address >>> 0;
    let high = Math.floor(address / 2 ** 32);
    const start = at + 2;
    const end = start + (high === 0 ? digitsOf(low) : 8 + digitsOf(high));
    for (let place = end - 1; place >= start; place--) {
      area[place] = DIGITS[low & 15] as number;
      low = (low >>> 4) | (high << 28);
      high >>>= 4;
    }
    return end;
  }

  private put(text: string, at: number, length: number, limit: number): void {
    const { read, written } = encoder.encodeInto(text, this.area.subarray(at, at + limit));
    if (read < text.length) throw new Error(`a text of a trace has more than ${limit} bytes`);
    this.view.setInt32(length, written, true);
  }

  /** Lines that compiled code may still write. */
  get left(): number {
    return this.view.getInt32(LEFT, true);
  }
  set left(lines: number) {
    this.view.setInt32(LEFT, lines, true);
  }

  /** Adds a line. */
  write(text: string): void {
    const bytes = encoder.encode(`${text}\n`);
    const out = this.view.getInt32(OUT, true) - this.at;
    if (out + bytes.length <= this.area.length) {
      this.area.set(bytes, out);
      this.view.setInt32(OUT, this.at + out + bytes.length, true);
      if (this.at + out + bytes.length >= this.end) this.flush();
    } else {
      this.flush();
      this.send(bytes);
    }
  }

  /** Everything written so far goes on. */
  flush(): void {
    const out = this.view.getInt32(OUT, true) - this.at;
    if (out === LINES) return;
    this.view.setInt32(OUT, this.at + LINES, true);
    this.send(this.area.slice(LINES, out));
  }
}
