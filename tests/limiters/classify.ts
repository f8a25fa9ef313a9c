// Runs a kernel of kernels.ts on the virtual GPU under counters and clock, and says what the profile takes for its limiter.
import { readCodeObject } from '../../src/codeobject/index.ts';
import type { Monitor } from '../../src/device/index.ts';
import type { SimKernel } from '../../src/device/sim/module.ts';
import type { SimDispatchRequest, SimDispatchResult } from '../../src/device/sim/options.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import type { Chip } from '../../src/device/sim/timing/chip.ts';
import { chipNamed } from '../../src/device/sim/timing/chips/index.ts';
import { type RecordedLaunch, type TimedLaunch, TimingModel } from '../../src/device/sim/timing/model.ts';
import type { BottleneckClass } from '../../src/profile/analysis/bottleneck-types.ts';
import {
  analyse,
  type Bottleneck,
  type ProfileDocument,
  recordSimulated,
  type SimulatedProgram,
} from '../../src/profile/index.ts';
import { ModelClock } from '../../src/runtime/model-clock.ts';
import { profiledChip, RuntimeProfiler } from '../../src/runtime/profiler.ts';
import { virtualBoard } from '../../src/runtime/sim-runtime.ts';
import { kernelObject } from '../support/kernel-source.ts';
import type { CompiledKernel } from './compiled.ts';
import type { Launch, LimitedKernel } from './kernels.ts';

/**
 * Instructions that are recorded of a launch; the first number with which waves are whole. Of waves that are cut at 1,900 of 5,100
 * instructions the model extrapolates 1.8 times the time (`attend` of crafts.c), and all shares of that time are wrong.
 */
export const BUDGETS: readonly number[] = [60_000, 360_000];

/** A model that knows whether it has seen a wave to its end. */
export class WatchedModel extends TimingModel {
  isCut = false;

  override record(job: TimedLaunch): RecordedLaunch {
    const recorded = super.record(job);
    this.isCut ||= recorded.traces.some(({ waves }) => waves.some((wave) => !wave.isWhole));
    return recorded;
  }
}

/** What `run` gives with the first budget that cuts no wave, or with the last one. */
export async function withWholeWaves<T extends { readonly isCut: boolean }>(
  run: (budget: number) => Promise<T>,
): Promise<T> {
  let last: T | undefined;
  for (const budget of BUDGETS) {
    last = await run(budget);
    if (!last.isCut) break;
  }
  return last as T;
}

/** A kernel of an object and how it is launched. */
interface Placed {
  readonly object: Uint8Array;
  readonly kernel: string;
  readonly launch: Launch;
  readonly lds: number;
}

interface Dispatched {
  readonly code: SimKernel;
  readonly packet: Parameters<RuntimeProfiler['record']>[1];
  readonly run: (more: Partial<SimDispatchRequest>) => Promise<SimDispatchResult>;
}

/** Runs the launches of a kernel on a device of its own: `each` gets the kernel and what dispatches it, for every launch. */
async function withLaunches(
  { object, kernel, launch, lds }: Placed,
  target: Chip['target'],
  timing: TimingModel,
  each: (dispatched: Dispatched) => Promise<void>,
): Promise<void> {
  const device = new SimDevice(target, {});
  const { groups, threads, launches = 1, bytes, fill } = launch;
  try {
    const buffer = device.alloc(bytes);
    if (fill !== undefined) {
      const words = new Int32Array(bytes / 4);
      fill(words);
      device.write(buffer, new Uint8Array(words.buffer));
    }
    const code = device.load(object).kernel(kernel);
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
      await each({ code, packet, run: (more) => device.dispatch({ ...request, ...more }) });
    }
  } finally {
    device.close();
  }
}

/** What is recorded of a kernel under the clock of a chip. */
async function recordingOf(placed: Placed, chip: Chip): Promise<SimulatedProgram> {
  const { target } = chip;
  const { dispatches, failures } = await withWholeWaves(async (budget) => {
    const clock = new ModelClock(chip);
    const profiler = new RuntimeProfiler();
    const model = new WatchedModel(chip, { budget, keepsWaves: true });
    await withLaunches(placed, target, model, async ({ code, packet, run }) => {
      await profiler.record(code, packet, async (monitors: readonly Monitor[]) => {
        const result = await run({ monitors });
        const { nanoseconds = 0, dirtyBytes = 0 } = result.timing ?? {};
        return { result, times: clock.kernel(nanoseconds, dirtyBytes) };
      });
    });
    const { dispatches, failures } = profiler;
    return { dispatches, failures, isCut: model.isCut };
  });
  const { name, computeUnits } = virtualBoard(target, chip);
  const facts = { program: placed.kernel, target, device: name, computeUnits, chip: profiledChip(chip) };
  return { ...facts, dispatches, failures };
}

function assembled(kernel: LimitedKernel, target: string): Placed {
  const { vgprs = 24, lds = 0 } = kernel;
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
  return { object: bytes, kernel: 'k', launch: kernel, lds };
}

/** What the kernel is limited by on a chip. */
export function limiterOn(kernel: LimitedKernel | CompiledKernel, chip: string): BottleneckClass {
  return ('elsewhere' in kernel ? kernel.elsewhere?.[chip] : undefined) ?? kernel.limiter;
}

/** The profile of a kernel on a chip; `compiled` is what clang made of compiled.c for its target. */
export function limiterProfile(
  kernel: LimitedKernel | CompiledKernel,
  chipName: string,
  compiled?: Uint8Array,
): Promise<ProfileDocument> {
  return limiterProfileOn(kernel, chipNamed(chipName), compiled);
}

/** The same on a chip with numbers of its own. */
export async function limiterProfileOn(
  kernel: LimitedKernel | CompiledKernel,
  chip: Chip,
  compiled?: Uint8Array,
): Promise<ProfileDocument> {
  return analyse(recordSimulated(await limiterRecording(kernel, chip, compiled)));
}

/** What the profile is made of: it can be analysed with less in it. */
export async function limiterRecording(
  kernel: LimitedKernel | CompiledKernel,
  chip: Chip,
  compiled?: Uint8Array,
): Promise<SimulatedProgram> {
  return await recordingOf(placedOn(kernel, chip, compiled), chip);
}

/** Runs the launches of a kernel under a timing model, sampled workgroups only: for what the model says, not for what is in memory. */
export async function timeLaunches(
  kernel: LimitedKernel | CompiledKernel,
  timing: TimingModel,
  compiled?: Uint8Array,
): Promise<void> {
  const { chip } = timing;
  await withLaunches(placedOn(kernel, chip, compiled), chip.target, timing, async ({ run }) => {
    await run({ sampleOnly: true });
  });
}

function placedOn(kernel: LimitedKernel | CompiledKernel, chip: Chip, compiled?: Uint8Array): Placed {
  if ('code' in kernel) return assembled(kernel, chip.target);
  if (compiled === undefined) throw new Error('compiled.c was not compiled');
  const lds = readCodeObject(compiled).kernels.find(({ name }) => name === kernel.name)?.descriptor
    ?.groupSegmentFixedSize;
  return { object: compiled, kernel: kernel.name, launch: kernel, lds: lds ?? 0 };
}

/** The classes of the kernel, the most likely one first. */
export async function classesOf(
  kernel: LimitedKernel | CompiledKernel,
  chip: string,
  compiled?: Uint8Array,
): Promise<readonly Bottleneck[]> {
  const document = await limiterProfile(kernel, chip, compiled);
  return document.kernels[0]?.bottleneck.classes ?? [];
}
