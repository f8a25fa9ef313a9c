// JSON files of any size, value by value: only the values asked for are kept, and lists are handed over piece by piece.
// Brackets and strings are followed in the bytes; what lies between them is parsed by JSON.parse, many values at once.
import { WavesmithError } from '../../base/index.ts';
import { type ByteSource, CHUNK } from '../source.ts';
import { revived, withoutBare } from './odd-numbers.ts';
import { behindSpace } from './record-encoder.ts';
import { RecordRuns } from './record-runs.ts';
import { RecordShape } from './record-shape.ts';
import { MOST_RECORD } from './record-text.ts';

/** A JSON value read as data. */
export type Json = unknown;

/** Longest single value. */
const MAX_RECORD_BYTES = 64 << 20;
/** Elements of a list are parsed together up to this many bytes. */
const BATCH_BYTES = 64 << 10;
/** What is read here while threads start that read what is behind it. */
const AHEAD_BYTES = 8 << 20;
/** What profilers write nests at most twelve deep. */
const MAX_DEPTH = 64;
/** Members that nobody asked for are looked into down to here, so that none must be in memory as a whole. */
const MAX_SKIP_DEPTH = 8;

type Key = string | number | undefined;
type OnValue = (path: readonly Key[], value: Json) => void;

/** What is asked for at one place of the file. */
interface Asked {
  readonly isWanted: boolean;
  /** What is asked for below: the remaining keys of paths. */
  readonly below: readonly (readonly string[])[];
}

const NOTHING: Asked = { isWanted: false, below: [] };

function member({ below }: Asked, key: string): Asked {
  const fitting = below.filter(([name]) => name === '*' || name === key);
  return {
    isWanted: fitting.some((path) => path.length === 1),
    below: fitting.filter((path) => path.length > 1).map((path) => path.slice(1)),
  };
}

/**
 * Reads a file and hands over every value at one of `paths` (`$.a.*.b`, `*` for any key) with the keys that lead to it, the first of
 * them the root's (undefined). The array of keys is used again, and so are objects and lists that are elements of lists: take from them what is
 * needed. An array of which elements were handed over is empty when it is handed over itself. Integers beyond 2^53 are bigint.
 * Long lists are read by threads of the source from `ahead` bytes on. Damaged and truncated files are `profile/bad-json` at the byte where the damaged value starts.
 */
export function streamJson(source: ByteSource, paths: readonly string[], onValue: OnValue, ahead = AHEAD_BYTES): void {
  new JsonReader(source, onValue, ahead).read({
    isWanted: false,
    below: paths.map((path) => path.split('.').slice(1)),
  });
}

const Class = { QUOTE: 1, OPEN: 2, CLOSE: 3, SEPARATOR: 4 } as const;
const [SPACE, QUOTE, COMMA, COLON, ZERO, NINE, BACKSLASH] = [0x20, 0x22, 0x2c, 0x3a, 0x30, 0x39, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const CLASSES = new Uint8Array(256);
CLASSES[QUOTE] = Class.QUOTE;
CLASSES[OPEN_LIST] = CLASSES[OPEN_OBJECT] = Class.OPEN;
CLASSES[CLOSE_LIST] = CLASSES[CLOSE_OBJECT] = Class.CLOSE;
CLASSES[COMMA] = CLASSES[COLON] = Class.SEPARATOR;

class JsonReader {
  private readonly source: ByteSource;
  private readonly onValue: OnValue;
  private readonly ahead: number;
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly path: Key[] = [undefined];
  /** Bytes of the file from `base` on; `at` is the next one. Those from `kept` on stay when more are read. */
  private bytes = new Uint8Array(0);
  private base = 0;
  private at = 0;
  private kept = 0;
  /** Integers of 16 digits and more since they were last taken: from, to, in the file. */
  private readonly long: number[] = [];
  /** The records of the list that is read which other threads read; null where there are none. */
  private runs: RecordRuns | null | undefined;

  constructor(source: ByteSource, onValue: OnValue, ahead: number) {
    this.source = source;
    this.onValue = onValue;
    this.ahead = ahead;
  }

  read(asked: Asked): void {
    if (this.peek() === 0xef) this.at += 3;
    try {
      this.value(asked, 0);
    } finally {
      this.runs?.end();
    }
    if (this.next() >= 0) throw this.bad('there is more after its end', this.base + this.at);
  }

  /** One value, and what is asked for of it. */
  private value(asked: Asked, depth: number): void {
    const first = this.next();
    const isContainer = first === OPEN_LIST || first === OPEN_OBJECT;
    const isLooked = asked.below.length > 0 || (!asked.isWanted && depth < MAX_SKIP_DEPTH);
    if (first === OPEN_LIST && isLooked) {
      this.list(asked, depth);
      if (asked.isWanted) this.onValue(this.path, []);
    } else if (first === OPEN_OBJECT && isLooked && !asked.isWanted) this.object(asked, depth);
    else {
      const from = this.base + this.at;
      this.kept = this.at;
      if (isContainer) this.skipContainer(depth);
      else this.skipScalar();
      const value = this.parse(from, this.base + this.at)[0];
      if (asked.below.length > 0) this.visit(value, asked);
      if (asked.isWanted) this.onValue(this.path, value);
    }
  }

  private object(asked: Asked, depth: number): void {
    this.at++;
    if (this.next() === CLOSE_OBJECT) {
      this.at++;
      return;
    }
    for (;;) {
      const first = this.next();
      if (first !== QUOTE) throw this.wants('key', first);
      const from = this.base + this.at;
      this.kept = this.at;
      this.skipString();
      const key = String(this.parse(from, this.base + this.at)[0]);
      const colon = this.next();
      if (colon !== COLON) throw this.wants('colon', colon);
      this.at++;
      this.path.push(key);
      this.value(member(asked, key), depth + 1);
      this.path.pop();
      const after = this.next();
      if (after !== COMMA && after !== CLOSE_OBJECT) throw this.wants('comma', after);
      this.at++;
      if (after === CLOSE_OBJECT) return;
    }
  }

  private list(asked: Asked, depth: number): void {
    const element = asked.below.length > 0 ? member(asked, '') : NOTHING;
    this.at++;
    if (this.next() === CLOSE_LIST) {
      this.at++;
      return;
    }
    const index = this.path.push(0) - 1;
    let count = 0;
    for (;;) {
      if (element.below.length > 0) {
        this.path[index] = count++;
        this.value(element, depth + 1);
      } else {
        count = this.elements(element, index, count, depth);
        if (this.isRun) count += this.takeRuns(index, count);
      }
      const after = this.next();
      if (after !== COMMA && after !== CLOSE_LIST) throw this.wants('comma', after);
      this.at++;
      if (after === CLOSE_LIST) break;
    }
    this.path.pop();
    this.runs?.end();
    this.runs = undefined;
  }

  /** Some elements of a list that are parsed together; ends at the comma or bracket behind them. */
  private elements({ isWanted }: Asked, index: number, first: number, depth: number): number {
    this.next();
    this.kept = this.at;
    const from = this.base + this.at;
    let last = from;
    for (;;) {
      const start = this.next();
      last = this.base + this.at;
      if (start === OPEN_LIST || start === OPEN_OBJECT) this.skipContainer(depth + 1);
      else this.skipScalar();
      if (this.next() !== COMMA || this.base + this.at - from >= BATCH_BYTES || this.isRun) break;
      this.at++;
    }
    const to = this.base + this.at;
    const values = this.parse(from, to);
    if (!isWanted) return first + values.length;
    for (let i = 0; i < values.length; i++) {
      this.path[index] = first + i;
      this.onValue(this.path, values[i]);
    }
    const count = first + values.length;
    const final = values.at(-1);
    if (this.bytes[this.at] !== COMMA || typeof final !== 'object' || final === null || this.isMended) return count;
    return count + this.alike(this.bytes.subarray(last - this.base, to - this.base), index, count);
  }

  /** The elements behind a comma that are like the one with this text, as far as they are; how many. Ends where `elements` does. */
  private alike(text: Uint8Array, index: number, first: number): number {
    const shape = RecordShape.of(text);
    if (shape === undefined) return 0;
    let { bytes } = this;
    let view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let count = 0; ; ) {
      const read: number = shape.read(bytes, view, behindSpace(bytes, this.at + 1));
      const end = read < 0 ? bytes.length : behindSpace(bytes, read);
      if (bytes[end] === COMMA || bytes[end] === CLOSE_LIST) {
        this.kept = this.at = end;
        this.path[index] = first + count++;
        this.onValue(this.path, shape.record);
        if (bytes[end] !== COMMA || this.isRun) return count;
      } else {
        // What is of another shape, or damages the list, is for the others.
        this.kept = this.at;
        if (bytes.length - this.at > 2 * MOST_RECORD || !this.more()) return count;
        this.startRuns(shape);
        ({ bytes } = this);
        view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
    }
  }

  /** Has other threads read the records of a long list that are like those of the shape. */
  private startRuns(shape: RecordShape): void {
    if (this.runs !== undefined) return;
    const from = this.base + this.at + this.ahead;
    const blocks = this.source.recordBlocks?.({ from, text: shape.text.bytes });
    this.runs = blocks === undefined ? null : new RecordRuns(shape, blocks, from);
  }

  /** Whether what other threads have read may begin here. */
  private get isRun(): boolean {
    return this.base + this.at >= (this.runs?.limit ?? Number.POSITIVE_INFINITY);
  }

  /** Takes the records that other threads have read, from the comma here on; how many. Ends where `elements` does. */
  private takeRuns(index: number, first: number): number {
    let count = 0;
    const hand = (record: Json): void => {
      this.path[index] = first + count++;
      this.onValue(this.path, record);
    };
    for (let isComma = this.next() === COMMA; isComma; ) {
      const end = this.runs?.take(this.base + this.at, hand);
      if (end === undefined) break;
      this.goTo(end);
      isComma = this.runs?.isBehindComma === true || this.next() === COMMA;
    }
    return count;
  }

  /** Makes the byte at an offset of the file the next one. */
  private goTo(offset: number): void {
    this.base = offset;
    this.at = this.kept = 0;
    this.bytes = new Uint8Array(0);
  }

  /** Goes behind the container that starts here. */
  private skipContainer(depth: number): void {
    let open = 0;
    /** Behind the last separator, bracket or string. */
    let mark = 0;
    for (;;) {
      // Local names of the fields: this loop sees every byte.
      const { bytes, base } = this;
      const end = bytes.length;
      let at = this.at;
      mark = Math.max(mark, this.kept);
      let isString = false;
      while (at < end) {
        const kind = CLASSES[bytes[at++]];
        if (kind === 0) continue;
        if (kind === Class.QUOTE) {
          isString = true;
          break;
        }
        if (at - mark > 16) this.noteLong(mark, at - 1);
        mark = at;
        if (kind === Class.OPEN) open++;
        else if (kind === Class.CLOSE && --open === 0) break;
        if (open + depth > MAX_DEPTH) throw this.bad(`it nests deeper than ${MAX_DEPTH} levels`, base + at);
      }
      this.at = at;
      if (isString) {
        this.at--;
        this.skipString();
        mark = this.at;
      } else if (open === 0) return;
      else if (this.at === this.bytes.length) {
        const moved = this.base + mark;
        if (!this.more()) throw this.early();
        mark = moved - this.base;
      }
    }
  }

  /** Notes the integer between two places that has 16 digits or more. */
  private noteLong(from: number, to: number): void {
    let [first, last] = [from, to];
    while (first < last && this.bytes[first] <= SPACE) first++;
    while (last > first && this.bytes[last - 1] <= SPACE) last--;
    const start = this.bytes[first] === 0x2d ? first + 1 : first;
    if (last - start < 16) return;
    for (let at = start; at < last; at++) if (this.bytes[at] < ZERO || this.bytes[at] > NINE) return;
    // The largest integer of a double has 16 digits and starts with 9.
    if (last - start > 16 || this.bytes[start] === NINE) this.long.push(this.base + first, this.base + last);
  }

  private skipString(): void {
    this.at++;
    for (;;) {
      const { bytes } = this;
      const end = bytes.length;
      let at = this.at;
      while (at < end && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
      this.at = at;
      if (at < end && bytes[at] === QUOTE) {
        this.at++;
        return;
      }
      if (at === end && !this.more()) throw this.early();
      if (this.bytes[this.at] === BACKSLASH) {
        this.at++;
        if (this.peek() < 0) throw this.early();
        this.at++;
      }
    }
  }

  private skipScalar(): void {
    if (this.peek() === QUOTE) {
      this.skipString();
      return;
    }
    const from = this.base + this.at;
    for (let byte = this.peek(); byte > SPACE && CLASSES[byte] === 0; byte = this.peek()) this.at++;
    if (this.base + this.at === from) throw this.wants('value', this.peek());
    if (this.base + this.at - from >= 16) this.noteLong(from - this.base, this.at);
  }

  /** The values between two places, which are separated by commas. */
  private parse(from: number, to: number): Json[] {
    const text = this.decoder.decode(this.bytes.subarray(from - this.base, to - this.base));
    try {
      if (this.long.length === 0) return this.parsed(text);
      // A control character that no string of the text has marks the strings that stand for integers.
      const mark = [1, 2, 3, 4, 5, 6, 7].find((code) => !text.includes(`\\u000${code}`)) ?? 8;
      const values = this.parsed(this.withExact(from, to, mark));
      return values.map((value) => revived(value, mark));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw this.firstBad(from, to) ?? this.bad(error.message, from);
    }
  }

  /** The values of a text. rocprofv3 writes a number that is none as `NaN`, which JSON does not have: it is null here. */
  private parsed(text: string): Json[] {
    this.isMended = false;
    try {
      return JSON.parse(`[${text}]`) as Json[];
    } catch (error) {
      const mended = withoutBare(text);
      if (mended === text) throw error;
      this.isMended = true;
      return JSON.parse(`[${mended}]`) as Json[];
    }
  }
  /** Whether what was parsed last had such numbers. */
  private isMended = false;

  /** What is wrong with the first damaged value between two places. */
  private firstBad(from: number, to: number): WavesmithError | undefined {
    this.at = from - this.base;
    while (this.base + this.at < to) {
      const first = this.next();
      const start = this.at;
      if (first === OPEN_LIST || first === OPEN_OBJECT) this.skipContainer(0);
      else this.skipScalar();
      try {
        JSON.parse(withoutBare(this.decoder.decode(this.bytes.subarray(start, this.at))));
      } catch (error) {
        return this.bad((error as Error).message, this.base + start);
      }
      this.next();
      this.at++;
    }
    return undefined;
  }

  /** The text between two places, with strings in the place of long integers. */
  private withExact(from: number, to: number, mark: number): string {
    let text = '';
    let at = from;
    const upTo = (until: number): string => {
      const piece = this.decoder.decode(this.bytes.subarray(at - this.base, until - this.base));
      at = until;
      return piece;
    };
    for (let i = 0; i < this.long.length; i += 2) {
      text += `${upTo(this.long[i])}"\\u000${mark}${upTo(this.long[i + 1])}"`;
    }
    this.long.length = 0;
    return text + upTo(to);
  }

  /** Hands over what is asked for below a value that is in memory. */
  private visit(value: Json, asked: Asked): void {
    if (typeof value !== 'object' || value === null) return;
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, inner] of entries) {
      const own = member(asked, typeof key === 'number' ? '' : key);
      this.path.push(key);
      if (own.below.length > 0) this.visit(inner, own);
      if (own.isWanted) this.onValue(this.path, Array.isArray(inner) && own.below.length > 0 ? [] : inner);
      this.path.pop();
    }
  }

  /** The next byte that is no space, -1 at the end; it stays the next. */
  private next(): number {
    let byte = this.peek();
    while (byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.at++;
      byte = this.peek();
    }
    return byte;
  }

  private peek(): number {
    while (this.at >= this.bytes.length) if (!this.more()) return -1;
    return this.bytes[this.at];
  }

  /** Reads on; false at the end of the file. */
  private more(): boolean {
    const end = this.base + this.bytes.length;
    if (end >= this.source.size) return false;
    const rest = this.bytes.subarray(this.kept);
    if (rest.length > MAX_RECORD_BYTES) {
      throw this.bad(`no value that is read ends within ${MAX_RECORD_BYTES} bytes`, this.base + this.kept);
    }
    // Of what threads read little is read here.
    const isBeforeRun = Number.isFinite(this.runs?.limit ?? Number.NaN);
    const read = this.source.read(end, isBeforeRun ? BATCH_BYTES : CHUNK);
    if (read.length === 0) return false;
    const joined = new Uint8Array(rest.length + read.length);
    joined.set(rest);
    joined.set(read, rest.length);
    this.base += this.kept;
    this.at -= this.kept;
    this.kept = 0;
    this.bytes = joined;
    return true;
  }

  private wants(what: string, instead: number): WavesmithError {
    return instead < 0 ? this.early() : this.bad(`a ${what} is missing`, this.base + this.at);
  }

  private early(): WavesmithError {
    return this.bad('the file ends early', this.source.size);
  }

  private bad(why: string, byteOffset: number): WavesmithError {
    return new WavesmithError('profile/bad-json', `${this.source.path} is not complete JSON: ${why}.`, {
      file: this.source.path,
      byteOffset,
      hint: 'The file is truncated or damaged; get a fresh copy.',
    });
  }
}
