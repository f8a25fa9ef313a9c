// The wait states of `wavesmith check` beside those of LLVM 22: pairs of instructions through `llc -run-pass=post-RA-hazard-rec`.
// `npm run bench hazards-vs-llc`, or `node scripts/run-ts.mjs bench/hazards-vs-llc.bench.ts [--pairs N] [--seed N] [--target T] [--list]`:
// N pairs for a target (default 20,000). The seed chooses the members of the classes and their order.
import { randomNumbers } from '../src/base/index.ts';
import { printInstruction, TARGET_NAMES } from '../src/isa/index.ts';
import { compareHazards, type Difference } from '../tests/support/hazard-pairs/compare.ts';

const args = process.argv.slice(2);
const value = (name: string, fallback: string): string => {
  const at = args.indexOf(name);
  return at < 0 ? fallback : (args[at + 1] ?? fallback);
};
const most = Number(value('--pairs', '20000'));
const random = randomNumbers(Number(value('--seed', '1')));
const only = value('--target', '');
let undocumented = 0;
for (const target of TARGET_NAMES.filter((name) => only === '' || name === only)) {
  const found = compareHazards(target, most, (bound) => Math.floor(random() * bound));
  const { pairs, hazards, classes, differences, unknown } = found;
  const unexplained = differences.filter(({ reason }) => reason === undefined);
  undocumented += unexplained.length;
  const reasons = new Map<string, number>();
  for (const { reason } of differences) if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  console.log(
    `${target}: ${classes} classes, ${pairs} pairs, ${hazards} with a wait in LLVM; ${pairs - differences.length} the same, ` +
      `${differences.length - unexplained.length} differ for a reason, ${unexplained.length} without`,
  );
  for (const [reason, n] of reasons) console.log(`  ${String(n).padStart(6)}  ${reason}`);
  if (unknown.length > 0) console.log(`  not in MIR: ${unknown.join(', ')}`);
  const groups = new Map<string, Difference[]>();
  for (const one of unexplained) {
    const key = `LLVM ${one.llvm}, check ${one.own} ${one.rule}: ${one.pair.shared}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  for (const [key, list] of [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .slice(0, args.includes('--list') ? undefined : 20)) {
    const { first, second } = (list[0] as Difference).pair;
    console.log(
      `  ${String(list.length).padStart(6)}  ${key}: ${printInstruction(target, first)} / ${printInstruction(target, second)}`,
    );
  }
}
process.exit(undocumented > 0 ? 1 : 0);
