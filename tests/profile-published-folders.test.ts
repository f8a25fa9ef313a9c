// Layouts that AMD has published workloads in since 2022, with invented numbers: Omniperf 1 and 2, the passes beside their sum, compressed
// files, counters of the native tool beside rocpd databases. Seen in ROCm/omniperf and ROCm/rocm-systems, `tests/workloads`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../src/profile/index.ts';
import { writeRocpd } from './profile-fixtures.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-published-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
let folders = 0;

function read(files: Readonly<Record<string, string | Uint8Array | ((path: string) => void)>>): ProfileDocument {
  const folder = join(temporary, `f${folders++}`);
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    if (typeof content === 'function') content(path);
    else writeFileSync(path, content);
  }
  return analyse(loadProfile([folder]).recording);
}
const codes = (document: ProfileDocument) => [...new Set(document.findings.map((f) => f.code))];

const SYSINFO_1 =
  'workload_name,host_name,host_rocmver,date,gpu_soc,numSE,numCU,numSIMD,waveSize,maxWavesPerCU,L1,L2,sclk,mclk,cur_sclk,cur_mclk,L2Banks,name,hbmBW\n' +
  'mix,host1,5.1.3-66,Wed Sep 28 19:50:13 2022 (),gfx90a,8,104,4,64,32,16,8192,1700,1600,800,1600,32,mi200,1638.4\n';
const COLUMNS_1 =
  'Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,SQ_WAVES,TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B_sum,DispatchNs,BeginNs,EndNs,CompleteNs';
/** A row of Omniperf 1: 100,000 reads of 64 bytes, 50,000 writes of 64, from `begin` on for 10 µs. */
const row1 = (begin: number, length = 10_000, index = 0) =>
  `${index},"fill.kd",0,0,0,7,7,65536,256,512,0,12,24,4160,0x0,0x7f46,1024,100000,0,50000,50000,${begin - 500},${begin},${begin + length},${begin + length + 500}`;
const times1 = (begin: number) =>
  `Index,KernelName,gpu-id,queue-id,grd,wgr,lds,scr,vgpr,sgpr,BeginNs,EndNs\n0,"fill.kd",0,0,65536,256,512,0,12,24,${begin},${begin + 8000}\n`;

describe('Omniperf 1', () => {
  const document = read({
    'sysinfo.csv': SYSINFO_1,
    'pmc_perf.csv': `${COLUMNS_1}\n${row1(14_234_006_575_542)}\n`,
    'timestamps.csv': times1(14_215_000_000_000),
  });
  const [kernel] = document.kernels;

  test('machine and launch', () => {
    expect(document.agents[0]).toMatchObject({ arch: 'gfx90a', cuCount: 104, name: 'mi200' });
    expect(document.info).toMatchObject({ hostname: 'host1', rocm_version: '5.1.3-66', workload_name: 'mix' });
    expect(kernel.launches[0]).toMatchObject({ lds: 512, vgpr: 12, sgpr: 24 });
    expect(codes(document)).toEqual([]);
  });

  test('bytes, the time of the run without counters, the recorded peak', () => {
    expect(kernel.metrics['bytes.hbm.read'].value).toEqual({ value: 100_000 * 64 });
    expect(Object.keys(kernel.counters)).not.toContain('grd');
    expect(kernel.totalNs).toEqual({ value: 8000 });
    const hbm = kernel.roofline.points.find((point) => point.level === 'HBM');
    expect(hbm?.bandwidth).toEqual({ value: 1200 });
    const of = hbm?.ofPeak as { value: number };
    expect(of.value).toBeCloseTo(1200 / 1638.4, 9);
  });
});

describe('rates over the cycles of compute units', () => {
  const columns = COLUMNS_1.replace('SQ_WAVES,', 'SQ_WAVES,GRBM_GUI_ACTIVE,SQ_ACTIVE_INST_VALU,');
  // A GPU of 104 CUs is active for 10,000 cycles, and its VALUs for three quarters of them.
  const row = row1(14_234_006_575_542).replace(',1024,', ',1024,10000,780000,');
  const busy = (sysinfo: string) =>
    read({ 'sysinfo.csv': sysinfo, 'pmc_perf.csv': `${columns}\n${row}\n` }).kernels[0].metrics['issue.valu'].value;

  test('Omniperf 1 recorded no number of XCCs: up to CDNA2 a GPU has one', () => {
    expect(busy(SYSINFO_1)).toEqual({ value: 0.75 });
    expect(busy(SYSINFO_1.replace('gfx90a', 'gfx908'))).toEqual({ value: 0.75 });
  });

  test('from MI300 on it is a matter of the product and its partition', () => {
    expect(busy(SYSINFO_1.replace('gfx90a', 'gfx942'))).toMatchObject({ unknown: expect.stringContaining('$xcc') });
  });
});

describe('Omniperf 2 with rocprof 1', () => {
  const names =
    'Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR';
  const one = (name: string, i: number) => `${i},"${name}",2,65536,256,0,0,8,0,16`;
  const folder = (inPmc: string, inTimes: string) =>
    read({
      'pmc_perf.csv': `${names},wave_size,obj,SQ_WAVES,wave_size_1,obj_1,SQ_INSTS_VALU,Start_Timestamp,End_Timestamp\n${[
        0, 1,
      ]
        .map((i) => `${one(inPmc, i)},64,0x7f5b,1024,64,0x7f64,9000,${1000 + 9000 * i},${5000 + 9000 * i}`)
        .join('\n')}\n`,
      'timestamps.csv': `${names},wave_size,sig,obj,DispatchNs,Start_Timestamp,End_Timestamp,CompleteNs\n${[0, 1]
        .map((i) => `${one(inTimes, i)},64,0x0,0x7f78,${900 + 9000 * i},${1000 + 9000 * i},${5000 + 9000 * i},9999`)
        .join('\n')}\n`,
    });

  test.each([
    ['copy(double*, int) ', 'copy(double*, int) [clone .kd]'],
    ['copy(double*, int) [clone .kd]', 'copy(double*, int) '],
    ['copy(double*, int)', 'copy(double*, int) (.kd)'],
  ])('%j and %j are one kernel', (inPmc, inTimes) => {
    const document = folder(inPmc, inTimes);
    expect(codes(document)).toEqual([]);
    expect(document.kernels).toMatchObject([{ name: 'copy(double*, int)', calls: 2, totalNs: { value: 8000 } }]);
    expect(document.kernels[0].counters.SQ_INSTS_VALU).toEqual({ sum: 18_000, dispatches: 2 });
  });
});

describe('rocprof-compute 3 on another architecture (AMD published gfx1151)', () => {
  const header =
    'GPU_ID,GUID,Correlation_Id,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value';
  // 65,536 work items are 2,048 waves of 32 lanes; the counter has some of other work.
  const folder = (arch: string) =>
    read({
      'sysinfo.csv': `command,gpu_series,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_xcd\r\n./copy,X,X,${arch},32,2,32,2799,1000,8,1\r\n`,
      'results_pmc_perf_0.csv': `${header}\r\n${['SQ_WAVES,2100.0', 'SQ_INSTS_VALU_sum,9000.0']
        .map((counter) => `1,0000-0dc0,1,0,65536,256,0,0,8,0,128,"copy(double*, int)",5000,45000,0,${counter}`)
        .join('\r\n')}\r\n`,
    });

  test('waves of 32 lanes contradict no launch; metrics are unknown, times and counters are there', () => {
    const document = folder('gfx1151');
    expect(codes(document)).toEqual([]);
    expect(document.kernels).toMatchObject([{ arch: 'gfx1151', totalNs: { value: 40_000 }, metrics: {} }]);
    expect(document.kernels[0].counters.SQ_INSTS_VALU_sum).toEqual({ sum: 9000, dispatches: 1 });
    expect(codes(folder('gfx942'))).toEqual(['profile/odd-machine', 'profile/impossible-value']);
  });
});

test('results.csv of rocprof 1, alone', () => {
  const document = read({
    'results.csv': `${COLUMNS_1}\n${row1(9_000_000_000_000_000)}\n${row1(9_000_000_000_020_001, 10_000, 1)}\n`,
  });
  expect(document.kernels[0]).toMatchObject({ name: 'fill', calls: 2, totalNs: { value: 20_000 } });
});

describe('compressed files', () => {
  const plain = { 'sysinfo.csv': SYSINFO_1, 'timestamps.csv': times1(14_215_000_000_000) };
  const pmc = `${COLUMNS_1}\n${row1(14_234_006_575_542)}\n`;

  test('say the same as plain ones, under any name, and beside them count once', () => {
    const bytes = { value: 100_000 * 64 };
    const packed = read({ ...plain, 'pmc_perf.csv.gz': gzipSync(pmc) });
    expect(packed.kernels[0].metrics['bytes.hbm.read'].value).toEqual(bytes);
    const named = read({ ...plain, 'pmc_perf.csv': gzipSync(pmc) });
    expect(named.kernels[0].metrics['bytes.hbm.read'].value).toEqual(bytes);
    const both = read({ ...plain, 'pmc_perf.csv.gz': gzipSync(pmc), 'pmc_perf.csv': pmc });
    expect(both.kernels[0]).toMatchObject({ calls: 1 });
    expect(both.kernels[0].metrics['bytes.hbm.read'].value).toEqual(bytes);
  });

  test.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 40)],
    ['with a wrong sum', (bytes: Buffer) => bytes.map((byte, i) => (i === bytes.length - 5 ? byte ^ 0xff : byte))],
  ])('%s: a finding, and nothing of it is used', (_, damage) => {
    const document = read({ ...plain, 'pmc_perf.csv.gz': damage(gzipSync(pmc)) });
    expect(codes(document)).toContain('profile/damaged-file');
    expect(document.kernels[0].metrics['bytes.hbm.read'].value).toMatchObject({ unknown: expect.anything() });
  });
});

test('the passes beside the file that joins them count once', () => {
  const columns = COLUMNS_1.split(',');
  const cells = row1(14_234_006_575_542).split(',');
  const without = (names: RegExp) => {
    const keep = columns.map((name) => !names.test(name));
    const of = (list: readonly string[]) => list.filter((__, i) => keep[i]).join(',');
    return `${of(columns)}\n${of(cells)}\n`;
  };
  const document = read({
    'sysinfo.csv': SYSINFO_1,
    'pmc_perf.csv': `${COLUMNS_1}\n${row1(14_234_006_575_542)}\n`,
    'pmc_perf_0.csv': without(/^TCC_EA_R/),
    'pmc_perf_1.csv': without(/^TCC_EA_W|SQ_/),
  });
  expect(document.kernels[0]).toMatchObject({ calls: 1 });
  expect(document.kernels[0].metrics.waves.value).toEqual({ value: 1024 });
  expect(document.kernels[0].metrics['bytes.hbm.read'].value).toEqual({ value: 100_000 * 64 });
});

test('rows of a wide file that are there twice count once, with a finding', () => {
  const row = row1(14_234_006_575_542);
  const document = read({ 'sysinfo.csv': SYSINFO_1, 'pmc_perf.csv': `${COLUMNS_1}\n${row}\n${row}\n` });
  expect(document.kernels[0]).toMatchObject({ calls: 1, totalNs: { value: 10_000 } });
  expect(document.kernels[0].metrics['bytes.hbm.read'].value).toEqual({ value: 100_000 * 64 });
  expect(codes(document)).toContain('profile/duplicate-dispatch');
});

describe('counters of the native tool beside databases', () => {
  const header = 'dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value\n';
  const rows = (waves: number) =>
    [1, 2].map((id) => `${id},4,1,0,77,SQ_BUSY_CYCLES,${waves}\n${id},4,1,0,78,SQ_BUSY_CYCLES,${waves}\n`).join('');
  const database = (path: string) => writeRocpd(path, 3);

  test('instances add up, by process; timestamps.csv tells nothing new', () => {
    const document = read({
      'timestamps.csv': times1(1_000_000),
      'out/pmc_1/500_native_counter_collection.csv.gz': gzipSync(header + rows(10)),
      'out/pmc_1/500/500.db': database,
      'out/pmc_1/501_native_counter_collection.csv': header + rows(1000),
      'out/pmc_1/501/501_results.db': (path) => writeRocpd(path, 3, '_0000ddb6_8903_7903_b269_cd8d3745bb8a'),
    });
    expect(document.dispatches.total).toBe(6);
    const busy = document.kernels.map((kernel) => kernel.counters.SQ_BUSY_CYCLES).filter((one) => one !== undefined);
    expect(busy).toEqual([
      { sum: 2020, dispatches: 2 },
      { sum: 2020, dispatches: 2 },
    ]);
  });

  test('without a database of the process: a finding', () => {
    const document = read({
      'out/pmc_1/501_native_counter_collection.csv': header + rows(10),
      'out/pmc_1/500/500.db': database,
    });
    expect(codes(document)).toContain('rocpd/orphan-counters');
  });
});
