// The metrics computed from counters, per architecture, as data: formula, unit, source. Names without the `_sum` suffix
// match both forms. `$cu`, `$xcc`, `$simd`, `$l2` are the agent's counts of CUs, XCCs, SIMDs per CU and L2 channels.

import { namesOf, parseExpression } from './expression.ts';

export interface MetricFormula {
  readonly id: string;
  readonly label: string;
  readonly unit: 'FLOP' | 'OP' | 'bytes' | 'count' | 'fraction' | 'ratio' | 'waves' | 'lanes' | 'cycles';
  /** Adds up over dispatches (bytes) or is a weighted mean of numerator and denominator (fractions). */
  readonly formula: string;
  /** For fractions: the denominator, so that sums over dispatches are weighted correctly. */
  readonly over?: string;
  /** A counter that proves the value to be zero when it is zero itself (no MFMA at all: no MFMA FLOPs of any type). */
  readonly zeroWhen?: string;
  readonly source: string;
  /** False where it is read if it was collected, and not worth a pass of its own. */
  readonly isAsked?: false;
}

const ROOFLINE = 'rocprofiler-compute src/utils/roofline_calc.py calc_ai';

/** Cycles of all compute units: GRBM_GUI_ACTIVE adds up over the XCCs. */
const CU_CYCLES = 'GRBM_GUI_ACTIVE / $xcc * $cu';

/** L1 reads whole lines from L2; it writes at most 64 bytes at once. */
function l2Bytes(readBytes: number): MetricFormula {
  return {
    id: 'bytes.l2',
    label: 'L2 bytes',
    unit: 'bytes',
    formula: `${readBytes} * TCP_TCC_READ_REQ + 64 * (TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ)`,
    source: `${ROOFLINE}; a read request is one L1 line of ${readBytes} bytes`,
  };
}

function l1Bytes(lineBytes: number): MetricFormula {
  return {
    id: 'bytes.l1',
    label: 'L1 bytes',
    unit: 'bytes',
    formula: `${lineBytes} * TCP_TOTAL_CACHE_ACCESSES`,
    source: `rocprofiler-compute 0200_system_speed_of_light.yaml: lines of ${lineBytes} bytes`,
  };
}

/** Share of the cycles in which a class of instructions issues. SQ counts in quad-cycles, and a CU has four SIMDs. */
function issue(id: string, label: string, counter: string): MetricFormula {
  return {
    id: `issue.${id}`,
    label: `Issue utilisation: ${label}`,
    unit: 'fraction',
    formula: counter,
    over: CU_CYCLES,
    source: 'counter_defs.yaml (VALUBusy, SALUBusy)',
  };
}

/** Share of the cycles in which no workgroup starts because a resource of the CUs is full. */
function spi(id: string, label: string, counter: string): MetricFormula {
  return {
    id: `limit.${id}`,
    label: `Workgroups wait for ${label}`,
    unit: 'fraction',
    formula: `4 * ${counter}`,
    over: CU_CYCLES,
    source: 'rocprofiler-compute 0600_workgroup_manager.yaml',
  };
}

function valu(type: 'F16' | 'F32' | 'F64'): MetricFormula {
  const c = (kind: string) => `SQ_INSTS_VALU_${kind}_${type}`;
  return {
    id: `flops.valu.${type.toLowerCase()}`,
    label: `VALU ${type} FLOPs`,
    unit: 'FLOP',
    formula: `64 * (${c('ADD')} + ${c('MUL')} + ${c('TRANS')} + 2 * ${c('FMA')})`,
    source: `${ROOFLINE}; counts a packed instruction once, as the counters do`,
  };
}

function mfma(type: string): MetricFormula {
  return {
    id: `flops.mfma.${type.toLowerCase()}`,
    label: `MFMA ${type} ${type === 'I8' ? 'operations' : 'FLOPs'}`,
    unit: type === 'I8' ? 'OP' : 'FLOP',
    formula: `512 * SQ_INSTS_VALU_MFMA_MOPS_${type}`,
    zeroWhen: 'SQ_INSTS_MFMA',
    source: ROOFLINE,
  };
}

/** Operations by type: counted from gfx90a on. */
const OPERATIONS: readonly MetricFormula[] = [
  valu('F16'),
  valu('F32'),
  valu('F64'),
  mfma('F16'),
  mfma('BF16'),
  mfma('F32'),
  mfma('F64'),
  mfma('I8'),
  {
    id: 'ops.valu.int',
    label: 'VALU integer operations',
    unit: 'OP',
    formula: '64 * (SQ_INSTS_VALU_INT32 + SQ_INSTS_VALU_INT64)',
    source: 'rocprofiler-compute 1000_compute_units_instruction_mix.yaml',
  },
  {
    id: 'mfma.busy',
    label: 'Cycles in which the matrix units are busy',
    unit: 'fraction',
    formula: 'SQ_VALU_MFMA_BUSY_CYCLES',
    over: `${CU_CYCLES} * $simd`,
    source: 'counter_defs.yaml (MfmaUtil)',
  },
];

const COMMON: readonly MetricFormula[] = [
  {
    id: 'bytes.lds',
    label: 'LDS bytes',
    unit: 'bytes',
    formula: '(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) * 4 * 32',
    source: `${ROOFLINE}: 32 banks of 4 bytes in every conflict-free cycle`,
  },
  {
    id: 'bytes.l2.write',
    label: 'Bytes written to L2',
    unit: 'bytes',
    formula: '64 * TCP_TCC_WRITE_REQ',
    source: 'counter_defs.yaml: requests of up to 64 bytes from L1, which is written through',
  },
  {
    id: 'bytes.l2.writeback',
    label: 'Bytes of lines that L2 wrote back',
    unit: 'bytes',
    formula: '128 * (TCC_NORMAL_WRITEBACK + TCC_ALL_TC_OP_WB_WRITEBACK)',
    source: 'counter_defs.yaml: lines of 128 bytes, evicted or written back by a release',
  },
  { id: 'waves', label: 'Waves', unit: 'count', formula: 'SQ_WAVES', source: 'rocprofiler-sdk counter_defs.yaml' },
  {
    id: 'insts.valu',
    label: 'VALU instructions',
    unit: 'count',
    formula: 'SQ_INSTS_VALU',
    source: 'counter_defs.yaml',
  },
  {
    id: 'insts.salu',
    label: 'SALU instructions',
    unit: 'count',
    formula: 'SQ_INSTS_SALU',
    source: 'counter_defs.yaml',
  },
  {
    id: 'insts.smem',
    label: 'SMEM instructions',
    unit: 'count',
    formula: 'SQ_INSTS_SMEM',
    source: 'counter_defs.yaml',
  },
  {
    id: 'insts.vmem',
    label: 'VMEM instructions',
    unit: 'count',
    formula: 'SQ_INSTS_VMEM',
    source: 'counter_defs.yaml',
  },
  { id: 'insts.lds', label: 'LDS instructions', unit: 'count', formula: 'SQ_INSTS_LDS', source: 'counter_defs.yaml' },
  { id: 'insts.branch', label: 'Branches', unit: 'count', formula: 'SQ_INSTS_BRANCH', source: 'counter_defs.yaml' },
  {
    id: 'lds.conflicts',
    label: 'LDS bank conflict cycles per access cycle',
    unit: 'fraction',
    formula: 'SQ_LDS_BANK_CONFLICT',
    over: 'SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT',
    source: 'rocprofiler-compute 1200_lds.yaml (Bank Conflicts/Access)',
  },
  {
    id: 'l2.hit',
    label: 'L2 hit rate',
    unit: 'fraction',
    formula: 'TCC_HIT',
    over: 'TCC_HIT + TCC_MISS',
    source: 'rocprofiler-compute 1700_l2_cache.yaml',
  },
  {
    id: 'l2.busy',
    label: 'Requests per L2 channel and cycle',
    unit: 'fraction',
    formula: 'TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ',
    over: 'GRBM_GUI_ACTIVE / $xcc * $l2',
    source: 'AMD CDNA3 white paper: a channel reads a line or writes 64 bytes a cycle',
  },
  {
    id: 'lanes.active',
    label: 'Active lanes per VALU instruction',
    unit: 'lanes',
    formula: 'SQ_THREAD_CYCLES_VALU',
    over: 'SQ_ACTIVE_INST_VALU',
    source: 'counter_defs.yaml (AvgNumActiveThreads)',
  },
  {
    id: 'wait.any',
    label: 'Wave time spent waiting',
    unit: 'fraction',
    formula: 'SQ_WAIT_ANY',
    over: 'SQ_WAVE_CYCLES',
    source: 'rocprofiler-compute 0700_wavefront_launch.yaml (Dependency Wait Cycles / Wave Cycles)',
  },
  {
    id: 'wait.issue',
    label: 'Wave time spent waiting to issue',
    unit: 'fraction',
    formula: 'SQ_WAIT_INST_ANY',
    over: 'SQ_WAVE_CYCLES',
    source: 'rocprofiler-compute 0700_wavefront_launch.yaml (Issue Wait Cycles / Wave Cycles)',
  },
  {
    id: 'icache.miss',
    label: 'Instruction cache misses per request',
    unit: 'fraction',
    formula: 'SQC_ICACHE_MISSES',
    over: 'SQC_ICACHE_REQ',
    source: 'rocprofiler-compute 1300_instruction_cache.yaml',
  },
  {
    id: 'icache.interval',
    label: 'Cycles of a compute unit per instruction cache miss',
    unit: 'cycles',
    formula: CU_CYCLES,
    over: 'SQC_ICACHE_MISSES',
    source: 'rocprofiler-compute 1300_instruction_cache.yaml',
  },
  {
    id: 'sq.busy',
    label: 'Cycles in which shader engines have waves',
    unit: 'fraction',
    formula: 'SQ_BUSY_CYCLES',
    over: 'SQ_CYCLES',
    source: 'counter_defs.yaml (SQ_BUSY_CYCLES, SQ_CYCLES): both are summed over the shader engines',
    isAsked: false,
  },
  {
    id: 'waves.resident',
    label: 'Resident waves per CU (mean)',
    unit: 'waves',
    formula: 'SQ_LEVEL_WAVES:SQ_ACCUM_PREV_HIRES',
    over: 'SQ_LEVEL_WAVES:GRBM_GUI_ACTIVE / $xcc * $cu',
    source: 'rocprofiler-compute: wave occupancy = SQ_ACCUM_PREV_HIRES / GRBM_GUI_ACTIVE_PER_XCD, here per CU',
  },
  {
    id: 'waves.resident.derived',
    label: 'Resident waves per CU (mean, as rocprofv3 derives it)',
    unit: 'waves',
    formula: 'MeanOccupancyPerCU',
    over: '1',
    source: 'counter_defs.yaml (MeanOccupancyPerCU: accumulated SQ_LEVEL_WAVES)',
  },
  {
    id: 'waves.resident.cycles',
    label: 'Resident waves per CU (mean, from the cycles of waves)',
    unit: 'waves',
    formula: '4 * SQ_WAVE_CYCLES',
    over: CU_CYCLES,
    source: 'counter_defs.yaml (OccupancyPercent)',
  },
  {
    id: 'l1.hit',
    label: 'L1 hit rate',
    unit: 'fraction',
    formula:
      'TCP_TOTAL_CACHE_ACCESSES - TCP_TCC_READ_REQ - TCP_TCC_WRITE_REQ - TCP_TCC_ATOMIC_WITH_RET_REQ - TCP_TCC_ATOMIC_WITHOUT_RET_REQ',
    over: 'TCP_TOTAL_CACHE_ACCESSES',
    source: 'rocprofiler-compute 0200_system_speed_of_light.yaml (vL1D Cache Hit Rate)',
  },
  {
    id: 'l1.miss',
    label: 'L1 accesses that go to L2',
    unit: 'fraction',
    formula: 'TCP_TCC_READ_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ',
    over: 'TCP_TOTAL_CACHE_ACCESSES',
    source: 'rocprofiler-compute 1600_vector_l1_data_cache.yaml',
  },
  {
    id: 'share.atomic',
    label: 'Atomics in the requests to L2',
    unit: 'fraction',
    formula: 'TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ',
    over: 'TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ',
    source: 'counter_defs.yaml',
  },
  {
    id: 'share.atomic.awaited',
    label: 'Atomics in the requests to L2 that are answered',
    unit: 'fraction',
    formula: 'TCP_TCC_ATOMIC_WITH_RET_REQ',
    over: 'TCP_TCC_READ_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ',
    source: 'counter_defs.yaml: loads and atomics with a result; nothing waits for the answer of a store',
  },
  {
    id: 'atomics.per-cycle',
    label: 'Atomics of the GPU per cycle',
    unit: 'ratio',
    formula: 'TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ',
    over: 'GRBM_GUI_ACTIVE / $xcc',
    source: 'counter_defs.yaml',
  },
  {
    id: 'vmem.latency',
    label: 'Cycles of a vector memory instruction (mean)',
    unit: 'cycles',
    formula: 'SQ_INST_LEVEL_VMEM:SQ_ACCUM_PREV_HIRES',
    over: 'SQ_INST_LEVEL_VMEM:SQ_INSTS_VMEM',
    source: 'rocprofiler-compute 0700_wavefront_launch.yaml and 1500_address_processing_unit.yaml (VMEM latency)',
  },
  {
    id: 'vmem.latency.derived',
    label: 'Cycles of a vector memory instruction (mean, as rocprofv3 derives it)',
    unit: 'cycles',
    formula: 'VmemLatency',
    over: '1',
    source: 'counter_defs.yaml (VmemLatency: accumulated SQ_INST_LEVEL_VMEM)',
  },
  {
    id: 'dispatch.waves',
    label: 'Waves that start per cycle of an XCC',
    unit: 'ratio',
    formula: 'SQ_WAVES',
    over: 'GRBM_GUI_ACTIVE',
    source: 'mgpusim MI300X_ground_truth_2.csv, empty kernels: a wave takes the dispatcher of an XCC 1.05 cycles',
  },
  {
    id: 'vmem.lines',
    label: 'Lines of L1 per vector memory instruction',
    unit: 'ratio',
    formula: 'TCP_TOTAL_CACHE_ACCESSES',
    over: 'SQ_INSTS_VMEM',
    source: 'rocprofiler-compute 1600_vector_l1_data_cache.yaml',
  },
  {
    id: 'lds.busy',
    label: 'Cycles in which LDS works on indexed accesses',
    unit: 'fraction',
    formula: 'SQ_LDS_IDX_ACTIVE',
    over: CU_CYCLES,
    source: 'rocprofiler-compute 1200_lds.yaml (Utilization)',
  },
  {
    id: 'l2.imbalance',
    label: 'Requests of the busiest L2 channel over the mean',
    unit: 'ratio',
    formula: 'TCC_REQ:BUSIEST',
    over: 'TCC_REQ',
    source: 'rocprof-compute workload folders: per-channel columns',
  },
  {
    id: 'dcache.hit',
    label: 'Scalar data cache hit rate',
    unit: 'fraction',
    formula: 'SQC_DCACHE_HITS',
    over: 'SQC_DCACHE_REQ',
    source: 'rocprofiler-compute 1400_constant_cache.yaml',
  },
  issue('valu', 'VALU', 'SQ_ACTIVE_INST_VALU'),
  issue('salu', 'scalar', 'SQ_ACTIVE_INST_SCA'),
  // Loads and stores of global memory count as FLAT, as AMD's "VMEM Utilization" has it.
  issue('vmem', 'VMEM', 'SQ_ACTIVE_INST_FLAT + SQ_ACTIVE_INST_VMEM'),
  issue('lds', 'LDS', 'SQ_ACTIVE_INST_LDS'),
  spi('waves', 'wave slots', 'SPI_RA_WAVE_SIMD_FULL_CSN'),
  spi('vgprs', 'VGPRs', 'SPI_RA_VGPR_SIMD_FULL_CSN'),
  spi('sgprs', 'SGPRs', 'SPI_RA_SGPR_SIMD_FULL_CSN'),
  spi('lds', 'LDS', 'SPI_RA_LDS_CU_FULL_CSN'),
  spi('barriers', 'barriers', 'SPI_RA_BAR_CU_FULL_CSN'),
  {
    id: 'share.salu',
    label: 'Scalar share of the issued instructions',
    unit: 'fraction',
    formula: 'SQ_INSTS_SALU + SQ_INSTS_SMEM',
    over: 'SQ_INSTS_VALU + SQ_INSTS_SALU + SQ_INSTS_SMEM + SQ_INSTS_VMEM + SQ_INSTS_LDS',
    source: 'counter_defs.yaml',
  },
  {
    id: 'share.branch',
    label: 'Branches per VALU instruction',
    unit: 'fraction',
    formula: 'SQ_INSTS_BRANCH',
    over: 'SQ_INSTS_VALU',
    source: 'counter_defs.yaml',
  },
  {
    id: 'cycles.per-wave',
    label: 'Cycles per wave',
    unit: 'cycles',
    formula: '4 * SQ_WAVE_CYCLES',
    over: 'SQ_WAVES',
    source: 'counter_defs.yaml (SQ_WAVE_CYCLES counts in quad-cycles)',
  },
];

const EA_BYTES: readonly MetricFormula[] = [
  {
    id: 'bytes.hbm.read',
    label: 'HBM bytes read',
    unit: 'bytes',
    formula: '32 * TCC_EA_RDREQ_32B + 64 * (TCC_EA_RDREQ - TCC_EA_RDREQ_32B)',
    source: ROOFLINE,
  },
  {
    id: 'bytes.hbm.write',
    label: 'HBM bytes written',
    unit: 'bytes',
    formula: '64 * TCC_EA_WRREQ_64B + 32 * (TCC_EA_WRREQ - TCC_EA_WRREQ_64B)',
    source: ROOFLINE,
  },
];

/** L2 has lines of 64 bytes before CDNA2. */
const CDNA1_WRITEBACK: MetricFormula = {
  id: 'bytes.l2.writeback',
  label: 'Bytes of lines that L2 wrote back',
  unit: 'bytes',
  formula: '64 * (TCC_NORMAL_WRITEBACK + TCC_ALL_TC_OP_WB_WRITEBACK)',
  source:
    "rocprofiler-compute gfx908/1700_L2_cache.yaml: lines of 64 bytes; AMD's vcopy on MI100 writes 8 MiB back as 131,072 of them",
};

// rocprofiler-sdk derives no occupancy and no latency on gfx908; asking for them would end the run.
const GFX908: readonly MetricFormula[] = [
  ...COMMON.filter(({ id }) => !id.endsWith('.derived')).map((formula) =>
    formula.id === CDNA1_WRITEBACK.id ? CDNA1_WRITEBACK : formula,
  ),
  l2Bytes(64),
  l1Bytes(64),
  ...EA_BYTES,
];

/** L1 asks for 64 bytes, and L2 looks up a line of 128 bytes once for two such requests that come together. */
const CDNA2_L2_BUSY: MetricFormula = {
  id: 'l2.busy',
  label: 'Lines looked up per L2 channel and cycle',
  unit: 'fraction',
  formula: 'TCC_REQ',
  over: 'GRBM_GUI_ACTIVE / $xcc * $l2',
  source:
    "AMD CDNA 2 white paper: a channel reads a line or writes 64 bytes a cycle; AMD's vcopy-MI200: 131,072 requests for 64 bytes are 70,312 reads of L2",
};

const GFX90A: readonly MetricFormula[] = [
  ...OPERATIONS,
  ...COMMON.map((formula) => (formula.id === 'l2.busy' ? CDNA2_L2_BUSY : formula)),
  l2Bytes(64),
  l1Bytes(64),
  ...EA_BYTES,
];

const EA0_WRITES: MetricFormula = {
  id: 'bytes.hbm.write',
  label: 'HBM bytes written',
  unit: 'bytes',
  formula: '64 * TCC_EA0_WRREQ_64B + 32 * (TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B)',
  source: ROOFLINE,
};

const GFX942: readonly MetricFormula[] = [
  ...OPERATIONS,
  mfma('F8'),
  ...COMMON,
  l2Bytes(128),
  l1Bytes(128),
  {
    id: 'bytes.hbm.read',
    label: 'HBM bytes read',
    unit: 'bytes',
    formula: '128 * TCC_BUBBLE + 32 * TCC_EA0_RDREQ_32B + 64 * (TCC_EA0_RDREQ - TCC_BUBBLE - TCC_EA0_RDREQ_32B)',
    source: `${ROOFLINE}: a bubble marks a 128-byte read`,
  },
  EA0_WRITES,
];

const GFX950: readonly MetricFormula[] = [
  ...OPERATIONS,
  mfma('F8'),
  mfma('F6F4'),
  ...COMMON,
  l2Bytes(128),
  l1Bytes(128),
  {
    id: 'bytes.hbm.read',
    label: 'HBM bytes read',
    unit: 'bytes',
    formula: '32 * TCC_EA0_RDREQ_32B + 64 * TCC_EA0_RDREQ_64B + 128 * TCC_EA0_RDREQ_128B',
    source: 'rocprofiler-compute gfx950/1700_l2_cache.yaml; TCC_BUBBLE reads 0 on this chip',
  },
  EA0_WRITES,
];

const SIMULATED = 'Wavesmith virtual GPU: element size times active lanes of every execution';
const requested = (id: string, label: string, kinds: readonly string[], spaces: readonly string[]): MetricFormula => ({
  id,
  label,
  unit: 'bytes',
  formula: spaces.flatMap((space) => kinds.map((kind) => `SIM_BYTES_${space}_${kind}`)).join(' + '),
  source: SIMULATED,
});
const FAR = ['GLOBAL', 'BUFFER', 'FLAT', 'SCALAR'];

/** Metrics of programs on the virtual GPU; one with the id of a measured metric takes its place. */
const SIMULATED_METRICS: readonly MetricFormula[] = [
  ...['F16', 'F32', 'F64'].map(
    (type): MetricFormula => ({
      id: `flops.valu.${type.toLowerCase()}`,
      label: `VALU ${type} FLOPs`,
      unit: 'FLOP',
      formula: `SIM_FLOPS_VALU_${type}`,
      source: 'Wavesmith virtual GPU: operations of the active lanes, packed instructions for both halves',
    }),
  ),
  requested('bytes.requested.read', 'Bytes asked for by loads', ['LOAD'], FAR),
  requested('bytes.requested.write', 'Bytes asked for by stores and atomics', ['STORE', 'ATOMIC'], FAR),
  requested('bytes.requested.lds', 'LDS bytes asked for', ['LOAD', 'STORE', 'ATOMIC'], ['LDS']),
  requested('bytes.requested.scratch', 'Scratch bytes asked for', ['LOAD', 'STORE', 'ATOMIC'], ['SCRATCH']),
  {
    id: 'lanes.active',
    label: 'Active lanes per VALU instruction',
    unit: 'lanes',
    formula: 'SIM_VALU_LANES',
    over: 'SIM_VALU',
    source: 'Wavesmith virtual GPU: lanes in EXEC, matrix products left out',
  },
  {
    id: 'lds.conflicts',
    label: 'LDS bank conflict cycles per access cycle (model)',
    unit: 'fraction',
    formula: 'SIM_LDS_CONFLICT_CYCLES',
    over: 'SIM_LDS_PHASES',
    source:
      'Wavesmith virtual GPU: a model of 32 banks from the addresses (src/device/sim/tools/lds-banks.ts), no counter',
  },
];

/** The metrics of an architecture; `simulated` for programs on the virtual GPU. */
export function metricsOf(arch: string, simulated: boolean): readonly MetricFormula[] {
  const measured = METRICS[arch] ?? [];
  if (!simulated) return measured;
  // What is known exactly goes before what a formula makes of modelled counters.
  const own = new Set(['bytes.lds', ...SIMULATED_METRICS.map((metric) => metric.id)]);
  return [...measured.filter((metric) => !own.has(metric.id)), ...SIMULATED_METRICS];
}

/** Metrics by architecture. */
export const METRICS: Readonly<Record<string, readonly MetricFormula[]>> = {
  gfx908: GFX908,
  gfx90a: GFX90A,
  gfx942: GFX942,
  gfx950: GFX950,
};

/** Counters that a hardware block counts in one pass. Source: rocprofiler-compute mi_gpu_spec.yaml. */
const COUNTERS_PER_PASS: Readonly<Record<string, number>> = {
  SQ: 8,
  TA: 2,
  TD: 2,
  TCP: 4,
  TCC: 4,
  GRBM: 2,
  SPI: 6,
  CPC: 2,
  CPF: 2,
};
/** The scalar caches are counted by SQ. */
const COUNTED_BY: Readonly<Record<string, string>> = { SQC: 'SQ' };

/** What rocprofv3 derives takes counters that its name does not tell: accumulated waves are two of SQ. Source: counter_defs.yaml. */
const DERIVED_FROM: Readonly<Record<string, readonly string[]>> = {
  MeanOccupancyPerCU: ['SQ', 'SQ', 'GRBM'],
  VmemLatency: ['SQ', 'SQ', 'SQ'],
};

/** The counters that `wavesmith profile` asks rocprofv3 for, in the fewest passes that the counters of each hardware block allow. */
export function counterPasses(arch: string): string[][] {
  const asked = new Map<string, readonly string[]>();
  for (const metric of METRICS[arch] ?? []) {
    if (metric.isAsked === false) continue;
    for (const name of countersOf(metric)) {
      // A name with a colon is of a file of rocprof-compute: rocprofv3 has no such counter.
      if (name.startsWith('$') || name.includes(':')) continue;
      const prefix = name.slice(0, name.indexOf('_'));
      const blocks = DERIVED_FROM[name] ?? [COUNTED_BY[prefix] ?? prefix];
      asked.set(/^(TCC|TCP|TA|TD)_/.test(name) ? `${name}_sum` : name, blocks);
    }
  }
  const passes: { readonly names: string[]; readonly used: Map<string, number> }[] = [];
  for (const [name, blocks] of [...asked].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const takes = (used: ReadonlyMap<string, number>, block: string) =>
      (used.get(block) ?? 0) + blocks.filter((one) => one === block).length;
    let pass = passes.find(({ used }) =>
      blocks.every((block) => takes(used, block) <= (COUNTERS_PER_PASS[block] ?? 1)),
    );
    if (pass === undefined) {
      pass = { names: [], used: new Map() };
      passes.push(pass);
    }
    pass.names.push(name);
    for (const block of blocks) pass.used.set(block, (pass.used.get(block) ?? 0) + 1);
  }
  return passes.map((pass) => pass.names);
}

/** The counters a formula needs, in order of appearance. */
export function countersOf(metric: MetricFormula): string[] {
  const names = namesOf(parseExpression(metric.formula));
  if (metric.over !== undefined) namesOf(parseExpression(metric.over), names);
  return [...names];
}
