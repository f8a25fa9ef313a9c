// Occupancy: how many waves of a kernel fit on a SIMD, and what limits them.
// Source: LLVM's AMDGPUBaseInfo (getNumWavesPerEUWithNumVGPRs, getMaxWorkGroupsPerCU), GCNSubtarget
// (getOccupancyWithNumSGPRs), AMDGPUSubtarget (getOccupancyWithWorkGroupSizes). LDS is rounded up to its granule here.
import { isTargetName, type TargetInfo, targetInfo } from '../../isa/table/targets.ts';
import type { Kernel } from '../code-object.ts';
import { descriptorRegisters } from './descriptor.ts';

/** What a kernel asks for. */
export interface KernelResources {
  /** VGPRs and AGPRs together, as allocated or as counted. */
  readonly vgprs: number;
  readonly sgprs: number;
  /** LDS bytes per workgroup. */
  readonly ldsBytes: number;
  /** Work-items per workgroup. */
  readonly workgroupSize: number;
}

export type OccupancyLimit = 'vgprs' | 'sgprs' | 'lds' | 'workgroup-slots';

export interface Occupancy {
  readonly wavesPerSimd: number;
  readonly maxWavesPerSimd: number;
  readonly wavesPerWorkgroup: number;
  /** Workgroups that fit on a compute unit by LDS, barriers and waves. */
  readonly workgroupsPerCu: number;
  /** Waves per SIMD that each resource alone allows. */
  readonly byVgprs: number;
  readonly bySgprs: number;
  readonly byLds: number;
  readonly byWorkgroupSlots: number;
  /** The resources that set the result; empty at full occupancy. */
  readonly limiters: readonly OccupancyLimit[];
}

/** Workgroups of more than one wave need one of these per compute unit. */
const BARRIERS_PER_CU = 16;

/** Thresholds of GFX8 and GFX9: most SGPRs for a number of waves. */
const SGPR_STEPS: readonly (readonly [sgprs: number, waves: number])[] = [
  [80, 10],
  [88, 9],
  [100, 8],
];

function wavesByVgprs(vgprs: number, info: TargetInfo): number {
  if (vgprs < info.vgprGranule) return info.maxWavesPerSimd;
  const rounded = Math.ceil(vgprs / info.vgprGranule) * info.vgprGranule;
  return Math.min(Math.max(Math.floor(info.vgprTotal / rounded), 1), info.maxWavesPerSimd);
}

function wavesBySgprs(sgprs: number, info: TargetInfo): number {
  const waves = SGPR_STEPS.find(([most]) => sgprs <= most)?.[1] ?? 7;
  return Math.min(waves, info.maxWavesPerSimd);
}

/** The occupancy of a kernel on a target. */
export function occupancy(resources: KernelResources, info: TargetInfo): Occupancy {
  const { maxWavesPerSimd, simdsPerCu, wavefrontSize } = info;
  const wavesPerCu = maxWavesPerSimd * simdsPerCu;
  const wavesPerWorkgroup = Math.max(1, Math.ceil(resources.workgroupSize / wavefrontSize));
  const slots =
    wavesPerWorkgroup === 1 ? wavesPerCu : Math.min(Math.floor(wavesPerCu / wavesPerWorkgroup), BARRIERS_PER_CU);
  const lds = Math.ceil(resources.ldsBytes / info.ldsGranule) * info.ldsGranule;
  const fitLds = lds === 0 ? Number.POSITIVE_INFINITY : Math.floor(info.ldsBytes / lds);
  const perSimd = (workgroups: number) =>
    Math.max(1, Math.min(maxWavesPerSimd, Math.ceil((workgroups * wavesPerWorkgroup) / simdsPerCu)));
  const limits: Record<OccupancyLimit, number> = {
    vgprs: wavesByVgprs(resources.vgprs, info),
    sgprs: wavesBySgprs(resources.sgprs, info),
    lds: fitLds === 0 ? 1 : perSimd(fitLds),
    'workgroup-slots': perSimd(slots),
  };
  const wavesPerSimd = Math.min(...Object.values(limits));
  const isFull = wavesPerSimd >= maxWavesPerSimd;
  return {
    wavesPerSimd,
    maxWavesPerSimd,
    wavesPerWorkgroup,
    workgroupsPerCu: Math.max(fitLds === 0 ? 0 : 1, Math.min(slots, fitLds)),
    byVgprs: limits.vgprs,
    bySgprs: limits.sgprs,
    byLds: limits.lds,
    byWorkgroupSlots: limits['workgroup-slots'],
    limiters: isFull ? [] : (Object.keys(limits) as OccupancyLimit[]).filter((k) => limits[k] === wavesPerSimd),
  };
}

/** A kernel's resources from its metadata, and from its descriptor where there is no metadata. */
export function kernelResources(kernel: Kernel): KernelResources {
  const { metadata, descriptor } = kernel;
  const registers = descriptor && descriptorRegisters(descriptor);
  const required = metadata?.reqdWorkgroupSize;
  return {
    vgprs: registers?.totalVgprs ?? metadata?.vgprCount ?? 0,
    sgprs: metadata?.sgprCount ?? registers?.sgprs ?? 0,
    ldsBytes: descriptor?.groupSegmentFixedSize ?? metadata?.groupSegmentFixedSize ?? 0,
    workgroupSize:
      required === undefined ? (metadata?.maxFlatWorkgroupSize ?? 64) : required[0] * required[1] * required[2],
  };
}

/** The occupancy of a kernel for a processor; undefined for processors without a table here. */
export function kernelOccupancy(kernel: Kernel, processor: string): Occupancy | undefined {
  return isTargetName(processor) ? occupancy(kernelResources(kernel), targetInfo(processor)) : undefined;
}
