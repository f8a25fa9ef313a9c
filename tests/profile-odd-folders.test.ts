// Folders of rocprofv3 as people have them after copying, joining, editing and running again: the numbers are those of the run, or a finding
// says what is missing.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { rocprofJson, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import {
  AGENTS,
  countersOf,
  FLOPS,
  MEMORY,
  type RunDispatch,
  run,
  TRACE_COLUMNS,
  traceOf,
} from './support/run-files.ts';

const { read } = profileFolders();
const whole = run(9);
const files = {
  '500_agent_info.csv': AGENTS,
  '500_kernel_trace.csv': traceOf(whole),
  'pmc_1/501_counter_collection.csv': countersOf(whole, FLOPS),
  'pmc_2/502_counter_collection.csv': countersOf(whole, MEMORY),
};

/** What a document says of each kernel, beside what the dispatches have. */
const said = ({ kernels }: ProfileDocument) =>
  kernels
    .map(({ name, calls, totalNs, counters, metrics }) => {
      const values = ['bytes.hbm.read', 'bytes.hbm.write'].map((id) => metrics[id]?.value);
      const bytes = values.reduce((sum, value) => sum + (value !== undefined && 'value' in value ? value.value : 0), 0);
      return { name, calls, ns: 'value' in totalNs ? totalNs.value : 0, waves: counters.SQ_WAVES?.sum ?? 0, bytes };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
const truth = (dispatches: readonly RunDispatch[], counted = dispatches) =>
  [...new Set(dispatches.map(({ kernel }) => kernel))]
    .sort((a, b) => a.localeCompare(b))
    .map((name) => {
      const sum = (of: readonly RunDispatch[], value: (one: RunDispatch) => number) =>
        of.filter(({ kernel }) => kernel === name).reduce((total, one) => total + value(one), 0);
      return {
        name,
        calls: sum(dispatches, () => 1),
        ns: sum(dispatches, ({ start, end }) => end - start),
        waves: sum(counted, ({ counters }) => counters.SQ_WAVES ?? 0),
        bytes: sum(counted, ({ grid }) => 12 * grid),
      };
    });
const messages = (document: ProfileDocument) => document.findings.map(({ code, message }) => `${code}: ${message}`);

test('a sound folder has the numbers of its run, and no finding', () => {
  const document = read(files);
  expect(said(document)).toEqual(truth(whole));
  expect(codes(document)).toEqual([]);
});

describe('a counter of one dispatch that contradicts', () => {
  const off = (names: RegExp, counter: string, value: number) => {
    const changed = whole.map((one) =>
      one.id === 4 ? { ...one, counters: { ...one.counters, [counter]: value } } : one,
    );
    const file = names === FLOPS ? 'pmc_1/501_counter_collection.csv' : 'pmc_2/502_counter_collection.csv';
    return messages(read({ ...files, [file]: countersOf(changed, names) }));
  };

  test.each([
    [
      'the whole is less than its part',
      FLOPS,
      'SQ_INSTS_VALU',
      7,
      '10240 of a part of SQ_INSTS_VALU were counted, and 7 of the whole',
    ],
    ['busy cycles that wrapped at 32 bit', MEMORY, 'GRBM_GUI_ACTIVE', 2 ** 32 - 5, 'busy for 4294967291 cycles'],
    ['busy cycles that wrapped at 48 bit', MEMORY, 'GRBM_GUI_ACTIVE', 2 ** 48 - 5, 'busy for 281474976710651 cycles'],
    ['busy cycles after a wrap', MEMORY, 'GRBM_GUI_ACTIVE', 5, 'busy for 5 cycles'],
  ])('%s', (_, names, counter, value, text) => {
    expect(off(names, counter, value)).toEqual([
      expect.stringMatching(/^profile\/impossible-value: Of void scale<float>\(float\*, int\), in dispatch 4 /),
    ]);
    expect(off(names, counter, value)[0]).toContain(text);
  });

  test('within twice of the other is none', () => {
    expect(off(FLOPS, 'SQ_INSTS_VALU', 19 * 1024)).toEqual([]);
  });
});

describe('cells of counters', () => {
  const cells = (change: (text: string) => string) =>
    read({
      ...files,
      'pmc_1/501_counter_collection.csv': countersOf(whole, FLOPS, {
        cell: (column, text) => (column === 'Counter_Value' ? change(text) : text),
      }),
    });

  test('with decimal commas are one finding of a file, and no values', () => {
    const document = cells((text) => text.replace('.', ','));
    expect(messages(document)).toEqual([
      "profile/unreadable-counter: Some cells of counters, as '1024,000000' of SQ_WAVES, are no numbers of a counter; those dispatches have no value of them.",
    ]);
    expect(document.kernels.every(({ counters }) => counters.SQ_WAVES === undefined)).toBe(true);
  });

  test('that are all empty are a finding', () => {
    expect(messages(cells(() => ''))).toEqual([
      'profile/unreadable-counter: Some rows, as one of SQ_WAVES, have no value of their counter; those dispatches have no value of it.',
    ]);
  });

  test('whose names have spaces around, or none', () => {
    const named = (name: string) =>
      read({
        ...files,
        'pmc_1/501_counter_collection.csv': countersOf(whole, FLOPS, {
          cell: (column, text) => (column === 'Counter_Name' && text === 'SQ_WAVES' ? name : text),
        }),
      });
    expect(said(named(' SQ_WAVES '))).toEqual(truth(whole));
    expect(messages(named(''))).toEqual(['profile/bad-row: Rows were skipped: the counter has no name.']);
  });
});

test('passes that cover as many dispatches, but not the same ones', () => {
  const document = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole),
    'pmc_1/501_counter_collection.csv': countersOf(whole.slice(0, 6), FLOPS),
    'pmc_2/502_counter_collection.csv': countersOf(whole.slice(3), MEMORY),
  });
  expect(messages(document)).toContain(
    'profile/uneven-counters: Counters of copy_rows cover 1 to 2 of its 3 dispatches; ratios use only the dispatches that have all their terms.',
  );
  const apart = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole.slice(0, 6)),
    'pmc_1/501_counter_collection.csv': countersOf(whole.slice(0, 3), FLOPS),
    'pmc_2/502_counter_collection.csv': countersOf(whole.slice(3, 6), /^(?:GRBM|TCC_EA0_RDREQ_sum)/),
  });
  expect(messages(apart)).toContain(
    'profile/uneven-counters: Counters of copy_rows cover different 1 of its 2 dispatches; ratios use only the dispatches that have all their terms.',
  );
});

test('times in microseconds without a fraction, and nothing but a trace', () => {
  const inMicroseconds = traceOf(whole, {
    cell: (column, text) => (column.endsWith('Timestamp') ? String(Math.floor(Number(text) / 1000)) : text),
  });
  expect(messages(read({ '500_kernel_trace.csv': inMicroseconds }))[0]).toMatch(
    /^profile\/impossible-value: .* a dispatch takes 9 ns on average, which no GPU can do: the times may be of another unit/,
  );
});

test('agents of two machines in one file', () => {
  const other = AGENTS.replaceAll('304', '110').replaceAll('gfx942', 'gfx90a');
  const document = read({ ...files, '500_agent_info.csv': AGENTS + other });
  expect(said(document)).toEqual(truth(whole));
  expect(messages(document)).toEqual([
    'profile/agent-conflict: Agent 2 is described twice, not alike; the first counts.',
  ]);
  expect(codes(read({ ...files, '500_agent_info.csv': AGENTS + AGENTS }))).toEqual([]);
});

test.each(['500_kernel_trace.csv', '501_results.json', '501_results.db'])('a pointer of Git LFS as %s', (name) => {
  const document = read({
    ...files,
    [name]: 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
  });
  expect(messages(document)).toContain(
    'profile/damaged-file: The file is a pointer of Git LFS. It is left out. Get the file that it stands for: git lfs pull.',
  );
});

test('a results.json that is something else', () => {
  expect(codes(read({ ...files, '501_results.json': '{"error": "not found"}' }))).toEqual(['profile/damaged-file']);
});

describe('runs of one program in one folder', () => {
  const MINUTE = 60e9;
  const later = (minutes: number, pid: number) => run(9, { pid, ns: minutes * MINUTE });
  const trace = { 'h/500_kernel_trace.csv': traceOf(whole), 'h/500_agent_info.csv': AGENTS };

  test.each([
    ['one for the trace, one for counters', { 'h/501_counter_collection.csv': countersOf(later(1, 501)) }],
    [
      'two passes of counters',
      {
        'h/501_counter_collection.csv': countersOf(later(1, 501), FLOPS),
        'h/502_counter_collection.csv': countersOf(later(2, 502), MEMORY),
      },
    ],
    [
      'counters with a trace of their own',
      {
        'h/501_counter_collection.csv': countersOf(later(1, 501)),
        'h/501_kernel_trace.csv': traceOf(later(1, 501)),
      },
    ],
  ])('count once: %s', (_, passes) => {
    const document = read({ ...trace, ...passes });
    expect(said(document)).toEqual(truth(whole));
    expect(codes(document)[0]).toBe('profile/joined-passes');
    expect(document.criticalPath.spanNs).toEqual(read(trace).criticalPath.spanNs);
  });

  test.each([
    ['-o', ['trace_kernel_trace.csv', 'flops_counter_collection.csv', 'memory_counter_collection.csv']],
    ['renamed', ['kernel_trace.csv', 'counter_collection_1.csv', 'counter_collection_2.csv']],
  ])('count once: named by %s', (_, [name, first, second]) => {
    const document = read({
      'agent_info.csv': AGENTS,
      [name]: traceOf(whole),
      [first]: countersOf(later(1, 501), FLOPS),
      [second]: countersOf(later(2, 502), MEMORY),
    });
    expect(said(document)).toEqual(truth(whole));
  });

  test('of two ranks are those of each', () => {
    const ranks = [0, 1].map((rank) => run(9, { pid: 500 + rank, ns: 300 * rank }));
    const document = read({
      'h/500_agent_info.csv': AGENTS,
      ...Object.fromEntries(ranks.map((rank, i) => [`h/${500 + i}_kernel_trace.csv`, traceOf(rank)])),
      ...Object.fromEntries([0, 1].map((i) => [`h/${600 + i}_counter_collection.csv`, countersOf(later(1, 600 + i))])),
    });
    expect(said(document)).toEqual(truth(ranks.flat()));
  });

  test('are two where they have the same counters, or other kernels', () => {
    const second = later(1, 501);
    const both = { ...trace, 'h/501_kernel_trace.csv': traceOf(second) };
    expect(said(read(both)).map(({ calls }) => calls)).toEqual([6, 6, 6]);
    const other = second.map((one) => ({ ...one, kernel: 'other' }));
    const document = read({ ...trace, 'h/501_counter_collection.csv': countersOf(other) });
    expect(said(document)).toEqual(truth([...whole, ...other], other));
  });

  test('JSON and databases', () => {
    const json = (ns: number, counters: boolean) => {
      const later = rocprofJson(3).replace(
        /"(start|end)_timestamp":(\d+)/g,
        (_, name, time) => `"${name}_timestamp":${Number(time) + ns}`,
      );
      const parts = JSON.parse(later);
      if (!counters) parts['rocprofiler-sdk-tool'][0].callback_records.counter_collection = [];
      return JSON.stringify(parts);
    };
    const document = read({ '500_results.json': json(0, false), '501_results.json': json(MINUTE, true) });
    expect(document.dispatches.total).toBe(3);
    const database = (ns: number, counters: boolean) => (path: string) => {
      writeRocpd(path, 3, '');
      const move = `UPDATE rocpd_kernel_dispatch SET start = start + ${ns}, "end" = "end" + ${ns}`;
      writeDatabase(path, counters ? [move] : [move, 'DELETE FROM rocpd_pmc_event']);
    };
    const total = (second: boolean) =>
      read({ '500_results.db': database(0, false), '501_results.db': database(MINUTE, second) }).dispatches.total;
    expect(total(true)).toBe(3);
    expect(total(false)).toBe(6);
  });
});

describe('tables that were joined into one file', () => {
  const second = run(9, { pid: 501, ns: 5e6 });
  const both = [...whole, ...second];
  const joined = (trace: string, counters = '') =>
    read({
      'agent_info.csv': AGENTS,
      'out_kernel_trace.csv': trace,
      ...(counters === '' ? {} : { 'out_counter_collection.csv': counters }),
    });

  test('are of two processes, in trace and counters', () => {
    const document = joined(traceOf(whole) + traceOf(second), countersOf(whole) + countersOf(second));
    expect(said(document)).toEqual(truth(both));
    expect(codes(document)).toEqual([]);
  });

  test('counters of two processes, without a header between', () => {
    expect(said(joined(traceOf(whole), countersOf(both)))).toEqual(truth(both));
  });

  test('passes of one process', () => {
    const pass = whole.map((one) => ({ ...one, pid: 502 }));
    const document = joined(traceOf(whole), countersOf(whole, FLOPS) + countersOf(pass, MEMORY));
    expect(said(document)).toEqual(truth(whole));
  });

  test.each([
    ['columns in another order', [...TRACE_COLUMNS].reverse()],
    ['columns of an older version', TRACE_COLUMNS.filter((name) => name !== 'Stream_Id')],
  ])('%s', (_, columns) => {
    const document = joined(traceOf(whole) + traceOf(second, { columns }));
    expect(said(document)).toEqual(truth(both, []));
    expect(codes(document)).toEqual([]);
  });

  test('the same one twice counts once', () => {
    expect(said(joined(traceOf(whole) + traceOf(whole)))).toEqual(truth(whole, []));
  });
});

test.each([
  ['kernel_trace_0.csv', 'kernel_trace_1.csv', 18],
  ['results.0.kernel_trace.csv', 'results.1.kernel_trace.csv', 18],
  ['500_kernel_trace.csv', '500_kernel_trace_sorted.csv', 9],
])('%s and %s', (first, second, dispatches) => {
  const isCopy = dispatches === 9;
  const document = read({
    [first]: traceOf(whole),
    [second]: traceOf(isCopy ? [...whole].reverse() : run(9, { pid: 501, ns: 500 })),
  });
  expect(document.dispatches.total).toBe(dispatches);
});

test('spaces behind commas', () => {
  const separator = ', ';
  const document = read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole, { separator }),
    '500_counter_collection.csv': countersOf(whole, /^/, { separator }),
  });
  expect(said(document)).toEqual(truth(whole));
  expect(codes(document)).toEqual([]);
});
