// How many weakened waits the checker finds: every counter of every s_waitcnt is raised by one, and taken out, one at a time.
// Kernels: the examples compiled by clang at -O1 and -O3, or the files given (code objects, bundles, modules). A survivor is explained by
// what was outstanding at the wait: nothing but stores and the like is a wait for the order of memory, which registers do not show.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checkWaits } from '../src/check/index.ts';
import { type CodeObject, codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { liftCodeObject, type Program, type ProgramFunction } from '../src/program/index.ts';
import { compileExample } from '../tests/support/build.ts';
import { contextOf, explainWait, waitsOf, weakerWaits, withWait } from '../tests/support/wait-mutations.ts';

/** scripts/run-ts.mjs bundles this file elsewhere, but keeps its path in argv. */
const root = dirname(dirname(resolve(process.argv[1] ?? '.')));
const MAX_WAITS = 400;

interface Row {
  name: string;
  mutants: number;
  errors: number;
  warnings: number;
  survivors: Map<string, number>;
}

function keyOf(f: {
  rule: string;
  pc: number | undefined;
  other: { pc: number } | undefined;
  severity: string;
}): string {
  return `${f.severity} ${f.rule} ${f.pc} ${f.other?.pc}`;
}

function mutateFunction(name: string, program: Program, subject: ProgramFunction): Row {
  const context = contextOf(program, subject);
  const before = new Set(checkWaits(context).map(keyOf));
  const row: Row = { name, mutants: 0, errors: 0, warnings: 0, survivors: new Map() };
  const waits = waitsOf(program, subject).slice(0, MAX_WAITS);
  for (const code of waits) {
    for (const bits of weakerWaits(code)) {
      const found = checkWaits(contextOf(withWait(program, code, bits), subject)).filter((f) => !before.has(keyOf(f)));
      row.mutants++;
      if (found.some((f) => f.severity === 'error')) row.errors++;
      else if (found.length > 0) row.warnings++;
      else {
        const why = explainWait(context, code);
        row.survivors.set(why, (row.survivors.get(why) ?? 0) + 1);
      }
    }
  }
  return row;
}

function inputs(): { name: string; codeObject: CodeObject }[] {
  const files = process.argv.slice(2);
  if (files.length > 0) {
    return files.flatMap((file) =>
      codeObjectsOf(openContainer(readFileSync(file), file)).map((codeObject) => ({
        name: basename(file),
        codeObject,
      })),
    );
  }
  return ['saxpy', 'reduction', 'transpose', 'histogram'].flatMap((name) =>
    [1, 3].map((level) => ({
      name: `${name} -O${level}`,
      codeObject: readCodeObject(compileExample(join(root, 'examples', `${name}.c`), 'gfx942', level)),
    })),
  );
}

const total: Row = { name: 'all', mutants: 0, errors: 0, warnings: 0, survivors: new Map() };
const print = (row: Row) => {
  const why = [...row.survivors].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const score = row.mutants === 0 ? '-' : `${(((row.errors + row.warnings) / row.mutants) * 100).toFixed(1)}%`;
  console.log(
    `${row.name.slice(0, 48).padEnd(48)} ${String(row.mutants).padStart(7)} ${String(row.errors).padStart(7)} ` +
      `${String(row.warnings).padStart(8)} ${score.padStart(7)}  ${why}`,
  );
};
console.log(`${'kernel'.padEnd(48)} mutants  errors warnings   found  survivors`);
for (const { name, codeObject } of inputs()) {
  const program = liftCodeObject(codeObject);
  for (const subject of program.functions) {
    const row = mutateFunction(`${name} ${subject.name}`, program, subject);
    if (row.mutants === 0) continue;
    print(row);
    total.mutants += row.mutants;
    total.errors += row.errors;
    total.warnings += row.warnings;
    for (const [why, count] of row.survivors) total.survivors.set(why, (total.survivors.get(why) ?? 0) + count);
  }
}
print(total);
