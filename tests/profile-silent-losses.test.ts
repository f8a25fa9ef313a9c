// Inputs whose numbers were lost or wrong without a word: each is read, or a finding says what is wrong.
import { describe, expect, test } from 'vitest';
import type { ProfileDocument } from '../src/profile/index.ts';
import { codes, profileFolders } from './support/profile-folder.ts';
import { csv, MACHINE, ROW, table, type WorkloadChange, workloadFolder } from './support/workload-folder.ts';

const { read } = profileFolders();

const folder = (change: WorkloadChange = {}): ProfileDocument => workloadFolder(read, change);
const sound = folder();
const messages = (document: ProfileDocument) => document.findings.map(({ message }) => message).join('\n');

test('the folder that everything here is made of is sound', () => {
  expect(codes(sound)).toEqual([]);
  const [{ metrics, roofline }] = sound.kernels;
  expect(metrics['bytes.hbm.read'].value).toEqual({ value: 64 * 65536 });
  expect(metrics['waves.resident'].value).toEqual({ value: 8050000 / 34000 / 104 });
  expect(metrics['vmem.latency'].value).toEqual({ value: 800 });
  expect(roofline.points.map(({ level, isMeasured }) => [level, isMeasured])).toEqual([
    ['HBM', true],
    ['L2', true],
    ['L1', true],
    ['LDS', true],
  ]);
});

describe('columns that a script left out', () => {
  test.each([['Grid_Size'], ['Workgroup_Size'], ['Grid_Size', 'Workgroup_Size', 'Arch_VGPR']])('%s…', (...without) => {
    const document = folder({ without });
    expect(document.kernels[0].metrics['bytes.hbm.read']).toEqual(sound.kernels[0].metrics['bytes.hbm.read']);
    expect(Object.keys(document.kernels[0].counters)).toEqual(Object.keys(sound.kernels[0].counters));
  });
});

test.each(['', 'Unnamed: 0', 'Unnamed: 0.1'])('a column called %j has numbers of rows, and is no counter', (name) => {
  const { counters } = folder({ row: { [name]: '3' } }).kernels[0];
  expect(counters).toEqual(sound.kernels[0].counters);
});

test('names of counters with spaces are the same counters', () => {
  const document = folder({ without: ['SQ_INSTS_VALU'], row: { 'SQ INSTS VALU': ROW.SQ_INSTS_VALU } });
  expect(document.kernels[0].counters).toEqual(sound.kernels[0].counters);
  expect(document.kernels[0].metrics).toEqual(sound.kernels[0].metrics);
});

test.each(['Grid_Size', 'Workgroup_Size'])('%s of 0 is a finding', (column) => {
  expect(messages(folder({ row: { [column]: '0' } }))).toContain('the size 0, which no launch can have');
});

test('channels add up where the cell of their sum is empty', () => {
  const document = folder({ row: { TCC_EA_WRREQ_sum: '', 'TCC_EA_WRREQ[0]': '30000', 'TCC_EA_WRREQ[1]': '35536' } });
  expect(document.kernels[0].counters.TCC_EA_WRREQ_sum).toEqual({ sum: 65536, dispatches: 1 });
});

describe('cells that describe a dispatch', () => {
  test.each(['N/A', 'nan', '', '#REF!', '<NA>'])('a kernel that is called %j is a finding', (name) => {
    const document = read({ 'sysinfo.csv': table(MACHINE), 'pmc_perf.csv': table({ ...ROW, Kernel_Name: name }) });
    expect(codes(document)).toEqual(['profile/unnamed-kernel']);
  });

  const second = (gpu: string) =>
    read({
      'sysinfo.csv': table(MACHINE),
      'pmc_perf.csv': csv([
        Object.keys(ROW),
        Object.values(ROW),
        Object.values({ ...ROW, Dispatch_ID: '1', GPU_ID: gpu, Start_Timestamp: '1100000', End_Timestamp: '1120000' }),
      ]),
    });

  test.each(['2', ' 2 ', '2.0'])('%j is GPU 2', (gpu) => {
    expect(second(gpu).kernels.map(({ calls }) => calls)).toEqual([2]);
    expect(codes(second(gpu))).toEqual([]);
  });

  test.each(['', 'N/A', 'null'])('a GPU that is called %j is taken for the first, and said', (gpu) => {
    expect(second(gpu).kernels.map(({ calls }) => calls)).toEqual([2]);
    expect(codes(second(gpu))).toEqual(['profile/bad-record']);
  });

  test('another GPU is another one', () => {
    expect(second('3').kernels.map(({ calls }) => calls)).toEqual([1, 1]);
  });
});

test('a wave with more scalar registers than there are is a finding', () => {
  expect(messages(folder({ row: { SGPR: '16000000' } }))).toContain('16000000 scalar registers');
});

const LDS_CYCLES = (active: string, conflicts: string): WorkloadChange => ({
  row: { SQ_LDS_IDX_ACTIVE: active, SQ_LDS_BANK_CONFLICT: conflicts },
});

describe('values that contradict each other', () => {
  test.each<[string, WorkloadChange, string]>([
    ['more instructions of a kind than in all', { row: { SQ_INSTS_VALU: '20480000000' } }, 'of SQ_INSTS'],
    ['more hits than requests', { row: { TCC_HIT_sum: '5000000000' } }, 'of TCC_REQ'],
    ['more busy cycles than cycles', { row: { GRBM_GUI_ACTIVE: '34000000' } }, 'of GRBM_COUNT'],
    ['more cycles of waves than fit', { row: { SQ_WAVE_CYCLES: '2000000000000' } }, 'and 32 fit'],
    [
      'levels of waves and their cycles',
      { waves: { SQ_ACCUM_PREV_HIRES: '805000' } },
      'SQ_ACCUM_PREV_HIRES of SQ_LEVEL_WAVES',
    ],
    ['cycles in the pass of a level', { waves: { GRBM_GUI_ACTIVE: '340000' } }, 'of SQ_LEVEL_WAVES:GRBM_COUNT'],
    [
      'instructions that are counted twice',
      { vmem: { SQ_INSTS_VMEM: '20480' } },
      'SQ_INSTS_VMEM is 20480 in the pass of SQ_INST_LEVEL_VMEM and 2048',
    ],
    ['more conflicts than LDS works', LDS_CYCLES('100', '4000'), 'which is part of the 100 of SQ_LDS_IDX_ACTIVE'],
    ['waits to issue beyond the life of waves', { row: { SQ_WAIT_INST_ANY: '9000000' } }, 'of SQ_WAVE_CYCLES'],
    ['more branches than instructions', { row: { SQ_INSTS_BRANCH: '409600' } }, 'of SQ_INSTS'],
    [
      'more hits of code than requests',
      { row: { SQC_ICACHE_HITS: '9000', SQC_ICACHE_REQ: '900' } },
      'of SQC_ICACHE_REQ',
    ],
    ['engines that are busy for longer', { row: { SQ_BUSY_CYCLES: '900000', SQ_CYCLES: '9000' } }, 'of SQ_CYCLES'],
    [
      'room that is missing for longer',
      { row: { SPI_RA_LDS_CU_FULL_CSN: '4294967295' } },
      'Workgroups wait for LDS is',
    ],
    ['cycles that were not counted', { waves: { GRBM_GUI_ACTIVE: '0' } }, 'SQ_LEVEL_WAVES:GRBM_GUI_ACTIVE is 0'],
    [
      'waves that were never there',
      { waves: { SQ_ACCUM_PREV_HIRES: '0', SQ_WAVE_CYCLES: '' } },
      'SQ_LEVEL_WAVES:SQ_ACCUM_PREV_HIRES is 0',
    ],
    [
      'more instructions than can be issued',
      { without: ['SQ_INSTS'], row: { SQ_INSTS_LDS: '4294967295' } },
      '4294967295 of SQ_INSTS_LDS were counted within 20000 ns',
    ],
    ['memory that answers at once', { vmem: { SQ_ACCUM_PREV_HIRES: '0' } }, 'takes 0 cycles'],
    ['memory that answers after the end', { vmem: { SQ_ACCUM_PREV_HIRES: '1638400000000' } }, 'takes 800000000 cycles'],
  ])('%s', (_, change, message) => {
    const document = folder(change);
    expect(codes(document)).toEqual(['profile/impossible-value']);
    expect(messages(document)).toContain(message);
  });

  test('a compute unit with room for hundreds of waves is a finding', () => {
    const document = folder({ machine: { max_waves_per_cu: '320' } });
    expect(codes(document)).toEqual(['profile/odd-machine']);
    expect(messages(document)).toContain('has 320 waves per CU');
  });

  test('a pass whose dispatches have another size is left out', () => {
    const document = folder({ waves: { Grid_Size: '131072' } });
    expect(codes(document)).toEqual(['profile/other-kernel']);
    expect('unknown' in document.kernels[0].metrics['waves.resident'].value).toBe(true);
  });

  test('runs that differ by a few percent are none', () => {
    const document = folder({
      row: { TCC_HIT_sum: '7000', GRBM_GUI_ACTIVE: '50000', SQ_INSTS_SALU: '4100' },
      waves: { SQ_ACCUM_PREV_HIRES: '8200000' },
      vmem: { SQ_INSTS_VMEM: '2100' },
    });
    expect(codes(document)).toEqual([]);
  });
});

describe('measured peaks', () => {
  test('with thousands separators and spaces are the same peaks', () => {
    const document = folder({ roofs: { HBMBw: '1,406.9', L2Bw: ' 4980.6 ' } });
    expect(document.kernels[0].roofline).toEqual(sound.kernels[0].roofline);
    expect(codes(document)).toEqual([]);
  });

  test.each(['N/A', 'nan', '-1406.9', '1406.9 GB/s', '1.406,9'])(
    'that are %j are a finding; the data sheet goes on',
    (HBMBw) => {
      const document = folder({ roofs: { HBMBw } });
      expect(codes(document)).toEqual(['profile/bad-sysinfo']);
      expect(messages(document)).toContain(HBMBw.slice(0, 8));
      expect(document.kernels[0].roofline.points[0].isMeasured).toBe(false);
    },
  );

  test('that were not measured are 0, as AMD writes them', () => {
    expect(codes(folder({ roofs: { LDSBw: '0' } }))).toEqual([]);
  });

  test.each([
    ['L2Bw', '4.98'],
    ['L2Bw', '49806'],
    ['FP64Flops', '2043.8'],
    ['FP64Flops', '204385'],
    ['MFMABF16Flops', '169.5'],
  ])('of no such GPU, as %s %s, are a finding and not used', (name, value) => {
    const document = folder({ roofs: { [name]: value } });
    expect(codes(document)).toEqual(['profile/odd-machine']);
    expect(messages(document)).toContain('the measured peak is not used');
  });

  test('by matrix instructions of the chips before are no roof of kernels that use newer ones', () => {
    // AMD's benchmark measured 616 TFLOP/s for BF16 on an MI355X, whose kernels reach 1,600.
    const machine = { gpu_model: 'MI355X', gpu_arch: 'gfx950', cu_per_gpu: '256', num_xcd: '8', max_sclk: '2400' };
    const measured = { MFMABF16Flops: '616227.75', MFMAF64Flops: '77521.9', FP32Flops: '150419.8' };
    const flops = 1.6e15 * 20e-6;
    const document = read({
      'sysinfo.csv': table({ ...MACHINE, ...machine, max_mclk: '2000', total_l2_chan: '128', num_hbm_channels: '128' }),
      'roofline.csv': table({ device: '0', HBMBw: '6237', ...measured }),
      'pmc_perf.csv': table({
        ...ROW,
        ...Object.fromEntries(
          ['F16', 'F32', 'F64', 'F8', 'F6F4'].map((type) => [`SQ_INSTS_VALU_MFMA_MOPS_${type}`, '0']),
        ),
        ...Object.fromEntries(
          ['ADD', 'MUL', 'TRANS', 'FMA'].flatMap((kind) =>
            ['F16', 'F32', 'F64'].map((type) => [`SQ_INSTS_VALU_${kind}_${type}`, '0']),
          ),
        ),
        SQ_INSTS_VALU_MFMA_MOPS_BF16: String(Math.round(flops / 512)),
      }),
    });
    const [{ roofline }] = document.kernels;
    expect(codes(document)).toEqual([]);
    expect((roofline.computeOfPeak as { value: number }).value).toBeCloseTo(1600 / 2516.6, 2);
    const chip = document.roofline.ceilings.find(({ kind }) => kind === 'chip');
    expect(chip?.rates.find(({ id }) => id === 'bf16-mfma')?.peak).toMatchObject({
      value: expect.closeTo(2516582.4, 0),
    });
  });
});

describe('what L2 wrote back', () => {
  test('is lines of 64 bytes on MI100, whose vcopy wrote 8 MiB', () => {
    const lines = { TCC_NORMAL_WRITEBACK_sum: '86453', TCC_ALL_TC_OP_WB_WRITEBACK_sum: '44619' };
    const of = (gpu_arch: string, gpu_model: string) =>
      read({
        'sysinfo.csv': table({ ...MACHINE, gpu_arch, gpu_model }),
        'pmc_perf.csv': table({ ...ROW, ...lines }),
      }).kernels[0].metrics['bytes.l2.writeback'].value;
    expect(of('gfx908', 'MI100')).toEqual({ value: 8388608 });
    expect(of('gfx90a', 'MI210')).toEqual({ value: 16777216 });
  });
});

describe('why there is nothing to change', () => {
  const counters = { 'pmc_perf.csv': table(ROW) };
  const trace = {
    '1_kernel_trace.csv':
      '"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n"KERNEL_DISPATCH",1,1,1,"copy",1000,9000\n',
  };
  test.each([
    [trace, 'no counters were recorded'],
    [counters, 'give it, as --arch gfx942'],
    [
      { ...counters, 'sysinfo.csv': table({ ...MACHINE, gpu_arch: 'gfx1153', gpu_model: 'RDNA35' }) },
      'counters of gfx1153',
    ],
    [
      {
        'sysinfo.csv': table(MACHINE),
        'pmc_perf.csv': table({ ...ROW, SQ_WAVE_CYCLES: '', Start_Timestamp: '0', End_Timestamp: '0' }),
      },
      'as the times of kernels are: a timestamp is zero',
    ],
  ])('is said', (files, why) => {
    expect(read(files).answer).toMatchObject({ changes: [], whyNoChange: expect.stringContaining(why) });
  });

  test('and null where there is something', () => {
    expect(sound.answer.changes).not.toEqual([]);
    expect(sound.answer.whyNoChange).toBeNull();
  });
});

test('sums that rocprof 1 made of kernels are no API calls', () => {
  const document = read({
    'results.stats.csv':
      '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"copy(int*) [clone .kd]",3,3000,1000,100\n',
    'results.hip_stats.csv': '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"hipMemcpy",4,400,100,100\n',
    'results.copy_stats.csv':
      '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"CopyHostToDevice",2,200,100,100\n',
  });
  expect(document.calls.map(({ domain, calls }) => [domain, calls])).toEqual([
    ['kernel (stats)', 3],
    ['hip_api (stats)', 4],
    ['memory_copy (stats)', 2],
  ]);
  expect(messages(document)).toContain(
    'API calls and markers 4, copies 0, dispatches 0. The statistics files have sums of work, 5 times',
  );
});

describe('agents of one node', () => {
  const agents = (second: string) =>
    read({
      '1_agent_info.csv':
        'Node_Id,Logical_Node_Id,Agent_Type,Cu_Count,Simd_Per_Cu,Num_Xcc,Max_Waves_Per_Cu,Max_Engine_Clk_Fcompute,Name,Product_Name\n' +
        `2,2,GPU,304,4,8,32,2100,gfx942,AMD Instinct MI300X\n${second}\n`,
      '1_kernel_trace.csv':
        '"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n"KERNEL_DISPATCH","Agent 2",1,1,"copy",1000,9000\n',
    });
  test.each([
    '2,3,GPU,104,4,1,32,1700,gfx90a,AMD Instinct MI210',
    ' 2 ,N/A,GPU,104,4,1,32,1700,gfx90a,AMD Instinct MI210',
    '2,2,GPU,228,4,6,32,2100,gfx942,AMD Instinct MI300A',
  ])('%s is a finding', (second) => expect(codes(agents(second))).toEqual(['profile/agent-conflict']));
  test.each([
    '3,3,GPU,104,4,1,32,1700,gfx90a,AMD Instinct MI210',
    '2,2,GPU,304,4,8,32,2100,gfx942,AMD Instinct MI300X',
  ])('%s is none', (second) => expect(codes(agents(second))).toEqual([]));
});

describe('files that are left out', () => {
  const trace = {
    '1_kernel_trace.csv':
      '"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n"KERNEL_DISPATCH",1,1,1,"copy",1000,9000\n',
  };
  const wave = '{"name":"wave","wave":{"cu":1,"id":0,"simd":1,"slot":2,"begin":100,"end":1000,"instructions":[]}}';

  test('waves of a thread trace whose code is missing are said once', () => {
    const document = read({ ...trace, 'ui/se0_sm1_sl2_wv0.json': wave, 'ui/se0_sm1_sl3_wv0.json': wave });
    expect(codes(document)).toEqual(['profile/damaged-file']);
    expect(messages(document)).toContain('2 waves of a thread trace are here, without the code.json');
  });

  test.each([
    ['trace.json', '{"schemaVersion":1,"deviceProperties":[],"traceEvents":[]}', 'a trace of PyTorch'],
    ['wall_clock-7.json', '{"timemory":{"wall_clock":{}}}', 'a table of timemory'],
    ['perfetto-trace-7.proto', '\n\u0010perfetto', 'a Perfetto trace'],
  ])('%s is named in the error', (name, text, what) => {
    expect(() => read({ [name]: text })).toThrow(`${name}: The file is ${what}`);
  });
});

test('Omniperf 1 recorded the name of a workload, and no command', () => {
  const { command: _, ...machine } = MACHINE;
  const document = read({
    'sysinfo.csv': table({ workload_name: 'mixbench', ...machine }),
    'pmc_perf.csv': table(ROW),
  });
  expect(document.answer.command).toBe('mixbench (name of the workload)');
});

test.each(['"copy', '', 'copy,3'])('a row of sums that is cut (%j) is skipped, and said', (cut) => {
  const document = read({
    '1_kernel_stats.csv': `"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"copy",3,3000,1000,100\n\n,\n${cut}\n`,
  });
  expect(codes(document)).toContain('profile/bad-row');
  expect(document.calls.map(({ name, calls }) => [name, calls])).toEqual([['copy', 3]]);
});
