// A checked dispatch as plain data: what every thread needs to start wavefronts. Worker threads get it as a message.
import type { KernelDescriptor } from '../../../codeobject/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { TargetName } from '../../../isa/types.ts';
import type { Dim3 } from '../../device.ts';
import type { MatrixMode } from '../interpreter/matrix.ts';
import { type ClockReadings, ModelledClock } from '../state/modelled-clock.ts';
import { type DispatchContext, HostClock } from '../state/workgroup.ts';
import type { RunOrder } from './order.ts';

/** Everything fixed for one dispatch. Addresses are GPU addresses. */
export interface Launch {
  readonly target: TargetName;
  readonly kernelName: string;
  readonly descriptor: KernelDescriptor;
  readonly descriptorAddress: number;
  /** First instruction, behind the code that loads preloaded arguments where hardware preloads them. */
  readonly entry: number;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly workItems: Dim3;
  readonly workgroups: number;
  readonly wavesPerGroup: number;
  readonly ldsBytes: number;
  readonly scratchPerLane: number;
  readonly scratchPerWave: number;
  readonly kernarg: number;
  readonly packet: number;
  readonly queue: number;
  readonly budget: number;
  readonly engine: 'compiled' | 'interpreter';
  readonly order: RunOrder;
  readonly mfma: MatrixMode;
  /** Where the clocks of kernels show the host's time: what that is ahead of the calendar, ms. */
  readonly hostClockOffset: number | undefined;
  /** Where the clocks of kernels show modelled time: what wavefronts read. */
  readonly clockReadings?: ClockReadings | undefined;
}

/** What the kernel's waves may ask for. */
export function contextOf(launch: Launch): DispatchContext {
  const { architectedFlatScratch, board } = targetInfo(launch.target);
  const { hostClockOffset: offset, clockReadings } = launch;
  return {
    target: launch.target,
    kernelName: launch.kernelName,
    scratchPerLane: launch.scratchPerLane,
    architectedScratch: architectedFlatScratch,
    hostClock: offset === undefined ? undefined : new HostClock(offset, board.clockMhz),
    modelledClock: clockReadings === undefined ? undefined : new ModelledClock(clockReadings),
  };
}
