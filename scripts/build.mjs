// Bundles the CLI and the library layers into dist/. `--types` adds .d.ts files; `--clean` starts from an empty dist/ (packing).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { commonJsFiles, withDigest } from './commonjs.mjs';
import { stamp } from './stale.cjs';
import { threadFiles } from './thread-bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const layers = [
  'base',
  'isa',
  'codeobject',
  'asm',
  'program',
  'finding',
  'check',
  'rewrite',
  'instrument',
  'equivalence',
  'device',
  'verdict',
  'snapshot',
  'profile',
  'report',
  'iree',
  'rocmlir',
  'lsp',
];

/** A hash of all files below folders. */
function sourceHash(...folders) {
  const hash = createHash('sha256');
  const add = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
    else hash.update(`${relative(root, path)}\n`).update(readFileSync(path));
  };
  for (const folder of folders) add(folder);
  return hash.digest('hex');
}

/**
 * commander loads node:child_process, and with it the network, for subcommands that are programs of their own. We have none,
 * so it loads when one is started.
 */
const lazyChildProcess = {
  name: 'lazy-child-process',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/commander\/lib\/command\.js$/ }, ({ path }) => {
      const eager = "const childProcess = require('node:child_process');";
      const lazy = "const childProcess = { spawn: (...args) => require('node:child_process').spawn(...args) };";
      const contents = readFileSync(path, 'utf8').replace(eager, lazy);
      if (!contents.includes(lazy)) throw new Error(`${path} loads node:child_process in another way`);
      return { contents, loader: 'js' };
    }),
};

/** Packages that take milliseconds to load and that few inputs need, with the functions and classes that the sources import. */
const LAZY_PACKAGES = new Map([
  ['fflate', ['unzipSync', 'Zip', 'ZipPassThrough']],
  ['fflate/browser', ['unzlibSync']],
  ['yaml', ['isMap', 'isScalar', 'isSeq', 'LineCounter', 'parse', 'parseDocument', 'stringify']],
]);

/** Such a package loads when one of its functions is first called. */
const lazyPackages = {
  name: 'lazy-packages',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^(fflate(\/browser)?|yaml)$/ }, ({ path, kind, importer }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'lazy-packages', pluginData: dirname(importer) },
    );
    onLoad({ filter: /./, namespace: 'lazy-packages' }, ({ path, pluginData }) => {
      const names = LAZY_PACKAGES.get(path);
      const lazy = (name) =>
        `export function ${name}(...args) { const real = require('${path}').${name}; return new.target ? new real(...args) : real(...args); }`;
      return { contents: names.map(lazy).join('\n'), resolveDir: pluginData };
    });
  },
};

/** What bin/wavesmith loads, and what a thread of the virtual GPU begins with: dist/NAME.cjs, of src/cli/boot/NAME.ts. */
const BOOTS = ['boot', 'sim-thread'];
const boot = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning' };

/** How long what an earlier build wrote stays, ms: another process may still be about to load it. */
const GRACE_MS = 3_600_000;

/**
 * Builds dist/ whole. Commands may run at the same time, and others may build: every file is there whole or not at all, what a file loads is there
 * before it, and the stamp comes last with the time of the sources that were read. So nobody waits for a build, or for one that was killed.
 */
export async function buildAll() {
  const { build } = await import('esbuild');
  const started = new Date();
  const common = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    splitting: true,
    plugins: [lazyChildProcess, lazyPackages],
    // esbuild reads users' probes, and finds its own binary beside itself; piscina its thread. The others are for language models and queues: large,
    // and not for scripts.
    external: ['esbuild', 'ai', '@ai-sdk/*', 'piscina', 'bullmq', 'ioredis', '@bull-board/*', 'hono', '@hono/*'],
    minifySyntax: true,
    logLevel: 'warning',
    sourcemap: true,
    define: {
      WAVESMITH_BUILD: JSON.stringify(sourceHash(join(root, 'src', 'isa'), join(root, 'src', 'device'))),
      WAVESMITH_PROBE_BUILD: JSON.stringify(
        sourceHash(
          ...['isa', 'codeobject', 'program', 'check', 'rewrite', 'instrument'].map((room) => join(root, 'src', room)),
        ),
      ),
    },
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
  };
  const outdir = join(root, 'dist');
  mkdirSync(outdir, { recursive: true });
  const entryPoints = {
    cli: join(root, 'src/cli/main.ts'),
    'device-node': join(root, 'src/device/node/index.ts'),
    'table-thread': join(root, 'src/profile/node/table-thread.ts'),
    'database-thread': join(root, 'src/profile/node/database-thread.ts'),
    'task-thread': join(root, 'src/optimize/evaluators/task-thread.ts'),
  };
  for (const layer of layers) entryPoints[layer] = join(root, `src/${layer}/index.ts`);
  const made = await build({ ...common, entryPoints, outdir, metafile: true, absWorkingDir: root, write: false });
  const { outputs } = made.metafile;
  const thread = await threadFiles(root, outdir, common.define);
  const commands = commonJsFiles(outdir, outputs, made.outputFiles);
  const scripts = withDigest(new Map([...commands, ...thread]), ['cli.cjs', 'sim-worker.cjs']);
  const boots = await build({
    ...boot,
    entryPoints: BOOTS.map((name) => join(root, `src/cli/boot/${name}.ts`)),
    outdir,
    outExtension: { '.js': '.cjs' },
    write: false,
  });
  const files = [...made.outputFiles.map(({ path, contents }) => [path, contents]), ...scripts];
  const isChunk = ([path]) => basename(dirname(path)) === 'chunks';
  mkdirSync(join(outdir, 'chunks'), { recursive: true });
  for (const [path, content] of [...files.filter(isChunk), ...files.filter((file) => !isChunk(file))])
    write(path, content);
  for (const { path, contents } of boots.outputFiles) write(path, contents);
  const current = new Set([...Object.keys(outputs), ...[...scripts.keys()].map((path) => relative(root, path))]);
  removeOld(join(outdir, 'chunks'), ({ path }) => !current.has(relative(root, path)));
  removeOld(outdir, ({ name }) => name.includes(PART));
  write(stamp, Buffer.from(`${started.toISOString()}\n`), started);
}

/** Files that are being written. */
const PART = '.tmp-';

/** Writes a file whole. What is there already stays, with a new time. */
function write(path, content, time = new Date()) {
  const bytes = Buffer.from(content);
  const isThere = statSync(path, { throwIfNoEntry: false })?.size === bytes.length && readFileSync(path).equals(bytes);
  if (isThere) return utimesSync(path, time, time);
  if (path.endsWith('.cjs')) new Script(bytes.toString('latin1'), { filename: path });
  const part = `${path}${PART}${process.pid}`;
  writeFileSync(part, bytes);
  utimesSync(part, time, time);
  renameSync(part, path);
}

/** Removes files of a folder that nobody has written for an hour. */
function removeOld(folder, isOld) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another build may remove it first.
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (isOld({ name, path }) && Date.now() - written > GRACE_MS) rmSync(path, { force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--clean')) rmSync(join(root, 'dist'), { recursive: true, force: true });
  await buildAll();
  if (process.argv.includes('--types')) {
    const done = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.types.json')], {
      stdio: 'inherit',
    });
    process.exit(done.status ?? 1);
  }
}
