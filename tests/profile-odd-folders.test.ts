// Folders of rocprofv3 as people have them after copying, joining, editing and running again: the numbers are those of the run, or a finding
// says what is missing.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, FLOPS, MEMORY, type RunDispatch, run, traceOf } from './support/run-files.ts';

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
