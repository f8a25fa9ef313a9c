// The device that `--device` names, as something that opens one.
import { WavesmithError } from '../../base/index.ts';
import type { Device } from '../../device/device.ts';
import type { SimRunOptions } from '../../device/sim/options.ts';
import type { TargetName } from '../../isa/types.ts';
import type { Capture } from '../../snapshot/index.ts';

/** Checks a value of `--device`: `sim`, or `sim:TARGET` where TARGET must be that of the code. */
export function simDevice(device: string): (target: TargetName) => void {
  const match = /^sim(?::(.+))?$/.exec(device);
  if (match === null) {
    throw new WavesmithError('cli/usage', `There is no device '${device}'.`, {
      hint: "The device is 'sim', 'sim:TARGET' with the target of the module, or 'rocm'.",
    });
  }
  return (target) => {
    if (match[1] === undefined || match[1].replace(/:.*/, '') === target) return;
    throw new WavesmithError(
      'hijack/target-mismatch',
      `The device is ${device}, and the module's code is for ${target}.`,
      {
        hint: `Use --device sim:${target}, or just --device sim.`,
      },
    );
  };
}

/** Opens devices of the kind that `name` says; an unknown one is a usage error. */
export function deviceOpener(
  name: string,
  run: SimRunOptions = {},
): (target: TargetName, isStrict?: boolean) => Promise<Device> {
  const check = simDevice(name);
  return async (target, isStrict = false) => {
    check(target);
    const { createDevice } = await import('../../device/index.ts');
    const { nodeSimOptions } = await import('../../device/node/index.ts');
    return createDevice('sim', { target, ...nodeSimOptions(), run: isStrict ? { ...run, strict: {} } : run });
  };
}

/** Whether `--device` is a GPU of this machine. */
export const isRocm = (name: string): boolean => /^rocm(:|$)/.test(name);

/** Opens a GPU of this machine; for the replay of a capture, whose addresses are kept free. */
export async function openRocm(name: string, target: TargetName, capture?: Capture): Promise<Device> {
  const { createDevice } = await import('../../device/index.ts');
  const { rocmOptions, rocmOptionsFor } = await import('../rocm-options.ts');
  return createDevice(name, { target, rocm: capture === undefined ? rocmOptions() : rocmOptionsFor(capture) });
}
