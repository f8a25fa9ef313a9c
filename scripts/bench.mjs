// `npm run bench [NAME…] [-- OPTIONS]`: runs bench/*.bench.ts one after the other; each prints its own table of interleaved A/B ratios.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const firstOption = given.findIndex((a) => a.startsWith('--'));
const asked = firstOption < 0 ? given : given.slice(0, firstOption);
const options = (firstOption < 0 ? [] : given.slice(firstOption)).filter((option) => option !== '--');
const SUFFIX = '.bench.ts';
const all = readdirSync(join(root, 'bench')).filter((file) => file.endsWith(SUFFIX));
if (asked.length === 0 && options.includes('--help')) {
  console.log('npm run bench [NAME…] [-- OPTIONS]: runs benchmarks one after the other, all without a name.');
  console.log(`Names: ${all.map((file) => file.slice(0, -SUFFIX.length)).join(', ')}`);
  process.exit(0);
}
const files = all.filter((file) => asked.length === 0 || asked.includes(file.slice(0, -SUFFIX.length)));
if (files.length === 0) {
  console.error(`bench: no benchmark named ${asked.join(', ')}.`);
  process.exit(2);
}
let failed = false;
for (const file of files) {
  console.log(`\n== ${file}`);
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'scripts/run-ts.mjs'), join(root, 'bench', file), ...options],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
