// `wavesmith run --report DIR`: one kernel with exact counts as a profile, the same files and page as `wavesmith profile` writes.
import {
  type DeviceKernel,
  type Execution,
  type LaunchPlan,
  type Monitor,
  noTools,
  type SimDispatchResult,
} from '../device/index.ts';
import { isSimKernel } from '../device/sim/module.ts';
import type { Chip } from '../device/sim/timing/chip.ts';
import { analyseAll, recordSimulated } from '../profile/index.ts';
import { profiledChip, RuntimeProfiler } from '../runtime/profiler.ts';
import { virtualBoard } from '../runtime/sim-runtime.ts';
import { writeResults } from './profile-output.ts';

/** Runs a kernel under the counters and writes its profile. */
export async function profiledRun(
  folder: string,
  kernel: DeviceKernel,
  { grid, block, dynamicLds = 0 }: LaunchPlan,
  run: (monitors: readonly Monitor[]) => Promise<Execution<SimDispatchResult>>,
  chip: Chip | undefined,
): Promise<Execution> {
  if (!isSimKernel(kernel)) throw noTools();
  const profiler = new RuntimeProfiler();
  const results: Execution<SimDispatchResult>[] = [];
  const packet = {
    address: 0,
    workgroupSize: block,
    gridSize: [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]] as const,
    privateSegmentSize: kernel.scratchSize,
    groupSegmentSize: kernel.ldsSize + dynamicLds,
    kernelObject: 0,
    kernargAddress: 0,
    queue: 0,
    barrier: true,
    completion: 0,
  };
  await profiler.record(kernel, packet, async (monitors) => {
    const result = await run(monitors);
    results.push(result);
    return { result: result.dispatch, times: undefined };
  });
  const { target } = kernel.module;
  const { name, computeUnits } = virtualBoard(target, chip);
  const { dispatches, failures } = profiler;
  const program = `wavesmith run --kernel ${kernel.name}`;
  const facts = { program, target, device: name, computeUnits, chip: chip && profiledChip(chip) };
  const recording = recordSimulated({ ...facts, dispatches, failures });
  const { document, work } = analyseAll(recording);
  writeResults(folder, document, work);
  return results[0] as Execution<SimDispatchResult>;
}
