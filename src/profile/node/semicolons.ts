// Tables with semicolons between their cells, as spreadsheets save them where the comma is the decimal separator. They are read where the whole
// file says what its numbers are; where `131,086` may be 131 or 131 thousand, nothing of them is.
import Papa from 'papaparse';
import { Header } from '../readers/csv.ts';
import { csvKind } from '../readers/rocprofv3-csv.ts';
import { type ByteSource, readWhole } from '../source.ts';
import type { DiskFile } from './files.ts';

/** Larger tables are not made by spreadsheets. */
const MOST = 1 << 27;
/** Fewer semicolons in the first row are part of something else. */
const LEAST = 3;

/** What became of a table with semicolons: the same with commas, or why it cannot be read. */
export type Semicolons =
  | { readonly kind: 'table'; readonly file: DiskFile; readonly message: string }
  | { readonly kind: 'unclear'; readonly message: string };

/** A table with semicolons as one with commas; undefined for files that are none. */
export function withCommas(file: DiskFile): Semicolons | undefined {
  const first = file.open((source) => new TextDecoder().decode(source.read(0, 1 << 16)).split(/\r?\n/, 1)[0]);
  if (first.split(';').length <= LEAST || csvKind(new Header(cellsOf(first)[0] ?? [])) === undefined) return undefined;
  if (file.size > MOST)
    return { kind: 'unclear', message: `Of tables with semicolons those up to ${MOST} bytes are read.` };
  const text = file.open((source) => new TextDecoder().decode(readWhole(source, MOST)));
  const rows = cellsOf(text);
  const width = rows[0].length;
  const odd = rows.findIndex((row) => row.length !== width);
  if (odd >= 0) {
    return {
      kind: 'unclear',
      message: `The table has semicolons between its cells, and ${rows[odd].length} of them in row ${odd + 1} where the first has ${width}.`,
    };
  }
  const numbers = numberStyle(rows);
  if ('unclear' in numbers) return { kind: 'unclear', message: numbers.unclear };
  const plain = rows.map((row) => row.map(numbers.plain).map(quoted).join(',')).join('\n');
  // A last row without a line end stays one: it may be cut.
  const bytes = new TextEncoder().encode(plain + (text.endsWith('\n') ? '\n' : ''));
  const source: ByteSource = {
    path: file.path,
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
  const commas = numbers.hasCommas ? ', and commas in its numbers' : '';
  return {
    kind: 'table',
    file: { ...file, size: bytes.length, open: (use) => use(source) },
    message: `The table has semicolons between its cells${commas}, as spreadsheets write them where a comma is the decimal separator; it is read so.`,
  };
}

function cellsOf(text: string): string[][] {
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { delimiter: ';', skipEmptyLines: true });
  return data;
}

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A number with commas or points in it, and nothing else. */
const MARKED = /^-?[0-9]+(?:[.,][0-9]+)+$/;

/** How the numbers of a table are written: what makes plain ones of them, or why that is not known. */
function numberStyle(
  rows: readonly (readonly string[])[],
): { readonly plain: (cell: string) => string; readonly hasCommas: boolean } | { readonly unclear: string } {
  const found = { comma: '', point: '', either: '' };
  for (const row of rows) {
    for (const cell of row) {
      if (!MARKED.test(cell)) continue;
      const style = styleOf(cell);
      found[style] ||= cell;
    }
  }
  const { comma, point, either } = found;
  if (comma !== '' && point !== '')
    return { unclear: `The table has numbers with decimal commas, as ${comma}, and with decimal points, as ${point}.` };
  if (comma === '' && either.includes(','))
    return {
      unclear: `Numbers of the table, as ${either}, may have a comma before their decimals or between thousands.`,
    };
  if (comma === '') return { plain: (cell) => cell, hasCommas: false };
  return {
    plain: (cell) => (MARKED.test(cell) ? cell.replaceAll('.', '').replace(',', '.') : cell),
    hasCommas: true,
  };
}

/** What a number says of commas and points: groups of thousands have three digits, and one mark before three digits may be either. */
function styleOf(cell: string): 'comma' | 'point' | 'either' {
  const marks = cell.replace(/[^.,]/g, '');
  const last = marks.at(-1) === ',' ? 'comma' : 'point';
  const other = last === 'comma' ? 'point' : 'comma';
  if (marks.length === 1) return /[.,][0-9]{3}$/.test(cell) && /^-?[0-9]{1,3}[.,]/.test(cell) ? 'either' : last;
  // Several of one mark stand between thousands; the last of two kinds stands before decimals.
  return new Set(marks).size === 1 ? other : last;
}
