// Room `profile/readers`: one file per format that a profiler writes; each fills a recording.
// Begin with rocprofv3-csv.ts, the most common format; this file and json-stream.ts read the syntax, values.ts the cells.
//
// Streaming CSV on Papa Parse: constant memory, columns by normalised name, limits against hostile files.
import Papa from 'papaparse';
import { WavesmithError } from '../../base/index.ts';
import type { ByteSource } from '../source.ts';

/** No row of a profiler's CSV is longer; a longer one means the file is not what it claims to be. */
const MAX_ROW_BYTES = 4 << 20;
const MAX_COLUMNS = 100_000;
/** Small pieces: the cells of one are dead before the collector looks at them. */
const PIECE = 1 << 16;

/** `Agent_Id`, `agent-id` and `AGENT ID` are the same column. */
export function normalise(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9[\]]/g, '');
}

/** A header row with lookup by any of several names. */
export class Header {
  readonly names: readonly string[];
  /** Names that several columns have. */
  readonly repeated: readonly string[];
  private readonly index = new Map<string, number>();

  constructor(names: readonly string[]) {
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
}

/** Called with every data row; `line` counts rows from 1 for the header. */
export type RowHandler = (cells: string[], line: number) => void;

/** The header of a CSV file, from its first bytes. */
export function readCsvHeader(source: ByteSource): Header {
  let header: Header | undefined;
  const end = new Error('header read');
  try {
    readCsv(source, (h) => {
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
function lineEnd(text: string): '\r\n' | '\n' | undefined {
  const at = text.indexOf('\n');
  if (at < 0) return undefined;
  return text[at - 1] === '\r' ? '\r\n' : '\n';
}

/** What is wrong with the text of a file that is read nevertheless. */
const NOT_UTF8 = 'The file is not in UTF-8. Names that differ in other characters only are taken for the same one.';
const QUOTES = 'Quotes of some cells do not close where the cell ends. The text of those cells may be wrong.';

/**
 * Reads a CSV file row by row. `onHeader` sees the header and returns the handler of the rows; `report` is told what is wrong with the text.
 * Returns how many rows there were.
 */
export function readCsv(
  source: ByteSource,
  onHeader: (header: Header) => RowHandler,
  report: (message: string) => void = () => {},
): number {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let line = 0;
  let handler: RowHandler | undefined;
  /** The header, which files that were joined into one repeat. */
  let first: readonly string[] = [];
  let newline: '\r\n' | '\n' | undefined;
  for (let offset = 0; offset < source.size; ) {
    const bytes = source.read(offset, PIECE);
    if (bytes.length === 0) break;
    const nul = bytes.indexOf(0);
    if (nul >= 0) throw notCsv(source.path, 'it contains NUL bytes', offset + nul);
    offset += bytes.length;
    const last = offset >= source.size;
    let text = rest + decoder.decode(bytes, { stream: !last });
    if (line === 0 && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    newline ??= lineEnd(text);
    if (text.includes('\ufffd')) report(NOT_UTF8);
    const result = new Papa.Parser({ delimiter: ',', newline: newline ?? '\n' }).parse(text, 0, !last) as unknown as {
      data: string[][];
      meta: { cursor: number };
      errors: { code: string }[];
    };
    if (result.errors.some(({ code }) => code === 'InvalidQuotes')) report(QUOTES);
    for (const cells of result.data) {
      if (cells.length === 1 && cells[0] === '') continue;
      line++;
      if (handler === undefined) {
        if (cells.length > MAX_COLUMNS) throw notCsv(source.path, `its first row has ${cells.length} columns`);
        const header = new Header(cells);
        for (const name of header.repeated)
          report(`The column ${name} is there more than once. The first one is read.`);
        handler = onHeader(header);
        first = cells;
      } else if (cells[0] !== first[0] || cells.length !== first.length || cells.some((cell, i) => cell !== first[i])) {
        handler(cells, line);
      }
    }
    rest = last ? '' : text.slice(result.meta.cursor);
    if (rest.length > MAX_ROW_BYTES) {
      throw notCsv(source.path, `row ${line + 1} is longer than ${MAX_ROW_BYTES} bytes`, offset - rest.length);
    }
  }
  if (handler === undefined) throw notCsv(source.path, 'it is empty');
  return line - 1;
}
