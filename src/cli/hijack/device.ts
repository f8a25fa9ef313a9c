// The device that `--device` names, as something that opens one.
import { WavesmithError } from '../../base/index.ts';
import type { Device } from '../../device/device.ts';
import type { SimRunOptions } from '../../device/sim/options.ts';
import type { TargetName } from '../../isa/types.ts';

/** Opens devices of the kind that `name` says; an unknown one is a usage error. */
export function deviceOpener(
  name: string,
  run: SimRunOptions = {},
): (target: TargetName, isStrict?: boolean) => Promise<Device> {
  if (name !== 'sim') {
    throw new WavesmithError('cli/usage', `There is no device '${name}'.`, { hint: "The device is 'sim'." });
  }
  return async (target, isStrict = false) => {
    const { createDevice } = await import('../../device/index.ts');
    const { nodeSimOptions } = await import('../../device/node/index.ts');
    return createDevice(name, { target, ...nodeSimOptions(), run: isStrict ? { ...run, strict: {} } : run });
  };
}
