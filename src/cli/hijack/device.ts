// The device that `--device` names, as something that opens a fresh one per dispatch.
import { WavesmithError } from '../../base/index.ts';
import type { Device } from '../../device/device.ts';
import type { TargetName } from '../../isa/types.ts';

/** Opens devices of the kind that `name` says; an unknown one is a usage error. */
export function deviceOpener(name: string): (target: TargetName) => Promise<Device> {
  if (name !== 'sim') {
    throw new WavesmithError('cli/usage', `There is no device '${name}'.`, { hint: "The device is 'sim'." });
  }
  return async (target) => {
    const { SimDevice } = await import('../../device/sim/sim-device.ts');
    const { nodeSimOptions } = await import('../../device/node/index.ts');
    return new SimDevice(target, nodeSimOptions());
  };
}
