// Inputs that are odd in what they describe: partitions, several measured devices, clocks that go back, values of other units, counters that
// contradict each other or the launch, formats of other tools. Each number is right, or a finding says why it is not.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { COPY_COUNTERS, writeDatabase, writeRocpd } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();

const BEGIN = 1_550_000_000_000_000;
const TRACE =
  'Kind,Agent_Id,Queue_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Grid_Size_X';
type Time = number | string;
const dispatch = (id: number, start: Time, end: Time, agent = 'Agent 2') =>
  `KERNEL_DISPATCH,${agent},1,${id},copy,${start},${end},256,65536`;
const trace = (...rows: string[]) => `${[TRACE, ...rows].join('\n')}\n`;
const oneDispatch = trace(dispatch(1, BEGIN, BEGIN + 5000));
const agents = (count: number, cus: number, xccs: number) =>
  [
    'Node_Id,Logical_Node_Id,Agent_Type,Cu_Count,Simd_Per_Cu,Num_Xcc,Max_Waves_Per_Cu,Max_Engine_Clk_Fcompute,Name,Product_Name',
    ...Array.from(
      { length: count },
      (_, i) => `${i + 2},${i + 2},GPU,${cus},4,${xccs},32,2100,gfx942,AMD Instinct MI300X`,
    ),
    '',
  ].join('\n');

const COUNTERS =
  'Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value';
const counters = (...values: readonly (readonly [string, number])[]) =>
  `${[COUNTERS, ...values.map(([name, value]) => `1,Agent 2,1,500,65536,copy,256,${name},${value}`)].join('\n')}\n`;
const counted = (values: Readonly<Record<string, number>> = {}) =>
  read({
    'agent_info.csv': agents(1, 304, 8),
    'kernel_trace.csv': oneDispatch,
    'counter_collection.csv': counters(...Object.entries({ ...COPY_COUNTERS, ...values })),
  });

const SYSINFO =
  'workload_name,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,hbm_bw,num_xcd';
const MI300X = 'copy,MI300X_A1,gfx942,304,4,32,2100,1300,128,5324.8,8';
const WIDE = 'Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp';
const wide = (columns: Readonly<Record<string, number>> = COPY_COUNTERS) =>
  `${WIDE},${Object.keys(columns).join()}\n0,2,65536,256,copy,${BEGIN},${BEGIN + 5000},${Object.values(columns).join()}\n`;
const workload = (sysinfo: string, files: Readonly<Record<string, string>> = {}) =>
  read({ 'sysinfo.csv': `${SYSINFO}\n${sysinfo}\n`, 'pmc_perf.csv': wide(), ...files });
const roofline = (...hbm: number[]) =>
  `${['device,HBMBw,L2Bw', ...hbm.map((bandwidth, device) => `${device},${bandwidth},15000`)].join('\n')}\n`;

const peak = (document: ProfileDocument, id: string) =>
  document.roofline.ceilings[0].bandwidths.find((roof) => roof.id === id)?.peak;
const bytes = (document: ProfileDocument) =>
  document.kernels[0].roofline.points.find((point) => point.level === 'HBM')?.bytes;
const messages = (document: ProfileDocument, code: string) =>
  document.findings.filter((finding) => finding.code === code).map((finding) => finding.message);
const impossible = (document: ProfileDocument) => messages(document, 'profile/impossible-value');

describe('peaks', () => {
  test('of partitions are those of the package, which is said once', () => {
    const document = read({
      'agent_info.csv': agents(8, 38, 1),
      'kernel_trace.csv': trace(...[2, 3].map((n) => dispatch(n, BEGIN + n, BEGIN + 5000 + n, `Agent ${n}`))),
    });
    expect(messages(document, 'profile/unsure-peak')).toEqual([
      expect.stringMatching(/^Agent 2, Agent 3 are partitions with 1 of the 8 XCCs of AMD Instinct MI300X/),
    ]);
    const whole = read({ 'agent_info.csv': agents(1, 304, 8), 'kernel_trace.csv': oneDispatch });
    expect(codes(whole)).toEqual([]);
  });

  test('of partitions in sysinfo.csv', () => {
    expect(codes(workload('copy,MI300X_A1,gfx942,38,4,32,2100,1300,16,5324.8,1'))).toEqual(['profile/unsure-peak']);
    expect(codes(workload(MI300X))).toEqual([]);
  });

  test('of several devices that differ', () => {
    const differs = workload(MI300X, { 'roofline.csv': roofline(4000, 2000, 4100) });
    expect(messages(differs, 'profile/unsure-peak')).toEqual([expect.stringContaining('from 2000 to 4100 GB/s')]);
    expect(codes(workload(MI300X, { 'roofline.csv': roofline(4000, 4050) }))).toEqual([]);
  });

  test('that were measured and are far below what a kernel reaches', () => {
    const document = workload(MI300X, { 'roofline.csv': roofline(4) });
    expect(impossible(document)).toEqual([expect.stringContaining('of the peak that was measured (roofline.csv)')]);
    expect(impossible(workload(MI300X, { 'roofline.csv': roofline(4000) }))).toEqual([]);
  });
});

describe('sysinfo.csv', () => {
  test.each(['GFX942', 'gfx942:sramecc+:xnack-'])('with the architecture %s', (arch) => {
    const document = workload(MI300X.replace('gfx942', arch));
    expect(document.kernels[0].arch).toBe('gfx942');
    expect(bytes(document)).toEqual({ value: 2 << 20 });
  });

  test('with an architecture that is none', () => {
    const document = workload(MI300X.replace('gfx942', 'MI300'));
    expect(document.kernels[0].arch).toBeNull();
    expect(codes(document)).toContain('profile/bad-sysinfo');
  });

  test.each([
    ['a clock in GHz', '2100', '2.1', 'LDS'],
    ['a bandwidth in TB/s', '5324.8', '5.3', 'HBM'],
    ['a bandwidth in MB/s', '5324.8', '5324800', 'HBM'],
  ])('with %s', (_, from, to, roof) => {
    const document = workload(MI300X.replace(from, to));
    expect(codes(document)).toEqual(['profile/bad-sysinfo']);
    // The data sheet knows the HBM, and nothing the clock.
    if (roof === 'HBM') expect(peak(document, roof)).toEqual({ value: 5300 });
    else expect(peak(document, roof)).toHaveProperty('unknown');
  });

  test('of two machines: all facts are of the first', () => {
    const document = workload(`${MI300X}\ncopy,MI210,gfx90a,104,4,32,1700,1600,32,1638.4,1`);
    expect(codes(document)).toEqual(['profile/bad-sysinfo']);
    expect(document.agents).toMatchObject([{ name: 'MI300X_A1', arch: 'gfx942', cuCount: 304, xccCount: 8 }]);
  });
});

describe('counters', () => {
  test('that agree with the launch and each other', () => {
    const document = counted();
    expect(codes(document)).toEqual([]);
    expect(bytes(document)).toEqual({ value: 2 << 20 });
  });

  test.each([
    [
      'are all zero, as without permission',
      Object.fromEntries(Object.keys(COPY_COUNTERS).map((name) => [name, 0])),
      /^Of copy, 0 waves/,
    ],
    ['are of one XCC of eight', { SQ_WAVES: 128 }, /128 waves were counted and 1024 launched/],
    ['are of more waves than were launched', { SQ_WAVES: 8192 }, /8192 waves were counted and 1024 launched/],
    [
      'count more short reads than reads',
      { TCC_EA0_RDREQ_32B_sum: 20000 },
      /TCC_EA0_RDREQ_32B and TCC_BUBBLE count 28192/,
    ],
    ['count more long writes than writes', { TCC_EA0_WRREQ_64B_sum: 99999 }, /TCC_EA0_WRREQ_64B count 99999/],
  ])('that %s', (_, values, message) => {
    expect(impossible(counted(values))).toContainEqual(expect.stringMatching(message));
  });

  test('with a row for each XCC are added up, but not what is derived', () => {
    const rows = Object.entries(COPY_COUNTERS).flatMap(([name, value]) =>
      Array.from({ length: 8 }, (_, xcc) => [name, value / 8 + (value === 0 ? 0 : xcc - 3.5)] as const),
    );
    const document = read({
      'agent_info.csv': agents(1, 304, 8),
      'kernel_trace.csv': oneDispatch,
      'counter_collection.csv': counters(...rows, ['MeanOccupancyPerCU', 12], ['MeanOccupancyPerCU', 12]),
    });
    expect(bytes(document)).toEqual({ value: 2 << 20 });
    expect(document.kernels[0].counters).toMatchObject({ SQ_WAVES: { sum: 1024 }, MeanOccupancyPerCU: { sum: 12 } });
    expect(codes(document)).toContain('profile/counter-instances');
  });

  test('of which an XCC is missing in one dispatch say so', () => {
    const rows = [...Array(8).keys()].map((xcc) => ['SQ_WAVES', 100 + xcc] as const);
    const text =
      counters(...rows) +
      counters(...rows.slice(1))
        .slice(COUNTERS.length + 1)
        .replaceAll(/^1,/gm, '2,');
    expect(codes(read({ 'counter_collection.csv': text }))).toContain('profile/bad-record');
  });

  test('of some channels of the L2', () => {
    const channels = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`TCC_HIT[${i}]`, 64]));
    const document = workload(MI300X, { 'pmc_perf.csv': wide({ ...COPY_COUNTERS, ...channels }) });
    expect(messages(document, 'profile/uneven-counters')).toEqual([
      expect.stringContaining('TCC_HIT has 16 channels here, and the L2 of the GPU has 128'),
    ]);
  });

  test('streamed while a kernel runs are no part of its counters', () => {
    const document = read({
      'results.db': (path) => {
        writeRocpd(path, 3, '');
        writeDatabase(path, [
          'ALTER TABLE rocpd_pmc_event ADD COLUMN sample_id INTEGER',
          'INSERT INTO rocpd_pmc_event (event_id, pmc_id, value, sample_id) SELECT event_id, pmc_id, 999, 1 FROM rocpd_pmc_event',
        ]);
      },
    });
    const sums = document.kernels.flatMap((kernel) => Object.values(kernel.counters).map(({ sum }) => sum));
    expect(sums).toEqual([1024]);
  });
});

describe('times', () => {
  test('of a double beyond 2^53 are rounded', () => {
    const start = '1700000000123456789.0';
    const document = read({ 'kernel_trace.csv': trace(dispatch(1, start, '1700000000123457789.0')) });
    expect(document.kernels[0].totalNs).toHaveProperty('unknown');
    expect(codes(document)).toEqual(['profile/unusable-time']);
    const small = read({ 'kernel_trace.csv': trace(dispatch(1, `${BEGIN}.0`, `${BEGIN + 5000}.0`)) });
    expect(small.kernels[0].totalNs).toEqual({ value: 5000 });
  });

  test('of a clock that went back', () => {
    const after = [dispatch(2, BEGIN, BEGIN + 2000), dispatch(3, BEGIN + 4000, BEGIN + 5000)];
    const document = read({ 'kernel_trace.csv': trace(dispatch(1, BEGIN + 1e9, BEGIN + 1e9 + 5000), ...after) });
    expect(codes(document)).toEqual(['profile/clock-back']);
    expect(document.answer.idleNs).toHaveProperty('unknown');
    expect(document.answer.changes).toEqual([]);
    // Some profilers number dispatches out of order.
    const swapped = read({ 'kernel_trace.csv': trace(dispatch(1, BEGIN + 9000, BEGIN + 9500), ...after) });
    expect(codes(swapped)).toEqual([]);
  });
});

describe('a dispatch that is too long to be true', () => {
  const HOURS = 25 * 3600e9;
  const others = [dispatch(2, BEGIN + 9000, BEGIN + 9500), dispatch(3, BEGIN + 10_000, BEGIN + 11_000)];

  test('runs over later ones of its queue', () => {
    const document = read({ 'kernel_trace.csv': trace(dispatch(1, BEGIN, BEGIN + HOURS), ...others) });
    expect(impossible(document)).toEqual([
      'Of copy, dispatch 1 takes 9.00e+4 s, and 2 later ones of its queue begin and end in that time.',
    ]);
  });

  test('is none without later ones in it, or when they are of another queue', () => {
    const after = dispatch(2, BEGIN + HOURS + 10, BEGIN + HOURS + 20);
    expect(impossible(read({ 'kernel_trace.csv': trace(dispatch(1, BEGIN, BEGIN + HOURS), after) }))).toEqual([]);
    const elsewhere = others.map((row) => row.replace('Agent 2,1,', 'Agent 2,2,'));
    expect(impossible(read({ 'kernel_trace.csv': trace(dispatch(1, BEGIN, BEGIN + HOURS), ...elsewhere) }))).toEqual(
      [],
    );
  });
});

describe('a product of another architecture', () => {
  test('in sysinfo.csv', () => {
    const document = workload('copy,MI300X,gfx90a,104,4,32,1700,1600,32,1638.4,1');
    expect(messages(document, 'profile/agent-conflict')).toEqual([
      expect.stringContaining('is called MI300X, which is gfx942, and recorded as gfx90a'),
    ]);
    expect(messages(workload('copy,MI210,gfx90a,104,4,32,1700,1600,32,1638.4,1'), 'profile/agent-conflict')).toEqual(
      [],
    );
  });

  test('in agent_info.csv, whose data sheet is no peak then', () => {
    const described = (arch: string) =>
      read({ 'agent_info.csv': agents(1, 304, 8).replace('gfx942', arch), 'kernel_trace.csv': oneDispatch });
    expect(codes(described('gfx90a'))).toEqual(['profile/agent-conflict']);
    expect(peak(described('gfx90a'), 'HBM')).toHaveProperty('unknown');
    expect(peak(described('gfx942'), 'HBM')).toEqual({ value: 5300 });
  });
});

test('statistics of kernels alone are no API calls', () => {
  const document = read({
    '500_kernel_stats.csv':
      'Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs,StdDev\n"copy(int*)",7,7000,1000,100,1000,1000,0\n',
    '500_hip_api_stats.csv':
      'Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs,StdDev\nhipMalloc,3,300,100,100,100,100,0\n',
  });
  expect(messages(document, 'profile/no-dispatches')).toEqual([
    'Of kernels nothing was read: API calls and markers 3, copies 0, dispatches 0. The statistics files have sums of work, 7 times in all, and nothing of single dispatches.',
  ]);
  expect(document.calls.map(({ domain, calls }) => [domain, calls])).toEqual([
    ['kernel (stats)', 7],
    ['hip_api (stats)', 3],
  ]);
});

describe('files', () => {
  test('of rocprof 2: kernels and copies beside calls', () => {
    const document = read({
      'hip_api_trace.csv': `Domain,Function,Start_Timestamp,End_Timestamp,Correlation_ID\n\nHIP_API,hipMalloc,${BEGIN},${BEGIN + 100},1\n`,
      'hip_ops_trace.csv':
        'Domain,Operation,Kernel_Name,Start_Timestamp,Stop_Timestamp,Correlation_ID\n\n' +
        `HIP_OPS,KernelExecution,"copy(int*)",${BEGIN + 200},${BEGIN + 900},2\nHIP_OPS,CopyHostToDevice,,${BEGIN + 1000},${BEGIN + 1300},3\n`,
      'hsa_ops_trace.csv': `Domain,Operation,Start_Timestamp,Stop_Timestamp,Correlation_ID\n\nHSA_OPS,Copy,${BEGIN + 2000},${BEGIN + 2500},4\n`,
    });
    expect(document.kernels).toMatchObject([{ name: 'copy(int*)', calls: 1, totalNs: { value: 700 } }]);
    // Both files tell the copies of a run.
    expect(document.copies).toMatchObject([{ direction: 'CopyHostToDevice', totalNs: { value: 300 } }]);
    expect(codes(document)).toEqual(['profile/duplicate-dispatch']);
    expect(document.calls).toMatchObject([{ name: 'hipMalloc', calls: 1 }]);
  });

  test.each([
    ['500_results.pftrace', '\n\u0014\b\u0001P'],
    ['trace.otf2', 'OTF2'],
    ['results.json', '{ "traceEvents":[{}\n]}'],
  ])('%s is told by name where nothing else of its run is read', (name, content) => {
    expect(() => read({ [name]: content })).toThrow(/The file is an? .*, which is not read/);
    const other = read({ 'csv/kernel_trace.csv': oneDispatch, [`other/${name}`]: content });
    expect(codes(other)).toEqual(['profile/other-format']);
    expect(codes(read({ 'kernel_trace.csv': oneDispatch, [name]: content }))).toEqual([]);
  });
});
