import type { Device } from '../../device/device.ts';
import type { TargetName } from '../../isa/types.ts';
export function deviceOpener(_name: string): (target: TargetName) => Promise<Device> {
  return async () => { throw new Error('temp'); };
}
