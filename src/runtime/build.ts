// Builds the native libraries of an installed package or a checkout with cmake: `wavesmith doctor --build-native`.
// Nothing is downloaded: what is missing is named with the Debian package that has it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { findNativeBuild, type NativeBuild } from './addon.ts';

interface Need {
  readonly what: string;
  readonly debian: string;
  readonly isPresent: () => boolean;
}

const runs = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

const NEEDS: readonly Need[] = [
  { what: 'cmake', debian: 'cmake', isPresent: () => runs('cmake') },
  { what: 'make', debian: 'make', isPresent: () => runs('make') },
  { what: 'a C++20 compiler', debian: 'g++', isPresent: () => runs('c++') },
  {
    what: 'the HSA headers',
    debian: 'libhsa-runtime-dev',
    isPresent: () => existsSync('/usr/include/hsa/hsa_ext_amd.h'),
  },
  {
    what: 'the HIP headers',
    debian: 'libamdhip64-dev',
    isPresent: () => existsSync('/usr/include/hip/hip_runtime_api.h'),
  },
];

/** Builds into `native/build` of the package, or into WAVESMITH_NATIVE. `root` is the folder of package.json. */
export function buildNative(root: string): NativeBuild {
  const missing = NEEDS.filter((need) => !need.isPresent());
  if (missing.length > 0) {
    throw new WavesmithError(
      'runtime/cannot-build',
      `To build, ${missing.map((m) => m.what).join(', ')} are missing.`,
      {
        hint: `On Debian: apt-get install ${missing.map((m) => m.debian).join(' ')}.`,
      },
    );
  }
  const source = join(root, 'native');
  if (!existsSync(join(source, 'CMakeLists.txt'))) {
    throw new WavesmithError('runtime/cannot-build', `${source} has no sources of the native libraries.`);
  }
  const build = process.env.WAVESMITH_NATIVE ?? join(source, 'build');
  const headers = join(dirname(createRequire(import.meta.url).resolve('node-api-headers/package.json')), 'include');
  cmake(['-S', source, '-B', build, `-DWAVESMITH_NODE_INCLUDE=${headers}`]);
  cmake(['--build', build, '--parallel', '2']);
  return findNativeBuild(root);
}

function cmake(args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync('cmake', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 0) return;
  const lines = `${stdout ?? ''}${stderr ?? ''}`.split('\n');
  const first = error?.message ?? lines.find((line) => /error/i.test(line)) ?? lines.slice(-3).join(' ');
  throw new WavesmithError('runtime/cannot-build', `cmake ${args[0]} failed: ${first.trim()}`, {
    hint: 'If the folder cannot be written, name another one with WAVESMITH_NATIVE, for exec too.',
  });
}
