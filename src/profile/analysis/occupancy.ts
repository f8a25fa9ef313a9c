// How many waves of a kernel fit on a CU, by resource, exactly as the hardware allocates: VGPR and AGPR granules, SGPRs, LDS
// granules, wave slots, barriers. Source: LLVM AMDGPUBaseInfo.cpp (IsaInfo); the budgets are the target table's.
import { isTargetName, targetInfo } from '../../isa/index.ts';
import type { LaunchEntry } from '../document.ts';
import { known, type Measure, unknown } from '../measure.ts';

export interface OccupancyLimit {
  readonly resource: 'wave slots' | 'VGPRs' | 'SGPRs' | 'LDS' | 'barriers' | 'workgroup size';
  readonly wavesPerCu: number;
}

export interface KernelOccupancy {
  readonly wavesPerCu: Measure;
  readonly maxWavesPerCu: Measure;
  readonly share: Measure;
  readonly workgroupsPerCu: Measure;
  readonly limiter: string | null;
  readonly limits: readonly OccupancyLimit[];
}

/** Workgroups of more than one wave need a barrier, of which a CU has this many. */
const MAX_BARRIERS = 16;

const ceilTo = (value: number, granule: number) => Math.ceil(value / granule) * granule;

/** The occupancy of a launch on an architecture. */
export function kernelOccupancy(launch: LaunchEntry | undefined, arch: string | undefined): KernelOccupancy {
  const target = arch !== undefined && isTargetName(arch) ? targetInfo(arch) : undefined;
  const missing = (reason: string): KernelOccupancy => {
    const why = unknown(reason);
    return { wavesPerCu: why, maxWavesPerCu: why, share: why, workgroupsPerCu: why, limiter: null, limits: [] };
  };
  if (target === undefined)
    return missing(arch === undefined ? 'the architecture is not recorded' : `${arch} is not a known chip`);
  if (launch === undefined) return missing('no launch was recorded');
  const size = launch.workgroup.reduce((product, n) => product * (n < 0 ? 1 : n), 1);
  if (launch.workgroup[0] < 0 || size < 1) return missing('the workgroup size was not recorded');
  if (launch.vgpr < 0) return missing('the VGPR count was not recorded');
  if (launch.lds < 0) return missing('the LDS size was not recorded');
  const waves = Math.ceil(size / target.wavefrontSize);
  const slots = target.simdsPerCu * target.maxWavesPerSimd;
  // Architected and accumulation VGPRs share one file; the accumulation part starts at a multiple of 4.
  const vgprs = ceilTo((launch.agpr > 0 ? ceilTo(launch.vgpr, 4) + launch.agpr : launch.vgpr) || 1, target.vgprGranule);
  const byVgpr = Math.min(target.maxWavesPerSimd, Math.floor(target.vgprTotal / vgprs)) * target.simdsPerCu;
  const bySgpr =
    launch.sgpr <= 0
      ? slots
      : Math.min(target.maxWavesPerSimd, Math.floor(target.sgprTotal / launch.sgpr)) * target.simdsPerCu;
  const lds = ceilTo(launch.lds, target.ldsGranule);
  const groupsByLds = lds === 0 ? Number.POSITIVE_INFINITY : Math.floor(target.ldsBytes / lds);
  const groupsBySlots = waves > 1 ? Math.min(MAX_BARRIERS, Math.floor(slots / waves)) : slots;
  // Waves of a workgroup are dealt out over the SIMDs, so a SIMD must hold its share.
  const perSimd = Math.min(byVgpr, bySgpr) / target.simdsPerCu;
  const groupsByRegisters = Math.floor((perSimd * target.simdsPerCu) / waves);
  const groups = Math.max(0, Math.min(groupsByLds, groupsBySlots, groupsByRegisters));
  const limits: OccupancyLimit[] = [
    { resource: 'wave slots', wavesPerCu: slots },
    { resource: 'VGPRs', wavesPerCu: Math.floor(byVgpr / waves) * waves },
    { resource: 'SGPRs', wavesPerCu: Math.floor(bySgpr / waves) * waves },
    { resource: 'LDS', wavesPerCu: groupsByLds === Number.POSITIVE_INFINITY ? slots : groupsByLds * waves },
    { resource: 'barriers', wavesPerCu: groupsBySlots * waves },
  ];
  const resident = groups * waves;
  const limiter = resident >= slots ? undefined : limits.slice(1).find((limit) => limit.wavesPerCu <= resident);
  return {
    wavesPerCu: known(resident),
    maxWavesPerCu: known(slots),
    share: known(resident / slots),
    workgroupsPerCu: known(groups),
    limiter: resident >= slots ? null : (limiter?.resource ?? 'workgroup size'),
    limits,
  };
}
