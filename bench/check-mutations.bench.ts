// How many weakened waits the checker finds: every counter of every s_waitcnt is raised by one, and taken out, one at a time.
// Kernels: the examples compiled by clang at -O1 and -O3, or the files given (code objects, bundles, modules). A survivor is explained by
// what was outstanding at the wait: nothing but stores and the like is a wait for the order of memory, which registers do not show.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type CheckContext, checkWaits, outstandingAtBlocks } from '../src/check/index.ts';
import { replayBlock } from '../src/check/waits.ts';
import { type CodeObject, codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { immediate } from '../src/isa/index.ts';
import {
  type CodeInstruction,
  liftCodeObject,
  type Program,
  type ProgramFunction,
  waitCounts,
  waitRole,
} from '../src/program/index.ts';
import { compileExample } from '../tests/support/build.ts';

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

function contextOf(program: Program, subject: ProgramFunction): CheckContext {
  const { codeObject, target } = program;
  return { target, codeObject, program, subject, kernel: subject.kernel, baseline: undefined };
}

/** Field of a counter in the immediate of s_waitcnt. */
function withCounts(vm: number, exp: number, lgkm: number): number {
  return (vm & 15) | ((vm & 0x30) << 10) | (exp << 4) | (lgkm << 8);
}

function mutants(code: CodeInstruction): number[] {
  const { vm, exp, lgkm } = waitCounts(code.instruction);
  const out = new Set<number>();
  if (vm < 63) for (const to of [vm + 1, 63]) out.add(withCounts(to, exp, lgkm));
  if (lgkm < 15) for (const to of [lgkm + 1, 15]) out.add(withCounts(vm, exp, to));
  return [...out];
}

/** The program with other counts in one wait; control flow is the same. */
function withWait(program: Program, code: CodeInstruction, bits: number): Program {
  const operands = [immediate(bits), ...code.instruction.operands.slice(1)];
  const instructions = program.instructions.slice();
  instructions[code.index] = { ...code, instruction: { ...code.instruction, operands } };
  return Object.create(program, { instructions: { value: instructions } }) as Program;
}

/** What the wait of a surviving mutant was for. */
function explain(context: CheckContext, code: CodeInstruction): string {
  const { program, subject } = context;
  const block = program.blockAt(code.pc);
  const input = block && outstandingAtBlocks(context).get(block.index);
  if (block === undefined || input === undefined) return 'not reached';
  const state = replayBlock(context, block, input, code.index);
  if (state.isEmpty)
    return code.index === program.blockAt(subject.entry)?.first ? 'function entry' : 'nothing outstanding';
  const { vm, lgkm } = waitCounts(code.instruction);
  const kinds = [
    ...(vm < 63 ? (['vm', 'flat'] as const) : []),
    ...(lgkm < 15 ? (['lds', 'scalar', 'flat'] as const) : []),
  ];
  const next = program.instructions[code.index + 1];
  if (next !== undefined && waitRole(next.instruction.row).isBarrier) return 'order of memory at a barrier';
  const pending = kinds.flatMap((kind) => [...state.outstanding(kind)]);
  if (pending.length === 0) return 'nothing outstanding';
  if (pending.every((operation) => operation.effects.defs.length === 0)) return 'order of memory';
  return 'a later wait covers it';
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
  const waits = subject.blocks
    .flatMap((index) => {
      const block = program.blocks[index];
      return block === undefined ? [] : program.instructions.slice(block.first, block.end);
    })
    .filter((code) => waitRole(code.instruction.row).isWait)
    .slice(0, MAX_WAITS);
  for (const code of waits) {
    for (const bits of mutants(code)) {
      const found = checkWaits(contextOf(withWait(program, code, bits), subject)).filter((f) => !before.has(keyOf(f)));
      row.mutants++;
      if (found.some((f) => f.severity === 'error')) row.errors++;
      else if (found.length > 0) row.warnings++;
      else {
        const why = explain(context, code);
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
