// A sound workload folder of rocprof-compute of one dispatch on an MI210, and what becomes of it when cells or columns are others.
import type { ProfileDocument } from '../../src/profile/index.ts';
import type { profileFolders } from './profile-folder.ts';

export const MACHINE = {
  ...{ command: './copy', gpu_model: 'MI210', gpu_arch: 'gfx90a', cu_per_gpu: '104', simd_per_cu: '4', num_xcd: '1' },
  ...{ max_waves_per_cu: '32', max_sclk: '1700', max_mclk: '1600', total_l2_chan: '32', num_hbm_channels: '32' },
};
/** A table of rows of cells. */
export const csv = (rows: readonly (readonly string[])[]) =>
  rows.map((row) => `${row.map((cell) => (/[",]/.test(cell) ? `"${cell}"` : cell)).join(',')}\n`).join('');
/** A table of one row. */
export const table = (row: Readonly<Record<string, string>>) => csv([Object.keys(row), Object.values(row)]);

/** One dispatch of 1,024 waves, and what it counted. */
export const ROW: Readonly<Record<string, string>> = {
  ...{ Dispatch_ID: '0', Kernel_Name: 'copy', GPU_ID: '2', Grid_Size: '65536', Workgroup_Size: '256' },
  ...{ LDS_Per_Workgroup: '0', Scratch_Per_Workitem: '0', Arch_VGPR: '8', Accum_VGPR: '0', SGPR: '16' },
  ...{ Start_Timestamp: '1000000', End_Timestamp: '1020000', SQ_WAVES: '1024', SQ_INSTS: '40960' },
  ...{ SQ_INSTS_VALU: '20480', SQ_INSTS_SALU: '4096', SQ_INSTS_SMEM: '2048', SQ_INSTS_VMEM: '2048' },
  ...{ SQ_WAVE_CYCLES: '2000000', GRBM_COUNT: '34000', GRBM_GUI_ACTIVE: '34000', TCC_REQ_sum: '20000' },
  ...{ TCC_HIT_sum: '5000', TCC_MISS_sum: '15000', TCC_EA_RDREQ_sum: '65536', TCC_EA_RDREQ_32B_sum: '0' },
  ...{ TCC_EA_WRREQ_sum: '65536', TCC_EA_WRREQ_64B_sum: '65536' },
};
const ROOFS = {
  ...{ device: '0', HBMBw: '1406.9', L2Bw: '4980.6', L1Bw: '9224.0', LDSBw: '20882.4', FP32Flops: '21056.2' },
  ...{ FP64Flops: '20438.5', MFMABF16Flops: '169507.6', MFMAF16Flops: '164857.9' },
};
const LEVEL = { Dispatch_ID: '0', Kernel_Name: 'copy', GPU_ID: '2', Grid_Size: '65536', Workgroup_Size: '256' };
const WAVES = {
  ...LEVEL,
  ...{ GRBM_COUNT: '34000', GRBM_GUI_ACTIVE: '34000', SQ_WAVES: '1024', SQ_WAVE_CYCLES: '2000000' },
  ...{ SQ_LEVEL_WAVES: '0', SQ_ACCUM_PREV_HIRES: '8050000' },
};
const VMEM = { ...LEVEL, SQ_INSTS_VMEM: '2048', SQ_INST_LEVEL_VMEM: '9000', SQ_ACCUM_PREV_HIRES: '1638400' };

/** Cells of the files that are others, and columns of pmc_perf.csv that are missing. */
export interface WorkloadChange {
  readonly row?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  readonly machine?: Readonly<Record<string, string>>;
  readonly roofs?: Readonly<Record<string, string>>;
  readonly waves?: Readonly<Record<string, string>>;
  readonly vmem?: Readonly<Record<string, string>>;
}
/** Writes and reads such a folder; `read` is that of a test file. */
export function workloadFolder(
  read: ReturnType<typeof profileFolders>['read'],
  { row, without = [], machine, roofs, waves, vmem }: WorkloadChange = {},
): ProfileDocument {
  const cells = Object.entries({ ...ROW, ...row }).filter(([name]) => !without.includes(name));
  return read({
    'sysinfo.csv': table({ ...MACHINE, ...machine }),
    'roofline.csv': table({ ...ROOFS, ...roofs }),
    'pmc_perf.csv': table(Object.fromEntries(cells)),
    'SQ_LEVEL_WAVES.csv': table({ ...WAVES, ...waves }),
    'SQ_INST_LEVEL_VMEM.csv': table({ ...VMEM, ...vmem }),
  });
}
