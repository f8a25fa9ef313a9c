// Inputs that no profiler writes and people have: each number is that of the run, or a finding says what is wrong.
import { describe, expect, test } from 'vitest';
import { rocprofJson } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import { AGENTS, countersOf, run, type TableStyle, traceOf } from './support/run-files.ts';

const { read } = profileFolders();
const whole = run(9);
const folder = (trace: TableStyle = {}, counters: TableStyle = {}) =>
  read({
    '500_agent_info.csv': AGENTS,
    '500_kernel_trace.csv': traceOf(whole, trace),
    '500_counter_collection.csv': countersOf(whole, /^/, counters),
  });
const clean = folder();

describe('names of counters in another case', () => {
  const named = (change: (name: string) => string) =>
    folder({}, { cell: (column, text) => (column === 'Counter_Name' ? change(text) : text) });

  test.each([
    ['small', (name: string) => name.toLowerCase()],
    ['large', (name: string) => name.toUpperCase()],
    ['mixed', (name: string) => name.replace(/[A-Z]+/g, (word) => word[0] + word.slice(1).toLowerCase())],
  ])('%s letters are the same counters', (_, change) => {
    const document = named(change);
    expect(document.kernels.map(({ counters }) => counters)).toEqual(clean.kernels.map(({ counters }) => counters));
    expect(document.kernels[0].metrics).toEqual(clean.kernels[0].metrics);
    expect(codes(document)).toEqual([]);
  });

  test('a workload folder with columns in small letters', () => {
    const [describing, counters] = [
      'Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size',
      'TCC_HIT[0],TCC_HIT[1],SQ_WAVES',
    ];
    const of = (header: string) => read({ 'pmc_perf.csv': `${header}\n0,copy,0,65536,256,8,9,1024\n` });
    const document = of(`${describing},${counters.toLowerCase()}`);
    expect(document.kernels[0].counters).toEqual({
      SQ_WAVES: { sum: 1024, dispatches: 1 },
      TCC_HIT_sum: { sum: 17, dispatches: 1 },
    });
  });
});

describe('cells that no profiler writes', () => {
  const cells = (column: string, change: (text: string) => string): TableStyle => ({
    cell: (name, text) => (name === column ? change(text) : text),
  });

  test.each<[string, TableStyle, TableStyle, string, string]>([
    [
      'counters with fractions',
      {},
      cells('Counter_Value', (text) => `${Number(text) + 0.5}`),
      'fractional-counter',
      'SQ_WAVES with 1024.5',
    ],
    [
      'numbers of dispatches with fractions',
      {},
      cells('Dispatch_Id', (text) => `${text}.5`),
      'bad-row',
      'the dispatch id',
    ],
    ['sizes that are no numbers', cells('Grid_Size_X', () => 'x'), {}, 'bad-record', 'Cells of Grid_Size_X'],
    ['sizes with fractions', cells('Grid_Size_X', (text) => `${text}.5`), {}, 'bad-record', 'Cells of Grid_Size_X'],
    ['negative sizes', cells('LDS_Block_Size', () => '-5'), {}, 'bad-record', 'Cells of LDS_Block_Size'],
    ['more LDS than a CU has', cells('LDS_Block_Size', () => '70000'), {}, 'impossible-value', '70000 bytes of LDS'],
    ['more registers than a lane has', cells('VGPR_Count', () => '600'), {}, 'impossible-value', '600 registers'],
    [
      'a workgroup that is too large',
      cells('Workgroup_Size_X', () => '2048'),
      {},
      'impossible-value',
      '2048 work-items',
    ],
  ])('%s are a finding', (_, trace, counters, rule, message) => {
    const document = folder(trace, counters);
    expect(document.dispatches.total).toBe(9);
    expect(codes(document)).toEqual([`profile/${rule}`]);
    expect(document.findings[0].message).toContain(message);
  });

  test('sizes that are no numbers in tables of counters alone, and in wide ones', () => {
    const message = 'Cells of Grid_Size are no whole numbers from 0 on; what needs them is unknown.';
    const long = read({
      '500_agent_info.csv': AGENTS,
      '500_counter_collection.csv': countersOf(
        whole,
        /^SQ_/,
        cells('Grid_Size', () => 'x'),
      ),
    });
    const wide = read({
      'pmc_perf.csv': 'Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,SQ_WAVES\n0,k,0,x,256,4\n',
    });
    for (const document of [long, wide]) {
      expect(document.findings.map((finding) => finding.message)).toContain(message);
      expect(document.kernels[0].launches[0].grid[0]).toBe(-1);
    }
  });

  test('numbers that pandas wrote as 4.0 are the same numbers', () => {
    const document = folder(
      {},
      cells('Dispatch_Id', (text) => `${text}.0`),
    );
    expect(document.kernels).toEqual(clean.kernels);
    expect(codes(document)).toEqual([]);
  });

  test.each(['SQ_WAVES_x', 'SQ_WAVES.1'])('%s, as pandas calls a column that there are two of, is read', (name) => {
    const document = folder(
      {},
      cells('Counter_Name', (text) => (text === 'SQ_WAVES' ? name : text)),
    );
    expect(document.kernels).toEqual(clean.kernels);
  });
});

test.each([
  ['LDS', '"group_segment_size":0', '"group_segment_size":-4', 'LDS or scratch'],
  ['registers', '"arch_vgpr_count":24', '"arch_vgpr_count":"x"', 'arch_vgpr_count'],
])('JSON: %s that are no numbers are a finding', (_, from, to, message) => {
  const document = read({ 'a_results.json': rocprofJson(6).replaceAll(from, to) });
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.findings[0].message).toContain(message);
});

test('dispatches that a trace leaves out are said, those before the first are not', () => {
  const trace = (left: readonly number[]) =>
    read({
      '500_agent_info.csv': AGENTS,
      '500_kernel_trace.csv': traceOf(whole.filter(({ id }) => !left.includes(id))),
    });
  expect(codes(trace([1, 2, 9]))).toEqual([]);
  const document = trace([4, 5]);
  expect(codes(document)).toEqual(['profile/missing-dispatches']);
  expect(document.findings[0].message).toContain('the numbers 1 to 9, and 2 of these are not in the trace');
});

describe('GPUs that are none of their architecture', () => {
  const machine = (agents: string) =>
    read({ '500_agent_info.csv': agents, '500_kernel_trace.csv': traceOf(whole) }).findings.map((f) => f.message);

  test.each([
    ['a clock in Hz', ',2100,', ',2100000000,', 'an engine clock of 2100000000 MHz'],
    ['a clock in GHz', ',2100,', ',2.1,', 'an engine clock of 2.1 MHz'],
    ['the CUs of one XCC', ',304,', ',38,', '38 CUs in 8 XCCs'],
    ['more CUs than fit', ',304,', ',3040,', '3040 CUs in 8 XCCs'],
    ['more XCCs than there are', '304,4,8', '304,4,16', '16 XCCs'],
  ])('%s', (_, from, to, message) => {
    expect(machine(AGENTS)).toEqual([]);
    expect(machine(AGENTS.replace(from, to))).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['L2 channels of one XCC', 'total_l2_chan', '16', '16 L2 channels in 8 XCCs'],
    ['a bandwidth of another unit', 'hbm_bw', '530', '530 GB/s as recorded'],
    ['a memory clock that is none', 'max_mclk', '130', '532.5 GB/s by its memory clock'],
    ['a measured peak above the data sheet', 'roofline', '10000', '10000 GB/s as measured'],
    ['a measured peak of another unit', 'roofline', '4.1', '4.1 GB/s as measured'],
  ])('sysinfo.csv and roofline.csv: %s', (_, column, value, message) => {
    const facts = {
      ...{
        gpu_model: 'MI300X_A1',
        gpu_arch: 'gfx942',
        cu_per_gpu: '304',
        num_xcd: '8',
        max_sclk: '2100',
        max_mclk: '1300',
      },
      ...{ total_l2_chan: '128', hbm_bw: '5324.8', num_hbm_channels: '128' },
    };
    const of = (changed: Readonly<Record<string, string>>) => {
      const { roofline = '4100', ...all } = { ...facts, ...changed } as Record<string, string>;
      return read({
        'sysinfo.csv': `workload_name,${Object.keys(all).join()}\nw,${Object.values(all).join()}\n`,
        'roofline.csv': `device,HBMBw\n0,${roofline}\n`,
        'pmc_perf.csv': 'Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,SQ_WAVES\n0,copy,0,65536,256,1024\n',
      }).findings.flatMap((f) => (f.code === 'profile/odd-machine' ? [f.message] : []));
    };
    expect(of({})).toEqual([]);
    expect(of({ [column]: value })).toEqual([expect.stringContaining(message)]);
  });
});

describe('rows of another kind in a kernel trace', () => {
  const traced = (kind: string) => {
    const cell: TableStyle['cell'] = (column, text, { id }) => (column === 'Kind' && id === 4 ? kind : text);
    return read({ '500_agent_info.csv': AGENTS, '500_kernel_trace.csv': traceOf(whole, { cell }) });
  };

  test.each(['MEMORY_COPY', 'SCRATCH_MEMORY', 'HIP_RUNTIME_API'])('%s is no dispatch, and a finding', (kind) => {
    const document = traced(kind);
    expect(document.dispatches.total).toBe(8);
    expect(document.findings.map(({ message }) => message).join()).toContain(`of the kind ${kind}`);
  });

  test.each(['KERNEL_DISPATCH', 'kernel_dispatch', 'ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH', ''])(
    'of the kind %j they are dispatches',
    (kind) => {
      expect(codes(traced(kind))).toEqual([]);
      expect(traced(kind).dispatches.total).toBe(9);
    },
  );

  test('rows of another kind in tables of copies and of memory', () => {
    const copy = (kind: string, at: number) =>
      `"${kind}","MEMORY_COPY_HOST_TO_DEVICE",0,"Agent 0","Agent 2",1,${at},${at + 500}\n`;
    const header =
      '"Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n';
    const alloc = (kind: string) =>
      `"${kind}","SCRATCH_MEMORY_ALLOC","Agent 2",1,113,0,1124926523146168,1124926554133606\n`;
    const document = read({
      '500_agent_info.csv': AGENTS,
      '500_memory_copy_trace.csv': `${header}${copy('MEMORY_COPY', 1000)}${copy('KERNEL_DISPATCH', 2000)}`,
      '500_scratch_memory_trace.csv': `"Kind","Operation","Agent_Id","Queue_Id","Thread_Id","Alloc_Flags","Start_Timestamp","End_Timestamp"\n${alloc('SCRATCH_MEMORY')}${alloc('MEMORY_COPY')}`,
    });
    expect(document.copies).toMatchObject([{ count: 1 }]);
    expect(document.allocations).toMatchObject([{ count: 1 }]);
    expect(document.findings.filter(({ message }) => message.includes('of the kind'))).toHaveLength(2);
  });
});

describe('grids in workgroups', () => {
  const inGroups: TableStyle = {
    cell: (column, text) => (column === 'Grid_Size_X' ? String(Number(text) / 256 / 16) : text),
  };

  test('a grid below its workgroup is impossible', () => {
    const document = read({ '500_agent_info.csv': AGENTS, '500_kernel_trace.csv': traceOf(whole, inGroups) });
    expect(codes(document)).toEqual(['profile/impossible-value']);
    expect(document.findings[0].message).toContain('16 work-items and a workgroup 256');
  });

  test('a grid that is no multiple of its workgroup is said to be unusual', () => {
    const style: TableStyle = {
      cell: (column, text) => (column === 'Grid_Size_X' ? String(1000 + Number(text) / 65536) : text),
    };
    const document = read({ '500_agent_info.csv': AGENTS, '500_kernel_trace.csv': traceOf(whole, style) });
    expect(codes(document)).toEqual(['profile/odd-grid']);
  });

  test('waves that were counted tell it of other grids', () => {
    const large = run(9).map((one) => ({ ...one, grid: 256 * one.grid, counters: { SQ_WAVES: 4 * one.grid } }));
    const document = read({
      '500_agent_info.csv': AGENTS,
      '500_counter_collection.csv': countersOf(large, /^/, {
        cell: (column, text) => (column === 'Grid_Size' ? String(Number(text) / 256) : text),
      }),
    });
    expect(codes(document)).toEqual(['profile/impossible-value']);
    expect(document.findings[0].message).toContain('as if the grids were in workgroups');
  });
});
