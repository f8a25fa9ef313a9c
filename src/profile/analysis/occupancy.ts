// The occupancy of a recorded launch: the resources the profiler saw, judged by the code object layer's occupancy rules.
import { type OccupancyLimit as LimitName, occupancy } from '../../codeobject/index.ts';
import { isTargetName, targetInfo } from '../../isa/index.ts';
import type { LaunchEntry } from '../launch.ts';
import { combine, known, type Measure, unknown } from '../measure.ts';

export interface OccupancyLimit {
  readonly resource: string;
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

const WAVE_LANES = 64;

const NAMES: Readonly<Record<LimitName, string>> = {
  vgprs: 'VGPRs',
  sgprs: 'SGPRs',
  lds: 'LDS',
  'workgroup-slots': 'workgroup slots',
};

/** Waves of the workgroups that fit a CU over what it can hold: less than by SIMD where a workgroup has fewer waves than a CU has SIMDs. */
export function fitting(occupancy: KernelOccupancy, launch: LaunchEntry | undefined): Measure {
  if (launch === undefined) return occupancy.share;
  const lanes = launch.workgroup.reduce((product, n) => product * n, 1);
  return combine([occupancy.share, occupancy.workgroupsPerCu, occupancy.maxWavesPerCu], (share, groups, most) =>
    Math.min(share, (groups * Math.ceil(lanes / WAVE_LANES)) / most),
  );
}

/** How far a launch fills a GPU: workgroups for each of its CUs, and the waves of one. */
export function launchedGroups(
  launch: LaunchEntry | undefined,
  cus: number | undefined,
): { readonly groupsPerCu: Measure; readonly wavesPerGroup: Measure } {
  const missing = (reason: string) => ({ groupsPerCu: unknown(reason), wavesPerGroup: unknown(reason) });
  if (cus === undefined || cus <= 0) return missing('the number of CUs was not recorded');
  if (launch === undefined) return missing('no launch was recorded');
  // Where only the product of the sizes is recorded, it is the first one, and the others are -1.
  const [workgroup, grid] = [launch.workgroup, launch.grid].map((sizes) =>
    sizes.map((n, axis) => (n < 0 && axis > 0 ? 1 : n)),
  );
  if (workgroup.some((n) => n < 1) || grid.some((n) => n < 1) || workgroup.length === 0)
    return missing('the sizes of grid and workgroup were not recorded');
  const groups = grid.reduce((product, n, axis) => product * Math.ceil(n / (workgroup[axis] ?? 1)), 1);
  const lanes = workgroup.reduce((product, n) => product * n, 1);
  return { groupsPerCu: known(groups / cus), wavesPerGroup: known(Math.ceil(lanes / WAVE_LANES)) };
}

/** A wave has 112 scalar registers with VCC and what goes with it; profilers round up to a granule. */
const MOST_SGPRS = 128;

/** Why no launch on an architecture can be like this; undefined for one that can be, as far as it was recorded. */
export function impossibleLaunch(launch: LaunchEntry | undefined, arch: string | undefined): string | undefined {
  if (launch === undefined || arch === undefined || !isTargetName(arch)) return undefined;
  const info = targetInfo(arch);
  const [size, vgprs] = [workgroupSize(launch), registers(launch)];
  if (size > info.maxWorkgroupSize) return `a workgroup of ${size} work-items is not possible`;
  if (launch.lds > info.ldsBytes) return `${launch.lds} bytes of LDS are more than a CU has`;
  if (vgprs > info.vgprTotal) return `${vgprs} registers are more than a lane has`;
  if (launch.sgpr > MOST_SGPRS) return `${launch.sgpr} scalar registers are more than a wave has`;
  return undefined;
}

const workgroupSize = ({ workgroup }: LaunchEntry): number =>
  workgroup.reduce((product, n) => product * (n < 0 ? 1 : n), 1);

/** AGPRs start at a multiple of 4 in the unified register file. */
const registers = ({ vgpr, agpr }: LaunchEntry): number => (agpr > 0 ? Math.ceil(vgpr / 4) * 4 + agpr : vgpr);

/** The occupancy of a launch on an architecture; unknown with the reason when something was not recorded. */
export function kernelOccupancy(launch: LaunchEntry | undefined, arch: string | undefined): KernelOccupancy {
  const missing = (reason: string): KernelOccupancy => {
    const why = unknown(reason);
    return { wavesPerCu: why, maxWavesPerCu: why, share: why, workgroupsPerCu: why, limiter: null, limits: [] };
  };
  if (arch === undefined) return missing('the architecture is not recorded');
  if (!isTargetName(arch)) return missing(`${arch} is not a known chip`);
  if (launch === undefined) return missing('no launch was recorded');
  const [size, vgprs, info] = [workgroupSize(launch), registers(launch), targetInfo(arch)];
  if (launch.workgroup[0] < 0 || size < 1) return missing('the workgroup size was not recorded');
  const impossible = impossibleLaunch(launch, arch);
  if (impossible !== undefined) return missing(impossible);
  if (launch.vgpr < 0) return missing('the VGPR count was not recorded');
  if (launch.lds < 0) return missing('the LDS size was not recorded');
  const o = occupancy({ vgprs, sgprs: Math.max(0, launch.sgpr), ldsBytes: launch.lds, workgroupSize: size }, info);
  const cu = (wavesPerSimd: number) => wavesPerSimd * info.simdsPerCu;
  return {
    wavesPerCu: known(cu(o.wavesPerSimd)),
    maxWavesPerCu: known(cu(o.maxWavesPerSimd)),
    share: known(o.wavesPerSimd / o.maxWavesPerSimd),
    workgroupsPerCu: known(o.workgroupsPerCu),
    limiter: o.limiters.length === 0 ? null : o.limiters.map((name) => NAMES[name]).join(', '),
    limits: [
      { resource: NAMES.vgprs, wavesPerCu: cu(o.byVgprs) },
      { resource: NAMES.sgprs, wavesPerCu: cu(o.bySgprs) },
      { resource: NAMES.lds, wavesPerCu: cu(o.byLds) },
      { resource: NAMES['workgroup-slots'], wavesPerCu: cu(o.byWorkgroupSlots) },
    ],
  };
}
