// Round trip of whole folders: every code object in the given files is listed, disassembled, assembled and compared.
// Usage: node scripts/run-ts.mjs tools/roundtrip.ts [PATH…] [--engine wavesmith|llvm|both] [--no-listing] [--quiet]
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { disassembleCodeObject } from '../src/asm/disassemble/disassemble.ts';
import { WavesmithError } from '../src/base/index.ts';
import { type CodeObject, codeObjectsOf, openContainer } from '../src/codeobject/index.ts';
import { hasLlvm } from '../tests/support/build.ts';
import { type Engine, listingDifferences, roundTrip } from '../tests/support/round-trip.ts';

interface Row {
  name: string;
  target: string;
  kernels: number;
  instructions: number;
  milliseconds: number;
  problems: string[];
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

function objectsIn(file: string): CodeObject[] | undefined {
  try {
    return codeObjectsOf(openContainer(readFileSync(file), file));
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

function check(object: CodeObject, engines: readonly Engine[], withListing: boolean): Row {
  const row: Row = {
    name: object.path.map((part) => part.split('/').at(-1)).join(' > '),
    target: object.targetId.replace(/^.*--/, ''),
    kernels: object.kernels.length,
    instructions: 0,
    milliseconds: 0,
    problems: [],
  };
  try {
    const start = performance.now();
    const text = disassembleCodeObject(object.bytes);
    row.milliseconds = performance.now() - start;
    for (const engine of engines) {
      const found = roundTrip(object.bytes, engine, text);
      if (found.length > 0) row.problems.push(`${engine}: ${found.join('; ')}`);
    }
    if (withListing) {
      const { count, different, examples } = listingDifferences(object.bytes);
      row.instructions = count;
      if (different > 0) row.problems.push(`listing: ${different} differ: ${examples.join('; ')}`);
    }
  } catch (error) {
    row.problems.push((error as Error).message);
  }
  return row;
}

function main(argv: string[]): number {
  const paths: string[] = [];
  let engines: Engine[] = ['wavesmith', 'llvm'];
  let withListing = true;
  let isQuiet = false;
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i];
    if (argument === '--engine') {
      const value = argv[++i];
      if (value !== 'wavesmith' && value !== 'llvm' && value !== 'both') throw new Error(`no engine '${value}'`);
      engines = value === 'both' ? ['wavesmith', 'llvm'] : [value];
    } else if (argument === '--no-listing') withListing = false;
    else if (argument === '--quiet') isQuiet = true;
    else paths.push(argument);
  }
  if (!hasLlvm()) {
    engines = engines.filter((engine) => engine !== 'llvm');
    withListing = false;
  }
  if (paths.length === 0) {
    const shared = join(process.cwd(), '..', 'shared');
    const corpus = ['corpus', 'vmfb'].map((name) => join(shared, name)).filter((path) => existsSync(path));
    if (corpus.length === 0) throw new Error('give files or folders; there is no corpus beside this checkout');
    paths.push(...corpus);
  }
  const rows: Row[] = [];
  let others = 0;
  for (const file of paths.flatMap(filesUnder)) {
    const objects = objectsIn(file);
    if (objects === undefined) others++;
    for (const object of objects ?? []) {
      const row = check(object, engines, withListing);
      rows.push(row);
      if (!isQuiet || row.problems.length > 0) {
        const status = row.problems.length === 0 ? 'same' : 'DIFFERENT';
        const cells = [
          status.padEnd(9),
          row.target.padEnd(16),
          `${row.kernels}`.padStart(5),
          `${row.instructions}`.padStart(8),
        ];
        console.log(`${cells.join(' ')} ${row.milliseconds.toFixed(0).padStart(6)} ms  ${row.name}`);
        for (const problem of row.problems) console.log(`          ${problem.slice(0, 1000)}`);
      }
    }
  }
  const bad = rows.filter((row) => row.problems.length > 0).length;
  const sum = (pick: (row: Row) => number) => rows.reduce((total, row) => total + pick(row), 0);
  console.log(
    `${rows.length} code objects, ${sum((r) => r.kernels)} kernels, ${sum((r) => r.instructions)} instructions: ` +
      `${rows.length - bad} same, ${bad} different (engines: ${engines.join(', ')}${withListing ? ', listing' : ''}); ` +
      `${others} other files; disassembly took ${(sum((r) => r.milliseconds) / 1000).toFixed(1)} s`,
  );
  return bad === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
