// Runs the real kernels of the tests on the virtual GPU as they are and rewritten, with an s_nop before every instruction, and compares
// every byte: `node scripts/run-ts.mjs tools/transparency.ts [--strict] [--everywhere] [--reach=BYTES] [TEXT]`. With --everywhere also
// behind every instruction and on every edge; --reach pretends that branches reach less, so that islands are needed.
import { readCodeObject } from '../src/codeobject/index.ts';
import { liftCodeObject } from '../src/program/index.ts';
import { rewriteProgram } from '../src/rewrite/index.ts';
import { AITER_KERNELS } from '../tests/sim/kernels/aiter-cases.ts';
import { type ChangedCode, changedRuns } from '../tests/sim/kernels/support.ts';
import { TENSILE_KERNELS } from '../tests/sim/kernels/tensile-cases.ts';
import { padEveryInstruction, padEveryPoint } from '../tests/support/rewrite.ts';

const args = process.argv.slice(2);
changedRuns.strict = args.includes('--strict');
const pad = args.includes('--everywhere') ? padEveryPoint : padEveryInstruction;
const reachText = args.find((arg) => arg.startsWith('--reach='))?.slice(8);
const reach = reachText === undefined ? undefined : Number(reachText);
const wanted = args.find((arg) => !arg.startsWith('--')) ?? '';
changedRuns.change = (bytes): ChangedCode => {
  const program = liftCodeObject(readCodeObject(bytes));
  const { codeObject } = rewriteProgram(program, { edits: pad(program), reach });
  return {
    bytes: codeObject.bytes,
    compare: ({ original, changed }) => {
      const [a, b] = [original.diagnostics?.length ?? 0, changed.diagnostics?.length ?? 0];
      if (a !== b) throw new Error(`${a} strict findings became ${b}`);
    },
  };
};
let failures = 0;
for (const [family, cases] of Object.entries({ ...AITER_KERNELS, 'hipBLASLt GEMM': TENSILE_KERNELS })) {
  for (const [name, tolerance, run] of cases) {
    if (!`${family} ${name}`.includes(wanted)) continue;
    try {
      const { worst, largest, instructions } = await run();
      if (!(worst / largest < tolerance)) throw new Error(`error ${worst / largest}`);
      console.log(`same  ${family}: ${name} (${instructions} instructions)`);
    } catch (error) {
      failures++;
      console.log(`WRONG ${family}: ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
process.exit(failures === 0 ? 0 : 1);
