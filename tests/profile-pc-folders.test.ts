// Workload folders of rocprof-compute that have PC samples only: a table of dispatches, samples in JSON, and sysinfo.csv, which describes the GPU
// without a number.
import { expect, test } from 'vitest';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();

const SYSINFO =
  'command,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,num_xcd,max_waves_per_cu,max_sclk,max_mclk,total_l2_chan,num_hbm_channels\n' +
  './copy,MI300X_A1,gfx942,304,4,8,32,2100,1300,128,128\n';
const TRACE = [
  '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"',
  ...[1, 2].map(
    (id) =>
      `"KERNEL_DISPATCH","Agent 2",1,0,77,${id},${id + 9},"kernel_${id}",${id},${id}000000,${id}008000,0,0,8,0,16,256,1,1,1048576,1,1`,
  ),
  '',
].join('\n');
const agent = (node: number, gpu: boolean) => ({
  ...{ id: { handle: 100 + node }, node_id: node, logical_node_id: node, type: gpu ? 2 : 1 },
  ...(gpu ? { name: 'gfx942', product_name: 'AMD Instinct MI300X', cu_count: 304, num_xcc: 8 } : { name: 'a CPU' }),
});
const SAMPLES = JSON.stringify({
  'rocprofiler-sdk-tool': [
    {
      metadata: { pid: 77, command: ['./copy'] },
      agents: [agent(0, false), agent(2, true), agent(3, true)],
      strings: { pc_sample_instructions: ['v_add_f32_e32 v0, v1, v2', 's_endpgm'], pc_sample_comments: ['', ''] },
      buffer_records: {
        pc_sample_host_trap: [2, 2, 1].map((dispatch_id, i) => ({
          record: { exec_mask: 1, timestamp: 1, dispatch_id },
          inst_index: i % 2,
        })),
      },
    },
  ],
});

test('samples in JSON are those of the kernels that a table beside them has, on the agents of the JSON', () => {
  const document = read({
    'sysinfo.csv': SYSINFO,
    'ps_file_kernel_trace.csv': TRACE,
    'ps_file_results.json': SAMPLES,
  });
  expect(codes(document)).toEqual([]);
  expect(document.kernels.map(({ name, agent }) => [name, agent])).toEqual([
    ['kernel_1', 'Agent 2'],
    ['kernel_2', 'Agent 2'],
  ]);
  expect(document.samples.map(({ kernel, instruction, samples }) => [kernel, instruction, samples]).sort()).toEqual([
    ['kernel_1', 'v_add_f32_e32 v0, v1, v2', 1],
    ['kernel_2', 's_endpgm', 1],
    ['kernel_2', 'v_add_f32_e32 v0, v1, v2', 1],
  ]);
});

test('the GPU of a workload folder is that of the tables in it, whatever they call it', () => {
  const document = read({ 'sysinfo.csv': SYSINFO, 'ps_file_kernel_trace.csv': TRACE });
  expect(codes(document)).toEqual([]);
  expect(document.kernels[0].arch).toBe('gfx942');
  expect(document.answer.machines).toEqual(['MI300X_A1 (gfx942, 304 CUs)']);
});

test('two GPUs in the tables are not both that of the folder', () => {
  const document = read({
    'sysinfo.csv': SYSINFO,
    'ps_file_kernel_trace.csv': TRACE.replace('"Agent 2",1,0,77,2', '"Agent 3",1,0,77,2'),
  });
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.kernels.map(({ arch }) => arch)).toEqual([null, null]);
});
