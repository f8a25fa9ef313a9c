// AMD Instinct MI300X (gfx942): 8 XCDs of 38 compute units.
import type { ChipFile } from '../chip.ts';
import { CDNA3_CLASSES } from './cdna3-classes.ts';

const WHITE_PAPER = 'AMD CDNA 3 white paper';
const GPU_SPECS = 'ROCm documentation, accelerator and GPU hardware specifications';
const CHASE = 'MI300X pointer chase by scalar loads (sarchlab/mgpusim MI300X_ground_truth.csv, cache_latency)';
const VECTOR_CHASE = 'gpu-benches and mt4g latency tables of MI300X';
const COPY = 'MI300X device-to-device copies (MI300X_ground_truth.csv, memory_bandwidth)';
const FIRST = 'gfx950 thread trace of a first launch (tinygrad gemm)';
const EMPTY = 'MI300X empty kernels (MI300X_ground_truth_2.csv): slope over workgroups';

export const MI300X: ChipFile = {
  name: 'mi300x',
  product: 'AMD Instinct MI300X',
  target: 'gfx942',
  validation: 'microbenchmarks (FMA chains, LDS, caches, dispatch)',
  numbers: {
    xccs: [8, WHITE_PAPER],
    cusPerXcc: [38, WHITE_PAPER],
    simdsPerCu: [4, WHITE_PAPER],
    wavesPerSimd: [8, 'LLVM AMDGPUUsage, gfx942: 8 waves per SIMD'],
    clockMhz: [2100, GPU_SPECS],
    'issue.interval': [4, 'rocprofiler-compute, pipeline descriptions: one SIMD is looked at a cycle'],
    'issue.branchTaken': [
      20,
      'MI300X FMA chains: a loop turn of 2 packed FMAs and 2 scalar instructions takes 36 cycles',
    ],
    'issue.nextFetch': [
      28,
      'MI300X FMA chains: 4 f64 or packed f16 FMAs (44 bytes) wait 12 cycles more than 2 packed f32 ones (28 bytes), 4 integer ones 8 more',
    ],
    'issue.waveStart': [60, 'gfx950 thread traces: cycles to the first instruction when the code is cached'],
    'l1i.bytes': [65536, WHITE_PAPER],
    'l1i.line': [128, WHITE_PAPER],
    'l1i.miss': [710, `${FIRST}: the first wave issues 770 cycles after its start`],
    'matrix.f64Passes': [8, 'LLVM 22 SISchedule.td'],
    'lds.latency': [52, 'pyhip mem_latency.md (MI308X), mt4g (MI300X)'],
    'lds.wideBanks': [32, 'amd-shark-ai lds_summary.md, gfx942'],
    'lds.extraPass': [2, 'MI300X shared_mem_latency with conflicts: 64 cycles for 32 passes of two halves'],
    'lds.rate': [64, 'rocprofiler-compute, pipeline descriptions: 64 B a cycle and port'],
    'vl1d.bytes': [30720, `${WHITE_PAPER}: 32 KB, less what is in flight (MI300A atax)`],
    'vl1d.line': [128, WHITE_PAPER],
    'vl1d.ways': [60, '4 sets of 64 lines; 256 rows of MI300A atax do not fit with their vectors, 192 do'],
    'vl1d.latency': [110, 'MI300A nbody: 363 cycles a turn, of which 250 are its other instructions; mt4g: 116'],
    'vl1d.rate': [61, 'gpu-benches: 61 B a cycle of 64'],
    'vl1d.tags': [1, 'rocprofiler-compute: one cache line is looked up a cycle'],
    'vl1d.fill': [64, WHITE_PAPER],
    'vl1d.misses': [512, 'MI300A spmv, 32 entries a row: 512 sectors in 728 cycles, one a cycle and the latency of L2'],
    'sl1d.bytes': [16384, WHITE_PAPER],
    'sl1d.line': [64, WHITE_PAPER],
    'sl1d.latency': [46, `${CHASE}: 68 cycles a turn, of which 22 are address arithmetic and issue`],
    'sl1d.missExtra': [
      90,
      `${CHASE}: 176 and 414 cycles, 22 of them arithmetic and issue, against vector loads of 245 and 480`,
    ],
    'l2.bytes': [4194304, WHITE_PAPER],
    'l2.line': [128, WHITE_PAPER],
    'l2.ways': [16, WHITE_PAPER],
    'l2.channels': [16, WHITE_PAPER],
    'l2.interleave': [256, 'CDNA3: 256 B interleave of L2 channels'],
    'l2.latency': [245, VECTOR_CHASE],
    'l2.channelRate': [128, WHITE_PAPER],
    'l2.writeRate': [32, 'no measurement: half of what a channel reads'],
    'l2.loss': [8, 'MI300A vectoradd: 12 MB stay, 25 MB do not'],
    'l2.storeAck': [300, 'no measurement: L2 latency and the way back'],
    'l2.foreignAck': [480, 'no measurement: the way to the memory-side cache, where dies meet'],
    'l2.atomicInterval': [20, 'MI300X atomic_operations: 19.9 cycles per wave operation on one address'],
    'tlb.page': [2097152, 'Linux amdgpu: fragments of 2 MB'],
    'tlb.miss': [930, `${FIRST}: the first loads from two buffers take 1720 cycles, from memory 790`],
    'mall.bytes': [268435456, WHITE_PAPER],
    'mall.loss': [2.5, 'MI300X pointer chase: at 512 MB a tenth is still there; copies of 256 MB: a third (COPY)'],
    'mall.latency': [480, `${CHASE}: 411 to 418 cycles by scalar loads`],
    'mall.readGbps': [3300, `${COPY}: at least 2.8 TB/s each way at 64 MB; reads as on MI300A in proportion`],
    'mall.writeGbps': [2600, `${COPY}: 2.8 and 2.5 TB/s each way at 64 and 128 MB`],
    'hbm.latency': [790, `${CHASE}: 692 to 731 cycles by scalar loads`],
    'hbm.readGbps': [4700, `${COPY}: 4.0 TB/s at 1 GB`],
    'hbm.writeGbps': [3300, `${COPY}: 4.0 TB/s at 1 GB`],
    'dispatch.workgroup': [1, `${EMPTY}: 8.03 cycles per workgroup of a die, one of 8`],
    'dispatch.minimum': [4, 'no measurement'],
    'dispatch.wave': [1.05, `${EMPTY}: 16.9 cycles per workgroup of 16 waves`],
    'launch.eventUs': [5, 'MI300X: less than the floor by as much as on MI300A'],
    'launch.floorUs': [5.6, 'MI300X microbenchmarks: floor of the smallest points'],
    'launch.hostUs': [2.4, 'MI300A: each further launch of a small kernel 2.4 µs'],
    'launch.gapUs': [1.2, 'MI300A: each further launch of a small kernel 2.4 µs, of which it runs about 1.2'],
    'copy.pinnedUs': [10, 'no measurement on this chip; MI300A memcopy'],
    'copy.pinnedGbps': [57.8, 'no measurement on this chip; MI300A memcopy'],
    'copy.stagedBytes': [1048576, 'no measurement on this chip; MI300A memcopy'],
    'copy.stagedUs': [15, 'no measurement on this chip; MI300A memcopy'],
    'copy.stagedGbps': [10, 'no measurement on this chip; MI300A memcopy'],
    'fill.us': [1, 'MI300A atax: two fills and two kernels take 6 µs beside their loops'],
    ...CDNA3_CLASSES,
  },
};
