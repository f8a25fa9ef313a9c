// The native addon of the device process (native/addon): shared memory, futex wakes, socket peers.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { FrameAddon } from '../device/node/frames.ts';
import type { RocmAddon } from '../device/rocm/addon.ts';

export interface Addon extends FrameAddon {
  /** Puts a new sparse memfd of `size` bytes under the pages of a WebAssembly memory, which show its first ones; its descriptor. */
  mapMemory(bytes: Uint8Array, size: number): number;
  /** Gives whole pages of such a file back to the system; they read as zero. */
  discard(descriptor: number, offset: number, size: number): void;
  /** Wakes what sleeps on the futex whose 4 bytes these are, in any process. */
  wake(word: Uint8Array): number;
  /** The process at the other end of a connected Unix socket. */
  peer(descriptor: number): { pid: number; uid: number };
  /** Another descriptor of the same open file. */
  duplicate(descriptor: number): number;
  /** This process gets SIGTERM when its parent ends. */
  endWithParent(): void;
}

/** Folder of the native build: `lib/wavesmith.node`, `lib/libhsa-runtime64.so.1`, `lib/libamdhip64.so`, `bin/wavesmith-launch`. */
export interface NativeBuild {
  readonly folder: string;
  readonly libraries: string;
  readonly launcher: string;
}

/** Finds the native build of this installation. `root` is the folder of package.json; WAVESMITH_NATIVE names another build. */
export function findNativeBuild(root: string): NativeBuild {
  const folder = process.env.WAVESMITH_NATIVE ?? join(root, 'native', 'build');
  const libraries = join(folder, 'lib');
  const launcher = join(folder, 'bin', 'wavesmith-launch');
  if (!existsSync(join(libraries, 'wavesmith.node')) || !existsSync(launcher)) {
    throw new WavesmithError('runtime/not-built', `The native runtime libraries are not built in ${folder}.`, {
      hint: "Run 'wavesmith doctor --build-native' (it needs cmake and a C++20 compiler); in a checkout 'npm run setup'.",
    });
  }
  return { folder, libraries, launcher };
}

/** Where the addon of a build is. */
export const addonFile = ({ libraries }: NativeBuild): string => join(libraries, 'wavesmith.node');

export function loadAddon(build: NativeBuild): Addon & RocmAddon {
  const path = addonFile(build);
  try {
    return createRequire(import.meta.url)(path) as Addon & RocmAddon;
  } catch (cause) {
    throw new WavesmithError('runtime/bad-addon', `The native addon ${path} cannot be loaded.`, {
      hint: `Delete the folder ${build.folder} and run 'wavesmith doctor --build-native'.`,
      cause,
    });
  }
}
