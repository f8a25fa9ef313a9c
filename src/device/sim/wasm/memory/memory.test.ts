// Compiled memory and lane-crossing instructions against the interpreter: every row of the three tables, random operands, EXEC,
// addresses and memory; state and faults must be equal.
import { describe, expect, it } from 'vitest';
import {
  CompiledInstructions,
  compareOnce,
  type Machine,
  makeMachine,
  Random,
  randomInstruction,
  randomize,
} from '../../../../../tests/support/compiled-memory.ts';
import { printInstruction, tableFor } from '../../../../isa/index.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../../../isa/types.ts';

const CROSSING = new Set(['readfirstlane', 'readlane', 'writelane', 'permlaneSwap', 'permute', 'bpermute', 'swizzle']);
const LDS_SPECIAL = new Set(['append', 'readTransposed', 'addtid', 'condxchg']);

/** Whether an instruction is this folder's business. */
function belongs(row: InstructionRow): boolean {
  const op = semanticsOf(row.operation);
  if (op === undefined) return false;
  if (op.kind === 'structural') return CROSSING.has(op.name) || LDS_SPECIAL.has(op.name);
  return op.kind === 'load' || op.kind === 'store' || op.kind === 'atomic' || op.kind === 'format';
}

interface Sample {
  readonly row: InstructionRow;
  readonly instruction: Instruction;
}

function samples(target: TargetName, random: Random, perRow: number): Sample[] {
  return tableFor(target)
    .rows.filter(belongs)
    .flatMap((row) =>
      Array.from({ length: perRow }, () => randomInstruction(target, row, random))
        .filter((i) => i !== undefined)
        .map((instruction) => ({ row, instruction })),
    );
}

/** Runs `cases` random states on each sample; messages of those that differ. */
function differences(m: Machine, list: readonly Sample[], random: Random, cases: number): string[] {
  const compiled = new CompiledInstructions(
    m,
    list.map((s) => s.instruction),
  );
  const found: string[] = [];
  list.forEach(({ instruction }, n) => {
    if (!compiled.covered[n]) return;
    for (let k = 0; k < cases; k++) {
      const state = randomize(m, instruction, random);
      const difference = compareOnce(m, compiled, n);
      if (difference === undefined) continue;
      found.push(`${printInstruction(m.target, instruction).trim()} (${state}): ${difference}`);
      break;
    }
  });
  return found;
}

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('executes every memory instruction as the interpreter does', () => {
    const random = new Random(target.charCodeAt(4) * 65536 + target.charCodeAt(5));
    const list = samples(target, random, 2);
    const found = differences(makeMachine(target), list, random, 8);
    expect(found.slice(0, 20)).toEqual([]);
  });
});
