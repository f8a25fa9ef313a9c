// The virtual GPU's worker thread, bundled from the sources as they are now: Node's worker threads cannot load TypeScript. It loads late what that in dist/
// loads late.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { lateModules } from '../../scripts/late-modules.mjs';
import type { WorkerHost } from '../../src/device/index.ts';
import { nodeWorkerHost } from '../../src/device/node/index.ts';

/** A worker host over a fresh bundle of the sources below `root`. A script is loaded faster than a module. */
export async function bundledWorkerHost(root: string): Promise<WorkerHost> {
  const folder = join(root, 'node_modules', '.cache', 'wavesmith');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `sim-worker-${process.pid}.cjs`);
  await build({
    stdin: { contents: "import { serve } from './src/device/node/sim-worker.ts';\nserve();\n", resolveDir: root },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    packages: 'external',
    plugins: [lateModules],
    define: { 'import.meta.url': 'urlOfScript' },
    banner: { js: "const urlOfScript = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
  const made = nodeWorkerHost(outfile);
  if (made === undefined) throw new Error('no worker host');
  return made;
}

let host: Promise<WorkerHost> | undefined;

/** A worker host over a fresh bundle of the sources, for tests. */
export function workerHost(): Promise<WorkerHost> {
  host ??= bundledWorkerHost(join(import.meta.dirname, '..', '..'));
  return host;
}
