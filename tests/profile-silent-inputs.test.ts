// Inputs that no profiler writes and people have: each number is that of the run, or a finding says what is wrong.
import { describe, expect, test } from 'vitest';
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
