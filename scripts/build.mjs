// Bundles the CLI and the library layers into dist/ when a source is newer than the last build. `--types` adds .d.ts files.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');
const layers = ['base', 'isa', 'codeobject', 'asm', 'device', 'iree'];

/** Newest modification time (ms) of any file below `folder`. */
function newest(folder) {
  let latest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

/** True when dist/ is missing or older than a source. */
export function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return newest(join(root, 'src')) > built || statSync(join(root, 'package.json')).mtimeMs > built;
}

/** Builds dist/ whole. Two builds at once write the same files, so the last one wins with the same content. */
export async function buildAll() {
  const { build } = await import('esbuild');
  const started = new Date();
  const common = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    splitting: true,
    minifySyntax: true,
    logLevel: 'warning',
    sourcemap: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
  };
  const outdir = join(root, 'dist');
  rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const entryPoints = { cli: join(root, 'src/cli/main.ts') };
  for (const layer of layers) entryPoints[layer] = join(root, `src/${layer}/index.ts`);
  await build({ ...common, entryPoints, outdir });
  writeFileSync(stamp, `${started.toISOString()}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildAll();
  if (process.argv.includes('--types')) {
    const done = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.types.json')], {
      stdio: 'inherit',
    });
    process.exit(done.status ?? 1);
  }
}
