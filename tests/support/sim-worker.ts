// The virtual GPU's worker thread, bundled from the sources as they are now: Node's worker threads cannot load TypeScript.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { WorkerHost } from '../../src/device/index.ts';
import { nodeWorkerHost } from '../../src/device/node/index.ts';

const root = join(import.meta.dirname, '..', '..');
let host: Promise<WorkerHost> | undefined;

async function make(): Promise<WorkerHost> {
  const folder = join(root, 'node_modules', '.cache', 'wavesmith');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `sim-worker-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, 'src/device/node/sim-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  const made = nodeWorkerHost(outfile);
  if (made === undefined) throw new Error('no worker host');
  return made;
}

/** A worker host over a fresh bundle of the sources. */
export function workerHost(): Promise<WorkerHost> {
  host ??= make();
  return host;
}
