// CSV rows as bytes: the same cells as Papa Parse finds in the whole text, whatever the pieces are that the file is read in.
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { type Header, readCsv, readCsvRows } from './csv.ts';
import { CellIds, type TableRow } from './csv-row.ts';
import { count } from './values.ts';

function sourceOf(bytes: Uint8Array) {
  return { path: 'x.csv', size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
}

function rowsOf(text: string | Uint8Array): { names: readonly string[]; rows: string[][]; reports: string[] } {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const rows: string[][] = [];
  const reports: string[] = [];
  let names: readonly string[] = [];
  const onHeader = (header: Header) => {
    names = header.names;
    return (cells: string[]) => rows.push(cells);
  };
  readCsv(sourceOf(bytes), onHeader, (message) => reports.push(message));
  return { names, rows, reports };
}

/** Calls `use` with each row of a text. */
function eachRow(text: string, use: (row: TableRow) => void): void {
  readCsvRows(sourceOf(new TextEncoder().encode(text)), () => use);
}

const QUOTES = 'Quotes of some cells do not close where the cell ends. The text of those cells may be wrong.';

test.each([
  [
    'as profilers write it',
    'a,b\n"x, y",1\n"",2\n',
    [
      ['x, y', '1'],
      ['', '2'],
    ],
    [],
  ],
  ['quotes and line ends in cells', 'a,b\n"say ""hi""\nand go",1\n', [['say "hi"\nand go', '1']], []],
  [
    'line ends of Windows',
    'a,b\r\n"x",1\r\ny,2\r\n',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    [],
  ],
  ['a line end of Unix in a file of Windows is in the cell', 'a,b\r\nx\ny,1\r\n', [['x\ny', '1']], []],
  ['a line end of Windows in a file of Unix is half in the cell', 'a,b\nx,1\r\n', [['x', '1\r']], []],
  [
    'no last line end',
    'a,b\nx,1\n"y",2',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    [],
  ],
  ['no last line end, quoted', 'a,b\nx,"1"', [['x', '1']], []],
  ['no last line end but the half of it', 'a,b\r\nx,1\r', [['x', '1\r']], []],
  ['two byte order marks', '\ufeff\ufeffa,b\nx,1\n', [['x', '1']], []],
  ['empty lines', 'a,b\n\nx,1\n""\n\n', [['x', '1']], []],
  [
    'the header again',
    'a,b\nx,1\n"a","b"\ny,2\n',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    [],
  ],
  ['quotes inside of a plain cell', 'a,b\nx"y""z,1\n', [['x"y""z', '1']], []],
  [
    'spaces behind a quote',
    'a,b\n"x" ,1\n"y","2"  \n',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    [],
  ],
  [
    'a quote that closes too early',
    'a,b\n"x"y",1\nz,2\n',
    [
      ['x"y', '1'],
      ['z', '2'],
    ],
    [QUOTES],
  ],
  ['a quote that never closes', 'a,b\nz,2\n"x,1\n', [['z', '2'], ['x,1\n']], []],
])('reads %s', (_, text, rows, reports) => {
  expect(rowsOf(text)).toEqual({ names: ['a', 'b'], rows, reports });
});

test('a file of many pieces has the cells that Papa Parse finds in the whole of it', () => {
  // Pieces end in every place of a row: within characters of several bytes, between two quotes, between CR and LF.
  for (const newline of ['\n', '\r\n'] as const) {
    let text = `name,n,more${newline}`;
    for (let i = 0; i < 9000; i++) {
      const odd = i % 1500 === 700 ? '"odd" quote"' : `"k""${'漢é'.repeat(i % 5)}""${i % 7 === 0 ? newline : ','}"`;
      text += `${odd},${i},"${'x'.repeat(i % 41)}"${newline}`;
    }
    const { data } = Papa.parse<string[]>(text, { delimiter: ',', newline });
    const { rows, reports } = rowsOf(text);
    expect(rows).toEqual(data.slice(1, -1));
    expect(new Set(reports)).toEqual(new Set([QUOTES]));
  }
});

test('text that is not UTF-8 is reported, and a character at the end of a piece is none of it', () => {
  const line = `${'é'.repeat(50)},1\n`;
  const good = `a,b\n${line.repeat(2000)}`;
  expect(rowsOf(good).reports).toEqual([]);
  const bad = new TextEncoder().encode(good);
  bad[150_000] = 0xff;
  expect(rowsOf(bad).reports[0]).toContain('not in UTF-8');
});

test('numbers are read from their digits where a double is exact, and from the text else', () => {
  const cells = [
    '0',
    '007',
    '12',
    '9007199254740991',
    '9007199254740992',
    '18446744073709551615',
    '',
    '-1',
    '1e3',
    '1.5',
  ];
  eachRow(`${cells.map((_, i) => `c${i}`).join()}\n${cells.join()}\n`, (row) => {
    expect(cells.map((_, i) => row.value(i))).toEqual([0, 7, 12, Number.MAX_SAFE_INTEGER, ...cells.slice(4)]);
    expect(cells.map((_, i) => row.count(i))).toEqual(cells.map((cell) => count(cell)));
    expect([row.value(-1), row.text(cells.length), row.count(-1)]).toEqual([undefined, undefined, -1]);
  });
});

test('cells of the same text have one id, and others never', () => {
  const texts: string[] = [];
  const ids = new CellIds((text) => {
    const known = texts.indexOf(text ?? '(none)');
    return known >= 0 ? known : texts.push(text ?? '(none)') - 1;
  });
  const names = Array.from({ length: 3000 }, (_, i) => `${'long name '.repeat(i % 4)}${i >> 1}`);
  // Plain `p""q` is another text than quoted `"p""q"`.
  const more = ['p""q', '"p""q"', '"p""""q"', 'p"q', 'ключ', '""', '"long name"', 'long name'];
  const found: string[] = [];
  eachRow(`a,b\n${[...names, ...more].map((name) => `${name},1\n`).join('')}`, (row) => {
    const text = texts[row.id(ids, 0)];
    expect(text).toBe(row.text(0));
    found.push(text);
  });
  expect(found.slice(names.length)).toEqual(['p""q', 'p"q', 'p""q', 'p"q', 'ключ', '', 'long name', 'long name']);
  expect(texts).toHaveLength(new Set([...names, ...found]).size);
  eachRow('a,b\nx,1\n', (row) => expect(texts[row.id(ids, 7)]).toBe('(none)'));
});

test('a column of more texts than are kept has right ids for all of them', () => {
  const byText = new Map<string, number>();
  const ids = new CellIds((text) => {
    const id = byText.get(text as string) ?? byText.size;
    byText.set(text as string, id);
    return id;
  });
  const COUNT = 263_000;
  const names = Array.from({ length: COUNT }, (_, i) => `n${i}\n`).join('');
  let row = 0;
  let wrong = 0;
  eachRow(`name\n${names}${names}`, (one) => {
    if (one.id(ids, 0) !== row++ % COUNT) wrong++;
  });
  expect([row, wrong, byText.size]).toEqual([2 * COUNT, 0, COUNT]);
});
