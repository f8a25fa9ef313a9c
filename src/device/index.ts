// Room `device`: running kernels: what a device is (memory, modules, dispatches), and launches described in text. The virtual GPU is
// one device.
// Begin with device.ts (the interface), then launch.ts (one kernel with described arguments).
import { WavesmithError } from '../base/index.ts';
import type { TargetName } from '../isa/types.ts';
import type { Device } from './device.ts';
import { RocmDevice, type RocmOptions } from './rocm/rocm-device.ts';
import { noTools } from './sim/module.ts';
import type { SimOptions } from './sim/options.ts';
import { SimDevice } from './sim/sim-device.ts';

export { type Fill, fillElements, getElement, putElement, randomNumbers } from '../base/index.ts';
export type {
  ArgumentValue,
  Device,
  DeviceAddress,
  DeviceBuffer,
  DeviceKernel,
  DeviceModule,
  DeviceVariable,
  Dim3,
  DispatchRequest,
  DispatchResult,
  DispatchSegment,
  KernelArgument,
} from './device.ts';
export { DeviceFault, DispatchAborted, type Fault, type FaultingAccess, type FaultKind } from './fault.ts';
export { explicitArguments } from './kernargs.ts';
export {
  ARGUMENT_TYPES,
  type BufferAfter,
  type DescribedLaunch,
  firstElements,
  type LaunchArgument,
  type LaunchRequest,
  type LaunchResult,
  launch,
  parseDimensions,
  parseLaunchArgument,
  planLaunch,
  scalar,
} from './launch.ts';
export {
  canReadAs,
  elementCount,
  isNpyType,
  NPY_TYPES,
  type NpyArray,
  type NpyType,
  npyElementBytes,
  readNpy,
  writeNpy,
} from './npy.ts';
export {
  type DispatchFields,
  type ExecuteOptions,
  type Execution,
  execute,
  type LaunchPlan,
  type PlacedPlan,
  type PlannedAllocation,
  type PlannedArgument,
  placePlan,
  type ResultOf,
} from './plan.ts';
export type { RocmAddon } from './rocm/addon.ts';
export { RocmDevice, type RocmOptions } from './rocm/rocm-device.ts';
export type { DebugTerminal } from './sim/debug/index.ts';
export type { Monitor } from './sim/dispatch/monitor.ts';
export type { RunOrder } from './sim/dispatch/order.ts';
export { noTools } from './sim/module.ts';
export type {
  SimDispatchRequest,
  SimDispatchResult,
  SimOptions,
  SimRunOptions,
} from './sim/options.ts';
export {
  type ExecutedAt,
  exploreSchedules,
  type ScheduleDifference,
  type ScheduledMemory,
  type ScheduledRun,
  type ScheduleOptions,
  type ScheduleReport,
} from './sim/schedules/index.ts';
export { SimDevice } from './sim/sim-device.ts';
export {
  allocationText,
  FindingLog,
  formatRunFinding,
  type NearAllocation,
  type RunFinding,
  type RunFindingParts,
  type StrictOptions,
  StrictStop,
} from './sim/strict/findings.ts';
export {
  type CountersReport,
  type CounterValue,
  type Profile,
  RunTools,
  type ToolRequest,
  type TraceEvent,
  type TraceSink,
  traceText,
} from './sim/tools/index.ts';
export { serveWorker } from './sim/workers/worker.ts';
export type { WorkerHost, WorkerPort, WorkerThread } from './sim/workers/worker-host.ts';

/** How a device is opened. */
export interface DeviceOptions extends SimOptions {
  readonly target: TargetName;
  /** For `rocm`: the native addon, which the caller loads, and what else the device takes. */
  readonly rocm?: (() => Omit<RocmOptions, 'gpu'>) | undefined;
}

/**
 * Opens a device: `sim` is the built-in virtual GPU, `rocm` or `rocm:N` a GPU of this machine. An unknown kind is `device/unknown-device`; strict
 * mode or a clock on a GPU is `device/no-tools`.
 */
export function createDevice(kind: 'sim', options: DeviceOptions): Promise<SimDevice>;
export function createDevice(kind: string, options: DeviceOptions): Promise<Device>;
export function createDevice(kind: string, options: DeviceOptions): Promise<Device> {
  return new Promise((resolve) => resolve(openDevice(kind, options)));
}

function openDevice(kind: string, options: DeviceOptions): Device {
  if (kind === 'sim') return new SimDevice(options.target, options);
  const [, gpu] = /^rocm(?::(\d{1,3}))?$/.exec(kind) ?? [undefined, undefined];
  if (kind.startsWith('rocm') && (kind === 'rocm' || gpu !== undefined) && options.rocm !== undefined) {
    const { strict, timing } = options.run ?? {};
    if (strict !== undefined || timing !== undefined) throw noTools();
    return new RocmDevice({ ...options.rocm(), gpu: Number(gpu ?? 0) });
  }
  throw new WavesmithError('device/unknown-device', `There is no device '${kind}'.`, {
    hint: "Use 'sim', or 'rocm' (with several GPUs 'rocm:N') for a GPU of this machine.",
  });
}
