// The thread that reads tables, bundled from the sources as they are now: Node's worker threads cannot load TypeScript.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

async function make(): Promise<string> {
  const folder = join(root, 'node_modules', '.cache', 'wavesmith');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `table-thread-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, 'src/profile/node/table-thread.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  return outfile;
}

let file: Promise<string> | undefined;

/** The path of a fresh bundle. */
export function tableThread(): Promise<string> {
  file ??= make();
  return file;
}
