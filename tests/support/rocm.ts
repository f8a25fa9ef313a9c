// `device/rocm` on the virtual HSA runtime: this process is a program whose GPU is the virtual one of a process of `wavesmith exec`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { RocmDevice } from '../../src/device/rocm/rocm-device.ts';
import { findNativeBuild, loadAddon } from '../../src/runtime/addon.ts';
import { hasNativeBuild, root } from './native.ts';

export { hasNativeBuild };

const build = () => findNativeBuild(root);

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

/** A GPU behind the virtual runtime; of one target in a process. */
export async function openRocm(target: string): Promise<RocmDevice> {
  await serve(target);
  return new RocmDevice({ addon: loadAddon(build()), library: join(build().libraries, 'libhsa-runtime64.so.1') });
}
