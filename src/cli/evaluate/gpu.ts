// The GPU that candidates are measured on.
import { WavesmithError } from '../../base/index.ts';
import { createDevice, type Device } from '../../device/index.ts';
import { isTargetName } from '../../isa/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { rocmOptionsFor } from '../rocm-options.ts';

/** Opens `rocm` or `rocm:N`, with the addresses of a capture free. The virtual GPU has no clock of its own, so it is a wrong use. */
export async function openGpu(capture: Capture, device = 'rocm'): Promise<Device> {
  const processor = capture.manifest.code.target.split(':')[0] ?? '';
  if (!/^rocm(?::\d+)?$/.test(device))
    throw new WavesmithError('cli/usage', `--device is rocm or rocm:N, not '${device}'.`);
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, {
      file: capture.path,
    });
  }
  return await createDevice(device, { target: processor, rocm: rocmOptionsFor(capture) });
}
