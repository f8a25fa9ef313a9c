// Prints a table of the hand-written and hipBLASLt kernels of the reference corpus run on the virtual GPU, both engines:
// `node scripts/run-ts.mjs tools/real-kernels.ts [TEXT]`. Columns: instructions (per wavefront), error relative to the largest
// reference value, what is allowed.
import { AITER_KERNELS } from '../tests/sim/kernels/aiter-cases.ts';
import { TENSILE_KERNELS } from '../tests/sim/kernels/tensile-cases.ts';

const wanted = process.argv[2] ?? '';
const families = { ...AITER_KERNELS, 'hipBLASLt GEMM': TENSILE_KERNELS };
let failures = 0;
for (const [family, cases] of Object.entries(families)) {
  for (const [name, tolerance, run] of cases) {
    if (!`${family} ${name}`.includes(wanted)) continue;
    const { worst, largest, instructions } = await run();
    const error = worst / largest;
    if (!(error < tolerance)) failures++;
    console.log(
      `| ${family} | ${name} | ${instructions} | ${error.toExponential(1)} | ${tolerance.toExponential(1)} |${error < tolerance ? '' : ' WRONG'}`,
    );
  }
}
process.exit(failures === 0 ? 0 : 1);
