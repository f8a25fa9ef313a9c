// `--device rocm`: the native addon, and the HSA library that it opens.
import type { DeviceOptions } from '../device/index.ts';
import { packageRoot } from '../iree/tools.ts';
import { findNativeBuild, loadAddon } from '../runtime/addon.ts';

/** Environment: another library than the system's `libhsa-runtime64.so.1`. */
const LIBRARY_VARIABLE = 'WAVESMITH_HSA';

/** For `createDevice`; nothing is loaded before a GPU is opened. The ranges are kept free while the runtime starts. */
export function rocmOptions(
  keepFree: readonly { readonly address: number; readonly size: number }[] = [],
): DeviceOptions['rocm'] {
  return () => ({
    addon: loadAddon(findNativeBuild(packageRoot() ?? '.')),
    library: process.env[LIBRARY_VARIABLE],
    keepFree: keepFree.filter(({ size }) => size > 0),
  });
}
