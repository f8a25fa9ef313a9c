// `npm test`: set-up, then lint and format, types, layers, generated files, build, and the test suite. Stops at the first failure.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules/.bin', name);

function step(name, command, args) {
  const started = Date.now();
  console.log(`\n== ${name}`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) console.error(error.message);
  if (status !== 0) {
    console.error(`== ${name} failed`);
    process.exit(status ?? 1);
  }
  console.log(`== ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

step('set-up', process.execPath, [join(root, 'scripts/setup.mjs')]);
step('lint and format', bin('biome'), ['check', '--error-on-warnings', '.']);
step('native format', process.execPath, [join(root, 'scripts/lint-native.mjs'), '--format']);
step('types', bin('tsc'), ['--noEmit']);
step('layers', process.execPath, [join(root, 'scripts/check-layers.mjs')]);
step('generated files reproduce', process.execPath, [
  join(root, 'scripts/run-ts.mjs'),
  join(root, 'tools/gen-isa/main.ts'),
  '--check',
]);
step('build', process.execPath, [join(root, 'scripts/build.mjs'), '--types']);
step('tests', bin('vitest'), ['run', ...process.argv.slice(2)]);
