// Room `profile/readers`: one file per format that a profiler writes; each fills a recording.
// Begin with rocprofv3-csv.ts, the most common format; this file and json-stream.ts read the syntax, values.ts the cells.
//
// Streaming CSV: constant memory, columns by normalised name, limits against hostile files. Rows that are as profilers write them stay
// bytes (csv-row.ts), from which a million of them are read in a third of the time that their texts take; Papa Parse reads the others.
import Papa from 'papaparse';
import { WavesmithError } from '../../base/index.ts';
import type { ByteSource } from '../source.ts';
import { Row, RowEnd, type TableRow } from './csv-row.ts';
import { takeBlocks } from './encoded-row.ts';
import type { RowBlocks, RowPlan } from './row-blocks.ts';

/** No row of a profiler's CSV is longer; a longer one means the file is not what it claims to be. */
const MAX_ROW_BYTES = 4 << 20;
const MAX_COLUMNS = 100_000;
/** A header in the middle of a file is taken for one from this many columns on, of which this share is known. */
const LEAST_COLUMNS = 4;
const LIKE = 0.8;
/** Small pieces: they stay in the processor's cache. */
const PIECE = 1 << 16;

/** `Agent_Id`, `agent-id` and `AGENT ID` are the same column. */
export function normalise(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9[\]]/g, '');
}

/** A header row with lookup by any of several names. */
export class Header {
  /** The cells as the file has them. */
  readonly cells: readonly string[];
  readonly names: readonly string[];
  /** Names that several columns have. */
  readonly repeated: readonly string[];
  private readonly index = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.cells = names;
    this.names = names.map((name) => name.trim());
    const repeated = new Set<string>();
    names.forEach((name, i) => {
      const key = normalise(name);
      if (!this.index.has(key)) this.index.set(key, i);
      else repeated.add(name.trim());
    });
    this.repeated = [...repeated];
  }

  /** Index of the first of `names` that exists, -1 when none does. */
  at(...names: string[]): number {
    for (const name of names) {
      const found = this.index.get(normalise(name));
      if (found !== undefined) return found;
    }
    return -1;
  }

  has(...names: string[]): boolean {
    return names.every((name) => this.at(name) >= 0);
  }

  /** Whether cells are the header of a table like this one, of another version or order. */
  isLike(cells: readonly string[]): boolean {
    if (cells.length < LEAST_COLUMNS) return false;
    const known = new Set(cells.map(normalise).filter((name) => this.index.has(name)));
    return known.size >= LIKE * cells.length;
  }
}

/** Called with the cells of every row of data. */
export type CellsHandler = (cells: string[]) => void;

/** Called with every row of data. */
export type RowHandler = (row: TableRow) => void;

/** The header of a CSV file, from its first bytes. */
export function readCsvHeader(source: ByteSource): Header {
  let header: Header | undefined;
  const end = new Error('header read');
  try {
    readCsvRows(source, (h) => {
      header = h;
      throw end;
    });
  } catch (error) {
    if (error !== end) throw error;
  }
  if (header === undefined) throw notCsv(source.path, 'it has no header row');
  return header;
}

function notCsv(file: string, why: string, byteOffset?: number): WavesmithError {
  return new WavesmithError('profile/not-csv', `${file} is not a CSV file: ${why}.`, {
    file,
    byteOffset,
    hint: 'Give the files that rocprofv3 or rocprof-compute wrote.',
  });
}

/** The line end of a file, judged by its first line; undefined when that is not complete. */
function lineEnd(bytes: Uint8Array): '\r\n' | '\n' | undefined {
  const at = bytes.indexOf(0x0a);
  if (at < 0) return undefined;
  return bytes[at - 1] === 0x0d ? '\r\n' : '\n';
}

/** Whether every comma of the first line has a space behind it. */
function hasSpaces(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(0x0a);
  const line = new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
  return line.includes(', ') && !/,[^ ]/.test(line);
}

/** What is wrong with the text of a file that is read nevertheless. */
const NOT_UTF8 = 'The file is not in UTF-8. Names that differ in other characters only are taken for the same one.';
const QUOTES = 'Quotes of some cells do not close where the cell ends. The text of those cells may be wrong.';

/** Reads a CSV file row by row, as `readCsvRows` does; the handler of the rows gets the texts of all cells. */
export function readCsv(
  source: ByteSource,
  onHeader: (header: Header) => CellsHandler,
  report: (message: string) => void = () => {},
): number {
  const rows = (header: Header): RowHandler => {
    const handler = onHeader(header);
    return (row) => handler(row.texts());
  };
  return readCsvRows(source, rows, report);
}

/**
 * Reads a CSV file row by row. `onHeader` sees the header and returns the handler of the rows; `report` is told what is wrong with the text.
 * Where other threads can read rows, those make numbers of the cells. Returns how many rows there were.
 */
export function readCsvRows(
  source: ByteSource,
  onHeader: (header: Header) => RowHandler,
  report: (message: string) => void = () => {},
): number {
  const row = new Row();
  const reader = new Pieces(source);
  let line = 0;
  let handler: RowHandler | undefined;
  /** The header, which files that were joined into one repeat, or the last of them. */
  let header = new Header([]);
  /** A column that has a number in the first row; -1 where none has. */
  let numeric: number | undefined;
  const open = (): void => {
    header = new Header(row.texts());
    for (const name of header.repeated) report(`The column ${name} is there more than once. The first one is read.`);
    handler = onHeader(header);
    numeric = undefined;
  };
  const take = (): void => {
    if (row.isEmpty) return;
    line++;
    if (handler === undefined) {
      if (row.length > MAX_COLUMNS) throw notCsv(source.path, `its first row has ${row.length} columns`);
      open();
      return;
    }
    numeric ??= Array.from({ length: row.length }, (_, i) => i).find((i) => row.digits(i) >= 0) ?? -1;
    const isOdd = row.length !== header.names.length || numeric < 0 || row.digits(numeric) < 0;
    if (isOdd && row.equals(header.cells)) row.part++;
    else if (isOdd && header.isLike(row.texts())) {
      row.part++;
      open();
    } else handler(row);
  };
  /** Blocks of rows that other threads make, and the part of the file that they are of; null where there are none. */
  let shared: { readonly blocks: RowBlocks; readonly plan: RowPlan; readonly part: number } | null | undefined;
  const startShared = (column: number): void => {
    const plan = {
      from: reader.offset - reader.rest,
      width: header.names.length,
      numeric: column,
      isCrLf: reader.isCrLf,
      skipsSpaces: row.skipsSpaces,
    };
    const blocks = column < 0 ? undefined : source.rowBlocks?.(plan);
    shared = blocks === undefined ? null : { blocks, plan, part: row.part };
  };
  const endShared = (): void => {
    shared?.blocks.end();
    shared = null;
  };
  /** Takes rows from other threads, where they are the ones behind the last piece. */
  const takeShared = (): void => {
    if (!shared) return;
    const { blocks, plan, part } = shared;
    const { begin = reader.offset } = blocks;
    if (reader.offset < begin) return;
    if (reader.offset === begin && row.part === part) {
      const own = handler as RowHandler;
      const count: RowHandler = (one) => {
        line++;
        own(one);
      };
      const from = reader.offset - reader.rest;
      reader.goTo(takeBlocks(source, blocks, { ...plan, from }, part, count));
    }
    endShared();
  };
  const readPiece = (): void => {
    if (!reader.isUtf8()) report(NOT_UTF8);
    const { bytes, length, isCrLf } = reader;
    row.use(bytes);
    let at = reader.start;
    if (handler === undefined) row.skipsSpaces = hasSpaces(bytes.subarray(at, length));
    let next = at;
    while (next >= 0 && next < length) {
      next = row.scan(at, length, isCrLf);
      if (next < 0) break;
      take();
      at = next;
    }
    reader.keep(at);
    if (next === RowEnd.ODD || row.part !== 0) {
      if (shared) endShared();
    } else if (!reader.isLast && numeric !== undefined) {
      if (shared === undefined) startShared(numeric);
      takeShared();
    }
    // What is not as the format has it, and a last row without its end.
    if (next === RowEnd.ODD || (reader.isLast && at < length)) {
      const { rows, hasBadQuotes } = reader.parse();
      if (hasBadQuotes) report(QUOTES);
      for (const cells of rows) {
        row.fill(cells);
        take();
      }
    }
    if (reader.rest > MAX_ROW_BYTES) {
      throw notCsv(source.path, `row ${line + 1} is longer than ${MAX_ROW_BYTES} bytes`, reader.offset - reader.rest);
    }
  };
  try {
    while (reader.next()) readPiece();
  } finally {
    endShared();
  }
  if (handler === undefined) throw notCsv(source.path, 'it is empty');
  return line - 1;
}

/** A file piece by piece; before each piece stands what is left of the one before. */
class Pieces {
  bytes = new Uint8Array(2 * PIECE);
  /** Rows are in the bytes from `start` to `length`. */
  start = 0;
  length = 0;
  /** How much of the file was read. */
  offset = 0;
  isCrLf = false;
  private newline: '\r\n' | '\n' | undefined;
  private readonly source: ByteSource;
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(source: ByteSource) {
    this.source = source;
  }

  get isLast(): boolean {
    return this.offset >= this.source.size;
  }

  /** Bytes that are left. */
  get rest(): number {
    return this.length - this.start;
  }

  /** Reads the next piece; false at the end of the file. */
  next(): boolean {
    const { source } = this;
    if (this.isLast) return false;
    const isFirst = this.offset === 0;
    const piece = source.read(this.offset, PIECE);
    if (piece.length === 0) return false;
    const nul = piece.indexOf(0);
    if (nul >= 0) throw notCsv(source.path, 'it contains NUL bytes', this.offset + nul);
    this.offset += piece.length;
    this.put(this.bytes.subarray(this.start, this.length), piece);
    this.start = this.skipped;
    this.skipped = 0;
    // A file that was saved twice may have two byte order marks.
    while (isFirst && this.bytes[this.start] === 0xef && this.bytes[this.start + 1] === 0xbb && this.start < 6) {
      if (this.bytes[this.start + 2] !== 0xbf) break;
      this.start += 3;
    }
    this.newline ??= lineEnd(this.bytes.subarray(this.start, this.length));
    this.isCrLf = this.newline === '\r\n';
    return true;
  }

  /** Sets the rows not yet read. */
  private put(...parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > this.bytes.length) this.bytes = new Uint8Array(2 * length);
    let at = 0;
    for (const part of parts) {
      this.bytes.set(part, at);
      at += part.length;
    }
    this.start = 0;
    this.length = at;
  }

  /** Goes on with the row that begins at `place` in the file, whose piece is read again. */
  goTo(place: number): void {
    this.offset = place - (place % PIECE);
    this.start = this.length = 0;
    this.skipped = place - this.offset;
  }
  private skipped = 0;

  /** Leaves out what is before `at`. */
  keep(at: number): void {
    this.start = at;
  }

  /** Whether the bytes are UTF-8, and have no character that stands for a lost one. */
  isUtf8(): boolean {
    const { bytes, length } = this;
    const words = new Int32Array(bytes.buffer, 0, length >> 2);
    let all = 0;
    for (let i = 0; i < words.length; i++) all |= words[i];
    for (let i = length & ~3; i < length; i++) all |= bytes[i];
    return (all & 0x80808080) === 0 || !this.decoder.decode(bytes.subarray(0, this.end())).includes('\ufffd');
  }

  /** Where the last whole character ends; at the end of the file also one that is not whole. */
  private end(): number {
    const { bytes, length } = this;
    if (this.isLast) return length;
    for (let at = length - 1; at >= Math.max(this.start, length - 3); at--) {
      if (bytes[at] >= 0xc0) return at;
      if (bytes[at] < 0x80) break;
    }
    return length;
  }

  /** Reads what is left with Papa Parse, which knows what other programs make of quotes that do not close; the last row stays. */
  parse(): { readonly rows: readonly string[][]; readonly hasBadQuotes: boolean } {
    const { bytes, start, length } = this;
    const end = this.end();
    const text = this.decoder.decode(bytes.subarray(start, end));
    const parser = new Papa.Parser({ delimiter: ',', newline: this.newline ?? '\n' });
    const { data, meta, errors } = parser.parse(text, 0, !this.isLast) as unknown as {
      data: string[][];
      meta: { cursor: number };
      errors: { code: string }[];
    };
    if (this.isLast) this.start = length;
    else this.put(new TextEncoder().encode(text.slice(meta.cursor)), bytes.slice(end, length));
    return { rows: data, hasBadQuotes: errors.some(({ code }) => code === 'InvalidQuotes') };
  }
}
