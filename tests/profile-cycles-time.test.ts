// Times by busy cycles: only where no call has a usable time, beside the times and no part of them.
import { describe, expect, test } from 'vitest';
import { run } from '../src/cli/profile.ts';
import { profileFolders } from './support/profile-folder.ts';

const { read, temporary } = profileFolders();
const sysinfo = (clock: number) =>
  `workload_name,command,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_xcd,num_hbm_channels\ncopy,./copy,MI300X,gfx942,304,4,32,${clock},1300,128,8,128\n`;
const HEAD =
  'Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR';
const ROUNDED = ['8.1097E+14', '8.1097E+14'];
const table = (times: readonly (readonly string[])[], counter: string, cycles: readonly number[]) =>
  [
    `${HEAD},Kernel_Name,Start_Timestamp,End_Timestamp,${counter}`,
    ...cycles.map((n, i) => `${i},2,65536,256,0,0,4,4,16,copy,${times[i].join(',')},${n}`),
    '',
  ].join('\n');
const both = [ROUNDED, ROUNDED];
const kernel = (files: Record<string, string>) => read(files).kernels[0];

describe('busy cycles of 8 XCCs at 2,000 MHz', () => {
  const files = {
    'sysinfo.csv': sysinfo(2000),
    'pmc_perf.csv': table(both, 'GRBM_GUI_ACTIVE', [1_600_000, 3_200_000]),
    'SQ_LEVEL_WAVES.csv': table(both, 'GRBM_GUI_ACTIVE', [160_000, 480_000]),
  };

  test('are the mean of the least that passes count, and no time', () => {
    const { cyclesNs, meanNs, totalNs, share, roofline } = kernel(files);
    expect(cyclesNs).toEqual({ value: (1000 * (160_000 + 480_000)) / 2 / 8 / 2000 });
    for (const time of [meanNs, totalNs, share, roofline.gflops]) expect(time).toHaveProperty('unknown');
  });

  test('of GRBM_COUNT, where nothing else is there', () => {
    const pmc = table(both, 'GRBM_COUNT', [160_000, 160_000]);
    expect(kernel({ 'sysinfo.csv': sysinfo(2000), 'pmc_perf.csv': pmc }).cyclesNs).toEqual({ value: 10_000 });
  });

  test('are no estimate without a clock, and beside a measured time', () => {
    expect(kernel({ ...files, 'sysinfo.csv': sysinfo(0) }).cyclesNs).toEqual({
      unknown: 'the engine clock is not recorded',
    });
    const one = [ROUNDED, ['810970000000000', '810970000009000']];
    const timed = kernel({
      'sysinfo.csv': sysinfo(2000),
      'pmc_perf.csv': table(one, 'GRBM_GUI_ACTIVE', [160_000, 480_000]),
    });
    expect(timed.meanNs).toEqual({ value: 9000 });
    expect(timed.cyclesNs).toEqual({ unknown: 'calls have measured times' });
  });

  test('are called an estimate in the text', async () => {
    const text: string[] = [];
    const write = process.stdout.write;
    process.stdout.write = ((piece: string) => text.push(piece) > 0) as typeof process.stdout.write;
    try {
      // The folder that the first test wrote.
      await run([`${temporary}/f0`, '-o', `${temporary}/out`]);
    } finally {
      process.stdout.write = write;
    }
    expect(text.join('')).toContain(
      'about 20.00 µs a call by busy cycles at the highest clock: an estimate, no measured time',
    );
  });
});
