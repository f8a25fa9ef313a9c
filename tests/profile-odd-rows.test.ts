// Rows of rocprofv3 tables with odd but possible cells: each number is that of the run, or a finding says what is wrong.
import { expect, test } from 'vitest';
import { codes, profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, run, type TableStyle, traceOf } from './support/run-files.ts';

const { read } = profileFolders();
const whole = run(9);
const trace = (column: string, text: string, style: TableStyle = {}) =>
  read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole, {
      ...style,
      cell: (name, cell, of) => (name === column && of.id === 4 ? text : cell),
    }),
  });

test('a kernel without a name is a finding', () => {
  const document = trace('Kernel_Name', '');
  expect(document.dispatches.total).toBe(9);
  expect(codes(document)).toEqual(['profile/unnamed-kernel']);
});

test.each(['0', String(2 ** 40)])('a grid of %s is a finding', (size) => {
  const document = trace('Grid_Size_X', size);
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.findings[0].message).toContain(`the size ${size}, which no launch can have`);
});

test('rows for each XCC with equal values are added up', () => {
  const [header, ...rows] = countersOf(whole, /^(?:SQ|TCC)_/)
    .trimEnd()
    .split('\n');
  const part = (row: string, xcc: number) =>
    `${row.replace(/(\d+)\.000000/, (_, value) => `${Number(value) / 8}.000000`)},${xcc}`;
  const files = (table: string) => ({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole),
    '500_counter_collection.csv': table,
  });
  const split = [
    `${header},"Dimension_XCC"`,
    ...rows.flatMap((row) => Array.from({ length: 8 }, (_, xcc) => part(row, xcc))),
  ];
  const [document, one] = [read(files(`${split.join('\n')}\n`)), read(files(countersOf(whole, /^(?:SQ|TCC)_/)))];
  expect(document.kernels.map(({ counters }) => counters)).toEqual(one.kernels.map(({ counters }) => counters));
  expect(codes(document)).toEqual(['profile/counter-instances']);
});

test.each([
  [/^TCC/, 'All counters are 0'],
  [/^SQ_INSTS_VALU$/, 'The counter SQ_INSTS_VALU is 0'],
])('counters %s that are all 0 are a finding', (names, message) => {
  const counted = (cell: NonNullable<TableStyle['cell']>) =>
    read({
      '500_agent_info.csv': AGENTS,
      '500_kernel_trace.csv': traceOf(whole),
      '500_counter_collection.csv': countersOf(whole, names, { cell }),
    });
  const document = counted((column, text) => (column === 'Counter_Value' ? '0.000000' : text));
  expect(codes(document)).toEqual(['profile/zero-counters']);
  expect(document.findings[0].message).toContain(message);
  // One dispatch in which something was counted is enough.
  const one = counted((column, text, { id }) => (column === 'Counter_Value' && id !== 4 ? '0.000000' : text));
  expect(codes(one)).not.toContain('profile/zero-counters');
});
