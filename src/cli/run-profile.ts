// `wavesmith run --report DIR`: one kernel with exact counts as a profile, the same files and page as `wavesmith profile` writes.
import { WavesmithError } from '../base/index.ts';
import type { DeviceKernel, DispatchResult } from '../device/index.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import { type SimKernel, SimModule } from '../device/sim/sim-device.ts';
import { analyse, recordSimulated } from '../profile/index.ts';
import { RuntimeProfiler } from '../runtime/profiler.ts';
import { BOARDS } from '../runtime/sim-runtime.ts';
import { writeResults } from './profile.ts';

type Dimensions = readonly [number, number, number];

/** Runs a kernel under the counters and writes its profile. */
export async function profiledRun<R extends { readonly dispatch: DispatchResult }>(
  folder: string,
  kernel: DeviceKernel,
  launched: { readonly grid: Dimensions; readonly block: Dimensions; readonly dynamicLds: number },
  run: (monitors: readonly Monitor[]) => Promise<R>,
): Promise<R> {
  if (!('module' in kernel) || !(kernel.module instanceof SimModule)) {
    throw new WavesmithError('device/no-tools', 'A report needs a kernel on the virtual GPU.', {
      hint: 'Use --device sim.',
    });
  }
  const { grid, block } = launched;
  const profiler = new RuntimeProfiler();
  const results: R[] = [];
  const packet = {
    address: 0,
    workgroupSize: block,
    gridSize: [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]] as const,
    privateSegmentSize: kernel.scratchSize,
    groupSegmentSize: kernel.ldsSize + launched.dynamicLds,
    kernelObject: 0,
    kernargAddress: 0,
    queue: 0,
    barrier: true,
    completion: 0,
  };
  await profiler.record(kernel as SimKernel, packet, async (monitors) => {
    const result = await run(monitors);
    results.push(result);
    return result.dispatch;
  });
  const { target } = kernel.module;
  const { name, computeUnits } = BOARDS[target];
  const { dispatches, failures } = profiler;
  const program = `wavesmith run --kernel ${kernel.name}`;
  writeResults(folder, analyse(recordSimulated({ program, target, device: name, computeUnits, dispatches, failures })));
  return results[0] as R;
}
