// Runs a dispatch to its end: checks it, runs its workgroups, comes back to the host's event loop now and then, counts.
import { WavesmithError } from '../../base/index.ts';
import { descriptorRegisters, occupancy } from '../../codeobject/index.ts';
import { targetInfo } from '../../isa/index.ts';
import type { DispatchRequest, DispatchResult } from '../device.ts';
import { createEngine, type Engine, Interpreter } from './engine.ts';
import { type Launch, type PreparedLaunch, prepareLaunch } from './launch.ts';
import type { DeviceMemory } from './memory.ts';
import type { DispatchInfo, Monitor } from './monitor.ts';
import { ENCODINGS, type Program } from './program.ts';
import { LocalProgress, type Progress } from './progress.ts';
import { Runner } from './runner.ts';
import type { SimKernel } from './sim-device.ts';
import type { SlotPool } from './slots.ts';
import type { DispatchContext } from './workgroup.ts';

/** Time between two returns to the event loop. */
const SLICE_MS = 40;
/** Compute units of a device, which bounds how many workgroups run at once. Source: AMD's product data sheets. */
const COMPUTE_UNITS = { gfx90a: 104, gfx942: 304, gfx950: 256 } as const;

/** A dispatch that was ended by its signal, with what it had done. */
export class DispatchAborted extends WavesmithError {
  readonly partial: DispatchResult;

  constructor(kernelName: string, partial: DispatchResult, total: number) {
    super(
      'sim/aborted',
      `Kernel '${kernelName}' was ended after ${partial.workgroups} of ${total} workgroups and ${partial.instructions} instructions.`,
    );
    this.partial = partial;
  }
}

/** What a dispatch uses of its device. */
export interface DispatchDevice {
  readonly memory: DeviceMemory;
  readonly slots: SlotPool;
}

/** Checks a request and runs it. */
export async function runDispatch(
  device: DispatchDevice,
  kernel: SimKernel,
  request: DispatchRequest,
): Promise<DispatchResult> {
  const prepared = prepareLaunch(device.memory, kernel, request);
  try {
    return await runLaunch(device, kernel.module.program, prepared, request);
  } finally {
    prepared.end();
    device.slots.trim();
  }
}

/** What the kernel's waves may ask for. */
export function contextOf(launch: Launch): DispatchContext {
  return {
    target: launch.target,
    kernelName: launch.kernelName,
    scratchPerLane: launch.scratchPerLane,
    architectedScratch: targetInfo(launch.target).architectedFlatScratch,
  };
}

/** Workgroups that the hardware would run at the same time. */
function residentWorkgroups(launch: Launch): number {
  const registers = descriptorRegisters(launch.descriptor);
  const { workgroupsPerCu } = occupancy(
    {
      vgprs: registers.vgprs + registers.agprs,
      sgprs: registers.sgprs,
      ldsBytes: launch.ldsBytes,
      workgroupSize: launch.block[0] * launch.block[1] * launch.block[2],
    },
    targetInfo(launch.target),
  );
  return Math.max(1, workgroupsPerCu) * COMPUTE_UNITS[launch.target];
}

async function runLaunch(
  { memory, slots }: DispatchDevice,
  program: Program,
  { launch }: PreparedLaunch,
  request: DispatchRequest,
): Promise<DispatchResult> {
  const { monitors = [], onProgress, signal } = request;
  program.useMatrixMode(launch.mfma);
  const engine =
    monitors.length > 0 || launch.engine === 'interpreter'
      ? new Interpreter(program)
      : createEngine({ program, launch, memory });
  const progress = new LocalProgress(launch.workgroups);
  const runner = new Runner({
    memory,
    program,
    launch,
    context: contextOf(launch),
    engine,
    progress,
    window: residentWorkgroups(launch),
    takeSlot: () => slots.take(launch),
    giveSlot: (slot) => slots.give(slot),
    monitors,
  });
  const abort = (): void => progress.abort();
  if (signal?.aborted) progress.abort();
  signal?.addEventListener('abort', abort);
  onProgress?.(0, launch.workgroups);
  try {
    if (monitors.length > 0) {
      const kernarg = memory.access(launch.kernarg, 1, false);
      await runObserved(runner, monitors, { program, launch, memory, kernarg }, () => pause(progress));
    } else while (!runner.run(performance.now() + SLICE_MS)) await pause(progress);
  } finally {
    runner.close();
    signal?.removeEventListener('abort', abort);
    onProgress?.(progress.done, launch.workgroups);
  }
  const result = resultOf(engine, progress, runner.wavefronts);
  if (runner.failure !== undefined) throw runner.failure.error;
  if (progress.isAborted) throw new DispatchAborted(launch.kernelName, result, launch.workgroups);
  return result;

  async function pause(p: Progress): Promise<void> {
    onProgress?.(p.done, launch.workgroups);
    await hostTurn();
  }
}

async function runObserved(
  runner: Runner,
  monitors: readonly Monitor[],
  info: DispatchInfo,
  pause: () => Promise<void>,
): Promise<void> {
  try {
    for (const monitor of monitors) monitor.startDispatch?.(info);
    await runner.runObserved(pause, SLICE_MS);
  } finally {
    for (const monitor of monitors) monitor.endDispatch?.();
  }
}

function resultOf(engine: Engine, progress: Progress, wavefronts: number): DispatchResult {
  const counts: number[] = [];
  engine.takeCounts(counts);
  const instructionsByEncoding: Record<string, number> = {};
  counts.forEach((n, i) => {
    if (n > 0) instructionsByEncoding[ENCODINGS[i] as string] = n;
  });
  return { instructions: progress.instructions, wavefronts, workgroups: progress.done, instructionsByEncoding };
}

/** Lets the host's event loop run once: signals, timers, messages. */
export function hostTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (f: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate !== undefined) setImmediate(resolve);
    else {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(0);
    }
  });
}
