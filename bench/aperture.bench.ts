// `npm run bench aperture` (`node scripts/run-ts.mjs bench/aperture.bench.ts [--runs N]`): what a replay on a GPU does against the addresses that the
// runtime takes for itself when it starts. Each run is a process of its own on the virtual HSA runtime, which takes 5 TiB at a random place; half
// of them hold the captured addresses first, as `replay --device rocm` does.
import { apertureFailures, hasNativeBuild } from '../tests/support/rocm.ts';

const APERTURE = String(5 * 2 ** 40);
const at = process.argv.indexOf('--runs');
const runs = at < 0 ? 500 : Number(process.argv[at + 1]);
if (!hasNativeBuild()) process.exit(1);
const free = await apertureFailures(runs, false, APERTURE);
const held = await apertureFailures(runs, true, APERTURE);
console.log(
  `${runs} processes that do not hold the addresses first: ${free} did not get one of them (${((100 * free) / runs).toFixed(0)}%)`,
);
console.log(`${runs} processes that do: ${held} did not`);
process.exit(held === 0 && free > 0 ? 0 : 1);
