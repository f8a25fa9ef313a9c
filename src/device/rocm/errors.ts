// Failures of the HSA runtime as typed errors.
import { WavesmithError } from '../../base/index.ts';

/** Calls the addon; what the runtime refuses is `device/hsa`, memory that it does not have `device/out-of-memory`. */
export function callHsa<T>(call: () => T, what: string): T {
  try {
    return call();
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    switch (code) {
      case 'ROCM_OUT_OF_MEMORY':
        throw new WavesmithError('device/out-of-memory', `The GPU has no memory for '${what}': ${cause.message}.`, {
          cause,
        });
      case 'ROCM_NO_LIBRARY':
        throw new WavesmithError('device/no-rocm', `The HSA runtime cannot be loaded: ${cause.message}.`, {
          hint: "Install ROCm's hsa-rocr or Debian's libhsa-runtime64-1, or name the library in WAVESMITH_HSA.",
          cause,
        });
      case 'ROCM_NO_GPU':
        throw new WavesmithError(
          'device/no-gpu',
          cause.message === '0'
            ? 'The HSA runtime finds no GPU.'
            : `The HSA runtime finds ${cause.message} GPU(s); the one asked for is not among them.`,
          {
            hint: 'Check that the amdgpu driver is loaded, that /dev/kfd may be opened, and ROCR_VISIBLE_DEVICES.',
            cause,
          },
        );
      case 'ROCM_ADDRESS_TAKEN':
        throw new WavesmithError('device/address-taken', `The address ${cause.message} is taken in this process.`, {
          hint: "'wavesmith replay reserve-check' names what is in the way.",
          cause,
        });
      case 'ROCM_FAILED':
        throw new WavesmithError('device/hsa', `The HSA runtime failed: ${cause.message}.`, { cause });
      default:
        throw cause;
    }
  }
}
