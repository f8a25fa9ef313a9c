// Passes of one program that do not agree: other names, another order, other sizes. Nothing is counted twice, and what does not fit is said.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../src/profile/index.ts';
import { truncatedName } from '../src/profile/readers/values.ts';
import { counterCsv, kernelTraceCsv, rocprofJson, writeRocprofCsv } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { temporary, read } = profileFolders();
const trace = kernelTraceCsv(6);
const counters = counterCsv();
const pass = (text: string) => read({ '1_kernel_trace.csv': trace, 'pmc_1/2_counter_collection.csv': text });
const waves = (document: ProfileDocument) =>
  Object.fromEntries(document.kernels.map(({ name, counters: c }) => [name, c.SQ_WAVES?.sum]));
const alone = read({ '1_kernel_trace.csv': trace });
/** Calls and time are those of the trace alone. */
const expectTrace = (document: ProfileDocument) => {
  expect(document.dispatches.total).toBe(6);
  expect(document.kernels.map(({ name, calls, totalNs }) => [name, calls, totalNs])).toEqual(
    alone.kernels.map(({ name, calls, totalNs }) => [name, calls, totalNs]),
  );
  expect(document.criticalPath.busyNs).toEqual(alone.criticalPath.busyNs);
};

test('truncated names are those of the kernels whose end they are', () => {
  expect(truncatedName('void ns::scale<float, (int)3>(float*, int) const [clone]')).toBe('const');
  expect(truncatedName('void ns::scale<float, (int)3>(float*, int) [clone .x]')).toBe('scale');
  expect(truncatedName('reduce(float const*, float*)')).toBe('reduce');
  expect(truncatedName('copy_rows')).toBe('copy_rows');
  expect(truncatedName('((((')).toBe('((((');
  expect(truncatedName('))))')).toBe('');
  const document = pass(
    counters.replaceAll('void scale<float>(float*, int)', 'scale').replaceAll('reduce(float const*, float*)', 'reduce'),
  );
  expectTrace(document);
  expect(Object.values(waves(document))).toEqual([1024, 1024, 1024]);
  expect(codes(document)).toEqual([]);
});

test('another order: counters of the dispatches that moved are left out', () => {
  const [header, ...rows] = counters.trimEnd().split('\n');
  const swapped = rows.map((row) =>
    row.replace(/^([12]),\1,/, (_, id: string) => `${3 - Number(id)},${3 - Number(id)},`),
  );
  const document = pass(`${[header, ...swapped].join('\n')}\n`);
  expectTrace(document);
  expect(waves(document)).toEqual({
    copy_rows: 1024,
    'reduce(float const*, float*)': undefined,
    'void scale<float>(float*, int)': undefined,
  });
  expect(codes(document)).toEqual(['profile/other-kernel']);
});

test('another order between passes without a trace, and between traces of passes', () => {
  const swapped = (text: string) =>
    text
      .replaceAll('"copy_rows"', '"x"')
      .replaceAll('"reduce(float const*, float*)"', '"copy_rows"')
      .replaceAll('"x"', '"reduce(float const*, float*)"');
  const second = swapped(counters).replaceAll('SQ_', 'SX_');
  const passes = read({ 'pmc_1/1_counter_collection.csv': counters, 'pmc_2/2_counter_collection.csv': second });
  expect(passes.dispatches.total).toBe(3);
  expect(passes.kernels.map(({ counters: c }) => c.SX_WAVES?.sum)).toEqual([1024, 1024, 1024]);
  expect(codes(passes)).toEqual(['profile/joined-passes']);
  const traces = read({ 'pmc_1/1_kernel_trace.csv': trace, 'pmc_2/2_kernel_trace.csv': swapped(trace) });
  expectTrace(traces);
  expect(codes(traces)).toContain('profile/joined-passes');
});

test('JSON: another order', () => {
  const { 'rocprofiler-sdk-tool': parts } = JSON.parse(rocprofJson(3)) as {
    'rocprofiler-sdk-tool': {
      metadata: { pid: number };
      buffer_records: { kernel_dispatch: { dispatch_info: { kernel_id: number } }[] };
    }[];
  };
  const [first, second] = parts[0].buffer_records.kernel_dispatch;
  [first.dispatch_info.kernel_id, second.dispatch_info.kernel_id] = [
    second.dispatch_info.kernel_id,
    first.dispatch_info.kernel_id,
  ];
  parts[0].metadata.pid = 501;
  const swapped = JSON.stringify({ 'rocprofiler-sdk-tool': parts });
  const document = read({ 'pmc_1/500_results.json': rocprofJson(3), 'pmc_2/501_results.json': swapped });
  expect(document.dispatches.total).toBe(3);
  expect(document.kernels.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  expect(codes(document)).toContain('profile/joined-passes');
});

test('another size: the counters are of more work than the times', () => {
  const document = pass(counters.replaceAll(',65536,', ',131072,'));
  expectTrace(document);
  expect(Object.values(waves(document))).toEqual([undefined, undefined, undefined]);
  expect(codes(document)).toEqual(['profile/other-kernel']);
});

describe('dispatches with counters that the trace has not', () => {
  test('are counted, and it is said', () => {
    const document = read({ '1_kernel_trace.csv': kernelTraceCsv(2), 'pmc_1/2_counter_collection.csv': counters });
    expect(document.dispatches.total).toBe(3);
    expect(codes(document)).toEqual(['profile/missing-rows']);
  });

  test('are found by the numbers of their calls where the trace has none of dispatches', () => {
    const column = trace.split('\n')[0].split(',').indexOf('"Dispatch_Id"');
    const without = trace.replace(/^.+$/gm, (row) =>
      row
        .split(',')
        .filter((_, i) => i !== column)
        .join(','),
    );
    // Names with commas have their parts on either side of no column that is taken out.
    const document = read({ '1_kernel_trace.csv': without, '1_counter_collection.csv': counters });
    expectTrace(document);
    expect(Object.values(waves(document))).toEqual([1024, 1024, 1024]);
    // Those of other calls are not of the trace.
    const others = counters.replace(/^(\d+),/gm, (_, id) => `${Number(id) + 50},`);
    const apart = read({ '1_kernel_trace.csv': without, '1_counter_collection.csv': others });
    expect(apart.dispatches.total).toBe(9);
    expect(codes(apart)).toEqual(['profile/missing-rows']);
  });

  test('are none in a sound run', () => {
    const folder = join(temporary, 'sound');
    writeRocprofCsv(folder, 6);
    expect(codes(analyse(loadProfile([folder]).recording))).toEqual([]);
  });
});
