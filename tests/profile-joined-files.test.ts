// Files that describe one run, several runs, or one run twice: what belongs together is joined, what does not is kept apart, and nothing
// counts twice. The names of files are those that rocprofv3 and rocprof-compute give them.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../src/profile/index.ts';
import {
  counterCsv,
  kernelTraceCsv,
  rocprofJson,
  writeDatabase,
  writeRocpd,
  writeRocprofCsv,
} from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { temporary, read } = profileFolders();
const counts = ({ dispatches, copies, calls }: ProfileDocument) => ({
  dispatches: dispatches.total,
  copies: copies.reduce((sum, copy) => sum + copy.count, 0),
  calls: calls.reduce((sum, call) => sum + call.calls, 0),
});
const json = (pid: number) => rocprofJson(3).replace('"pid":500', `"pid":${pid}`);
const database = (path: string) => writeRocpd(path, 3);
const once = { dispatches: 3, copies: 1, calls: 1 };
const twice = { dispatches: 6, copies: 2, calls: 2 };

describe('two processes in one folder are two', () => {
  test.each([
    ['JSON', { '500_results.json': json(500), '501_results.json': json(501) }],
    ['rocpd', { '100_results.db': database, '101_results.db': database }],
  ])('%s', (_, files) => {
    expect(counts(read(files))).toEqual(twice);
  });

  test('CSV named by rank', () => {
    const document = read({
      'rank0_kernel_trace.csv': kernelTraceCsv(3),
      'rank1_kernel_trace.csv': kernelTraceCsv(3).replaceAll('15500000000', '15500000001'),
    });
    expect(document.dispatches.total).toBe(6);
    expect(document.findings).toEqual([]);
  });
});

describe('passes of one program are one run', () => {
  test.each([
    ['JSON', { 'pmc_1/500_results.json': json(500), 'pmc_2/501_results.json': json(501) }],
    ['rocpd', { 'pmc_1/100_results.db': database, 'pmc_2/101_results.db': database }],
    ['JSON and rocpd of one run', { 'out_results.json': json(500), 'out_results.db': database }],
  ])('%s', (_, files) => {
    const document = read(files);
    expect(counts(document)).toEqual(once);
    expect(codes(document)).toContain('profile/duplicate-dispatch');
  });

  test('counters of two rocpd passes are of the same dispatch', () => {
    const document = read({
      'pmc_1/100_results.db': database,
      'pmc_2/101_results.db': (path) => {
        database(path);
        writeDatabase(path, [`UPDATE "rocpd_info_pmc_0000ddb5_8903_7903_b269_cd8d3745bb8a" SET name = 'SQ_INSTS'`]);
      },
    });
    const [counters] = document.kernels.map((k) => k.counters).filter((c) => Object.keys(c).length > 0);
    expect(counters).toEqual({ SQ_INSTS: { sum: 1024, dispatches: 1 }, SQ_WAVES: { sum: 1024, dispatches: 1 } });
  });

  test.each([
    ['-o out', 'out_kernel_trace.csv', 'out_counter_collection.csv'],
    ['no prefix', 'kernel_trace.csv', 'counter_collection.csv'],
    ['names that tell nothing', 'a.csv', 'b.csv'],
  ])('trace and counters of one run: %s', (_, trace, counters) => {
    const document = read({ [trace]: kernelTraceCsv(3), [counters]: counterCsv() });
    expect(document.dispatches.total).toBe(3);
    expect(document.kernels.every((k) => k.counters.SQ_WAVES?.sum === 1024)).toBe(true);
  });
});

describe('a dispatch that ran on another GPU in a later pass', () => {
  const other = (document: ProfileDocument) =>
    document.findings.filter((f) => f.code === 'profile/other-gpu').map((f) => f.message);

  test('rocprofv3: its counters are left out, with a finding', () => {
    const first = counterCsv();
    const second = counterCsv().replaceAll('SQ_WAVES', 'SQ_INSTS_VALU').replaceAll('"Agent 2"', '"Agent 5"');
    expect(second).not.toBe(counterCsv().replaceAll('SQ_WAVES', 'SQ_INSTS_VALU'));
    const document = read({ 'pmc_1/1_counter_collection.csv': first, 'pmc_2/2_counter_collection.csv': second });
    expect(document.kernels.every((k) => k.counters.SQ_INSTS_VALU === undefined)).toBe(true);
    expect(document.kernels.every((k) => k.counters.SQ_WAVES !== undefined)).toBe(true);
    expect(other(document)).toEqual([
      'Dispatches ran on Agent 5 here and on Agent 2 in another pass; counters of the other pass are left out.',
    ]);
    const older = read({
      'pmc_1/1_counter_collection.csv': first,
      'pmc_2/2_counter_collection.csv': second.replaceAll('"Agent 5"', '2'),
    });
    expect(other(older)).toEqual([]);
  });

  test('rocprof-compute: one row of three', () => {
    const rows = (gpus: string, counter: string) =>
      [
        `Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,${counter}`,
        ...[...gpus].map(
          (gpu, n) => `${n},${gpu},1024,256,0,0,8,0,16,k,${1000 * n + 5000},${1000 * n + 5500},${10 ** n}`,
        ),
      ].join('\n');
    const document = (second: string) =>
      read({ 'pmc_perf.csv': rows('001', 'SQ_WAVES'), 'SQ_LEVEL_WAVES.csv': rows(second, 'SQ_BUSY_CYCLES') });
    const sums = (d: ProfileDocument) => d.kernels.map((k) => k.counters['SQ_LEVEL_WAVES:SQ_BUSY_CYCLES']?.sum ?? 0);
    expect(sums(document('001')).sort()).toEqual([100, 11]);
    expect(other(document('001'))).toEqual([]);
    expect(sums(document('778')).sort()).toEqual([100, 11]);
    expect(other(document('778'))).toEqual([]);
    expect(sums(document('011')).sort()).toEqual([1, 100]);
    expect(other(document('011'))).toHaveLength(1);
  });
});

describe('rows of a workload folder', () => {
  const rows = (numbers: readonly number[], counter: string, gpu = (_: number) => 0) =>
    [
      `Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,${counter}`,
      ...numbers.map(
        (n, at) =>
          `${n},${gpu(at)},1024,256,0,0,8,0,16,k,${1000 * n + 5000},${1000 * n + 5500},${Array(counter.split(',').length).fill(10 ** n)}`,
      ),
    ].join('\n');
  /** What the second file says of the dispatches of the first one. */
  const matched = (numbers: readonly number[]) => {
    const folder = mkdtempSync(join(temporary, 'r'));
    writeFileSync(join(folder, 'pmc_perf.csv'), rows([0, 1, 2], 'SQ_WAVES'));
    writeFileSync(join(folder, 'SQ_LEVEL_WAVES.csv'), rows(numbers, 'SQ_BUSY_CYCLES'));
    const { counters } = loadProfile([folder]).recording;
    return [...(counters.column('SQ_LEVEL_WAVES:SQ_BUSY_CYCLES')?.sum.subarray(0, 3) ?? [])];
  };
  const missing = (d: ProfileDocument) => d.findings.filter(({ code }) => code === 'profile/missing-rows');
  const folder = (numbers: readonly number[]) =>
    read({ 'pmc_perf.csv': rows([0, 1, 2], 'SQ_WAVES'), 'SQ_LEVEL_WAVES.csv': rows(numbers, 'SQ_BUSY_CYCLES') });

  test('are matched by their numbers where one is missing, and it is said', () => {
    expect(matched([0, 1, 2])).toEqual([1, 10, 100]);
    expect(missing(folder([0, 1, 2]))).toEqual([]);
    expect(matched([0, 2])).toEqual([1, Number.NaN, 100]);
    expect(missing(folder([0, 2]))).toHaveLength(1);
    // The first one: whether this file counts from 1 is not certain.
    expect(missing(folder([1, 2]))).toHaveLength(1);
    // So it is where the files before it do not agree on where to begin.
    expect(
      missing(
        read({
          'timestamps.csv': rows([1, 2, 3], 'X'),
          'pmc_perf.csv': rows([0, 1, 2], 'SQ_WAVES'),
          'SQ_LEVEL_WAVES.csv': rows([1, 2], 'SQ_BUSY_CYCLES'),
        }),
      ),
    ).toHaveLength(1);
    // Files that count from 1 have as many rows.
    expect(matched([1, 2, 3])).toEqual([10, 100, 1000]);
    expect(missing(folder([1, 2, 3]))).toEqual([]);
  });

  test.each([[[2, 1, 0]], [[0, 2, 1]], [[1, 0, 2]]])(
    'of dispatches that ended in another order, %j, are matched by their numbers, too',
    (numbers) => {
      expect(matched(numbers)).toEqual([1, 10, 100]);
      expect(codes(folder(numbers))).toEqual(codes(folder([0, 1, 2])));
      const times = read({ 'timestamps.csv': rows(numbers, 'X'), 'pmc_perf.csv': rows([0, 1, 2], 'SQ_WAVES') });
      expect(times.dispatches.total).toBe(3);
      expect(times.kernels[0]).toMatchObject({ calls: 3, totalNs: { value: 1500 }, critical: { onPath: 3 } });
    },
  );

  test('of a hundred dispatches keep their numbers where two late ones come before', () => {
    const many = Array.from({ length: 100 }, (_, i) => i);
    const late = [...many.slice(0, 70), 72, 73, 70, 71, ...many.slice(74)];
    const path = mkdtempSync(join(temporary, 'm'));
    const file = (numbers: readonly number[], counter: string) =>
      `Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Kernel_Name,Start_Timestamp,End_Timestamp,${counter}\n${numbers
        .map((n) => `${n},0,64,64,0,k${n},${1000 * n + 1},${1000 * n + 9},${n}\n`)
        .join('')}`;
    writeFileSync(join(path, 'pmc_perf.csv'), file(many, 'SQ_WAVES'));
    writeFileSync(join(path, 'SQ_LEVEL_WAVES.csv'), file(late, 'SQ_BUSY_CYCLES'));
    const { recording } = loadProfile([path]);
    expect([...(recording.counters.column('SQ_LEVEL_WAVES:SQ_BUSY_CYCLES')?.sum.subarray(0, 100) ?? [])]).toEqual(many);
    expect(recording.findings).toEqual([]);
  });

  test('of a number that another row has are left out, and it is said', () => {
    expect(matched([0, 1, 1])).toEqual([1, 10, Number.NaN]);
    const second = rows([0, 1, 1], 'SQ_BUSY_CYCLES').replace(/,6000,6500,10$/, ',7000,7500,10');
    const document = read({ 'pmc_perf.csv': rows([0, 1, 2], 'SQ_WAVES'), 'SQ_LEVEL_WAVES.csv': second });
    expect(codes(document)).toContain('profile/bad-row');
  });

  test('of GPUs with numbers of their own are counted', () => {
    const two = read({ 'pmc_perf.csv': rows([0, 1, 0, 1], 'SQ_WAVES', (at) => at >> 1) });
    expect(two.dispatches.total).toBe(4);
    expect(two.kernels.map((k) => k.counters.SQ_WAVES?.sum)).toEqual([11, 11]);
    expect(missing(two)).toEqual([]);
  });

  test('a column twice counts once, and another value in it is said', () => {
    const twice = rows([0, 1], 'SQ_WAVES,SQ_WAVES');
    const sum = (text: string) => read({ 'pmc_perf.csv': text });
    expect(sum(twice).kernels[0].counters.SQ_WAVES?.sum).toBe(11);
    expect(codes(sum(twice))).not.toContain('profile/counter-conflict');
    const other = sum(twice.replace('10,10', '10,30'));
    expect(other.kernels[0].counters.SQ_WAVES?.sum).toBe(11);
    expect(codes(other)).toContain('profile/counter-conflict');
  });
});

test('two folders of one name are two runs of their machines', () => {
  const [a, b] = ['A', 'B'].map((name) => join(temporary, name, 'run'));
  for (const path of [a, b]) writeRocprofCsv(path, 3);
  const agents = join(b, '500_agent_info.csv');
  writeFileSync(agents, readFileSync(agents, 'utf8').replace('304,4,8,32,2100,"gfx942"', '104,4,1,32,1700,"gfx90a"'));
  const document = analyse(loadProfile([a, b]).recording);
  expect(document.dispatches.total).toBe(6);
  expect(document.kernels.map((k) => k.arch).sort()).toEqual([...Array(3).fill('gfx90a'), ...Array(3).fill('gfx942')]);
  expect(codes(document)).toContain('profile/agent-conflict');
});

describe('cells of counters', () => {
  const cell = (text: string) => read({ 'counters.csv': counterCsv().replaceAll(',8192.000000,', `,"${text}",`) });

  test.each(['8,192', '8192', '8.192E+03', '8192.0'])('%s is read', (text) => {
    const document = cell(text);
    expect(document.kernels[0].counters.TCC_BUBBLE_sum).toEqual({ sum: 8192, dispatches: 1 });
    expect(document.findings).toEqual([]);
  });

  test.each(['8.192', '8.192,000000', 'N/A', '-1', '18446744073709551615', "8'192", '0x2000', ' 8192 '])(
    '%s is refused and told',
    (text) => {
      const document = cell(text);
      expect(document.kernels[0].counters.TCC_BUBBLE_sum).toBeUndefined();
      expect(codes(document)).toEqual(['profile/unreadable-counter']);
    },
  );

  test('rows that are there twice count once', () => {
    const document = read({ 'counters.csv': counterCsv() + counterCsv().split('\n').slice(1).join('\n') });
    expect(document.kernels[0].counters.SQ_WAVES).toEqual({ sum: 1024, dispatches: 1 });
    expect(codes(document)).toEqual(['profile/duplicate-dispatch']);
  });
});

describe('rocprof-compute folders with a row for each counter', () => {
  const MI100 =
    'workload_name,command,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_xcd,num_memory_channels\n' +
    'vcopy,./vcopy,MI100,gfx908,120,4,40,1502,1200,32,1,32\n';
  const HEADER =
    'GPU_ID,GUID,Correlation_Id,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value';
  const rows = (gpu: number, first: number, counters: Readonly<Record<string, number>>): string[] =>
    [0, 1].flatMap((i) =>
      Object.entries(counters).map(
        ([name, value]) =>
          `${gpu},0000-0dc0,${i + 1},${first + i},1048576,256,0,0,8,8,16,"vecCopy(double*, int)",${10_000 + 90_000 * i},${34_000 + 90_000 * i},0,${name},${value}.0`,
      ),
    );
  const channels = Object.fromEntries(
    ['RDREQ', 'RDREQ_32B', 'WRREQ', 'WRREQ_64B'].flatMap((name) =>
      Array.from({ length: 32 }, (_, i) => [`TCC_EA_${name}[${i}]`, name === 'RDREQ_32B' ? 0 : 4096]),
    ),
  );
  const uneven = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`TCC_REQ[${i}]`, i === 2 ? 500 : 100]));
  const levels = { SQ_LEVEL_WAVES_ACCUM: 6_000_000, GRBM_GUI_ACTIVE: 50_000, TCC_REQ_sum: 800 };
  const sums = { SQ_WAVES: 16_384, ...levels, ...channels, ...uneven };
  const folder = (lines: readonly string[]) => ({
    'run/sysinfo.csv': MI100,
    'run/pmc_perf.csv': `${[HEADER, ...lines].join('\n')}\n`,
  });
  const metric = (document: ProfileDocument, id: string) => document.kernels[0].metrics[id].value;

  test('channels add up, levels are accumulated, launches are read', () => {
    const document = read(folder(rows(2, 0, sums)));
    expect(document.findings).toEqual([]);
    expect(document.kernels).toMatchObject([
      { arch: 'gfx908', calls: 2, launches: [{ lds: 0, vgpr: 8, agpr: 8, sgpr: 16 }] },
    ]);
    expect(metric(document, 'bytes.hbm.read')).toEqual({ value: 2 * 32 * 4096 * 64 });
    expect(metric(document, 'waves.resident')).toEqual({ value: 1 });
    expect(metric(document, 'l2.imbalance')).toEqual({ value: 2.5 });
  });

  test('counters of a pass with an accumulator are those of the run, in its own file as in the joined one', () => {
    const passes = {
      'results_pmc_perf_0.csv': { SQ_WAVES: 16_384, SQ_INSTS_VMEM: 32_768 },
      'results_pmc_perf_SQ_LEVEL_WAVES_ACCUM.csv': { SQ_LEVEL_WAVES_ACCUM: 6_000_000, GRBM_GUI_ACTIVE: 50_000 },
      'results_pmc_perf_SQ_INST_LEVEL_VMEM_ACCUM.csv': {
        SQ_INST_LEVEL_VMEM_ACCUM: 65_536_000,
        SQ_ACTIVE_INST_VALU: 1_500_000,
      },
    };
    const files = Object.entries(passes).map(([name, counters]) => [name, rows(2, 0, counters)] as const);
    const apart = Object.fromEntries(
      files.map(([name, lines]) => [`run/${name}`, `${[HEADER, ...lines].join('\n')}\n`]),
    );
    const joined = folder(files.flatMap(([, lines]) => lines));
    for (const input of [{ ...apart, 'run/sysinfo.csv': MI100 }, joined, { ...apart, ...joined }]) {
      const document = read(input);
      expect(document.findings).toEqual([]);
      expect(metric(document, 'waves.resident')).toEqual({ value: 1 });
      expect(metric(document, 'vmem.latency')).toEqual({ value: 2000 });
      expect(metric(document, 'issue.valu')).toEqual({ value: 0.25 });
    }
  });

  test('times of dispatches that only a later pass has are not between those of the first', () => {
    const later = (line: string) =>
      line.replace('0000-0dc0', '0000-0dc1').replace(/,(1|10)0000,(3|12)4000,/, ',70$10000,70$24000,');
    const second = rows(2, 0, { GRBM_GUI_ACTIVE: 50_000 }).map(later);
    const document = read({
      'run/sysinfo.csv': MI100,
      'run/results_pmc_perf_0.csv': `${[HEADER, ...rows(2, 0, { SQ_WAVES: 16_384 }).slice(0, 1)].join('\n')}\n`,
      'run/results_pmc_perf_1.csv': `${[HEADER, ...second].join('\n')}\n`,
    });
    expect(second.join()).not.toContain(',10000,');
    expect(document.criticalPath.spanNs).toEqual({ value: 24_000 });
    expect(document.kernels).toMatchObject([{ calls: 2, timed: 1, totalNs: { value: 24_000 } }]);
    expect(codes(document)).toEqual(expect.arrayContaining(['profile/unusable-time', 'profile/untimed-calls']));
  });

  test('two GPUs have kernels of their own; rows twice count once', () => {
    const both = read(folder([...rows(2, 0, sums), ...rows(3, 2, sums)]));
    expect(both.kernels.map((k) => [/GPU 3$/.test(k.agent), k.calls])).toEqual([
      [false, 2],
      [true, 2],
    ]);
    const doubled = read(folder([...rows(2, 0, sums), ...rows(2, 0, sums)]));
    expect(metric(doubled, 'bytes.hbm.read')).toEqual({ value: 2 * 32 * 4096 * 64 });
    expect(codes(doubled)).toEqual(['profile/duplicate-dispatch']);
  });

  test('two folders are two machines', () => {
    const document = read({
      ...folder(rows(2, 0, sums)),
      'other/sysinfo.csv': MI100.replace('MI100,gfx908,120', 'MI210,gfx90a,104'),
      'other/pmc_perf.csv': `${[HEADER, ...rows(2, 0, sums)].join('\n')}\n`,
    });
    expect(document.kernels.map((k) => [k.arch, k.calls]).sort()).toEqual([
      ['gfx908', 2],
      ['gfx90a', 2],
    ]);
  });
});
