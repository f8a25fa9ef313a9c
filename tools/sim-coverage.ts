// Prints what the virtual GPU does with the instruction tables of the three targets: the table of docs/virtual-gpu.md, the refused
// operations with their reasons and, with --interpreted, the operations that have no compiled form.
// Run in the checkout: node scripts/run-ts.mjs tools/sim-coverage.ts [--interpreted]
import { coverageOf, coverageTable } from '../tests/support/sim-coverage.ts';

const all = (['gfx90a', 'gfx942', 'gfx950'] as const).map(coverageOf);
console.log(coverageTable(all).join('\n'));
for (const { target, refused, executed, compiled } of all) {
  for (const reason of new Set(refused.values())) {
    const operations = [...refused].filter(([, r]) => r === reason).map(([name]) => name);
    console.log(`${target} refuses ${operations.join(', ')}: ${reason}`);
  }
  if (process.argv.includes('--interpreted')) {
    console.log(`${target} interprets ${[...executed].filter((name) => !compiled.has(name)).join(', ')}`);
  }
}
