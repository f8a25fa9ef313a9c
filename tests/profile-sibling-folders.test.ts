// Folders beside each other whose names tell nothing: of ranks that ran at once, of machines, of runs one after the other, of passes.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { counterCsv, kernelTraceCsv, rocprofJson, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();
/** The same run, later. */
const later = (csv: string, ns: number) => csv.replace(/\b155\d{13}\b/g, (time) => String(Number(time) + ns));
const other = (csv: string) => csv.replaceAll('SQ_', 'SX_').replaceAll('TCC_', 'TCX_');
const trace = kernelTraceCsv(6);
const counters = counterCsv();
const waves = (document: ProfileDocument) =>
  document.kernels.map((kernel) => [kernel.agent, kernel.calls, kernel.counters.SQ_WAVES?.sum]);
const HOUR = 3_600_000_000_000;

describe('that ran at once are of processes of their own', () => {
  test('traces', () => {
    const one = read({ 'a/1_kernel_trace.csv': trace });
    const both = read({ 'a/1_kernel_trace.csv': trace, 'b/2_kernel_trace.csv': later(trace, 500) });
    expect(both.dispatches.total).toBe(12);
    expect(both.kernels.map((kernel) => kernel.calls)).toEqual(one.kernels.map((kernel) => 2 * kernel.calls));
    expect(codes(both)).toEqual(['profile/host-clocks']);
    const lanes = (document: ProfileDocument) =>
      [...new Set(document.criticalPath.timeline.map(({ lane }) => lane))].sort();
    expect(lanes(both)).toEqual(
      lanes(one)
        .flatMap((lane) => [`a: ${lane}`, `b: ${lane} (process 1)`])
        .sort(),
    );
  });

  test.each([
    ['rank_0', 'rank_1', []],
    ['500', '501', []],
    ['mi300x-01', 'mi300x-02', ['profile/host-clocks']],
    ['node01.site', 'node02.site', ['profile/host-clocks']],
  ])('%s and %s', (first, second, found) => {
    const document = read({
      [`${first}/1_kernel_trace.csv`]: trace,
      [`${second}/2_kernel_trace.csv`]: later(trace, 500),
    });
    expect(document.dispatches.total).toBe(12);
    expect(codes(document)).toEqual(found);
    const [lane] = document.criticalPath.timeline.map((entry) => entry.lane);
    expect(lane.startsWith(`${first}: `)).toBe(found.length > 0);
  });

  test('counters, of machines with a folder for each pass', () => {
    const document = read({
      'pmc_1/a/1_counter_collection.csv': counters,
      'pmc_1/b/2_counter_collection.csv': later(counters, 500),
      'pmc_2/a/3_counter_collection.csv': other(later(counters, 50_000)),
      'pmc_2/b/4_counter_collection.csv': other(later(counters, 50_700)),
    });
    expect(document.dispatches.total).toBe(6);
    expect(document.kernels.map(({ counters: c }) => [c.SQ_WAVES, c.SX_WAVES])).toEqual(
      Array(3).fill(Array(2).fill({ sum: 2048, dispatches: 2 })),
    );
  });

  test('JSON', () => {
    const json = (pid: number, from: number) =>
      rocprofJson(3).replace('"pid":500', `"pid":${pid},"init_time":${from},"fini_time":${from + 1000}`);
    const total = (from: number) =>
      read({ 'a/1_results.json': json(500, 7000), 'b/2_results.json': json(501, from) }).dispatches.total;
    expect(total(7900)).toBe(6);
    expect(total(8100)).toBe(3);
  });

  test('rocpd', () => {
    const SUFFIX = '_0000ddb5_8903_7903_b269_cd8d3745bb8a';
    const database = (pid: number, from: number) => (path: string) => {
      writeRocpd(path, 3);
      const table = `"rocpd_info_process${SUFFIX}"`;
      writeDatabase(path, [
        ...['init', 'fini'].map((name) => `ALTER TABLE ${table} ADD COLUMN ${name} BIGINT`),
        `UPDATE ${table} SET pid = ${pid}, init = ${from}, fini = ${from + 1000}`,
      ]);
    };
    const total = (pid: number, from: number) =>
      read({ 'a/x_results.db': database(500, 7000), 'b/y_results.db': database(pid, from) }).dispatches.total;
    expect(total(501, 7900)).toBe(6);
    expect(total(501, 8100)).toBe(3);
    expect(total(500, 7900)).toBe(3);
  });
});

describe('that ran one after the other', () => {
  test.each([
    ['traces', '1_kernel_trace.csv', trace],
    ['counters', '1_counter_collection.csv', counters],
  ])('are runs of their own where they have the same %s, and it is said', (_, name, text) => {
    const document = read({ [`a/${name}`]: text, [`b/${name.replace('1', '2')}`]: later(text, HOUR) });
    const one = read({ [`a/${name}`]: text });
    expect(document.dispatches.total).toBe(2 * one.dispatches.total);
    expect(new Set(document.kernels.map(({ agent }) => agent)).size).toBe(2);
    expect(codes(document)).toEqual(['profile/several-recordings']);
    // The hour between is no time in which the GPU idled.
    expect(document.criticalPath.spanNs).toEqual(one.criticalPath.spanNs);
  });

  test('are passes where the counters differ, and where the names say so', () => {
    for (const [a, b, second] of [
      ['a', 'b', other(counters)],
      ['pmc_1', 'pmc_2', counters],
    ] as const) {
      const document = read({
        [`${a}/1_counter_collection.csv`]: counters,
        [`${b}/2_counter_collection.csv`]: later(second, 50_000),
      });
      expect(waves(document)).toEqual(Array(3).fill(['Agent 2', 1, 1024]));
      expect(codes(document)).toEqual([]);
    }
  });

  test('are passes where one has the trace and the other the counters', () => {
    const document = read({ 'a/1_kernel_trace.csv': trace, 'b/2_counter_collection.csv': later(counters, 50_000) });
    expect(document.dispatches.total).toBe(6);
    expect(waves(document)).toEqual(Array(3).fill(['Agent 2', 2, 1024]));
  });
});

test('of two programs are runs of their own, whatever they count', () => {
  const program = other(later(counters, 50_000))
    .replace(/"void scale[^"]*"/g, '"first"')
    .replace(/"reduce[^"]*"/g, '"second"');
  const document = read({ 'a/1_counter_collection.csv': counters, 'b/2_counter_collection.csv': program });
  expect(document.kernels.map(({ agent, name }) => [agent, name]).sort()).toEqual(
    [
      ['Agent 2 of b', 'copy_rows'],
      ['Agent 2 of b', 'first'],
      ['Agent 2 of b', 'second'],
      ['Agent 2', 'copy_rows'],
      ['Agent 2', 'reduce(float const*, float*)'],
      ['Agent 2', 'void scale<float>(float*, int)'],
    ].sort(),
  );
  expect(codes(document)).toEqual(['profile/several-recordings']);
});

test('one run in two folders counts once', () => {
  const half = `${trace.split('\n').slice(0, 4).join('\n')}\n`;
  for (const copy of [trace, half]) {
    const document = read({ 'a/1_kernel_trace.csv': trace, 'b/x_kernel_trace.csv': copy });
    expect(document.dispatches.total).toBe(6);
    expect(codes(document)).toEqual(['profile/duplicate-dispatch']);
  }
});
