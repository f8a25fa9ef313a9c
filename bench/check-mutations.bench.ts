// How many mistakes the checker finds: waits weakened, wait states lost, dependent neighbours swapped, registers past the allocation,
// arguments changed, one at a time, as an edit compared with the original. Kernels: the examples compiled by clang at -O1 and -O3, or
// the files given (code objects, bundles, modules). `--max N`: mutants of a kind per kernel (default 150); `--list` prints survivors.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type CodeObject, codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { liftCodeObject, type Program, type ProgramFunction } from '../src/program/index.ts';
import { compileExample } from '../tests/support/build.ts';
import {
  comparedWith,
  findingsOf,
  MUTATION_KINDS,
  type Mutant,
  type MutationKind,
  mutantsOf,
  newFindings,
} from '../tests/support/check-mutations.ts';

/** scripts/run-ts.mjs bundles this file elsewhere, but keeps its path in argv. */
const root = dirname(dirname(resolve(process.argv[1] ?? '.')));
const { files, most, list } = parse(process.argv.slice(2));

function parse(args: readonly string[]): { files: string[]; most: number; list: boolean } {
  const at = args.indexOf('--max');
  return {
    files: args.filter((a, i) => !a.startsWith('--') && (at < 0 || i !== at + 1)),
    most: at < 0 ? 150 : Number(args[at + 1]),
    list: args.includes('--list'),
  };
}

interface Row {
  mutants: number;
  errors: number;
  warnings: number;
  notes: number;
  readonly survivors: Map<string, number>;
}

const newRow = (): Row => ({ mutants: 0, errors: 0, warnings: 0, notes: 0, survivors: new Map() });
const totals = new Map<MutationKind, Row>(MUTATION_KINDS.map((kind) => [kind, newRow()]));

/** Evenly from the whole kernel. */
function sample(all: readonly Mutant[]): Mutant[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as Mutant);
}

function add(row: Row, mutant: Mutant, found: ReturnType<typeof newFindings>, isTotal: boolean): void {
  row.mutants++;
  if (found.some((f) => f.severity === 'error')) row.errors++;
  else if (found.some((f) => f.severity === 'warning')) row.warnings++;
  else if (found.length > 0) row.notes++;
  else {
    const why = mutant.explain();
    row.survivors.set(why, (row.survivors.get(why) ?? 0) + 1);
    if (list && !isTotal) console.log(`  survives: ${mutant.what}: ${why}`);
  }
}

function mutate(program: Program, subject: ProgramFunction): Map<MutationKind, Row> {
  const rows = new Map<MutationKind, Row>();
  const byKind = new Map<MutationKind, Mutant[]>(MUTATION_KINDS.map((kind) => [kind, []]));
  for (const mutant of mutantsOf(program, subject)) byKind.get(mutant.kind)?.push(mutant);
  for (const [kind, mutants] of byKind) {
    const before = findingsOf(kind, comparedWith(program, program, subject));
    const row = newRow();
    for (const mutant of sample(mutants)) {
      const found = newFindings(mutant, before);
      add(row, mutant, found, false);
      add(totals.get(kind) as Row, mutant, found, true);
    }
    if (row.mutants > 0) rows.set(kind, row);
  }
  return rows;
}

function inputs(): { name: string; codeObject: CodeObject }[] {
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

/** Survivors whose kind says that the code is as right as before. */
const HARMLESS = new Set([
  'a later wait covers it',
  'nothing outstanding',
  'function entry',
  'not reached',
  'padding',
  'a value that nobody reads in the block',
]);

function print(name: string, kind: string, row: Row): void {
  const why = [...row.survivors].map(([reason, count]) => `${count} ${reason}`).join(', ');
  const found = row.errors + row.warnings + row.notes;
  const harmless = [...row.survivors].reduce((n, [reason, count]) => n + (HARMLESS.has(reason) ? count : 0), 0);
  const percent = (n: number, of: number): string => (of === 0 ? '-' : `${((100 * n) / of).toFixed(1)}%`);
  const cells = [row.mutants, row.errors, row.warnings, row.notes].map((n) => String(n).padStart(7));
  const rates = [percent(found, row.mutants), percent(found, row.mutants - harmless)].map((r) => r.padStart(7));
  console.log(`${name.slice(0, 44).padEnd(44)} ${kind.padEnd(9)} ${cells.join(' ')} ${rates.join(' ')}  ${why}`);
}

console.log(
  `${'kernel'.padEnd(44)} ${'mistake'.padEnd(9)} mutants  errors warning    note   found  *found  survivors (*: without those that change nothing)`,
);
for (const { name, codeObject } of inputs()) {
  const program = liftCodeObject(codeObject);
  for (const subject of program.functions) {
    for (const [kind, row] of mutate(program, subject)) print(`${name} ${subject.name}`, kind, row);
  }
}
const all = newRow();
for (const [kind, row] of totals) {
  if (row.mutants > 0) print('all', kind, row);
  for (const key of ['mutants', 'errors', 'warnings', 'notes'] as const) all[key] += row[key];
  for (const [why, n] of row.survivors) all.survivors.set(why, (all.survivors.get(why) ?? 0) + n);
}
print('all', 'all', all);
