// `device/rocm` on the virtual HSA runtime: this process is a program whose GPU is the virtual one of a process of `wavesmith exec`.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { RocmDevice } from '../../src/device/rocm/rocm-device.ts';
import { findNativeBuild, loadAddon } from '../../src/runtime/addon.ts';
import { hasNativeBuild, root } from './native.ts';

export { hasNativeBuild };

const build = () => findNativeBuild(root);

/**
 * A process of its own: opens the GPU, with the ranges held first or not, and reserves them. It ends with 0 when every range is at its address, and
 * with 3 when one is not. Its arguments: the addon, the library, `held` or `free`, and addresses and sizes.
 */
const APERTURE = `
const [addon, library, mode, ...numbers] = process.argv.slice(1);
const module = { exports: {} };
process.dlopen(module, addon);
const { rocmOpen, rocmReserve } = module.exports;
const ranges = BigUint64Array.from(numbers, BigInt);
rocmOpen(library, 0, mode === 'held' ? ranges : new BigUint64Array());
for (let n = 0; n < numbers.length; n += 2)
  if (!rocmReserve(0, Number(numbers[n]), Number(numbers[n + 1]))) process.exit(3);
process.exit(0);
`;

/** Addresses that captured programs have: below and above those that programs, libraries and stacks have. */
export const APERTURE_RANGES = [
  [0x4100_0000_0000, 2 ** 24],
  [0x4f00_0000_0000, 2 ** 30],
  [0x5f00_1230_0000, 2 ** 21],
] as const;

/** How many of so many processes did not get the ranges at their addresses, when the runtime takes `aperture` for itself as it starts. */
export async function apertureFailures(runs: number, held: boolean, aperture: string): Promise<number> {
  await serve('gfx942');
  const library = join(build().libraries, 'libhsa-runtime64.so.1');
  const addon = join(build().libraries, 'wavesmith.node');
  let failures = 0;
  for (let n = 0; n < runs; n++) {
    const args = ['-e', APERTURE, addon, library, held ? 'held' : 'free', ...APERTURE_RANGES.flat().map(String)];
    const env = { ...process.env, WAVESMITH_SVM_APERTURE: aperture };
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    if (status === 3) failures++;
    else if (status !== 0) throw new Error(`a run ended with ${status}: ${stderr}`);
  }
  return failures;
}

let serving: Promise<void> | undefined;

/** Starts the device process, once; it ends with this process. */
function serve(target: string): Promise<void> {
  serving ??= new Promise((resolve, reject) => {
    const args = [join(root, 'bin/wavesmith'), 'exec', '--device', `sim:${target}`, '--serve', String(process.pid)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.once('error', reject);
    child.once('exit', (status) => reject(new Error(`the device process ended (${status})`)));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const socket = /WAVESMITH_SOCKET='([^']*)'/.exec(text)?.[1];
      if (socket === undefined || !text.endsWith('\n\n')) return;
      process.env.WAVESMITH_SOCKET = socket;
      child.unref();
      child.stdout.destroy();
      resolve();
    });
  });
  return serving;
}

/** A GPU behind the virtual runtime; of one target in a process. Without shared memory it cannot place code. */
export async function openRocm(target: string, hasSharedMemory = true): Promise<RocmDevice> {
  await serve(target);
  const addon = loadAddon(build());
  const rocmOpen: typeof addon.rocmOpen = (...given) => ({
    ...addon.rocmOpen(...given),
    ...(hasSharedMemory ? {} : { hasSharedMemory: 0 }),
  });
  return new RocmDevice({ addon: { ...addon, rocmOpen }, library: join(build().libraries, 'libhsa-runtime64.so.1') });
}
