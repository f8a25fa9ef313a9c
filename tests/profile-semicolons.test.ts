// Tables that a spreadsheet saved with semicolons: the numbers are those of the run, or nothing of the file is read and it is said.
import { expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, run, type TableStyle, traceOf } from './support/run-files.ts';

const { read } = profileFolders();
const whole = run(6);
const sums = ({ kernels }: ProfileDocument) =>
  kernels.map(({ name, agent, calls, totalNs, counters, metrics }) => ({
    name,
    agent,
    calls,
    totalNs,
    counters,
    metrics,
  }));
const folder = (style: TableStyle, change = (text: string) => text) =>
  read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole, style),
    '500_counter_collection.csv': change(countersOf(whole, /^/, style)),
  });
const truth = folder({});
const values = (cell: (text: string) => string): TableStyle => ({
  separator: ';',
  cell: (column, text) => (column === 'Counter_Value' ? cell(text) : text),
});

test.each([
  ['points in numbers', values((text) => text)],
  ['commas in numbers', values((text) => text.replace('.', ','))],
  [
    'commas, and points between thousands',
    values((text) => Number(text).toLocaleString('de-DE', { minimumFractionDigits: 2 })),
  ],
  ['integers alone', values((text) => text.replace(/\..*/, ''))],
  ['line ends of Windows', { ...values((text) => text.replace('.', ',')), newline: '\r\n' }],
])('%s', (_, style) => {
  const document = folder(style);
  expect(sums(document)).toEqual(sums(truth));
  expect(codes(document)).toEqual(['profile/semicolons']);
});

test('a byte order mark before the header', () => {
  const document = folder(
    values((text) => text),
    (text) => `\ufeff${text}`,
  );
  expect(sums(document)).toEqual(sums(truth));
});

test.each([
  ['thousands or decimals', (text: string) => `${Math.ceil(Number(text) / 1000)},000`, 'between thousands'],
  [
    'commas here and points there',
    (text: string) => (Number(text) > 5000 ? text : text.replace('.', ',')),
    'and with decimal points',
  ],
])('%s: nothing is read, and it is said', (_, cell, why) => {
  const document = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole),
    '500_counter_collection.csv': countersOf(whole, /^/, values(cell)),
  });
  expect(codes(document)).toEqual(['profile/damaged-file']);
  expect(document.findings[0].message).toContain(why);
  expect(document.kernels.every(({ counters }) => Object.keys(counters).length === 0)).toBe(true);
  expect(document.dispatches.total).toBe(6);
});

test('a row with too few cells: nothing is read, and it is said', () => {
  const document = folder(
    values((text) => text),
    (text) => text.replace(/;[^;\n]*\n$/, '\n'),
  );
  expect(codes(document).sort()).toEqual(['profile/damaged-file', 'profile/semicolons']);
  expect(document.dispatches.total).toBe(6);
});
