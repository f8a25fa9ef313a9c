// Passes of one program whose dispatches have other numbers than in the first: calls, times, FLOPs and bytes are those of one run, and what
// has no partner is left out with a finding.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { rocprofJson, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, FLOPS, MEMORY, type RunDispatch, run, traceOf } from './support/run-files.ts';

const { read } = profileFolders();
const MINUTE = 60e9;
const whole = run(9);
const trace = { '500_agent_info.csv': AGENTS, '500_kernel_trace.csv': traceOf(whole) };
/** A later run, whose dispatches `order` puts into another order; they are numbered from `from` on. */
const later = (pid: number, from: number, order = (all: readonly RunDispatch[]) => all): RunDispatch[] =>
  order(run(9, { pid, ns: (pid - 500) * MINUTE })).map((one, i) => ({ ...one, id: from + i }));
const byKernel = (all: readonly RunDispatch[]) => [...all].sort((a, b) => a.kernel.localeCompare(b.kernel));
/** Calls, time, wavefronts and requests of each kernel. */
const sums = ({ kernels }: ProfileDocument) =>
  Object.fromEntries(
    kernels.map(({ name, calls, totalNs, counters }) => [
      name,
      [calls, 'value' in totalNs ? totalNs.value : -1, counters.SQ_WAVES?.sum, counters.TCC_EA0_RDREQ_sum?.sum],
    ]),
  );
const truth = Object.fromEntries(
  [...new Set(whole.map(({ kernel }) => kernel))].map((name) => {
    const own = whole.filter(({ kernel }) => kernel === name);
    const sum = (of: (one: RunDispatch) => number) => own.reduce((all, one) => all + of(one), 0);
    const counter = (key: string) => sum(({ counters }) => counters[key]);
    return [name, [own.length, sum((one) => one.end - one.start), counter('SQ_WAVES'), counter('TCC_EA0_RDREQ_sum')]];
  }),
);

const numbered = [
  ['one more', 2, undefined],
  ['a whole turn more', 4, undefined],
  ['none in common', 100, undefined],
  ['another order', 1, byKernel],
] as const;

describe.each(numbered)('%s', (_, from, order) => {
  const second = countersOf(later(502, from, order), MEMORY);
  const first = countersOf(later(501, 1), FLOPS);

  test('in folders of passes', () => {
    const document = read({
      ...trace,
      'pmc_1/501_counter_collection.csv': first,
      'pmc_2/502_counter_collection.csv': second,
    });
    expect(sums(document)).toEqual(truth);
    expect(codes(document)).toEqual(['profile/joined-passes']);
  });

  test('in folders that somebody named', () => {
    const document = read({
      ...trace,
      'flops/501_counter_collection.csv': first,
      'memory/502_counter_collection.csv': second,
    });
    expect(sums(document)).toEqual(truth);
    expect(codes(document)).toEqual(['profile/joined-passes']);
  });

  test('in one folder', () => {
    const document = read({ ...trace, '501_counter_collection.csv': first, '502_counter_collection.csv': second });
    expect(sums(document)).toEqual(truth);
    expect(codes(document)).toEqual(['profile/joined-passes']);
  });

  test('without a trace', () => {
    const document = read({
      '500_agent_info.csv': AGENTS,
      'pass_1/501_counter_collection.csv': countersOf(later(501, 1, order), FLOPS),
      'pass_2/502_counter_collection.csv': second,
    });
    expect(sums(document)).toEqual(truth);
    expect(document.dispatches.total).toBe(9);
  });
});

test('a kernel that was launched more often in a later pass has no counters of it', () => {
  const [one] = run(1, { pid: 502, ns: 3 * MINUTE });
  const more = [one, ...later(502, 1)].map((each, i) => ({ ...each, id: i + 1 }));
  const document = read({
    ...trace,
    'pmc_1/501_counter_collection.csv': countersOf(later(501, 1), FLOPS),
    'pmc_2/502_counter_collection.csv': countersOf(more, MEMORY),
  });
  const scale = 'void scale<float>(float*, int)';
  expect(sums(document)).toEqual({ ...truth, [scale]: [...truth[scale].slice(0, 3), undefined] });
  expect(document.dispatches.total).toBe(9);
  const unlike = document.findings.filter(({ code }) => code === 'profile/other-kernel');
  expect(unlike.map(({ message, kernel }) => [message.replace(/ in [^ ]*:/, ':'), kernel])).toEqual([
    [
      `${scale} was launched 4 times here and 3 times with the same sizes: which is which is not known, so what is said of these launches here is left out.`,
      scale,
    ],
  ]);
  const metrics = document.kernels.find(({ name }) => name === scale)?.metrics;
  expect(metrics?.['bytes.hbm.read'].value).toHaveProperty('unknown');
});

test('other sizes under the same numbers are other launches', () => {
  const second = later(502, 1).map((one) => (one.id === 5 ? { ...one, grid: 2 * one.grid } : one));
  const document = read({
    ...trace,
    'pmc_1/501_counter_collection.csv': countersOf(later(501, 1), FLOPS),
    'pmc_2/502_counter_collection.csv': countersOf(second, MEMORY),
  });
  expect(document.dispatches.total).toBe(9);
  expect(codes(document)).toContain('profile/other-kernel');
});

describe('other formats', () => {
  test('JSON', () => {
    const parts = JSON.parse(rocprofJson(6)) as {
      'rocprofiler-sdk-tool': { metadata: { pid: number } }[];
    };
    parts['rocprofiler-sdk-tool'][0].metadata.pid = 501;
    const moved = JSON.stringify(parts).replace(/"dispatch_id":(\d+)/g, (_, id) => `"dispatch_id":${Number(id) + 50}`);
    const alone = read({ '500_results.json': rocprofJson(6) });
    const document = read({ 'pmc_1/500_results.json': rocprofJson(6), 'pmc_2/501_results.json': moved });
    expect(document.dispatches.total).toBe(6);
    expect(sums(document)).toEqual(sums(alone));
    expect(codes(document)).toContain('profile/joined-passes');
  });

  test('databases', () => {
    const whole = (path: string) => writeRocpd(path, 6, '');
    const moved = (path: string) => {
      whole(path);
      writeDatabase(path, [
        'UPDATE rocpd_kernel_dispatch SET dispatch_id = dispatch_id + 50, start = start + 60000000000, "end" = "end" + 60000000000',
        'UPDATE rocpd_info_process SET pid = pid + 1',
      ]);
    };
    const alone = read({ '500_results.db': whole });
    const document = read({ 'pmc_1/500_results.db': whole, 'pmc_2/501_results.db': moved });
    expect(document.dispatches.total).toBe(6);
    expect(sums(document)).toEqual(sums(alone));
    expect(codes(document)).toContain('profile/joined-passes');
  });
});
