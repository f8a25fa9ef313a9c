// Makes fixtures/ again with the real iree-compile: `node scripts/make-fixtures.mjs`. The result does not depend on where the
// checkout is: inputs are given by relative path and the compiler's folder is left out of the manifest.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inputs = { 'matmul_f16.gfx942': 'examples/matmul_f16.mlir' };

for (const [name, input] of Object.entries(inputs)) {
  const folder = `fixtures/${name}`;
  const run = spawnSync(
    process.execPath,
    [join(root, 'bin', 'wavesmith'), 'hijack', 'init', input, '-o', folder, '--target', 'gfx942', '--force'],
    { cwd: root, stdio: 'inherit' },
  );
  if (run.status !== 0) process.exit(run.status ?? 1);
  const path = join(root, folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.compiler.path = 'iree-compile';
  manifest.compiler.commandLine[0] = 'iree-compile';
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}
