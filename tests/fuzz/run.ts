// Mutation fuzzing of every parser of outside bytes: `npm run fuzz -- [NAME…] [--count N] [--seed S]`.
// A target may return or throw WavesmithError; anything else, a call over one second, or a memory jump is a failure.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { type FuzzTarget, fuzz } from './mutate.ts';

const root = process.cwd();
const folder = join(root, 'tests', 'fuzz');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});

const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && !['run.ts', 'mutate.ts'].includes(file) && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -3))
  .filter((name) => positionals.length === 0 || positionals.includes(name));
if (names.length === 0) {
  console.error(`fuzz: no target named ${positionals.join(', ')}.`);
  process.exit(2);
}
const out = join(root, 'node_modules', '.cache', 'wavesmith', 'fuzz');
mkdirSync(out, { recursive: true });
await build({
  entryPoints: names.map((name) => join(folder, `${name}.ts`)),
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});
let failed = 0;
for (const name of names) {
  const target = ((await import(pathToFileURL(join(out, `${name}.mjs`)).href)) as { default: FuzzTarget }).default;
  const report = await fuzz(target, Number(values.count), Number(values.seed), (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${target.name}: ${done}`);
  });
  if (process.stderr.isTTY) process.stderr.write('\r');
  console.log(
    `${target.name}: ${report.runs} inputs, ${report.accepted} accepted, ${report.rejected} typed errors, ` +
      `${report.failures.length} failures, slowest ${report.slowestMs.toFixed(0)} ms, heap +${(report.heapGrowth / 1e6).toFixed(0)} MB`,
  );
  for (const failure of report.failures.slice(0, 5)) {
    failed++;
    const file = join(out, `${name}-failure-${failed}.bin`);
    writeFileSync(file, failure.input);
    console.log(`  ${failure.reason}\n  input kept in ${file}`);
  }
}
process.exit(failed === 0 ? 0 : 1);
