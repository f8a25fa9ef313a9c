import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TARGET_NAMES } from '../src/isa/table/target-names.ts';
import { targetInfo } from '../src/isa/table/targets.ts';

/** Hand-written files of src/, tests left out. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : sources(path);
    return entry.name.endsWith('.ts') && !/\.(test|cases)\.ts$/.test(entry.name) ? [path] : [];
  });
}

const NAMES = TARGET_NAMES.join('|');
/** Code that asks which target it has, or that holds a table by target. Prose (comments, messages, documentation) may name targets. */
const DECIDES = new RegExp(
  `[!=]==? '(?:${NAMES})'|\\bcase '(?:${NAMES})'|^ *(?:${NAMES}):|includes\\('(?:${NAMES})'\\)`,
);
/** Where targets are described, and tables of all GPUs there are. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['src/isa/table/targets.ts', 'the facts themselves'],
  ['src/isa/parse/macro-operands.ts', 'hardware registers that LLVM knows of other GPUs'],
  ['src/isa/parse/syntax-table.ts', 'operations that GPUs without a table here have too'],
  ['src/profile/arch/chips.ts', 'measured peaks of chips, also of chips that are no target'],
  ['src/profile/arch/metrics.ts', 'formulas over the counters of chips, also of chips that are no target'],
]);

test('only the target table decides by the name of a target', () => {
  const found = sources('src').filter((path) => {
    const lines = readFileSync(path, 'utf8').split('\n');
    return !ALLOWED.has(path) && lines.some((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && DECIDES.test(line));
  });
  expect(found, 'put the fact into TargetInfo (src/isa/table/targets.ts)').toEqual([]);
});

test('every target has every fact', () => {
  const [first, ...others] = TARGET_NAMES.map((name) => Object.entries(targetInfo(name)));
  for (const facts of others) {
    expect(facts.map(([key, value]) => [key, typeof value])).toEqual(first?.map(([key, value]) => [key, typeof value]));
  }
});
