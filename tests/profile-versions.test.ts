// What versions and options of the profilers write otherwise: names of agents and columns, units of times. Invented data in their layouts.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { counterCsv, kernelTraceCsv } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();
const messages = (document: ProfileDocument) => document.findings.map((f) => f.message);

describe('names of agents', () => {
  /** Nodes 0 and 1 are CPUs; of the GPUs at 3, 5 and so on each has the next logical number. */
  const agents = (gpus: number) =>
    [
      '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Per_Cu","Num_Xcc","Max_Waves_Per_Cu","Max_Engine_Clk_Fcompute","Name","Product_Name"',
      ...[0, 1].map((node) => `${node},${node},"CPU",0,0,0,0,0,"Some CPU","Some CPU"`),
      ...Array.from(
        { length: gpus },
        (_, i) => `${3 + 2 * i},${2 + i},"GPU",304,4,8,32,2100,"gfx942","AMD Instinct MI300X"`,
      ),
      '',
    ].join('\n');
  const files = (name: string, gpus = 2) => ({
    '1_agent_info.csv': agents(gpus),
    '1_kernel_trace.csv': kernelTraceCsv(6).replaceAll('"Agent 2"', name),
    'pmc_1/2_counter_collection.csv': counterCsv().replaceAll('"Agent 2"', name),
  });

  test.each([
    ['relative', '"Agent 3"', 'Agent 3'],
    ['absolute', '"Agent 5"', 'Agent 3'],
    ['type-relative', '"GPU 1"', 'Agent 3'],
    ['as ROCm 6.2 writes them', '3', 'Agent 3'],
  ])('%s are those of agent_info.csv', (_, name, key) => {
    const document = read(files(name));
    expect(document.kernels.map(({ agent, arch, calls }) => [agent, arch, calls])).toEqual(
      Array(3).fill([key, 'gfx942', 2]),
    );
    expect(document.kernels[0].metrics['bytes.hbm.read'].value).toEqual({ value: 1 << 20 });
    expect(codes(document)).toEqual([]);
  });

  test.each([
    ['one that is not described', '"Agent 9"', 'Agent 9, which the input does not describe; what it is, is unknown'],
    ['a CPU', '"Agent 0"', 'Agent 0, which the input does not call a GPU; what it is, is unknown'],
  ])('%s is a finding', (_, name, message) => {
    const document = read(files(name));
    expect(document.kernels.every(({ arch }) => arch === null)).toBe(true);
    expect(messages(document)).toEqual([`Dispatches ran on ${message}.`]);
  });

  test('the one GPU that is described is taken for the one that is used, and it is said', () => {
    const document = read(files('"Agent 9"', 1));
    expect(document.kernels.every(({ agent, arch }) => agent === 'Agent 2' && arch === 'gfx942')).toBe(true);
    expect(messages(document)).toEqual([
      'Dispatches ran on Agent 9, which the input does not describe; Agent 2 is taken for it.',
    ]);
  });

  test('of two GPUs of which one is described the work is not joined', () => {
    const rows = kernelTraceCsv(6).trimEnd().split('\n');
    const trace = rows.map((row, i) => (i > 3 ? row.replace('"Agent 2"', '"Agent 7"') : row)).join('\n');
    const document = read({ '1_agent_info.csv': agents(1), '1_kernel_trace.csv': `${trace}\n` });
    expect(document.kernels.map(({ agent, arch, calls }) => [agent, arch, calls]).sort()).toEqual([
      ...Array(3).fill(['Agent 2', 'gfx942', 1]),
      ...Array(3).fill(['Agent 7', null, 1]),
    ]);
    expect(codes(document)).toEqual(['profile/bad-record']);
  });
});

test('names of architectures may carry features; one that is none is said', () => {
  const agents = (name: string) =>
    `"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Name"\n2,2,"GPU",304,"${name}"\n`;
  const of = (name: string) => read({ '1_agent_info.csv': agents(name), '1_kernel_trace.csv': kernelTraceCsv(3) });
  for (const name of ['gfx942', 'gfx942:sramecc+:xnack-', 'amdgcn-amd-amdhsa--gfx942']) {
    expect(of(name).kernels[0].arch).toBe('gfx942');
    expect(codes(of(name))).toEqual([]);
  }
  expect(of('AMD Instinct').kernels[0].arch).toBe(null);
  expect(codes(of('AMD Instinct'))).toEqual(['profile/bad-record']);
});

describe('rows of a wide file that are there twice', () => {
  const columns =
    'Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_INSTS_VALU,TCC_REQ[0],TCC_REQ[1]';
  const row = (id: number, cells: string) =>
    `${id},0,65536,256,0,0,4,4,16,"k",${1000 + 100 * id},${1050 + 100 * id},${cells}`;
  const of = (...rows: readonly string[]) => read({ 'w/pmc_perf.csv': `${[columns, ...rows].join('\n')}\n` });

  test('have the counters of both where they differ', () => {
    const document = of(row(0, '1024,,,'), row(0, ',77,3,4'));
    expect(document.kernels[0]).toMatchObject({ calls: 1, totalNs: { value: 50 } });
    const { SQ_WAVES, SQ_INSTS_VALU, TCC_REQ_sum } = document.kernels[0].counters;
    expect([SQ_WAVES?.sum, SQ_INSTS_VALU?.sum, TCC_REQ_sum?.sum]).toEqual([1024, 77, 7]);
    expect(codes(document)).toEqual([]);
  });

  test('count once where they agree, and the first counts where they do not', () => {
    const agreed = of(row(0, '1024,77,3,4'), row(0, '1024,77,3,4'));
    expect(agreed.kernels[0].counters.SQ_WAVES).toEqual({ sum: 1024, dispatches: 1 });
    expect(codes(agreed)).toEqual(['profile/duplicate-dispatch']);
    const other = of(row(0, '1024,77,3,4'), row(0, '2048,77,3,4'));
    expect(other.kernels[0].counters.SQ_WAVES).toEqual({ sum: 1024, dispatches: 1 });
    expect(codes(other)).toContain('profile/counter-conflict');
  });

  test('some dispatches lack a channel: said, though no formula has both', () => {
    const document = of(row(0, '1024,77,3,4'), row(1, '1024,77,3,'));
    expect(document.kernels[0].counters.TCC_REQ_sum).toEqual({ sum: 7, dispatches: 1 });
    expect(codes(document)).toEqual(['profile/uneven-counters']);
  });
});

test('passes of rocprof 2 are one run', () => {
  const columns =
    'Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID';
  const rows = (pid: number, from: number, value: number) =>
    [1, 2]
      .map(
        (id) =>
          `${id},4,1,${pid},${pid},65536,256,0,0,8,4,16,64,"k.kd",${from + 100 * id},${from + 100 * id + 50},${id},${value}\n`,
      )
      .join('');
  const document = read({
    'run/pmc_1/results_1.csv': `${columns},SQ_WAVES\n${rows(5, 1_000_000, 1024)}`,
    'run/pmc_2/results_2.csv': `${columns},SQ_INSTS_VALU\n${rows(6, 9_000_000, 77)}`,
  });
  expect(document.kernels).toMatchObject([{ calls: 2, totalNs: { value: 100 } }]);
  expect(document.kernels[0].counters).toEqual({
    SQ_WAVES: { sum: 2048, dispatches: 2 },
    SQ_INSTS_VALU: { sum: 154, dispatches: 2 },
  });
  expect(codes(document)).toEqual([]);
});

describe('columns of a trace', () => {
  test('of ROCm 6.2 have sizes under other names', () => {
    const document = read({
      '1_kernel_trace.csv':
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n' +
        '"KERNEL_DISPATCH",1,139690710949888,15,"transpose(float*)",0,671599758568,671599825328,16,4096,4,4,1,1024,1024,1\n',
    });
    expect(document.kernels[0].launches[0]).toMatchObject({ lds: 4096, scratch: 16, workgroup: [4, 4, 1] });
    expect(document.kernels[0].totalNs).toEqual({ value: 66_760 });
  });

  test('may be times only', () => {
    const document = read({
      '1_kernel_trace.csv':
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n' +
        '"KERNEL_DISPATCH",1,1,42,"copy(float*)",1,1000000,1512480\n',
    });
    expect(document.kernels).toMatchObject([{ name: 'copy(float*)', totalNs: { value: 512_480 } }]);
  });
});

test('times in microseconds are no nanoseconds, those without a fraction neither', () => {
  const rows = kernelTraceCsv(6).replace(/\b155\d{13}\b/g, (time) => String(Number(time) / 1000));
  expect(rows).toMatch(/,1550000000000,1550000000002,/);
  const document = read({ '1_kernel_trace.csv': rows });
  expect(document.dispatches).toMatchObject({ total: 6, timed: 0 });
  expect(document.kernels.every(({ totalNs }) => 'unknown' in totalNs && /unit/.test(totalNs.unknown))).toBe(true);
});

test.each([
  ['1.550.000.000.000.000', 'a timestamp is no number'],
  ['1,550,000,000,000,000', 'a timestamp is no number'],
  ['0x581bd5f3c0000', 'a timestamp is no number'],
  ['', 'no timestamps were recorded'],
  ['NaN', 'no timestamps were recorded'],
])('a timestamp of %s: %s', (cell, why) => {
  const document = read({ '1_kernel_trace.csv': kernelTraceCsv(3).replace(/,1550000000000000,/, `,"${cell}",`) });
  expect(document.dispatches).toMatchObject({ total: 3, timed: 2 });
  expect(messages(document)).toContain(`Durations of dispatches are unknown: ${why}.`);
});

test('what is wrong with files that are all left out is in the error', () => {
  const columns = 'Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,SQ_WAVES';
  const row = '0,void k<int, float>(int*, float),0,0,5,5,65536,256,0,0,8,16,1024';
  expect(() => read({ 'results.csv': `${columns}\n${row}\n` })).toThrow(/hold no data.*Rows were skipped/);
});
