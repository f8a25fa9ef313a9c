// Hardware counters of a launch as the model has them: cycles, waits, caches and memory, by the names of rocprofiler-sdk's counter_defs.yaml.
// Counts of instructions are not here: the virtual GPU knows those exactly (device/sim/tools).
import { targetInfo } from '../../../isa/index.ts';
import type { StallReason } from './machine.ts';
import type { LaunchTime } from './model.ts';

/** SQ counts cycles of waves and issue in units of four. */
const QUAD = 4;
/** The model counts cycles of ports, of which each pair of SIMDs has one. The counters count cycles of the whole LDS. */
const LDS_PORTS = 2;
/** What `SQ_WAIT_ANY` counts: waits for counters, barriers and code. `SQ_WAIT_INST_ANY` counts waits for the unit or an operand. */
const WAITS: readonly StallReason[] = ['vmcnt', 'lgkmcnt', 'barrier', 'fetch'];
const ISSUE_WAITS: readonly StallReason[] = ['unit', 'dependency'];

/**
 * Modelled counters of a launch, over the whole chip: the replayed waves' counts times what they stand for. Fractions are kept, for
 * they are estimates. `<NAME>:SQ_ACCUM_PREV_HIRES` is what that counter accumulates after `NAME`, as in rocprof-compute's workload folders.
 */
export function modelledCounters(time: LaunchTime): Record<string, number> {
  const { replay, scale, chip, cycles } = time;
  const { sums, memory, instructions } = replay;
  const { traffic } = memory;
  const waited = (reasons: readonly StallReason[]): number =>
    instructions.reduce((all, t) => all + reasons.reduce((sum, reason) => sum + t.stalls[reason], 0), 0);
  const active = cycles * chip.get('xccs');
  const { block: ea, otherReads } = targetInfo(chip.target).memoryCounters;
  const hits = traffic.l2Hits + traffic.stores - traffic.writes;
  const misses = traffic.l2Misses + traffic.writes;
  const reads = traffic.mallReads + traffic.hbmReads;
  const replayed: Record<string, number> = {
    SQ_WAVE_CYCLES: sums.waveCycles / QUAD,
    SQ_WAIT_ANY: waited(WAITS) / QUAD,
    SQ_WAIT_INST_ANY: waited(ISSUE_WAITS) / QUAD,
    SQ_ACTIVE_INST_VALU: sums.valuCycles / QUAD,
    SQ_ACTIVE_INST_SCA: sums.scalarCycles / QUAD,
    SQ_ACTIVE_INST_VMEM: sums.bufferCycles / QUAD,
    SQ_ACTIVE_INST_FLAT: sums.flatCycles / QUAD,
    SQ_VALU_MFMA_BUSY_CYCLES: sums.matrixCycles,
    SQ_ACTIVE_INST_LDS: sums.ldsIssueCycles / QUAD,
    SQ_LDS_IDX_ACTIVE: sums.ldsCycles / LDS_PORTS,
    SQ_LDS_BANK_CONFLICT: sums.ldsConflictCycles / LDS_PORTS,
    'SQ_INST_LEVEL_VMEM:SQ_ACCUM_PREV_HIRES': sums.vectorMemoryLatency,
    'SQ_INST_LEVEL_VMEM:SQ_INSTS_VMEM': sums.vectorMemory,
    SQC_ICACHE_REQ: sums.fetches,
    SQC_ICACHE_MISSES: sums.fetchMisses,
    SQC_DCACHE_REQ: traffic.scalarHits + traffic.scalarMisses,
    SQC_DCACHE_HITS: traffic.scalarHits,
    TCP_TOTAL_CACHE_ACCESSES: traffic.vl1dLookups,
    TCP_TCC_READ_REQ: traffic.vl1dRequests,
    TCP_TCC_WRITE_REQ: traffic.stores,
    TCP_TCC_ATOMIC_WITH_RET_REQ: traffic.returnedAtomics,
    TCP_TCC_ATOMIC_WITHOUT_RET_REQ: traffic.atomics - traffic.returnedAtomics,
    TCC_HIT: Math.max(0, hits),
    TCC_MISS: misses,
    // Hits and misses are counted by sectors.
    TCC_REQ: traffic.l2Lookups,
    [`${ea}_RDREQ`]: reads,
    [`${ea}_RDREQ_64B`]: reads,
    ...Object.fromEntries(otherReads.map((name) => [name, 0])),
    [`${ea}_WRREQ`]: traffic.writes,
    [`${ea}_WRREQ_64B`]: traffic.writes,
  };
  const whole = Object.entries(replayed).map(([name, value]) => [name, value * scale] as const);
  return { ...Object.fromEntries(whole), GRBM_COUNT: active, GRBM_GUI_ACTIVE: active };
}
