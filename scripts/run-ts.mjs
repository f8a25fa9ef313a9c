// Runs one TypeScript file of the tree with this Node: `node scripts/run-ts.mjs FILE [args…]`. Bundles with esbuild first.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/run-ts.mjs FILE [args…]');
  process.exit(2);
}
const entry = resolve(file);
const folder = join(root, 'node_modules', '.cache', 'wavesmith');
mkdirSync(folder, { recursive: true });
const out = join(folder, `${createHash('sha1').update(entry).digest('hex').slice(0, 12)}-${process.pid}.mjs`);
await build({
  entryPoints: [entry],
  outfile: out,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  // Beside the bundle: inline, 50 MB of each process would be the map.
  sourcemap: 'linked',
  logLevel: 'warning',
});
process.argv = [process.argv[0], entry, ...args];
try {
  await import(pathToFileURL(out).href);
} catch (error) {
  if (!String(error?.code).startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(`${file}: ${error.message.split('\n')[0]}`);
  console.error('The head of that file says which options it takes.');
  process.exitCode = 2;
} finally {
  const { rmSync } = await import('node:fs');
  for (const made of [out, `${out}.map`]) rmSync(made, { force: true });
}
