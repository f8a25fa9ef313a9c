// One side of a comparison: its device, opened for the first launch, and its code objects, loaded once each.
import { WavesmithError } from '../base/index.ts';
import type { Device, DeviceKernel, DeviceModule, DispatchRequest, DispatchResult } from '../device/device.ts';
import { type Execution, execute, type LaunchPlan } from '../device/plan.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import type { SimDispatchResult } from '../device/sim/options.ts';
import { formatRunFinding, type RunFinding } from '../device/sim/strict/findings.ts';
import type { TargetName } from '../isa/types.ts';
import { readFacts } from './facts.ts';
import type { ModuleExecutable } from './module.ts';

/** Opens a device for a target; `isStrict` asks for one that checks every access, register and wait (`--check`). */
export type DeviceOpener = (target: TargetName, isStrict: boolean) => Promise<Device>;

/** Records the dispatch of a kernel: its monitor sees the dispatch, `finish` writes the capture. */
export type DispatchRecorder = (
  kernel: DeviceKernel,
  codeObject: Uint8Array,
) => { readonly monitor: Monitor; finish(): Promise<void> };

/** A launch, and what the strict mode says about it. */
export interface SideExecution extends Execution {
  readonly findings: readonly RunFinding[];
}

export class Side {
  private readonly open: DeviceOpener;
  private readonly isStrict: boolean;
  private readonly onProgress: DispatchRequest['onProgress'];
  private readonly devices = new Map<TargetName, Device>();
  private readonly modules = new Map<ModuleExecutable, { readonly device: Device; readonly module: DeviceModule }>();

  /** `onProgress` is told workgroups that have ended, and all of them, of the running launch. */
  constructor(open: DeviceOpener, isStrict: boolean, onProgress?: DispatchRequest['onProgress']) {
    this.open = open;
    this.isStrict = isStrict;
    this.onProgress = onProgress;
  }

  /** Runs a kernel. A strict run that a finding ended is an error with that finding's code. */
  async run(
    executable: ModuleExecutable,
    kernel: string,
    plan: LaunchPlan,
    maxInstructions: number | undefined,
    record?: DispatchRecorder,
  ): Promise<SideExecution> {
    const { device, module } = this.modules.get(executable) ?? (await this.load(executable));
    const loaded = module.kernel(kernel);
    const recording = record?.(loaded, executable.codeObject);
    const { onProgress } = this;
    const fields = {
      maxInstructions,
      onProgress,
      ...(recording === undefined ? {} : { monitors: [recording.monitor] }),
    };
    const execution = await execute(device, loaded, plan, { fields });
    await recording?.finish();
    if (!this.isStrict) return { ...execution, findings: [] };
    const checked: DispatchResult & Pick<SimDispatchResult, 'findings' | 'isComplete'> = execution.dispatch;
    const { findings, isComplete } = checked;
    if (findings === undefined) {
      throw new WavesmithError('hijack/no-strict', `The device '${device.kind}' cannot check kernels while they run.`, {
        hint: 'Leave out --check, or use --device sim, which has the strict mode.',
      });
    }
    const last = findings.at(-1);
    if (isComplete === false && last !== undefined) {
      throw new WavesmithError(last.rule, formatRunFinding(last, kernel).trimEnd(), { pc: last.place.pc });
    }
    return { ...execution, findings };
  }

  private async load(
    executable: ModuleExecutable,
  ): Promise<{ readonly device: Device; readonly module: DeviceModule }> {
    const { targetName } = readFacts(executable.codeObject);
    const device = this.devices.get(targetName) ?? (await this.open(targetName, this.isStrict));
    this.devices.set(targetName, device);
    const loaded = { device, module: device.load(executable.codeObject) };
    this.modules.set(executable, loaded);
    return loaded;
  }

  close(): void {
    for (const device of this.devices.values()) device.close();
  }
}
