// `--device rocm`: the native addon, and the HSA library that it opens.
import type { DeviceOptions } from '../device/index.ts';
import { packageRoot } from '../iree/tools.ts';
import { findNativeBuild, loadAddon } from '../runtime/addon.ts';
import type { Capture } from '../snapshot/index.ts';

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

/** The same for the replay of a capture, whose addresses are kept free. */
export function rocmOptionsFor({ chunks, manifest }: Capture): DeviceOptions['rocm'] {
  return rocmOptions([
    ...chunks.map((c) => c.allocation),
    ...manifest.memory.allocations.filter(({ kind }) => kind === 'code'),
  ]);
}
