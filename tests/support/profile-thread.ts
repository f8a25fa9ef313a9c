// Threads that read profiles, bundled from the sources as they are now: Node's worker threads cannot load TypeScript.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

async function make(name: string): Promise<string> {
  const folder = join(root, 'node_modules', '.cache', 'wavesmith');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, `src/profile/node/${name}.ts`)],
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

const files = new Map<string, Promise<string>>();

/** The path of a fresh bundle of `table-thread` or `database-thread`. */
export function profileThread(name: 'table-thread' | 'database-thread'): Promise<string> {
  const file = files.get(name) ?? make(name);
  files.set(name, file);
  return file;
}
