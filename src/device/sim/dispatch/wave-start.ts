// The state of a workgroup's waves before their first instruction.
// Source: LLVM AMDGPUUsage, "Initial Kernel Execution State", "Kernel Prolog".

import type { KernelDescriptor } from '../../../codeobject/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import { loadGlobal } from '../interpreter/spaces.ts';
import { LANES, WAVE_SCRATCH_BASE } from '../state/layout.ts';
import { EXEC, FLAT_SCRATCH, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import type { Launch } from './launch.ts';

/** Scratch of the workgroups that run in one place: GPU address and wasm offset. */
export interface ScratchPlace {
  readonly address: number;
  readonly offset: number;
}

/** Position of the workgroup with a number, in the order hardware starts them: x first. */
export function groupId(launch: Launch, index: number): [number, number, number] {
  const [gx, gy] = launch.grid;
  return [index % gx, Math.floor(index / gx) % gy, Math.floor(index / (gx * gy))];
}

/** Waves of a workgroup; partial workgroups at the grid's edge have fewer work-items. */
export function groupItems(launch: Launch, id: readonly [number, number, number]): [number, number, number] {
  const size = (d: 0 | 1 | 2): number => Math.min(launch.block[d], launch.workItems[d] - id[d] * launch.block[d]);
  return [size(0), size(1), size(2)];
}

/** MODE of a kernel's first instruction. */
export function initialMode(rsrc1: KernelDescriptor['rsrc1']): number {
  return (
    rsrc1.floatRoundMode32 |
    (rsrc1.floatRoundMode16_64 << 2) |
    (rsrc1.floatDenormMode32 << 4) |
    (rsrc1.floatDenormMode16_64 << 6) |
    (rsrc1.enableDx10Clamp << 8) |
    (rsrc1.enableIeeeMode << 9) |
    (rsrc1.fp16Ovfl << 23)
  );
}

/** Sets registers, EXEC, MODE and pc of wave `index` of a workgroup. */
export function startWave(
  launch: Launch,
  codeBase: number,
  w: Wave,
  group: Workgroup,
  index: number,
  size: readonly [number, number, number],
  scratch: ScratchPlace | undefined,
): void {
  const { descriptor } = launch;
  const { rsrc1, rsrc2, properties, preload } = descriptor;
  const isWhole = size[0] === launch.block[0] && size[1] === launch.block[1] && size[2] === launch.block[2];
  // Waves at the same place of whole workgroups differ in the workgroup's position alone.
  if (isWhole && w.startAgain(launch, scratch, group, index)) {
    putGroupId(w, rsrc2, group.id);
    return;
  }
  w.reset(group, index, codeBase);
  w.pc = launch.entry;
  w.env.ocp = targetInfo(launch.target).ocpFloat8;
  w.setMode(initialMode(rsrc1));
  const first = index * LANES;
  const active = Math.min(LANES, size[0] * size[1] * size[2] - first);
  w.sgprs[EXEC] = active >= 32 ? -1 : (1 << active) - 1;
  w.sgprs[EXEC + 1] = active === 64 ? -1 : active <= 32 ? 0 : (1 << (active - 32)) - 1;
  let x = first % size[0];
  let y = Math.floor(first / size[0]) % size[1];
  let z = Math.floor(first / (size[0] * size[1]));
  for (let lane = 0; lane < active; lane++) {
    w.vgprs[lane] = x | (y << 10) | (z << 20);
    if (++x < size[0]) continue;
    x = 0;
    if (++y < size[1]) continue;
    y = 0;
    z++;
  }
  // User SGPRs, in the order of the ABI.
  let at = 0;
  const put = (word: number): void => {
    w.sgprs[at++] = word;
  };
  const put64 = (value: number): void => {
    put(value | 0);
    put(Math.floor(value / 4294967296));
  };
  const scratchBase = scratch?.address ?? 0;
  if (properties.enableSgprPrivateSegmentBuffer) {
    // Swizzled by lane: index stride 64, thread id added, no bounds of its own.
    put(scratchBase | 0);
    put(Math.floor(scratchBase / 4294967296) | -0x80000000);
    put(-1);
    put((3 << 21) | (1 << 23) | (4 << 15));
  }
  if (properties.enableSgprDispatchPtr) put64(launch.packet);
  if (properties.enableSgprQueuePtr) put64(launch.queue);
  if (properties.enableSgprKernargSegmentPtr) put64(launch.kernarg);
  if (properties.enableSgprDispatchId) put64(0);
  if (properties.enableSgprFlatScratchInit) put64(scratchBase);
  if (properties.enableSgprPrivateSegmentSize) put(launch.scratchPerLane);
  for (let n = 0; n < preload.length; n++) put(loadGlobal(w.memory, launch.kernarg + 4 * (preload.offset + n), 4));
  at = putGroupId(w, rsrc2, group.id);
  if (rsrc2.enableSgprWorkgroupInfo) put(0);
  const waveOffset = index * launch.scratchPerWave;
  if (scratch !== undefined) w.setField(WAVE_SCRATCH_BASE, scratch.offset + waveOffset);
  if (group.dispatch.architectedScratch) {
    const address = scratchBase + waveOffset;
    w.sgprs[FLAT_SCRATCH] = address | 0;
    w.sgprs[FLAT_SCRATCH + 1] = Math.floor(address / 4294967296);
  }
  if (!group.dispatch.architectedScratch && rsrc2.enablePrivateSegment) put(waveOffset);
  if (isWhole) w.keepStart(launch, scratch);
}

/** Sets the registers behind the user SGPRs that hold a workgroup's position; gives the next register. */
function putGroupId(w: Wave, rsrc2: KernelDescriptor['rsrc2'], id: readonly [number, number, number]): number {
  let at = rsrc2.userSgprCount;
  if (rsrc2.enableSgprWorkgroupIdX) w.sgprs[at++] = id[0];
  if (rsrc2.enableSgprWorkgroupIdY) w.sgprs[at++] = id[1];
  if (rsrc2.enableSgprWorkgroupIdZ) w.sgprs[at++] = id[2];
  return at;
}
