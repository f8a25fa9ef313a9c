// Random kernels with random probes at random points: outputs, counts, records and values must be those of the original, and the result
// free of new findings: `npm run random-probes -- [--count N] [--seed S] [--probes N] [--seconds N] [--size small|full] [--batch N]`.
// `--batch` kernels are compiled and probed at once, by default 32 small ones; they are interpreted. Each code object gets `--probes` probes;
// every fourth runs in strict mode. Full kernels go one by one through the compiled engine.
import { parseArgs } from 'node:util';
import { checkProbe, compileRandom } from '../tests/instrument/random-probes/check.ts';
import { ALL_BUILDS } from '../tests/sim/random-kernels/check.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    probes: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '170' },
    size: { type: 'string', default: 'small' },
    batch: { type: 'string' },
  },
});
if (values.size !== 'small' && values.size !== 'full') throw new Error(`--size ${values.size} is not small or full`);
const { size } = values;
const [count, first, probes] = [Number(values.count), Number(values.seed), Number(values.probes)];
const batch = Number(values.batch ?? (size === 'small' ? 32 : 1));
let [kernels, runs, placed, tainted, failures, skipped] = [0, 0, 0, 0, 0, 0];
const start = performance.now();
const end = start + 1000 * Number(values.seconds);
const reasons = new Map<string, number>();
const summary = (): string =>
  `random-probes: ${kernels} kernels, ${runs} probes at ${placed} points, ${failures} failures, ` +
  `values not compared at ${tainted}, ${skipped} kernels skipped (a block lost by the compiler), ` +
  `${((performance.now() - start) / 1000).toFixed(0)} s, ${(process.cpuUsage().user / 1e6).toFixed(0)} s of processor time`;
let told = start;
for (let seed = first; seed < first + count && performance.now() < end; seed += batch) {
  const seeds = Array.from({ length: Math.min(batch, first + count - seed) }, (_, n) => seed + n);
  const turn = Math.floor(seed / batch);
  // Without optimisation kernels are ten times as long: of many kernels fewer are.
  const all = ALL_BUILDS.filter(({ level }) => batch === 1 || level > 0 || turn % 4 === 0);
  const build = all[(turn * 5) % all.length] as (typeof ALL_BUILDS)[number];
  const code = compileRandom(seeds, build, size);
  for (let n = 0; n < probes; n++) {
    const probe = seed * 1000 + n;
    const report = await checkProbe(code, probe, (turn + n) % 4 === 3, batch > 1 ? 'interpreter' : 'compiled');
    runs++;
    placed += report.placed;
    tainted += report.tainted;
    for (const [text, times] of Object.entries(report.rejected)) {
      const reason = text.replace(/(written|register) [svam]\w*(\[.*\])?/, '$1 …');
      reasons.set(reason, (reasons.get(reason) ?? 0) + times);
    }
    if (report.problems.length === 0) continue;
    failures++;
    console.log(
      `seeds ${seeds[0]} to ${seeds.at(-1)}, ${build.target} -O${build.level}, probe ${probe}:\n  ${report.problems.join('\n  ')}`,
    );
  }
  kernels += seeds.length - code.lost.size;
  skipped += code.lost.size;
  if (performance.now() > told + 60_000) {
    told = performance.now();
    console.log(summary());
  }
}
console.log(summary());
for (const [reason, times] of [...reasons].sort((a, b) => b[1] - a[1]))
  console.log(`  ${times} points left out: ${reason}`);
process.exit(failures === 0 ? 0 : 1);
