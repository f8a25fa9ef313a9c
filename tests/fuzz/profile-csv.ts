// Fuzz target: rocprofv3 and rocprof-compute CSV of every kind, through detection, reading and analysis.

import { WavesmithError } from '../../src/base/index.ts';
import { analyse } from '../../src/profile/analyse.ts';
import { readAttStats } from '../../src/profile/readers/att.ts';
import { readCsvHeader } from '../../src/profile/readers/csv.ts';
import { readMeasuredRoofline, readSysinfo, readWide } from '../../src/profile/readers/rocprof-compute.ts';
import { csvKind, readRocprofCsv } from '../../src/profile/readers/rocprofv3-csv.ts';
import { Recording } from '../../src/profile/recording.ts';
import { counterCsv, kernelTraceCsv } from '../profile-fixtures.ts';
import type { FuzzTarget } from './mutate.ts';

const text = (value: string) => new TextEncoder().encode(value);

const target: FuzzTarget = {
  name: 'profile-csv',
  seeds: () => [
    text(kernelTraceCsv(4)),
    text(counterCsv().split('\n').slice(0, 6).join('\n')),
    text(
      'Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,SQ_WAVES,TCC_REQ[0],TCC_REQ[1]\r\n0,"k(int)",64,64,1,2,3\r\n',
    ),
    text('workload_name,gpu_arch,max_sclk,cu_per_gpu\nw,gfx942,2100,304\n'),
    text('device,HBMBw,L2Bw,FP32Flops\n0,1388.9,5018.2,20941.9\n'),
    text(
      '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"\n1,65535,1,"s_endpgm","",1\n',
    ),
    text('CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n1,4096,"s_nop 0",4,16,0,8,""\n'),
    text(
      '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n"HIP","f",1,1,1,5,9\n',
    ),
  ],
  run(bytes) {
    const source = { path: 'x.csv', size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
    const recording = new Recording();
    const kind = csvKind(readCsvHeader(source));
    if (kind === undefined) throw new WavesmithError('fuzz/other', 'Not a profiler file.');
    if (kind === 'compute-wide') readWide(source, recording);
    else if (kind === 'compute-sysinfo') readSysinfo(source, recording);
    else if (kind === 'compute-roofline') readMeasuredRoofline(source, recording);
    else if (kind === 'att-stats') readAttStats(source, recording);
    else readRocprofCsv(source, kind, recording);
    JSON.stringify(analyse(recording, { arch: 'gfx942' }));
  },
};
export default target;
