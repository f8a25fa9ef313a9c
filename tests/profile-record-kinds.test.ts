// Records of rocprofv3's JSON that are not what their list holds, markers with texts of the program, numbers that are none.
import { describe, expect, test } from 'vitest';
import { rocprofJson, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();
const KINDS = [
  { kind: 'NONE', operations: [] },
  { kind: 'HIP_RUNTIME_API', operations: ['hipInit', 'hipLaunchKernel'] },
  { kind: 'MEMORY_COPY', operations: ['NONE', 'MEMORY_COPY_HOST_TO_DEVICE'] },
  { kind: 'KERNEL_DISPATCH', operations: ['NONE', 'KERNEL_DISPATCH_COMPLETE'] },
  { kind: 'SCRATCH_MEMORY', operations: ['NONE', 'SCRATCH_MEMORY_ALLOC'] },
  { kind: 'MEMORY_ALLOCATION', operations: ['NONE', 'MEMORY_ALLOCATION_ALLOCATE'] },
  { kind: 'MARKER_CORE_API', operations: ['roctxMarkA', 'roctxRangePushA', 'roctxRangePop'] },
  { kind: 'MARKER_CORE_RANGE_API', operations: ['roctxMarkA', 'roctxThreadRangeA', 'roctxGetThreadId'] },
];

interface Part {
  strings: Record<string, unknown>;
  buffer_records: Record<string, Record<string, unknown>[]>;
}

/** A recording of three dispatches whose records are of the kinds above, changed. */
const recorded = (change: (part: Part) => void): string => {
  const json = JSON.parse(rocprofJson(3)) as { 'rocprofiler-sdk-tool': [Part] };
  const [part] = json['rocprofiler-sdk-tool'];
  part.strings.buffer_records = KINDS;
  for (const record of part.buffer_records.kernel_dispatch) record.kind = 3;
  change(part);
  return JSON.stringify(json);
};
const call = (kind: number, operation: number, internal: number, ns: number) => ({
  ...{ kind, operation, thread_id: 7, correlation_id: { internal } },
  ...{ start_timestamp: 1_000_000, end_timestamp: 1_000_000 + ns },
});

describe('records of another kind than that of their list', () => {
  const plain = read({ '1_results.json': recorded(() => {}) });

  test.each<[string, string, Record<string, unknown>]>([
    [
      'a copy among dispatches',
      'kernel_dispatch',
      {
        kind: 2,
        operation: 1,
        start_timestamp: 2_000_000,
        end_timestamp: 2_100_000,
        dispatch_info: { dispatch_id: 9 },
      },
    ],
    ['a dispatch among copies', 'memory_copy', { ...call(3, 1, 9, 40), bytes: 4096 }],
    ['a copy among calls', 'hip_api', call(2, 1, 9, 40)],
    ['an allocation among those of scratch memory', 'scratch_memory', { ...call(5, 1, 9, 40), allocation_size: 64 }],
  ])('%s is left out', (_, list, record) => {
    const document = read({
      '1_results.json': recorded(({ buffer_records }) => {
        buffer_records[list] = [...(buffer_records[list] ?? []), record];
      }),
    });
    const numbers = ({ kernels, calls, copies, allocations }: typeof plain) => ({
      kernels,
      calls,
      copies,
      allocations,
    });
    expect(numbers(document)).toEqual(numbers(plain));
    const found = document.findings.filter(({ message }) => message.includes(`in the list ${list}`));
    expect(found.map(({ code }) => code)).toEqual(['profile/bad-record']);
  });
});

describe('markers have the names that the program gave them', () => {
  const sums = (file: string | ((path: string) => void), name: string) =>
    read({ [name]: file })
      .calls.filter(({ domain }) => domain.startsWith('MARKER'))
      .map(({ name: of, calls, totalNs }) => [of, calls, totalNs])
      .sort();

  test('in JSON', () => {
    const json = recorded(({ strings, buffer_records }) => {
      strings.marker_api = [
        { key: 21, value: 'step one' },
        { key: 22, value: 'step two' },
        { key: 23, value: 'step one' },
        { key: 25, value: 'not of a text' },
      ];
      buffer_records.marker_api = [call(6, 1, 21, 30), call(6, 1, 22, 50), call(7, 1, 23, 70), call(6, 2, 25, 5)];
      buffer_records.marker_api.push(call(7, 2, 25, 3));
    });
    expect(sums(json, '1_results.json')).toEqual([
      ['roctxGetThreadId', 1, 3],
      ['roctxRangePop', 1, 5],
      ['step one', 1, 30],
      ['step one', 1, 70],
      ['step two', 1, 50],
    ]);
  });

  test('in a database', () => {
    const database = (path: string): void => {
      writeRocpd(path, 3, '');
      writeDatabase(path, [
        'ALTER TABLE rocpd_event ADD COLUMN extdata TEXT',
        "INSERT INTO rocpd_string (id, string) VALUES (10, 'MARKER_CORE_RANGE_API'), (11, 'roctxThreadRangeA')",
        `INSERT INTO rocpd_event (id, category_id, stack_id, extdata) VALUES (50, 10, 21, '{"message":"step one"}'), (51, 10, 22, '{}')`,
        'INSERT INTO rocpd_region (nid, pid, tid, start, "end", name_id, event_id) VALUES (1, 1, 1, 900000, 900030, 11, 50), (1, 1, 1, 900100, 900105, 11, 51)',
      ]);
    };
    expect(sums(database, 'results.db')).toEqual([
      ['roctxThreadRangeA', 1, 5],
      ['step one', 1, 30],
    ]);
  });
});

describe('numbers that are none', () => {
  test.each(['NaN', '-Infinity'])('%s as the value of a counter leaves the others', (value) => {
    const document = read({ '1_results.json': rocprofJson(3).replace('"value":1024', `"value":${value}`) });
    expect(document.dispatches.total).toBe(3);
    expect(document.kernels.map(({ counters }) => counters)).toEqual([{}, {}, {}]);
    expect(codes(document)).toContain('profile/unreadable-counter');
  });

  test('a text that has the word is a text', () => {
    const document = read({ '1_results.json': rocprofJson(3).replaceAll('copy_rows', 'NaN: Infinity') });
    expect(document.kernels.map(({ name }) => name)).toContain('NaN: Infinity');
    expect(codes(document)).toEqual([]);
  });
});

test('a second record of the counters of a dispatch is not added to the first', () => {
  const json = JSON.parse(rocprofJson(3)) as {
    'rocprofiler-sdk-tool': [{ callback_records: { counter_collection: { records: { value: number }[] }[] } }];
  };
  const { callback_records } = json['rocprofiler-sdk-tool'][0];
  const [record] = callback_records.counter_collection;
  const [value] = record.records;
  const records = [
    { ...value, value: 1000 },
    { ...value, value: 24 },
  ];
  callback_records.counter_collection = [{ ...record, records }, record];
  const document = read({ '1_results.json': JSON.stringify(json) });
  const counted = document.kernels.filter(({ counters }) => counters.SQ_WAVES !== undefined);
  expect(counted.map(({ counters }) => counters)).toEqual([{ SQ_WAVES: { sum: 1024, dispatches: 1 } }]);
});

describe('what tables do not tell, or tell twice', () => {
  const SCRATCH =
    '"Kind","Operation","Agent_Id","Queue_Id","Thread_Id","Alloc_Flags","Start_Timestamp","End_Timestamp"\n"SCRATCH_MEMORY","SCRATCH_MEMORY_ALLOC","Agent 1",1,7,1,1000,2000\n';

  test('sizes of scratch memory', () => {
    const document = read({ '1_scratch_memory_trace.csv': SCRATCH });
    expect(document.allocations).toEqual([{ operation: 'SCRATCH_MEMORY_ALLOC', count: 1, bytes: 0 }]);
    expect(codes(document)).toContain('profile/no-sizes');
    const json = recorded(({ buffer_records }) => {
      buffer_records.scratch_memory = [call(4, 1, 9, 40)];
    });
    expect(codes(read({ '1_results.json': json }))).toContain('profile/no-sizes');
  });

  test('sums of domains beside those of functions', () => {
    const header = '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n';
    const functions = `${header}"hipMalloc",13,4585,352.7,100.00,23,3522,993.1\n`;
    const domains = `${header}"HIP_API",13,4585,352.7,100.00,23,3522,993.1\n`;
    const names = (files: Record<string, string>) => read(files).calls.map(({ name, calls }) => [name, calls]);
    expect(names({ '1_hip_api_stats.csv': functions, '1_domain_stats.csv': domains })).toEqual([['hipMalloc', 13]]);
    expect(names({ '1_domain_stats.csv': domains })).toEqual([['HIP_API', 13]]);
  });

  test('processes of a counter table without a name of its own', () => {
    const columns =
      'Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp';
    const rows = [1, 2].flatMap((pid) =>
      [1, 2].map((id) => {
        const start = 1_550_000_000_000_000 + 9000 * id + pid;
        return `${id},${id},"Agent 2",1,${pid},77,65536,10,"k",256,0,0,16,0,32,"SQ_WAVES",${100 * id + pid},${start},${start + 1000}`;
      }),
    );
    const document = read({ 'counter_collection.csv': `${[columns, ...rows].join('\n')}\n` });
    expect(document.kernels[0]).toMatchObject({ calls: 4, counters: { SQ_WAVES: { sum: 606, dispatches: 4 } } });
  });
});
