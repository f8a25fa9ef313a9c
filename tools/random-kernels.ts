// Random C kernels, compiled for the host and for the three targets, must give the same bits everywhere:
// `npm run random-kernels -- [--count N] [--seed S] [--builds all|N] [--print]`. `--builds N` takes N of the twelve builds per seed, in turn.
import { parseArgs } from 'node:util';
import { ALL_BUILDS, checkSeed } from '../tests/sim/random-kernels/check.ts';
import { randomKernel } from '../tests/sim/random-kernels/generate.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    builds: { type: 'string', default: '2' },
    print: { type: 'boolean', default: false },
  },
});
const [count, seed] = [Number(values.count), Number(values.seed)];
if (values.print) {
  console.log(randomKernel(seed));
  process.exit(0);
}
const perSeed = values.builds === 'all' ? ALL_BUILDS.length : Number(values.builds);
let [runs, instructions, failures, skipped] = [0, 0, 0, 0];
for (let n = 0; n < count; n++) {
  const builds = Array.from({ length: perSeed }, (_, b) => ALL_BUILDS[(n * 5 + b * 7) % ALL_BUILDS.length]).filter(
    (build) => build !== undefined,
  );
  const result = await checkSeed(seed + n, builds);
  runs += builds.length;
  instructions += result.instructions;
  skipped += result.skipped;
  for (const m of result.mismatches) {
    failures++;
    console.log(`seed ${m.seed}, ${m.target} -O${m.level}: ${m.text}`);
  }
}
console.log(
  `random-kernels: ${count} kernels, ${runs} builds, ${instructions} instructions, ${failures} failures, ${skipped} builds skipped (a block lost by the compiler)`,
);
process.exit(failures === 0 ? 0 : 1);
