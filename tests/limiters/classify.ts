// Runs a kernel of kernels.ts on the virtual GPU under counters and clock, and says what the profile takes for its limiter.
import type { Monitor } from '../../src/device/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { chipNamed } from '../../src/device/sim/timing/chips/index.ts';
import { TimingModel } from '../../src/device/sim/timing/model.ts';
import { analyse, type Bottleneck, type ProfileDocument, recordSimulated } from '../../src/profile/index.ts';
import { ModelClock } from '../../src/runtime/model-clock.ts';
import { profiledChip, RuntimeProfiler } from '../../src/runtime/profiler.ts';
import { virtualBoard } from '../../src/runtime/sim-runtime.ts';
import { kernelObject } from '../support/kernel-source.ts';
import type { LimitedKernel } from './kernels.ts';

/** The profile of a kernel on a chip. */
export async function profileOf(kernel: LimitedKernel, chipName: string): Promise<ProfileDocument> {
  const chip = chipNamed(chipName);
  const { target } = chip;
  const device = new SimDevice(target, {});
  const { vgprs = 24, lds = 0, groups, threads, launches = 1 } = kernel;
  try {
    const { bytes } = kernelObject({
      target,
      code: `s_mov_b32 s8, s2\ns_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n${kernel.code}`,
      descriptor: {
        next_free_sgpr: 32,
        next_free_vgpr: vgprs,
        accum_offset: Math.min(256, vgprs),
        group_segment_fixed_size: lds,
        system_sgpr_workgroup_id_x: 1,
      },
      metadata: { '.group_segment_fixed_size': lds, '.max_flat_workgroup_size': 1024, '.vgpr_count': vgprs },
    });
    const buffer = device.alloc(kernel.bytes);
    if (kernel.fill !== undefined) {
      const words = new Int32Array(kernel.bytes / 4);
      kernel.fill(words);
      device.write(buffer, new Uint8Array(words.buffer));
    }
    const code = device.load(bytes).kernel('k');
    const timing = new TimingModel(chip, { keepsWaves: true });
    const clock = new ModelClock(chip);
    const profiler = new RuntimeProfiler();
    const packet = {
      address: 0,
      workgroupSize: [threads, 1, 1],
      gridSize: [groups * threads, 1, 1],
      privateSegmentSize: 0,
      groupSegmentSize: lds,
      kernelObject: 0,
      kernargAddress: 0,
      queue: 0,
      barrier: true,
      completion: 0,
    } as const;
    const request = { kernel: code, grid: [groups, 1, 1], block: [threads, 1, 1], args: [buffer], timing } as const;
    for (let n = 0; n < launches; n++) {
      await profiler.record(code, packet, async (monitors: readonly Monitor[]) => {
        const result = await device.dispatch({ ...request, monitors });
        const { nanoseconds = 0, dirtyBytes = 0 } = result.timing ?? {};
        return { result, times: clock.kernel(nanoseconds, dirtyBytes) };
      });
    }
    const { name, computeUnits } = virtualBoard(target, chip);
    const { dispatches, failures } = profiler;
    const facts = { program: kernel.name, target, device: name, computeUnits, chip: profiledChip(chip) };
    return analyse(recordSimulated({ ...facts, dispatches, failures }));
  } finally {
    device.close();
  }
}

/** The classes of the kernel, the most likely one first. */
export async function classesOf(kernel: LimitedKernel, chip: string): Promise<readonly Bottleneck[]> {
  const document = await profileOf(kernel, chip);
  return document.kernels[0]?.bottleneck.classes ?? [];
}
