// Random kernels with random probes at random points: outputs, counts, records and values must be those of the original, and the result
// free of new findings: `npm run random-probes -- [--count N] [--seed S] [--probes N] [--seconds N] [--size small|full]`.
// Each kernel gets `--probes` probes; every fourth runs in strict mode. Small kernels are interpreted: many fit into a minute.
import { parseArgs } from 'node:util';
import { checkProbe, compileRandom } from '../tests/instrument/random-probes/check.ts';
import { ALL_BUILDS } from '../tests/sim/random-kernels/check.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    probes: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '170' },
    size: { type: 'string', default: 'full' },
  },
});
if (values.size !== 'small' && values.size !== 'full') throw new Error(`--size ${values.size} is not small or full`);
const { size } = values;
const [count, first, probes] = [Number(values.count), Number(values.seed), Number(values.probes)];
let [runs, placed, tainted, failures, skipped] = [0, 0, 0, 0, 0];
const end = performance.now() + 1000 * Number(values.seconds);
let kernels = 0;
const reasons = new Map<string, number>();
for (let seed = first; seed < first + count && performance.now() < end; seed++) {
  kernels++;
  const build = ALL_BUILDS[(seed * 5) % ALL_BUILDS.length] as (typeof ALL_BUILDS)[number];
  const code = compileRandom(seed, build, size);
  if (code === undefined) {
    skipped++;
    continue;
  }
  for (let n = 0; n < probes; n++) {
    const probe = seed * 1000 + n;
    const report = await checkProbe(
      code,
      probe,
      (size === 'small' ? seed : n) % 4 === 3,
      size === 'small' ? 'interpreter' : 'compiled',
    );
    runs++;
    placed += report.placed;
    tainted += report.tainted;
    for (const [text, times] of Object.entries(report.rejected)) {
      const reason = text.replace(/written \w+/, 'written a register');
      reasons.set(reason, (reasons.get(reason) ?? 0) + times);
    }
    if (report.problems.length === 0) continue;
    failures++;
    console.log(`seed ${seed}, ${build.target} -O${build.level}, probe ${probe}:\n  ${report.problems.join('\n  ')}`);
  }
}
console.log(
  `random-probes: ${kernels - skipped} kernels, ${runs} probes at ${placed} points, ${failures} failures, ` +
    `values not compared at ${tainted}, ${skipped} kernels skipped (a block lost by the compiler)`,
);
for (const [reason, times] of [...reasons].sort((a, b) => b[1] - a[1]))
  console.log(`  ${times} points left out: ${reason}`);
process.exit(failures === 0 ? 0 : 1);
